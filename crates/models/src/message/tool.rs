//! Tools as a model sees them (models.md 1.4).

use serde::Serialize;
use tidehold_delta::{FromJson, Json, present};

/// A tool declaration.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Unique among the offered tools.
    pub name: String,
    /// Tells the model when and how to use it.
    pub description: String,
    /// JSON Schema of the arguments, an object schema.
    pub parameters: Json,
    /// `false`, `null`, `{type:"json_schema", strict}` or `{type:"grammar", variants}`. `Some(null)` and `None` differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[json(with = "present")]
    pub constrained_sampling: Option<Json>,
}

/// Names a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, FromJson)]
pub struct ToolReference {
    /// The tool's name.
    pub name: String,
}
