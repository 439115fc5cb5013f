//! The whole document, and the test that keeps docs/openapi.json equal to it.

use super::{DOCUMENT, operations, schemas};
use serde_json::{Map, Value, json};

fn document() -> Value {
    let mut paths = Map::new();
    for route in &crate::route::table::ROUTES {
        let parameters = json!({ "parameters": operations::path_parameters(route.path) });
        let path = paths.entry(route.path).or_insert(parameters);
        path[route.method.to_ascii_lowercase()] = operations::operation(route);
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

/// The document is part of the contract: a change of it has to be seen. `UPDATE_GOLDEN=1` accepts it.
#[test]
fn the_document_is_the_one_in_docs() {
    let made = format!("{:#}\n", document());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json"), made).unwrap();
        return;
    }
    assert!(
        made == DOCUMENT,
        "docs/openapi.json differs; UPDATE_GOLDEN=1 cargo test -p tidehold writes it"
    );
}
