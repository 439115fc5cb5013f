//! Tool arguments: JSON text that a model writes, piece by piece and not always well (models.md 7).

pub mod finished;
pub mod parser;
pub mod repair;
mod text;

pub use finished::{FinishedArguments, parse_tool_call_arguments};
pub use parser::{ArgumentsParser, Change};
