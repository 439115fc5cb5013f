//! What a change of `pi.live` means in events: partial messages, waits, runs and tools (spec 9.4). Pure.

use super::derive::event;
use tidehold_delta::{Json, Op, Segment};
use tidehold_session::ids::EntryId;
use tidehold_session::records::EntryRecord;

/// One committed change of the live document.
pub(super) struct LiveChange<'a> {
    pub before: Json,
    pub after: Json,
    pub ops: &'a [Op],
}

impl LiveChange<'_> {
    pub fn message_before(&self) -> Option<&Json> {
        self.before.get("generation")?.get("message")
    }

    fn message_after(&self) -> Option<&Json> {
        self.after.get("generation")?.get("message")
    }
}

/// `message_start` of a first partial, or `message_update` of a known one.
pub(super) fn partial_events(live: &LiveChange<'_>, events: &mut Vec<Json>) {
    match (live.message_before(), live.message_after()) {
        (None, Some(message)) => events.push(event("message_start", [("message", message.clone())])),
        (Some(before), Some(after)) => {
            let touched = live.ops.iter().any(|op| under_message(op).is_some());
            if touched {
                let usage = after.get("usage").cloned().unwrap_or(Json::Null);
                let changes = Json::array(message_changes(live.ops, before, after));
                events.push(event("message_update", [("usage", usage), ("changes", changes)]));
            }
        }
        // Every built-in path that clears a partial appends its entry, which ends the message.
        (_, None) => {}
    }
}

/// The operation's path below `generation.message`; `None` when it is elsewhere. An operation at or above the message
/// has an empty path.
fn under_message(op: &Op) -> Option<&[Segment]> {
    const PREFIX: [&str; 2] = ["generation", "message"];
    let Some(path) = op.path() else { return Some(&[]) };
    let shared = path
        .iter()
        .zip(PREFIX)
        .take_while(|(segment, name)| is_key(segment, name))
        .count();
    if shared == PREFIX.len() {
        path.get(shared..)
    } else if shared == path.len() {
        Some(&[])
    } else {
        None
    }
}

fn is_key(segment: &Segment, name: &str) -> bool {
    matches!(segment, Segment::Key(key) if &**key == name)
}

fn message_changes(ops: &[Op], before: &Json, after: &Json) -> Vec<Json> {
    let known = content_len(before);
    let mut changes = Vec::new();
    // Blocks already sent whole in this batch hold its later changes too.
    let mut whole: Vec<u64> = Vec::new();
    for op in ops {
        let Some(path) = under_message(op) else { continue };
        match path {
            [] => return vec![whole_message(after)],
            [only] if is_key(only, "content") => match op {
                Op::Splice {
                    index,
                    remove: 0,
                    items,
                    ..
                } if *index as usize >= known => {
                    for offset in 0..items.len() as u64 {
                        push_start(&mut changes, &mut whole, after, index + offset);
                    }
                }
                _ => return vec![whole_message(after)],
            },
            [first, Segment::Index(index)] if is_key(first, "content") => {
                if *index as usize >= known && matches!(op, Op::Set(..)) {
                    push_start(&mut changes, &mut whole, after, *index);
                } else {
                    push_block(&mut changes, &mut whole, after, *index);
                }
            }
            [first, Segment::Index(index), rest @ ..] if is_key(first, "content") => {
                if whole.contains(index) {
                    continue;
                }
                match delta(op, *index, rest) {
                    Some(change) => changes.push(change),
                    None => push_block(&mut changes, &mut whole, after, *index),
                }
            }
            [first, ..] if is_key(first, "usage") => {}
            _ => {}
        }
    }
    changes
}

fn content_len(message: &Json) -> usize {
    message
        .get("content")
        .and_then(Json::as_array)
        .map_or(0, |content| content.len())
}

fn whole_message(after: &Json) -> Json {
    event("message", [("message", after.clone())])
}

fn block_at(after: &Json, index: u64) -> Json {
    let content = after.get("content");
    content
        .and_then(|content| content.index(index as usize))
        .cloned()
        .unwrap_or(Json::Null)
}

fn push_start(changes: &mut Vec<Json>, whole: &mut Vec<u64>, after: &Json, index: u64) {
    let block = block_at(after, index);
    let kind = match block.get("type").and_then(Json::as_str) {
        Some("thinking") => "thinking_start",
        Some("toolCall") => "toolcall_start",
        _ => "text_start",
    };
    changes.push(event(
        kind,
        [("contentIndex", Json::from(index)), ("block", block)],
    ));
    whole.push(index);
}

fn push_block(changes: &mut Vec<Json>, whole: &mut Vec<u64>, after: &Json, index: u64) {
    if !whole.contains(&index) {
        changes.push(event(
            "block",
            [
                ("contentIndex", Json::from(index)),
                ("block", block_at(after, index)),
            ],
        ));
        whole.push(index);
    }
}

