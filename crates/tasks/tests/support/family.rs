//! Workers, and parents that create them.

use super::probe::{Plain, Probe};
use tidehold_delta::{Json, json};
use tidehold_session::ids::TaskId;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

pub fn number(value: &Json, member: &str) -> u64 {
    value.get(member).and_then(Json::as_u64).unwrap()
}

/// `first` sleeps until its input's `until` and ends as its `how`.
pub fn worker() -> Probe {
    Probe::new().phase("first", |task, runtime: Rt| async move {
        if let Some(until) = task.input.get("until").and_then(Json::as_u64) {
            runtime.sleep(until).await?;
        }
        match task.input.get("how").and_then(Json::as_str) {
            Some("fails") => runtime.finish(Outcome::failed("as told")).await,
            Some("throws") => Err(TaskFault::Failed("thrown".into())),
            _ => runtime.finish(Outcome::Completed(json!(null))).await,
        }
    })
}

/// A task whose `first` creates children with the given inputs and goes on at `then`, knowing their ids.
pub fn parent(then: Json, inputs: Vec<Json>) -> Json {
    json!({ "start": { "phase": "parent" }, "then": (then), "children": (Json::array(inputs)) })
}

pub fn parenting(probe: Probe) -> Probe {
    probe.phase("parent", |task, runtime: Rt| async move {
        runtime
            .commit(async move |tx, record| {
                let mut children = Vec::new();
                for input in task.input.get("children").and_then(Json::as_array).unwrap() {
                    let options = TaskOptions::owned_by(record.id);
                    children.push(Json::from(
                        create(&tx, &Probe::<Plain>::new(), input, options).await?,
                    ));
                }
                let phase = task.input.get("then").cloned().unwrap();
                Ok(Some(Next::Continue(
                    json!({ "phase": (phase), "children": (Json::array(children)) }),
                )))
            })
            .await
    })
}

pub fn children(checkpoint: &Json) -> Vec<TaskId> {
    let children = checkpoint.get("children").and_then(Json::as_array).unwrap();
    children.iter().map(|id| TaskId(id.as_u64().unwrap())).collect()
}
