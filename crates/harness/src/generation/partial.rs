//! Throttled committed partials (spec 8.3): a trailing timer, one commit in flight, stopped before classification.

use super::GenerationRuntime;
use crate::docs::LIVE;
use crate::entries::assistant_entry;
use crate::error::malformed;
use crate::limits::{MAX_ANSWER_BYTES, MAX_ANSWER_COMMIT_BYTES};
use crate::usage;
use futures::future::{Either, FusedFuture, FutureExt, LocalBoxFuture, select};
use futures::stream::{LocalBoxStream, StreamExt};
use tidehold_delta::{Draft, DraftError, Path};
use tidehold_models::changes::Changes;
use tidehold_models::message::{AssistantMessage, Message, StopReason};
use tidehold_models::partial::Partial;
use tidehold_models::stream::StreamEvent;
use tidehold_models::tool_arguments::Change;
use tidehold_session::host::Millis;
use tidehold_session::ids::ConversationId;
use tidehold_session::{SessionError, Tx};
use tidehold_tasks::TaskFault;

/// Publishes an answer while it streams.
pub(super) struct Progress {
    runtime: GenerationRuntime,
    interval: Millis,
}

type Commit = LocalBoxFuture<'static, Result<(), TaskFault>>;

impl Progress {
    pub fn new(runtime: GenerationRuntime, interval: Millis) -> Self {
        Self { runtime, interval }
    }

    /// Follows the stream to its terminal message. No partial commit is in flight when this returns.
    pub async fn follow(
        self,
        mut events: LocalBoxStream<'static, StreamEvent>,
    ) -> Result<AssistantMessage, TaskFault> {
        let mut partial = Partial::new();
        let mut changes = Changes::new();
        // Changes since the newest commit wait for `due`; `commit` is the one in flight.
        let mut due: Option<LocalBoxFuture<'static, ()>> = None;
        let mut commit: Option<Commit> = None;
        let mut ripe = false;
        let mut too_large = false;
        loop {
            if ripe && commit.is_none() {
                ripe = false;
                commit = self.publish(&mut changes);
            }
            let mut pause = pause(&mut due, &mut commit);
            match select(events.next(), &mut pause).await {
                Either::Left((Some(event), _)) => {
                    drop(pause);
                    if !partial.apply_within(MAX_ANSWER_BYTES, &event) {
                        too_large = true;
                        break;
                    }
                    changes.apply(&event);
                    if matches!(event, StreamEvent::Done { .. } | StreamEvent::Error { .. }) {
                        break;
                    }
                    if due.is_none() && !ripe && !partial.content().is_empty() {
                        let at = self.runtime.now() + self.interval;
                        due = Some(self.runtime.session().host().sleep_until(at));
                    }
                }
                Either::Left((None, _)) => break,
                Either::Right((Paused::Due, _)) => {
                    drop(pause);
                    due = None;
                    ripe = true;
                }
                Either::Right((Paused::Committed(result), _)) => {
                    drop(pause);
                    commit = None;
                    result?;
                }
            }
        }
        if let Some(commit) = commit {
            commit.await?;
        }
        let mut ended = partial.into_message();
        if let Some(message) = ended.as_mut().filter(|_| too_large) {
            message.stop_reason = StopReason::Error;
            message.error_message = Some(format!("The answer is larger than {MAX_ANSWER_BYTES} bytes"));
        }
        ended.ok_or_else(|| TaskFault::Failed("the model stream ended without a message".to_owned()))
    }

    /// Commits what is new since the last partial, so that a long answer costs its length and not its square.
    fn publish(&self, changes: &mut Changes) -> Option<Commit> {
        let edits = changes.take();
        if edits.is_empty() {
            return None;
        }
        let runtime = self.runtime.clone();
        let conversation = runtime.conversation_id();
        Some(Box::pin(async move {
            let progress = runtime.clone();
            runtime
                .commit(async move |tx, _| {
                    progress.note_progress(&tx).await?;
                    let slot = tx.doc(&LIVE, conversation).await?.at("generation").at("message");
                    for edit in edits {
                        record(&slot, edit)?;
                    }
                    Ok(None)
                })
                .await
        }))
    }
}

fn record(message: &Draft, edit: Change) -> Result<(), DraftError> {
    let place = |path: Path| {
        path.into_iter()
            .fold(message.clone(), |place, segment| place.at(segment))
    };
    match edit {
        Change::Set { path, value } => place(path).set(value),
        Change::Append { path, text } => place(path).append(&text),
    }
}

enum Paused {
    Due,
    Committed(Result<(), TaskFault>),
}

/// Whichever of the timer and the commit ends first; pending for ever when there is neither.
fn pause<'a>(
    due: &'a mut Option<LocalBoxFuture<'static, ()>>,
    commit: &'a mut Option<Commit>,
) -> impl FusedFuture<Output = Paused> + Unpin + 'a {
    futures::future::poll_fn(move |context| {
        use std::task::Poll;
        if let Some(commit) = commit.as_mut()
            && let Poll::Ready(result) = commit.poll_unpin(context)
        {
            return Poll::Ready(Paused::Committed(result));
        }
        if let Some(due) = due.as_mut()
            && due.poll_unpin(context).is_ready()
        {
            return Poll::Ready(Paused::Due);
        }
        Poll::Pending
    })
    .fuse()
}

/// Converts a committed partial into an aborted assistant entry, as the abort handler and recovery do.
pub(crate) async fn convert_leftover(tx: &Tx, conversation: ConversationId) -> Result<(), SessionError> {
    let live = tx.peek(&LIVE, conversation).await?;
    let stored = live
        .as_ref()
        .and_then(|live| live.get("generation"))
        .and_then(|it| it.get("message"));
    let Some(stored) = stored else { return Ok(()) };
    let message = stored
        .to_typed::<Message>()
        .map_err(|error| malformed("pi.live.generation", &error))?;
    let Message::Assistant(mut message) = message else {
        return Ok(());
    };
    message.stop_reason = StopReason::Aborted;
    // This runs where nothing may fail, also for what an earlier release let grow.
    if stored.encoded_len() > MAX_ANSWER_COMMIT_BYTES {
        message.content.clear();
        message.error_message = Some("The partial answer was too large to keep".to_owned());
    }
    tx.append_entry(conversation, assistant_entry(&message)?).await?;
    usage::add(tx, conversation, &message).await?;
    tx.doc(&LIVE, conversation)
        .await?
        .at("generation")
        .at("message")
        .remove()?;
    Ok(())
}
