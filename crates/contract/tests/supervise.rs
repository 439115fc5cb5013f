//! `external_runs`: lists, waits, cancellations, batches and cursors.

mod support;

use support::{Bench, START, at, merged, rows, text_at};
use tidehold_contract::{Begun, Tool};
use tidehold_delta::{Json, json};
use tidehold_session::ids::ConversationId;

fn ids(rows: &[Json]) -> Vec<String> {
    rows.iter().map(|row| text_at(row, "runId").to_owned()).collect()
}

#[test]
fn a_list_pages_through_every_run_newest_first() {
    let mut bench = Bench::new();
    let mut started: Vec<String> = (0..7).map(|n| bench.start(&format!("run {n}"))).collect();
    bench.runtime.advance(1000);
    started.push(bench.start("@wait 60000\n@say late"));
    started.reverse();
    let mut listed = Vec::new();
    let mut arguments = json!({ "action": "list", "limit": 3 });
    loop {
        let page = bench.runs(arguments.clone());
        listed.extend(rows(&page.receipt));
        assert_eq!(at(&page.receipt, "data.workflows"), &json!([]));
        match at(&page.receipt, "data").get("nextCursor") {
            Some(cursor) => arguments = merged(&arguments, &json!({ "cursor": cursor })),
            None => break,
        }
    }
    assert_eq!(ids(&listed), started);
    assert_eq!(text_at(&listed[0], "state.status"), "running");
    assert!(
        listed[1..]
            .iter()
            .all(|row| text_at(row, "output.delivery") == "reference")
    );
    // A run started meanwhile does not shift a listing under way.
    let first = bench.runs(json!({ "action": "list", "limit": 4 }));
    bench.start("more");
    let cursor = text_at(&first.receipt, "data.nextCursor");
    let second = bench.runs(json!({ "action": "list", "cursor": cursor }));
    let both = [ids(&rows(&first.receipt)), ids(&rows(&second.receipt))].concat();
    assert_eq!(both, started);
    let filtered = bench.runs(json!({ "action": "list", "workflowRunId": "wf_1" }));
    assert_eq!(rows(&filtered.receipt), []);
}

#[test]
fn reading_starts_nothing() {
    let mut bench = Bench::new();
    let id = bench.start("@wait 1000\n@say done");
    let mut bench = bench.crash();
    for view in ["output", "diagnostics", "final", "launch", "summary"] {
        bench.inspect(&id, view);
    }
    let list = bench.runs(json!({ "action": "list" }));
    assert_eq!(text_at(&rows(&list.receipt)[0], "state.status"), "running");
    assert!(!bench.harness.scheduler().is_scheduling());
    bench.runtime.advance(60_000);
    assert_eq!(
        text_at(&bench.inspect(&id, "output").receipt, "data.outputStatus"),
        "preliminary"
    );
}

#[test]
fn wait_any_and_all_keep_request_order() {
    let mut bench = Bench::new();
    let slow = bench.start("@wait 5000\n@say slow");
    let fast = bench.start("@wait 1000\n@say fast");
    let failing = bench.start("@wait 2000\n@fail 400 no");
    let all = [slow.as_str(), fast.as_str(), failing.as_str()];
    let any = bench.runs(json!({ "action": "wait", "mode": "any", "runIds": all.to_vec() }));
    assert_eq!(bench.now(), START + 1000);
    assert_eq!(ids(&rows(&any.receipt)), [fast.as_str()]);
    assert_eq!(
        at(&any.receipt, "data.pending"),
        &json!([slow.as_str(), failing.as_str()])
    );
    let soon = bench.runs(json!({ "action": "wait", "runIds": all.to_vec(), "timeoutMs": 1500 }));
    assert_eq!(bench.now(), START + 2500);
    assert!(!soon.is_error());
    assert_eq!(ids(&rows(&soon.receipt)), [fast.clone(), failing.clone()]);
    // An agent that failed does not end a wait for all.
    let rest = bench
        .runs(json!({ "action": "wait", "mode": "all", "runIds": [&all[..], &[fast.as_str()]].concat() }));
    assert_eq!(bench.now(), START + 5000);
    assert_eq!(ids(&rows(&rest.receipt)), [slow.clone(), fast.clone(), failing]);
    let values: Vec<&str> = vec!["data.completed.0.output.value", "data.completed.1.output.value"];
    assert_eq!(
        values
            .iter()
            .map(|path| text_at(&rest.receipt, path))
            .collect::<Vec<_>>(),
        ["slow", "fast"]
    );
    assert_eq!(text_at(&rest.receipt, "data.completed.2.state.outcome"), "failed");
    let none =
        bench.runs(json!({ "action": "wait", "mode": "any", "runIds": [slow.as_str(), fast.as_str()] }));
    assert_eq!(rows(&none.receipt).len(), 2);
}

#[test]
fn a_wait_spends_one_budget_a_channel() {
    let mut bench = Bench::new();
    let runs: Vec<String> = ["a", "b", "c", "d"]
        .map(|letter| bench.start(&letter.repeat(40)))
        .to_vec();
    let result = bench.runs(json!({ "action": "wait", "runIds": runs.clone(), "limitBytes": 100 }));
    let delivered: Vec<String> = rows(&result.receipt)
        .iter()
        .map(|row| text_at(row, "output.delivery").to_owned())
        .collect();
    // 42 bytes of JSON each: two fit both budgets, the third is cut in the text, the fourth is not read.
    assert_eq!(delivered, ["inline", "inline", "reference", "reference"]);
    assert!(result.content[2].contains(&"c".repeat(20)) && !result.content[2].contains(&"c".repeat(21)));
    assert!(!result.content[3].contains("dddd"));
    let tiny = bench.runs(json!({ "action": "wait", "runIds": runs.clone(), "limitBytes": 41 }));
    let deliveries: Vec<Json> = rows(&tiny.receipt)
        .iter()
        .map(|row| at(row, "output.delivery").clone())
        .collect();
    // The text of the first fits, its JSON does not.
    assert_eq!(deliveries[0], json!("reference"));
    assert!(tiny.content[0].contains(&"a".repeat(40)));
    let mut bench = bench.crash();
    let later = bench.runs(json!({ "action": "wait", "runIds": runs }));
    let durable = rows(&later.receipt)
        .iter()
        .all(|row| text_at(row, "output.delivery") == "reference");
    assert!(
        durable,
        "what settled before the session was opened goes by reference"
    );
}

