//! Errors that a later attempt may not meet (models.md 4.3).

use super::pattern::Part::{Alone, AnyMaybe, Either, Maybe, NoDigit, NonSpaces, Spaces, Text};
use super::pattern::Underscore::{Boundary, Letter};
use super::pattern::{Part, any_found};
use crate::message::{AssistantMessage, StopReason};

/// Limits that time does not lift soon: no retry, whatever else the text says.
const NEVER: &[&[Part]] = &[
    &[Text("gousagelimiterror")],
    &[Text("freeusagelimiterror")],
    &[Text("monthly usage limit reached")],
    &[Text("available balance")],
    &[Text("insufficient_quota")],
    &[Text("out of budget")],
    &[Text("quota exceeded")],
    &[Text("billing")],
    &[Text("subscription_sharing_usage_limit_exceeded")],
    &[Text(
        "subscription_sharing_workplace_individual_usage_limit_exceeded",
    )],
    &[
        Text("\"code\""),
        Spaces,
        Text(":"),
        Spaces,
        Maybe(&[Text("\"")]),
        Text("1308"),
        NoDigit,
    ],
];

const RETRY: &[&[Part]] = &[
    &[Text("overloaded")],
    &[Text("server_busy")],
    &[Text("servers are currently busy")],
    &[Text("currently experiencing high demand")],
    &[Text("model is at capacity")],
    &[Text("rate"), AnyMaybe, Text("limit")],
    &[Text("too many requests")],
    &[Alone(
        &["429", "500", "502", "503", "504", "520", "524"],
        Boundary,
    )],
    &[
        Text("service"),
        AnyMaybe,
        Maybe(&[Text("is"), AnyMaybe]),
        Maybe(&[Text("temporarily"), AnyMaybe]),
        Text("unavailable"),
    ],
    &[Text("server"), AnyMaybe, Text("error")],
    &[Text("internal"), AnyMaybe, Text("error")],
    &[
        Text("provider"),
        AnyMaybe,
        Text("returned"),
        AnyMaybe,
        Maybe(&[Text("an"), AnyMaybe]),
        Text("error"),
    ],
    &[Text("exceeded request buffer limit while retrying upstream")],
    &[Text("unable to forward upstream")],
    &[
        Text("upstream"),
        AnyMaybe,
        Text("request"),
        AnyMaybe,
        Text("failed"),
    ],
    &[Text("upstream_stream_read_error")],
    &[Text("stream was interrupted")],
    &[Text("http"), Maybe(&[Text("/")]), Text("2 stream failed")],
    &[Text("network"), AnyMaybe, Text("error")],
    &[
        Text("connection"),
        AnyMaybe,
        Either(&["error", "refused", "lost", "closed"]),
    ],
    &[Text("other side closed")],
    &[Text("fetch failed")],
    &[Text("request to "), NonSpaces, Text(" failed, reason:")],
    &[Text("getaddrinfo")],
    &[Alone(
        &["econnreset", "econnaborted", "econnrefused", "etimedout", "epipe"],
        Letter,
    )],
    &[Text("connection reset by peer")],
    &[Text("enotfound")],
    &[Text("eai_again")],
    &[Text("upstream"), AnyMaybe, Text("connect")],
    &[Text("reset before headers")],
    &[Text("socket hang up")],
    &[Text("socket connection was closed")],
    &[Text("time"), Maybe(&[Text("d")]), Text(" out")],
    &[Text("timeout")],
    &[Text("terminated")],
    &[Text("websocket"), AnyMaybe, Either(&["closed", "error"])],
    &[
        Text("websocket"),
        AnyMaybe,
        Text("connection"),
        AnyMaybe,
        Text("limit"),
        AnyMaybe,
        Text("reached"),
    ],
    &[Text("ended without")],
    &[Text("stream ended before message_stop")],
    &[Text("stream ended before a terminal response event")],
    &[Text("http2 request did not get a response")],
    &[Text("stream disconnected before completion")],
    &[Text("cut short after the reply had begun")],
    &[Text("pending stream has been canceled")],
    &[Text("retry delay")],
    &[Text("you can retry your request")],
    &[Text("try your request again")],
    &[Text("please retry your request")],
    &[Text("resourceexhausted")],
    &[Text("subscription_sharing_usage_unavailable")],
    &[Text("subscription_sharing_user_unavailable")],
];

/// Whether a failed message may succeed when it is asked for again. Check [`super::is_context_overflow`] first: the
/// two overlap.
pub fn is_retryable_assistant_error(message: &AssistantMessage) -> bool {
    message.stop_reason == StopReason::Error
        && message.error_message.as_deref().is_some_and(is_retryable_text)
}

/// The same for an error text.
pub fn is_retryable_text(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !any_found(NEVER, &lower) && any_found(RETRY, &lower)
}
