//! Compact JSON text, byte for byte what `JSON.stringify` writes.

use std::fmt;

use super::number::write_number;
use super::{ArrayIter, Json, ObjectIter};

/// Compact JSON, exactly like `JSON.stringify`: no spaces, numbers as JavaScript prints them, only `"`,
/// `\` and the C0 controls escaped.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_json(f, self)
    }
}

impl Json {
    /// The UTF-8 bytes of the compact text, counted without building it.
    pub fn encoded_len(&self) -> usize {
        let mut counter = Counter(0);
        // Counting cannot fail.
        let _ = write_json(&mut counter, self);
        counter.0
    }
}

struct Counter(usize);

impl fmt::Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
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
fn write_json(out: &mut impl fmt::Write, root: &Json) -> fmt::Result {
    let mut open: Vec<Level<'_>> = Vec::new();
    let mut value = root;
    loop {
        match value {
            Json::Null => out.write_str("null")?,
            Json::Bool(true) => out.write_str("true")?,
            Json::Bool(false) => out.write_str("false")?,
            Json::Number(number) => write_number(out, *number)?,
            Json::String(text) => write_string(out, text)?,
            Json::Array(array) => {
                out.write_char('[')?;
                open.push(Level {
                    rest: Rest::Array(array.iter()),
                    separator: "",
                });
            }
            Json::Object(object) => {
                out.write_char('{')?;
                open.push(Level {
                    rest: Rest::Object(object.iter()),
                    separator: "",
                });
            }
        }
        value = loop {
            let Some(level) = open.last_mut() else {
                return Ok(());
            };
            if let Some(child) = level.advance(out)? {
                break child;
            }
            open.pop();
        };
    }
}

impl<'a> Level<'a> {
    /// Writes what stands before the next child and returns it, or the closing bracket.
    fn advance(&mut self, out: &mut impl fmt::Write) -> Result<Option<&'a Json>, fmt::Error> {
        let separator = std::mem::replace(&mut self.separator, ",");
        match &mut self.rest {
            Rest::Array(items) => {
                let item = items.next();
                out.write_str(if item.is_some() { separator } else { "]" })?;
                Ok(item)
            }
            Rest::Object(members) => {
                let Some((key, value)) = members.next() else {
                    out.write_char('}')?;
                    return Ok(None);
                };
                out.write_str(separator)?;
                write_string(out, key)?;
                out.write_char(':')?;
                Ok(Some(value))
            }
        }
    }
}

/// Writes `text` as a JSON string.
fn write_string(out: &mut impl fmt::Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        // Escaped bytes are ASCII, so both ends of the plain run are character boundaries.
        out.write_str(text.get(plain..at).unwrap_or_default())?;
        plain = at + 1;
        match byte {
            b'"' => out.write_str("\\\"")?,
            b'\\' => out.write_str("\\\\")?,
            0x08 => out.write_str("\\b")?,
            b'\t' => out.write_str("\\t")?,
            b'\n' => out.write_str("\\n")?,
            0x0c => out.write_str("\\f")?,
            b'\r' => out.write_str("\\r")?,
            _ => write!(out, "\\u{byte:04x}")?,
        }
    }
    out.write_str(text.get(plain..).unwrap_or_default())?;
    out.write_char('"')
}
