//! `wait`: until one or all of the runs have ended, or the time is over. Pending work is never touched.

use super::data::WaitData;
use super::input::{Action, Mode};
use super::plan::Wait;
use super::{find, header, not_live};
use crate::content;
use crate::deliver::deliver;
use crate::error::Stop;
use crate::evidence::{Found, Runs};
use crate::page::boundary_at_most;
use crate::receipt::{ToolResult, Warning};
use crate::recent::Recent;
use crate::redact;
use crate::row::row;
use crate::run::End;
use crate::standing::Standing;
use crate::transcript;
use crate::wire::Wire;
use futures::future::{Either, select, select_all};
use std::pin::pin;
use tidehold_delta::{Json, Text, json};
use tidehold_harness::Harness;
use tidehold_session::SessionError;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;

/// A wait under way. Dropping it ends only the wait.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    ids: Vec<Text>,
    /// Anchors of the runs under way.
    open: Vec<TaskId>,
    /// How many of them must end.
    enough: usize,
    mode: Mode,
    limit_bytes: usize,
    deadline: Option<Millis>,
}

/// Looks every target up first: a wait for something unknown or abandoned would not end.
pub(super) async fn begin(runs: &Runs<'_>, wait: Wait, at: Millis) -> Result<Waiting, Stop> {
    let (mut open, mut ended, mut interrupted) = (Vec::new(), false, false);
    for id in &wait.ids {
        let run = find(runs, id).await?;
        match run.standing {
            Standing::Interrupted => interrupted = true,
            Standing::Queued | Standing::Running => open.push(run.record.id),
            Standing::Ended(_) => ended = true,
        }
    }
    let hopeless = match wait.mode {
        Mode::All => interrupted,
        Mode::Any => interrupted && open.is_empty() && !ended,
    };
    if hopeless {
        return Err(not_live().into());
    }
    let enough = match wait.mode {
        Mode::All => open.len(),
        Mode::Any => usize::from(!ended),
    };
    Ok(Waiting {
        ids: wait.ids,
        open,
        enough,
        mode: wait.mode,
        limit_bytes: wait.limit_bytes,
        deadline: wait.timeout_ms.map(|timeout| at.saturating_add(timeout)),
    })
}

impl Waiting {
    /// Resolves once the condition holds or the time is over.
    pub async fn settle(&self, harness: &Harness) -> Result<(), SessionError> {
        let ended = pin!(self.ended(harness));
        let Some(deadline) = self.deadline else {
            return ended.await;
        };
        match select(ended, harness.session().host().sleep_until(deadline)).await {
            Either::Left((ended, _)) => ended,
            Either::Right(((), _)) => Ok(()),
        }
    }

    async fn ended(&self, harness: &Harness) -> Result<(), SessionError> {
        let mut open: Vec<_> = self
            .open
            .iter()
            .map(|anchor| Box::pin(harness.scheduler().wait_for_task(*anchor)))
            .collect();
        for _ in 0..self.enough {
            let (ended, _, rest) = select_all(open).await;
            ended?;
            open = rest;
        }
        Ok(())
    }
}

/// The answer, from what is stored now.
pub(super) async fn finish(
    runs: &Runs<'_>,
    waiting: Waiting,
    recent: &Recent,
    at: Millis,
) -> Result<ToolResult, Stop> {
    let mut answer = Answer {
        runs,
        recent,
        at,
        text_left: waiting.limit_bytes,
        values_left: waiting.limit_bytes,
        said: Vec::new(),
        warning: None,
    };
    let mut data = WaitData {
        mode: waiting.mode,
        completed: Vec::new(),
        pending: Vec::new(),
    };
    for id in &waiting.ids {
        let run = find(runs, id).await?;
        match &run.standing {
            Standing::Ended(end) => data.completed.push(answer.completed(&run, end).await?),
            Standing::Queued | Standing::Running | Standing::Interrupted => data.pending.push(run.id),
        }
    }
    let mut said = answer.said;
    if !data.pending.is_empty() {
        let pending = Json::array(data.pending.iter().map(Json::from));
        let again = content::call(&json!({ "action": "wait", "runIds": pending }));
        said.push(format!(
            "{} still pending. Wait for the rest: {again}",
            data.pending.len()
        ));
    }
    let warnings: Vec<Warning> = answer.warning.into_iter().collect();
    let receipt = header(Action::Wait, at).success(data.write().unwrap_or(Json::Null), &warnings);
    Ok(ToolResult {
        content: said,
        receipt,
    })
}

/// Two budgets of the same size, spent in request order: one for the answers shown as text, one for values in the receipt.
struct Answer<'a> {
    runs: &'a Runs<'a>,
    recent: &'a Recent,
    at: Millis,
    text_left: usize,
    values_left: usize,
    said: Vec<String>,
    warning: Option<Warning>,
}

impl Answer<'_> {
    async fn completed(
        &mut self,
        run: &Found,
        end: &End,
    ) -> Result<crate::public_run::PublicRun, SessionError> {
        let mut row = row(self.runs, run, self.at).await?;
        let shown = match end {
            // No evidence is read for a run that settled before this session was opened, nor once the budget is spent.
            End::Succeeded { answer } if self.text_left > 0 && self.recent.contains(run.record.id) => {
                transcript::answer(self.runs.harness.session(), *answer).await?
            }
            End::Succeeded { .. } | End::Failed { .. } | End::Cancelled { .. } | End::TimedOut { .. } => None,
        };
        let mut text = String::new();
        if let Some(answer) = shown {
            let value = redact::value(&Json::from(answer));
            let whole = value.value.as_str().unwrap_or_default();
            if whole.len() <= self.text_left {
                self.text_left -= whole.len();
                whole.clone_into(&mut text);
                let (output, warning) = deliver(&value, self.values_left);
                if let Some(value) = &output.value {
                    self.values_left -= value.encoded_len();
                }
                row.output = output;
                self.warning = self.warning.or(warning);
            } else {
                text = whole
                    .get(..boundary_at_most(whole, self.text_left))
                    .unwrap_or_default()
                    .to_owned();
                text.push_str("…\n(cut) ");
                text.push_str(&content::final_reference(&row));
                self.text_left = 0;
            }
        }
        self.said.push(said(&row, end, &text));
        Ok(row)
    }
}

fn said(row: &crate::public_run::PublicRun, end: &End, text: &str) -> String {
    let line = content::row(row);
    match end {
        End::Succeeded { .. } if text.is_empty() => format!("{line}\n{}", content::final_reference(row)),
        End::Succeeded { .. } => format!("{line}\n{text}"),
        End::Failed { .. } | End::Cancelled { .. } | End::TimedOut { .. } => {
            format!("{line}\n{} {}", end.sentence(), content::evidence_references(row))
        }
    }
}
