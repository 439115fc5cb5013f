//! Building JSON Schemas (a subset of draft 2020-12) and checking values against them.
//!
//! The same schema bytes are published and interpreted, so that what is promised and what is enforced cannot disagree.

mod check;
mod pattern;

pub use check::{Problem, check};
pub use pattern::KNOWN as KNOWN_PATTERNS;
pub(crate) use pattern::{NOT_BLANK, RUN_ID, is_blank, is_run_id};

use crate::wire::Member;
use tidehold_delta::{Json, Object, json};

/// An open object: consumers ignore unknown members.
pub(crate) fn object(members: Vec<Member>) -> Json {
    let required = members
        .iter()
        .filter(|member| member.required)
        .map(|member| Json::from(member.key));
    let required = Json::array(required);
    let properties = Json::object(members.into_iter().map(|member| (member.key, member.schema)));
    json!({ "type": "object", "properties": properties, "required": required })
}

/// An array of like items.
pub(crate) fn array(items: Json) -> Json {
    json!({ "type": "array", "items": items })
}

/// A string.
pub(crate) fn text() -> Json {
    json!({ "type": "string" })
}

/// A string of at most `max` code points.
pub(crate) fn text_up_to(max: u64) -> Json {
    json!({ "type": "string", "maxLength": max })
}

/// A string of 1 to `max` code points.
pub(crate) fn filled_text_up_to(max: u64) -> Json {
    json!({ "type": "string", "minLength": 1, "maxLength": max })
}

/// A boolean.
pub(crate) fn boolean() -> Json {
    json!({ "type": "boolean" })
}

/// Any number.
pub(crate) fn number() -> Json {
    json!({ "type": "number" })
}

/// An integer in a range, bounds included.
pub(crate) fn integer(min: u64, max: Option<u64>) -> Json {
    let schema = json!({ "type": "integer", "minimum": min });
    match max {
        Some(max) => with(schema, "maximum", max),
        None => schema,
    }
}

/// One of these strings.
pub(crate) fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> Json {
    json!({ "type": "string", "enum": Json::array(names.map(Json::from)) })
}

/// Exactly this string.
pub(crate) fn constant(text: &str) -> Json {
    json!({ "const": text, "type": "string" })
}

/// Exactly this boolean.
pub(crate) fn flag(value: bool) -> Json {
    json!({ "const": value, "type": "boolean" })
}

/// The id of a run.
pub(crate) fn run_id() -> Json {
    json!({ "type": "string", "pattern": RUN_ID })
}

/// The schema with one more keyword.
pub(crate) fn with(schema: Json, keyword: &'static str, value: impl Into<Json>) -> Json {
    let mut members = schema.as_object().cloned().unwrap_or_default();
    members.insert(keyword, value.into());
    Json::Object(members)
}

/// The schema with a sentence for its readers.
pub(crate) fn about(schema: Json, description: &str) -> Json {
    with(schema, "description", description)
}

/// The schema with the property at `path` replaced; a path that is not there changes nothing.
pub(crate) fn replacing(schema: &Json, path: &[&'static str], replacement: Json) -> Json {
    let Some((key, rest)) = path.split_first() else {
        return replacement;
    };
    let Some(properties) = schema.get("properties").and_then(Json::as_object) else {
        return schema.clone();
    };
    let Some(property) = properties.get(key) else {
        return schema.clone();
    };
    let mut properties: Object = properties.clone();
    properties.insert(*key, replacing(property, rest, replacement));
    with(schema.clone(), "properties", properties)
}
