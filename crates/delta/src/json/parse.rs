//! JSON text in. Written out here because a wasm stack bounds depth, because lone surrogates need an
//! error of their own, and because numbers must read exactly.

use super::{Array, Json, Object, Text};

/// Why a text is refused. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text is no JSON, or a number in it exceeds the range of a double.
    #[error("{message} at line {line} column {column}")]
    Syntax {
        line: usize,
        column: usize,
        message: &'static str,
    },
    /// Containers are nested deeper than the caller allows.
    #[error("nested deeper than {limit} levels")]
    TooDeep { limit: usize },
    /// An escape names half of a surrogate pair, which well-formed text cannot hold.
    #[error("lone surrogate at line {line} column {column}")]
    LoneSurrogate { line: usize, column: usize },
}

impl Json {
    /// Parses one JSON text, surrounding white space allowed.
    ///
    /// `max_depth` is the deepest value accepted, in the sense of [`Json::depth`]. Of equal keys in an
    /// object the last value wins, at the first one's place, as in JavaScript.
    pub fn parse(text: &str, max_depth: usize) -> Result<Json, ParseError> {
        let mut parser = Parser {
            text,
            at: 0,
            max_depth,
        };
        let value = parser.document();
        value.map_err(|failure| parser.locate(failure))
    }
}

