//! Drafts: one change of one value, recorded as it happens (durable spec section 3.4).
//!
//! A [`Change`] owns the working value and the overlay that remembers what was touched; any number of
//! [`Draft`] handles edit through it. Nothing is compared except strings, and whole values in
//! [`Draft::assign`] and [`Draft::edit`].

mod array;
mod array_edits;
mod assign;
mod emit;
mod held;
mod open;
mod overlay;
mod permutation;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;

use crate::{ApplyError, ConvertError, FromJson, Json, MAX_DEPTH, Op, Path, Segment, utf16_len};
use held::{Handle, Target, Tree};
use open::Open;

/// Why a draft refuses. The value is then unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The change was prepared or aborted; its handles are dead for good.
    #[error("the draft was revoked: its change has settled")]
    Revoked,
    /// The place does not exist, has the wrong kind, or lies beyond the end of an array.
    #[error(transparent)]
    Place(ApplyError),
    #[error("nested deeper than {MAX_DEPTH} levels")]
    Depth,
    #[error("number is not finite")]
    NotFinite,
    /// [`Draft::edit`] met a value of another type, or produced one that is no JSON.
    #[error(transparent)]
    Convert(#[from] ConvertError),
}

impl From<ApplyError> for DraftError {
    fn from(error: ApplyError) -> DraftError {
        match error {
            ApplyError::Depth => DraftError::Depth,
            other => DraftError::Place(other),
        }
    }
}

type Shared = Rc<RefCell<Option<Open>>>;

/// One open change. Dropping it aborts it.
pub struct Change {
    shared: Shared,
}

/// A finished change: `apply(Some(&base), &ops)` is `value`.
///
/// `value` shares its unchanged parts with `base`, payloads of `ops` may be shared with `value`. With
/// empty `ops` it is `base` itself.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub base: Json,
    pub value: Json,
    pub ops: Vec<Op>,
}

impl Change {
    /// Opens a change of `base`. Constant time; `base` is never modified.
    pub fn begin(base: Json) -> Change {
        Change {
            shared: Rc::new(RefCell::new(Some(Open::new(base)))),
        }
    }

    /// A handle to the root of the value.
    pub fn draft(&self) -> Draft {
        Draft {
            shared: self.shared.clone(),
            handle: None,
            path: Path::new(),
        }
    }

    /// Whether an edit was recorded. Edits that cancel out still count.
    pub fn is_dirty(&self) -> bool {
        self.shared
            .try_borrow()
            .is_ok_and(|open| open.as_ref().is_some_and(Open::is_dirty))
    }

    /// Revokes all handles and emits the operations.
    ///
    /// More than 4,096 operations become one replacement of the whole value.
    pub fn prepare(self) -> Result<Prepared, DraftError> {
        let open = self.shared.try_borrow_mut().ok().and_then(|mut open| open.take());
        open.map(Open::prepare).ok_or(DraftError::Revoked)
    }

    /// Revokes all handles and forgets the change.
    pub fn abort(self) {}
}

impl Drop for Change {
    fn drop(&mut self) {
        // Taken out first: the value must not be dropped under the borrow.
        let open = self.shared.try_borrow_mut().ok().and_then(|mut open| open.take());
        drop(open);
    }
}

/// A handle to one place of the value under change.
///
/// It names a path, not an element: after an insertion before it, the same index is another element. [`Draft::hold`] makes
/// one that follows its element. Values come in by value and go out as shared snapshots; no handle sees a later edit of
/// either. Every method answers [`DraftError::Revoked`] once the change has settled.
#[derive(Clone)]
pub struct Draft {
    shared: Shared,
    /// What `path` begins at: a held element, or the root.
    handle: Option<Handle>,
    path: Path,
}

impl Draft {
    /// The place `key` below this one; nothing is checked before its use.
    ///
    /// A number names an element of an array, or the member with that decimal name.
    pub fn at(&self, key: impl Into<Segment>) -> Draft {
        let mut below = self.clone();
        below.path.push(key.into());
        below
    }

