//! `external.cancel`: why a run was asked to stop, kept from the request to the abort handler.
//!
//! An abort mark carries no words, and a memo can be written by the task itself only, so it is a document of the anchor:
//! it ends with it, and the outcome takes its content over.

use tidehold_delta::{Json, Text};
use tidehold_session::documents::{DocToken, TaskDoc};
use tidehold_session::ids::TaskId;
use tidehold_session::{Session, SessionError, Tx};

static CANCEL: TaskDoc =
    DocToken::of_task("external.cancel", 1, Json::empty_object).checkpoint_when(|_, _, _| true);

const REASON: &str = "reason";

/// Keeps the first reason given. The run may have ended meanwhile; then there is nothing to explain.
pub(crate) async fn keep_reason(session: &Session, anchor: TaskId, reason: Text) -> Result<(), SessionError> {
    session
        .commit(async move |tx: Tx| {
            let live = tx
                .task(anchor)
                .await?
                .is_some_and(|record| record.outcome().is_none());
            if live && tx.peek(&CANCEL, anchor).await?.is_none() {
                tx.doc(&CANCEL, anchor)
                    .await?
                    .at(REASON)
                    .set(Json::String(reason))?;
            }
            Ok(())
        })
        .await
}

/// The reason kept for a live run.
pub(super) async fn kept_reason(session: &Session, anchor: TaskId) -> Result<Option<Text>, SessionError> {
    let kept = session.snapshot(&CANCEL, anchor).await?;
    Ok(kept
        .as_ref()
        .and_then(|kept| kept.get(REASON))
        .and_then(Json::as_str)
        .map(Text::from))
}
