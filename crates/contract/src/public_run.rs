//! A run as callers see it. No evidence path, prompt, model or context is part of it.

use crate::schema;
use crate::wire::{wire_enum, wire_struct};
use tidehold_delta::{Json, Text};

wire_enum! {
    /// What a run is.
    pub enum Kind { Agent = "agent", Workflow = "workflow" }
}

wire_enum! {
    /// Where a run stands.
    pub enum Status {
        Queued = "queued",
        Running = "running",
        Done = "done",
        Error = "error",
        Aborted = "aborted",
        /// Unfinished evidence without a live owner; only supervision sees it.
        InterruptedOrUncertain = "interrupted_or_uncertain",
    }
}

wire_enum! {
    /// How a run ended.
    pub enum Outcome { Succeeded = "succeeded", Failed = "failed", Cancelled = "cancelled", TimedOut = "timed_out" }
}

wire_enum! {
    /// How complete a run's evidence is.
    pub enum Integrity {
        Complete = "complete",
        /// Live, or not yet finalized.
        Incomplete = "incomplete",
        Damaged = "damaged",
        /// Not read, or unreadable.
        Unknown = "unknown",
    }
}

wire_enum! {
    /// How the canonical value is delivered.
    pub enum Delivery { Inline = "inline", Reference = "reference", None = "none" }
}

wire_enum! {
    /// What an inspection shows.
    pub enum View {
        Summary = "summary",
        Output = "output",
        Diagnostics = "diagnostics",
        Final = "final",
        Launch = "launch",
    }
}

wire_struct! {
    /// Who was asked to do what.
    pub struct Task {
        description: Option<Text> as "description",
        role: Option<Text> as "role",
        profile: Option<Text> as "profile",
        backend: Option<Text> as "backend",
        harness: Option<Text> as "harness",
        workflow_run_id: Option<Text> as "workflowRunId",
        name: Option<Text> as "name",
        source: Option<Text> as "source",
    }
}

wire_struct! {
    /// Lifecycle state; the outcome is there once it is terminal.
    pub struct State {
        status: Status as "status",
        outcome: Option<Outcome> as "outcome",
        /// Ours: why it did not succeed, in a word.
        reason: Option<Text> as "reason",
    }
}

wire_struct! {
    /// Instants in ISO 8601, durations in milliseconds.
    pub struct Timing {
        queued_at: Option<Text> as "queuedAt",
        execution_started_at: Option<Text> as "executionStartedAt",
        finished_at: Option<Text> as "finishedAt",
        queue_delay_ms: Option<u64> as "queueDelayMs",
        /// From the start to the end, or until now.
        elapsed_ms: Option<u64> as "elapsedMs",
    }
}

wire_struct! {
    /// What there is to read. `value` is there exactly when it is delivered inline; any JSON is a value.
    pub struct Output {
        available: bool as "available",
        final_available: bool as "finalAvailable",
        delivery: Delivery as "delivery",
        value: Option<Json> as "value",
    }
}

wire_struct! {
    /// The evidence behind the row.
    pub struct Evidence { integrity: Integrity as "integrity" }
}

wire_struct! {
    /// Children of a workflow.
    pub struct Children {
        count: Option<u64> as "count",
        failed: Option<u64> as "failed",
    }
}

wire_struct! {
    /// Ready arguments of an inspection.
    pub struct Ref {
        tool: Text as "tool" = schema::constant("external_runs"),
        action: Text as "action" = schema::constant("inspect"),
        run_ids: Vec<Text> as "runIds" = one_text(),
        view: View as "view" = schema::one_of(["summary", "final", "diagnostics"].into_iter()),
    }
}

wire_struct! {
    /// What to ask for next.
    pub struct Refs {
        summary: Ref as "summary",
        canonical: Ref as "final",
        diagnostics: Ref as "diagnostics",
    }
}

wire_struct! {
    /// A run.
    pub struct PublicRun {
        run_id: Text as "runId" = schema::run_id(),
        kind: Kind as "kind",
        live: bool as "live",
        /// Ours: the child's conversation, for those who may follow its events.
        conversation_id: Option<u64> as "conversationId",
        task: Task as "task",
        state: State as "state",
        timing: Timing as "timing",
        output: Output as "output",
        evidence: Evidence as "evidence",
        children: Option<Children> as "children",
        refs: Option<Refs> as "refs",
    }
}

fn one_text() -> Json {
    schema::with(
        schema::with(schema::array(schema::text()), "minItems", 1_u64),
        "maxItems",
        1_u64,
    )
}

/// Schema of the run of a delegate receipt: an agent, and never uncertain.
pub(crate) fn delegate_schema() -> Json {
    use crate::wire::Wire;
    let own = Status::ALL
        .iter()
        .filter(|status| **status != Status::InterruptedOrUncertain);
    let statuses = schema::one_of(own.map(|status| status.name()));
    let run = schema::replacing(&PublicRun::schema(), &["state", "status"], statuses);
    schema::replacing(&run, &["kind"], schema::constant(Kind::Agent.name()))
}

impl Refs {
    /// The references of a run.
    pub fn of(run_id: &Text) -> Self {
        Self {
            summary: Ref::new(run_id, View::Summary),
            canonical: Ref::new(run_id, View::Final),
            diagnostics: Ref::new(run_id, View::Diagnostics),
        }
    }
}

impl Ref {
    fn new(run_id: &Text, view: View) -> Self {
        Self {
            tool: "external_runs".into(),
            action: "inspect".into(),
            run_ids: vec![run_id.clone()],
            view,
        }
    }
}

impl Output {
    /// No value.
    pub fn none(available: bool) -> Self {
        Self {
            available,
            final_available: false,
            delivery: Delivery::None,
            value: None,
        }
    }

    /// A value that `refs.final` pages.
    pub fn reference() -> Self {
        Self {
            available: true,
            final_available: true,
            delivery: Delivery::Reference,
            value: None,
        }
    }

    /// A value right here.
    pub fn inline(value: Json) -> Self {
        Self {
            available: true,
            final_available: true,
            delivery: Delivery::Inline,
            value: Some(value),
        }
    }
}