    /// A handle to the element that is here now. It follows the element through splices, moves and removals of others.
    ///
    /// Once the element was removed or overwritten, the handle keeps it as a detached value: reads and edits work on, but go
    /// nowhere. [`Draft::get`] and a placement of what it returned copy the content of that moment. A write over the element
    /// through this very handle (or a clone) is an exception: the handle then leads to what was written. What was reached
    /// from here with [`Draft::at`] begins at the element, too.
    ///
    /// # Errors
    /// When there is nothing here.
    pub fn hold(&self) -> Result<Draft, DraftError> {
        let handle = self.with(Open::hold)?;
        Ok(Draft {
            shared: self.shared.clone(),
            handle: Some(handle),
            path: Path::new(),
        })
    }

    /// The present value with all edits so far, `None` when there is nothing at this place.
    pub fn get(&self) -> Result<Option<Json>, DraftError> {
        self.with(Open::read)
    }

    /// Elements of the array, members of the object, or UTF-16 code units of the string here.
    pub fn len(&self) -> Result<usize, DraftError> {
        match self.get()? {
            Some(Json::Array(array)) => Ok(array.len()),
            Some(Json::Object(object)) => Ok(object.len()),
            Some(Json::String(text)) => Ok(utf16_len(&text)),
            _ => Err(self.unresolvable()),
        }
    }

    /// Whether [`Draft::len`] is 0.
    pub fn is_empty(&self) -> Result<bool, DraftError> {
        Ok(self.len()? == 0)
    }

    /// Puts `value` here. The container around must exist; at the length of an array it appends.
    ///
    /// Deeply equal to what is here: records nothing. A string over a string becomes an append or a
    /// trim where possible. Anything else is sent whole.
    pub fn set(&self, value: impl Into<Json>) -> Result<(), DraftError> {
        let value = value.into();
        self.with(|open, target| open.set(target, value))
    }

    /// Removes the member or element here. A missing member is no error; elements behind move up.
    pub fn remove(&self) -> Result<(), DraftError> {
        self.with(Open::remove)
    }

    /// Appends to the string here. Repeated appends within one change copy the string once.
    pub fn append(&self, text: &str) -> Result<(), DraftError> {
        self.with(|open, target| open.append(target, text))
    }

    /// Puts `value` here, recording only where it differs from what is here.
    ///
    /// Objects recurse by member. Arrays of equal length are a move when they hold the same elements in another order, and
    /// recurse by element otherwise; in other arrays scattered removals stay apart, else everything between the common ends
    /// is sent as one splice.
    pub fn assign(&self, value: Json) -> Result<(), DraftError> {
        self.with(|open, target| assign::assign(open, target, value))
    }

    /// Edits the value here as a typed one: reads it, runs `f`, and assigns the result.
    ///
    /// `f` runs without any borrow of the change, so it may use other handles; what they do below this
    /// place is overwritten.
    pub fn edit<T: Serialize + FromJson>(&self, f: impl FnOnce(&mut T)) -> Result<(), DraftError> {
        let present = self.get()?.ok_or_else(|| self.unresolvable())?;
        let mut typed: T = present.to_typed()?;
        f(&mut typed);
        self.assign(Json::from_serialize(&typed)?)
    }

    fn unresolvable(&self) -> DraftError {
        self.with::<()>(|_, target| Err(ApplyError::unresolvable(target.path).into()))
            .err()
            .unwrap_or(DraftError::Revoked)
    }

    /// Runs `f` on the open change. `f` calls no code from outside this crate.
    fn with<R>(&self, f: impl FnOnce(&mut Open, Target) -> Result<R, DraftError>) -> Result<R, DraftError> {
        let mut open = self.shared.try_borrow_mut().map_err(|_| DraftError::Revoked)?;
        let open = open.as_mut().ok_or(DraftError::Revoked)?;
        let (tree, path) = self.place(open)?;
        let through = self.handle.as_ref();
        f(
            open,
            Target {
                tree,
                path: &path,
                through,
            },
        )
    }

    /// Where this leads now. Apart from [`Draft::with`], which exists once for every edit.
    fn place(&self, open: &Open) -> Result<(Tree, Cow<'_, [Segment]>), DraftError> {
        let (tree, path) = match &self.handle {
            None => (Tree::Value, Cow::Borrowed(self.path.as_slice())),
            Some(handle) => {
                let (tree, above) = open.held.find(handle).ok_or(DraftError::Revoked)?;
                (tree, Cow::Owned([above, self.path.as_slice()].concat()))
            }
        };
        // The overlay is walked by recursion, so no place below the limit may get into it.
        if path.len() > MAX_DEPTH {
            return Err(DraftError::Depth);
        }
        Ok((tree, path))
    }
}
