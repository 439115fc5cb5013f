//! The abort handler of a run. The child has ended by now: the mark reached it first.

use super::{Child, End, Run, cancel, end};
use crate::transcript;
use tidehold_session::Rejection;
use tidehold_tasks::{Runtime, TaskFault};

pub(super) async fn run(runtime: Runtime<Run>, child: Child) -> Result<(), TaskFault> {
    let session = runtime.session().clone();
    let submission = session.submission(child.submission).await?;
    let submission = submission.ok_or(Rejection::MissingSubmission)?;
    // What the child achieved before the mark reached it stays: a cancellation only asks it to stop.
    let end = match end::of_submission(&session, child, &submission).await? {
        Some(end @ (End::Succeeded { .. } | End::Failed { .. } | End::TimedOut { .. })) => end,
        Some(End::Cancelled { .. }) | None => {
            let reason = cancel::kept_reason(&session, runtime.task_id()).await?;
            End::Cancelled {
                reason,
                wrote: transcript::wrote(&session, child.conversation).await?,
            }
        }
    };
    runtime.finish(end.into_outcome(child)).await
}
