//! The scripted model over a virtual clock: turns, attempts, time, and giving up.

mod support;

use futures::StreamExt;
use support::START;
use support::scripted::{Bench, tool_result};
use tidehold_delta::Json;
use tidehold_models::errors::{is_context_overflow, is_retryable_assistant_error};
use tidehold_models::message::{AssistantMessage, DeferredHandle, Message, StopReason};
use tidehold_models::models::{Models, RequestPurpose};
use tidehold_models::partial::Partial;
use tidehold_models::stream::StreamEvent;
use tidehold_session::host::Host;
use tidehold_session::signal::{AbortController, AbortSignal};

#[test]
fn call_ids_are_stable_and_unique() {
    let bench = Bench::new();
    let script = "@call a\n@call b\n---\n@call c";
    let ids = |message: &AssistantMessage| {
        message
            .tool_calls()
            .map(|call| call.id.clone())
            .collect::<Vec<_>>()
    };
    let first = bench.prompt(script).message;
    assert_eq!(
        ids(&first),
        ids(&bench.prompt(script).message),
        "a repeated request repeats its ids"
    );
    let mut context = vec![Message::user(script, 1), Message::Assistant(first.clone())];
    context.extend(ids(&first).iter().map(|id| tool_result(id)));
    let second = bench.ask(bench.request(context.clone(), 1)).message;
    context.extend([
        Message::Assistant(second.clone()),
        tool_result("z"),
        Message::user(script, 1),
    ]);
    let third = bench.ask(bench.request(context, 1)).message;
    let retry = bench.attempt(script, 2).message;
    let mut all: Vec<String> = [&first, &second, &third, &retry]
        .into_iter()
        .flat_map(ids)
        .collect();
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
    let mut context = vec![
        Message::user("before", 1),
        tool_result("old"),
        Message::user(script, 1),
    ];
    context.extend([
        Message::Assistant(turn.clone()),
        tool_result("1"),
        tool_result("2"),
    ]);
    assert_eq!(
        bench.ask(bench.request(context.clone(), 1)).message.text(),
        "middle"
    );
    context.extend([Message::Assistant(turn.clone()), tool_result("3")]);
    let end = bench.ask(bench.request(context.clone(), 1)).message;
    assert_eq!((end.text().as_str(), end.stop_reason), ("end", StopReason::Stop));
    context.extend([Message::Assistant(turn), tool_result("4")]);
    let past = bench.ask(bench.request(context, 1)).message;
    assert_eq!(
        (past.content.len(), past.stop_reason),
        (0, StopReason::Stop),
        "nothing is left to say"
    );
}

#[test]
fn wait_and_pace_take_time() {
    let bench = Bench::new();
    assert_eq!(bench.prompt("@say a b c").took, 0);
    assert_eq!(bench.prompt("@wait 250\n@say a").took, 250);
    assert_eq!(
        bench
            .prompt("@say a b\n@pace 10\n@say c d\n@think e f\n@call t {\"a\": 1}\n@pace 0\n@say g")
            .took,
        60
    );
    assert_eq!(bench.prompt("@pace 5\n@repeat 4 x").took, 20);
    assert_eq!(bench.prompt("@wait 40").message.duration_ms, Some(40));
}

#[test]
fn attempts_consume_failing_lines() {
    let bench = Bench::new();
    let script = "@say begin\n@fail 503 Service Unavailable\n@overflow\n@fail 400 bad request\n@say end";
    let first = bench.attempt(script, 1);
    assert_eq!(first.message.stop_reason, StopReason::Error);
    assert_eq!(
        first.message.error_message.as_deref(),
        Some("503 Service Unavailable")
    );
    assert_eq!(first.message.text(), "begin", "what was said stays");
    assert!(is_retryable_assistant_error(&first.message) && !is_context_overflow(&first.message, None));
    let second = bench.attempt(script, 2).message;
    assert!(is_context_overflow(&second, None) && !is_retryable_assistant_error(&second));
    let third = bench.attempt(script, 3).message;
    assert_eq!(third.error_message.as_deref(), Some("400 bad request"));
    assert!(!is_retryable_assistant_error(&third) && !is_context_overflow(&third, None));
    let fourth = bench.attempt(script, 4).message;
    assert_eq!(
        (fourth.text().as_str(), fourth.stop_reason),
        ("beginend", StopReason::Stop)
    );
    for (line, retryable) in [
        ("@fail 429", true),
        ("@fail 429 slow down", true),
        ("@fail 500 x", true),
        ("@fail 401 no", false),
    ] {
        assert_eq!(
            is_retryable_assistant_error(&bench.prompt(line).message),
            retryable,
            "{line}"
        );
    }
}

#[test]
fn deferred_answers_come_from_the_handle_alone() {
    let bench = Bench::new();
    let script = "@say vain \n@usage 5 6\n@defer 300\n@wait 50\n@call t {\"a\":1}\n@say told";
    let answer = bench.prompt(script);
    assert_eq!(answer.message.stop_reason, StopReason::Deferred);
    assert!(
        answer.message.content.is_empty() && matches!(answer.events.last(), Some(StreamEvent::Done { .. }))
    );
    let handle = answer.message.deferred.expect("a handle");
    assert_eq!(handle.poll_after_ms, Some(300));
    let stored = Json::from_serialize(&handle).expect("plain data").to_string();
    let handle: DeferredHandle = Json::parse(&stored, 128)
        .expect("JSON")
        .to_typed()
        .expect("a handle");
    let early = bench.fetch(&handle);
    assert_eq!(
        (early.stop_reason, early.deferred.as_ref()),
        (StopReason::Deferred, Some(&handle))
    );
    bench.host.run(bench.host.sleep_until(START + 300));
    let other = Bench::new();
    other.host.run(other.host.sleep_until(START + 300));
    for bench in [&bench, &other] {
        let ready = bench.fetch(&handle);
        assert_eq!(
            (ready.stop_reason, ready.text().as_str()),
            (StopReason::ToolUse, "vain told")
        );
        assert_eq!(
            (ready.usage.input, ready.usage.output, ready.timestamp),
            (5, 6, START as i64)
        );
    }
    let mut foreign = handle.clone();
    foreign.data = None;
    let unknown = bench.fetch(&foreign);
    assert_eq!(unknown.stop_reason, StopReason::Error);
    let model = bench.registry.model("scripted", "echo").expect("a model");
    assert_eq!(
        bench.host.run(
            bench
                .registry
                .cancel_deferred(model, &handle, AbortSignal::default())
        ),
        Ok(())
    );
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
    for script in [
        "@say said \n@wait 60000\n@say never",
        "@pace 60000\n@say a b c",
        "@repeat 1000000 abcdefg",
    ] {
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
    assert_eq!(
        (answer.events.len(), answer.message.stop_reason),
        (1, StopReason::Aborted)
    );
}
