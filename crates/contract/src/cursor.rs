//! Cursors: opaque to callers, versioned, and bound to what they page through.
//!
//! The text is base64url of `{v, k, s, p}`: version, kind, scope digest, position. They are not signed: a forged position
//! can only skip rows that its forger may read anyway.

use crate::base64url;
use crate::code::{Code, Refusal};
use crate::digest;
use crate::limits::CURSOR_CHARS;
use tidehold_delta::{Json, json};

/// Raised when positions of older cursors no longer mean the same.
const VERSION: u64 = 1;

/// Nesting of a cursor's JSON: itself, its position, and a storage position inside.
const DEPTH: usize = 8;

/// Bytes of a scope digest: enough that two scopes never meet by chance, short because cursors count against page budgets.
const SCOPE_BYTES: usize = 12;

/// What a cursor pages through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The runs of a session.
    Runs,
    /// The targets of a batch inspection.
    Batch,
    /// The text of a view.
    Page,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Batch => "batch",
            Self::Page => "page",
        }
    }
}

/// Why a cursor leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadCursor {
    /// Malformed, or of another run, view, scope or target set.
    Invalid,
    /// What it names changed, or it predates the current format.
    Stale,
}

impl From<BadCursor> for Refusal {
    fn from(cursor: BadCursor) -> Self {
        match cursor {
            BadCursor::Invalid => Self::new(
                Code::CursorInvalid,
                "The cursor is malformed or belongs to another request.",
            ),
            BadCursor::Stale => Self::new(
                Code::CursorStale,
                "What the cursor points into has changed. Start again without a cursor.",
            ),
        }
    }
}

/// The list a cursor belongs to: its kind and what identifies it, the session's incarnation first.
pub struct Scope {
    kind: Kind,
    digest: String,
}

impl Scope {
    /// A scope named by `parts`.
    pub fn new<'a>(kind: Kind, parts: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            kind,
            digest: digest::of_parts(parts, SCOPE_BYTES),
        }
    }

    /// The cursor of a position.
    pub fn encode(&self, position: Json) -> String {
        let cursor = json!({ "v": VERSION, "k": self.kind.name(), "s": self.digest.as_str(), "p": position });
        base64url::encode(cursor.to_string().as_bytes())
    }

    /// The position of a cursor of this scope.
    pub fn decode(&self, cursor: &str) -> Result<Json, BadCursor> {
        if cursor.len() as u64 > CURSOR_CHARS {
            return Err(BadCursor::Invalid);
        }
        let bytes = base64url::decode(cursor).ok_or(BadCursor::Invalid)?;
        let text = String::from_utf8(bytes).map_err(|_| BadCursor::Invalid)?;
        let read = Json::parse(&text, DEPTH).map_err(|_| BadCursor::Invalid)?;
        let member = |name| read.get(name).ok_or(BadCursor::Invalid);
        let version = member("v")?.as_u64().ok_or(BadCursor::Invalid)?;
        if version < VERSION {
            return Err(BadCursor::Stale);
        }
        let of_scope = member("k")?.as_str() == Some(self.kind.name())
            && member("s")?.as_str() == Some(self.digest.as_str());
        if version > VERSION || !of_scope {
            return Err(BadCursor::Invalid);
        }
        member("p").cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_serves_its_own_scope_only() {
        let scope = Scope::new(Kind::Page, ["incarnation", "run_1", "final"]);
        let cursor = scope.encode(json!({ "o": 12 }));
        assert_eq!(scope.decode(&cursor), Ok(json!({ "o": 12 })));
        let others = [
            Scope::new(Kind::Batch, ["incarnation", "run_1", "final"]),
            Scope::new(Kind::Page, ["incarnation", "run_1", "output"]),
            Scope::new(Kind::Page, ["incarnation", "run_1final", ""]),
            Scope::new(Kind::Page, ["another", "run_1", "final"]),
        ];
        for other in others {
            assert_eq!(other.decode(&cursor), Err(BadCursor::Invalid));
        }
    }

    #[test]
    fn older_formats_are_stale_and_anything_else_is_invalid() {
        let scope = Scope::new(Kind::Runs, ["a"]);
        let of = |text: &str| scope.decode(&base64url::encode(text.as_bytes()));
        assert_eq!(of(r#"{"v":0}"#), Err(BadCursor::Stale));
        let others = [
            r#"{"v":2,"k":"runs","s":"","p":1}"#,
            r#"{"v":"1"}"#,
            "[]",
            "{",
            r#"{"v":1}"#,
            r#"{"v":1.5}"#,
        ];
        for other in others {
            assert_eq!(of(other), Err(BadCursor::Invalid), "{other}");
        }
        for text in ["", " ", "====", "é", &"A".repeat(9000)] {
            assert_eq!(scope.decode(text), Err(BadCursor::Invalid), "{text}");
        }
    }
}
