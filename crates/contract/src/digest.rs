//! SHA-256 names for what a cursor or an id is bound to.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The first `bytes` bytes of the SHA-256 of `parts`, in hex. Parts are delimited by their lengths, so that no two lists
/// of parts agree by concatenation.
pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>, bytes: usize) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    let mut hex = String::with_capacity(bytes * 2);
    for byte in digest.finalize().iter().take(bytes) {
        // Writing into a `String` cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
