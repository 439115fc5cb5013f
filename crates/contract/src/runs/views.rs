//! The texts behind a run's views, redacted before anyone measures or cuts them.

use super::data::{Encoding, OutputStatus};
use super::plan::SingleView;
use crate::evidence::{Found, Runs};
use crate::redact;
use crate::run::End;
use crate::standing::Standing;
use crate::transcript::{self, Entries, assistant};
use tidehold_delta::{Json, json};
use tidehold_harness::docs::{LIVE, USAGE};
use tidehold_models::message::StopReason;
use tidehold_session::ids::ConversationId;
use tidehold_session::{Session, SessionError};

/// A view as far as it was read.
pub(super) struct Viewed {
    /// Redacted. At least as much of it as the page needs, when there is as much.
    pub text: String,
    pub encoding: Encoding,
    pub final_available: Option<bool>,
    pub output_status: Option<OutputStatus>,
    /// What to tell people when there is no text.
    pub otherwise: Option<String>,
}

/// Reads a view; what lies beyond `needed` bytes may be left unread.
pub(super) async fn read(
    runs: &Runs<'_>,
    run: &Found,
    view: SingleView,
    needed: usize,
) -> Result<Viewed, SessionError> {
    match view {
        SingleView::Final => last(runs, run).await,
        SingleView::Output => output(runs, run, needed).await,
        SingleView::Diagnostics => diagnostics(runs, run).await,
        SingleView::Launch => launch(runs, run).await,
    }
}

fn texts(run: &Found, text: String, otherwise: String) -> Viewed {
    let status = match &run.standing {
        Standing::Queued | Standing::Running => OutputStatus::Preliminary,
        Standing::Interrupted => OutputStatus::Interrupted,
        Standing::Ended(_) => OutputStatus::Final,
    };
    Viewed {
        text,
        encoding: Encoding::Text,
        final_available: Some(matches!(run.standing, Standing::Ended(End::Succeeded { .. }))),
        output_status: Some(status),
        otherwise: Some(otherwise),
    }
}

/// The canonical answer, never narration.
async fn last(runs: &Runs<'_>, run: &Found) -> Result<Viewed, SessionError> {
    let none = |said: &str| texts(run, String::new(), said.to_owned());
    match &run.standing {
        Standing::Queued | Standing::Running => Ok(none("The run has no final answer yet.")),
        Standing::Interrupted => Ok(none("The run was interrupted and has no final answer.")),
        Standing::Ended(End::Succeeded { answer }) => {
            Ok(match transcript::answer(runs.harness.session(), *answer).await? {
                Some(answer) => texts(run, redact::text(&answer).into_owned(), String::new()),
                None => Viewed {
                    final_available: Some(false),
                    ..none("The answer cannot be read.")
                },
            })
        }
        Standing::Ended(end @ (End::Failed { .. } | End::Cancelled { .. } | End::TimedOut { .. })) => {
            Ok(none(&format!("There is no final answer. {}", end.sentence())))
        }
    }
}

/// Everything the child wrote, message after message. It only grows.
async fn output(runs: &Runs<'_>, run: &Found, needed: usize) -> Result<Viewed, SessionError> {
    let text = match runs.child(run).await? {
        Some(child) if run.standing.is_live() => {
            // What is being written becomes an entry in one commit: on the line it is seen exactly once.
            let session = runs.harness.session().clone();
            let read = async move || growing(&session, child.conversation, needed).await;
            runs.harness.session().on_line(read).await??
        }
        Some(child) => written(runs.harness.session(), child.conversation, needed).await?,
        None => String::new(),
    };
    Ok(texts(run, text, "The run has written nothing.".to_owned()))
}

async fn growing(
    session: &Session,
    conversation: ConversationId,
    needed: usize,
) -> Result<String, SessionError> {
    let mut text = written(session, conversation, needed).await?;
    if text.len() < needed
        && let Some(partial) =
            transcript::partial(session.committed_document(&LIVE, conversation).await?.as_ref())
    {
        append(&mut text, &redact::text(redact::hold_back(&partial)));
    }
    Ok(text)
}

/// Messages that are entries, until there are enough.
async fn written(
    session: &Session,
    conversation: ConversationId,
    needed: usize,
) -> Result<String, SessionError> {
    let mut text = String::new();
    let mut entries = Entries::of(session, conversation);
    while text.len() < needed {
        let Some(entry) = entries.next().await? else { break };
        if let Some(message) = assistant(&entry) {
            append(&mut text, &redact::text(&message.text()));
        }
    }
    Ok(text)
}

/// A new message starts a new line, so that pages concatenate to the whole.
fn append(text: &mut String, message: &str) {
    if message.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(message);
}

/// What went wrong on the way, how it ended, and what it took.
async fn diagnostics(runs: &Runs<'_>, run: &Found) -> Result<Viewed, SessionError> {
    let session = runs.harness.session();
    let child = runs.child(run).await?;
    let mut text = String::new();
    if let Some(child) = child {
        let mut entries = Entries::of(session, child.conversation);
        while let Some(entry) = entries.next().await? {
            let Some(message) = assistant(&entry) else {
                continue;
            };
            let how = match message.stop_reason {
                StopReason::Error => "an error",
                StopReason::Aborted => "an abort",
                StopReason::Length => "the token limit",
                StopReason::Stop | StopReason::ToolUse | StopReason::Pending | StopReason::Deferred => {
                    continue;
                }
            };
            let why = message
                .error_message
                .as_deref()
                .map(|error| format!(": {error}"))
                .unwrap_or_default();
            append(
                &mut text,
                &redact::text(&format!("A model answer ended with {how}{why}")),
            );
        }
    }
    if let Standing::Ended(end) = &run.standing {
        append(&mut text, &redact::text(&end.sentence()));
        if let Some(child) = child {
            let usage = session.snapshot(&USAGE, child.conversation).await?;
            let models = usage.as_ref().and_then(|usage| usage.get("models")?.as_object());
            for (model, spent) in models.into_iter().flat_map(|models| models.iter()) {
                append(&mut text, &redact::text(&format!("Usage of {model}: {spent}")));
            }
        }
    }
    if run.standing == Standing::Interrupted {
        append(
            &mut text,
            "The run is unfinished and no installed code can continue it.",
        );
    }
    Ok(texts(run, text, "Nothing to report so far.".to_owned()))
}

/// What was asked for, prompt included. Only this view shows it.
async fn launch(runs: &Runs<'_>, run: &Found) -> Result<Viewed, SessionError> {
    let session = runs.harness.session();
    let child = runs.child(run).await?;
    let prompt = match child {
        Some(child) => transcript::prompt(session, child).await?,
        None => None,
    };
    let input = &run.input;
    let mut launched = json!({
        "description": &input.description,
        "role": &input.role,
        "harness": &input.harness,
        "background": input.background,
        "context": { "mode": "none" },
        "parentConversationId": run.record.conversation_id,
    });
    let optional = [
        ("timeoutMs", input.timeout_ms.map(Json::from)),
        (
            "conversationId",
            child.map(|child| Json::from(child.conversation)),
        ),
        ("prompt", prompt),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            launched = crate::schema::with(launched, key, value);
        }
    }
    let document = redact::value(&json!({ "runId": &run.id, "launch": launched })).value;
    Ok(Viewed {
        text: document.to_string(),
        encoding: Encoding::Json,
        final_available: None,
        output_status: None,
        otherwise: None,
    })
}
