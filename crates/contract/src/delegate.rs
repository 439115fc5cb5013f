//! `external_delegate`: starts a child agent, and waits for it unless asked not to.

mod input;
mod launch;
mod select;
mod settle;
mod unsupported;

pub use input::{ContextMode, DelegateInput, Permission};
pub(crate) use launch::{Launch, launch};
pub(crate) use settle::{accepted, refused, settled};

use crate::public_run;
use crate::receipt::{Success, Tool, output_schema};
use crate::wire::{Wire, wire_struct};
use tidehold_delta::{Json, json};

/// The only action of the tool.
pub(crate) const ACTION: &str = "delegate";

wire_struct! {
    /// Data of a receipt that has a run.
    pub struct DelegateData {
        run: public_run::PublicRun as "run" = public_run::delegate_schema(),
    }
}

/// The input schema.
pub fn input() -> Json {
    DelegateInput::input_schema()
}

/// The output schema. A failure keeps its run, unless it came before there was one.
pub fn output() -> Json {
    let none = json!({ "type": "object", "properties": { "run": { "type": "null" } }, "required": ["run"] });
    let failed = json!({ "anyOf": [DelegateData::schema(), none] });
    output_schema(
        Tool::Delegate,
        vec![Success {
            action: ACTION,
            data: DelegateData::schema(),
        }],
        failed,
    )
}
