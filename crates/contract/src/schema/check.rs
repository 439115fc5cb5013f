//! Interprets the keywords our schemas use: type, properties, required, additionalProperties: false, enum, const, pattern,
//! minLength, maxLength, minimum, maximum, minItems, maxItems, items, anyOf, not. Others are annotations.

use super::pattern;
use crate::limits::PROBLEMS;
use std::fmt::Write;
use tidehold_delta::{Json, Object};

/// What is wrong with a value, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// JSON Pointer.
    pub path: String,
    /// For people; never contains the value itself, which may be a secret.
    pub message: String,
}

/// Longest member name that a problem repeats.
const NAME_BYTES: usize = 64;

/// Everything that keeps `value` from matching `schema`, at most [`PROBLEMS`]; empty when it matches. The recursion is as
/// deep as the schema, which is ours.
pub fn check(schema: &Json, value: &Json) -> Vec<Problem> {
    let mut found = Vec::new();
    walk(schema, value, &Place::Root, &mut found);
    found.truncate(PROBLEMS);
    found
}

/// Where the walk is; a pointer is written only for a problem.
enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        self.write(&mut pointer);
        pointer
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Root => {}
            Self::Member(above, key) => {
                above.write(out);
                out.push('/');
                out.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Self::Item(above, index) => {
                above.write(out);
                // Writing into a `String` cannot fail.
                let _ = write!(out, "/{index}");
            }
        }
    }
}

fn walk(schema: &Json, value: &Json, place: &Place<'_>, found: &mut Vec<Problem>) {
    let Some(keywords) = schema.as_object() else {
        return;
    };
    if found.len() > PROBLEMS {
        return;
    }
    let mut report = |message: String| {
        found.push(Problem {
            path: place.pointer(),
            message,
        })
    };
    // A wrong type makes every other complaint noise.
    if let Some(wanted) = keywords.get("type").and_then(Json::as_str)
        && !is_of_type(wanted, value)
    {
        return report(format!("must be {}", named(wanted)));
    }
    if let Some(wanted) = keywords.get("const")
        && wanted != value
    {
        report(format!("must be {wanted}"));
    }
    if let Some(wanted) = keywords.get("enum").and_then(Json::as_array)
        && !wanted.iter().any(|one| one == value)
    {
        let names: Vec<String> = wanted.iter().map(Json::to_string).collect();
        report(format!("must be one of {}", names.join(", ")));
    }
    match value {
        Json::String(text) => strings(keywords, text, &mut report),
        Json::Number(number) => numbers(keywords, *number, &mut report),
        Json::Array(items) => {
            bounds(
                keywords,
                items.len() as f64,
                ["minItems", "maxItems"],
                "items",
                &mut report,
            );
            if let Some(schema) = keywords.get("items") {
                for (index, item) in items.iter().enumerate() {
                    walk(schema, item, &Place::Item(place, index), found);
                }
            }
        }
        Json::Object(members) => objects(keywords, members, place, found),
        Json::Null | Json::Bool(_) => {}
    }
    applicators(keywords, value, place, found);
}

fn strings(keywords: &Object, text: &str, report: &mut impl FnMut(String)) {
    if keywords.contains_key("minLength") || keywords.contains_key("maxLength") {
        let length = text.chars().count() as f64;
        bounds(keywords, length, ["minLength", "maxLength"], "characters", report);
    }
    if let Some(wanted) = keywords.get("pattern").and_then(Json::as_str) {
        match pattern::matches(wanted, text) {
            Some(true) => {}
            Some(false) => report(format!("must match {wanted}")),
            // Fails closed; a test keeps every schema to the known patterns.
            None => report(format!("cannot be checked against {wanted}")),
        }
    }
}

fn numbers(keywords: &Object, number: f64, report: &mut impl FnMut(String)) {
    let bound = |keyword| keywords.get(keyword).and_then(Json::as_f64);
    if let Some(least) = bound("minimum").filter(|least| number < *least) {
        report(format!("must be at least {least}"));
    }
    if let Some(most) = bound("maximum").filter(|most| number > *most) {
        report(format!("must be at most {most}"));
    }
}

