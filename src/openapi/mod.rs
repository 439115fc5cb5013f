//! The OpenAPI 3.1 document. It is made from the same table that routes requests, but not at run time: the Worker serves
//! the bytes of docs/openapi.json, and a test makes them anew and compares.

#[cfg(test)]
mod generate;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod schemas;

/// `GET /openapi.json`.
pub const DOCUMENT: &str = include_str!("../../docs/openapi.json");
