//! Cutting one page out of a text. Pure.
//!
//! A cursor is bound to a digest of everything before it. All our texts are fixed or only grow, so that a page continues
//! what was read whenever that digest still agrees, also while a run goes on writing; a digest of the whole text would
//! make every page of a live run stale.

use crate::cursor::BadCursor;
use crate::digest;
use tidehold_delta::{Json, json};

/// Bytes of a prefix digest.
const DIGEST_BYTES: usize = 12;

/// Raised when the redaction of the same text changes.
const REDACTION: &str = "1";

/// One page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub text: String,
    /// Position of the next page; `None` when this is the last.
    pub next: Option<Json>,
}

/// How much text must be known to serve a page of `limit` bytes from here, one byte more than its end included.
pub fn needed(position: Option<&Json>, limit: usize) -> Result<usize, BadCursor> {
    Ok(position
        .map_or(Ok(0), offset)?
        .saturating_add(limit)
        .saturating_add(1))
}

/// The page at `position`, at most `limit` (≥ 4) bytes of UTF-8 and never half a code point.
pub fn cut(text: &str, position: Option<&Json>, limit: usize) -> Result<Page, BadCursor> {
    let start = match position {
        None => 0,
        Some(position) => {
            let start = offset(position)?;
            let before = text.get(..start).ok_or(BadCursor::Stale)?;
            let bound = position
                .get("h")
                .and_then(Json::as_str)
                .ok_or(BadCursor::Invalid)?;
            if bound != digest_of(before) {
                return Err(BadCursor::Stale);
            }
            start
        }
    };
    let end = boundary_at_most(text, start.saturating_add(limit));
    let page = text.get(start..end).unwrap_or_default().to_owned();
    let next =
        (end < text.len()).then(|| json!({ "o": end, "h": digest_of(text.get(..end).unwrap_or_default()) }));
    Ok(Page { text: page, next })
}

/// The largest character boundary not beyond `end`.
pub fn boundary_at_most(text: &str, end: usize) -> usize {
    text.floor_char_boundary(end.min(text.len()))
}

fn offset(position: &Json) -> Result<usize, BadCursor> {
    let offset = position
        .get("o")
        .and_then(Json::as_u64)
        .ok_or(BadCursor::Invalid)?;
    usize::try_from(offset).map_err(|_| BadCursor::Invalid)
}

fn digest_of(prefix: &str) -> String {
    digest::of_parts([REDACTION, prefix], DIGEST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, limit: usize) -> Vec<String> {
        let mut pages = Vec::new();
        let mut position = None;
        loop {
            let page = cut(text, position.as_ref(), limit).expect("a page");
            pages.push(page.text);
            position = page.next;
            if position.is_none() {
                return pages;
            }
        }
    }

    #[test]
    fn pages_concatenate_to_the_whole_at_every_limit() {
        let text = "a\u{0}é€\u{1f980}e\u{301}\n\u{7}".repeat(9);
        for limit in 4..40 {
            let pages = all(&text, limit);
            assert_eq!(pages.concat(), text);
            assert!(pages.iter().all(|page| !page.is_empty() && page.len() <= limit));
        }
        assert_eq!(all("", 4), [""]);
        assert_eq!(all("abcd", 4), ["abcd"]);
    }

    #[test]
    fn a_growing_text_goes_on_and_a_changed_one_is_stale() {
        let first = cut("abcdefgh", None, 4).expect("a page").next.expect("more");
        assert_eq!(
            cut("abcdefghij", Some(&first), 9).map(|page| page.text),
            Ok("efghij".to_owned())
        );
        assert_eq!(
            cut("abcd", Some(&first), 9).map(|page| page.text),
            Ok(String::new())
        );
        for changed in ["abXdefgh", "abc", ""] {
            assert_eq!(cut(changed, Some(&first), 9), Err(BadCursor::Stale));
        }
        for position in [
            json!({}),
            json!({ "o": 1 }),
            json!({ "o": -1, "h": "" }),
            json!(7),
        ] {
            assert_eq!(
                cut("abcdefgh", Some(&position), 9),
                Err(BadCursor::Invalid),
                "{position}"
            );
        }
        let split = json!({ "o": 1, "h": "" });
        assert_eq!(cut("é", Some(&split), 9), Err(BadCursor::Stale));
    }
}