fn bounds(keywords: &Object, size: f64, names: [&str; 2], unit: &str, report: &mut impl FnMut(String)) {
    let [least, most] = names.map(|name| keywords.get(name).and_then(Json::as_f64));
    if let Some(least) = least.filter(|least| size < *least) {
        report(format!("must have at least {least} {unit}"));
    }
    if let Some(most) = most.filter(|most| size > *most) {
        report(format!("must have at most {most} {unit}"));
    }
}

fn objects(keywords: &Object, members: &Object, place: &Place<'_>, found: &mut Vec<Problem>) {
    let properties = keywords.get("properties").and_then(Json::as_object);
    let required = keywords.get("required").and_then(Json::as_array);
    for key in required
        .into_iter()
        .flat_map(|required| required.iter())
        .filter_map(Json::as_str)
    {
        if !members.contains_key(key) {
            found.push(Problem {
                path: Place::Member(place, key).pointer(),
                message: "is required".to_owned(),
            });
        }
    }
    let closed = keywords.get("additionalProperties") == Some(&Json::Bool(false));
    for (key, value) in members {
        match properties.and_then(|properties| properties.get(key)) {
            Some(schema) => walk(schema, value, &Place::Member(place, key), found),
            // Names of members are the caller's: long ones are not repeated.
            None if closed && key.len() > NAME_BYTES => {
                let message = "has a member that is not allowed".to_owned();
                found.push(Problem {
                    path: place.pointer(),
                    message,
                });
            }
            None if closed => {
                found.push(Problem {
                    path: Place::Member(place, key).pointer(),
                    message: "is not allowed".to_owned(),
                });
            }
            None => {}
        }
    }
}

/// `anyOf` and `not`. Of several variants the nearest one explains what is missing.
fn applicators(keywords: &Object, value: &Json, place: &Place<'_>, found: &mut Vec<Problem>) {
    if let Some(variants) = keywords.get("anyOf").and_then(Json::as_array) {
        let nearest = variants
            .iter()
            .map(|variant| {
                let mut problems = Vec::new();
                walk(variant, value, place, &mut problems);
                (is_meant(variant, value), problems)
            })
            .min_by_key(|(meant, problems)| (!problems.is_empty() && !meant, problems.len()))
            .map(|(_, problems)| problems);
        // Members that the root names as well were reported there already.
        let new = nearest
            .unwrap_or_default()
            .into_iter()
            .filter(|problem| !found.contains(problem));
        found.extend(new.collect::<Vec<_>>());
    }
    if let Some(excluded) = keywords.get("not") {
        let mut problems = Vec::new();
        walk(excluded, value, place, &mut problems);
        if problems.is_empty() {
            let said = excluded.get("description").and_then(Json::as_str);
            let message = said.unwrap_or("must not have this form").to_owned();
            found.push(Problem {
                path: place.pointer(),
                message,
            });
        }
    }
}

/// Whether the value names this variant: its fixed members, where they are present, say so.
fn is_meant(variant: &Json, value: &Json) -> bool {
    let properties = variant.get("properties").and_then(Json::as_object);
    properties
        .into_iter()
        .flat_map(|properties| properties.iter())
        .all(|(key, schema)| match (schema.get("const"), value.get(key)) {
            (Some(fixed), Some(given)) => fixed == given,
            _ => true,
        })
}

fn is_of_type(wanted: &str, value: &Json) -> bool {
    match value {
        Json::Null => wanted == "null",
        Json::Bool(_) => wanted == "boolean",
        Json::Number(number) => wanted == "number" || (wanted == "integer" && number.fract() == 0.0),
        Json::String(_) => wanted == "string",
        Json::Array(_) => wanted == "array",
        Json::Object(_) => wanted == "object",
    }
}

fn named(wanted: &str) -> String {
    let article = if wanted.starts_with(['a', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    if wanted == "null" {
        "null".to_owned()
    } else {
        format!("{article} {wanted}")
    }
}
