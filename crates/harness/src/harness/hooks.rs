//! What the harness adds to commits that others make: documents of new conversations, and the settlement of run tasks
//! whose outcome the scheduler wrote (spec 2.2 and 5.4).

use crate::agent::configure_from;
use crate::docs::{AGENT, INBOX, LIVE, PROVIDER, USAGE};
use crate::generation::{self, partial::convert_leftover, settle_unanswered};
use crate::live::run_of;
use crate::submissions::withdraw_inputs;
use futures::future::LocalBoxFuture;
use tidehold_delta::Json;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::{ConversationRecord, TaskOutcome, TaskRecord};
use tidehold_session::session::ConversationHook;
use tidehold_session::{SessionError, Tx};
use tidehold_tasks::SchedulerHooks;

/// The built-in creation hook.
pub(super) struct CreationHook;

impl ConversationHook for CreationHook {
    fn created<'a>(
        &'a self,
        tx: &'a Tx,
        record: &'a ConversationRecord,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        Box::pin(async move {
            for document in [&LIVE, &INBOX, &USAGE] {
                tx.doc(document, record.id).await?;
            }
            let provider = tx.doc(&PROVIDER, record.id).await?;
            provider.at("sessionId").set(Json::from(uuid_v7(tx)))?;
            // A fork keeps the copy of its parent's agent; a task-owned conversation copies its owner's.
            if record.parent.is_none() {
                tx.doc(&AGENT, record.id).await?;
                if let Some(owner) = record.owner {
                    configure_from(tx, owner.conversation_id, record.id).await?;
                }
            }
            Ok(())
        })
    }
}

/// A provider-facing identity: time-ordered, random, never the session's own ids.
fn uuid_v7(tx: &Tx) -> String {
    let mut bytes = [0_u8; 16];
    tx.host().entropy(&mut bytes);
    let random = u128::from_be_bytes(bytes);
    let time = u128::from(tx.now() & 0xffff_ffff_ffff) << 80;
    const VERSION: u128 = 0x7 << 76;
    const VARIANT: u128 = 0b10 << 62;
    const RANDOM: u128 = (0xfff << 64) | ((1 << 62) - 1);
    let uuid = time | VERSION | VARIANT | (random & RANDOM);
    let part = |shift: u32, width: u32| (uuid >> shift) & ((1 << width) - 1);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        part(96, 32),
        part(80, 16),
        part(64, 16),
        part(48, 16),
        part(0, 48)
    )
}

/// Settles what a faulted or orphaned run task cannot.
pub(super) struct Cleanup;

impl SchedulerHooks for Cleanup {
    fn settle_written_outcome<'a>(
        &'a self,
        tx: &'a Tx,
        record: &'a TaskRecord,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        Box::pin(async move {
            if &*record.kind != generation::KIND {
                return Ok(());
            }
            let conversation = record.conversation_id;
            let live = tx.peek(&LIVE, conversation).await?;
            let run = live.as_ref().map(run_of).transpose()?.flatten();
            if run.is_none_or(|run| run.task_id != record.id) {
                return Ok(());
            }
            convert_leftover(tx, conversation).await?;
            match record.outcome() {
                Some(TaskOutcome::Faulted { error }) => {
                    let detail = Some(Json::String(error.message.clone()));
                    settle_unanswered(tx, conversation, "faulted", detail).await
                }
                Some(TaskOutcome::Orphaned { reason }) => {
                    settle_unanswered(tx, conversation, reason.clone(), None).await
                }
                _ => Ok(()),
            }
        })
    }

    fn withdraw_inputs<'a>(
        &'a self,
        tx: &'a Tx,
        conversation: ConversationId,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        Box::pin(withdraw_inputs(tx, conversation))
    }
}
