//! The scripted model, end to end over a virtual clock: every directive of docs/http.md.

mod support;

use futures::StreamExt;
use std::rc::Rc;
use support::{START, VirtualHost};
use tidehold_delta::{Json, json};
use tidehold_models::catalog::Catalog;
use tidehold_models::errors::{is_context_overflow, is_retryable_assistant_error};
use tidehold_models::message::{AssistantBlock, AssistantMessage, DeferredHandle, Message, StopReason};
use tidehold_models::models::{Models, RequestPurpose, StreamOptions, StreamRequest};
use tidehold_models::partial::Partial;
use tidehold_models::registry::ModelRegistry;
use tidehold_models::stream::StreamEvent;
use tidehold_models::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use tidehold_session::host::Host;
use tidehold_session::signal::{AbortController, AbortSignal};

struct NoTransport;

impl Transport for NoTransport {
    fn send(
        &self,
        _request: HttpRequest,
        _signal: AbortSignal,
    ) -> futures::future::LocalBoxFuture<'static, Result<HttpResponse, TransportError>> {
        panic!("a script needs no network");
    }
}

struct Bench {
    host: VirtualHost,
    registry: ModelRegistry,
}

struct Answer {
    events: Vec<StreamEvent>,
    message: AssistantMessage,
    took: u64,
}

impl Bench {
    fn new() -> Self {
        let host = VirtualHost::new();
        let config = json!({ "scripted": { "api": "scripted", "models": { "echo": {} } } });
        let catalog = Rc::new(Catalog::from_config(&config, "providers").expect("a valid configuration"));
        let registry =
            ModelRegistry::new(catalog, Rc::new(NoTransport), Rc::new(host.clone()), Rc::new(|_| None));
        Self { host, registry }
    }

    fn request(&self, messages: Vec<Message>, ordinal: u32) -> StreamRequest {
        StreamRequest {
            model: self.registry.model("scripted", "echo").expect("a configured model"),
            messages,
            options: StreamOptions::default(),
            purpose: RequestPurpose::Answer,
            ordinal,
            signal: AbortSignal::default(),
        }
    }

    fn ask(&self, request: StreamRequest) -> Answer {
        let started = self.host.now();
        let events: Vec<StreamEvent> = self.host.run(self.registry.stream(request).collect());
        let mut partial = Partial::new();
        for event in &events {
            partial.apply(event);
        }
        let message = events.last().cloned().and_then(StreamEvent::into_terminal).expect("a terminal event");
        let before: Vec<StreamEvent> = events.iter().filter(|event| !event.is_terminal()).cloned().collect();
        assert_eq!(before.len() + 1, events.len(), "one terminal event, last");
        Answer { events, message, took: self.host.now() - started }
    }

    fn prompt(&self, text: &str) -> Answer {
        self.attempt(text, 1)
    }

    fn attempt(&self, text: &str, ordinal: u32) -> Answer {
        self.ask(self.request(vec![Message::user(text, 1)], ordinal))
    }

    fn fetch(&self, handle: &DeferredHandle) -> AssistantMessage {
        let model = self.registry.model("scripted", "echo").expect("a configured model");
        self.host.run(self.registry.fetch_deferred(model, handle, AbortSignal::default()))
    }
}

fn deltas(answer: &Answer) -> Vec<&str> {
    answer
        .events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        })
        .collect()
}

fn tool_result(call: &str) -> Message {
    let value = json!({
        "role": "toolResult", "toolCallId": call, "toolName": "t", "content": [{ "type": "text", "text": "r" }],
        "isError": false, "timestamp": 2
    });
    value.to_typed().expect("a tool result")
}

