//! The envelope that every tool answers with, and the result around it.

use crate::code::{Code, Refusal};
use crate::schema;
use crate::time::iso;
use crate::wire::{Wire, wire_enum};
use tidehold_delta::{Json, json};
use tidehold_session::host::Millis;

/// Version of the contract. Raised when a member is removed or changes its meaning.
const CONTRACT_VERSION: u64 = 1;

wire_enum! {
    /// The tools of the contract that exist.
    pub enum Tool {
        Delegate = "external_delegate",
        Runs = "external_runs",
    }
}

wire_enum! {
    /// What a receipt warns of.
    pub enum Warning {
        /// Redaction changed an inlined value.
        OutputRedacted = "output_redacted",
    }
}

/// The result of a tool call: text for people and models, the receipt for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// Text blocks. A model sees nothing else, so they say everything it needs.
    pub content: Vec<String>,
    /// The receipt, `structuredContent` on the wire.
    pub receipt: Json,
}

impl ToolResult {
    /// Whether the operation failed; a run that failed is no failed operation of those who ask about it.
    pub fn is_error(&self) -> bool {
        self.receipt.get("ok") != Some(&Json::Bool(true))
    }

    /// The result as MCP and the HTTP surface write it.
    pub fn to_json(&self) -> Json {
        let block = |text: &String| json!({ "type": "text", "text": text });
        json!({
            "content": Json::array(self.content.iter().map(block)),
            "structuredContent": &self.receipt,
            "isError": self.is_error(),
        })
    }
}

/// Who answers, to what, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub tool: Tool,
    pub action: &'static str,
    pub at: Millis,
}

impl Header {
    /// The receipt of an operation that worked.
    pub fn success(self, data: Json, warnings: &[Warning]) -> Json {
        self.envelope(true, data, warnings)
    }

    /// The receipt of one that did not. `data` is what is known all the same: a run, or nothing.
    pub fn failure(self, data: Json, warnings: &[Warning], refusal: &Refusal) -> Json {
        let error = json!({ "code": refusal.code.name(), "message": refusal.message.as_str() });
        schema::with(self.envelope(false, data, warnings), "error", error)
    }

    fn envelope(self, ok: bool, data: Json, warnings: &[Warning]) -> Json {
        json!({
            "contractVersion": CONTRACT_VERSION,
            "tool": self.tool.name(),
            "action": self.action,
            "observedAt": iso(self.at),
            "ok": ok,
            "data": data,
            "warnings": Json::array(warnings.iter().map(|warning| Json::from(warning.name()))),
        })
    }
}

/// Schema of a success: its action and data.
pub(crate) struct Success {
    pub action: &'static str,
    pub data: Json,
}

/// The output schema of a tool: one variant a success, one for every failure.
pub(crate) fn output_schema(tool: Tool, successes: Vec<Success>, failure_data: Json) -> Json {
    let actions: Vec<&'static str> = successes.iter().map(|success| success.action).collect();
    let failed_action = match actions.as_slice() {
        [only] => schema::constant(only),
        _ => schema::one_of(actions.iter().copied()),
    };
    let successful = successes
        .into_iter()
        .map(|success| variant(tool, schema::constant(success.action), true, success.data));
    let failed = variant(tool, failed_action, false, failure_data);
    json!({ "type": "object", "anyOf": Json::array(successful.chain([failed])) })
}

fn variant(tool: Tool, action: Json, ok: bool, data: Json) -> Json {
    let mut properties = json!({
        "contractVersion": { "const": CONTRACT_VERSION, "type": "integer" },
        "tool": schema::constant(tool.name()),
        "action": action,
        "observedAt": { "type": "string", "format": "date-time" },
        "ok": schema::flag(ok),
        "data": data,
        "warnings": schema::array(schema::text()),
    });
    let mut required = vec![
        "contractVersion",
        "tool",
        "action",
        "observedAt",
        "ok",
        "data",
        "warnings",
    ];
    if !ok {
        let error = json!({
            "type": "object",
            "properties": { "code": Code::schema(), "message": schema::text() },
            "required": ["code", "message"],
        });
        properties = schema::with(properties, "error", error);
        required.push("error");
    }
    let variant = json!({ "type": "object", "properties": properties, "required": required });
    if ok {
        schema::with(variant, "not", json!({ "required": ["error"] }))
    } else {
        variant
    }
}
