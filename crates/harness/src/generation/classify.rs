//! Classification of a terminal message, in one commit that also clears the partial (spec 8.3).

use super::{Checkpoint, Generation, GenerationResult, GenerationRuntime, parked, poll, round};
use crate::docs::LIVE;
use crate::entries::assistant_entry;
use crate::limits::{MAX_ANSWER_COMMIT_BYTES, MAX_BOUNDARY_BYTES};
use crate::live::{end_run, run_of};
use crate::settings::Settings;
use crate::submissions::Floor;
use crate::submissions::boundary::{Boundary, final_boundary};
use crate::submissions::entry_len;
use crate::usage;
use tidehold_delta::{Json, Text};
use tidehold_models::errors::{is_context_overflow, is_retryable_assistant_error, retry_delay_ms};
use tidehold_models::message::{AssistantMessage, DeferredHandle, StopReason};
use tidehold_models::model::ModelRef;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::records::{SubmissionSettlement, TaskOutcomeError};
use tidehold_session::{SessionError, Tx};
use tidehold_tasks::{Next, Outcome, TaskFault};

type Step = Next<Checkpoint, GenerationResult>;

/// What a terminal message means for the generation.
enum Verdict {
    Answer,
    Calls,
    Retry {
        until: Millis,
        error: String,
    },
    Deferred {
        handle: Box<DeferredHandle>,
        poll_at: Millis,
    },
    Failed {
        error: String,
    },
}

pub(super) async fn response(
    generation: &Generation,
    runtime: &GenerationRuntime,
    attempt: u32,
    model: ModelRef,
    cutoff: EntryId,
    message: AssistantMessage,
) -> Result<(), TaskFault> {
    let settings = (generation.settings)();
    let verdict = judge(&message, &settings, attempt, runtime.now());
    let conversation = runtime.conversation_id();
    runtime
        .commit(async move |tx, _| {
            let step = match verdict {
                Verdict::Answer => answer(&tx, conversation, &settings, &message).await?,
                Verdict::Calls => round::start(&tx, conversation, &message).await?,
                Verdict::Retry { until, error } => {
                    append(&tx, conversation, &message).await?;
                    let retry = Json::object([("at", Json::from(until)), ("error", Json::from(error))]);
                    show(&tx, conversation, attempt, "retry", retry).await?;
                    parked(Checkpoint::Retry { attempt, until }, until)
                }
                Verdict::Deferred { handle, poll_at } => {
                    let deferred = Json::object([("pollAt", Json::from(poll_at))]);
                    show(&tx, conversation, attempt, "deferred", deferred).await?;
                    parked(
                        Checkpoint::Poll {
                            attempt,
                            model,
                            cutoff,
                            handle: *handle,
                            poll_at,
                        },
                        poll_at,
                    )
                }
                Verdict::Failed { error } => {
                    append(&tx, conversation, &message).await?;
                    fail(&tx, conversation, "model_error", error).await?
                }
            };
            Ok(Some(step))
        })
        .await
}

fn judge(message: &AssistantMessage, settings: &Settings, attempt: u32, now: Millis) -> Verdict {
    let error = || {
        message.error_message.clone().unwrap_or_else(|| {
            format!(
                "Model response ended with stop reason {}",
                stop_reason_name(message.stop_reason)
            )
        })
    };
    match message.stop_reason {
        StopReason::ToolUse if message.tool_calls().next().is_some() => Verdict::Calls,
        StopReason::Stop | StopReason::Length | StopReason::ToolUse => Verdict::Answer,
        StopReason::Deferred => match &message.deferred {
            Some(handle) => {
                let poll_at = poll::next_poll(handle, now);
                Verdict::Deferred {
                    handle: Box::new(handle.clone()),
                    poll_at,
                }
            }
            None => Verdict::Failed {
                error: "Deferred response without a handle".to_owned(),
            },
        },
        // Until compaction exists it counts as disabled: an overflow is never retried (spec 8.3).
        StopReason::Error if is_context_overflow(message, None) => Verdict::Failed { error: error() },
        StopReason::Error
            if settings.retry.enabled
                && attempt <= settings.retry.max_retries
                && is_retryable_assistant_error(message) =>
        {
            let until = now + retry_delay_ms(&settings.retry, i64::from(attempt));
            Verdict::Retry {
                until,
                error: error(),
            }
        }
        StopReason::Error | StopReason::Aborted | StopReason::Pending => Verdict::Failed { error: error() },
    }
}

