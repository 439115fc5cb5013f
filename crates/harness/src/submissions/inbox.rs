//! `pi.inbox`: queued items in id order (spec 6).

use crate::docs::{INBOX, LIVE};
use crate::entries::InputEntry;
use crate::error::malformed;
use crate::live::{Run, run_of};
use serde::Serialize;
use tidehold_delta::{FromJson, Json, Text};
use tidehold_session::ids::{ConversationId, EntryId, SubmissionId};
use tidehold_session::records::EntryDraft;
use tidehold_session::weight;
use tidehold_session::{SessionError, Tx};

/// One queued submission.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub(crate) struct InboxItem {
    pub id: SubmissionId,
    #[serde(flatten)]
    pub what: Queued,
}

/// What waits, by mode.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "mode", rename_all = "camelCase")]
pub(crate) enum Queued {
    Steer(QueuedInput),
    FollowUp(QueuedInput),
    Write { entry: EntryDraft },
}

impl Queued {
    /// About what its placement adds to a commit.
    pub fn encoded_len(&self) -> usize {
        match self {
            Self::Steer(input) | Self::FollowUp(input) => {
                let data = input.entry.as_ref().and_then(|entry| entry.data.as_ref());
                input.content.encoded_len() + data.map_or(0, Json::encoded_len)
            }
            Self::Write { entry } => entry_len(entry),
        }
    }
}

/// Encoded bytes of what an entry carries.
pub(crate) fn entry_len(entry: &EntryDraft) -> usize {
    weight::of_carried(
        entry.model.as_deref(),
        entry.data.as_ref(),
        entry.edits.as_deref(),
    )
}

/// An input before its placement.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub(crate) struct QueuedInput {
    pub content: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<QueuedEntry>,
}

/// Stored form of [`InputEntry`].
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub(crate) struct QueuedEntry {
    pub kind: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

impl QueuedEntry {
    pub fn to_entry(&self) -> InputEntry {
        InputEntry {
            kind: self.kind.clone(),
            data: self.data.clone(),
        }
    }
}

/// Everything admission and boundaries read, before their first write.
pub(crate) struct Floor {
    pub run: Option<Run>,
    pub items: Vec<InboxItem>,
    /// Start of the active range: the newest head marker's `head`.
    pub active_start: Option<EntryId>,
}

impl Floor {
    pub async fn read(tx: &Tx, conversation: ConversationId) -> Result<Self, SessionError> {
        let active_start = tx
            .latest_head_marker(conversation)
            .await?
            .map(|marker| marker.head);
        let live = tx.peek(&LIVE, conversation).await?;
        let run = live.as_ref().map(run_of).transpose()?.flatten();
        let items = read_items(tx, conversation).await?;
        Ok(Self {
            run,
            items,
            active_start,
        })
    }
}

pub(crate) async fn read_items(
    tx: &Tx,
    conversation: ConversationId,
) -> Result<Vec<InboxItem>, SessionError> {
    let inbox = tx.peek(&INBOX, conversation).await?;
    let items = inbox
        .as_ref()
        .and_then(|inbox| inbox.get("items"))
        .and_then(Json::as_array);
    items
        .map(|items| items.iter().map(Json::to_typed).collect::<Result<Vec<_>, _>>())
        .transpose()
        .map(Option::unwrap_or_default)
        .map_err(|error| malformed("pi.inbox", &error))
}

/// Appends an item; ids ascend, so the order is the id order.
pub(crate) async fn push(
    tx: &Tx,
    conversation: ConversationId,
    item: &InboxItem,
) -> Result<(), SessionError> {
    let json = Json::from_serialize(item).map_err(|error| malformed("submission", &error))?;
    tx.doc(&INBOX, conversation).await?.at("items").push(json)?;
    Ok(())
}

/// Removes the items at `positions` (ascending), from the end so that positions stay valid and no retained value is
/// carried.
pub(crate) async fn remove(
    tx: &Tx,
    conversation: ConversationId,
    positions: &[usize],
) -> Result<(), SessionError> {
    if positions.is_empty() {
        return Ok(());
    }
    let items = tx.doc(&INBOX, conversation).await?.at("items");
    for position in positions.iter().rev() {
        items.splice(*position, 1, Vec::new())?;
    }
    Ok(())
}
