//! One value under change: operations go in one by one, a value comes out.
//!
//! Both the applier and the draft stand on this. A container is unshared on its first touch
//! (`Arc::make_mut`), so later touches in the same scratch change it in place.

use crate::open_text::{OpenText, OpenTexts};
use crate::path::find;
use crate::{ApplyError, Array, Json, MAX_DEPTH, Op, Segment, Text};

type Result<T> = std::result::Result<T, ApplyError>;

pub(crate) struct Scratch {
    root: Option<Json>,
    /// Strings whose edits are not yet in `root`. Their paths exist in `root` and lead to strings.
    open: OpenTexts,
}

/// Where the last segment of a path points inside its container.
enum Spot {
    Member(Text),
    Element(usize),
    /// The append position of an array.
    End,
}

impl Scratch {
    pub(crate) fn new(root: Option<Json>) -> Scratch {
        Scratch {
            root,
            open: OpenTexts::default(),
        }
    }

    /// The value; `null` if there never was one.
    pub(crate) fn finish(mut self) -> Json {
        self.close_below(&[]);
        self.root.unwrap_or_default()
    }

    /// The value at `path` with all edits, `None` when the path leads nowhere.
    pub(crate) fn read(&mut self, path: &[Segment]) -> Option<&Json> {
        self.close_below(path);
        find(self.root.as_ref()?, path)
    }

    /// The root for a look at containers: strings may lack their latest edits.
    pub(crate) fn outline(&self) -> Option<&Json> {
        self.root.as_ref()
    }

    /// Applies one operation whose tuple is well-formed ([`Op::check`]), or changes nothing.
    ///
    /// Reserved names are ordinary here: a draft may edit below them and folds the result.
    pub(crate) fn step(&mut self, op: &Op) -> Result<()> {
        match op {
            Op::Replace(value) => {
                check_payload(value, 0)?;
                self.open = OpenTexts::default();
                self.root = Some(value.clone());
                Ok(())
            }
            Op::Set(path, value) => self.set(path, value),
            Op::Delete(path) => self.delete(path),
            Op::Append(path, text) => self.append(path, text),
            Op::TrimStart(path, units) => self.open_text(path)?.trim_start(*units),
            Op::Splice {
                path,
                index,
                remove,
                items,
            } => {
                self.array_at(path)?;
                let payload = Json::Array(items.clone());
                check_payload(&payload, path.len())?;
                let clamp = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
                self.close_below(path);
                if let Some(Json::Array(array)) = self.reach_announcing(path, &payload, path.len()) {
                    array.splice(clamp(*index), clamp(*remove), items.clone());
                }
                Ok(())
            }
            Op::Move(path, order) => {
                if self.array_at(path)?.len() != order.len() {
                    return Err(ApplyError::unresolvable(path));
                }
                self.close_below(path);
                if let Some(Json::Array(array)) = self.reach(path) {
                    *array = array.reordered(order);
                }
                Ok(())
            }
        }
    }

    /// [`Op::Append`] from its parts.
    pub(crate) fn append(&mut self, path: &[Segment], text: &str) -> Result<()> {
        self.open_text(path)?.append(text);
        Ok(())
    }

    fn set(&mut self, path: &[Segment], value: &Json) -> Result<()> {
        let (parent, spot) = self.locate(path)?;
        check_payload(value, path.len())?;
        // What is open there is overwritten.
        drop(self.open.take_below(path));
        match (self.reach_announcing(parent, value, path.len()), spot) {
            (Some(Json::Object(object)), Spot::Member(key)) => drop(object.insert(key, value.clone())),
            (Some(Json::Array(array)), Spot::Element(index)) => drop(array.set(index, value.clone())),
            (Some(Json::Array(array)), Spot::End) => array.push_back(value.clone()),
            _ => {}
        }
        Ok(())
    }

