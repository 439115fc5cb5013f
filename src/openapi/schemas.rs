//! Shared parts of the document.

use crate::error::Code;
use serde_json::{Value, json};

pub fn schemas() -> Value {
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.wire().0).collect();
    json!({
        "Error": {
            "type": "object",
            "required": ["error"],
            "properties": {
                "error": {
                    "type": "object",
                    "required": ["code", "message"],
                    "properties": {
                        "code": { "enum": codes },
                        "message": { "type": "string" },
                        "paths": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["path", "message"],
                                "properties": {
                                    "path": { "type": "string" },
                                    "message": { "type": "string" },
                                },
                            },
                        },
                        "head": { "type": "string", "description": "The newest position, with stream_cursor_gone." },
                    },
                },
            },
        },
    })
}

pub fn headers() -> Value {
    json!({
        "x-request-id": {
            "description": "Names this request in logs.",
            "schema": { "type": "string" },
        },
    })
}
