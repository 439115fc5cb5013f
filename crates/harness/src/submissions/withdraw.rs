//! Withdrawal of queued submissions (spec 2.2 and 6).

use super::inbox::{self, Queued};
use crate::error::HarnessError;
use tidehold_session::ids::{ConversationId, SubmissionId};
use tidehold_session::records::SubmissionSettlement;
use tidehold_session::{Session, SessionError, Tx};

/// What became of a request to abort a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortOutcome {
    Aborted,
    AlreadyPlaced,
    Settled,
}

impl AbortOutcome {
    /// The word of the spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::AlreadyPlaced => "already_placed",
            Self::Settled => "settled",
        }
    }
}

/// Withdraws a queued submission; placed and settled ones stay. `None`: there is no such submission.
pub async fn abort_submission(
    session: &Session,
    id: SubmissionId,
) -> Result<Option<AbortOutcome>, HarnessError> {
    session
        .commit(async move |tx: Tx| {
            let Some(record) = tx.submission(id).await? else {
                return Ok(None);
            };
            if record.is_settled() {
                return Ok(Some(AbortOutcome::Settled));
            }
            if !record.is_queued() {
                return Ok(Some(AbortOutcome::AlreadyPlaced));
            }
            let items = inbox::read_items(&tx, record.conversation_id).await?;
            let position = items.iter().position(|item| item.id == id);
            inbox::remove(&tx, record.conversation_id, position.as_slice()).await?;
            tx.settle_submission(id, aborted())?;
            Ok(Some(AbortOutcome::Aborted))
        })
        .await
}

/// Withdraws every queued input of a conversation; writes stay for a later boundary.
pub(crate) async fn withdraw_inputs(tx: &Tx, conversation: ConversationId) -> Result<(), SessionError> {
    let items = inbox::read_items(tx, conversation).await?;
    let inputs = items
        .iter()
        .enumerate()
        .filter(|(_, item)| !matches!(item.what, Queued::Write { .. }));
    let (positions, ids): (Vec<usize>, Vec<SubmissionId>) = inputs.map(|(at, item)| (at, item.id)).unzip();
    for id in ids {
        tx.settle_submission(id, aborted())?;
    }
    inbox::remove(tx, conversation, &positions).await
}

fn aborted() -> SubmissionSettlement {
    SubmissionSettlement::Unanswered {
        reason: "aborted".into(),
        detail: None,
    }
}
