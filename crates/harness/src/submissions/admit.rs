//! Admission (the table of spec 6), one commit.

use super::boundary::{Boundary, final_boundary, start_run};
use super::draft::{InputDraft, SubmissionDraft, WhenBusy, WriteDraft};
use super::inbox::{self, Floor, InboxItem, Queued, QueuedEntry, QueuedInput};
use crate::entries::input_entry;
use crate::error::HarnessError;
use crate::limits::{MAX_BOUNDARY_BYTES, MAX_QUEUED_BYTES, MAX_QUEUED_ITEMS};
use crate::settings::Settings;
use tidehold_delta::Text;
use tidehold_session::Tx;
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::records::{
    DraftHead, EntryDraft, InputStatus, SubmissionRecord, SubmissionState, WriteStatus,
};

/// Admits a draft in the caller's commit and returns its record. The conversation exists.
pub async fn admit(
    tx: &Tx,
    conversation: ConversationId,
    draft: &SubmissionDraft,
    settings: &Settings,
) -> Result<SubmissionRecord, HarnessError> {
    draft.validate()?;
    admit_valid(tx, conversation, draft, settings).await
}

/// Admits a write of the harness's own, whose kind no host may use.
pub(crate) async fn admit_valid(
    tx: &Tx,
    conversation: ConversationId,
    draft: &SubmissionDraft,
    settings: &Settings,
) -> Result<SubmissionRecord, HarnessError> {
    let hash = match draft.request_id() {
        Some(request) => {
            let hash = draft.content_hash()?;
            if let Some(known) = tx.submission_by_request(conversation, request).await? {
                return repeated(draft, request, &hash, known);
            }
            Some(hash)
        }
        None => None,
    };
    if let SubmissionDraft::Write(write) = draft {
        check_targets(tx, conversation, &write.entry).await?;
    }
    let floor = Floor::read(tx, conversation).await?;
    let admission = Admission {
        tx,
        conversation,
        settings,
        floor,
        hash,
    };
    match draft {
        SubmissionDraft::Input(input) => admission.input(input).await,
        SubmissionDraft::Write(write) => admission.write(write).await,
    }
}

/// Admits the first submission of a session: creates the root in the same commit. A refusal leaves no trace.
pub async fn admit_into_new_root(
    tx: &Tx,
    draft: &SubmissionDraft,
    settings: &Settings,
) -> Result<SubmissionRecord, HarnessError> {
    check_new(draft)?;
    let root = tx.create_root().await?;
    admit_into_new_conversation(tx, root.id, draft, settings).await
}

/// Admits a submission into a conversation that the same transaction created.
pub async fn admit_into_new_conversation(
    tx: &Tx,
    conversation: ConversationId,
    draft: &SubmissionDraft,
    settings: &Settings,
) -> Result<SubmissionRecord, HarnessError> {
    check_new(draft)?;
    admit_valid_into_new(tx, conversation, draft, settings).await
}

/// As [`admit_valid`], in a conversation that the same transaction created: it is idle and empty, and nothing needs to be
/// read.
pub(crate) async fn admit_valid_into_new(
    tx: &Tx,
    conversation: ConversationId,
    draft: &SubmissionDraft,
    settings: &Settings,
) -> Result<SubmissionRecord, HarnessError> {
    let hash = draft.request_id().map(|_| draft.content_hash()).transpose()?;
    let floor = Floor {
        run: None,
        items: Vec::new(),
        active_start: None,
    };
    let admission = Admission {
        tx,
        conversation,
        settings,
        floor,
        hash,
    };
    match draft {
        SubmissionDraft::Input(input) => admission.input(input).await,
        SubmissionDraft::Write(write) => admission.write(write).await,
    }
}

/// No entry exists yet that a head or an edit could name.
fn check_new(draft: &SubmissionDraft) -> Result<(), HarnessError> {
    draft.validate()?;
    let SubmissionDraft::Write(write) = draft else {
        return Ok(());
    };
    match targets(&write.entry).next() {
        Some((path, id)) => Err(missing_target(path, id)),
        None => Ok(()),
    }
}

fn targets(entry: &EntryDraft) -> impl Iterator<Item = (&'static str, EntryId)> + '_ {
    let head = match entry.head {
        Some(DraftHead::Entry(id)) => Some(("entry.head", id)),
        Some(DraftHead::Itself) | None => None,
    };
    head.into_iter().chain(
        entry
            .edits
            .iter()
            .flatten()
            .map(|edit| ("entry.edits", edit.target)),
    )
}

fn missing_target(path: &'static str, id: EntryId) -> HarnessError {
    HarnessError::Invalid {
        path: path.into(),
        message: format!("entry {id} does not exist here"),
    }
}

/// A request id met before: the first submission for the same content, a conflict otherwise.
fn repeated(
    draft: &SubmissionDraft,
    request: &Text,
    hash: &Text,
    known: SubmissionRecord,
) -> Result<SubmissionRecord, HarnessError> {
    let same_type = matches!(
        (draft, &known.state),
        (SubmissionDraft::Input(_), SubmissionState::Input(_))
            | (SubmissionDraft::Write(_), SubmissionState::Write(_))
    );
    if same_type && known.content_hash.as_ref() == Some(hash) {
        Ok(known)
    } else {
        Err(HarnessError::RequestConflict(request.clone()))
    }
}

/// Heads and edit targets must be visible here.
async fn check_targets(
    tx: &Tx,
    conversation: ConversationId,
    entry: &EntryDraft,
) -> Result<(), HarnessError> {
    for (path, id) in targets(entry) {
        if tx.visible_entry(conversation, id).await?.is_none() {
            return Err(missing_target(path, id));
        }
    }
    Ok(())
}

struct Admission<'a> {
    tx: &'a Tx,
    conversation: ConversationId,
    settings: &'a Settings,
    floor: Floor,
    hash: Option<Text>,
}

