//! The model context of a conversation, derived from its transcript (spec 2.1, rules 1 to 10).
//!
//! Pure: records in, view out. Finding the head marker and reading the range (rules 1 to 3, and which entries a fork
//! sees) is the caller's; a fork at an entry and a read with that entry as cutoff therefore pass the same arguments and
//! get the same view. Here lives what the range means:
//!
//! | rule | where |
//! |---|---|
//! | 4 newest edit of a target wins | `edits` |
//! | 5 head marker first, then the non-head entries | `derivation` |
//! | 4, 9 what one entry contributes | `derivation`, `message` |
//! | 6, 7, 8 results follow their call | `pairing` |
//! | 10 the leading system message | `leading` |
//!
//! The shape of a model message is known to `message` alone.
//!
//! # Continuing a derivation
//!
//! A [`Derived`] context is a left fold over the entries, and every stage keeps its state between two entries: a later read
//! folds what was appended since and nothing else. Nothing folded is ever revised by that: assistants before the newest are
//! closed, and only the newest one's window is rendered on demand, with the results it still lacks synthesized into the view
//! and not into the state. An appended head opens another range and an appended edit may change what was folded; both start
//! anew. `Session::context` keeps derivations and reads only what they lack.

mod derivation;
mod edits;
mod leading;
mod message;
mod pairing;
#[cfg(test)]
mod tests;

use crate::ids::EntryId;
use crate::records::EntryRecord;
use derivation::Derivation;
use edits::Edits;
use std::rc::Rc;
use tidehold_delta::Json;

/// A conversation as a model and as a reader see it (spec 2.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextView {
    /// The head marker in effect.
    pub head: Option<Rc<EntryRecord>>,
    /// Raw active entries: the head marker, then the non-head entries of the range, in commit order.
    pub entries: Vec<Rc<EntryRecord>>,
    /// Per entry of `entries` its model messages after edits and exclusions, in commit order; empty for most kinds.
    pub contributions: Vec<Rc<[Json]>>,
    /// What a provider is sent: the contributions with tool results next to their calls and the system prompt leading.
    pub messages: Vec<Json>,
}

/// Derives the context of a transcript range, in time linear in its messages.
///
/// `marker` is the newest visible entry with a head at or before the cutoff. `range` holds the visible entries from the
/// marker's `head`, or from the transcript start without a marker, through the cutoff, ascending. The marker belongs to
/// that range by rule 3; leaving it out changes nothing, as its edits count and its place is first either way.
pub fn derive_context(marker: Option<Rc<EntryRecord>>, range: Vec<Rc<EntryRecord>>) -> ContextView {
    Derived::new(marker, range).view()
}

/// A derived context that can be continued.
pub struct Derived {
    derivation: Derivation,
    newest: Option<EntryId>,
}

/// The entries change what was derived already: read the range anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superseded;

impl Derived {
    /// Derives from the arguments of [`derive_context`].
    pub fn new(marker: Option<Rc<EntryRecord>>, range: Vec<Rc<EntryRecord>>) -> Self {
        let newest = range.last().or(marker.as_ref()).map(|entry| entry.id);
        let edits = Edits::collect(marker.iter().chain(&range));
        let mut derivation = Derivation::new(marker, edits);
        for entry in range {
            derivation.push(entry);
        }
        Self { derivation, newest }
    }

    /// Continues with the visible entries that follow [`Derived::newest`], ascending. Nothing happens when it fails.
    pub fn extend(&mut self, newer: Vec<Rc<EntryRecord>>) -> Result<(), Superseded> {
        if newer
            .iter()
            .any(|entry| entry.head.is_some() || entry.edits.is_some())
        {
            return Err(Superseded);
        }
        self.newest = newer.last().map(|entry| entry.id).or(self.newest);
        for entry in newer {
            self.derivation.push(entry);
        }
        Ok(())
    }

    /// The last entry derived from.
    pub fn newest(&self) -> Option<EntryId> {
        self.newest
    }

    /// The context so far. Copies references, one for each entry and message.
    pub fn view(&self) -> ContextView {
        self.derivation.view()
    }
}
