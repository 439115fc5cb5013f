//! Private keys in PEM armour.

use super::REPLACEMENT;
use super::scan::reads;
use std::borrow::Cow;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// The longest label between the dashes.
const LABEL_BYTES: usize = 64;

/// The text with every private key replaced.
pub fn without_keys(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(BEGIN)) {
        reads(found + BEGIN.len());
        let begin = at + found;
        match block(text, begin) {
            Some(end) => {
                out.push_str(text.get(copied..begin).unwrap_or_default());
                out.push_str(REPLACEMENT);
                (copied, at) = (end, end);
            }
            None => at = begin + BEGIN.len(),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// The end of the key that begins at `at`: the end of the text when it is not closed, for it may be cut.
fn block(text: &str, at: usize) -> Option<usize> {
    let label_start = at + BEGIN.len();
    let label_end = dashes(text, label_start)?;
    if !text.get(label_start..label_end)?.contains("PRIVATE KEY") {
        return None;
    }
    let body = text.get(label_end..)?;
    let Some(end) = body.find(END) else {
        reads(body.len());
        return Some(text.len());
    };
    reads(end + END.len());
    Some(dashes(text, label_end + end + END.len()).map_or(text.len(), |end| end + DASHES.len()))
}

/// Where a header begins that the end of the text cuts, so that its label is still unknown.
pub fn cut_header(text: &str) -> Option<usize> {
    let at = text.rfind(BEGIN)?;
    let rest = text.len() - at - BEGIN.len();
    (rest < LABEL_BYTES + DASHES.len() && dashes(text, at + BEGIN.len()).is_none()).then_some(at)
}

/// Where the next dashes are, close by.
fn dashes(text: &str, start: usize) -> Option<usize> {
    let window = text.as_bytes().get(start..)?;
    let window = window.get(..LABEL_BYTES + DASHES.len()).unwrap_or(window);
    reads(window.len());
    window
        .windows(DASHES.len())
        .position(|bytes| bytes == DASHES.as_bytes())
        .map(|at| start + at)
}
