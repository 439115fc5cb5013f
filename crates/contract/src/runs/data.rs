//! What `external_runs` answers.

use super::input::Mode;
use crate::public_run::{PublicRun, View};
use crate::schema;
use crate::wire::{wire_enum, wire_struct};
use tidehold_delta::Text;

wire_struct! {
    /// `list`. A cursor says that the scan stopped early, not that there is more.
    pub struct ListData {
        runs: Vec<PublicRun> as "runs",
        workflows: Vec<PublicRun> as "workflows",
        next_cursor: Option<Text> as "nextCursor",
        next_workflow_cursor: Option<Text> as "nextWorkflowCursor",
    }
}

wire_struct! {
    /// `inspect` of summaries.
    pub struct BatchData {
        mode: Text as "mode" = schema::constant("batch"),
        entries: Vec<PublicRun> as "entries",
        next_cursor: Option<Text> as "nextCursor",
    }
}

wire_enum! {
    /// How a page is to be read. JSON pages may be fragments: concatenate them before parsing.
    pub enum Encoding { Json = "json", Text = "text" }
}

wire_enum! {
    /// Whether what was read can still change.
    pub enum OutputStatus { Preliminary = "preliminary", Final = "final", Interrupted = "interrupted" }
}

wire_struct! {
    /// One page of a view. `complete` exactly when there is no cursor.
    pub struct PageData {
        text: Text as "text",
        encoding: Encoding as "encoding",
        complete: bool as "complete",
        next_cursor: Option<Text> as "nextCursor",
    }
}

wire_struct! {
    /// `inspect` of one run.
    pub struct SingleData {
        mode: Text as "mode" = schema::constant("single"),
        run_id: Text as "runId" = schema::run_id(),
        view: View as "view",
        page: PageData as "page",
        final_available: Option<bool> as "finalAvailable",
        output_status: Option<OutputStatus> as "outputStatus",
    }
}

wire_struct! {
    /// `wait`. Both lists are in request order.
    pub struct WaitData {
        mode: Mode as "mode",
        completed: Vec<PublicRun> as "completed",
        pending: Vec<Text> as "pending",
    }
}

wire_enum! {
    /// What a cancellation found. `requested` does not say that the run has stopped.
    pub enum CancelStatus { Requested = "requested", Terminal = "terminal" }
}

wire_struct! {
    /// `cancel`.
    pub struct CancelData {
        run_id: Text as "runId" = schema::run_id(),
        status: CancelStatus as "status",
    }
}
