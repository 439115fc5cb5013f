//! Submitting, waiting and withdrawing (spec 2.2 and 6).

use super::Harness;
use super::conversations::or_new_root;
use crate::entries::reset_entry;
use crate::error::HarnessError;
use crate::submissions::{self, AbortOutcome, SubmissionDraft, WriteDraft};
use futures::future::LocalBoxFuture;
use futures::future::{Either, select};
use std::rc::Rc;
use tidehold_session::Tx;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID, SubmissionId};
use tidehold_session::records::SubmissionRecord;

impl Harness {
    /// Durably admits a submission; returns before it settles. The root conversation is created by the first
    /// submission that names it.
    pub fn submit<'a>(
        &'a self,
        conversation: ConversationId,
        draft: SubmissionDraft,
    ) -> LocalBoxFuture<'a, Result<SubmissionRecord, HarnessError>> {
        Box::pin(async move {
            let settings = self.settings();
            let record = self
                .session()
                .commit(async move |tx: Tx| {
                    if tx.conversation(conversation).await?.is_some() {
                        return submissions::admit(&tx, conversation, &draft, &settings).await;
                    }
                    if conversation != ROOT_CONVERSATION_ID {
                        return Err(HarnessError::UnknownConversation(conversation));
                    }
                    submissions::admit_into_new_root(&tx, &draft, &settings).await
                })
                .await?;
            // After the commit: a refused submission leaves no trace, no alarm either.
            self.resume();
            Ok(record)
        })
    }

    /// Starts the context anew: a write of a `pi.reset` entry, placed at once when idle, else at the next boundary.
    pub fn reset<'a>(
        &'a self,
        conversation: ConversationId,
        handoff: Option<&'a str>,
    ) -> LocalBoxFuture<'a, Result<(), HarnessError>> {
        Box::pin(async move {
            let settings = self.settings();
            let entry = reset_entry(handoff, self.session().host().now());
            self.session()
                .commit(async move |tx: Tx| {
                    let draft = SubmissionDraft::Write(WriteDraft {
                        request_id: None,
                        entry,
                    });
                    if or_new_root(&tx, conversation).await? {
                        return submissions::admit_valid_into_new(&tx, conversation, &draft, &settings).await;
                    }
                    submissions::admit_valid(&tx, conversation, &draft, &settings).await
                })
                .await?;
            self.resume();
            Ok(())
        })
    }

    /// The record, now.
    pub fn submission<'a>(
        &'a self,
        id: SubmissionId,
    ) -> LocalBoxFuture<'a, Result<Option<SubmissionRecord>, HarnessError>> {
        Box::pin(async move { Ok(self.session().submission(id).await?) })
    }

    /// The record once settled, or as it stands at `deadline`. Dropping the call ends only this wait.
    pub fn wait_for_submission<'a>(
        &'a self,
        id: SubmissionId,
        deadline: Option<Millis>,
    ) -> LocalBoxFuture<'a, Result<Option<Rc<SubmissionRecord>>, HarnessError>> {
        Box::pin(async move {
            if self.session().submission(id).await?.is_none() {
                return Ok(None);
            }
            self.resume();
            let settled = Box::pin(self.0.waits.settled(self.session(), id));
            let Some(deadline) = deadline else {
                return Ok(settled.await?);
            };
            let timer = self.session().host().sleep_until(deadline);
            match select(settled, timer).await {
                Either::Left((settled, _)) => Ok(settled?),
                Either::Right(((), _)) => Ok(self.session().submission(id).await?.map(Rc::new)),
            }
        })
    }

    /// Withdraws a queued submission.
    pub fn abort_submission<'a>(
        &'a self,
        id: SubmissionId,
    ) -> LocalBoxFuture<'a, Result<Option<AbortOutcome>, HarnessError>> {
        Box::pin(async move { submissions::abort_submission(self.session(), id).await })
    }
}
