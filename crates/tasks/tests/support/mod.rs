//! A session over memory storage with a virtual clock, a recorded alarm, and tasks scripted by the test.
#![allow(dead_code, reason = "every test binary uses its own part")]

mod clock;
mod family;
mod probe;
mod storage;

use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use tidehold_delta::{Json, json};
use tidehold_session::host::Host;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID, Seq, TaskId};
use tidehold_session::records::{ConversationOwnership, TaskOutcome, TaskRecord};
use tidehold_session::{Session, SessionError, SessionOptions, Tx};
use tidehold_tasks::*;

#[allow(unused_imports, reason = "every test binary uses its own part")]
pub use clock::Clock;
#[allow(unused_imports, reason = "every test binary uses its own part")]
pub use family::{children, number, parent, parenting, worker};
#[allow(unused_imports, reason = "every test binary uses its own part")]
pub use probe::{Kind, Old, Plain, Probe, aborted, done};
#[allow(unused_imports, reason = "every test binary uses its own part")]
pub use storage::{Faulty, Medium};

pub const ROOT: ConversationId = ROOT_CONVERSATION_ID;
pub const START: u64 = 1_000_000;

/// What happened, in order.
pub type Log = Rc<RefCell<Vec<String>>>;

#[derive(Default)]
pub struct Recorder {
    pub alarms: RefCell<Vec<Option<u64>>>,
    pub reports: RefCell<Vec<String>>,
    pub hooks: RefCell<Vec<String>>,
    pub hooks_fail: Cell<bool>,
    panics: RefCell<Vec<String>>,
}

impl Alarm for Recorder {
    fn arm(&self, at: Option<u64>) {
        self.alarms.borrow_mut().push(at);
    }
}

impl Recorder {
    /// The panics of listeners are kept: they would otherwise pass in silence.
    fn session_options(self: &Rc<Self>) -> SessionOptions {
        let recorder = Rc::clone(self);
        SessionOptions {
            on_report: Some(Rc::new(move |text| {
                if text.contains("panicked") {
                    recorder.panics.borrow_mut().push(text);
                }
            })),
            ..SessionOptions::default()
        }
    }
}

impl SchedulerHooks for Recorder {
    fn settle_written_outcome<'a>(
        &'a self,
        _: &'a Tx,
        record: &'a TaskRecord,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        self.hooks
            .borrow_mut()
            .push(format!("settle {} {}", record.id, status(record)));
        let fails = self.hooks_fail.get();
        Box::pin(async move {
            if fails {
                Err(SessionError::Request("hook".into()))
            } else {
                Ok(())
            }
        })
    }

    fn withdraw_inputs<'a>(
        &'a self,
        _: &'a Tx,
        conversation: ConversationId,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        self.hooks.borrow_mut().push(format!("withdraw {conversation}"));
        Box::pin(async { Ok(()) })
    }
}

/// One open session; `restart` is a crash.
pub struct Bench {
    pub runtime: LocalRuntime,
    pub medium: Medium,
    pub storage: Rc<dyn Faulty>,
    pub session: Session,
    pub scheduler: Scheduler,
    pub registry: TaskRegistry,
    pub recorder: Rc<Recorder>,
    pub clock: Rc<Clock>,
    pub log: Log,
    now: u64,
}

impl Bench {
    /// A resumed session in memory, with a root conversation.
    pub fn new(probe: Probe<Plain>) -> Self {
        Self::over(Medium::memory(), probe)
    }

    /// The same, kept elsewhere.
    pub fn over(medium: Medium, probe: Probe<Plain>) -> Self {
        let registry = TaskRegistry::new();
        let log = Rc::clone(&probe.log);
        registry.install(Rc::new(probe));
        let mut bench = Self::on(medium, registry, log, START);
        bench.commit(async |tx| tx.create_root().await.map(drop));
        bench.scheduler.resume();
        bench
    }

    fn on(medium: Medium, registry: TaskRegistry, log: Log, now: u64) -> Self {
        let mut runtime = LocalRuntime::virtual_clock(now, 7);
        let storage = medium.open();
        let recorder = Rc::new(Recorder::default());
        let clock = Clock::over(runtime.host());
        let session = Session::open(storage.clone(), clock.clone(), recorder.session_options());
        let reports = Rc::clone(&recorder);
        let options = SchedulerOptions {
            hooks: recorder.clone(),
            alarm: recorder.clone(),
            on_report: Rc::new(move |text| reports.reports.borrow_mut().push(text)),
            ..SchedulerOptions::default()
        };
        let (opened, known) = (session.clone(), registry.clone());
        let scheduler = runtime.run(async move { Scheduler::open(&opened, known, options).await });
        let scheduler = scheduler.expect("open settles").expect("open succeeds");
        Self {
            runtime,
            medium,
            storage,
            session,
            scheduler,
            registry,
            recorder,
            clock,
            log,
            now,
        }
    }

    /// Everything in memory is lost; the same storage is opened again, paused.
    pub fn restart(self) -> Self {
        self.restart_with(|_| {})
    }

