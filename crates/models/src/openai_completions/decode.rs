//! The streaming reducer: bytes in, events out, no clock and no network (models.md 12.6).

use super::calls::Calls;
use super::chunk::{object, text};
use super::grammar::GrammarTools;
use super::{reasoning, usage};
use crate::errors::text::{is_truthy, value_text};
use crate::limits::ANSWER_BYTES;
use crate::message::{StopReason, TextContent, ThinkingContent, Timestamp};
use crate::model::Model;
use crate::partial::Partial;
use crate::sse::{SseDecoder, SseEvent};
use crate::stream::{StreamEvent, Update};
use crate::surrogates::{self, Joiner};
use std::rc::Rc;
use tidehold_delta::{Json, Object};

/// Fields that carry thoughts, by precedence; the name of the one in use is the block's signature.
const THOUGHT_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// How a body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// It was complete.
    Complete,
    /// The caller gave up.
    Aborted,
    /// It broke off; the error in one line.
    Failed(String),
}

/// A text or thinking block that is open.
struct OpenText {
    content_index: usize,
    joiner: Joiner,
}

/// The reducer of one answer.
pub struct Decoder {
    model: Rc<Model>,
    grammar_tools: GrammarTools,
    /// Some services never say why they stopped.
    needs_finish_reason: bool,
    sse: SseDecoder,
    partial: Partial,
    blocks: usize,
    text: Option<OpenText>,
    thinking: Option<OpenText>,
    calls: Calls,
    details: Vec<Object>,
    stopping: Option<(StopReason, Option<String>)>,
    has_id: bool,
    has_model: bool,
    bytes: usize,
    finished: bool,
    out: Vec<StreamEvent>,
}

impl Decoder {
    /// A reducer for an answer to a request of this model that started at `timestamp`. Its first event is `Start`.
    pub fn new(
        model: Rc<Model>,
        timestamp: Timestamp,
        needs_finish_reason: bool,
        grammar_tools: GrammarTools,
    ) -> Self {
        let message = model.pending_answer(timestamp);
        let mut decoder = Self {
            model,
            grammar_tools,
            needs_finish_reason,
            sse: SseDecoder::default(),
            partial: Partial::new(),
            blocks: 0,
            text: None,
            thinking: None,
            calls: Calls::default(),
            details: Vec::new(),
            stopping: None,
            has_id: false,
            has_model: false,
            bytes: 0,
            finished: false,
            out: Vec::new(),
        };
        decoder.emit(StreamEvent::Start {
            message: Box::new(message),
        });
        decoder
    }

    /// Whether the terminal event is out; what follows on the wire does not matter.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The events since the last call.
    pub fn take(&mut self) -> Vec<StreamEvent> {
        std::mem::take(&mut self.out)
    }

