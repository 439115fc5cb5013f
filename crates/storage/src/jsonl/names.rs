//! File names.

/// Table writes, document records and markers.
pub const MAIN: &str = "main.jsonl";

/// Ending of a replacement that has not taken its file's place yet.
const RECLAIM: &str = ".reclaim";

/// A file that holds what one record needs, and can be reclaimed without the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Sidecar {
    Document(u64),
    Task(u64),
}

impl Sidecar {
    pub(super) fn file(self) -> String {
        match self {
            Self::Document(id) => format!("doc-{id}.jsonl"),
            Self::Task(id) => format!("task-{id}.jsonl"),
        }
    }

    /// The temporary file that replaces this one.
    pub(super) fn replacement(self) -> String {
        self.file() + RECLAIM
    }

    /// The sidecar of this name. Names that [`file`](Self::file) never gives, `doc-07.jsonl` say, are none.
    pub(super) fn of_file(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".jsonl")?;
        let sidecar = match stem.split_once('-')? {
            ("doc", id) => Self::Document(id.parse().ok()?),
            ("task", id) => Self::Task(id.parse().ok()?),
            _ => return None,
        };
        (sidecar.file() == name).then_some(sidecar)
    }
}

/// Whether this is a replacement of one of our files that never took its place.
pub(super) fn is_replacement(name: &str) -> bool {
    name.strip_suffix(RECLAIM).and_then(Sidecar::of_file).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_are_left_alone() {
        for sidecar in [Sidecar::Document(7), Sidecar::Task(u64::MAX)] {
            assert_eq!(Sidecar::of_file(&sidecar.file()), Some(sidecar));
            assert!(is_replacement(&sidecar.replacement()));
        }
        for name in [
            MAIN,
            "doc-07.jsonl",
            "doc-+7.jsonl",
            "doc-.jsonl",
            "doc-7.jsonl ",
            "note-7.jsonl",
            "doc-7",
            "README",
        ] {
            assert_eq!(Sidecar::of_file(name), None, "{name}");
            assert!(!is_replacement(name), "{name}");
        }
        assert!(!is_replacement("main.jsonl.reclaim"));
    }
}
