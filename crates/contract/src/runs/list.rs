//! `list`: runs and workflows, each stream with its own cursor.
//!
//! A run and its record are one commit here, so no run is ever live without a record: the live stage of the contract is
//! empty and a list cursor cannot become stale. Live runs stand where their record falls, with live state.

use super::data::ListData;
use super::input::Action;
use super::plan::List;
use super::{refused, success};
use crate::code::Refusal;
use crate::content;
use crate::cursor::{BadCursor, Kind, Scope};
use crate::error::Stop;
use crate::evidence::Runs;
use crate::receipt::ToolResult;
use crate::row::row;
use tidehold_delta::{Text, json};
use tidehold_session::SessionError;
use tidehold_session::host::Millis;
use tidehold_session::storage::{Cursor, Page};

pub(super) async fn run(runs: &Runs<'_>, list: List, at: Millis) -> Result<ToolResult, Stop> {
    workflows(&list)?;
    let scope = scope(&runs.incarnation, &list);
    let position = list
        .cursor
        .as_deref()
        .map(|cursor| scope.decode(cursor))
        .transpose()?;
    let page = match &list.workflow {
        // No workflow has run yet.
        Some(_) => Page {
            items: Vec::new(),
            next: None,
        },
        None => {
            let read = runs.page(list.limit, position.map(Cursor).as_ref()).await;
            read.map_err(|error| match error {
                // A cursor of ours with a position that storage does not know was made by somebody else.
                SessionError::Request(_) => Stop::from(BadCursor::Invalid),
                other => other.into(),
            })?
        }
    };
    let mut rows = Vec::with_capacity(page.items.len());
    for found in &page.items {
        rows.push(row(runs, found, at).await?);
    }
    let next = page
        .next
        .map(|Cursor(position)| Text::from(scope.encode(position)));
    Ok(answer(
        ListData {
            runs: rows,
            workflows: Vec::new(),
            next_cursor: next,
            next_workflow_cursor: None,
        },
        at,
    ))
}

/// The list of a session that does not exist. Cursors of other sessions lead nowhere, here as there.
pub(super) fn absent(list: &List, at: Millis) -> ToolResult {
    let cursor = list.cursor.as_ref().map(|_| Refusal::from(BadCursor::Invalid));
    match workflows(list).err().or(cursor) {
        Some(refusal) => refused(Action::List, &refusal, at),
        None => {
            let empty = ListData {
                runs: Vec::new(),
                workflows: Vec::new(),
                next_cursor: None,
                next_workflow_cursor: None,
            };
            answer(empty, at)
        }
    }
}

/// The workflow stream has no rows yet, so no cursor of it was ever given out.
fn workflows(list: &List) -> Result<(), Refusal> {
    list.workflow_cursor
        .as_ref()
        .map_or(Ok(()), |_| Err(BadCursor::Invalid.into()))
}

fn scope(incarnation: &str, list: &List) -> Scope {
    Scope::new(
        Kind::Runs,
        [incarnation, list.workflow.as_deref().unwrap_or_default()],
    )
}

fn answer(data: ListData, at: Millis) -> ToolResult {
    let mut said = match data.runs.len() {
        0 => "No runs.".to_owned(),
        count => format!(
            "{count} {}, newest first:",
            if count == 1 { "run" } else { "runs" }
        ),
    };
    for run in &data.runs {
        said.push('\n');
        said.push_str(&content::row(run));
    }
    if let Some(cursor) = &data.next_cursor {
        said.push_str(&content::more(json!({ "action": "list" }), cursor));
    }
    ToolResult {
        content: vec![said],
        receipt: success(Action::List, at, &data),
    }
}