    /// Takes the next piece of the body.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut events = Vec::new();
        let fed = self.sse.feed(bytes, &mut events);
        self.events(events);
        if let Err(error) = fed {
            self.fail(error.to_string());
        }
    }

    /// The body is over. A broken body ends the answer where it is; the others close its blocks first.
    pub fn finish(&mut self, end: BodyEnd) {
        match end {
            BodyEnd::Complete => {
                let mut events = Vec::new();
                self.sse.finish(&mut events);
                self.events(events);
                self.complete();
            }
            BodyEnd::Aborted if !self.finished => {
                self.close_blocks();
                self.terminate(StopReason::Aborted, Some("Request was aborted".to_owned()));
            }
            BodyEnd::Aborted => {}
            BodyEnd::Failed(text) => self.fail(text),
        }
    }

    fn events(&mut self, events: Vec<SseEvent>) {
        for event in events {
            if self.finished {
                return;
            }
            self.event(&event);
        }
    }

    fn event(&mut self, event: &SseEvent) {
        if event.data.starts_with("[DONE]") {
            return self.complete();
        }
        let Ok(parsed) = surrogates::parse(&event.data) else {
            return self.fail("Error reading response: malformed server-sent event JSON.".to_owned());
        };
        let error = parsed.value.get("error").filter(|error| is_truthy(error));
        if error.is_some() || event.name == "error" {
            let text = stream_error(error.unwrap_or(&parsed.value));
            return self.fail(surrogates::whole(&text, parsed.has_markers));
        }
        self.chunk(&parsed.value, parsed.has_markers);
        if self.bytes > ANSWER_BYTES {
            self.fail(format!("The answer is larger than {ANSWER_BYTES} bytes"));
        }
    }

    fn chunk(&mut self, chunk: &Json, has_markers: bool) {
        if !self.has_id
            && let Some(id) = text(chunk, "id")
        {
            self.has_id = true;
            self.emit(StreamEvent::Update(Update::ResponseId(surrogates::whole(
                id,
                has_markers,
            ))));
        }
        if !self.has_model
            && let Some(name) = text(chunk, "model").filter(|name| *name != self.model.wire_id())
        {
            self.has_model = true;
            self.emit(StreamEvent::Update(Update::ResponseModel(surrogates::whole(
                name,
                has_markers,
            ))));
        }
        let choice = chunk
            .get("choices")
            .and_then(|choices| choices.index(0))
            .unwrap_or(&Json::Null);
        if let Some(reported) = object(chunk, "usage").or_else(|| object(choice, "usage")) {
            let usage = usage::usage(&self.model, reported);
            self.emit(StreamEvent::Update(Update::Usage(Box::new(usage))));
        }
        if let Some(reason) = text(choice, "finish_reason") {
            self.stopping(&surrogates::whole(reason, has_markers));
        }
        if let Some(delta) = object(choice, "delta") {
            self.delta(delta, has_markers);
        }
    }

    fn stopping(&mut self, raw: &str) {
        let (reason, error) = match raw {
            "stop" | "end" => (StopReason::Stop, None),
            "length" => (StopReason::Length, None),
            "tool_calls" | "function_call" => (StopReason::ToolUse, None),
            other => (
                StopReason::Error,
                Some(format!("Provider finish_reason: {other}")),
            ),
        };
        self.stopping = Some((reason, error.clone()));
        self.emit(StreamEvent::Update(Update::Stopping {
            reason,
            raw: raw.to_owned(),
            error,
        }));
    }

    fn delta(&mut self, delta: &Json, has_markers: bool) {
        let thoughts = THOUGHT_FIELDS
            .into_iter()
            .find_map(|field| Some((field, text(delta, field)?)));
        if let Some((field, thoughts)) = thoughts {
            self.thought(field, thoughts, has_markers);
        }
        if let Some(details) = delta.get("reasoning_details") {
            let settled = if has_markers {
                settled(details)
            } else {
                details.clone()
            };
            reasoning::collect(&mut self.details, &settled);
        }
        if let Some(said) = text(delta, "content") {
            self.said(said, has_markers);
        }
        for entry in delta
            .get("tool_calls")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
        {
            let events = self
                .calls
                .entry(entry, has_markers, &self.grammar_tools, self.blocks);
            self.emit_all(events);
        }
    }

    fn said(&mut self, said: &str, has_markers: bool) {
        if self.text.is_none() {
            let content_index = self.blocks;
            self.text = Some(OpenText {
                content_index,
                joiner: Joiner::default(),
            });
            self.emit(StreamEvent::TextStart {
                content_index,
                block: TextContent::default(),
            });
        }
        let Some(OpenText {
            content_index,
            joiner,
        }) = &mut self.text
        else {
            return;
        };
        let event = StreamEvent::TextDelta {
            content_index: *content_index,
            delta: joiner.push(said, has_markers).into_owned(),
        };
        self.emit(event);
    }

    fn thought(&mut self, field: &str, thoughts: &str, has_markers: bool) {
        if self.thinking.is_none() {
            let content_index = self.blocks;
            self.thinking = Some(OpenText {
                content_index,
                joiner: Joiner::default(),
            });
            let block = ThinkingContent {
                thinking_signature: Some(field.to_owned()),
                ..ThinkingContent::default()
            };
            self.emit(StreamEvent::ThinkingStart { content_index, block });
        }
        let Some(OpenText {
            content_index,
            joiner,
        }) = &mut self.thinking
        else {
            return;
        };
        let event = StreamEvent::ThinkingDelta {
            content_index: *content_index,
            delta: joiner.push(thoughts, has_markers).into_owned(),
        };
        self.emit(event);
    }

    /// The provider said everything.
    fn complete(&mut self) {
        if self.finished {
            return;
        }
        self.close_blocks();
        let (reason, error) = self
            .stopping
            .take()
            .unwrap_or_else(|| match self.needs_finish_reason {
                true => (
                    StopReason::Error,
                    Some("Stream ended without finish_reason".to_owned()),
                ),
                false if self.calls.is_empty() => (StopReason::Stop, None),
                false => (StopReason::ToolUse, None),
            });
        self.terminate(reason, error);
    }

    /// Ends every block, in content order.
    fn close_blocks(&mut self) {
        self.sign_thoughts();
        for content_index in 0..self.blocks {
            let is = |open: &&mut OpenText| open.content_index == content_index;
            if let Some(open) = self.text.as_mut().filter(is) {
                let rest = open.joiner.finish();
                self.emit_all(rest.map(|delta| StreamEvent::TextDelta { content_index, delta }));
                self.emit(StreamEvent::TextEnd { content_index });
            } else if let Some(open) = self.thinking.as_mut().filter(is) {
                let rest = open.joiner.finish();
                self.emit_all(rest.map(|delta| StreamEvent::ThinkingDelta { content_index, delta }));
                self.emit(StreamEvent::ThinkingEnd { content_index });
            } else {
                let events = self.calls.finish(content_index);
                self.emit_all(events);
            }
        }
    }

    /// Details replace the field's name as the signature. Details without thoughts get a block of their own, else they
    /// could not be sent back.
    fn sign_thoughts(&mut self) {
        let Some(signature) = reasoning::signature(std::mem::take(&mut self.details)) else {
            return;
        };
        match &self.thinking {
            Some(OpenText { content_index, .. }) => {
                let update = Update::ThinkingSignature {
                    content_index: *content_index,
                    signature,
                };
                self.emit(StreamEvent::Update(update));
            }
            None => {
                let content_index = self.blocks;
                self.thinking = Some(OpenText {
                    content_index,
                    joiner: Joiner::default(),
                });
                let block = ThinkingContent {
                    thinking_signature: Some(signature),
                    ..ThinkingContent::default()
                };
                self.emit(StreamEvent::ThinkingStart { content_index, block });
            }
        }
    }

    /// Ends the answer where it is: open blocks stay open.
    fn fail(&mut self, text: String) {
        if !self.finished {
            self.terminate(StopReason::Error, Some(text));
        }
    }

    fn terminate(&mut self, reason: StopReason, error: Option<String>) {
        let Some(mut message) = std::mem::take(&mut self.partial).into_message() else {
            return;
        };
        message.stop_reason = reason;
        message.error_message = error;
        let message = Box::new(message);
        self.finished = true;
        self.out.push(match reason {
            StopReason::Error | StopReason::Aborted => StreamEvent::Error { message },
            _ => StreamEvent::Done { message },
        });
    }

    fn emit_all(&mut self, events: impl IntoIterator<Item = StreamEvent>) {
        for event in events {
            self.emit(event);
        }
    }

    fn emit(&mut self, event: StreamEvent) {
        if matches!(
            event,
            StreamEvent::TextStart { .. }
                | StreamEvent::ThinkingStart { .. }
                | StreamEvent::ToolCallStart { .. }
        ) {
            self.blocks += 1;
        }
        self.bytes += event.delta_bytes();
        self.partial.apply(&event);
        self.out.push(event);
    }
}

/// The text of an error within the stream, and what a service behind the service said.
pub(super) fn stream_error(error: &Json) -> String {
    with_raw_metadata(value_text(error), error)
}

/// OpenRouter passes on what the service behind it said.
pub(super) fn with_raw_metadata(text: String, error: &Json) -> String {
    let raw = error
        .get("metadata")
        .and_then(|metadata| metadata.get("raw"))
        .filter(|raw| is_truthy(raw));
    let raw = raw.map(|raw| raw.as_str().map_or_else(|| raw.to_string(), str::to_owned));
    match raw {
        Some(raw) if !text.contains(&raw) => format!("{text}\n{raw}"),
        _ => text,
    }
}

/// A value whose halves of surrogate pairs are given up.
fn settled(value: &Json) -> Json {
    crate::json::parse(&surrogates::whole(&value.to_string(), true)).unwrap_or_default()
}
