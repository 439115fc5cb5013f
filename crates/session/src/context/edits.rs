//! Which edit of a target is in effect (rule 4).

use crate::ids::EntryId;
use crate::records::{ContextEditAction, EntryRecord};
use std::collections::HashMap;
use std::rc::Rc;

/// The newest edit per target among the entries of a range.
///
/// Every entry of the range counts, also an older head marker that rule 5 leaves out of the context (spec 8.7).
#[derive(Default)]
pub(super) struct Edits {
    newest: HashMap<EntryId, Edit>,
}

/// An edit, by the entry that carries it.
struct Edit {
    carrier: Rc<EntryRecord>,
    index: usize,
}

impl Edits {
    pub fn collect<'a>(entries: impl IntoIterator<Item = &'a Rc<EntryRecord>>) -> Self {
        let mut edits = Self::default();
        for entry in entries {
            edits.add(entry);
        }
        edits
    }

    /// The order of calls does not matter: the carrier's id is its age. Within one entry the later edit is the newer.
    fn add(&mut self, carrier: &Rc<EntryRecord>) {
        for (index, edit) in carrier.edits.iter().flatten().enumerate() {
            let newer = self
                .newest
                .get(&edit.target)
                .is_none_or(|known| known.carrier.id <= carrier.id);
            if newer {
                self.newest.insert(
                    edit.target,
                    Edit {
                        carrier: Rc::clone(carrier),
                        index,
                    },
                );
            }
        }
    }

    /// The edit in effect on an entry.
    pub fn of(&self, target: EntryId) -> Option<&ContextEditAction> {
        let Edit { carrier, index } = self.newest.get(&target)?;
        Some(&carrier.edits.as_ref()?.get(*index)?.action)
    }
}
