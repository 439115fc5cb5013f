//! Lone surrogates in provider text.
//!
//! Providers cut JSON strings between UTF-16 units, so half of an emoji may end one delta and the other half start the
//! next. Rust text cannot hold a half. [`parse`] therefore maps lone halves of one JSON text to marker characters, and
//! a [`Joiner`] per text turns markers back into whole characters as their halves meet; halves that stay alone become
//! U+FFFD.

use crate::json;
use std::borrow::Cow;
use tidehold_delta::{Json, ParseError};

/// Markers are the last 2048 code points of Unicode (private use), one for each surrogate.
const FIRST_MARKER: u32 = 0x0010_F800;

/// A parsed JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    pub(crate) value: Json,
    /// Whether strings in it hold markers. Without this, the marker characters are just characters.
    pub(crate) has_markers: bool,
}

/// Parses a JSON text of a provider.
pub(crate) fn parse(text: &str) -> Result<Parsed, ParseError> {
    match json::parse(text) {
        Ok(value) => Ok(Parsed {
            value,
            has_markers: false,
        }),
        Err(ParseError::LoneSurrogate { .. }) => {
            // When the text itself uses a marker character, halves cannot be told from it and are given up at once.
            let has_markers = !uses_markers(text);
            let value = json::parse(&rewrite_lone(text, has_markers))?;
            Ok(Parsed { value, has_markers })
        }
        Err(error) => Err(error),
    }
}

/// Replaces lone surrogate escapes of a JSON text by U+FFFD.
pub(crate) fn replace_lone(text: &str) -> String {
    rewrite_lone(text, false)
}

/// Joins the halves of one text that arrives in deltas.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joiner {
    high: Option<u32>,
}

impl Joiner {
    /// The well-formed text that a delta adds.
    pub(crate) fn push<'a>(&mut self, delta: &'a str, has_markers: bool) -> Cow<'a, str> {
        if self.high.is_none() && !has_markers {
            return Cow::Borrowed(delta);
        }
        let mut out = String::with_capacity(delta.len() + 4);
        for character in delta.chars() {
            match surrogate(character).filter(|_| has_markers) {
                Some(low @ 0xdc00..) if self.high.is_some() => {
                    let high = self.high.take().unwrap_or(0xd800);
                    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                Some(unit) => {
                    self.settle(&mut out);
                    match unit {
                        0xdc00.. => out.push(char::REPLACEMENT_CHARACTER),
                        high => self.high = Some(high),
                    }
                }
                None => {
                    self.settle(&mut out);
                    out.push(character);
                }
            }
        }
        Cow::Owned(out)
    }

    /// What is left when the text ends: U+FFFD for a half that waits, else nothing.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.high.take().map(|_| char::REPLACEMENT_CHARACTER.to_string())
    }

    fn settle(&mut self, out: &mut String) {
        out.extend(self.finish());
    }
}

/// A text that arrives whole.
pub(crate) fn whole(text: &str, has_markers: bool) -> String {
    let mut joiner = Joiner::default();
    let mut out = joiner.push(text, has_markers).into_owned();
    out.extend(joiner.finish());
    out
}

fn surrogate(character: char) -> Option<u32> {
    u32::from(character)
        .checked_sub(FIRST_MARKER)
        .map(|offset| 0xd800 + offset)
}

fn marker(unit: u32) -> char {
    char::from_u32(FIRST_MARKER + (unit - 0xd800)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Whether a JSON text holds a marker character, written out or escaped.
fn uses_markers(text: &str) -> bool {
    // U+10F800..=U+10FFFF has the high surrogates DBFE and DBFF, and no other character has.
    let lower = text.to_ascii_lowercase();
    text.chars().any(|character| surrogate(character).is_some())
        || lower.contains("\\udbfe")
        || lower.contains("\\udbff")
}

fn rewrite_lone(text: &str, markers: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let taken = match unicode_escape(escape) {
            Some(unit @ 0xd800..=0xdfff) => {
                let next = escape.get(6..).and_then(unicode_escape);
                if unit < 0xdc00 && next.is_some_and(|next| (0xdc00..=0xdfff).contains(&next)) {
                    12
                } else {
                    out.push(if markers {
                        marker(unit)
                    } else {
                        char::REPLACEMENT_CHARACTER
                    });
                    rest = escape.get(6..).unwrap_or_default();
                    continue;
                }
            }
            Some(_) => 6,
            // A backslash and the character it escapes.
            None => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (copied, after) = escape.split_at_checked(taken).unwrap_or((escape, ""));
        out.push_str(copied);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The unit of a `\uXXXX` at the start of `text`.
fn unicode_escape(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if all_hex {
        u32::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes the JSON string literals through one joiner.
    #[track_caller]
    fn check(deltas: &[&str], expected: &[&str], end: Option<&str>) {
        let mut joiner = Joiner::default();
        let push = |delta: &&str| {
            let parsed = parse(delta).expect("a JSON string");
            joiner
                .push(parsed.value.as_str().expect("a string"), parsed.has_markers)
                .into_owned()
        };
        let joined: Vec<String> = deltas.iter().map(push).collect();
        assert_eq!(joined, expected);
        assert_eq!(joiner.finish().as_deref(), end);
    }

    #[test]
    fn halves_meet_across_deltas() {
        check(&[r#""a\ud83d""#, r#""\ude48b""#], &["a", "🙈b"], None);
        check(&[r#""\ud83d""#, r#""""#, r#""\uDE48""#], &["", "", "🙈"], None);
        check(&[r#""\ud83d\ude48""#], &["🙈"], None);
    }

    #[test]
    fn halves_that_stay_alone_are_replaced() {
        check(&[r#""\ude48x""#], &["\u{fffd}x"], None);
        check(&[r#""\ud83d""#, r#""x""#], &["", "\u{fffd}x"], None);
        check(&[r#""\ud83d\ud83d""#, r#""\ude48""#], &["\u{fffd}", "🙈"], None);
        check(&[r#""x\ud83d""#], &["x"], Some("\u{fffd}"));
        check(&[r#""\\ud83d \\\ud83d!""#], &["\\ud83d \\\u{fffd}!"], None);
    }

    #[test]
    fn marker_characters_of_the_text_itself_survive() {
        check(&["\"\u{10ffff}\u{10f800}\""], &["\u{10ffff}\u{10f800}"], None);
        check(
            &["\"\u{10f83d}\\ud83d\"", r#""\ude48""#],
            &["\u{10f83d}\u{fffd}", "\u{fffd}"],
            None,
        );
        check(&[r#""\udbff\udfff \ud83d""#], &["\u{10ffff} \u{fffd}"], None);
    }
}