impl Admission<'_> {
    async fn input(self, draft: &InputDraft) -> Result<SubmissionRecord, HarnessError> {
        let busy = self.floor.run.is_some();
        if busy && draft.when_busy == WhenBusy::Reject {
            return Err(HarnessError::ConversationBusy(self.conversation));
        }
        if busy || !self.floor.items.is_empty() {
            let queued = QueuedInput {
                content: draft.content.clone(),
                entry: draft.entry.as_ref().map(|entry| QueuedEntry {
                    kind: entry.kind.clone(),
                    data: entry.data.clone(),
                }),
            };
            let what = match draft.when_busy {
                WhenBusy::Steer => Queued::Steer(queued),
                WhenBusy::FollowUp | WhenBusy::Reject => Queued::FollowUp(queued),
            };
            return self
                .queue(
                    draft.request_id.clone(),
                    SubmissionState::Input(InputStatus::Queued),
                    what,
                )
                .await;
        }
        let entry = input_entry(&draft.content, draft.entry.as_ref(), self.tx.now());
        let placed = self.tx.append_entry(self.conversation, entry).await?;
        let state = SubmissionState::Input(InputStatus::Placed { entry: placed.id });
        let record = self.record(draft.request_id.clone(), state).await?;
        start_run(self.tx, self.conversation, vec![record.id]).await?;
        Ok(record)
    }

    async fn write(self, draft: &WriteDraft) -> Result<SubmissionRecord, HarnessError> {
        let busy = self.floor.run.is_some();
        let display_only =
            draft.entry.model.is_none() && draft.entry.head.is_none() && draft.entry.edits.is_none();
        // After a queued reset a display-only entry would fall out of the context the reset starts.
        let at_once = if display_only {
            !self.floor.items.iter().any(is_reset)
        } else {
            !busy && self.floor.items.is_empty()
        };
        if !at_once {
            let what = Queued::Write {
                entry: draft.entry.clone(),
            };
            return self
                .queue(
                    draft.request_id.clone(),
                    SubmissionState::Write(WriteStatus::Queued),
                    what,
                )
                .await;
        }
        let state = if is_stale(&draft.entry, self.floor.active_start) {
            SubmissionState::Write(WriteStatus::Unanswered {
                reason: "stale".into(),
                detail: None,
            })
        } else {
            let placed = self
                .tx
                .append_entry(self.conversation, draft.entry.clone())
                .await?;
            SubmissionState::Write(WriteStatus::Done { entry: placed.id })
        };
        self.record(draft.request_id.clone(), state).await
    }

    async fn record(
        &self,
        request_id: Option<Text>,
        state: SubmissionState,
    ) -> Result<SubmissionRecord, HarnessError> {
        let hash = self.hash.clone();
        Ok(self
            .tx
            .create_submission(self.conversation, request_id, hash, state)
            .await?)
    }

    /// Queues behind what waits; an idle conversation with waiting items runs a final boundary at once.
    async fn queue(
        mut self,
        request_id: Option<Text>,
        state: SubmissionState,
        what: Queued,
    ) -> Result<SubmissionRecord, HarnessError> {
        let waiting: usize = self.floor.items.iter().map(|item| item.what.encoded_len()).sum();
        if self.floor.items.len() >= MAX_QUEUED_ITEMS || waiting + what.encoded_len() > MAX_QUEUED_BYTES {
            return Err(HarnessError::InboxFull(self.conversation));
        }
        let record = self.record(request_id, state).await?;
        let item = InboxItem { id: record.id, what };
        inbox::push(self.tx, self.conversation, &item).await?;
        self.floor.items.push(item);
        if self.floor.run.is_none() {
            let boundary = Boundary {
                tx: self.tx,
                conversation: self.conversation,
                settings: self.settings,
            };
            final_boundary(&boundary, &self.floor, MAX_BOUNDARY_BYTES).await?;
        }
        Ok(record)
    }
}

fn is_reset(item: &InboxItem) -> bool {
    matches!(&item.what, Queued::Write { entry } if entry.head == Some(DraftHead::Itself))
}

/// A head before the start of the active range would bring back history that a later head cut (spec 6).
pub(super) fn is_stale(entry: &EntryDraft, active_start: Option<EntryId>) -> bool {
    match entry.head {
        Some(DraftHead::Entry(head)) => active_start.is_some_and(|start| head < start),
        Some(DraftHead::Itself) | None => false,
    }
}
