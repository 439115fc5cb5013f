//! Reading a chunk the way JavaScript would: absent, `null` and odd values are simply not there.

use tidehold_delta::Json;

/// A member that is a non-empty text.
pub(super) fn text<'a>(value: &'a Json, name: &str) -> Option<&'a str> {
    value
        .get(name)
        .and_then(Json::as_str)
        .filter(|text| !text.is_empty())
}

/// A member that is an object.
pub(super) fn object<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    value.get(name).filter(|value| value.as_object().is_some())
}

/// More tokens than any answer has, and few enough that sums stay exact in JSON.
const MOST_TOKENS: u64 = 1 << 40;

/// A count of tokens; nonsense counts as absent.
pub(super) fn count(value: &Json, name: &str) -> Option<u64> {
    // A float cast saturates, so neither sign nor size can hurt.
    value
        .get(name)
        .and_then(Json::as_f64)
        .filter(|count| *count >= 0.0)
        .map(|count| (count as u64).min(MOST_TOKENS))
}
