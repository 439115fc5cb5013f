//! JSON from outside, bounded.

use crate::limits::JSON_DEPTH;
use tidehold_delta::{Json, ParseError};

/// Parses a strict JSON text that nests at most [`JSON_DEPTH`] levels.
pub fn parse(text: &str) -> Result<Json, ParseError> {
    Json::parse(text, JSON_DEPTH)
}
