//! `external_runs`: supervision. Lists, inspects, awaits and cancels the runs of one session.

mod batch;
mod cancel;
mod data;
mod input;
mod list;
mod page;
mod plan;
mod views;
mod wait;

pub use data::{
    BatchData, CancelData, CancelStatus, Encoding, ListData, OutputStatus, PageData, SingleData, WaitData,
};
pub use input::{Action, Mode, RunsInput};
pub(crate) use plan::{Plan, plan};
pub(crate) use wait::Waiting;

use crate::code::{Code, Refusal};
use crate::content;
use crate::error::Stop;
use crate::evidence::{Found, Runs};
use crate::receipt::{Header, Success, Tool, ToolResult, output_schema};
use crate::recent::Recent;
use crate::wire::Wire;
use tidehold_delta::{Json, json};
use tidehold_session::host::Millis;

/// What a call has come to.
pub(crate) enum Step {
    Settled(ToolResult),
    Waiting(Waiting),
}

/// Does what was planned. A wait answers what it waits for.
pub(crate) async fn perform(runs: &Runs<'_>, plan: Plan, at: Millis) -> Result<Step, Stop> {
    match plan {
        Plan::List(list) => list::run(runs, list, at).await.map(Step::Settled),
        Plan::Batch(batch) => batch::run(runs, batch, at).await.map(Step::Settled),
        Plan::Page(page) => page::run(runs, page, at).await.map(Step::Settled),
        Plan::Wait(wait) => wait::begin(runs, wait, at).await.map(Step::Waiting),
        Plan::Cancel(cancel) => cancel::run(runs, cancel, at).await.map(Step::Settled),
    }
}

/// Ends a wait whose condition holds, or whose time is over.
pub(crate) async fn finish_wait(
    runs: &Runs<'_>,
    waiting: Waiting,
    recent: &Recent,
    at: Millis,
) -> Result<ToolResult, Stop> {
    wait::finish(runs, waiting, recent, at).await
}

/// A call that was refused. Supervision never answers partial data.
pub(crate) fn refused(action: Action, refusal: &Refusal, at: Millis) -> ToolResult {
    let receipt = header(action, at).failure(Json::Null, &[], refusal);
    ToolResult {
        content: vec![content::refusal(refusal)],
        receipt,
    }
}

/// What a session that does not exist answers: it has no runs, and asking creates nothing.
pub(crate) fn absent(plan: &Plan, at: Millis) -> ToolResult {
    match plan {
        Plan::List(list) => list::absent(list, at),
        Plan::Batch(_) => refused(Action::Inspect, &unavailable(), at),
        Plan::Page(_) => refused(Action::Inspect, &unavailable(), at),
        Plan::Wait(_) => refused(Action::Wait, &unavailable(), at),
        Plan::Cancel(_) => refused(Action::Cancel, &unavailable(), at),
    }
}

/// The run of an id, or the one answer for everything that is no run here.
async fn find(runs: &Runs<'_>, id: &str) -> Result<Found, Stop> {
    runs.find(id).await?.ok_or_else(|| unavailable().into())
}

fn unavailable() -> Refusal {
    Refusal::new(
        Code::RunUnavailable,
        "No such run in this session: the id is unknown, belongs to another session, or its run is no longer kept.",
    )
}

fn not_live() -> Refusal {
    Refusal::new(
        Code::RunNotLive,
        "The run is unfinished and nothing works on it: no installed code can continue it. Inspect it instead.",
    )
}

fn header(action: Action, at: Millis) -> Header {
    Header {
        tool: Tool::Runs,
        action: action.name(),
        at,
    }
}

fn success(action: Action, at: Millis, data: &impl Wire) -> Json {
    header(action, at).success(data.write().unwrap_or(Json::Null), &[])
}

/// The input schema.
pub fn input() -> Json {
    RunsInput::schema()
}

/// The output schema.
pub fn output() -> Json {
    let inspected = json!({ "anyOf": [BatchData::schema(), SingleData::schema()] });
    let successes = vec![
        Success {
            action: Action::List.name(),
            data: ListData::schema(),
        },
        Success {
            action: Action::Inspect.name(),
            data: inspected,
        },
        Success {
            action: Action::Wait.name(),
            data: WaitData::schema(),
        },
        Success {
            action: Action::Cancel.name(),
            data: CancelData::schema(),
        },
    ];
    output_schema(Tool::Runs, successes, json!({ "type": "null" }))
}
