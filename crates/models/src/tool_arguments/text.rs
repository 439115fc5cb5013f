//! The inside of a JSON string literal, decoded character by character and never refused.

/// Decoder of one string literal: feed it what follows the opening quote.
#[derive(Clone, Debug, Default)]
pub(super) struct StringDecoder {
    escape: Escape,
    /// A high surrogate from an escape, held back until its low half arrives.
    high: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Escape {
    #[default]
    None,
    /// After a backslash.
    Open,
    /// After `\u` and some of its four digits.
    Unicode(String),
}

/// Whether the literal goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Open,
    Closed,
}

impl StringDecoder {
    /// Takes one character and appends what it decodes to. An incomplete escape shows nothing, an invalid one keeps
    /// its backslash as text, a raw control character stays.
    pub(super) fn push(&mut self, character: char, out: &mut String) -> Literal {
        match std::mem::take(&mut self.escape) {
            Escape::None => self.plain(character, out),
            Escape::Open => self.after_backslash(character, out),
            Escape::Unicode(digits) => self.unicode(digits, character, out),
        }
    }

    fn plain(&mut self, character: char, out: &mut String) -> Literal {
        match character {
            '"' => {
                self.settle_surrogate(out);
                return Literal::Closed;
            }
            '\\' => self.escape = Escape::Open,
            other => {
                self.settle_surrogate(out);
                out.push(other);
            }
        }
        Literal::Open
    }

    fn after_backslash(&mut self, character: char, out: &mut String) -> Literal {
        let decoded = match character {
            '"' | '\\' | '/' => character,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                self.escape = Escape::Unicode(String::new());
                return Literal::Open;
            }
            other => {
                self.settle_surrogate(out);
                out.push('\\');
                return self.plain(other, out);
            }
        };
        self.settle_surrogate(out);
        out.push(decoded);
        Literal::Open
    }

    fn unicode(&mut self, mut digits: String, character: char, out: &mut String) -> Literal {
        if !character.is_ascii_hexdigit() {
            self.settle_surrogate(out);
            out.push_str("\\u");
            out.push_str(&digits);
            return self.plain(character, out);
        }
        digits.push(character);
        if digits.len() < 4 {
            self.escape = Escape::Unicode(digits);
            return Literal::Open;
        }
        self.unit(u32::from_str_radix(&digits, 16).unwrap_or(0xfffd), out);
        Literal::Open
    }

    /// One UTF-16 code unit of an escape.
    fn unit(&mut self, unit: u32, out: &mut String) {
        match unit {
            0xd800..=0xdbff => {
                self.settle_surrogate(out);
                self.high = Some(unit);
            }
            0xdc00..=0xdfff => match self.high.take() {
                Some(high) => {
                    let code = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                None => out.push(char::REPLACEMENT_CHARACTER),
            },
            other => {
                self.settle_surrogate(out);
                out.push(char::from_u32(other).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }

    /// A high surrogate without its low half becomes U+FFFD: Rust strings, storage and wire hold no lone surrogates.
    fn settle_surrogate(&mut self, out: &mut String) {
        if self.high.take().is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
