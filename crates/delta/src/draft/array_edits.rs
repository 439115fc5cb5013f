//! Edits of one base array: which elements it kept, where new ones stand, which kept ones changed.

use litemap::LiteMap;

use crate::draft::emit::MAX_OPS;
use crate::draft::overlay::Node;

/// The present array as runs of kept base elements and of new ones.
///
/// Neighbours are merged, so an insertion taken back leaves no trace, nor does an order restored. Kept runs ascend in base
/// order until a reordering; after it they may stand in any.
pub(super) struct ArrayEdits {
    pub(super) pieces: Vec<Piece>,
    /// Records of kept elements, by their index in the base.
    pub(super) elements: LiteMap<usize, Option<Node>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece {
    /// The base elements `from..from + len`.
    Kept { from: usize, len: usize },
    /// Elements of this change.
    Fresh { len: usize },
}

impl Piece {
    pub(super) fn len(self) -> usize {
        match self {
            Piece::Kept { len, .. } | Piece::Fresh { len } => len,
        }
    }

    /// The elements `start..end` of this piece.
    fn part(self, start: usize, end: usize) -> Piece {
        match self {
            Piece::Kept { from, .. } => Piece::Kept {
                from: from + start,
                len: end.saturating_sub(start),
            },
            Piece::Fresh { .. } => Piece::Fresh {
                len: end.saturating_sub(start),
            },
        }
    }
}

impl ArrayEdits {
    /// No edits of an array of `length` elements.
    pub(super) fn new(length: usize) -> ArrayEdits {
        let mut pieces = Vec::new();
        join(&mut pieces, Piece::Kept { from: 0, len: length });
        ArrayEdits {
            pieces,
            elements: LiteMap::new_vec(),
        }
    }

    /// The record of the present element `index`; `None` for elements of this change.
    pub(super) fn slot(&mut self, index: usize) -> Option<&mut Option<Node>> {
        let mut start = 0;
        for piece in &self.pieces {
            if index < start + piece.len() {
                return match piece {
                    Piece::Kept { from, .. } => {
                        Some(self.elements.entry(from + (index - start)).or_default())
                    }
                    Piece::Fresh { .. } => None,
                };
            }
            start += piece.len();
        }
        None
    }

    /// Removes `removed` present elements from `index` on and puts `added` new ones there.
    pub(super) fn splice(&mut self, index: usize, removed: usize, added: usize) {
        let end = index + removed;
        // The pieces that `index..end` touches, with the one before: merging may reach it.
        let mut start = 0;
        let mut pieces = self.pieces.iter().enumerate();
        let mut first = 0;
        let mut first_start = 0;
        let mut last = self.pieces.len();
        for (place, piece) in &mut pieces {
            if start + piece.len() < index {
                first = place + 1;
                first_start = start + piece.len();
            }
            start += piece.len();
            if start > end {
                last = place + 1;
                break;
            }
        }
        let mut rebuilt = Vec::new();
        let mut after = Vec::new();
        let mut start = first_start;
        for piece in self.pieces.get(first..last).unwrap_or_default() {
            let (from, to) = (index.saturating_sub(start), end.saturating_sub(start));
            let (from, to) = (from.min(piece.len()), to.min(piece.len()));
            join(&mut rebuilt, piece.part(0, from));
            if let Piece::Kept { from: base, .. } = piece {
                forget(&mut self.elements, base + from, base + to);
            }
            join(&mut after, piece.part(to, piece.len()));
            start += piece.len();
        }
        join(&mut rebuilt, Piece::Fresh { len: added });
        for piece in after {
            join(&mut rebuilt, piece);
        }
        self.pieces.splice(first..last, rebuilt);
    }

    /// Puts the present element `order[i]` at place `i`, for every `i`.
    pub(super) fn reorder(&mut self, order: &[u64]) {
        let mut elements = Vec::with_capacity(order.len());
        for piece in &self.pieces {
            elements.extend((0..piece.len()).map(|at| piece.part(at, at + 1)));
        }
        self.pieces.clear();
        for place in order {
            if let Some(element) = elements.get(*place as usize) {
                join(&mut self.pieces, *element);
            }
        }
    }

    /// Whether kept elements changed their order among each other.
    pub(super) fn is_reordered(&self) -> bool {
        !self.kept().is_sorted()
    }

    /// The runs (first base index, length) of kept elements, in present order.
    pub(super) fn kept(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pieces.iter().filter_map(|piece| match *piece {
            Piece::Kept { from, len } => Some((from, len)),
            Piece::Fresh { .. } => None,
        })
    }

    /// Whether the array still consists of its `length` base elements in their order.
    pub(super) fn is_whole(&self, length: usize) -> bool {
        self.pieces == [Piece::Kept { from: 0, len: length }]
    }

    /// Whether the structure alone takes more operations than a batch may have.
    pub(super) fn is_hopeless(&self) -> bool {
        if self.pieces.len() <= 2 * MAX_OPS + 3 {
            return false;
        }
        // Kept runs in base order are separated by at least one splice each, and new runs lie between kept ones. Any other
        // order is one operation, however many runs it has; a new run is one in any case.
        let fresh = self.pieces.len() - self.kept().count();
        fresh > MAX_OPS || !self.is_reordered()
    }
}

/// Drops the records of a range, without a look at the others: an array that is taken apart element by element may have as
/// many of them.
fn forget(elements: &mut LiteMap<usize, Option<Node>>, from: usize, to: usize) {
    let place = |index: usize| elements.find_index(&index).unwrap_or_else(|at| at);
    let (start, end) = (place(from), place(to));
    if start < end {
        let mut records = std::mem::take(elements).into_tuple_vec();
        records.drain(start..end);
        *elements = LiteMap::from_sorted_store_unchecked(records);
    }
}

/// Appends a piece, merged with the last one where both continue each other.
fn join(pieces: &mut Vec<Piece>, next: Piece) {
    if next.len() == 0 {
        return;
    }
    match (pieces.last_mut(), next) {
        (
            Some(Piece::Kept { from, len }),
            Piece::Kept {
                from: next,
                len: more,
            },
        ) if *from + *len == next => {
            *len += more;
        }
        (Some(Piece::Fresh { len }), Piece::Fresh { len: more }) => *len += more,
        _ => pieces.push(next),
    }
}

#[cfg(test)]
mod tests {
    use super::ArrayEdits;

    #[test]
    fn a_splice_forgets_the_records_of_what_it_removes_and_no_other() {
        let edited = || {
            let mut edits = ArrayEdits::new(10);
            for index in [1, 3, 4, 6, 9] {
                edits.slot(index);
            }
            edits
        };
        let left = |index, removed| {
            let mut edits = edited();
            edits.splice(index, removed, 1);
            edits.elements.keys().copied().collect::<Vec<_>>()
        };
        assert_eq!(left(3, 3), [1, 6, 9]);
        assert_eq!(left(2, 5), [1, 9]);
        assert_eq!(left(5, 1), [1, 3, 4, 6, 9]);
        assert_eq!(left(4, 0), [1, 3, 4, 6, 9]);
        assert_eq!(left(0, 10), [] as [usize; 0]);
    }
}
