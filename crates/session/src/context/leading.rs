//! Which system message leads the context (rule 10).
//!
//! Providers take only a leading system message for the initial prompt and tools, yet the input that starts a run is
//! committed before the prompt is rendered, and a head keeps history in front of its new baseline. Moving the first
//! system message to the front is safe when no assistant saw the conversation without it, or when it is complete: the
//! baseline, which generation wrote with every section and tool in effect.

use super::message::{self, Role};
use crate::ids::EntryId;
use crate::records::{ContextEditAction, EntryRecord};
use tidehold_delta::Json;

/// The kind of the entries in which generation records what prompt and tools the model sees (spec 7.4).
const SYSTEM_ENTRY: &str = "pi.system";

/// Follows the entries of a context in order and remembers where its first system message comes from.
pub(super) struct Leading {
    /// The head marker: the baseline is committed after it.
    marker: Option<EntryId>,
    /// The one entry that could be the baseline has been seen, or something showed that there is none.
    decided: bool,
    /// Whether the first system message is the baseline's, once there is one.
    baseline_first: Option<bool>,
}

impl Leading {
    pub fn new(marker: Option<EntryId>) -> Self {
        Self {
            marker,
            decided: false,
            baseline_first: None,
        }
    }

    /// Takes the next entry of the context: what it contributes, and whether an edit targets it.
    pub fn see(&mut self, entry: &EntryRecord, edited: bool, contribution: &[Json]) {
        let is_baseline = self.decide(entry) && !edited;
        if self.baseline_first.is_none() && contribution.iter().any(message::is_system) {
            self.baseline_first = Some(is_baseline);
        }
    }

    /// Whether this is the first `pi.system` entry that can be the baseline.
    fn decide(&mut self, entry: &EntryRecord) -> bool {
        if self.decided {
            return false;
        }
        let first = &*entry.kind == SYSTEM_ENTRY && self.marker.is_none_or(|marker| entry.id > marker);
        // Without a marker generation wrote only a delta when an earlier entry had brought a system message. With one
        // it always writes the baseline anew, whatever was retained.
        self.decided = first || (self.marker.is_none() && carries_system(entry));
        first
    }

    /// Moves the first system message to the front where that keeps its meaning. Nothing else moves.
    pub fn lead(&self, messages: &mut [Json]) {
        let Some(at) = messages.iter().position(message::is_system) else {
            return;
        };
        let Some(through) = messages.get_mut(..=at) else {
            return;
        };
        let only_users = || {
            through
                .iter()
                .take(at)
                .all(|before| message::role(before) == Role::User)
        };
        if self.baseline_first == Some(true) || only_users() {
            through.rotate_right(1);
        }
    }
}

/// A system message in the entry's own messages or in a replacement it makes, in effect or not.
fn carries_system(entry: &EntryRecord) -> bool {
    let replacements = entry
        .edits
        .iter()
        .flatten()
        .filter_map(|edit| match &edit.action {
            ContextEditAction::Replace { messages } => Some(messages),
            ContextEditAction::Omit => None,
        });
    entry
        .model
        .iter()
        .chain(replacements)
        .flatten()
        .any(message::is_system)
}
