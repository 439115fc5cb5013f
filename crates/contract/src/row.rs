//! The row of a run: what receipts, lists, batches and waits show of it.

use crate::evidence::{Found, Runs};
use crate::public_run::{
    Evidence, Integrity, Kind, Outcome, Output, PublicRun, Refs, State, Status, Task, Timing,
};
use crate::run::End;
use crate::standing::Standing;
use crate::time::iso;
use crate::transcript;
use tidehold_session::SessionError;
use tidehold_session::host::Millis;

/// A row without its value: lists and batches never inline.
pub(crate) async fn row(runs: &Runs<'_>, run: &Found, now: Millis) -> Result<PublicRun, SessionError> {
    let child = runs.child(run).await?;
    let output = match &run.standing {
        Standing::Queued => Output::none(false),
        Standing::Running | Standing::Interrupted => Output::none(match child {
            Some(child) => transcript::wrote(runs.harness.session(), child.conversation).await?,
            None => false,
        }),
        Standing::Ended(End::Succeeded { .. }) => Output::reference(),
        Standing::Ended(
            End::Failed { wrote, .. } | End::Cancelled { wrote, .. } | End::TimedOut { wrote },
        ) => Output::none(*wrote),
    };
    Ok(PublicRun {
        run_id: run.id.clone(),
        kind: Kind::Agent,
        live: run.standing.is_live(),
        conversation_id: child.map(|child| child.conversation.0),
        task: Task {
            description: Some(run.input.description.clone()),
            role: Some(run.input.role.clone()),
            profile: None,
            backend: None,
            harness: Some(run.input.harness.clone()),
            workflow_run_id: None,
            name: None,
            source: None,
        },
        state: state(&run.standing),
        timing: timing(run, now),
        output,
        evidence: Evidence {
            integrity: integrity(&run.standing),
        },
        children: None,
        refs: Some(Refs::of(&run.id)),
    })
}

fn state(standing: &Standing) -> State {
    let live = |status| State {
        status,
        outcome: None,
        reason: None,
    };
    let ended = |status, outcome| State {
        status,
        outcome: Some(outcome),
        reason: None,
    };
    match standing {
        Standing::Queued => live(Status::Queued),
        Standing::Running => live(Status::Running),
        Standing::Interrupted => live(Status::InterruptedOrUncertain),
        Standing::Ended(End::Succeeded { .. }) => ended(Status::Done, Outcome::Succeeded),
        Standing::Ended(End::Failed { reason, .. }) => State {
            reason: Some(reason.clone()),
            ..ended(Status::Error, Outcome::Failed)
        },
        Standing::Ended(End::Cancelled { reason, .. }) => State {
            reason: reason.clone(),
            ..ended(Status::Aborted, Outcome::Cancelled)
        },
        Standing::Ended(End::TimedOut { .. }) => ended(Status::Aborted, Outcome::TimedOut),
    }
}

/// Durations grow while a run is live.
fn timing(run: &Found, now: Millis) -> Timing {
    let queued = run.input.queued_at;
    let (started, ended) = (run.record.started_at, run.record.ended_at);
    let until = match &run.standing {
        Standing::Queued | Standing::Running => Some(now),
        Standing::Interrupted => None,
        Standing::Ended(_) => ended,
    };
    let delay = started.or(until).map(|at| at.saturating_sub(queued));
    let elapsed = started
        .zip(until)
        .map(|(started, until)| until.saturating_sub(started));
    Timing {
        queued_at: Some(iso(queued)),
        execution_started_at: started.map(iso),
        finished_at: ended.map(iso),
        queue_delay_ms: delay,
        elapsed_ms: elapsed,
    }
}

fn integrity(standing: &Standing) -> Integrity {
    match standing {
        Standing::Queued | Standing::Running | Standing::Interrupted => Integrity::Incomplete,
        Standing::Ended(_) => Integrity::Complete,
    }
}
