//! What JavaScript makes of JSON values where the mutations of a vector rely on it.

use std::cmp::Ordering;

use tidehold_delta::Json;

/// `String(value)`.
pub fn string(value: &Json) -> String {
    match value {
        Json::String(text) => text.to_string(),
        Json::Object(_) => "[object Object]".to_owned(),
        Json::Array(array) => {
            let part = |item: &Json| {
                if item.is_null() {
                    String::new()
                } else {
                    string(item)
                }
            };
            array.iter().map(part).collect::<Vec<_>>().join(",")
        }
        scalar => scalar.to_string(),
    }
}

/// The UTF-16 code units of `String(value)`, which strings are compared by.
pub fn units(value: &Json) -> Vec<u16> {
    string(value).encode_utf16().collect()
}

/// By `<` and `>`; `None` is `undefined`, which is neither before nor behind anything.
pub fn compare(one: Option<&Json>, other: Option<&Json>) -> Ordering {
    let (Some(one), Some(other)) = (one, other) else {
        return Ordering::Equal;
    };
    let textual = |value: &Json| matches!(value, Json::String(_) | Json::Array(_) | Json::Object(_));
    if textual(one) && textual(other) {
        return units(one).cmp(&units(other));
    }
    number(one).partial_cmp(&number(other)).unwrap_or(Ordering::Equal)
}

/// `Number(value)`.
fn number(value: &Json) -> f64 {
    match value {
        Json::Null => 0.0,
        Json::Bool(value) => f64::from(u8::from(*value)),
        Json::Number(number) => *number,
        other => match string(other).trim() {
            "" => 0.0,
            text => text.parse().unwrap_or(f64::NAN),
        },
    }
}
