//! Records as the JSON text that is stored: what their `Serialize` says, written without building the value first. Each
//! commit passes here.
//!
//! A record is taken apart by name, so that a new member is a compile error here and not a loss.

mod task;
#[cfg(test)]
mod tests;

use crate::limits::MAX_NUMBER;
use tidehold_delta::{ConvertProblem, Json, MAX_DEPTH, push_integer, write_string};
use tidehold_session::records::*;
use tidehold_session::storage::StorageError;

/// # Errors
/// [`StorageError::Batch`]: nested too deep, or a number no JSON has.
pub(super) fn encode(text: &mut String, write: impl FnOnce(&mut Writer<'_>)) -> Result<(), StorageError> {
    let mut writer = Writer { text, refused: None };
    write(&mut writer);
    match writer.refused {
        None => Ok(()),
        Some(error) => Err(StorageError::Batch(format!("a record cannot be stored: {error}"))),
    }
}

/// The text so far, and the first thing that has no JSON form.
pub(super) struct Writer<'a> {
    text: &'a mut String,
    refused: Option<ConvertProblem>,
}

impl Writer<'_> {
    fn refuse(&mut self, error: ConvertProblem) {
        self.refused.get_or_insert(error);
    }

    fn open(&mut self) {
        self.text.push('{');
    }

    fn close(&mut self) {
        self.text.push('}');
    }

    /// What stands before a member: a comma, unless it is the first.
    fn separate(&mut self) {
        if self.text.as_bytes().last() != Some(&b'{') {
            self.text.push(',');
        }
    }

    /// A member of the record's own, whose name needs no escape.
    fn key(&mut self, key: &'static str) {
        self.separate();
        self.text.push('"');
        self.text.push_str(key);
        self.text.push_str("\":");
    }

    fn number(&mut self, key: &'static str, number: u64) {
        self.key(key);
        self.element(number);
    }

    fn element(&mut self, number: u64) {
        if number > MAX_NUMBER {
            self.refuse(ConvertProblem::Integer(number.to_string()));
        }
        push_integer(self.text, number);
    }

    fn optional_number(&mut self, key: &'static str, number: Option<u64>) {
        if let Some(number) = number {
            self.number(key, number);
        }
    }

    fn flag(&mut self, key: &'static str, flag: bool) {
        self.key(key);
        self.text.push_str(if flag { "true" } else { "false" });
    }

    fn string(&mut self, key: &'static str, text: &str) {
        self.key(key);
        write_string(self.text, text);
    }

    fn optional_string(&mut self, key: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.string(key, text);
        }
    }

    /// A value inside `above` containers.
    fn value(&mut self, value: &Json, above: usize) {
        if value.deeper_than(MAX_DEPTH - above) {
            self.refuse(ConvertProblem::Depth);
        } else if !value.is_finite() {
            self.refuse(ConvertProblem::NotFinite);
        } else {
            value.write(self.text);
        }
    }

    fn member(&mut self, key: &'static str, value: &Json, above: usize) {
        self.key(key);
        self.value(value, above);
    }

    fn optional_member(&mut self, key: &'static str, value: Option<&Json>, above: usize) {
        if let Some(value) = value {
            self.member(key, value, above);
        }
    }

    fn list<T>(&mut self, key: &'static str, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.key(key);
        let mut before = '[';
        for item in items {
            self.text.push(before);
            write(self, item);
            before = ',';
        }
        self.text.push_str(if items.is_empty() { "[]" } else { "]" });
    }

    pub(super) fn conversation(&mut self, record: &ConversationRecord) {
        let ConversationRecord { id, parent, owner } = record;
        self.open();
        self.number("id", id.0);
        if let Some(ConversationParent { conversation_id, at }) = parent {
            self.key("parent");
            self.open();
            self.number("conversationId", conversation_id.0);
            self.number("at", at.0);
            self.close();
        }
        if let Some(ConversationOwner {
            conversation_id,
            task_id,
        }) = owner
        {
            self.key("owner");
            self.open();
            self.number("conversationId", conversation_id.0);
            self.number("taskId", task_id.0);
            self.close();
        }
        self.close();
    }

    pub(super) fn entry(&mut self, record: &EntryRecord) {
        let EntryRecord {
            id,
            conversation_id,
            kind,
            model,
            data,
            head,
            edits,
            by_task_id,
        } = record;
        self.open();
        self.number("id", id.0);
        self.number("conversationId", conversation_id.0);
        self.string("kind", kind);
        if let Some(model) = model {
            self.list("model", model, |writer, message| writer.value(message, 2));
        }
        self.optional_member("data", data.as_ref(), 1);
        self.optional_number("head", head.map(|head| head.0));
        if let Some(edits) = edits {
            self.list("edits", edits, Self::edit);
        }
        self.optional_number("byTaskId", by_task_id.map(|task| task.0));
        self.close();
    }

    fn edit(&mut self, edit: &ContextEdit) {
        let ContextEdit { target, action } = edit;
        self.open();
        self.number("target", target.0);
        match action {
            ContextEditAction::Omit => self.string("action", "omit"),
            ContextEditAction::Replace { messages } => {
                self.string("action", "replace");
                self.list("messages", messages, |writer, message| writer.value(message, 4));
            }
        }
        self.close();
    }

    pub(super) fn submission(&mut self, record: &SubmissionRecord) {
        let SubmissionRecord {
            id,
            conversation_id,
            request_id,
            content_hash,
            state,
        } = record;
        self.open();
        self.number("id", id.0);
        self.number("conversationId", conversation_id.0);
        self.optional_string("requestId", request_id.as_deref());
        self.optional_string("contentHash", content_hash.as_deref());
        match state {
            SubmissionState::Input(status) => {
                self.string("type", "input");
                self.input_status(status);
            }
            SubmissionState::Write(status) => {
                self.string("type", "write");
                self.write_status(status);
            }
        }
        self.close();
    }

    fn input_status(&mut self, status: &InputStatus) {
        match status {
            InputStatus::Queued => self.string("status", "queued"),
            InputStatus::Placed { entry } => {
                self.string("status", "placed");
                self.number("entry", entry.0);
            }
            InputStatus::Done { entry, answer } => {
                self.string("status", "done");
                self.number("entry", entry.0);
                self.number("answer", answer.0);
            }
            InputStatus::Unanswered {
                entry,
                reason,
                detail,
            } => {
                self.string("status", "unanswered");
                self.optional_number("entry", entry.map(|entry| entry.0));
                self.string("reason", reason);
                self.optional_member("detail", detail.as_ref(), 1);
            }
        }
    }

    fn write_status(&mut self, status: &WriteStatus) {
        match status {
            WriteStatus::Queued => self.string("status", "queued"),
            WriteStatus::Done { entry } => {
                self.string("status", "done");
                self.number("entry", entry.0);
            }
            WriteStatus::Unanswered { reason, detail } => {
                self.string("status", "unanswered");
                self.string("reason", reason);
                self.optional_member("detail", detail.as_ref(), 1);
            }
        }
    }
}