    /// The same with other definitions.
    pub fn restart_with(self, install: impl FnOnce(&TaskRegistry)) -> Self {
        let now = self.runtime.host().now();
        let Self {
            runtime,
            medium,
            storage,
            session,
            scheduler,
            registry,
            log,
            ..
        } = self;
        drop((scheduler, session));
        drop(runtime);
        drop(storage);
        install(&registry);
        Self::on(medium, registry, log, now)
    }

    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    pub fn run<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) -> T {
        let done = self.runtime.run(future);
        assert_eq!(*self.recorder.panics.borrow(), Vec::<String>::new());
        done.expect("nothing can run any more")
    }

    pub fn commit<T: 'static>(
        &mut self,
        change: impl AsyncFnOnce(Tx) -> Result<T, SessionError> + 'static,
    ) -> T {
        let session = self.session.clone();
        self.run(async move { session.commit(change).await })
            .expect("commit succeeds")
    }

    /// A top-level task with this input; see [`Probe`].
    pub fn create(&mut self, input: Json) -> TaskId {
        self.create_with(input, TaskOptions::in_conversation(ROOT))
    }

    pub fn create_with(&mut self, input: Json, options: TaskOptions) -> TaskId {
        self.commit(async move |tx| Ok(create(&tx, &Probe::<Plain>::new(), &input, options).await?.id()))
    }

    pub fn conversation_of(&mut self, owner: TaskId) -> ConversationId {
        self.commit(async move |tx| {
            tx.create_conversation(ConversationOwnership::Task(owner))
                .await
                .map(|r| r.id)
        })
    }

    /// Waits for the receipt; time passes as needed.
    pub fn wait(&mut self, id: TaskId) -> TaskRecord {
        let scheduler = self.scheduler.clone();
        let record = self.run(async move { scheduler.wait_for_task(id).await });
        record.expect("the task settles").as_ref().clone()
    }

    pub fn outcome(&mut self, id: TaskId) -> TaskOutcome {
        self.wait(id).outcome().expect("terminal").clone()
    }

    pub fn abort(&mut self, id: TaskId) -> AbortReply {
        let scheduler = self.scheduler.clone();
        self.run(async move { scheduler.abort_task(id).await })
            .expect("the mark commits")
    }

    /// Runs what can run now, without letting time pass.
    pub fn settle(&mut self) {
        self.runtime.settle();
        assert_eq!(*self.recorder.panics.borrow(), Vec::<String>::new());
    }

    pub fn record(&self, id: TaskId) -> TaskRecord {
        self.scheduler.live_task(id).expect("live").as_ref().clone()
    }

    pub fn status(&self, id: TaskId) -> &'static str {
        self.scheduler
            .live_task(id)
            .map_or("terminal", |record| status(&record))
    }

    pub fn inspected(&self, id: TaskId) -> Json {
        let tasks = self.scheduler.inspect();
        let task = tasks.iter().find(|task| task.record.id == id).expect("live");
        Json::from_serialize(&task.state).expect("serializes")
    }

    pub fn last_alarm(&self) -> Option<u64> {
        *self
            .recorder
            .alarms
            .borrow()
            .last()
            .expect("an alarm was set or cleared")
    }

    pub fn log(&self) -> Vec<String> {
        self.log.borrow().clone()
    }

    pub fn hooks(&self) -> Vec<String> {
        self.recorder.hooks.borrow().clone()
    }
}

pub fn status(record: &TaskRecord) -> &'static str {
    use tidehold_session::records::TaskState;
    match &record.state {
        TaskState::Pending { .. } => "pending",
        TaskState::Running { .. } => "running",
        TaskState::Waiting { .. } => "waiting",
        TaskState::Completing { .. } => "completing",
        TaskState::Terminal { outcome } => outcome_name(outcome),
    }
}

pub fn outcome_name(outcome: &TaskOutcome) -> &'static str {
    match outcome {
        TaskOutcome::Completed { .. } => "completed",
        TaskOutcome::Failed { .. } => "failed",
        TaskOutcome::Aborted { .. } => "aborted",
        TaskOutcome::Orphaned { .. } => "orphaned",
        TaskOutcome::Faulted { .. } => "faulted",
    }
}

/// The message of a fault or failure, or the reason of an orphaned outcome.
pub fn message(outcome: &TaskOutcome) -> String {
    match outcome {
        TaskOutcome::Failed { error, .. } | TaskOutcome::Faulted { error } => error.message.to_string(),
        TaskOutcome::Orphaned { reason } => reason.to_string(),
        other => outcome_name(other).to_owned(),
    }
}

/// The newest commit.
pub fn head(bench: &mut Bench) -> Option<Seq> {
    let session: Session = bench.session.clone();
    bench.run(async move { session.head().await }).unwrap()
}

/// `first` moves on, `second` never returns by itself.
pub fn stuck() -> Probe {
    Probe::new()
        .phase("first", |_, runtime: Runtime<Probe>| async move {
            runtime.advance(json!({ "phase": "second" })).await
        })
        .phase("second", |_, runtime: Runtime<Probe>| async move {
            runtime.signal().aborted().await;
            Ok(())
        })
}
