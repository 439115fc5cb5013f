//! A task whose phases are closures and whose checkpoints say when they wake.

use super::Log;
use futures::future::LocalBoxFuture;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::marker::PhantomData;
use std::rc::Rc;
use tidehold_delta::{Json, json};
use tidehold_tasks::*;

pub trait Kind: 'static {
    const NAME: &'static str;
    const VERSION: u32;
}

pub struct Plain;
impl Kind for Plain {
    const NAME: &'static str = "probe";
    const VERSION: u32 = 2;
}

/// The same kind at an older version.
pub struct Old;
impl Kind for Old {
    const NAME: &'static str = "probe";
    const VERSION: u32 = 1;
}

type Handler<K> =
    Rc<dyn Fn(Running<Probe<K>>, Runtime<Probe<K>>) -> LocalBoxFuture<'static, Result<(), TaskFault>>>;

/// The input's `start` is the initial checkpoint, `{"phase":"first"}` by default. A checkpoint with `at` wakes then, one
/// with `external` is parked for the outside.
pub struct Probe<K: Kind = Plain> {
    pub log: Log,
    /// How often the scheduler asked for a wake.
    pub asked: Rc<Cell<usize>>,
    phases: BTreeMap<&'static str, Handler<K>>,
    abort: Option<Handler<K>>,
    migrates: Option<fn(Json) -> Result<Json, String>>,
    kind: PhantomData<K>,
}

impl<K: Kind> Probe<K> {
    pub fn new() -> Self {
        Self {
            log: Log::default(),
            asked: Rc::default(),
            phases: BTreeMap::new(),
            abort: None,
            migrates: None,
            kind: PhantomData,
        }
    }

    pub fn logging_to(mut self, log: &Log) -> Self {
        self.log = Rc::clone(log);
        self
    }

    pub fn phase<F, R>(mut self, name: &'static str, handler: F) -> Self
    where
        F: Fn(Running<Self>, Runtime<Self>) -> R + 'static,
        R: Future<Output = Result<(), TaskFault>> + 'static,
    {
        self.phases.insert(
            name,
            Rc::new(move |task, runtime| Box::pin(handler(task, runtime))),
        );
        self
    }

    pub fn on_abort<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Running<Self>, Runtime<Self>) -> R + 'static,
        R: Future<Output = Result<(), TaskFault>> + 'static,
    {
        self.abort = Some(Rc::new(move |task, runtime| Box::pin(handler(task, runtime))));
        self
    }

    /// Checkpoints of older versions pass through this.
    pub fn migrating(mut self, migrate: fn(Json) -> Result<Json, String>) -> Self {
        self.migrates = Some(migrate);
        self
    }
}

impl<K: Kind> Task for Probe<K> {
    const NAME: &'static str = K::NAME;
    const VERSION: u32 = K::VERSION;
    type Input = Json;
    type Checkpoint = Json;
    type Outcome = Json;

    fn initial(&self, input: &Json) -> Json {
        input
            .get("start")
            .cloned()
            .unwrap_or_else(|| json!({ "phase": "first" }))
    }

    fn wake(&self, checkpoint: &Json) -> Wake {
        self.asked.set(self.asked.get() + 1);
        match (
            checkpoint.get("at").and_then(Json::as_u64),
            checkpoint.get("external"),
        ) {
            (Some(at), _) => Wake::At(at),
            (None, Some(_)) => Wake::External,
            (None, None) => Wake::Now,
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let phase = task
            .checkpoint
            .get("phase")
            .and_then(Json::as_str)
            .unwrap_or_default();
        self.log
            .borrow_mut()
            .push(format!("{phase} {}", runtime.task_id()));
        let handler = self
            .phases
            .get(phase)
            .ok_or_else(|| TaskFault::Failed(format!("no phase {phase}")))?;
        handler(task, runtime).await
    }

    async fn abort(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        self.log.borrow_mut().push(format!("abort {}", runtime.task_id()));
        match &self.abort {
            Some(handler) => handler(task, runtime).await,
            None => runtime.finish(Outcome::aborted()).await,
        }
    }

    fn migration(&self, _: u32) -> Option<Migrate<Self>> {
        self.migrates?;
        Some(|probe, input, checkpoint, _| {
            let migrate = probe.migrates.ok_or("no migration")?;
            Ok((input, migrate(checkpoint)?))
        })
    }
}

/// Ends a task successfully.
pub async fn done<K: Kind>(_: Running<Probe<K>>, runtime: Runtime<Probe<K>>) -> Result<(), TaskFault> {
    runtime.finish(Outcome::Completed(json!("done"))).await
}

/// Ends a task as aborted.
pub async fn aborted<K: Kind>(_: Running<Probe<K>>, runtime: Runtime<Probe<K>>) -> Result<(), TaskFault> {
    runtime.finish(Outcome::aborted()).await
}
