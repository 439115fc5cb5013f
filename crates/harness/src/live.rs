//! Reading and ending the run control of `pi.live` (spec 6 and 8.2).

use crate::docs::LIVE;
use crate::error::malformed;
use serde::Serialize;
use tidehold_delta::{Draft, FromJson, Json};
use tidehold_session::ids::{ConversationId, SubmissionId, TaskId};
use tidehold_session::records::SubmissionSettlement;
use tidehold_session::{SessionError, Tx};

/// `pi.live.run`: present exactly while the conversation is busy.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub task_id: TaskId,
    pub inputs: Vec<SubmissionId>,
}

/// The active run of a live document.
pub fn run_of(live: &Json) -> Result<Option<Run>, SessionError> {
    live.get("run")
        .map(Json::to_typed)
        .transpose()
        .map_err(|error| malformed("pi.live.run", &error))
}

/// Makes `run` the active one.
pub(crate) fn set_run(live: &Draft, run: &Run) -> Result<(), SessionError> {
    let inputs = Json::array(run.inputs.iter().map(|id| Json::from(*id)));
    live.at("run").set(Json::object([
        ("taskId", Json::from(run.task_id)),
        ("inputs", inputs),
    ]))?;
    Ok(())
}

/// Settles every input of the run and clears what it showed. The caller decides what follows.
pub(crate) async fn end_run(
    tx: &Tx,
    conversation: ConversationId,
    run: &Run,
    settlement: &SubmissionSettlement,
) -> Result<(), SessionError> {
    for input in &run.inputs {
        tx.settle_submission(*input, settlement.clone())?;
    }
    let live = tx.doc(&LIVE, conversation).await?;
    for member in ["run", "generation", "tools", "nestedTools"] {
        live.at(member).remove()?;
    }
    Ok(())
}