#[test]
fn a_wait_that_is_dropped_leaves_its_runs_alone() {
    let mut bench = Bench::new();
    let id = bench.start("@wait 1000\n@say done");
    let Begun::Pending(pending) =
        bench.begin(Tool::Runs, json!({ "action": "wait", "runIds": [id.as_str()] }))
    else {
        panic!("it waits")
    };
    assert_eq!(pending.launched(), None);
    drop(pending);
    bench.runtime.advance(1000);
    assert_eq!(bench.read(&id, "final", 64).concat(), "done");
}

#[test]
fn a_cancelled_run_keeps_what_it_wrote_and_why() {
    let mut bench = Bench::new();
    let id = bench.start("@say one\n@wait 600000\n@say two");
    bench.runtime.advance(1000);
    let cancel = |reason: &str| json!({ "action": "cancel", "runIds": [id.as_str()], "reason": reason });
    let first = bench.runs(cancel("no longer needed: ghp_0123456789abcdefghij"));
    assert_eq!(text_at(&first.receipt, "data.status"), "requested");
    bench.runs(cancel("another reason"));
    let waited = bench.runs(json!({ "action": "wait", "runIds": [id.as_str()] }));
    let run = rows(&waited.receipt).remove(0);
    assert_eq!(text_at(&run, "state.outcome"), "cancelled");
    assert_eq!(text_at(&run, "state.reason"), "no longer needed: [REDACTED]");
    assert_eq!(bench.now(), START + 1000);
    assert_eq!(bench.read(&id, "output", 4).concat(), "one");
    assert!(
        bench
            .read(&id, "diagnostics", 64)
            .concat()
            .contains("The run was cancelled: no longer needed")
    );
    assert_eq!(
        text_at(&bench.runs(cancel("late")).receipt, "data.status"),
        "terminal"
    );
}

#[test]
fn a_foreground_run_that_is_cancelled_says_so() {
    let mut bench = Bench::new();
    let Begun::Pending(pending) = bench.begin(Tool::Delegate, support::delegation("@wait 600000")) else {
        panic!("a foreground run waits")
    };
    let id = pending.launched().expect("a run").run_id.clone();
    bench.runs(json!({ "action": "cancel", "runIds": [&id] }));
    let result = bench
        .run(async move |contract| contract.finish(pending).await)
        .expect("a receipt");
    support::assert_valid(Tool::Delegate, &result);
    assert_eq!(text_at(&result.receipt, "error.code"), "cancelled");
    assert_eq!(text_at(&result.receipt, "data.run.runId"), &*id);
}

#[test]
fn aborting_the_child_itself_cancels_the_run() {
    let mut bench = Bench::new();
    let id = bench.start("@wait 600000");
    let row = rows(&bench.inspect(&id, "summary").receipt).remove(0);
    let child = ConversationId(at(&row, "conversationId").as_u64().expect("a conversation"));
    let harness = bench.harness.clone();
    let abort = tidehold_tasks::AbortScope::Foreground;
    bench
        .run(async move |_| harness.abort_conversation(child, abort).await)
        .expect("aborted");
    let waited = bench.runs(json!({ "action": "wait", "runIds": [id.as_str()] }));
    assert_eq!(
        text_at(&waited.receipt, "data.completed.0.state.outcome"),
        "cancelled"
    );
}

#[test]
fn a_batch_serves_whole_entries_within_both_budgets() {
    let mut bench = Bench::new();
    let runs: Vec<String> = (0..6).map(|n| bench.start(&format!("run {n}"))).collect();
    bench.runtime.advance(10);
    let whole = bench.runs(json!({ "action": "inspect", "runIds": runs.clone() }));
    assert_eq!(ids(&rows(&whole.receipt)), runs);
    let mut pages = 0;
    for limit in (900..6000).step_by(37) {
        let mut served = Vec::new();
        let mut arguments = json!({ "action": "inspect", "runIds": runs.clone(), "limitBytes": limit });
        loop {
            let page = bench.runs(arguments.clone());
            if page.is_error() {
                assert_eq!(text_at(&page.receipt, "error.code"), "page_too_small");
                break;
            }
            pages += 1;
            assert!(page.receipt.encoded_len() <= limit as usize);
            assert!(page.content.concat().len() <= limit as usize);
            for row in rows(&page.receipt) {
                assert!(page.content.concat().contains(text_at(&row, "runId")));
                served.push(row);
            }
            match at(&page.receipt, "data").get("nextCursor") {
                Some(cursor) => {
                    assert!(page.content.concat().contains(cursor.as_str().expect("text")));
                    arguments = merged(&arguments, &json!({ "cursor": cursor }));
                }
                None => {
                    assert_eq!(served, rows(&whole.receipt));
                    break;
                }
            }
        }
    }
    assert!(pages > 300, "{pages}");
    let small = json!({ "action": "inspect", "runIds": [runs[0].as_str()], "limitBytes": 4 });
    assert_eq!(bench.code(Tool::Runs, small), "page_too_small");
}
