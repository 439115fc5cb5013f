//! What tools say about themselves. Help, OpenAPI and MCP serve these very schemas.

use crate::receipt::Tool;
use crate::{delegate, runs};
use tidehold_delta::Json;

impl Tool {
    /// What the tool is for, in a sentence.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Delegate => {
                "Delegates a task to a child agent. Waits for its answer, or with background: true returns once the run is \
                 registered. Check ok, then run.state.outcome."
            }
            Self::Runs => {
                "Supervises delegated runs: list, inspect (summaries of several, or one run's output, diagnostics, final \
                 answer or launch in pages), wait and cancel."
            }
        }
    }

    /// JSON Schema of the arguments; what `Call::check` enforces.
    pub fn input_schema(self) -> Json {
        match self {
            Self::Delegate => delegate::input(),
            Self::Runs => runs::input(),
        }
    }

    /// JSON Schema of the receipt.
    pub fn output_schema(self) -> Json {
        match self {
            Self::Delegate => delegate::output(),
            Self::Runs => runs::output(),
        }
    }
}
