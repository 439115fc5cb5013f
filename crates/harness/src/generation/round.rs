//! Tool rounds (spec 8.3 and 8.5), for what exists so far: no tool is offered, so every call gets its
//! `tool_unavailable` result and the model may react.

use super::{Checkpoint, Generation, GenerationResult, GenerationRuntime, classify};
use crate::docs::LIVE;
use crate::entries::TOOL_RESULT;
use crate::limits::MAX_BOUNDARY_BYTES;
use crate::live::{Run, end_run, set_run};
use crate::submissions::Floor;
use crate::submissions::boundary::{Boundary, BoundaryKind, place, select, start_run};
use tidehold_delta::Json;
use tidehold_models::message::{AssistantMessage, ToolCall};
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::records::{EntryDraft, JoinPolicy, SubmissionSettlement};
use tidehold_session::{SessionError, Tx};
use tidehold_tasks::{Next, Outcome, TaskFault};

/// Appends the tool-calling answer and the results of its calls, and enters the `tools` phase.
pub(super) async fn start(
    tx: &Tx,
    conversation: ConversationId,
    message: &AssistantMessage,
) -> Result<Next<Checkpoint, GenerationResult>, SessionError> {
    let (assistant, _) = classify::append(tx, conversation, message).await?;
    let mut slots = Vec::new();
    for call in message.tool_calls() {
        let entry = tx.append_entry(conversation, unavailable(call, tx.now())).await?;
        slots.push(Json::object([
            ("callId", Json::from(call.id.as_str())),
            ("name", Json::from(call.name.as_str())),
            ("status", Json::from("done")),
            ("entry", Json::from(entry.id)),
        ]));
    }
    let live = tx.doc(&LIVE, conversation).await?;
    live.at("tools").set(Json::array(slots))?;
    live.at("generation").remove()?;
    Ok(Next::Wait {
        checkpoint: Checkpoint::Tools {
            assistant,
            tools: Vec::new(),
            pending: Vec::new(),
        },
        on: Vec::new(),
        policy: JoinPolicy::AllSettled,
        until: None,
    })
}

/// The error result of a call that its request did not offer.
fn unavailable(call: &ToolCall, timestamp: Millis) -> EntryDraft {
    let text = format!("Tool {} is not available.", call.name);
    let block = |text: &str| Json::object([("type", Json::from("text")), ("text", Json::from(text))]);
    let message = Json::object([
        ("role", Json::from("toolResult")),
        ("toolCallId", Json::from(call.id.as_str())),
        ("toolName", Json::from(call.name.as_str())),
        ("content", Json::array([block(&text)])),
        ("isError", Json::from(true)),
        ("timestamp", Json::from(timestamp)),
    ]);
    let diagnostic = Json::object([
        ("severity", Json::from("error")),
        ("code", Json::from("tool_unavailable")),
        ("message", Json::from(text.as_str())),
    ]);
    EntryDraft {
        data: Some(Json::object([("diagnostics", Json::array([diagnostic]))])),
        ..EntryDraft::of_messages(TOOL_RESULT, vec![message])
    }
}

/// The `tools` phase: the `postTools` boundary, then the next generation with the same run.
pub(super) async fn finish(
    generation: &Generation,
    runtime: GenerationRuntime,
    assistant: EntryId,
) -> Result<(), TaskFault> {
    let settings = (generation.settings)();
    let conversation = runtime.conversation_id();
    runtime
        .commit(async move |tx, _| {
            let floor = Floor::read(&tx, conversation).await?;
            let selection = select(
                BoundaryKind::PostTools,
                &floor.items,
                &settings,
                MAX_BOUNDARY_BYTES,
            );
            let boundary = Boundary {
                tx: &tx,
                conversation,
                settings: &settings,
            };
            let inputs = place(&boundary, &floor, &selection).await?;
            let live = tx.doc(&LIVE, conversation).await?;
            live.at("tools").remove()?;
            live.at("nestedTools").remove()?;
            if let Some(run) = &floor.run {
                if selection.resets {
                    let reset = SubmissionSettlement::Unanswered {
                        reason: "reset".into(),
                        detail: None,
                    };
                    end_run(&tx, conversation, run, &reset).await?;
                    if !inputs.is_empty() {
                        start_run(&tx, conversation, inputs).await?;
                    }
                } else {
                    let task_id = tx.create_task(super::first(conversation)).await?;
                    let inputs = run.inputs.iter().copied().chain(inputs).collect();
                    set_run(&live, &Run { task_id, inputs })?;
                }
            }
            Ok(Some(Next::Finish(Outcome::Completed(GenerationResult {
                entry_id: Some(assistant),
            }))))
        })
        .await
}
