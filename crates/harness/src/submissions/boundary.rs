//! Boundaries (spec 6): which queued items are placed between two turns, and what they start.

use super::admit::is_stale;
use super::inbox::{self, Floor, InboxItem, Queued, QueuedEntry, QueuedInput};
use crate::docs::LIVE;
use crate::entries::input_entry;
use crate::generation;
use crate::live::{Run, set_run};
use crate::settings::{QueueMode, Settings};
use tidehold_session::ids::{ConversationId, EntryId, SubmissionId};
use tidehold_session::records::{DraftHead, EntryDraft, SubmissionSettlement};
use tidehold_session::{SessionError, Tx};

/// Where a boundary applies.
pub(crate) struct Boundary<'a> {
    pub tx: &'a Tx,
    pub conversation: ConversationId,
    pub settings: &'a Settings,
}

/// What a boundary selected. Positions are those of the inbox, ascending.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Selection {
    pub writes: Vec<usize>,
    pub users: Vec<usize>,
    /// A `postTools` boundary that selected a reset behaves as final.
    pub resets: bool,
    /// Something is due that one commit cannot hold.
    pub more: bool,
}

/// The two boundaries of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundaryKind {
    PostTools,
    Final,
}

/// Deterministic by item id (spec 6). Selects items of at most `bytes`; the order stays: after the first write that does
/// not fit nothing else is placed either.
pub(crate) fn select(
    kind: BoundaryKind,
    items: &[InboxItem],
    settings: &Settings,
    mut bytes: usize,
) -> Selection {
    let mut selection = Selection::default();
    let mut fits = |item: &InboxItem| match bytes.checked_sub(item.what.encoded_len()) {
        Some(left) => {
            bytes = left;
            true
        }
        None => false,
    };
    for (position, item) in items.iter().enumerate() {
        if let Queued::Write { entry } = &item.what {
            if !fits(item) {
                selection.more = true;
                return selection;
            }
            selection.writes.push(position);
            selection.resets |= entry.head == Some(DraftHead::Itself);
        }
    }
    let kind = if selection.resets {
        BoundaryKind::Final
    } else {
        kind
    };
    let steers = positions(
        items,
        |what| matches!(what, Queued::Steer(_)),
        settings.steering_mode,
    );
    let follow_ups = match kind {
        BoundaryKind::PostTools => Vec::new(),
        BoundaryKind::Final => positions(
            items,
            |what| matches!(what, Queued::FollowUp(_)),
            settings.follow_up_mode,
        ),
    };
    let mut users: Vec<usize> = steers.into_iter().chain(follow_ups).collect();
    users.sort_unstable();
    let fitting = users
        .iter()
        .take_while(|position| items.get(**position).is_some_and(&mut fits))
        .count();
    selection.more = fitting < users.len();
    users.truncate(fitting);
    selection.users = users;
    selection
}

fn positions(items: &[InboxItem], of_mode: impl Fn(&Queued) -> bool, mode: QueueMode) -> Vec<usize> {
    let matching = items
        .iter()
        .enumerate()
        .filter(|(_, item)| of_mode(&item.what))
        .map(|(position, _)| position);
    match mode {
        QueueMode::All => matching.collect(),
        QueueMode::OneAtATime => matching.take(1).collect(),
    }
}

/// Places a selection: writes first, then user items, each in id order. Returns the placed inputs.
pub(crate) async fn place(
    boundary: &Boundary<'_>,
    floor: &Floor,
    selection: &Selection,
) -> Result<Vec<SubmissionId>, SessionError> {
    let mut active_start = floor.active_start;
    for position in &selection.writes {
        if let Some(InboxItem {
            id,
            what: Queued::Write { entry },
        }) = floor.items.get(*position)
        {
            active_start = place_write(boundary, *id, entry, active_start).await?;
        }
    }
    let mut inputs = Vec::with_capacity(selection.users.len());
    for position in &selection.users {
        if let Some(InboxItem {
            id,
            what: Queued::Steer(input) | Queued::FollowUp(input),
        }) = floor.items.get(*position)
        {
            place_input(boundary, *id, input).await?;
            inputs.push(*id);
        }
    }
    let mut gone: Vec<usize> = selection.writes.iter().chain(&selection.users).copied().collect();
    gone.sort_unstable();
    inbox::remove(boundary.tx, boundary.conversation, &gone).await?;
    Ok(inputs)
}

async fn place_write(
    boundary: &Boundary<'_>,
    id: SubmissionId,
    entry: &EntryDraft,
    active_start: Option<EntryId>,
) -> Result<Option<EntryId>, SessionError> {
    if is_stale(entry, active_start) {
        let stale = SubmissionSettlement::Unanswered {
            reason: "stale".into(),
            detail: None,
        };
        boundary.tx.settle_submission(id, stale)?;
        return Ok(active_start);
    }
    let placed = boundary
        .tx
        .append_entry(boundary.conversation, entry.clone())
        .await?;
    boundary.tx.place_submission(id, placed.id)?;
    Ok(placed.head.or(active_start))
}

async fn place_input(
    boundary: &Boundary<'_>,
    id: SubmissionId,
    input: &QueuedInput,
) -> Result<(), SessionError> {
    let entry = input.entry.as_ref().map(QueuedEntry::to_entry);
    let draft = input_entry(&input.content, entry.as_ref(), boundary.tx.now());
    let placed = boundary.tx.append_entry(boundary.conversation, draft).await?;
    boundary.tx.place_submission(id, placed.id)
}

/// A final boundary: places what is due within `bytes`, and starts the successor, if any. What is due and does not fit is
/// placed by a task of its own, whose commits hold nothing else.
pub(crate) async fn final_boundary(
    boundary: &Boundary<'_>,
    floor: &Floor,
    bytes: usize,
) -> Result<(), SessionError> {
    let selection = select(BoundaryKind::Final, &floor.items, boundary.settings, bytes);
    let inputs = place(boundary, floor, &selection).await?;
    if !inputs.is_empty() {
        // Its boundaries place the rest.
        return start_run(boundary.tx, boundary.conversation, inputs).await;
    }
    if selection.more {
        let rest = generation::rest(boundary.conversation);
        boundary.tx.create_task(rest).await?;
    }
    Ok(())
}

/// Creates a generation and hands it the run.
pub(crate) async fn start_run(
    tx: &Tx,
    conversation: ConversationId,
    inputs: Vec<SubmissionId>,
) -> Result<(), SessionError> {
    let task_id = tx.create_task(generation::first(conversation)).await?;
    let live = tx.doc(&LIVE, conversation).await?;
    set_run(&live, &Run { task_id, inputs })
}