/// An append to a block's text, thinking or a string inside its arguments.
fn delta(op: &Op, index: u64, rest: &[Segment]) -> Option<Json> {
    let Op::Append(_, text) = op else { return None };
    let index = ("contentIndex", Json::from(index));
    let text = ("delta", Json::String(text.clone()));
    match rest {
        [only] if is_key(only, "text") => Some(event("text_delta", [index, text])),
        [only] if is_key(only, "thinking") => Some(event("thinking_delta", [index, text])),
        [first, path @ ..] if is_key(first, "arguments") => {
            let path = Json::array(path.iter().map(|segment| match segment {
                Segment::Key(key) => Json::String(key.clone()),
                Segment::Index(at) => Json::from(*at),
            }));
            Some(event("toolcall_delta", [index, ("path", path), text]))
        }
        _ => None,
    }
}

/// Retry and deferred waits that appear, move or go.
pub(super) fn wait_events(live: &LiveChange<'_>, events: &mut Vec<Json>) {
    let attempt = |value: &Json| {
        value
            .get("generation")
            .and_then(|it| it.get("attempt"))
            .cloned()
            .unwrap_or_else(|| Json::from(0_u64))
    };
    let member = |value: &Json, name: &str| value.get("generation").and_then(|it| it.get(name)).cloned();
    match (member(&live.before, "retry"), member(&live.after, "retry")) {
        (None, Some(retry)) => events.push(event(
            "auto_retry_start",
            [
                ("attempt", attempt(&live.after)),
                ("at", retry.get("at").cloned().unwrap_or(Json::Null)),
                ("errorMessage", retry.get("error").cloned().unwrap_or(Json::Null)),
            ],
        )),
        (Some(_), None) => events.push(event("auto_retry_end", [("attempt", attempt(&live.before))])),
        _ => {}
    }
    let poll_at = |value: &Json| member(value, "deferred").and_then(|it| it.get("pollAt").cloned());
    if let Some(at) = poll_at(&live.after)
        && poll_at(&live.before).as_ref() != Some(&at)
    {
        events.push(event("deferred_poll", [("pollAt", at)]));
    }
}

/// Runs that ended and started with this change.
#[derive(Default)]
pub(super) struct RunEvents {
    pub ended: Option<Json>,
    pub started: Option<Json>,
}

/// A run is the same one while its first input is: steers that join and handovers between tasks are no run events.
pub(super) fn run_events(live: &LiveChange<'_>) -> RunEvents {
    let inputs = |value: &Json| value.get("run").and_then(|run| run.get("inputs")).cloned();
    let first = |inputs: &Option<Json>| inputs.as_ref().and_then(|list| list.index(0)).cloned();
    let (before, after) = (inputs(&live.before), inputs(&live.after));
    if before.is_some() == after.is_some() && first(&before) == first(&after) {
        return RunEvents::default();
    }
    RunEvents {
        ended: before.map(|inputs| event("run_end", [("inputs", inputs)])),
        started: after.map(|inputs| event("run_start", [("inputs", inputs)])),
    }
}

/// A tool slot that became done.
pub(super) struct EndedTool {
    call_id: Json,
    name: Json,
    task_id: Option<Json>,
    pub entry: Option<EntryId>,
}

impl EndedTool {
    pub fn event(self, entry: Option<&EntryRecord>) -> Json {
        let members = [("toolCallId", self.call_id), ("toolName", self.name)];
        let task = self.task_id.map(|id| ("taskId", id));
        let entry = entry.map(|entry| ("entry", crate::view::entry(entry)));
        let kind = ("type", Json::from("tool_execution_end"));
        Json::object(std::iter::once(kind).chain(members).chain(task).chain(entry))
    }
}

pub(super) fn ended_tools(live: &LiveChange<'_>) -> Vec<EndedTool> {
    let slots = |value: &Json| -> Vec<Json> {
        value
            .get("tools")
            .and_then(Json::as_array)
            .map(|slots| slots.iter().cloned().collect())
            .unwrap_or_default()
    };
    let is_done = |slot: &Json| slot.get("status").and_then(Json::as_str) == Some("done");
    let was_done = slots(&live.before);
    slots(&live.after)
        .into_iter()
        .filter(|slot| is_done(slot))
        .filter(|slot| {
            !was_done
                .iter()
                .any(|known| is_done(known) && known.get("callId") == slot.get("callId"))
        })
        .map(|slot| EndedTool {
            call_id: slot.get("callId").cloned().unwrap_or(Json::Null),
            name: slot.get("name").cloned().unwrap_or(Json::Null),
            task_id: slot.get("taskId").cloned(),
            entry: slot.get("entry").and_then(Json::as_u64).map(EntryId),
        })
        .collect()
}
