//! OpenRouter's `reasoning_details`: opaque pieces of thinking that the service wants back with the next request.

use tidehold_delta::{Json, Object};

/// Kinds of details that can be sent back.
const KINDS: [&str; 3] = ["reasoning.text", "reasoning.summary", "reasoning.encrypted"];

/// Members that arrive in pieces.
const GROWING: [&str; 3] = ["text", "summary", "data"];

/// Whether a value is a detail that can be sent back.
pub(super) fn is_detail(value: &Json) -> bool {
    value
        .get("type")
        .and_then(Json::as_str)
        .is_some_and(|kind| KINDS.contains(&kind))
}

/// The details of a signature that is a JSON array of them.
pub(super) fn details_of_signature(signature: &str) -> Option<Vec<Json>> {
    let value = if signature.starts_with('[') {
        crate::json::parse(signature).ok()?
    } else {
        return None;
    };
    let details = value.as_array()?.to_vec();
    let valid = !details.is_empty() && details.iter().all(is_detail);
    valid.then_some(details)
}

/// The one detail of a call's signature.
pub(super) fn detail_of_call(signature: &str) -> Option<Json> {
    let value = if signature.starts_with('{') {
        crate::json::parse(signature).ok()?
    } else {
        return None;
    };
    is_detail(&value).then_some(value)
}

/// Adds the details of one chunk to those collected: pieces of the same detail (same kind and index) are joined, what
/// is not text is replaced.
pub(super) fn collect(collected: &mut Vec<Object>, chunk: &Json) {
    for detail in chunk
        .as_array()
        .into_iter()
        .flatten()
        .filter(|detail| is_detail(detail))
    {
        let Some(detail) = detail.as_object() else {
            continue;
        };
        let same = |known: &&mut Object| {
            ["type", "index"]
                .into_iter()
                .all(|name| known.get(name) == detail.get(name))
                && (detail.contains_key("index") || known.get("id") == detail.get("id"))
        };
        match collected.iter_mut().next_back().filter(same) {
            Some(known) => merge(known, detail),
            None => collected.push(detail.clone()),
        }
    }
}

fn merge(known: &mut Object, detail: &Object) {
    for (name, value) in detail.iter().filter(|(_, value)| !value.is_null()) {
        let joined = match (known.get(name).and_then(Json::as_str), value.as_str()) {
            (Some(start), Some(rest)) if GROWING.contains(&&**name) => Json::from(format!("{start}{rest}")),
            _ => value.clone(),
        };
        known.insert(name.clone(), joined);
    }
}

/// The signature that carries the details.
pub(super) fn signature(collected: Vec<Object>) -> Option<String> {
    if collected.is_empty() {
        return None;
    }
    Some(Json::array(collected.into_iter().map(Json::Object)).to_string())
}
