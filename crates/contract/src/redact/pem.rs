//! Private keys in PEM armour.

use std::ops::Range;

pub const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// The longest label between the dashes.
const LABEL_BYTES: usize = 64;

/// The block that begins at `at`, to the end of the text when it is not closed: it may be cut, its secret is there.
pub fn at(text: &str, at: usize) -> Option<Range<usize>> {
    let label_start = at + BEGIN.len();
    let label_end = dashes(text, label_start)?;
    if !text.get(label_start..label_end)?.contains("PRIVATE KEY") {
        return None;
    }
    let body = text.get(label_end..)?;
    let Some(end) = body.find(END) else { return Some(at..text.len()) };
    let end_label = label_end + end + END.len();
    Some(at..dashes(text, end_label).map_or(text.len(), |end| end + DASHES.len()))
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
    window.windows(DASHES.len()).position(|bytes| bytes == DASHES.as_bytes()).map(|at| start + at)
}
