//! Credentials after the name of an HTTP authentication scheme.

use super::scan::{looks_generated, reads, run};
use std::ops::Range;

const SCHEMES: [&str; 3] = ["bearer", "basic", "token"];

/// Shorter words after a scheme are prose.
const LEAST: usize = 8;

/// Longer ones are credentials whatever they look like.
const LONG: usize = 24;

/// The credential after the scheme that stands at `name`.
pub fn at(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let scheme = text.get(name.clone())?;
    if !SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
        return None;
    }
    let spaces = run(text, name.end, |byte| byte == b' ' || byte == b'\t');
    // Nothing further is read then: what follows may hold the scheme's name any number of times.
    if spaces == 0 {
        return None;
    }
    let start = name.end + spaces;
    let length = run(text, start, |byte| {
        byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte)
    });
    let credential = text.get(start..start + length)?;
    reads(length.min(LONG));
    let secret = length >= LEAST && (length >= LONG || looks_generated(credential));
    secret.then(|| start..start + length)
}
