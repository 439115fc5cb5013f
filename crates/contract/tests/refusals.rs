//! `external_runs`: what it refuses, and how alike.

mod support;

use support::{Bench, START, at, rows, text_at};
use tidehold_contract::{Call, Tool, answer_absent, answer_misconfigured};
use tidehold_delta::{Json, json};
use tidehold_tasks::TaskRegistry;

#[test]
fn requests_that_contradict_themselves() {
    let mut bench = Bench::new();
    let id = bench.start("x");
    let many: Vec<String> = (0..21).map(|n| format!("run_{n}")).collect();
    let two = [id.as_str(), "run_2"];
    let cases = [
        json!({ "action": "inspect" }),
        json!({ "action": "inspect", "runIds": [] }),
        json!({ "action": "inspect", "runIds": many }),
        json!({ "action": "inspect", "runIds": two.to_vec(), "view": "final" }),
        json!({ "action": "inspect", "runIds": ["bogus"] }),
        json!({ "action": "inspect", "runIds": [""] }),
        json!({ "action": "wait" }),
        json!({ "action": "cancel" }),
        json!({ "action": "cancel", "runIds": two.to_vec() }),
        json!({ "action": "list", "runIds": [id.as_str()] }),
        json!({ "action": "list", "workflowRunId": "run_1" }),
    ];
    for arguments in cases {
        assert_eq!(
            bench.code(Tool::Runs, arguments.clone()),
            "request_invalid",
            "{arguments}"
        );
    }
    let placeholders = json!({
        "action": "list", "runIds": [], "cursor": "", "workflowCursor": " ", "workflowRunId": "", "reason": "", "tool": "x",
    });
    assert!(!bench.runs(placeholders).is_error());
    assert_eq!(
        bench.problems(Tool::Runs, json!({ "action": "look" }))[0],
        "/action must be one of \"list\", \"inspect\", \"wait\", \"cancel\""
    );
    assert_eq!(
        bench.problems(Tool::Runs, json!({ "action": "list", "limit": 101 })),
        ["/limit must be at most 100"]
    );
    assert_eq!(
        bench.problems(Tool::Runs, json!({ "action": "list", "limitBytes": 3 })),
        ["/limitBytes must be at least 4"]
    );
}

#[test]
fn unknown_foreign_and_absent_runs_look_alike() {
    let mut bench = Bench::new();
    let own = bench.start("x");
    let mut other = Bench::named("incarnation-two");
    let foreign = other.start("x");
    assert_ne!(own, foreign);
    let unknown = format!("run_{}", "f".repeat(32));
    for action in ["inspect", "wait", "cancel"] {
        let ask = |id: &str| json!({ "action": action, "runIds": [id] });
        let answers: Vec<Json> = [foreign.as_str(), &unknown, "run_x", "wf_1"]
            .iter()
            .map(|id| bench.runs(ask(id)).to_json())
            .collect();
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
        assert_eq!(
            text_at(&answers[0], "structuredContent.error.code"),
            "run_unavailable"
        );
        let call = Call::check("external_runs", &ask(&own)).expect("valid");
        let absent = answer_absent(&call, bench.now()).expect("an answer");
        support::assert_valid(Tool::Runs, &absent);
        assert_eq!(absent.to_json(), answers[0]);
    }
    let mixed = json!({ "action": "wait", "mode": "any", "runIds": [own.as_str(), unknown.as_str()] });
    assert_eq!(bench.code(Tool::Runs, mixed), "run_unavailable");
}

#[test]
fn an_absent_session_has_an_empty_list() {
    let now = START;
    let ask = |arguments: Json| answer_absent(&Call::check("external_runs", &arguments).expect("valid"), now);
    let list = ask(json!({ "action": "list" })).expect("an answer");
    support::assert_valid(Tool::Runs, &list);
    assert_eq!(at(&list.receipt, "data"), &json!({ "runs": [], "workflows": [] }));
    let cursor = ask(json!({ "action": "list", "cursor": "abc" })).expect("an answer");
    assert_eq!(text_at(&cursor.receipt, "error.code"), "cursor_invalid");
    let bad = ask(json!({ "action": "wait" })).expect("an answer");
    assert_eq!(text_at(&bad.receipt, "error.code"), "request_invalid");
    let delegate = Call::check("external_delegate", &support::delegation("x")).expect("valid");
    assert!(answer_absent(&delegate, now).is_none());
    for call in [
        delegate,
        Call::check("external_runs", &json!({ "action": "list" })).expect("valid"),
    ] {
        let broken = answer_misconfigured(&call, "providers.x: is missing", now);
        support::assert_valid(call.tool(), &broken);
        assert_eq!(text_at(&broken.receipt, "error.code"), "configuration_invalid");
    }
}