/// The word of the spec for a stop reason.
fn stop_reason_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Pending => "pending",
        StopReason::Stop => "stop",
        StopReason::Length => "length",
        StopReason::ToolUse => "toolUse",
        StopReason::Error => "error",
        StopReason::Aborted => "aborted",
        StopReason::Deferred => "deferred",
    }
}

/// Appends the response and counts its usage. Returns the entry and its encoded bytes.
pub(super) async fn append(
    tx: &Tx,
    conversation: ConversationId,
    message: &AssistantMessage,
) -> Result<(EntryId, usize), SessionError> {
    let draft = assistant_entry(message)?;
    let bytes = entry_len(&draft);
    let entry = tx.append_entry(conversation, draft).await?;
    usage::add(tx, conversation, message).await?;
    Ok((entry.id, bytes))
}

/// An answer settles the run's inputs, then the final boundary decides what follows (spec 6).
async fn answer(
    tx: &Tx,
    conversation: ConversationId,
    settings: &Settings,
    message: &AssistantMessage,
) -> Result<Step, SessionError> {
    let floor = Floor::read(tx, conversation).await?;
    let (entry_id, bytes) = append(tx, conversation, message).await?;
    if let Some(run) = &floor.run {
        end_run(
            tx,
            conversation,
            run,
            &SubmissionSettlement::Done { answer: entry_id },
        )
        .await?;
    }
    let boundary = Boundary {
        tx,
        conversation,
        settings,
    };
    // The answer never shares its fate with the inbox: both together stay within one batch.
    let left = MAX_ANSWER_COMMIT_BYTES
        .saturating_sub(bytes)
        .min(MAX_BOUNDARY_BYTES);
    final_boundary(&boundary, &floor, left).await?;
    Ok(Next::Finish(Outcome::Completed(GenerationResult {
        entry_id: Some(entry_id),
    })))
}

/// Replaces the presentation of the attempt by its durable wait.
async fn show(
    tx: &Tx,
    conversation: ConversationId,
    attempt: u32,
    member: &'static str,
    value: Json,
) -> Result<(), SessionError> {
    let live = tx.doc(&LIVE, conversation).await?;
    live.at("generation").set(Json::object([
        ("attempt", Json::from(u64::from(attempt))),
        (member, value),
    ]))?;
    Ok(())
}

/// Settles the run's inputs with a reason and ends the generation as failed.
pub(super) async fn fail(
    tx: &Tx,
    conversation: ConversationId,
    reason: &'static str,
    error: String,
) -> Result<Step, SessionError> {
    settle_unanswered(tx, conversation, reason, Some(Json::from(error.as_str()))).await?;
    let error = TaskOutcomeError {
        message: error.into(),
        detail: None,
    };
    Ok(Next::Finish(Outcome::Failed { error, result: None }))
}

/// Ends the active run without an answer.
pub(crate) async fn settle_unanswered(
    tx: &Tx,
    conversation: ConversationId,
    reason: impl Into<Text>,
    detail: Option<Json>,
) -> Result<(), SessionError> {
    let live = tx.peek(&LIVE, conversation).await?;
    if let Some(run) = live.as_ref().map(run_of).transpose()?.flatten() {
        let settlement = SubmissionSettlement::Unanswered {
            reason: reason.into(),
            detail,
        };
        end_run(tx, conversation, &run, &settlement).await?;
    }
    Ok(())
}

/// The agent has no model, or one that no provider names.
pub(super) async fn no_model(runtime: &GenerationRuntime, error: String) -> Result<(), TaskFault> {
    let conversation = runtime.conversation_id();
    runtime
        .commit(async move |tx, _| Ok(Some(fail(&tx, conversation, "no_model", error).await?)))
        .await
}
