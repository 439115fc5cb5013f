//! Why an operation cannot be applied.

use std::borrow::Cow;

use crate::path::encode_path;
use crate::{MAX_DEPTH, Segment};

/// Why an operation cannot be applied. Every variant ends the stream of operations it came from: on
/// stored data it means corruption (durable spec section 10).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// A malformed tuple; the text is a short tag such as `s arity`.
    #[error("{0}")]
    Type(Cow<'static, str>),
    /// An invalid or reserved segment, a name on an array, or an index beyond the append position.
    #[error("unsafe path segment: {0}")]
    UnsafePath(String),
    /// A well-formed path (shown as JSON) that leads nowhere or to the wrong kind of value.
    #[error("unresolvable path: {0}")]
    Path(String),
    /// The result would be nested too deep.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    Depth,
}

impl ApplyError {
    /// The error class of the operation format: `TypeError`, `UnsafePathError` or `PathError`.
    ///
    /// The format itself has no depth limit; exceeding ours counts as malformed.
    pub fn class(&self) -> &'static str {
        match self {
            ApplyError::Type(_) | ApplyError::Depth => "TypeError",
            ApplyError::UnsafePath(_) => "UnsafePathError",
            ApplyError::Path(_) => "PathError",
        }
    }

    pub(crate) fn unresolvable(path: &[Segment]) -> ApplyError {
        ApplyError::Path(encode_path(path).to_string())
    }

    pub(crate) fn unsafe_segment(segment: &Segment) -> ApplyError {
        ApplyError::UnsafePath(segment.member().to_string())
    }
}
