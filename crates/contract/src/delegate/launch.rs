//! Launching a run: one commit, so that there is a run with its child and its prompt, or nothing.

use super::DelegateInput;
use super::select::{Selection, select};
use super::unsupported;
use crate::code::{Code, Refusal};
use crate::config::ContractConfig;
use crate::error::Stop;
use crate::redact;
use crate::run::{Checkpoint, Child, Run, RunInput};
use tidehold_delta::{ConvertError, Json, Text};
use tidehold_harness::agent::{AgentChange, Field, configure};
use tidehold_harness::submissions::{InputDraft, SubmissionDraft, WhenBusy, admit_into_new_conversation};
use tidehold_harness::{Harness, HarnessError};
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::records::ConversationOwnership;
use tidehold_session::{Rejection, SessionError, Tx};
use tidehold_tasks::{TaskOptions, create};

/// Everything the commit needs, owned.
pub(crate) struct Launch {
    parent: ConversationId,
    input: RunInput,
    agent: AgentChange,
    prompt: Text,
    deadline: Option<Millis>,
}

impl Launch {
    /// Checks a call against the configuration. Nothing is written.
    pub fn plan(config: &ContractConfig, input: &DelegateInput, now: Millis) -> Result<Self, Refusal> {
        unsupported::refuse(input)?;
        let selection = select(config, input)?;
        let timeout_ms = input
            .timeout_ms
            .filter(|timeout| *timeout > 0)
            .or(config.limits.run_timeout_ms);
        Ok(Self {
            parent: input.conversation_id.map_or(ROOT_CONVERSATION_ID, ConversationId),
            agent: agent(&selection),
            input: RunInput {
                description: redact::text(&input.description).as_ref().into(),
                role: selection.role.into(),
                harness: selection.harness.into(),
                background: input.background.unwrap_or(false),
                timeout_ms,
                queued_at: now,
            },
            prompt: input.prompt.clone(),
            deadline: timeout_ms.map(|timeout| now.saturating_add(timeout)),
        })
    }
}

/// The child is what role and harness say, whatever it took over from its parent: an instruction or a thinking level of the
/// parent's is no part of the selection. Tools are inherited.
fn agent(selection: &Selection<'_>) -> AgentChange {
    let or_clear = |value: Option<&str>| value.map_or(Field::Clear, |value| Field::Set(Json::from(value)));
    AgentChange {
        thinking_level: or_clear(selection.choice.thinking_level.map(|level| level.name())),
        instructions: or_clear(selection.instructions),
        ..AgentChange::of_model(&selection.choice.model)
    }
}

/// A run that is registered.
pub(crate) struct Registered {
    pub anchor: TaskId,
    /// The child's conversation.
    pub conversation: ConversationId,
}

/// Commits the launch and lets it run.
pub(crate) async fn launch(harness: &Harness, launch: Launch) -> Result<Registered, Stop> {
    harness.resume();
    let settings = harness.settings();
    let parent = launch.parent;
    let committed: Result<Registered, HarnessError> = harness
        .session()
        .commit(async move |tx: Tx| {
            if tx.conversation(launch.parent).await?.is_none() {
                if launch.parent != ROOT_CONVERSATION_ID {
                    return Err(HarnessError::UnknownConversation(launch.parent));
                }
                tx.create_root().await?;
            }
            let options = TaskOptions::in_conversation(launch.parent).background();
            let anchor = create(&tx, &Run, &launch.input, options).await?.id();
            let child = tx
                .create_conversation(ConversationOwnership::Task(anchor))
                .await?
                .id;
            configure(&tx, child, &launch.agent).await?;
            let prompt = SubmissionDraft::Input(InputDraft {
                request_id: None,
                content: Json::String(launch.prompt),
                when_busy: WhenBusy::Reject,
                entry: None,
            });
            let submission = admit_into_new_conversation(&tx, child, &prompt, &settings)
                .await?
                .id;
            let child = Child {
                conversation: child,
                submission,
            };
            let checkpoint = Checkpoint::Watch {
                child,
                deadline: launch.deadline,
            };
            let checkpoint = Json::from_serialize(&checkpoint).map_err(unwritable)?;
            tx.set_initial_checkpoint(anchor, checkpoint)?;
            Ok(Registered {
                anchor,
                conversation: child.conversation,
            })
        })
        .await;
    committed.map_err(|error| refusal(error, parent))
}

fn unwritable(error: ConvertError) -> Rejection {
    Rejection::Other(error.to_string())
}

/// What an error of the launching commit means to the caller.
fn refusal(error: HarnessError, parent: ConversationId) -> Stop {
    match error {
        HarnessError::UnknownConversation(_) => Refusal::new(
            Code::ContextInvalid,
            format!("The parent conversation {parent} does not exist."),
        )
        .into(),
        HarnessError::Session(SessionError::Closed) => Refusal::new(
            Code::SessionClosed,
            "The session closed before the run was registered.",
        )
        .into(),
        HarnessError::Session(SessionError::Rejected(
            Rejection::BatchTooLarge { .. } | Rejection::TaskTooLarge { .. },
        )) => Refusal::new(Code::RequestInvalid, "The prompt is too large.").into(),
        HarnessError::Invalid { path, message } => {
            Refusal::new(Code::RequestInvalid, format!("{path}: {message}")).into()
        }
        HarnessError::Session(error) => error.into(),
        other @ (HarnessError::ConversationBusy(_)
        | HarnessError::InboxFull(_)
        | HarnessError::RequestConflict(_)) => SessionError::Request(other.to_string()).into(),
    }
}
