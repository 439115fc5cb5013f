//! Which entries a conversation sees: its own, and of each ancestor those up to the fork (spec 2, 3.7).

use crate::cursor::PageRequest;
use crate::limits::MAX_NUMBER;
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::storage::{EntryQuery, ScanOrder};

/// One conversation of an ancestry, with the highest entry id visible from below. A fork of a fork sees of its
/// grandparent what both forks let through, so caps only fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ancestor {
    pub(crate) conversation: ConversationId,
    pub(crate) cap: u64,
}

/// Inclusive id range within one conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) conversation: ConversationId,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

/// The ranges a page reads, in reading order: root first when ascending, child first when descending. `line` is
/// nearest first. Empty ranges are left out.
pub(crate) fn segments(line: &[Ancestor], query: &EntryQuery, page: &PageRequest) -> Vec<Segment> {
    let mut min = query.min_entry_id.map_or(0, |id| id.0);
    let mut max = query.max_entry_id.map_or(MAX_NUMBER, |id| id.0.min(MAX_NUMBER));
    match (page.order, page.after) {
        (_, None) => {}
        (ScanOrder::Ascending, Some(after)) => min = min.max(after.saturating_add(1)),
        (ScanOrder::Descending, Some(after)) => max = max.min(after.saturating_sub(1)),
    }
    let ranges = line
        .iter()
        .map(|ancestor| Segment {
            conversation: ancestor.conversation,
            min,
            max: max.min(ancestor.cap),
        })
        .filter(|range| range.min <= range.max);
    match page.order {
        ScanOrder::Ascending => ranges.rev().collect(),
        ScanOrder::Descending => ranges.collect(),
    }
}

/// Whether an entry of `conversation` is visible.
pub(crate) fn is_visible(line: &[Ancestor], conversation: ConversationId, id: EntryId) -> bool {
    line.iter()
        .any(|ancestor| ancestor.conversation == conversation && id.0 <= ancestor.cap)
}
