//! Tool results directly after their assistant, one per call (rules 6 to 8).

use super::message::{self, Call, Role};
use std::collections::{HashMap, VecDeque};
use tidehold_delta::{Json, Text};

/// Orders messages as they arrive. Everything before the newest assistant is final.
#[derive(Default)]
pub(super) struct Pairing {
    done: Vec<Json>,
    open: Option<Window>,
}

impl Pairing {
    pub fn push(&mut self, message: Json) {
        match (message::role(&message), &mut self.open) {
            (Role::Assistant, _) => {
                self.close();
                self.open = Some(Window::new(message));
            }
            (Role::ToolResult, Some(window)) => window.answer(message),
            // No assistant precedes it (a head or a fork cut its call off): providers refuse a result without a call.
            (Role::ToolResult, None) => {}
            (_, Some(window)) => window.rest.push(message),
            (_, None) => self.done.push(message),
        }
    }

    /// All messages in order, the calls of the newest assistant answered too.
    pub fn messages(&self) -> Vec<Json> {
        let mut messages = self.done.clone();
        if let Some(window) = &self.open {
            window.write_to(&mut messages);
        }
        messages
    }

    fn close(&mut self) {
        if let Some(window) = self.open.take() {
            window.write_to(&mut self.done);
        }
    }
}

/// An assistant message and what follows it before the next one.
///
/// Pairing looks no further than this window: ids may repeat across turns, and a result belongs to the assistant it
/// follows.
struct Window {
    assistant: Json,
    /// The calls in order, each with its result once found.
    calls: Vec<(Call, Option<Json>)>,
    /// Indexes into `calls` still without a result, by call id: the first result of an id counts, a further one has no
    /// call left and is dropped. An assistant that uses one id for several calls gets its results one for each.
    open: HashMap<Text, VecDeque<usize>>,
    /// User and system messages between the assistant and the next, which the results overtake.
    rest: Vec<Json>,
}

impl Window {
    fn new(assistant: Json) -> Self {
        let calls = message::calls(&assistant);
        let mut open = HashMap::<Text, VecDeque<usize>>::with_capacity(calls.len());
        for (index, call) in calls.iter().enumerate() {
            open.entry(call.id.clone()).or_default().push_back(index);
        }
        let calls = calls.into_iter().map(|call| (call, None)).collect();
        Self {
            assistant,
            calls,
            open,
            rest: Vec::new(),
        }
    }

    fn answer(&mut self, result: Json) {
        let index = message::answered_call(&result)
            .and_then(|id| self.open.get_mut(id))
            .and_then(VecDeque::pop_front);
        if let Some((_, answer)) = index.and_then(|index| self.calls.get_mut(index)) {
            *answer = Some(result);
        }
    }

    fn write_to(&self, messages: &mut Vec<Json>) {
        let results = self.calls.iter().map(|(call, answer)| match answer {
            Some(answer) => answer.clone(),
            None => message::missing_result(&self.assistant, call),
        });
        messages.push(self.assistant.clone());
        messages.extend(results);
        messages.extend(self.rest.iter().cloned());
    }
}
