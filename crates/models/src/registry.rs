//! The product's [`Models`]: a catalog, and an adapter for each wire format.

use crate::catalog::Catalog;
use crate::message::{AssistantMessage, DeferredHandle, StopReason, Timestamp};
use crate::model::{Api, Model};
use crate::models::{Models, StreamRequest};
use crate::openai_completions::request::ApiKey;
use crate::stream::StreamEvent;
use crate::transport::Transport;
use crate::{openai_completions, scripted};
use futures::future::{LocalBoxFuture, ready};
use futures::stream::{LocalBoxStream, StreamExt, once};
use std::rc::Rc;
use tidehold_session::host::Host;
use tidehold_session::signal::AbortSignal;

/// Finds a secret by the name the configuration gives it.
pub type Secrets = Rc<dyn Fn(&str) -> Option<String>>;

/// Catalog, transport, clock and secrets of one session.
#[derive(Clone)]
pub struct ModelRegistry {
    catalog: Rc<Catalog>,
    transport: Rc<dyn Transport>,
    host: Rc<dyn Host>,
    secrets: Secrets,
}

impl ModelRegistry {
    /// A registry over these parts.
    pub fn new(
        catalog: Rc<Catalog>,
        transport: Rc<dyn Transport>,
        host: Rc<dyn Host>,
        secrets: Secrets,
    ) -> Self {
        Self {
            catalog,
            transport,
            host,
            secrets,
        }
    }

    /// The models it knows.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Whether a provider is configured and its key, if it takes one, is there.
    pub fn has_key(&self, provider: &str) -> bool {
        self.catalog.provider(provider).is_some() && self.key(provider) != ApiKey::Missing
    }

    fn key(&self, provider: &str) -> ApiKey {
        match self
            .catalog
            .provider(provider)
            .and_then(|provider| provider.key_secret.as_deref())
        {
            None => ApiKey::Unneeded,
            Some(secret) => match (self.secrets)(secret).filter(|key| !key.is_empty()) {
                Some(key) => ApiKey::Key(key),
                None => ApiKey::Missing,
            },
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::try_from(self.host.now()).unwrap_or(Timestamp::MAX)
    }
}

impl Models for ModelRegistry {
    fn model(&self, provider: &str, id: &str) -> Option<Rc<Model>> {
        self.catalog.model(provider, id)
    }

    fn stream(&self, request: StreamRequest) -> LocalBoxStream<'static, StreamEvent> {
        let events = match request.model.api {
            Api::Scripted => scripted::stream(request, Rc::clone(&self.host)),
            Api::OpenaiCompletions => {
                let key = self.key(&request.model.provider);
                openai_completions::stream(request, key, Rc::clone(&self.transport), Rc::clone(&self.host))
            }
            Api::AnthropicMessages => {
                let text = format!("Provider {} has no API implementation", request.model.provider);
                let message = request.model.failed_answer(self.now(), StopReason::Error, &text);
                once(ready(StreamEvent::Error {
                    message: Box::new(message),
                }))
                .boxed_local()
            }
        };
        timed(events, Rc::clone(&self.host))
    }

    fn fetch_deferred(
        &self,
        model: Rc<Model>,
        handle: &DeferredHandle,
        signal: AbortSignal,
    ) -> LocalBoxFuture<'static, AssistantMessage> {
        let message = if signal.is_aborted() {
            model.failed_answer(self.now(), StopReason::Aborted, "Request aborted")
        } else if model.api == Api::Scripted {
            scripted::fetch(&model, handle, self.now())
        } else {
            model.failed_answer(self.now(), StopReason::Error, &no_deferred(&model))
        };
        Box::pin(ready(message))
    }

    fn cancel_deferred(
        &self,
        model: Rc<Model>,
        handle: &DeferredHandle,
        _signal: AbortSignal,
    ) -> LocalBoxFuture<'static, Result<(), String>> {
        let result = match model.api {
            Api::Scripted => scripted::cancel(handle),
            _ => Err(no_deferred(&model)),
        };
        Box::pin(ready(result))
    }
}

fn no_deferred(model: &Model) -> String {
    format!("Provider {} does not support deferred responses", model.provider)
}

/// Stamps the terminal message with the time the answer took.
fn timed(
    events: LocalBoxStream<'static, StreamEvent>,
    host: Rc<dyn Host>,
) -> LocalBoxStream<'static, StreamEvent> {
    let started = host.now();
    let stamp = move |mut event: StreamEvent| {
        if let StreamEvent::Done { message } | StreamEvent::Error { message } = &mut event {
            message.duration_ms = Some(host.now().saturating_sub(started));
        }
        event
    };
    events.map(stamp).boxed_local()
}
