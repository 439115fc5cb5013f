//! SHA-256 names for what a cursor or an id is bound to.

use crate::hex;
use sha2::{Digest, Sha256};

/// The first `bytes` bytes of the SHA-256 of `parts`, in hex. Parts are delimited by their lengths, so that no two lists
/// of parts agree by concatenation.
pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>, bytes: usize) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    let digest = digest.finalize();
    hex::encode(digest.get(..bytes).unwrap_or(&digest))
}
