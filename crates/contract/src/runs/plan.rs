//! From arguments to one of five plans. Pure: malformed and contradictory calls end here, before anything is read.

use super::input::{Action, Mode, RunsInput};
use crate::code::{Code, Refusal};
use crate::limits::{BATCH_TARGETS, LIST_ROWS, PAGE_BYTES};
use crate::public_run::View;
use crate::schema::{is_blank, is_run_id};
use tidehold_delta::Text;
use tidehold_session::host::Millis;

/// What a call asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plan {
    List(List),
    Batch(Batch),
    Page(Page),
    Wait(Wait),
    Cancel(Cancel),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List {
    pub limit: usize,
    pub cursor: Option<Text>,
    pub workflow_cursor: Option<Text>,
    /// Only the runs of this workflow.
    pub workflow: Option<Text>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batch {
    pub ids: Vec<Text>,
    pub limit_bytes: usize,
    pub cursor: Option<Text>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    pub id: Text,
    pub view: SingleView,
    pub limit_bytes: usize,
    pub cursor: Option<Text>,
}

/// A view that is read in pages. Summaries are served whole, as batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SingleView {
    Output,
    Diagnostics,
    Final,
    Launch,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wait {
    pub ids: Vec<Text>,
    pub mode: Mode,
    pub limit_bytes: usize,
    pub timeout_ms: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cancel {
    pub id: Text,
    pub reason: Option<Text>,
}

impl SingleView {
    /// The view as callers name it.
    pub fn view(self) -> View {
        match self {
            Self::Output => View::Output,
            Self::Diagnostics => View::Diagnostics,
            Self::Final => View::Final,
            Self::Launch => View::Launch,
        }
    }
}

/// Reads the arguments of one call.
pub(crate) fn plan(input: RunsInput) -> Result<Plan, Refusal> {
    let ids = targets(input.run_ids.unwrap_or_default())?;
    // Both were checked against their range, which fits.
    let limit_bytes = usize::try_from(input.limit_bytes.unwrap_or(PAGE_BYTES)).unwrap_or(usize::MAX);
    let cursor = filled(input.cursor);
    match input.action {
        Action::List => {
            if !ids.is_empty() {
                return Err(invalid("list takes no runIds."));
            }
            let limit = usize::try_from(input.limit.unwrap_or(LIST_ROWS)).unwrap_or(usize::MAX);
            let workflow = filled(input.workflow_run_id);
            if workflow
                .as_deref()
                .is_some_and(|id| !id.starts_with("wf_") || !is_run_id(id))
            {
                return Err(invalid("workflowRunId must be the id of a workflow, wf_..."));
            }
            Ok(Plan::List(List {
                limit,
                cursor,
                workflow_cursor: filled(input.workflow_cursor),
                workflow,
            }))
        }
        Action::Inspect => inspect(ids, input.view.unwrap_or(View::Summary), limit_bytes, cursor),
        Action::Wait if ids.is_empty() => Err(invalid("wait needs at least one run id.")),
        Action::Wait => {
            let mode = input.mode.unwrap_or(Mode::All);
            Ok(Plan::Wait(Wait {
                ids,
                mode,
                limit_bytes,
                timeout_ms: input.timeout_ms,
            }))
        }
        Action::Cancel => {
            let id = only(ids, "cancel needs exactly one run id.")?;
            Ok(Plan::Cancel(Cancel {
                id,
                reason: filled(input.reason),
            }))
        }
    }
}

fn inspect(ids: Vec<Text>, view: View, limit_bytes: usize, cursor: Option<Text>) -> Result<Plan, Refusal> {
    let view = match view {
        View::Summary if ids.is_empty() => return Err(invalid("inspect needs at least one run id.")),
        View::Summary if ids.len() > BATCH_TARGETS => {
            return Err(invalid(&format!(
                "inspect takes at most {BATCH_TARGETS} run ids."
            )));
        }
        View::Summary => {
            return Ok(Plan::Batch(Batch {
                ids,
                limit_bytes,
                cursor,
            }));
        }
        View::Output => SingleView::Output,
        View::Diagnostics => SingleView::Diagnostics,
        View::Final => SingleView::Final,
        View::Launch => SingleView::Launch,
    };
    let id = only(
        ids,
        "This view needs exactly one run id; several are inspected with view summary.",
    )?;
    Ok(Plan::Page(Page {
        id,
        view,
        limit_bytes,
        cursor,
    }))
}

/// Targets in request order, each once.
fn targets(given: Vec<Text>) -> Result<Vec<Text>, Refusal> {
    let mut ids: Vec<Text> = Vec::with_capacity(given.len());
    for id in given {
        if !is_run_id(&id) {
            return Err(invalid(
                "A run id is run_ or wf_ and 1 to 128 letters, digits, _ or -.",
            ));
        }
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn only(ids: Vec<Text>, otherwise: &str) -> Result<Text, Refusal> {
    match <[Text; 1]>::try_from(ids) {
        Ok([id]) => Ok(id),
        Err(_) => Err(invalid(otherwise)),
    }
}

/// A blank placeholder says nothing.
fn filled(text: Option<Text>) -> Option<Text> {
    text.filter(|text| !is_blank(text))
}

fn invalid(message: &str) -> Refusal {
    Refusal::new(Code::RequestInvalid, message)
}
