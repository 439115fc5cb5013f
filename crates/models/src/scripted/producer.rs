//! From a decided answer to its events and pauses: an iterator without a clock.

use super::deferred::deferred_handle;
use super::directive::{Directive, Stop};
use super::pieces::Pieces;
use super::reply::Reply;
use crate::cost::calculate_cost;
use crate::estimate::estimate_answer_tokens;
use crate::message::{
    AssistantMessage, StopReason, TextContent, ThinkingContent, Timestamp, ToolCall, Usage,
};
use crate::model::Model;
use crate::partial::Partial;
use crate::stream::StreamEvent;
use std::collections::VecDeque;
use std::rc::Rc;
use tidehold_delta::Json;

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// An event.
    Event(StreamEvent),
    /// Nothing for so many milliseconds.
    Pause(u64),
}

/// A block that is being written.
enum Writing {
    Text {
        index: usize,
        pieces: Pieces,
    },
    Thinking {
        index: usize,
        pieces: Pieces,
    },
    Call {
        index: usize,
        pieces: Pieces,
        call: Box<ToolCall>,
    },
}

/// Plays a [`Reply`]. Ends after the terminal event.
pub struct Producer {
    model: Rc<Model>,
    reply: Reply,
    timestamp: Timestamp,
    directives: VecDeque<Directive>,
    queue: VecDeque<Output>,
    partial: Partial,
    writing: Option<Writing>,
    /// The text block that further text joins.
    open_text: Option<usize>,
    blocks: usize,
    calls: usize,
    pace: u64,
    usage: Option<(u64, u64)>,
    stop: Option<Stop>,
    finished: bool,
}

impl Producer {
    /// An answer that starts at `timestamp`.
    pub fn new(model: Rc<Model>, mut reply: Reply, timestamp: Timestamp) -> Self {
        let directives = std::mem::take(&mut reply.directives).into();
        let mut producer = Self {
            model,
            reply,
            timestamp,
            directives,
            queue: VecDeque::new(),
            partial: Partial::new(),
            writing: None,
            open_text: None,
            blocks: 0,
            calls: 0,
            pace: 0,
            usage: None,
            stop: None,
            finished: false,
        };
        let message = Box::new(producer.model.pending_answer(timestamp));
        producer.emit(StreamEvent::Start { message });
        producer
    }

    /// Ends the answer because the caller gave up; what was said stays. `None` when it had ended already.
    pub fn abort(&mut self) -> Option<StreamEvent> {
        if self.finished {
            return None;
        }
        self.queue.clear();
        self.fail(StopReason::Aborted, "Request was aborted");
        match self.queue.pop_front() {
            Some(Output::Event(event)) => Some(event),
            _ => None,
        }
    }

    fn emit(&mut self, event: StreamEvent) {
        self.queue.push_back(Output::Event(event));
    }

    fn delta(&mut self, event: StreamEvent) {
        if self.pace > 0 {
            self.queue.push_back(Output::Pause(self.pace));
        }
        self.emit(event);
    }

    /// Writes the next piece of the open block, or closes it.
    fn write(&mut self, mut writing: Writing) {
        let piece = match &mut writing {
            Writing::Text { pieces, .. }
            | Writing::Thinking { pieces, .. }
            | Writing::Call { pieces, .. } => pieces.next(),
        };
        match (writing, piece) {
            (Writing::Text { index, pieces }, Some(delta)) => {
                self.writing = Some(Writing::Text { index, pieces });
                self.delta(StreamEvent::TextDelta {
                    content_index: index,
                    delta,
                });
            }
            (Writing::Thinking { index, pieces }, Some(delta)) => {
                self.writing = Some(Writing::Thinking { index, pieces });
                self.delta(StreamEvent::ThinkingDelta {
                    content_index: index,
                    delta,
                });
            }
            (Writing::Call { index, pieces, call }, Some(delta)) => {
                self.writing = Some(Writing::Call { index, pieces, call });
                self.delta(StreamEvent::ToolCallDelta {
                    content_index: index,
                    delta,
                });
            }
            (Writing::Text { .. }, None) => {}
            (Writing::Thinking { index, .. }, None) => {
                self.emit(StreamEvent::ThinkingEnd { content_index: index })
            }
            (Writing::Call { index, call, .. }, None) => {
                self.emit(StreamEvent::ToolCallEnd {
                    content_index: index,
                    tool_call: call,
                });
            }
        }
    }

