//! Strings being edited: parts that are joined once, not on every edit.

use crate::json::joined;
use crate::{ApplyError, Path, Segment, Text, byte_of_unit, utf16_len};

/// The most strings kept open. A batch that alternates between more of them copies some repeatedly.
const OPEN_LIMIT: usize = 16;

/// A string under edit: what is left of the stored text, then what was appended.
pub(crate) struct OpenText {
    pub(crate) path: Path,
    head: Text,
    /// Byte offset in `head` of what is left.
    from: usize,
    tail: String,
}

impl OpenText {
    pub(crate) fn new(path: &[Segment], text: Text) -> OpenText {
        OpenText {
            path: path.to_vec(),
            head: text,
            from: 0,
            tail: String::new(),
        }
    }

    pub(crate) fn append(&mut self, text: &str) {
        self.tail.push_str(text);
    }

    /// Drops the first `units` code units, at most all.
    ///
    /// # Errors
    /// When half a surrogate pair would remain, which well-formed text cannot hold.
    pub(crate) fn trim_start(&mut self, units: u64) -> Result<(), ApplyError> {
        let split = || ApplyError::Type("t splits a surrogate pair".into());
        let units = usize::try_from(units).unwrap_or(usize::MAX);
        let left = self.head.get(self.from..).unwrap_or_default();
        let head_units = utf16_len(left);
        if units < head_units {
            self.from += byte_of_unit(left, units).ok_or_else(split)?;
            return Ok(());
        }
        let units = (units - head_units).min(utf16_len(&self.tail));
        let end = byte_of_unit(&self.tail, units).ok_or_else(split)?;
        self.tail.drain(..end);
        self.from = self.head.len();
        Ok(())
    }

    /// The whole text.
    pub(crate) fn text(self) -> Text {
        let left = self.head.get(self.from..).unwrap_or_default();
        if self.tail.is_empty() && self.from == 0 {
            self.head
        } else {
            joined(left, &self.tail)
        }
    }
}

/// The strings of one value that are open, the least recently opened first.
#[derive(Default)]
pub(crate) struct OpenTexts(Vec<OpenText>);

impl OpenTexts {
    pub(crate) fn get_mut(&mut self, path: &[Segment]) -> Option<&mut OpenText> {
        let same = |open: &&mut OpenText| {
            open.path.len() == path.len() && crate::path::is_at_or_below(&open.path, path)
        };
        self.0.iter_mut().find(same)
    }

    /// Adds one; returns another that has to be closed for it.
    pub(crate) fn add(&mut self, open: OpenText) -> Option<OpenText> {
        let evicted = (self.0.len() >= OPEN_LIMIT).then(|| self.0.remove(0));
        self.0.push(open);
        evicted
    }

    /// Takes out those at `path` or below.
    pub(crate) fn take_below(&mut self, path: &[Segment]) -> Vec<OpenText> {
        // Nearly always nothing is open, or nothing here.
        if !self
            .0
            .iter()
            .any(|open| crate::path::is_at_or_below(&open.path, path))
        {
            return Vec::new();
        }
        let (taken, kept) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|open| crate::path::is_at_or_below(&open.path, path));
        self.0 = kept;
        taken
    }
}
