//! Deferred script answers. The handle carries all it takes to answer, so nothing is kept anywhere else.

use super::directive::Directive;
use super::producer::{Output, Producer};
use super::reply::Reply;
use super::script::parse_script;
use crate::hash::short_hash;
use crate::limits::SCRIPT_POLL_MS;
use crate::message::{AssistantMessage, DeferredHandle, StopReason, Timestamp};
use crate::model::Model;
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{FromJson, Json};

/// `DeferredHandle::data`.
#[derive(Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
struct DeferredData {
    script: String,
    ordinal: u32,
    seed: String,
    input_tokens: u64,
    requested_at: Timestamp,
    ready_at: Timestamp,
}

/// The handle of an answer that is ready `milliseconds` after the request.
pub(super) fn deferred_handle(
    model: &Model,
    reply: &Reply,
    now: Timestamp,
    milliseconds: u64,
) -> DeferredHandle {
    let data = DeferredData {
        script: reply.source.clone(),
        ordinal: reply.ordinal,
        seed: reply.seed.clone(),
        input_tokens: reply.input_tokens,
        requested_at: now,
        ready_at: now.saturating_add_unsigned(milliseconds),
    };
    DeferredHandle {
        provider: model.provider.clone(),
        model_id: model.id.clone(),
        api: model.api.name().to_owned(),
        id: format!("deferred_{}", short_hash(&format!("{} {now}", reply.seed))),
        expires_at: None,
        poll_after_ms: Some(milliseconds.min(SCRIPT_POLL_MS)),
        data: Json::from_serialize(&data).ok(),
    }
}

/// The answer behind a handle at `now`: still deferred, or the whole block without its pauses and `@defer` lines.
/// Its timestamp is that of the request.
pub fn fetch(model: &Rc<Model>, handle: &DeferredHandle, now: Timestamp) -> AssistantMessage {
    let data = handle
        .data
        .as_ref()
        .and_then(|data| data.to_typed::<DeferredData>().ok());
    let block = data
        .as_ref()
        .and_then(|data| parse_script(&data.script).ok())
        .map(|script| script.block(0));
    let (Some(data), Some(block)) = (data, block) else {
        let text = format!("Unknown deferred response: {}", handle.id);
        return model.failed_answer(now, StopReason::Error, &text);
    };
    if now < data.ready_at {
        let mut message = model.pending_answer(data.requested_at);
        message.stop_reason = StopReason::Deferred;
        message.deferred = Some(handle.clone());
        return message;
    }
    let mut directives = block.for_attempt(data.ordinal);
    directives.retain(|directive| !matches!(directive, Directive::Defer(_)));
    let reply = Reply {
        directives,
        source: data.script,
        ordinal: data.ordinal,
        seed: data.seed,
        input_tokens: data.input_tokens,
    };
    let outputs = Producer::new(Rc::clone(model), reply, data.requested_at);
    let terminal = outputs.filter_map(|output| match output {
        Output::Event(event) => event.into_terminal(),
        Output::Pause(_) => None,
    });
    terminal
        .last()
        .unwrap_or_else(|| model.pending_answer(data.requested_at))
}

/// Giving up on a deferred script answer: there is nothing to tell anybody.
pub fn cancel(_handle: &DeferredHandle) -> Result<(), String> {
    Ok(())
}
