//! Arguments of `external_runs`.

use crate::limits::{
    CURSOR_CHARS, LIST_ROWS_MAX, PAGE_BYTES_MAX, PAGE_BYTES_MIN, REASON_CHARS, RUN_ID_CHARS, TARGETS,
    WAIT_TIMEOUT_MAX_MS,
};
use crate::public_run::View;
use crate::schema::{about, array, integer, text_up_to, with};
use crate::wire::{Wire, wire_enum, wire_struct};
use tidehold_delta::{Json, Text};

wire_enum! {
    /// What to do.
    pub enum Action { List = "list", Inspect = "inspect", Wait = "wait", Cancel = "cancel" }
}

wire_enum! {
    /// When a wait ends.
    pub enum Mode { Any = "any", All = "all" }
}

wire_struct! {
    /// The arguments. What depends on the action is checked later and answered by a receipt, so that a script sees a typed
    /// error. `tool` is accepted, because references carry it.
    pub struct RunsInput {
        action: Action as "action",
        run_ids: Option<Vec<Text>> as "runIds" = about(
            with(array(text_up_to(RUN_ID_CHARS)), "maxItems", TARGETS),
            "Targets: inspect 1-20 (summary) or 1, wait 1-100, cancel 1, list none.",
        ),
        view: Option<View> as "view" = about(View::schema(), "What inspect shows; default summary, for several runs only that."),
        mode: Option<Mode> as "mode" = about(Mode::schema(), "When wait returns; default all."),
        cursor: Option<Text> as "cursor" = about(text_up_to(CURSOR_CHARS), "nextCursor of the page before."),
        workflow_cursor: Option<Text> as "workflowCursor"
            = about(text_up_to(CURSOR_CHARS), "nextWorkflowCursor of the page before."),
        limit: Option<u64> as "limit" = about(integer(1, Some(LIST_ROWS_MAX)), "Rows of a list page; default 50."),
        limit_bytes: Option<u64> as "limitBytes" = about(
            integer(PAGE_BYTES_MIN, Some(PAGE_BYTES_MAX)),
            "Bytes of a page, or of all results of a wait; default 32768.",
        ),
        workflow_run_id: Option<Text> as "workflowRunId"
            = about(text_up_to(RUN_ID_CHARS), "List only the runs of this workflow (wf_...)."),
        reason: Option<Text> as "reason" = about(text_up_to(REASON_CHARS), "Why cancel; kept with the run."),
        timeout_ms: Option<u64> as "timeoutMs" = about(
            integer(0, Some(WAIT_TIMEOUT_MAX_MS)),
            "Bound of wait in milliseconds: then the rest is pending; absent = until the condition holds.",
        ),
        tool: Option<Json> as "tool" = about(Json::schema(), "Ignored; references carry it."),
    }
}