    fn delete(&mut self, path: &[Segment]) -> Result<()> {
        let (parent, spot) = self.locate(path)?;
        match spot {
            Spot::Member(key) => {
                drop(self.open.take_below(path));
                let holder = self.outline().and_then(|root| find(root, parent));
                // A missing member must not unshare its would-be container.
                if holder.and_then(|holder| holder.get(&key)).is_some()
                    && let Some(Json::Object(object)) = self.reach(parent)
                {
                    object.remove(&key);
                }
            }
            Spot::Element(index) => {
                // The elements behind shift, so paths into the array change their meaning.
                self.close_below(parent);
                if let Some(Json::Array(array)) = self.reach(parent) {
                    array.splice(index, 1, Array::new());
                }
            }
            Spot::End => return Err(ApplyError::unresolvable(path)),
        }
        Ok(())
    }

    /// The string at `path`, opened for edits.
    fn open_text(&mut self, path: &[Segment]) -> Result<&mut OpenText> {
        if self.open.get_mut(path).is_none() {
            self.locate(path)?;
            let text = match self.outline().and_then(|root| find(root, path)) {
                Some(Json::String(text)) => text.clone(),
                _ => return Err(ApplyError::unresolvable(path)),
            };
            if let Some(evicted) = self.open.add(OpenText::new(path, text)) {
                self.close(evicted);
            }
        }
        self.open
            .get_mut(path)
            .ok_or_else(|| ApplyError::unresolvable(path))
    }

    fn close_below(&mut self, path: &[Segment]) {
        for open in self.open.take_below(path) {
            self.close(open);
        }
    }

    fn close(&mut self, open: OpenText) {
        let path = open.path.clone();
        // A string in place of a string changes nothing a container remembers of its subtree.
        if let Some(slot) = self.reach(&path) {
            *slot = Json::String(open.text());
        }
    }

    /// Resolves all but the last segment, and checks the last against its container.
    fn locate<'p>(&self, path: &'p [Segment]) -> Result<(&'p [Segment], Spot)> {
        let Some((last, parent)) = path.split_last() else {
            return Err(ApplyError::Type("path is empty".into()));
        };
        match self.resolve(parent)? {
            Json::Object(_) => Ok((parent, Spot::Member(last.member()))),
            Json::Array(array) => match last.position() {
                Some(index) if index < array.len() => Ok((parent, Spot::Element(index))),
                Some(index) if index == array.len() => Ok((parent, Spot::End)),
                _ => Err(ApplyError::unsafe_segment(last)),
            },
            _ => Err(ApplyError::unresolvable(parent)),
        }
    }

    fn resolve(&self, path: &[Segment]) -> Result<&Json> {
        let mut node = self.root.as_ref().ok_or_else(|| ApplyError::unresolvable(path))?;
        for segment in path {
            if let (Json::Array(_), Segment::Key(_)) = (node, segment) {
                return Err(ApplyError::unsafe_segment(segment));
            }
            node = segment
                .child(node)
                .ok_or_else(|| ApplyError::unresolvable(path))?;
        }
        Ok(node)
    }

    fn array_at(&self, path: &[Segment]) -> Result<&Array> {
        self.resolve(path)?
            .as_array()
            .ok_or_else(|| ApplyError::unresolvable(path))
    }

    /// The place `path` for a change, everything on the way unshared.
    fn reach(&mut self, path: &[Segment]) -> Option<&mut Json> {
        self.reach_announcing(path, &Json::Null, path.len())
    }

    /// Like [`Scratch::reach`], telling every container passed that `value` will be `depth` containers
    /// below the root.
    fn reach_announcing(&mut self, path: &[Segment], value: &Json, depth: usize) -> Option<&mut Json> {
        let mut node = self.root.as_mut()?;
        for (above, segment) in path.iter().enumerate() {
            let levels = depth.saturating_sub(above + 1);
            node = match node {
                Json::Array(array) => {
                    array.announce(value, levels);
                    array.slot(segment.position()?)?
                }
                Json::Object(object) => {
                    object.announce(value, levels);
                    object.slot(&segment.member())?
                }
                _ => return None,
            };
        }
        Some(node)
    }
}

/// Refuses what no value may contain at this many containers below the root.
fn check_payload(value: &Json, above: usize) -> Result<()> {
    if above > MAX_DEPTH || value.deeper_than(MAX_DEPTH - above) {
        return Err(ApplyError::Depth);
    }
    if !value.is_finite() {
        return Err(ApplyError::Type("number is not finite".into()));
    }
    Ok(())
}
