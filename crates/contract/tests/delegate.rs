//! `external_delegate`, end to end over a virtual clock.

mod support;

use support::{Bench, START, at, delegation, merged, text_at};
use tidehold_contract::{Begun, Tool};
use tidehold_delta::{Json, json};
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID};

#[test]
fn a_foreground_run_answers_inline() {
    let mut bench = Bench::new();
    let result = bench.delegate("Report 3 € please.");
    let run = at(&result.receipt, "data.run");
    assert_eq!(text_at(run, "output.value"), "Report 3 € please.");
    assert_eq!(text_at(run, "state.outcome"), "succeeded");
    assert_eq!(text_at(run, "evidence.integrity"), "complete");
    assert_eq!(text_at(run, "task.description"), "Check build");
    assert_eq!(text_at(run, "task.role"), "worker");
    assert_eq!(text_at(run, "task.harness"), "default");
    assert_eq!(at(&result.receipt, "warnings"), &json!([]));
    assert_eq!(
        result.content.first().map(String::as_str),
        Some("Report 3 € please.")
    );
}

#[test]
fn the_border_of_inline_delivery_is_16_kib_of_json() {
    for (characters, delivery) in [(16_382, "inline"), (16_383, "reference")] {
        let mut bench = Bench::new();
        let answer = "x".repeat(characters);
        let result = bench.delegate(&answer);
        let run = at(&result.receipt, "data.run").clone();
        assert_eq!(text_at(&run, "output.delivery"), delivery);
        let id = text_at(&run, "runId");
        assert_eq!(bench.read(id, "final", 65_536).concat(), answer);
        let by_reference = bench.runs(at(&run, "refs.final").clone());
        assert!(!by_reference.is_error());
    }
}

#[test]
fn a_failing_model_keeps_its_run() {
    let mut bench = Bench::new();
    let result = bench.delegate("@say half\n@fail 400 bad key sk-0123456789abcdef");
    assert_eq!(text_at(&result.receipt, "error.code"), "failed");
    let run = at(&result.receipt, "data.run").clone();
    assert_eq!(text_at(&run, "state.status"), "error");
    assert_eq!(text_at(&run, "state.reason"), "model_error");
    assert_eq!(text_at(&run, "output.delivery"), "none");
    let message = text_at(&result.receipt, "error.message");
    assert!(message.contains("400 bad key [REDACTED]"), "{message}");
    let id = text_at(&run, "runId");
    let diagnostics = bench.read(id, "diagnostics", 65_536).concat();
    assert!(diagnostics.contains("400 bad key [REDACTED]"), "{diagnostics}");
    let last = bench.inspect(id, "final");
    assert_eq!(at(&last.receipt, "data.finalAvailable"), &Json::Bool(false));
    assert_eq!(text_at(&last.receipt, "data.page.text"), "");
}

#[test]
fn an_unavailable_model_is_found_before_launch_or_fails_the_run() {
    let mut bench = Bench::new();
    let result = bench.call(
        Tool::Delegate,
        merged(&delegation("x"), &json!({ "harness": "lying" })),
    );
    assert_eq!(text_at(&result.receipt, "error.code"), "failed");
    assert_eq!(text_at(&result.receipt, "data.run.state.reason"), "no_model");
    assert_eq!(
        at(&result.receipt, "data.run.output.available"),
        &Json::Bool(false)
    );
}

#[test]
fn a_blank_answer_is_a_failed_run() {
    for prompt in ["@say \"\"", "@say \"  \\n\""] {
        let mut bench = Bench::new();
        let result = bench.delegate(prompt);
        assert_eq!(
            text_at(&result.receipt, "error.code"),
            "failed",
            "{}",
            result.receipt
        );
        assert_eq!(text_at(&result.receipt, "data.run.state.reason"), "empty_answer");
    }
}

#[test]
fn secrets_leave_neither_the_receipt_nor_the_record() {
    let mut bench = Bench::new();
    let secret = "ghp_0123456789abcdefghij";
    let arguments = json!({ "role": "worker", "description": format!("use {secret}"), "prompt": format!("a {secret} b") });
    let result = bench.call(Tool::Delegate, arguments);
    assert_eq!(
        text_at(&result.receipt, "data.run.output.value"),
        "a [REDACTED] b"
    );
    assert_eq!(at(&result.receipt, "warnings"), &json!(["output_redacted"]));
    assert_eq!(
        text_at(&result.receipt, "data.run.task.description"),
        "use [REDACTED]"
    );
    let id = text_at(&result.receipt, "data.run.runId").to_owned();
    for view in ["final", "output", "launch", "diagnostics"] {
        for limit in [4, 7, 64, 65_536] {
            assert!(!bench.read(&id, view, limit).concat().contains("ghp_"));
        }
    }
    let query = tidehold_session::storage::TaskQuery::default();
    let session = bench.harness.session().clone();
    let tasks = bench
        .run(async move |_| session.scan_tasks(&query, 100, None).await)
        .expect("tasks");
    for task in tasks.items {
        assert!(!tidehold_harness::view::task(&task).to_string().contains("ghp_"));
    }
}

