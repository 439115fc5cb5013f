//! JSON Schemas for strict mode: every property required, nothing else allowed (models.md 12.5).

use tidehold_delta::{Json, Object, json};

/// Keywords that strict mode does not take.
const REJECTED: [&str; 18] = [
    "$ref",
    "$defs",
    "definitions",
    "allOf",
    "oneOf",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "prefixItems",
    "not",
    "if",
    "then",
    "else",
    "additionalItems",
    "unevaluatedItems",
];

/// The schema made strict: optional properties become nullable and required. The error says what does not fit.
pub fn make_strict_schema(schema: &Json) -> Result<Json, String> {
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        return Err("root schema must have type object".to_owned());
    }
    strict(schema)
}

fn strict(schema: &Json) -> Result<Json, String> {
    let object = match schema {
        Json::Object(object) => object,
        Json::Bool(_) => return Err("boolean schemas are unsupported".to_owned()),
        _ => return Err("schemas must be objects".to_owned()),
    };
    if let Some(keyword) = REJECTED.into_iter().find(|keyword| object.contains_key(keyword)) {
        return Err(format!("{keyword} schemas are unsupported"));
    }
    let branches = object
        .get("anyOf")
        .and_then(Json::as_array)
        .filter(|branches| !branches.is_empty());
    if branches.is_none()
        && !["type", "enum"]
            .into_iter()
            .any(|keyword| object.contains_key(keyword))
    {
        return Err("schemas without a type are unsupported".to_owned());
    }
    let mut out = object.clone();
    if let Some(branches) = branches {
        if branches
            .iter()
            .any(|branch| has_type(branch, "object") || has_type(branch, "array"))
        {
            return Err("object and array unions are unsupported".to_owned());
        }
        let branches = branches.iter().map(strict).collect::<Result<Vec<_>, _>>()?;
        out.insert("anyOf", Json::from(branches));
    }
    if has_type(schema, "array")
        && let Some(items) = object.get("items")
    {
        if items.as_array().is_some() {
            return Err("tuple schemas are unsupported".to_owned());
        }
        out.insert("items", strict(items)?);
    }
    if has_type(schema, "object") {
        strict_object(object, &mut out)?;
    }
    Ok(Json::Object(out))
}

fn strict_object(object: &Object, out: &mut Object) -> Result<(), String> {
    if !matches!(object.get("additionalProperties"), None | Some(Json::Bool(false))) {
        return Err("schema-valued or true additionalProperties is unsupported".to_owned());
    }
    let required: Vec<&str> = object
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let properties = object
        .get("properties")
        .and_then(Json::as_object)
        .cloned()
        .unwrap_or_default();
    if required.iter().any(|name| !properties.contains_key(name)) {
        return Err("required contains an unknown property".to_owned());
    }
    let mut strict_properties = Object::new();
    for (name, schema) in properties.iter() {
        let schema = strict(schema)?;
        let optional = !required.contains(&&**name) && !is_nullable(&schema);
        let schema = if optional {
            json!({ "anyOf": [schema, { "type": "null" }] })
        } else {
            schema
        };
        strict_properties.insert(name.clone(), schema);
    }
    let names: Vec<Json> = strict_properties.keys().map(Json::from).collect();
    if object.contains_key("properties") {
        out.insert("properties", Json::Object(strict_properties));
    }
    out.insert("required", Json::from(names));
    out.insert("additionalProperties", Json::from(false));
    Ok(())
}

fn has_type(schema: &Json, name: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(kind)) => &**kind == name,
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind.as_str() == Some(name)),
        _ => false,
    }
}

fn is_nullable(schema: &Json) -> bool {
    let null_member = schema
        .get("enum")
        .and_then(Json::as_array)
        .is_some_and(|members| members.iter().any(Json::is_null));
    let branches = schema.get("anyOf").and_then(Json::as_array);
    has_type(schema, "null")
        || null_member
        || branches.is_some_and(|branches| branches.iter().any(is_nullable))
}
