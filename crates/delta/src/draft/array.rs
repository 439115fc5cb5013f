//! What a draft can do to an array.

use std::cmp::Ordering;

use crate::draft::{Draft, DraftError};
use crate::{ApplyError, Array, Json, Segment};

/// The most elements [`Draft::set_len`] adds. Each is five bytes of a batch, and no commit takes 16 MiB.
const MAX_GROWTH: usize = 1 << 22;

impl Draft {
    /// Appends an element to the array here.
    pub fn push(&self, value: impl Into<Json>) -> Result<(), DraftError> {
        let items = Array::from(vec![value.into()]);
        self.with(|open, target| open.splice(target, None, 0, items))
    }

    /// Removes up to `remove` elements of the array here, from `index` on, and inserts `items` there.
    ///
    /// # Errors
    /// Also when `index` is beyond the end.
    pub fn splice(&self, index: usize, remove: usize, items: Vec<Json>) -> Result<(), DraftError> {
        self.with(|open, target| open.splice(target, Some(index), remove, Array::from(items)))
    }

    /// Gives the array here this length: drops what is behind, or appends `null`s.
    ///
    /// # Errors
    /// Also when it would grow by more than 4,194,304 elements.
    pub fn set_len(&self, length: usize) -> Result<(), DraftError> {
        let present = self.elements()?.len();
        let missing = length.saturating_sub(present);
        if missing > MAX_GROWTH {
            return Err(ApplyError::unsafe_segment(&Segment::from(length)).into());
        }
        self.splice(length.min(present), present, vec![Json::Null; missing])
    }

    /// Puts element `order[i]` of the array here at place `i`, for every `i`: one operation, whatever the elements hold.
    /// Edits below them stay recorded as such.
    ///
    /// # Errors
    /// Also when `order` does not name every element once.
    pub fn reorder(&self, order: &[usize]) -> Result<(), DraftError> {
        let order = order.iter().map(|place| *place as u64).collect();
        self.with(|open, target| open.reorder(target, order))
    }

    /// Sorts the array here; equal elements keep their order. A [`Draft::reorder`].
    ///
    /// `compare` must be a total order, as for [`slice::sort_by`]. It runs without any borrow of the change; if it edits this
    /// array through another handle, what it computed is applied to what is then here.
    pub fn sort_by(&self, mut compare: impl FnMut(&Json, &Json) -> Ordering) -> Result<(), DraftError> {
        let elements = self.elements()?;
        let mut places: Vec<(usize, &Json)> = elements.iter().enumerate().collect();
        places.sort_by(|(_, one), (_, other)| compare(one, other));
        let order: Vec<usize> = places.into_iter().map(|(place, _)| place).collect();
        self.reorder(&order)
    }

    /// Reverses the array here. A [`Draft::reorder`].
    pub fn reverse(&self) -> Result<(), DraftError> {
        let order: Vec<usize> = (0..self.elements()?.len()).rev().collect();
        self.reorder(&order)
    }

    fn elements(&self) -> Result<Array, DraftError> {
        match self.get()? {
            Some(Json::Array(array)) => Ok(array),
            _ => Err(self.unresolvable()),
        }
    }
}
