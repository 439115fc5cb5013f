//! Credentials in front of a URL's host.

use super::scan::{looks_generated, reads, run};
use std::ops::Range;

/// A lone user name this long is a token.
const TOKEN_BYTES: usize = 12;

/// The user information after the `://` at `at`, when it holds a password or a token.
pub fn at(text: &str, at: usize) -> Option<Range<usize>> {
    let start = at + "://".len();
    let ends = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(
                byte,
                b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b')' | b'\\'
            )
    };
    let authority = text.get(start..start + run(text, start, |byte| !ends(byte)))?;
    reads(authority.len());
    let user = authority.get(..authority.rfind('@')?)?;
    let secret = match user.split_once(':') {
        Some((_, password)) => !password.is_empty(),
        None => user.len() >= TOKEN_BYTES && looks_generated(user),
    };
    secret.then(|| start..start + user.len())
}