#[test]
fn a_run_times_out_and_its_child_stops() {
    let mut bench = Bench::new();
    let arguments = merged(
        &delegation("@say one\n@wait 600000\n@say two"),
        &json!({ "timeout_ms": 5000 }),
    );
    let result = bench.call(Tool::Delegate, arguments);
    assert_eq!(text_at(&result.receipt, "error.code"), "timed_out");
    let run = at(&result.receipt, "data.run").clone();
    assert_eq!(text_at(&run, "state.status"), "aborted");
    assert_eq!(text_at(&run, "state.outcome"), "timed_out");
    assert_eq!(at(&run, "output.available"), &Json::Bool(true));
    assert_eq!(bench.now(), START + 5000);
    assert_eq!(bench.read(text_at(&run, "runId"), "output", 64).concat(), "one");
    bench.runtime.advance(3_600_000);
    assert_eq!(bench.harness.scheduler().inspect().len(), 0);
}

#[test]
fn the_configured_timeout_holds_and_zero_asks_for_it() {
    let mut bench = Bench::new();
    let arguments = merged(
        &delegation("@wait 9000000\n@say late"),
        &json!({ "timeout_ms": 0 }),
    );
    let result = bench.call(Tool::Delegate, arguments);
    assert_eq!(text_at(&result.receipt, "error.code"), "timed_out");
    assert_eq!(bench.now(), START + 7_200_000);
}

#[test]
fn a_run_in_the_background_does_not_hold_its_parent() {
    let mut bench = Bench::new();
    let id = bench.start("@wait 1000\n@say done");
    let scheduler = bench.harness.scheduler().clone();
    bench
        .run(async move |_| scheduler.wait_for_idle(Some(ROOT_CONVERSATION_ID)).await)
        .expect("idle");
    assert_eq!(bench.now(), START);
    let waited = bench.runs(json!({ "action": "wait", "runIds": [id.as_str()] }));
    assert_eq!(text_at(&waited.receipt, "data.completed.0.output.value"), "done");
}

#[test]
fn dropping_a_foreground_call_does_not_end_its_run() {
    let mut bench = Bench::new();
    let Begun::Pending(pending) = bench.begin(Tool::Delegate, delegation("@wait 1000\n@say done")) else {
        panic!("a foreground run waits")
    };
    let id = pending.launched().expect("a run").run_id.to_string();
    let contract = bench.contract.clone();
    let mut finish = Box::pin(async move { contract.finish(pending).await });
    assert!(futures::FutureExt::now_or_never(&mut finish).is_none());
    drop(finish);
    bench.runtime.advance(2000);
    assert_eq!(bench.read(&id, "final", 64).concat(), "done");
}

#[test]
fn the_child_is_what_role_and_harness_say() {
    let mut bench = Bench::new();
    let root = Json::parse(
        r#"{"model":"scripted/echo","thinkingLevel":"low","instructions":"Parent.","tools":["a"]}"#,
        8,
    );
    let change = tidehold_harness::agent::AgentChange::from_request(&root.expect("json")).expect("a change");
    let harness = bench.harness.clone();
    bench
        .run(async move |_| harness.root(change).await)
        .expect("a root");
    let agent_of = |bench: &mut Bench, role: &str| {
        let arguments = merged(&delegation("hi"), &json!({ "role": role }));
        let result = bench.call(Tool::Delegate, arguments);
        let child = at(&result.receipt, "data.run.conversationId")
            .as_u64()
            .expect("a conversation");
        let session = bench.harness.session().clone();
        let read = async move |_| {
            session
                .snapshot(&tidehold_harness::docs::AGENT, ConversationId(child))
                .await
        };
        bench.run(read).expect("read").expect("an agent")
    };
    let model = json!({ "provider": "scripted", "modelId": "echo" });
    let worker = json!({ "model": &model, "instructions": "Work.", "tools": ["a"] });
    assert_eq!(agent_of(&mut bench, "worker"), worker);
    assert_eq!(
        agent_of(&mut bench, "silent"),
        json!({ "model": &model, "thinkingLevel": "high", "tools": ["a"] })
    );
}