fn calls(message: &AssistantMessage) -> Vec<(String, Json)> {
    message.tool_calls().map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

#[test]
fn any_other_prompt_is_its_own_answer_byte_for_byte() {
    let bench = Bench::new();
    let control: String = (0..0x20u8).map(char::from).collect();
    for text in ["hello", "one  two\r\nthree\ttab \u{301}e 👩‍👩‍👧 end ", &control, " @say leading space", "a\n@say b", "---"] {
        let answer = bench.prompt(text);
        assert_eq!(answer.message.text(), text);
        assert_eq!(deltas(&answer).concat(), text);
        assert_eq!(answer.message.stop_reason, StopReason::Stop);
        assert_eq!((answer.message.provider.as_str(), answer.message.model.as_str()), ("scripted", "echo"));
    }
    assert_eq!(deltas(&bench.prompt("one two  three")), ["one ", "two  ", "three"]);
}

#[test]
fn the_last_user_message_decides() {
    let bench = Bench::new();
    let messages = vec![Message::user("@say old", 1), Message::user("new", 2)];
    assert_eq!(bench.ask(bench.request(messages, 1)).message.text(), "new");
    let nobody = bench.ask(bench.request(Vec::new(), 1)).message;
    assert_eq!((nobody.content.len(), nobody.stop_reason), (0, StopReason::Stop));
    let blocks = json!({ "role": "user", "timestamp": 1, "content": [
        { "type": "text", "text": "@say a" }, { "type": "image", "data": "", "mimeType": "image/png" }, { "type": "text", "text": "@say b" }
    ] });
    let answer = bench.ask(bench.request(vec![blocks.to_typed().expect("a message")], 1));
    assert_eq!(answer.message.text(), "ab");
}

#[test]
fn say_adds_text_and_puts_nothing_between() {
    let bench = Bench::new();
    let answer = bench.prompt("@say one \n@say \"two\\n\\\"q\\\" \\u00e9\"\r\n\n@say  \"no json\n@say");
    assert_eq!(answer.message.text(), "one two\n\"q\" é \"no json");
    assert_eq!(answer.message.content.len(), 1, "one block");
    assert_eq!(bench.prompt("@say \"\\ud83d\\ude48\"").message.text(), "🙈");
}

#[test]
fn repeat_writes_one_delta_a_copy() {
    let bench = Bench::new();
    let answer = bench.prompt("@say x\n@repeat 3 a b");
    assert_eq!(deltas(&answer), ["x", "a b ", "a b ", "a b"]);
    assert_eq!(bench.prompt("@repeat 0 a").message.content.len(), 0);
}

#[test]
fn a_huge_repeat_lets_others_run_and_stays_linear() {
    let bench = Bench::new();
    let answer = bench.prompt("@repeat 700000 abcdefg");
    assert_eq!(answer.message.text().len(), 700_000 * 8 - 1);
    assert!(bench.host.sleeps() > 60, "it slept {} times", bench.host.sleeps());
    let refused = bench.prompt("@repeat 5000000 abcdefg").message;
    assert_eq!(refused.stop_reason, StopReason::Error);
    assert!(refused.error_message.is_some_and(|text| text.contains("line 1") && text.contains("bytes")));
    let together = bench.prompt("@repeat 12000000 a\n@say b\n@repeat 12000000 c").message;
    assert!(together.error_message.is_some_and(|text| text.contains("line 3")));
}

#[test]
fn think_and_call_are_blocks_in_order() {
    let bench = Bench::new();
    let answer = bench.prompt("@think first of all\n@say I will\n@call read { \"path\": \"a b\", \"n\": 1 }\n@call go\n@say done");
    let kinds: Vec<&str> = answer
        .message
        .content
        .iter()
        .map(|block| match block {
            AssistantBlock::Text(_) => "text",
            AssistantBlock::Thinking(_) => "thinking",
            AssistantBlock::ToolCall(_) => "call",
        })
        .collect();
    assert_eq!(kinds, ["thinking", "text", "call", "call", "text"]);
    assert_eq!(answer.message.stop_reason, StopReason::ToolUse);
    assert_eq!(
        calls(&answer.message),
        [("read".to_owned(), json!({ "path": "a b", "n": 1 })), ("go".to_owned(), json!({}))]
    );
    let mut partial = Partial::new();
    let mut shown = Vec::new();
    for event in &answer.events {
        partial.apply(event);
        if matches!(event, StreamEvent::ToolCallDelta { content_index: 2, .. }) {
            shown.extend(partial.message().iter().flat_map(calls).map(|(_, arguments)| arguments.to_string()).next());
        }
    }
    let (path, both) = (r#"{"path":"a b"}"#, r#"{"path":"a b","n":1}"#);
    assert_eq!(shown, ["{}", "{}", r#"{"path":"a "}"#, path, path, both, both]);
}

#[test]
fn partials_reproduce_the_final_message() {
    let bench = Bench::new();
    let answer = bench.prompt("@think a b\n@say c d\n@call t {\"x\": [1, 2]}\n@say e");
    let mut partial = Partial::new();
    for event in answer.events.iter().filter(|event| !event.is_terminal()) {
        partial.apply(event);
    }
    let last = partial.into_message().expect("a message");
    assert_eq!(last.content, answer.message.content);
    assert_eq!(last.stop_reason, StopReason::Pending);
}

#[test]
fn call_ids_are_stable_and_unique() {
    let bench = Bench::new();
    let script = "@call a\n@call b\n---\n@call c";
    let ids = |message: &AssistantMessage| message.tool_calls().map(|call| call.id.clone()).collect::<Vec<_>>();
    let first = bench.prompt(script).message;
    assert_eq!(ids(&first), ids(&bench.prompt(script).message), "a repeated request repeats its ids");
    let mut context = vec![Message::user(script, 1), Message::Assistant(first.clone())];
    context.extend(ids(&first).iter().map(|id| tool_result(id)));
    let second = bench.ask(bench.request(context.clone(), 1)).message;
    context.extend([Message::Assistant(second.clone()), tool_result("z"), Message::user(script, 1)]);
    let third = bench.ask(bench.request(context, 1)).message;
    let retry = bench.attempt(script, 2).message;
    let mut all: Vec<String> = [&first, &second, &third, &retry].into_iter().flat_map(ids).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!((count, all.len()), (7, 7));
}

#[test]
fn turns_follow_the_rounds_of_tool_results() {
    let bench = Bench::new();
    let script = "@call a\n@call b\n---\n@say middle\n@call c\n---\n@say end";
    let turn = bench.prompt(script).message;
    let mut context = vec![Message::user("before", 1), tool_result("old"), Message::user(script, 1)];
    context.extend([Message::Assistant(turn.clone()), tool_result("1"), tool_result("2")]);
    assert_eq!(bench.ask(bench.request(context.clone(), 1)).message.text(), "middle");
    context.extend([Message::Assistant(turn.clone()), tool_result("3")]);
    let end = bench.ask(bench.request(context.clone(), 1)).message;
    assert_eq!((end.text().as_str(), end.stop_reason), ("end", StopReason::Stop));
    context.extend([Message::Assistant(turn), tool_result("4")]);
    let past = bench.ask(bench.request(context, 1)).message;
    assert_eq!((past.content.len(), past.stop_reason), (0, StopReason::Stop), "nothing is left to say");
}

#[test]
fn wait_and_pace_take_time() {
    let bench = Bench::new();
    assert_eq!(bench.prompt("@say a b c").took, 0);
    assert_eq!(bench.prompt("@wait 250\n@say a").took, 250);
    assert_eq!(bench.prompt("@say a b\n@pace 10\n@say c d\n@think e f\n@call t {\"a\": 1}\n@pace 0\n@say g").took, 60);
    assert_eq!(bench.prompt("@pace 5\n@repeat 4 x").took, 20);
    assert_eq!(bench.prompt("@wait 40").message.duration_ms, Some(40));
}

#[test]
fn attempts_consume_failing_lines() {
    let bench = Bench::new();
    let script = "@say begin\n@fail 503 Service Unavailable\n@overflow\n@fail 400 bad request\n@say end";
    let first = bench.attempt(script, 1);
    assert_eq!(first.message.stop_reason, StopReason::Error);
    assert_eq!(first.message.error_message.as_deref(), Some("503 Service Unavailable"));
    assert_eq!(first.message.text(), "begin", "what was said stays");
    assert!(is_retryable_assistant_error(&first.message) && !is_context_overflow(&first.message, None));
    let second = bench.attempt(script, 2).message;
    assert!(is_context_overflow(&second, None) && !is_retryable_assistant_error(&second));
    let third = bench.attempt(script, 3).message;
    assert_eq!(third.error_message.as_deref(), Some("400 bad request"));
    assert!(!is_retryable_assistant_error(&third) && !is_context_overflow(&third, None));
    let fourth = bench.attempt(script, 4).message;
    assert_eq!((fourth.text().as_str(), fourth.stop_reason), ("beginend", StopReason::Stop));
    for (line, retryable) in [("@fail 429", true), ("@fail 429 slow down", true), ("@fail 500 x", true), ("@fail 401 no", false)] {
        assert_eq!(is_retryable_assistant_error(&bench.prompt(line).message), retryable, "{line}");
    }
}

#[test]
fn usage_is_reported_or_estimated() {
    let bench = Bench::new();
    let reported = bench.prompt("@usage 1200 34\n@say x").message.usage;
    assert_eq!((reported.input, reported.output, reported.total_tokens), (1200, 34, 1234));
    let estimated = bench.prompt("seven c").message.usage;
    assert_eq!((estimated.input, estimated.output, estimated.total_tokens), (2, 2, 4));
    assert_eq!(bench.prompt("@fail 500 x").message.usage.total_tokens, 0);
}

#[test]
fn stop_asks_for_another_reason() {
    let bench = Bench::new();
    let stop = |reason: &str| bench.prompt(&format!("@stop {reason}\n@say text")).message;
    assert_eq!(stop("length").stop_reason, StopReason::Length);
    let error = stop("error");
    assert_eq!((error.stop_reason, error.text().as_str()), (StopReason::Error, "text"));
    assert!(error.error_message.is_some() && !is_retryable_assistant_error(&error));
    assert_eq!(stop("aborted").stop_reason, StopReason::Aborted);
}

#[test]
fn deferred_answers_come_from_the_handle_alone() {
    let bench = Bench::new();
    let script = "@say vain \n@usage 5 6\n@defer 300\n@wait 50\n@call t {\"a\":1}\n@say told";
    let answer = bench.prompt(script);
    assert_eq!(answer.message.stop_reason, StopReason::Deferred);
    assert!(answer.message.content.is_empty() && matches!(answer.events.last(), Some(StreamEvent::Done { .. })));
    let handle = answer.message.deferred.expect("a handle");
    assert_eq!(handle.poll_after_ms, Some(300));
    let stored = Json::from_serialize(&handle).expect("plain data").to_string();
    let handle: DeferredHandle = Json::parse(&stored, 128).expect("JSON").to_typed().expect("a handle");
    let early = bench.fetch(&handle);
    assert_eq!((early.stop_reason, early.deferred.as_ref()), (StopReason::Deferred, Some(&handle)));
    bench.host.run(bench.host.sleep_until(START + 300));
    let other = Bench::new();
    other.host.run(other.host.sleep_until(START + 300));
    for bench in [&bench, &other] {
        let ready = bench.fetch(&handle);
        assert_eq!((ready.stop_reason, ready.text().as_str()), (StopReason::ToolUse, "vain told"));
        assert_eq!((ready.usage.input, ready.usage.output, ready.timestamp), (5, 6, START as i64));
    }
    let mut foreign = handle.clone();
    foreign.data = None;
    let unknown = bench.fetch(&foreign);
    assert_eq!(unknown.stop_reason, StopReason::Error);
    let model = bench.registry.model("scripted", "echo").expect("a model");
    assert_eq!(bench.host.run(bench.registry.cancel_deferred(model, &handle, AbortSignal::default())), Ok(()));
}

#[test]
fn a_bad_line_is_named() {
    let bench = Bench::new();
    for (script, line) in [
        ("@nope", "line 1"),
        ("@say ok\nplain text", "line 2"),
        ("@say ok\n---\n@wait soon", "line 3"),
        ("@call", "line 1"),
        ("@call t [1]", "line 1"),
        ("@call t {\"a\":", "line 1"),
        ("@wait 5 6", "line 1"),
        ("@repeat x y", "line 1"),
        ("@usage 1", "line 1"),
        ("@stop maybe", "line 1"),
        ("@fail fast", "line 1"),
        ("@defer -1", "line 1"),
        ("@saying hi", "line 1"),
        ("@wait 99999999999999999999", "line 1"),
    ] {
        let message = bench.prompt(script).message;
        let text = message.error_message.clone().unwrap_or_default();
        assert_eq!(message.stop_reason, StopReason::Error, "{script}");
        assert!(text.contains(line) && text.contains(script.lines().last().unwrap_or_default()), "{script}: {text}");
    }
    for script in ["@oops connection lost 429", &format!("{}@x", "@say a\n".repeat(428)), "@oops prompt is too long"] {
        let message = bench.prompt(script).message;
        assert_eq!(message.stop_reason, StopReason::Error);
        assert!(!is_retryable_assistant_error(&message) && !is_context_overflow(&message, None), "{message:?}");
    }
}

#[test]
fn summaries_are_recognised_by_purpose() {
    let bench = Bench::new();
    let mut request = bench.request(vec![Message::user("@fail 500 x", 1)], 1);
    request.purpose = RequestPurpose::Summary { messages: 7 };
    assert_eq!(bench.ask(request).message.text(), "Summary of 7 messages.");
}

#[test]
fn an_abort_ends_every_pause_and_every_flood() {
    for script in ["@say said \n@wait 60000\n@say never", "@pace 60000\n@say a b c", "@repeat 4000000 abcdefg"] {
        let bench = Bench::new();
        let controller = AbortController::new();
        let mut request = bench.request(vec![Message::user(script, 1)], 1);
        request.signal = controller.signal();
        let mut stream = bench.registry.stream(request);
        let message = bench.host.run(async {
            let mut seen = Partial::new();
            let mut count = 0;
            loop {
                let next = stream.next();
                let timer = bench.host.sleep_until(START + 1000);
                let event = match futures::future::select(next, timer).await {
                    futures::future::Either::Left((event, _)) => event,
                    futures::future::Either::Right(_) => {
                        controller.abort("test");
                        continue;
                    }
                };
                count += 1;
                if count == 5000 {
                    controller.abort("test");
                }
                let event = event.expect("a terminal event comes first");
                if let StreamEvent::Error { message } = event {
                    assert_eq!(message.content, seen.content(), "it ends with what was seen");
                    assert!(stream.next().await.is_none());
                    return message;
                }
                seen.apply(&event);
            }
        });
        assert_eq!(message.stop_reason, StopReason::Aborted, "{script}");
        assert_eq!(message.error_message.as_deref(), Some("Request was aborted"));
        assert!(bench.host.now() <= START + 1000);
    }
    let bench = Bench::new();
    let controller = AbortController::new();
    controller.abort("test");
    let mut request = bench.request(vec![Message::user("hi", 1)], 1);
    request.signal = controller.signal();
    let answer = bench.ask(request);
    assert_eq!((answer.events.len(), answer.message.stop_reason), (1, StopReason::Aborted));
}
