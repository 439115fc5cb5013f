//! Receipts of `external_delegate`.

use super::{ACTION, DelegateData};
use crate::code::{Code, Refusal};
use crate::content;
use crate::deliver::deliver;
use crate::evidence::{Found, Runs};
use crate::public_run::{Integrity, Output, PublicRun};
use crate::receipt::{Header, Tool, ToolResult, Warning};
use crate::redact;
use crate::row::row;
use crate::run::End;
use crate::standing::Standing;
use crate::transcript;
use crate::wire::Wire;
use tidehold_delta::{Json, json};
use tidehold_session::SessionError;
use tidehold_session::host::Millis;

fn header(at: Millis) -> Header {
    Header {
        tool: Tool::Delegate,
        action: ACTION,
        at,
    }
}

/// A call that was refused before there was a run.
pub(crate) fn refused(refusal: &Refusal, at: Millis) -> ToolResult {
    let receipt = header(at).failure(json!({ "run": null }), &[], refusal);
    ToolResult {
        content: vec![content::refusal(refusal)],
        receipt,
    }
}

/// A background run that was registered.
pub(crate) async fn accepted(runs: &Runs<'_>, run: &Found, at: Millis) -> Result<ToolResult, SessionError> {
    let row = row(runs, run, at).await?;
    let said = format!(
        "Accepted, not finished: {}\nWait for it: {}",
        content::row(&row),
        content::call(&json!({ "action": "wait", "runIds": [&run.id] })),
    );
    Ok(ToolResult {
        content: vec![said],
        receipt: header(at).success(data(row), &[]),
    })
}

/// A run that ended.
pub(crate) async fn settled(runs: &Runs<'_>, run: &Found, at: Millis) -> Result<ToolResult, SessionError> {
    let mut row = row(runs, run, at).await?;
    let end = match &run.standing {
        Standing::Ended(end) => end,
        Standing::Queued | Standing::Running | Standing::Interrupted => {
            let refusal = Refusal::new(Code::RunNotLive, "The run has not ended.");
            return Ok(unsuccessful(row, &refusal, at));
        }
    };
    let code = match end {
        End::Succeeded { answer } => {
            let Some(text) = transcript::answer(runs.harness.session(), *answer).await? else {
                // What settled stays settled; only its value cannot be had.
                row.output = Output::none(false);
                row.evidence.integrity = Integrity::Damaged;
                return Ok(unsuccessful(
                    row,
                    &Refusal::new(Code::Failed, "The answer cannot be read."),
                    at,
                ));
            };
            return Ok(succeeded(row, &text, at));
        }
        End::Failed { .. } => Code::Failed,
        End::Cancelled { .. } => Code::Cancelled,
        End::TimedOut { .. } => Code::TimedOut,
    };
    Ok(unsuccessful(row, &Refusal::new(code, end.sentence()), at))
}

fn succeeded(mut row: PublicRun, answer: &str, at: Millis) -> ToolResult {
    let value = redact::value(&Json::from(answer));
    let (output, warning) = deliver(&value, usize::MAX);
    row.output = output;
    let mut said = vec![match value.value.as_str() {
        Some(text) if row.output.value.is_some() => text.to_owned(),
        _ => format!(
            "The answer is too long to be shown here. {}",
            content::final_reference(&row)
        ),
    }];
    said.push(content::row(&row));
    said.extend(warning.map(|_| "Secrets in the answer were redacted.".to_owned()));
    let warnings: Vec<Warning> = warning.into_iter().collect();
    ToolResult {
        content: said,
        receipt: header(at).success(data(row), &warnings),
    }
}

fn unsuccessful(row: PublicRun, refusal: &Refusal, at: Millis) -> ToolResult {
    let said = vec![
        content::refusal(refusal),
        format!("{}\n{}", content::row(&row), content::evidence_references(&row)),
    ];
    ToolResult {
        content: said,
        receipt: header(at).failure(data(row), &[], refusal),
    }
}

fn data(run: PublicRun) -> Json {
    DelegateData { run }.write().unwrap_or(Json::Null)
}
