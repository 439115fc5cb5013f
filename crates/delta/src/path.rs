//! Paths: from the root to a place inside a value (durable spec section 8, Chord Delta).

use crate::{ApplyError, Json, Text, format_number};

/// One step of a path: a member name or an array index.
///
/// On an object an index means the member named by its decimal form; a name never addresses an array
/// element, even if it looks like an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    Key(Text),
    Index(u64),
}

/// Segments from the root on; empty for the root itself.
pub type Path = Vec<Segment>;

/// The names that other implementations cannot address safely. They may occur in values, never in paths.
const RESERVED: [&str; 3] = ["__proto__", "constructor", "prototype"];

impl Segment {
    /// Whether this is one of the names that no path may contain.
    pub fn is_reserved(&self) -> bool {
        matches!(self, Segment::Key(key) if RESERVED.contains(&&**key))
    }

    /// The member this names in an object.
    pub(crate) fn member(&self) -> Text {
        match self {
            Segment::Key(key) => key.clone(),
            Segment::Index(index) => format_number(*index as f64).into(),
        }
    }

    /// The array position this names, if it can be one.
    pub(crate) fn position(&self) -> Option<usize> {
        match self {
            Segment::Index(index) => usize::try_from(*index).ok(),
            Segment::Key(_) => None,
        }
    }

    /// Whether both name the same child, whatever the container is.
    pub(crate) fn same_child(&self, other: &Segment) -> bool {
        match (self, other) {
            (Segment::Key(a), Segment::Key(b)) => a == b,
            (Segment::Index(a), Segment::Index(b)) => a == b,
            _ => self.member() == other.member(),
        }
    }

    /// The child this names, `None` when there is none.
    pub(crate) fn child<'a>(&self, container: &'a Json) -> Option<&'a Json> {
        match (container, self) {
            (Json::Array(array), _) => array.get(self.position()?),
            (Json::Object(object), Segment::Key(key)) => object.get(key),
            (Json::Object(object), Segment::Index(_)) => object.get(&self.member()),
            _ => None,
        }
    }

    fn decode(value: &Json) -> Result<Segment, ApplyError> {
        let segment = match value {
            Json::String(key) => Segment::Key(key.clone()),
            Json::Number(number) if number.fract() == 0.0 && *number >= 0.0 => {
                // Beyond 64 bits no array reaches; as a member name the number stays exact.
                if *number < u64::MAX as f64 {
                    Segment::Index(*number as u64)
                } else {
                    Segment::Key(format_number(*number).into())
                }
            }
            other => return Err(ApplyError::UnsafePath(loose_text(other, 8))),
        };
        segment.checked()
    }

    fn checked(self) -> Result<Segment, ApplyError> {
        if self.is_reserved() {
            Err(ApplyError::UnsafePath(self.member().to_string()))
        } else {
            Ok(self)
        }
    }
}

impl From<&str> for Segment {
    fn from(key: &str) -> Segment {
        Segment::Key(key.into())
    }
}

impl From<String> for Segment {
    fn from(key: String) -> Segment {
        Segment::Key(key.into())
    }
}

impl From<&String> for Segment {
    fn from(key: &String) -> Segment {
        Segment::Key(key.as_str().into())
    }
}

impl From<Text> for Segment {
    fn from(key: Text) -> Segment {
        Segment::Key(key)
    }
}

// The only integer type, so that a literal in `draft.at(0)` needs no suffix.
impl From<usize> for Segment {
    fn from(index: usize) -> Segment {
        Segment::Index(index as u64)
    }
}

impl From<&Segment> for Json {
    fn from(segment: &Segment) -> Json {
        match segment {
            Segment::Key(key) => Json::String(key.clone()),
            Segment::Index(index) => Json::Number(*index as f64),
        }
    }
}

/// Reads the path of an operation; every segment is checked.
pub(crate) fn decode_path(value: &Json) -> Result<Path, ApplyError> {
    let segments = value
        .as_array()
        .ok_or(ApplyError::Type("path is not an array".into()))?;
    segments.iter().map(Segment::decode).collect()
}

/// The path as an operation carries it.
pub(crate) fn encode_path(path: &[Segment]) -> Json {
    Json::array(path.iter().map(Json::from))
}

/// Whether `path` leads to the same place as `above` or below it.
pub(crate) fn is_at_or_below(path: &[Segment], above: &[Segment]) -> bool {
    path.len() >= above.len() && path.iter().zip(above).all(|(a, b)| a.same_child(b))
}

/// The value at `path`, `None` when the path leads nowhere.
pub(crate) fn find<'a>(root: &'a Json, path: &[Segment]) -> Option<&'a Json> {
    path.iter().try_fold(root, |node, segment| segment.child(node))
}

/// What JavaScript's `String()` makes of a value; arrays within arrays only so many levels deep.
pub(crate) fn loose_text(value: &Json, levels: usize) -> String {
    match value {
        Json::String(text) => text.to_string(),
        Json::Object(_) => "[object Object]".to_owned(),
        Json::Array(array) => {
            let part = |item: &Json| match levels {
                _ if item.is_null() => String::new(),
                0 => "…".to_owned(),
                _ => loose_text(item, levels - 1),
            };
            array.iter().map(part).collect::<Vec<_>>().join(",")
        }
        scalar => scalar.to_string(),
    }
}
