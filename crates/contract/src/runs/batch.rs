//! `inspect` of summaries: whole rows, as many as fit both the text and the receipt.

use super::data::BatchData;
use super::input::Action;
use super::plan::Batch;
use super::{find, success};
use crate::code::{Code, Refusal};
use crate::content;
use crate::cursor::{BadCursor, Kind, Scope};
use crate::error::Stop;
use crate::evidence::Runs;
use crate::public_run::PublicRun;
use crate::receipt::ToolResult;
use crate::row::row;
use crate::wire::Wire;
use tidehold_delta::{Json, Text, json};
use tidehold_session::host::Millis;

pub(super) async fn run(runs: &Runs<'_>, batch: Batch, at: Millis) -> Result<ToolResult, Stop> {
    // Every target is looked up first: an answer about some of them would pass for one about all.
    let mut found = Vec::with_capacity(batch.ids.len());
    for id in &batch.ids {
        found.push(find(runs, id).await?);
    }
    let parts = std::iter::once(&*runs.incarnation).chain(batch.ids.iter().map(|id| &**id));
    let scope = Scope::new(Kind::Batch, parts);
    let first = match &batch.cursor {
        None => 0,
        Some(cursor) => start(&scope, cursor, found.len())?,
    };
    let mut page = Filling::new(batch.limit_bytes, at);
    for (index, run) in found.iter().enumerate().skip(first) {
        let entry = row(runs, run, at).await?;
        let after = index + 1;
        let next = (after < found.len()).then(|| Text::from(scope.encode(Json::from(after))));
        if let Err(needed) = page.add(entry, next, &batch.ids) {
            if page.data.entries.is_empty() {
                let said = format!(
                    "The next entry needs {needed} bytes, limitBytes is {}.",
                    batch.limit_bytes
                );
                return Err(Refusal::new(Code::PageTooSmall, said).into());
            }
            break;
        }
    }
    Ok(ToolResult {
        content: vec![text(&page.data, &batch.ids)],
        receipt: success(Action::Inspect, at, &page.data),
    })
}

fn start(scope: &Scope, cursor: &str, targets: usize) -> Result<usize, BadCursor> {
    let index = scope
        .decode(cursor)?
        .as_u64()
        .and_then(|index| usize::try_from(index).ok());
    index.filter(|index| *index < targets).ok_or(BadCursor::Invalid)
}

/// A page under construction. Both channels grow by the same entries and end with the same cursor.
struct Filling {
    limit: usize,
    /// Bytes of the receipt so far, without its cursor.
    receipt: usize,
    data: BatchData,
    at: Millis,
}

impl Filling {
    fn new(limit: usize, at: Millis) -> Self {
        let data = BatchData {
            mode: "batch".into(),
            entries: Vec::new(),
            next_cursor: None,
        };
        let receipt = success(Action::Inspect, at, &data).encoded_len();
        Self {
            limit,
            receipt,
            data,
            at,
        }
    }

    /// Adds an entry, `next` being where its successor is, or says how many bytes that would take.
    fn add(&mut self, entry: PublicRun, next: Option<Text>, ids: &[Text]) -> Result<(), usize> {
        let comma = usize::from(!self.data.entries.is_empty());
        let receipt = self.receipt + comma + entry.write().map_or(0, |entry| entry.encoded_len());
        let cursor = next
            .as_ref()
            .map_or(0, |next| json!({ "nextCursor": next }).encoded_len() - 1);
        let before = self.data.next_cursor.clone();
        self.data.entries.push(entry);
        self.data.next_cursor = next;
        let needed = (receipt + cursor).max(text(&self.data, ids).len());
        if needed > self.limit {
            self.data.entries.pop();
            self.data.next_cursor = before;
            return Err(needed);
        }
        self.receipt = receipt;
        debug_assert_eq!(
            receipt + cursor,
            success(Action::Inspect, self.at, &self.data).encoded_len()
        );
        Ok(())
    }
}

fn text(data: &BatchData, ids: &[Text]) -> String {
    let mut said = data
        .entries
        .iter()
        .map(content::row)
        .collect::<Vec<_>>()
        .join("\n");
    if let Some(cursor) = &data.next_cursor {
        let ids = Json::array(ids.iter().map(Json::from));
        said.push_str(&content::more(
            json!({ "action": "inspect", "runIds": ids }),
            cursor,
        ));
    }
    said
}