    fn begin(&mut self, directive: Directive) {
        match directive {
            Directive::Say(text) => self.begin_text(Pieces::of(text)),
            Directive::Repeat { copies, text } => self.begin_text(Pieces::Copies { text, left: copies }),
            Directive::Think(text) => {
                let index = self.begin_block();
                self.emit(StreamEvent::ThinkingStart {
                    content_index: index,
                    block: ThinkingContent::default(),
                });
                self.writing = Some(Writing::Thinking {
                    index,
                    pieces: Pieces::of(text),
                });
            }
            Directive::Call {
                tool,
                text,
                arguments,
            } => self.begin_call(tool, text, arguments),
            Directive::Wait(milliseconds) => self.queue.push_back(Output::Pause(milliseconds)),
            Directive::Pace(milliseconds) => self.pace = milliseconds,
            Directive::Usage { input, output } => self.usage = Some((input, output)),
            Directive::Stop(stop) => self.stop = Some(stop),
            Directive::Fail(text) => self.fail(StopReason::Error, &text),
            Directive::Overflow => self.fail(StopReason::Error, "400 prompt is too long (scripted overflow)"),
            Directive::Defer(milliseconds) => self.defer(milliseconds),
        }
    }

    /// Consecutive texts share one block: nothing is put between them.
    fn begin_text(&mut self, pieces: Pieces) {
        if pieces.is_empty() {
            return;
        }
        let index = match self.open_text {
            Some(index) => index,
            None => {
                let index = self.begin_block();
                self.open_text = Some(index);
                self.emit(StreamEvent::TextStart {
                    content_index: index,
                    block: TextContent::default(),
                });
                index
            }
        };
        self.writing = Some(Writing::Text { index, pieces });
    }

    fn begin_call(&mut self, tool: String, text: String, arguments: Json) {
        let index = self.begin_block();
        self.calls += 1;
        let mut call = Box::new(ToolCall::open(
            format!("call_{}_{}", self.reply.seed, self.calls),
            tool,
        ));
        self.emit(StreamEvent::ToolCallStart {
            content_index: index,
            block: call.clone(),
        });
        call.arguments = arguments;
        self.writing = Some(Writing::Call {
            index,
            pieces: Pieces::of(text),
            call,
        });
    }

    /// Closes an open text and returns the place of a new block.
    fn begin_block(&mut self) -> usize {
        self.close_text();
        self.blocks += 1;
        self.blocks - 1
    }

    fn close_text(&mut self) {
        if let Some(index) = self.open_text.take() {
            self.emit(StreamEvent::TextEnd { content_index: index });
        }
    }

    /// The script is played out.
    fn finish(&mut self) {
        let reason = match self.stop {
            Some(Stop::Error) => return self.fail(StopReason::Error, "The script stops with an error"),
            Some(Stop::Aborted) => return self.fail(StopReason::Aborted, "Request was aborted"),
            Some(Stop::Length) => StopReason::Length,
            None if self.calls > 0 => StopReason::ToolUse,
            None => StopReason::Stop,
        };
        self.close_text();
        let mut message = self.take_message();
        let (input, output) = self
            .usage
            .unwrap_or_else(|| (self.reply.input_tokens, estimate_answer_tokens(&message)));
        message.usage = usage(&self.model, input, output);
        message.stop_reason = reason;
        self.end(StreamEvent::Done {
            message: Box::new(message),
        });
    }

    fn fail(&mut self, reason: StopReason, text: &str) {
        let mut message = self.take_message();
        if let Some((input, output)) = self.usage {
            message.usage = usage(&self.model, input, output);
        }
        message.stop_reason = reason;
        message.error_message = Some(text.to_owned());
        self.end(StreamEvent::Error {
            message: Box::new(message),
        });
    }

    /// Answers with a handle. What was said before the line was said in vain: like a provider's, a deferred message
    /// has no content, and the fetched answer is the whole block.
    fn defer(&mut self, milliseconds: u64) {
        let mut message = self.model.pending_answer(self.timestamp);
        message.stop_reason = StopReason::Deferred;
        message.deferred = Some(deferred_handle(
            &self.model,
            &self.reply,
            self.timestamp,
            milliseconds,
        ));
        self.end(StreamEvent::Done {
            message: Box::new(message),
        });
    }

    fn take_message(&mut self) -> AssistantMessage {
        let partial = std::mem::take(&mut self.partial);
        partial
            .into_message()
            .unwrap_or_else(|| self.model.pending_answer(self.timestamp))
    }

    fn end(&mut self, event: StreamEvent) {
        self.finished = true;
        self.queue.push_back(Output::Event(event));
    }
}

impl Iterator for Producer {
    type Item = Output;

    fn next(&mut self) -> Option<Output> {
        loop {
            if let Some(output) = self.queue.pop_front() {
                // Only what was handed out counts as said, so an abort within a pause ends with what was seen.
                if let Output::Event(event) = &output
                    && !event.is_terminal()
                {
                    self.partial.apply(event);
                }
                return Some(output);
            }
            if self.finished {
                return None;
            }
            match (self.writing.take(), self.directives.is_empty()) {
                (Some(writing), _) => self.write(writing),
                (None, false) => {
                    if let Some(directive) = self.directives.pop_front() {
                        self.begin(directive);
                    }
                }
                (None, true) => self.finish(),
            }
        }
    }
}

fn usage(model: &Model, input: u64, output: u64) -> Usage {
    let mut usage = Usage {
        input,
        output,
        total_tokens: input.saturating_add(output),
        ..Usage::zero()
    };
    usage.cost = calculate_cost(model, &usage);
    usage
}
