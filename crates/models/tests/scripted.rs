//! The scripted model over a virtual clock: what the directives of docs/http.md say.

mod support;

use support::scripted::{Bench, calls, deltas};
use tidehold_delta::json;
use tidehold_models::errors::{is_context_overflow, is_retryable_assistant_error};
use tidehold_models::message::{AssistantBlock, Message, StopReason};
use tidehold_models::partial::Partial;
use tidehold_models::stream::StreamEvent;

#[test]
fn any_other_prompt_is_its_own_answer_byte_for_byte() {
    let bench = Bench::new();
    let control: String = (0..0x20u8).map(char::from).collect();
    for text in [
        "hello",
        "one  two\r\nthree\ttab \u{301}e 👩‍👩‍👧 end ",
        &control,
        " @say leading space",
        "a\n@say b",
        "---",
    ] {
        let answer = bench.prompt(text);
        assert_eq!(answer.message.text(), text);
        assert_eq!(deltas(&answer).concat(), text);
        assert_eq!(answer.message.stop_reason, StopReason::Stop);
        assert_eq!(
            (answer.message.provider.as_str(), answer.message.model.as_str()),
            ("scripted", "echo")
        );
    }
    assert_eq!(
        deltas(&bench.prompt("one two  three")),
        ["one ", "two  ", "three"]
    );
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
    assert!(
        refused
            .error_message
            .is_some_and(|text| text.contains("line 1") && text.contains("bytes"))
    );
    let together = bench
        .prompt("@repeat 4000000 a\n@say b\n@repeat 4000000 c")
        .message;
    assert!(together.error_message.is_some_and(|text| text.contains("line 3")));
}

#[test]
fn think_and_call_are_blocks_in_order() {
    let bench = Bench::new();
    let answer = bench.prompt(
        "@think first of all\n@say I will\n@call read { \"path\": \"a b\", \"n\": 1 }\n@call go\n@say done",
    );
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
        [
            ("read".to_owned(), json!({ "path": "a b", "n": 1 })),
            ("go".to_owned(), json!({}))
        ]
    );
    let mut partial = Partial::new();
    let mut shown = Vec::new();
    for event in &answer.events {
        partial.apply(event);
        if matches!(event, StreamEvent::ToolCallDelta { content_index: 2, .. }) {
            shown.extend(
                partial
                    .message()
                    .iter()
                    .flat_map(calls)
                    .map(|(_, arguments)| arguments.to_string())
                    .next(),
            );
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
fn usage_is_reported_or_estimated() {
    let bench = Bench::new();
    let reported = bench.prompt("@usage 1200 34\n@say x").message.usage;
    assert_eq!(
        (reported.input, reported.output, reported.total_tokens),
        (1200, 34, 1234)
    );
    let estimated = bench.prompt("seven c").message.usage;
    assert_eq!(
        (estimated.input, estimated.output, estimated.total_tokens),
        (2, 2, 4)
    );
    assert_eq!(bench.prompt("@fail 500 x").message.usage.total_tokens, 0);
}

#[test]
fn stop_asks_for_another_reason() {
    let bench = Bench::new();
    let stop = |reason: &str| bench.prompt(&format!("@stop {reason}\n@say text")).message;
    assert_eq!(stop("length").stop_reason, StopReason::Length);
    let error = stop("error");
    assert_eq!(
        (error.stop_reason, error.text().as_str()),
        (StopReason::Error, "text")
    );
    assert!(error.error_message.is_some() && !is_retryable_assistant_error(&error));
    assert_eq!(stop("aborted").stop_reason, StopReason::Aborted);
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
        assert!(
            text.contains(line) && text.contains(script.lines().last().unwrap_or_default()),
            "{script}: {text}"
        );
    }
    for script in [
        "@oops connection lost 429",
        &format!("{}@x", "@say a\n".repeat(428)),
        "@oops prompt is too long",
    ] {
        let message = bench.prompt(script).message;
        assert_eq!(message.stop_reason, StopReason::Error);
        assert!(
            !is_retryable_assistant_error(&message) && !is_context_overflow(&message, None),
            "{message:?}"
        );
    }
}
