//! `inspect` of one run: a page of one view.

use super::data::{PageData, SingleData};
use super::input::Action;
use super::plan::Page;
use super::views::{self, Viewed};
use super::{find, success};
use crate::content;
use crate::cursor::{Kind, Scope};
use crate::error::Stop;
use crate::evidence::Runs;
use crate::page;
use crate::receipt::ToolResult;
use tidehold_delta::{Text, json};
use tidehold_session::host::Millis;

pub(super) async fn run(runs: &Runs<'_>, request: Page, at: Millis) -> Result<ToolResult, Stop> {
    let run = find(runs, &request.id).await?;
    let view = request.view.view();
    let scope = Scope::new(Kind::Page, [&*runs.incarnation, &*run.id, view.name()]);
    let position = request
        .cursor
        .as_deref()
        .map(|cursor| scope.decode(cursor))
        .transpose()?;
    let needed = page::needed(position.as_ref(), request.limit_bytes)?;
    let Viewed {
        text,
        encoding,
        final_available,
        output_status,
        otherwise,
    } = views::read(runs, &run, request.view, needed).await?;
    let cut = page::cut(&text, position.as_ref(), request.limit_bytes)?;
    let data = SingleData {
        mode: "single".into(),
        run_id: run.id.clone(),
        view,
        page: PageData {
            text: cut.text.into(),
            encoding,
            complete: cut.next.is_none(),
            next_cursor: cut.next.map(|next| Text::from(scope.encode(next))),
        },
        final_available,
        output_status,
    };
    // The page comes first and alone, so that blocks of pages concatenate like the pages.
    let mut said = Vec::new();
    if !data.page.text.is_empty() {
        said.push(data.page.text.to_string());
    } else if data.page.complete {
        said.push(otherwise.unwrap_or_else(|| "Nothing more.".to_owned()));
    }
    if let Some(cursor) = &data.page.next_cursor {
        let arguments = json!({ "action": "inspect", "runIds": [&run.id], "view": view.name() });
        said.push(content::more(arguments, cursor).trim_start().to_owned());
    }
    Ok(ToolResult {
        content: said,
        receipt: success(Action::Inspect, at, &data),
    })
}
