//! The one phase of a run: wait until the child's submission settles, or the time is over.

use super::{Checkpoint, Child, End, Run, end};
use crate::transcript;
use tidehold_harness::docs::LIVE;
use tidehold_harness::live::run_of;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{JoinPolicy, SubmissionRecord};
use tidehold_session::{Rejection, SessionError, Tx};
use tidehold_tasks::{Next, Runtime, TaskFault};

type Step = Next<Checkpoint, super::RunResult>;

pub(super) async fn run(
    runtime: Runtime<Run>,
    child: Child,
    deadline: Option<Millis>,
) -> Result<(), TaskFault> {
    let session = runtime.session().clone();
    let submission = session.submission(child.submission).await?;
    let submission = submission.ok_or(Rejection::MissingSubmission)?;
    // A settled submission never changes again, so it may be judged outside the commit. An answer counts also after the
    // deadline: it is there.
    if let Some(end) = end::of_submission(&session, child, &submission).await? {
        return runtime.finish(end.into_outcome(child)).await;
    }
    if deadline.is_some_and(|deadline| runtime.now() >= deadline) {
        let wrote = transcript::wrote(&session, child.conversation).await?;
        // The outcome is held while the cascade ends the child.
        return runtime.finish(End::TimedOut { wrote }.into_outcome(child)).await;
    }
    runtime
        .commit(async move |tx, _| Ok(Some(wait(&tx, child, deadline).await?)))
        .await
}

/// Parks on whatever task runs for the child in this very commit. A run that moved on to another task resumes us in turn.
async fn wait(tx: &Tx, child: Child, deadline: Option<Millis>) -> Result<Step, SessionError> {
    let unsettled = |submission: &SubmissionRecord| !submission.is_settled();
    let waits = tx
        .submission(child.submission)
        .await?
        .as_ref()
        .is_some_and(unsettled);
    let (on, until) = match (waits, running(tx, child).await?) {
        (true, Some(task)) => (vec![task], deadline),
        // Settled since we looked: resume at once and judge it.
        (false, _) => (Vec::new(), None),
        (true, None) => {
            let end = End::Failed {
                reason: "abandoned".into(),
                detail: None,
                wrote: false,
            };
            return Ok(Next::Finish(end.into_outcome(child)));
        }
    };
    let checkpoint = Checkpoint::Watch { child, deadline };
    Ok(Next::Wait {
        checkpoint,
        on,
        policy: JoinPolicy::AllSettled,
        until,
    })
}

/// The task that holds the child's run.
async fn running(tx: &Tx, child: Child) -> Result<Option<TaskId>, SessionError> {
    let live = tx.peek(&LIVE, child.conversation).await?;
    Ok(live
        .as_ref()
        .map(run_of)
        .transpose()?
        .flatten()
        .map(|run| run.task_id))
}
