//! From one publication to one ordered batch of events of one conversation (spec 9.4). Pure.

use super::live_changes::{LiveChange, ended_tools, partial_events, run_events, wait_events};
use crate::docs::{AGENT, INBOX, LIVE, USAGE};
use crate::generation;
use tidehold_delta::{Json, Op};
use tidehold_session::documents::{ConversationDoc, Scope};
use tidehold_session::ids::ConversationId;
use tidehold_session::publication::{DocumentChange, DocumentChangeKind, Publication, TaskChange};
use tidehold_session::records::{EntryRecord, TaskOutcome};

/// The batch a publication means for a conversation; empty when it does not touch it.
pub fn batch(conversation: ConversationId, publication: &Publication) -> Vec<Json> {
    let live = live_change(conversation, publication);
    let mut events = Vec::new();
    if let Some(live) = &live {
        partial_events(live, &mut events);
        wait_events(live, &mut events);
    }
    entry_events(conversation, publication, live.as_ref(), &mut events);
    let tasks = || {
        publication
            .tasks
            .iter()
            .filter(|change| change.after.conversation_id == conversation)
    };
    events.extend(tasks().filter_map(task_failed));
    events.extend(
        tasks()
            .filter(|change| turn_ends(change))
            .map(|_| event("turn_end", [])),
    );
    if let Some(live) = &live {
        events.extend(run_events(live).ended);
    }
    for submission in publication
        .submissions
        .iter()
        .filter(|it| it.conversation_id == conversation)
    {
        events.push(event(
            "submission",
            [("record", crate::view::submission(submission))],
        ));
    }
    if let Some(inbox) = document_value(&INBOX, conversation, publication) {
        events.push(event(
            "inbox_update",
            [("items", super::snapshot::inbox_items(inbox.as_ref()))],
        ));
    }
    if let Some(agent) = document_value(&AGENT, conversation, publication) {
        events.push(event(
            "agent_changed",
            [("agent", agent.unwrap_or_else(Json::empty_object))],
        ));
    }
    if let Some(usage) = document_value(&USAGE, conversation, publication) {
        events.push(event(
            "usage_changed",
            [("usage", usage.unwrap_or_else(crate::docs::empty_usage))],
        ));
    }
    if let Some(live) = &live {
        events.extend(run_events(live).started);
    }
    let created = tasks().filter(|change| change.before.is_none() && &*change.after.kind == generation::KIND);
    events.extend(created.map(|_| event("turn_start", [])));
    events
}

/// One event object.
pub(super) fn event<const N: usize>(kind: &'static str, members: [(&'static str, Json); N]) -> Json {
    Json::object(std::iter::once(("type", Json::from(kind))).chain(members))
}

fn of_document<'a>(
    def: &'static ConversationDoc,
    conversation: ConversationId,
    publication: &'a Publication,
) -> impl Iterator<Item = &'a DocumentChange> + 'a {
    let scope = Scope::from(conversation);
    publication
        .documents
        .iter()
        .filter(move |change| &*change.record.kind == def.kind() && change.record.scope == scope)
}

/// Whether the document changed, and its value afterwards (`None` once retired).
fn document_value(
    def: &'static ConversationDoc,
    conversation: ConversationId,
    publication: &Publication,
) -> Option<Option<Json>> {
    of_document(def, conversation, publication)
        .last()
        .map(|change| match &change.kind {
            DocumentChangeKind::Created { value } | DocumentChangeKind::Changed { value, .. } => {
                Some(value.clone())
            }
            DocumentChangeKind::Copied { .. } | DocumentChangeKind::Retired => None,
        })
}

fn live_change(conversation: ConversationId, publication: &Publication) -> Option<LiveChange<'_>> {
    const NO_OPS: &[Op] = &[];
    of_document(&LIVE, conversation, publication)
        .last()
        .and_then(|change| match &change.kind {
            DocumentChangeKind::Created { value } => Some(LiveChange {
                before: Json::empty_object(),
                after: value.clone(),
                ops: NO_OPS,
            }),
            DocumentChangeKind::Changed {
                before, value, ops, ..
            } => Some(LiveChange {
                before: before.clone(),
                after: value.clone(),
                ops,
            }),
            DocumentChangeKind::Copied { .. } | DocumentChangeKind::Retired => None,
        })
}

/// Entries in append order. A message whose partial was committed before has started already.
fn entry_events(
    conversation: ConversationId,
    publication: &Publication,
    live: Option<&LiveChange<'_>>,
    events: &mut Vec<Json>,
) {
    let mut partial_open = live.is_some_and(|live| live.message_before().is_some());
    let mut tools = live.map(ended_tools).unwrap_or_default();
    for entry in publication
        .entries
        .iter()
        .filter(|entry| entry.conversation_id == conversation)
    {
        let Some(message) = entry.model.as_ref().and_then(|messages| messages.first()) else {
            events.push(event("entry_appended", [("entry", crate::view::entry(entry))]));
            continue;
        };
        if let Some(at) = tools.iter().position(|tool| tool.entry == Some(entry.id)) {
            events.push(tools.remove(at).event(Some(entry)));
        }
        let continues = partial_open && is_assistant(entry);
        if continues {
            partial_open = false;
        } else {
            events.push(event("message_start", [("message", message.clone())]));
        }
        events.push(event("message_end", [("entry", crate::view::entry(entry))]));
    }
    events.extend(tools.into_iter().map(|tool| tool.event(None)));
}

fn is_assistant(entry: &EntryRecord) -> bool {
    &*entry.kind == crate::entries::ASSISTANT
}

/// A generation's outcome is committed, held or final, whichever comes first.
fn turn_ends(change: &TaskChange) -> bool {
    let had_outcome = change
        .before
        .as_ref()
        .is_some_and(|before| before.outcome().is_some());
    &*change.after.kind == generation::KIND && change.after.outcome().is_some() && !had_outcome
}

fn task_failed(change: &TaskChange) -> Option<Json> {
    let was_live = change.before.as_ref().is_none_or(|before| before.is_live());
    if change.after.is_live() || !was_live {
        return None;
    }
    let message = match change.after.outcome()? {
        TaskOutcome::Faulted { error } => error.message.clone(),
        TaskOutcome::Orphaned { reason } => reason.clone(),
        TaskOutcome::Completed { .. } | TaskOutcome::Failed { .. } | TaskOutcome::Aborted { .. } => {
            return None;
        }
    };
    Some(event(
        "task_failed",
        [
            ("taskId", Json::from(change.after.id)),
            ("kind", Json::String(change.after.kind.clone())),
            ("message", Json::String(message)),
        ],
    ))
}