#[test]
fn a_run_that_nothing_can_continue_is_not_live() {
    let mut bench = Bench::new();
    let id = bench.start("@wait 600000");
    let done = bench.start("y");
    bench.runtime.advance(10);
    // The next release forgot the definition.
    let mut bench = bench.crash_into(|_: &mut TaskRegistry| {});
    let harness = bench.harness.clone();
    harness.resume();
    bench.runtime.advance(10);
    let row = rows(&bench.inspect(&id, "summary").receipt).remove(0);
    assert_eq!(text_at(&row, "state.status"), "interrupted_or_uncertain");
    assert_eq!(at(&row, "live"), &Json::Bool(false));
    assert_eq!(text_at(&row, "evidence.integrity"), "incomplete");
    for action in ["wait", "cancel"] {
        assert_eq!(
            bench.code(Tool::Runs, json!({ "action": action, "runIds": [id.as_str()] })),
            "run_not_live"
        );
    }
    let output = bench.inspect(&id, "output");
    assert_eq!(text_at(&output.receipt, "data.outputStatus"), "interrupted");
    let any = json!({ "action": "wait", "mode": "any", "runIds": [id.as_str(), done.as_str()] });
    assert_eq!(
        at(&bench.runs(any).receipt, "data.pending"),
        &json!([id.as_str()])
    );
    let all = json!({ "action": "wait", "runIds": [id.as_str(), done.as_str()] });
    assert_eq!(bench.code(Tool::Runs, all), "run_not_live");
    assert_eq!(bench.read(&done, "final", 64).concat(), "y");
}

#[test]
fn cursors_serve_their_own_request_only() {
    let mut bench = Bench::new();
    let first = bench.start(&"x".repeat(5000));
    let second = bench.start(&"y".repeat(5000));
    bench.runtime.advance(10);
    let page = |bench: &mut Bench, id: &str, view: &str| {
        let result =
            bench.runs(json!({ "action": "inspect", "runIds": [id], "view": view, "limitBytes": 64 }));
        text_at(&result.receipt, "data.page.nextCursor").to_owned()
    };
    let of_final = page(&mut bench, &first, "final");
    let of_list = text_at(
        &bench.runs(json!({ "action": "list", "limit": 1 })).receipt,
        "data.nextCursor",
    )
    .to_owned();
    let pair = [first.as_str(), second.as_str()];
    let batch = bench.runs(json!({ "action": "inspect", "runIds": pair.to_vec(), "limitBytes": 1400 }));
    let of_batch = text_at(&batch.receipt, "data.nextCursor").to_owned();
    let inspect = |ids: &[&str], view: &str, cursor: &str| json!({ "action": "inspect", "runIds": ids.to_vec(), "view": view, "cursor": cursor });
    let foreign = [
        inspect(&[&second], "final", &of_final),
        inspect(&[&first], "output", &of_final),
        inspect(&[&first], "summary", &of_final),
        inspect(&[&first], "final", &of_list),
        inspect(&[&second, &first], "summary", &of_batch),
        inspect(&[&first], "summary", &of_batch),
        inspect(&[&first], "final", "nonsense"),
        json!({ "action": "list", "cursor": of_final.as_str() }),
        json!({ "action": "list", "cursor": of_list.as_str(), "workflowRunId": "wf_1" }),
        json!({ "action": "list", "workflowCursor": of_list.as_str() }),
    ];
    for arguments in foreign {
        assert_eq!(
            bench.code(Tool::Runs, arguments.clone()),
            "cursor_invalid",
            "{arguments}"
        );
    }
    for good in [
        inspect(&[&first], "final", &of_final),
        inspect(&pair, "summary", &of_batch),
    ] {
        assert!(!bench.runs(good).is_error());
    }
    let mut other = Bench::named("incarnation-two");
    other.start("z");
    assert_eq!(
        other.code(
            Tool::Runs,
            json!({ "action": "list", "cursor": of_list.as_str() })
        ),
        "cursor_invalid"
    );
}
