//! The state of an open change: the working value and what was touched in it.

use crate::draft::overlay::Overlay;
use crate::draft::{DraftError, Prepared, emit};
use crate::scratch::Scratch;
use crate::{ApplyError, Array, Json, Op, Path, Segment};

type Result<T> = std::result::Result<T, DraftError>;

pub(super) struct Open {
    base: Json,
    scratch: Scratch,
    overlay: Overlay,
}

/// A path in the form the overlay keeps, with the length of each array it passes.
pub(super) struct Place {
    /// Keys for members, indices for elements.
    pub(super) path: Path,
    /// For each segment, the length of the array it points into (0: an object).
    pub(super) lengths: Vec<usize>,
}

impl Open {
    pub(super) fn new(base: Json) -> Open {
        Open {
            scratch: Scratch::new(Some(base.clone())),
            base,
            overlay: Overlay::default(),
        }
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.overlay.is_dirty()
    }

    pub(super) fn read(&mut self, path: &[Segment]) -> Option<Json> {
        self.scratch.read(path).cloned()
    }

    /// Elements of the array at `path`, `None` when there is no array.
    fn array_len(&self, path: &[Segment]) -> Option<usize> {
        let root = self.scratch.outline()?;
        crate::path::find(root, path)?.as_array().map(Array::len)
    }

    fn place(&self, path: &[Segment]) -> Place {
        let mut place = Place {
            path: Path::new(),
            lengths: Vec::new(),
        };
        let mut node = self.scratch.outline();
        for segment in path {
            let (segment, length) = match node {
                Some(Json::Object(_)) => (Segment::Key(segment.member()), 0),
                Some(Json::Array(array)) => (segment.clone(), array.len()),
                _ => (segment.clone(), 0),
            };
            node = node.and_then(|node| segment.child(node));
            place.path.push(segment);
            place.lengths.push(length);
        }
        place
    }

    pub(super) fn set(&mut self, path: &[Segment], value: Json) -> Result<()> {
        check_finite(&value)?;
        if path.is_empty() {
            if self.scratch.read(path).is_some_and(|present| *present != value) {
                self.scratch.step(&Op::Replace(value))?;
                self.overlay.replace_all();
            }
            return Ok(());
        }
        if self.scratch.read(path).is_some_and(|present| *present == value) {
            return Ok(());
        }
        let place = self.place(path);
        self.scratch.step(&Op::Set(path.to_vec(), value))?;
        match place.element() {
            Some((index, length)) if index == length => {
                self.overlay.splice(&place.parent(), length, length, 0, 1);
            }
            _ => self.overlay.write(&place),
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &[Segment]) -> Result<()> {
        let place = self.place(path);
        let exists = self
            .scratch
            .outline()
            .and_then(|root| crate::path::find(root, path))
            .is_some();
        self.scratch.step(&Op::Delete(path.to_vec()))?;
        match place.element() {
            Some((index, length)) => self.overlay.splice(&place.parent(), length, index, 1, 0),
            None if exists => self.overlay.remove(&place),
            None => {}
        }
        Ok(())
    }

    /// Splices the array at `path`, at its end when `index` is `None`.
    pub(super) fn splice(
        &mut self,
        path: &[Segment],
        index: Option<usize>,
        remove: usize,
        items: Array,
    ) -> Result<()> {
        if !items.iter().all(Json::is_finite) {
            return Err(DraftError::NotFinite);
        }
        let length = self.array_len(path);
        let index = index.or(length).unwrap_or(0);
        if length.is_some_and(|length| index > length) {
            return Err(ApplyError::unsafe_segment(&Segment::from(index)).into());
        }
        let place = self.place(path);
        let added = items.len();
        let op = Op::Splice {
            path: path.to_vec(),
            index: index as u64,
            remove: remove as u64,
            items,
        };
        self.scratch.step(&op)?;
        let length = length.unwrap_or(0);
        let removed = remove.min(length.saturating_sub(index));
        if removed + added > 0 {
            self.overlay.splice(&place, length, index, removed, added);
        }
        Ok(())
    }

    pub(super) fn append(&mut self, path: &[Segment], text: &str) -> Result<()> {
        if path.is_empty()
            && let Some(Json::String(present)) = self.read(path)
        {
            return self.set(path, Json::from([&present, text].concat()));
        }
        let place = self.place(path);
        self.scratch.append(path, text)?;
        if !text.is_empty() {
            self.overlay.write(&place);
        }
        Ok(())
    }

    pub(super) fn prepare(self) -> Prepared {
        let Open {
            base,
            scratch,
            overlay,
        } = self;
        if !overlay.is_dirty() {
            return Prepared {
                value: base.clone(),
                base,
                ops: Vec::new(),
            };
        }
        let value = scratch.finish();
        let ops = emit::emit(&overlay, &base, &value);
        let value = if ops.is_empty() { base.clone() } else { value };
        Prepared { base, value, ops }
    }
}

impl Place {
    /// The index this names and the length of the array around it; `None` for a member or the root.
    fn element(&self) -> Option<(usize, usize)> {
        Some((self.path.last()?.position()?, *self.lengths.last()?))
    }

    fn parent(mut self) -> Place {
        self.path.pop();
        self.lengths.pop();
        self
    }
}

pub(super) fn check_finite(value: &Json) -> Result<()> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(DraftError::NotFinite)
    }
}
