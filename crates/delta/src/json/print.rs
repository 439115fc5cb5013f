//! Compact JSON text, byte for byte what `JSON.stringify` writes.

use std::fmt;

use super::number::{integral, push_number, write_number};
use super::{ArrayIter, Json, ObjectIter};

/// Compact JSON, exactly like `JSON.stringify`: no spaces, numbers as JavaScript prints them, only `"`,
/// `\` and the C0 controls escaped.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

impl Json {
    /// Appends the compact text. `to_string` gives the same, through one copy more.
    pub fn write(&self, out: &mut String) {
        walk(out, self);
    }

    /// The UTF-8 bytes of the compact text, counted without building it.
    pub fn encoded_len(&self) -> usize {
        let mut counter = Counter(0);
        walk(&mut counter, self);
        counter.0
    }
}

/// Appends `text` as a JSON string.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        // Escaped bytes are ASCII, so both ends of a plain run are character boundaries.
        let (plain, special) = rest.split_at_checked(plain_len(rest)).unwrap_or((rest, ""));
        out.push_str(plain);
        let Some(byte) = special.bytes().next() else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            _ => {
                out.push_str("\\u00");
                out.push(if byte < 0x10 { '0' } else { '1' });
                out.push(char::from_digit(u32::from(byte) & 0xf, 16).unwrap_or('0'));
            }
        }
        rest = special.get(1..).unwrap_or_default();
    }
    out.push('"');
}

/// Where the bytes go: into a text, or only counted.
trait Sink {
    /// Punctuation and words.
    fn raw(&mut self, text: &str);
    fn string(&mut self, text: &str);
    fn number(&mut self, number: f64);
}

impl Sink for String {
    fn raw(&mut self, text: &str) {
        self.push_str(text);
    }
    fn string(&mut self, text: &str) {
        write_string(self, text);
    }
    fn number(&mut self, number: f64) {
        push_number(self, number);
    }
}

/// The UTF-8 bytes of `text` as a JSON string, counted without building it.
pub fn string_len(text: &str) -> usize {
    let mut counter = Counter(0);
    counter.string(text);
    counter.0
}

struct Counter(usize);

impl Sink for Counter {
    fn raw(&mut self, text: &str) {
        self.0 += text.len();
    }
    fn string(&mut self, text: &str) {
        self.0 += text.len() + 2;
        let mut rest = text;
        while let Some((byte, after)) = rest
            .get(plain_len(rest)..)
            .and_then(|special| Some((special.bytes().next()?, special.get(1..)?)))
        {
            self.0 += match byte {
                b'"' | b'\\' | 0x08 | b'\t' | b'\n' | 0x0c | b'\r' => 1,
                _ => 5,
            };
            rest = after;
        }
    }

    fn number(&mut self, number: f64) {
        let Some(integer) = integral(number) else {
            // What counts never fails.
            let _ = write_number(self, number);
            return;
        };
        let digits = integer.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
        self.0 += digits as usize + usize::from(integer < 0);
    }
}

impl fmt::Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// Bytes before the first one that needs an escape. Eight at a time: nearly all text is plain.
fn plain_len(text: &str) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x80 * ONES;
    // The high bit of a byte that is below `limit`, and perhaps of bytes after the first such one.
    let below = |word: u64, limit: u64| word.wrapping_sub(limit * ONES) & !word & HIGHS;
    let (words, _) = text.as_bytes().as_chunks();
    let is_plain = |word: &&[u8; 8]| {
        let word = u64::from_le_bytes(**word);
        let quote = word ^ (u64::from(b'"') * ONES);
        let backslash = word ^ (u64::from(b'\\') * ONES);
        below(word, 0x20) | below(quote, 1) | below(backslash, 1) == 0
    };
    let plain = 8 * words.iter().take_while(is_plain).count();
    let rest = text.as_bytes().get(plain..).unwrap_or_default();
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    plain + rest.iter().position(special).unwrap_or(rest.len())
}

/// A container whose opening bracket is written.
struct Level<'a> {
    rest: Rest<'a>,
    separator: &'static str,
}

enum Rest<'a> {
    Array(ArrayIter<'a>),
    Object(ObjectIter<'a>),
}

/// Writes without recursion, so that any depth prints.
fn walk(out: &mut impl Sink, root: &Json) {
    let mut open: Vec<Level<'_>> = Vec::new();
    let mut value = root;
    loop {
        match value {
            Json::Null => out.raw("null"),
            Json::Bool(true) => out.raw("true"),
            Json::Bool(false) => out.raw("false"),
            Json::Number(number) => out.number(*number),
            Json::String(text) => out.string(text),
            Json::Array(array) => {
                out.raw("[");
                open.push(Level {
                    rest: Rest::Array(array.iter()),
                    separator: "",
                });
            }
            Json::Object(object) => {
                out.raw("{");
                open.push(Level {
                    rest: Rest::Object(object.iter()),
                    separator: "",
                });
            }
        }
        value = loop {
            let Some(level) = open.last_mut() else { return };
            if let Some(child) = level.advance(out) {
                break child;
            }
            open.pop();
        };
    }
}

impl<'a> Level<'a> {
    /// Writes what stands before the next child and returns it, or the closing bracket.
    fn advance(&mut self, out: &mut impl Sink) -> Option<&'a Json> {
        let separator = std::mem::replace(&mut self.separator, ",");
        match &mut self.rest {
            Rest::Array(items) => {
                let item = items.next();
                out.raw(if item.is_some() { separator } else { "]" });
                item
            }
            Rest::Object(members) => {
                let Some((key, value)) = members.next() else {
                    out.raw("}");
                    return None;
                };
                out.raw(separator);
                out.string(key);
                out.raw(":");
                Some(value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_of_a_word() {
        let others = ["é", "日", "😀", "\u{7f}", "\u{80}", "~!#[]"];
        let bytes = (0_u8..0x80).map(|byte| char::from(byte).to_string());
        for special in bytes.chain(others.map(str::to_owned)) {
            for before in 0..18 {
                for after in [0, 1, 7, 8, 9] {
                    let text = "x".repeat(before) + &special + &"y".repeat(after) + &special;
                    let mut printed = String::new();
                    write_string(&mut printed, &text);
                    assert_eq!(printed, serde_json::to_string(&text).unwrap());
                    assert_eq!(Json::from(text).encoded_len(), printed.len());
                }
            }
        }
    }

    #[test]
    fn integers_print_all_their_digits() {
        for integer in [0, 1, 9, 10, 99, 100, 1_234_567, (1_u64 << 53) - 1] {
            assert_eq!(Json::from(integer).to_string(), integer.to_string());
            let negative = if integer == 0 {
                "0".to_owned()
            } else {
                format!("-{integer}")
            };
            assert_eq!(Json::Number(-(integer as f64)).to_string(), negative);
        }
        let mut text = String::new();
        super::super::number::push_integer(&mut text, u64::MAX);
        assert_eq!(text, u64::MAX.to_string());
    }
}
