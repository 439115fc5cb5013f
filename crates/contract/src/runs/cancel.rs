//! `cancel`: asks a run to stop. The answer comes once the mark is durable; the run drains after it.

use super::data::{CancelData, CancelStatus};
use super::input::Action;
use super::plan::Cancel;
use super::{find, not_live, success};
use crate::content;
use crate::error::Stop;
use crate::evidence::Runs;
use crate::receipt::ToolResult;
use crate::redact;
use crate::run::keep_reason;
use crate::standing::Standing;
use tidehold_delta::json;
use tidehold_session::host::Millis;
use tidehold_tasks::AbortReply;

pub(super) async fn run(runs: &Runs<'_>, cancel: Cancel, at: Millis) -> Result<ToolResult, Stop> {
    let run = find(runs, &cancel.id).await?;
    let status = match run.standing {
        // No handler of its own could run, so nothing could confirm that it stopped.
        Standing::Interrupted => return Err(not_live().into()),
        Standing::Ended(_) => CancelStatus::Terminal,
        Standing::Queued | Standing::Running => {
            runs.harness.resume();
            if let Some(reason) = &cancel.reason {
                // First the words, then the mark: a crash between them leaves words that nobody reads.
                let reason = redact::text(reason).as_ref().into();
                keep_reason(runs.harness.session(), run.record.id, reason).await?;
            }
            match runs.harness.scheduler().abort_task(run.record.id).await? {
                AbortReply::Marked => CancelStatus::Requested,
                AbortReply::Terminal => CancelStatus::Terminal,
            }
        }
    };
    let said = match status {
        CancelStatus::Terminal => format!("{} had already ended.", run.id),
        CancelStatus::Requested => format!(
            "{} was asked to stop; it may not have stopped yet. Wait for it: {}",
            run.id,
            content::call(&json!({ "action": "wait", "runIds": [&run.id] })),
        ),
    };
    let data = CancelData {
        run_id: run.id,
        status,
    };
    Ok(ToolResult {
        content: vec![said],
        receipt: success(Action::Cancel, at, &data),
    })
}
