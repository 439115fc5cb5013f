//! The tool calls of an answer while they arrive.

use super::chunk::{object, text};
use super::grammar::{GrammarInput, GrammarTools};
use crate::message::ToolCall;
use crate::stream::{StreamEvent, Update};
use crate::surrogates::{self, Joiner};
use crate::tool_arguments::parse_tool_call_arguments;
use tidehold_delta::Json;

/// All calls of one answer, in the order they opened.
#[derive(Default)]
pub(super) struct Calls(Vec<Call>);

struct Call {
    /// The provider's number of the call, where it has one.
    number: Option<u64>,
    content_index: usize,
    id: String,
    name: String,
    /// The JSON text of the arguments so far.
    text: String,
    joiner: Joiner,
    grammar: Option<GrammarInput>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes one entry of `tool_calls`. A call it opens gets `next_index`.
    pub(super) fn entry(
        &mut self,
        entry: &Json,
        has_markers: bool,
        tools: &GrammarTools,
        next_index: usize,
    ) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        let number = entry.get("index").and_then(Json::as_u64);
        let custom = object(entry, "custom");
        let said = custom
            .or_else(|| object(entry, "function"))
            .unwrap_or(&Json::Null);
        let id = surrogates::whole(text(entry, "id").unwrap_or_default(), has_markers);
        let name = surrogates::whole(text(said, "name").unwrap_or_default(), has_markers);
        let place = self.find(number, &id, &name).unwrap_or_else(|| {
            let is_custom = custom.is_some() || text(entry, "type") == Some("custom");
            let call = Call {
                number,
                content_index: next_index,
                grammar: is_custom.then(|| GrammarInput::new(tools, &name)),
                id: id.clone(),
                name: name.clone(),
                text: String::new(),
                joiner: Joiner::default(),
            };
            let block = Box::new(call.opened());
            events.push(StreamEvent::ToolCallStart {
                content_index: next_index,
                block,
            });
            self.0.push(call);
            self.0.len() - 1
        });
        if let Some(call) = self.0.get_mut(place) {
            call.name_late(id, name, &mut events);
            let piece = said.get(if custom.is_some() { "input" } else { "arguments" });
            events.push(call.piece(piece, has_markers));
        }
        events
    }

    /// By number, else by id. An entry that says neither, nor a name, continues the last call.
    fn find(&self, number: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let by_number = || {
            self.0
                .iter()
                .position(|call| number.is_some() && call.number == number)
        };
        let by_id = || self.0.iter().position(|call| !id.is_empty() && call.id == id);
        let anonymous = number.is_none() && id.is_empty() && name.is_empty();
        let last = || {
            if anonymous {
                self.0.len().checked_sub(1)
            } else {
                None
            }
        };
        by_number().or_else(by_id).or_else(last)
    }

    /// The events that end the call at `content_index`; none when it is no call.
    pub(super) fn finish(&mut self, content_index: usize) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        if let Some(call) = self.0.iter_mut().find(|call| call.content_index == content_index) {
            call.finish(&mut events);
        }
        events
    }
}

impl Call {
    fn opened(&self) -> ToolCall {
        let mut block = ToolCall::open(self.id.clone(), self.name.clone());
        if let Some(grammar) = &self.grammar {
            block.arguments = grammar.empty_arguments();
        }
        block
    }

    /// Some services send id and name only with a later piece.
    fn name_late(&mut self, id: String, name: String, events: &mut Vec<StreamEvent>) {
        let content_index = self.content_index;
        if self.id.is_empty() && !id.is_empty() {
            self.id.clone_from(&id);
            events.push(StreamEvent::Update(Update::ToolCallId { content_index, id }));
        }
        if self.name.is_empty() && !name.is_empty() {
            self.name.clone_from(&name);
            events.push(StreamEvent::Update(Update::ToolCallName { content_index, name }));
        }
    }

    /// Every entry is an event, also one that brings no text.
    fn piece(&mut self, piece: Option<&Json>, has_markers: bool) -> StreamEvent {
        let said = match piece {
            Some(Json::String(text)) => self.joiner.push(text, has_markers).into_owned(),
            Some(value) if value.is_container() => value.to_string(),
            _ => String::new(),
        };
        self.delta(said)
    }

    fn delta(&mut self, said: String) -> StreamEvent {
        let delta = match &mut self.grammar {
            Some(grammar) => grammar.delta(&said),
            None => said,
        };
        self.text.push_str(&delta);
        StreamEvent::ToolCallDelta {
            content_index: self.content_index,
            delta,
        }
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) {
        if let Some(rest) = self.joiner.finish() {
            events.push(self.delta(rest));
        }
        if let Some(grammar) = &mut self.grammar {
            let delta = grammar.close();
            self.text.push_str(&delta);
            events.push(StreamEvent::ToolCallDelta {
                content_index: self.content_index,
                delta,
            });
        }
        let finished = parse_tool_call_arguments(&self.text);
        let mut tool_call = Box::new(ToolCall::open(self.id.clone(), self.name.clone()));
        tool_call.arguments = finished.arguments;
        tool_call.arguments_error = finished.error;
        events.push(StreamEvent::ToolCallEnd {
            content_index: self.content_index,
            tool_call,
        });
    }
}