#[test]
fn refusals_before_launch_leave_no_trace() {
    let mut bench = Bench::new();
    let cases = [
        (json!({ "role": "nonexistent_role" }), "selection_invalid"),
        (json!({ "harness": "nobody" }), "selection_invalid"),
        (json!({ "role": "broken" }), "configuration_invalid"),
        (json!({ "harness": "locked" }), "harness_unavailable"),
        (json!({ "harness": "gone" }), "model_unavailable"),
        (json!({ "conversationId": 99 }), "context_invalid"),
        (
            json!({ "context": { "mode": "recent", "turns": 3 } }),
            "context_invalid",
        ),
        (json!({ "context": { "mode": "full" } }), "context_invalid"),
        (json!({ "permission": "edit" }), "selection_invalid"),
        (json!({ "resume": "run_1" }), "request_invalid"),
        (json!({ "schema": {} }), "request_invalid"),
        (json!({ "max_budget_usd": 0 }), "request_invalid"),
        (json!({ "requestId": "r" }), "request_invalid"),
        (json!({ "role": "  " }), "request_invalid"),
    ];
    for (more, code) in cases {
        let result = bench.call(Tool::Delegate, merged(&delegation("x"), &more));
        assert_eq!(text_at(&result.receipt, "error.code"), code, "{more}");
        assert_eq!(at(&result.receipt, "data.run"), &Json::Null);
    }
    let profile = json!({ "subagent_type": "auditor", "description": "d", "prompt": "p" });
    assert_eq!(bench.code(Tool::Delegate, profile), "selection_invalid");
    let session = bench.harness.session().clone();
    assert_eq!(
        bench
            .run(async move |_| session.incarnation().await)
            .expect("read"),
        None
    );
}

#[test]
fn what_means_nothing_is_accepted() {
    let mut bench = Bench::new();
    let more = json!({
        "harness": " ", "subagent_type": "", "resume": "", "context": { "mode": "none" }, "background": false, "unknown": [1],
    });
    assert!(
        !bench
            .call(Tool::Delegate, merged(&delegation("x"), &more))
            .is_error()
    );
}

#[test]
fn the_schema_refuses_what_it_says() {
    let mut bench = Bench::new();
    let cases = [
        (
            json!({}),
            vec![
                "/description is required",
                "/prompt is required",
                "/role is required",
            ],
        ),
        (
            json!({ "role": "worker", "description": "d", "prompt": "" }),
            vec!["/prompt must have at least 1 characters"],
        ),
        (
            merged(&delegation("x"), &json!({ "subagent_type": "y" })),
            vec![" subagent_type excludes role and harness"],
        ),
        (
            json!({ "subagent_type": "y", "harness": "z", "description": "d", "prompt": "p" }),
            vec![" subagent_type excludes role and harness"],
        ),
        (
            merged(&delegation("x"), &json!({ "context": { "mode": "recent" } })),
            vec!["/context/turns is required"],
        ),
        (
            merged(
                &delegation("x"),
                &json!({ "context": { "mode": "none", "n": 1 } }),
            ),
            vec!["/context/n is not allowed"],
        ),
        (
            merged(&delegation("x"), &json!({ "timeout_ms": 1.5 })),
            vec!["/timeout_ms must be an integer"],
        ),
        (
            merged(&delegation("x"), &json!({ "background": "yes" })),
            vec!["/background must be a boolean"],
        ),
        (json!([]), vec![" must be an object"]),
    ];
    for (arguments, problems) in cases {
        assert_eq!(
            bench.problems(Tool::Delegate, arguments.clone()),
            problems,
            "{arguments}"
        );
    }
}

#[test]
fn a_second_parent_owns_its_runs() {
    let mut bench = Bench::new();
    let harness = bench.harness.clone();
    let made = bench
        .run(async move |_| harness.create_conversation(Default::default()).await)
        .expect("created");
    let arguments = merged(&delegation("x"), &json!({ "conversationId": made.id }));
    let result = bench.call(Tool::Delegate, arguments);
    let child = at(&result.receipt, "data.run.conversationId")
        .as_u64()
        .expect("a conversation");
    let harness = bench.harness.clone();
    let record = bench
        .run(async move |_| harness.conversation(ConversationId(child)).await)
        .expect("read");
    assert_eq!(
        record
            .and_then(|record| record.owner)
            .map(|owner| owner.conversation_id),
        Some(made.id)
    );
}