enum Failure {
    Syntax(&'static str),
    TooDeep,
    LoneSurrogate,
}

/// A container whose closing bracket is still to come.
enum Open {
    Array(Vec<Json>),
    /// With the key of the member being read.
    Object(Object, Text),
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    max_depth: usize,
}

impl<'a> Parser<'a> {
    fn document(&mut self) -> Result<Json, Failure> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            // A whole value, or the start of a container, in which case its first child comes next.
            let Some(mut value) = self.value_or_open(&mut open)? else {
                continue;
            };
            // Give the value to its container; a container that ends here is the next value.
            loop {
                self.skip_space();
                let byte = self.peek();
                match open.pop() {
                    None if byte.is_none() => return Ok(value),
                    None => return Err(Failure::Syntax("characters after the value")),
                    Some(Open::Array(mut items)) => {
                        items.push(value);
                        match byte {
                            Some(b',') => {
                                self.at += 1;
                                open.push(Open::Array(items));
                                break;
                            }
                            Some(b']') => value = Json::Array(Array::from(items)),
                            _ => return Err(Failure::Syntax("expected `,` or `]`")),
                        }
                    }
                    Some(Open::Object(mut members, key)) => {
                        members.insert(key, value);
                        match byte {
                            Some(b',') => {
                                self.at += 1;
                                let key = self.key()?;
                                open.push(Open::Object(members, key));
                                break;
                            }
                            Some(b'}') => value = Json::Object(members),
                            _ => return Err(Failure::Syntax("expected `,` or `}`")),
                        }
                    }
                }
                self.at += 1;
            }
        }
    }

    /// Reads a scalar or an empty container; `None` after opening a container with content.
    fn value_or_open(&mut self, open: &mut Vec<Open>) -> Result<Option<Json>, Failure> {
        self.skip_space();
        let byte = self.peek();
        match byte {
            Some(b'[' | b'{') if open.len() >= self.max_depth => return Err(Failure::TooDeep),
            Some(b'[') => {
                self.at += 1;
                self.skip_space();
                if self.take(b']') {
                    return Ok(Some(Json::Array(Array::new())));
                }
                open.push(Open::Array(Vec::new()));
                return Ok(None);
            }
            Some(b'{') => {
                self.at += 1;
                self.skip_space();
                if self.take(b'}') {
                    return Ok(Some(Json::empty_object()));
                }
                let key = self.key()?;
                open.push(Open::Object(Object::new(), key));
                return Ok(None);
            }
            _ => {}
        }
        let value = match byte {
            Some(b'"') => Json::String(self.string()?),
            Some(b't') => self.word("true", Json::Bool(true))?,
            Some(b'f') => self.word("false", Json::Bool(false))?,
            Some(b'n') => self.word("null", Json::Null)?,
            Some(b'-' | b'0'..=b'9') => Json::Number(self.number()?),
            Some(_) => return Err(Failure::Syntax("expected a value")),
            None => return Err(Failure::Syntax("unexpected end")),
        };
        Ok(Some(value))
    }

    /// Reads `"key" :`.
    fn key(&mut self) -> Result<Text, Failure> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return Err(Failure::Syntax("expected a key"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.take(b':') {
            Ok(key)
        } else {
            Err(Failure::Syntax("expected `:`"))
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, Failure> {
        if !self.rest().starts_with(word) {
            return Err(Failure::Syntax("expected a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<f64, Failure> {
        let from = self.at;
        self.take(b'-');
        if !self.take(b'0') && self.digits() == 0 {
            return Err(Failure::Syntax("expected a digit"));
        }
        if self.take(b'.') && self.digits() == 0 {
            return Err(Failure::Syntax("expected a digit"));
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            if self.digits() == 0 {
                return Err(Failure::Syntax("expected a digit"));
            }
        }
        let token = self.text.get(from..self.at).unwrap_or_default();
        match token.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                self.at = from;
                Err(Failure::Syntax("number out of range"))
            }
        }
    }

    fn digits(&mut self) -> usize {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - from
    }

    /// Reads a string, its opening quote first.
    fn string(&mut self) -> Result<Text, Failure> {
        self.at += 1;
        let mut owned: Option<String> = None;
        loop {
            let rest = self.rest();
            let plain = rest
                .bytes()
                .position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            let Some(plain) = plain else {
                self.at = self.text.len();
                return Err(Failure::Syntax("unterminated string"));
            };
            // The run ends before an ASCII byte, hence at a character boundary.
            let run = rest.get(..plain).unwrap_or_default();
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match owned {
                        None => run.into(),
                        Some(text) => (text + run).into(),
                    });
                }
                Some(b'\\') => {
                    let text = owned.get_or_insert_default();
                    text.push_str(run);
                    text.push(self.escape()?);
                }
                _ => return Err(Failure::Syntax("control character in a string")),
            }
        }
    }

    /// Reads an escape, its backslash first. On failure the position stays at the backslash.
    fn escape(&mut self) -> Result<char, Failure> {
        let rest = self.rest();
        let short = match rest.as_bytes().get(1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let (character, length) = unicode_escape(rest)?;
                self.at += length;
                return Ok(character);
            }
            _ => return Err(Failure::Syntax("unknown escape")),
        };
        self.at += 2;
        Ok(short)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn locate(&self, failure: Failure) -> ParseError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        match failure {
            Failure::Syntax(message) => ParseError::Syntax {
                line,
                column,
                message,
            },
            Failure::TooDeep => ParseError::TooDeep {
                limit: self.max_depth,
            },
            Failure::LoneSurrogate => ParseError::LoneSurrogate { line, column },
        }
    }
}

/// The character of the `\uXXXX` or `\uXXXX\uXXXX` that `text` begins with, and the escape's length.
fn unicode_escape(text: &str) -> Result<(char, usize), Failure> {
    let unit = hex_unit(text).ok_or(Failure::Syntax("expected four hexadecimal digits"))?;
    if let Some(character) = char::from_u32(unit) {
        return Ok((character, 6));
    }
    // A pair is a high half followed directly by a low one.
    let low = text
        .get(6..)
        .and_then(hex_unit)
        .filter(|low| (0xDC00..0xE000).contains(low));
    match low {
        Some(low) if unit < 0xDC00 => {
            let scalar = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            char::from_u32(scalar)
                .map(|character| (character, 12))
                .ok_or(Failure::LoneSurrogate)
        }
        _ => Err(Failure::LoneSurrogate),
    }
}

/// The code unit of the `\uXXXX` that `text` begins with.
fn hex_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}
