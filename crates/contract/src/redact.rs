//! Redaction: secrets leave neither a stored run record nor any answer of the four tools.
//!
//! It works on values, every key and every string of them, never on serialized text: there an escape before a token would
//! hide its border. It runs at the source, before anything is measured or cut, so that no page border splits a secret.
//! The patterns are best effort, for common shapes of credentials; prose that tells a secret passes. Every matcher reads
//! each byte a bounded number of times, and redacting twice changes nothing.

mod assignment;
mod auth;
mod names;
mod pem;
mod scan;
#[cfg(test)]
mod tests;
mod url;
mod vendor;

pub use scan::text;

use crate::limits::HOLD_BACK_BYTES;
use tidehold_delta::Json;

/// What stands where a secret was.
pub const REPLACEMENT: &str = "[REDACTED]";

/// A value without its secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Redacted {
    pub value: Json,
    /// Whether anything was taken out.
    pub changed: bool,
}

/// Redacts a value: patterns in keys and strings, and whatever stands under a secret name.
pub fn value(original: &Json) -> Redacted {
    let value = walk(original);
    let changed = value != *original;
    Redacted { value, changed }
}

fn walk(value: &Json) -> Json {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
        Json::String(secret) => match text(secret) {
            std::borrow::Cow::Borrowed(_) => value.clone(),
            std::borrow::Cow::Owned(redacted) => Json::from(redacted),
        },
        Json::Array(items) => Json::array(items.iter().map(walk)),
        Json::Object(members) => Json::object(members.iter().map(|(key, value)| {
            let value = if names::is_secret_key(key) {
                taken_out(value)
            } else {
                walk(value)
            };
            (text(key).into_owned(), value)
        })),
    }
}

/// What stands under a secret name. Flags and emptiness tell nothing.
fn taken_out(value: &Json) -> Json {
    let tells_nothing = match value {
        Json::Null | Json::Bool(_) => true,
        Json::Number(_) => false,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
    };
    if tells_nothing {
        value.clone()
    } else {
        Json::from(REPLACEMENT)
    }
}

/// The part of a growing text that may be shown: without its last word, which may turn out to be a secret, and without the
/// header of what may be a private key.
pub fn hold_back(growing: &str) -> &str {
    let word = growing.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let end = word.max(growing.len().saturating_sub(HOLD_BACK_BYTES));
    let shown = growing
        .get(..growing.floor_char_boundary(end))
        .unwrap_or_default();
    pem::cut_header(shown)
        .and_then(|header| shown.get(..header))
        .unwrap_or(shown)
}
