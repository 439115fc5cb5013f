//! Transcripts in memory: what rules 1 to 3 leave to the caller, and messages short enough to read.

mod leading;
mod pairing;
mod random;
mod range;

use super::{ContextView, derive_context};
use crate::ids::{ConversationId, EntryId};
use crate::records::{ContextEdit, ContextEditAction, DraftHead, EntryDraft, EntryRecord};
use std::rc::Rc;
use tidehold_delta::Json;

/// One conversation's visible entries.
#[derive(Clone, Default)]
struct Transcript {
    entries: Vec<Rc<EntryRecord>>,
}

impl Transcript {
    fn append(&mut self, draft: EntryDraft) -> EntryId {
        let id = EntryId(self.entries.last().map_or(1, |last| last.id.0 + 1));
        self.entries.push(Rc::new(EntryRecord {
            id,
            conversation_id: ConversationId(1),
            kind: draft.kind,
            model: draft.model,
            data: draft.data,
            head: draft.head.map(|head| match head {
                DraftHead::Itself => id,
                DraftHead::Entry(target) => target,
            }),
            edits: draft.edits,
            by_task_id: None,
        }));
        id
    }

    /// An ordinary entry with one message.
    fn say(&mut self, message: Json) -> EntryId {
        self.append(EntryDraft::of_messages("message", vec![message]))
    }

    /// An entry as generation writes it.
    fn prompt(&mut self, name: &str) -> EntryId {
        self.append(EntryDraft::of_messages("pi.system", vec![system(name)]))
    }

    /// An entry without messages.
    fn note(&mut self) -> EntryId {
        self.append(EntryDraft {
            kind: "note".into(),
            ..EntryDraft::default()
        })
    }

    fn head(&mut self, head: DraftHead, model: Vec<Json>) -> EntryId {
        self.append(EntryDraft {
            kind: "marker".into(),
            model: Some(model),
            head: Some(head),
            ..EntryDraft::default()
        })
    }

    fn edit(&mut self, edits: Vec<ContextEdit>) -> EntryId {
        self.append(EntryDraft {
            kind: "edit".into(),
            edits: Some(edits),
            ..EntryDraft::default()
        })
    }

    /// Rules 1 to 3 at a cutoff.
    fn range_at(&self, at: EntryId) -> (Option<Rc<EntryRecord>>, Vec<Rc<EntryRecord>>) {
        let visible = || self.entries.iter().filter(|entry| entry.id <= at);
        let marker = visible().rfind(|entry| entry.head.is_some()).cloned();
        let from = marker.as_ref().and_then(|marker| marker.head);
        let range = visible()
            .filter(|entry| from.is_none_or(|from| entry.id >= from))
            .cloned()
            .collect();
        (marker, range)
    }

    fn context_at(&self, at: EntryId) -> ContextView {
        let (marker, range) = self.range_at(at);
        derive_context(marker, range)
    }

    fn context(&self) -> ContextView {
        self.context_at(EntryId(u64::MAX))
    }

    /// The messages of the newest context, shown.
    fn messages(&self) -> Vec<String> {
        show(&self.context().messages)
    }
}

fn omit(target: EntryId) -> ContextEdit {
    ContextEdit {
        target,
        action: ContextEditAction::Omit,
    }
}

fn replace(target: EntryId, messages: impl IntoIterator<Item = Json>) -> ContextEdit {
    ContextEdit {
        target,
        action: ContextEditAction::Replace {
            messages: messages.into_iter().collect(),
        },
    }
}

fn user(content: &str) -> Json {
    Json::object([("role", Json::from("user")), ("content", Json::from(content))])
}

fn system(name: &str) -> Json {
    let sections = Json::object([(name, Json::from("text"))]);
    Json::object([
        ("role", Json::from("system")),
        ("content", Json::from("")),
        ("sections", sections),
    ])
}

/// An assistant message with a text, calls to the tool of the same name, and timestamp 7.
fn assistant(content: &str, calls: &[&str], stop_reason: &str) -> Json {
    let text = Json::object([("type", Json::from("text")), ("text", Json::from(content))]);
    let calls = calls.iter().map(|id| {
        Json::object([
            ("type", Json::from("toolCall")),
            ("id", Json::from(*id)),
            ("name", Json::from(format!("tool-{id}").as_str())),
            ("arguments", Json::empty_object()),
        ])
    });
    Json::object([
        ("role", Json::from("assistant")),
        ("content", Json::array(std::iter::once(text).chain(calls))),
        ("stopReason", Json::from(stop_reason)),
        ("timestamp", Json::from(7u64)),
    ])
}

/// An answer without calls.
fn answer(content: &str) -> Json {
    assistant(content, &[], "stop")
}

/// An assistant turn that calls tools.
fn calling(content: &str, calls: &[&str]) -> Json {
    assistant(content, calls, "toolUse")
}

fn result(call: &str, text: &str) -> Json {
    let content = Json::object([("type", Json::from("text")), ("text", Json::from(text))]);
    Json::object([
        ("role", Json::from("toolResult")),
        ("toolCallId", Json::from(call)),
        ("toolName", Json::from(format!("tool-{call}").as_str())),
        ("content", Json::array([content])),
        ("isError", Json::from(false)),
        ("timestamp", Json::from(9u64)),
    ])
}

fn show(messages: &[Json]) -> Vec<String> {
    messages.iter().map(show_one).collect()
}

/// `user:hi`, `assistant:text`, `system:section`, `result:call:text` or `result:call:missing`.
fn show_one(message: &Json) -> String {
    let text = |json: Option<&Json>| json.and_then(Json::as_str).unwrap_or("?").to_owned();
    let first_text = || {
        text(
            message
                .get("content")
                .and_then(|content| content.index(0)?.get("text")),
        )
    };
    let role = text(message.get("role"));
    let rest = match role.as_str() {
        "user" => text(message.get("content")),
        "assistant" => first_text(),
        "system" => {
            let sections = message.get("sections").and_then(Json::as_object);
            sections
                .and_then(|sections| Some(sections.iter().next()?.0.to_string()))
                .unwrap_or_default()
        }
        "toolResult" => {
            let missing = message.get("details").is_some();
            let outcome = if missing {
                "missing".to_owned()
            } else {
                first_text()
            };
            return format!("result:{}:{outcome}", text(message.get("toolCallId")));
        }
        _ => String::new(),
    };
    format!("{role}:{rest}")
}

fn ids(view: &ContextView) -> Vec<EntryId> {
    view.entries.iter().map(|entry| entry.id).collect()
}
