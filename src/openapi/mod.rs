//! The OpenAPI 3.1 document, made from the same table that routes requests.

mod operations;
mod schemas;

use serde_json::{Map, Value, json};

/// `GET /healthz`.
pub fn health() -> Value {
    json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") })
}

/// `GET /openapi.json`.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in &crate::route::table::ROUTES {
        let path = paths
            .entry(route.path)
            .or_insert_with(|| json!({ "parameters": operations::path_parameters(route.path) }));
        if let Value::Object(path) = path {
            path.insert(route.method.to_ascii_lowercase(), operations::operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tidehold",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Durable agent sessions at the edge",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas::schemas(),
            "headers": schemas::headers(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::document;

    /// The document is part of the contract: a change of it has to be seen. `UPDATE_GOLDEN=1` accepts it.
    #[test]
    fn the_document_is_the_one_in_docs() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");
        let made = format!("{:#}\n", document());
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            made == kept,
            "docs/openapi.json differs; UPDATE_GOLDEN=1 cargo test -p tidehold writes it"
        );
    }
}
