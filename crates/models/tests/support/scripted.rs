//! A registry with one scripted model over a virtual clock.
#![allow(dead_code)]

use crate::support::VirtualHost;
use futures::StreamExt;
use std::rc::Rc;
use tidehold_delta::{Json, json};
use tidehold_models::catalog::Catalog;
use tidehold_models::message::{AssistantMessage, DeferredHandle, Message};
use tidehold_models::models::{Models, RequestPurpose, StreamOptions, StreamRequest};
use tidehold_models::partial::Partial;
use tidehold_models::registry::ModelRegistry;
use tidehold_models::stream::StreamEvent;
use tidehold_models::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use tidehold_session::host::Host;
use tidehold_session::signal::AbortSignal;

struct NoTransport;

impl Transport for NoTransport {
    fn send(
        &self,
        _request: HttpRequest,
        _signal: AbortSignal,
    ) -> futures::future::LocalBoxFuture<'static, Result<HttpResponse, TransportError>> {
        unreachable!("a script needs no network");
    }
}

pub struct Bench {
    pub host: VirtualHost,
    pub registry: ModelRegistry,
}

pub struct Answer {
    pub events: Vec<StreamEvent>,
    pub message: AssistantMessage,
    pub took: u64,
}

impl Bench {
    pub fn new() -> Self {
        let host = VirtualHost::new();
        let config = json!({ "scripted": { "api": "scripted", "models": { "echo": {} } } });
        let catalog = Rc::new(Catalog::from_config(&config, "providers").expect("a valid configuration"));
        let registry = ModelRegistry::new(
            catalog,
            Rc::new(NoTransport),
            Rc::new(host.clone()),
            Rc::new(|_| None),
        );
        Self { host, registry }
    }

    pub fn request(&self, messages: Vec<Message>, ordinal: u32) -> StreamRequest {
        StreamRequest {
            model: self
                .registry
                .model("scripted", "echo")
                .expect("a configured model"),
            messages,
            options: StreamOptions::default(),
            purpose: RequestPurpose::Answer,
            ordinal,
            signal: AbortSignal::default(),
        }
    }

    pub fn ask(&self, request: StreamRequest) -> Answer {
        let started = self.host.now();
        let events: Vec<StreamEvent> = self.host.run(self.registry.stream(request).collect());
        let mut partial = Partial::new();
        for event in &events {
            partial.apply(event);
        }
        let message = events
            .last()
            .cloned()
            .and_then(StreamEvent::into_terminal)
            .expect("a terminal event");
        let before: Vec<StreamEvent> = events
            .iter()
            .filter(|event| !event.is_terminal())
            .cloned()
            .collect();
        assert_eq!(before.len() + 1, events.len(), "one terminal event, last");
        Answer {
            events,
            message,
            took: self.host.now() - started,
        }
    }

    pub fn prompt(&self, text: &str) -> Answer {
        self.attempt(text, 1)
    }

    pub fn attempt(&self, text: &str, ordinal: u32) -> Answer {
        self.ask(self.request(vec![Message::user(text, 1)], ordinal))
    }

    pub fn fetch(&self, handle: &DeferredHandle) -> AssistantMessage {
        let model = self
            .registry
            .model("scripted", "echo")
            .expect("a configured model");
        self.host.run(
            self.registry
                .fetch_deferred(model, handle, AbortSignal::default()),
        )
    }
}

pub fn deltas(answer: &Answer) -> Vec<&str> {
    answer
        .events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        })
        .collect()
}

pub fn tool_result(call: &str) -> Message {
    let value = json!({
        "role": "toolResult", "toolCallId": call, "toolName": "t", "content": [{ "type": "text", "text": "r" }],
        "isError": false, "timestamp": 2
    });
    value.to_typed().expect("a tool result")
}

pub fn calls(message: &AssistantMessage) -> Vec<(String, Json)> {
    message
        .tool_calls()
        .map(|call| (call.name.clone(), call.arguments.clone()))
        .collect()
}
