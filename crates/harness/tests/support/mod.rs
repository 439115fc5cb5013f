//! A harness over the memory backend, a virtual clock and the scripted model.
#![allow(dead_code, reason = "every test binary uses its own part of the support")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_harness::submissions::{InputDraft, SubmissionDraft, WhenBusy, WriteDraft};
use tidehold_harness::{Harness, HarnessOptions, Settings};
use tidehold_models::catalog::Catalog;
use tidehold_models::model::ModelRef;
use tidehold_models::registry::ModelRegistry;
use tidehold_models::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use tidehold_session::SessionError;
use tidehold_session::host::{Host, Millis};
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID, SubmissionId};
use tidehold_session::records::{EntryDraft, SubmissionRecord};
use tidehold_session::signal::AbortSignal;
use tidehold_session::storage::{ScanOrder, Storage};
use tidehold_storage::fault::Countdown;
use tidehold_storage::memory::MemoryStorage;
use tidehold_tasks::Alarm;

/// No test talks to the network.
struct NoTransport;

impl Transport for NoTransport {
    fn send(
        &self,
        _: HttpRequest,
        _: AbortSignal,
    ) -> futures::future::LocalBoxFuture<'static, Result<HttpResponse, TransportError>> {
        Box::pin(futures::future::pending())
    }
}

/// Remembers what the scheduler asked for.
#[derive(Default)]
pub struct RecordedAlarm(pub Cell<Option<Millis>>);

impl Alarm for RecordedAlarm {
    fn arm(&self, at: Option<Millis>) {
        self.0.set(at);
    }
}

pub type FaultyMemory = Countdown<MemoryStorage>;

/// One open harness and what it stands on.
pub struct Bench {
    pub runtime: LocalRuntime,
    pub storage: Rc<FaultyMemory>,
    pub alarm: Rc<RecordedAlarm>,
    pub reports: Rc<RefCell<Vec<String>>>,
    pub settings: Settings,
    pub model: Option<ModelRef>,
    pub harness: Harness,
}

pub fn echo() -> Option<ModelRef> {
    Some(ModelRef {
        provider: "scripted".into(),
        model_id: "echo".into(),
    })
}

impl Bench {
    pub fn new() -> Self {
        Self::with(Settings::default(), echo())
    }

    pub fn with(settings: Settings, model: Option<ModelRef>) -> Self {
        Self::over(
            MemoryStorage::new("incarnation".to_owned()),
            1_000_000,
            settings,
            model,
        )
    }

    fn over(storage: MemoryStorage, now: Millis, settings: Settings, model: Option<ModelRef>) -> Self {
        let mut runtime = LocalRuntime::virtual_clock(now, 42);
        let storage = Rc::new(Countdown::new(storage));
        let alarm = Rc::new(RecordedAlarm::default());
        let reports = Rc::new(RefCell::new(Vec::new()));
        let shared_alarm = Rc::clone(&alarm) as Rc<dyn Alarm>;
        let options = options(
            runtime.host(),
            shared_alarm,
            Rc::clone(&reports),
            &settings,
            model.clone(),
        );
        let host = runtime.host();
        let shared: Rc<dyn Storage> = Rc::clone(&storage) as Rc<dyn Storage>;
        let opened = runtime.run(async move { Harness::open(shared, host, options, |_| {}).await });
        let harness = opened.expect("open ends").expect("open succeeds");
        Self {
            runtime,
            storage,
            alarm,
            reports,
            settings,
            model,
            harness,
        }
    }

    /// A crash: everything in memory is gone, the committed state is opened again.
    pub fn crash(self) -> Self {
        let now = self.runtime.host().now();
        let storage = self.storage.inner().reopen();
        drop(self.harness);
        drop(self.runtime);
        Self::over(storage, now, self.settings, self.model)
    }

    /// Runs one call to its end, with everything that is spawned.
    pub fn run<T: 'static>(&mut self, call: impl AsyncFnOnce(Harness) -> T + 'static) -> T {
        let harness = self.harness.clone();
        let done = self.runtime.run(async move { call(harness).await });
        // Those of listeners are contained: they would pass in silence.
        let panicked = |report: &String| report.contains("panicked");
        assert!(!self.reports.borrow().iter().any(panicked), "{:?}", self.reports);
        done.expect("the call ends")
    }

    /// Everything that can happen without a further call happens.
    pub fn drain(&mut self) {
        self.runtime.advance(24 * 3_600_000);
    }

    pub fn submit(&mut self, text: &str) -> SubmissionRecord {
        let draft = input(text);
        self.run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, draft).await)
            .expect("admitted")
    }

    pub fn submission(&mut self, id: SubmissionId) -> Json {
        let record = self
            .run(async move |harness| harness.submission(id).await)
            .expect("read");
        tidehold_harness::view::submission(&record.expect("the submission exists"))
    }

    pub fn settle(&mut self, text: &str) -> Json {
        let id = self.submit(text).id;
        self.run(async move |harness| harness.wait_for_submission(id, None).await)
            .expect("settles");
        self.submission(id)
    }

    /// The whole transcript, oldest first.
    pub fn entries(&mut self) -> Vec<Json> {
        self.entries_of(ROOT_CONVERSATION_ID)
    }

    pub fn entries_of(&mut self, conversation: ConversationId) -> Vec<Json> {
        let mut entries = Vec::new();
        let mut next = None;
        loop {
            let page = self.run(async move |harness| {
                harness
                    .entries(conversation, Some(ScanOrder::Ascending), 1000, next)
                    .await
            });
            let page = page.expect("entries");
            entries.extend(page.items);
            next = page.next;
            if next.is_none() {
                return entries;
            }
        }
    }

    /// `kind: text` of every entry.
    pub fn transcript(&mut self) -> Vec<String> {
        self.entries().iter().map(line).collect()
    }
}

/// A harness over any storage and alarm.
pub fn harness_over(
    runtime: &mut LocalRuntime,
    storage: Rc<dyn Storage>,
    alarm: Rc<dyn Alarm>,
    settings: &Settings,
    model: Option<ModelRef>,
) -> Harness {
    let host = runtime.host();
    let options = options(runtime.host(), alarm, Rc::default(), settings, model);
    let opened = runtime.run(async move { Harness::open(storage, host, options, |_| {}).await });
    opened.expect("open ends").expect("open succeeds")
}

/// The same where the open may fail, with what was reported.
pub fn try_harness_over(
    runtime: &mut LocalRuntime,
    storage: Rc<dyn Storage>,
    settings: &Settings,
) -> (Result<Harness, SessionError>, Rc<RefCell<Vec<String>>>) {
    let (host, reports) = (runtime.host(), Rc::<RefCell<Vec<String>>>::default());
    let alarm = Rc::new(RecordedAlarm::default());
    let options = options(runtime.host(), alarm, Rc::clone(&reports), settings, echo());
    let opened = runtime.run(async move { Harness::open(storage, host, options, |_| {}).await });
    (opened.expect("open ends"), reports)
}

pub fn options(
    host: Rc<dyn Host>,
    alarm: Rc<dyn Alarm>,
    reports: Rc<RefCell<Vec<String>>>,
    settings: &Settings,
    model: Option<ModelRef>,
) -> HarnessOptions {
    let providers = Json::parse(
        r#"{"scripted": {"api": "scripted", "models": {"echo": {}, "small": {"contextWindow": 4000}}}}"#,
        16,
    )
    .expect("providers");
    let catalog = Rc::new(Catalog::from_config(&providers, "providers").expect("catalog"));
    let models = ModelRegistry::new(
        catalog,
        Rc::new(NoTransport),
        Rc::clone(&host),
        Rc::new(|_: &str| None),
    );
    let settings = settings.clone();
    HarnessOptions {
        models: Rc::new(models),
        settings: Rc::new(move || settings.clone()),
        default_model: Rc::new(move || model.clone()),
        alarm,
        watchdog_ms: 10_000,
        timer_horizon_ms: u64::MAX,
        on_report: Rc::new(move |report| reports.borrow_mut().push(report)),
    }
}

pub fn input(text: &str) -> SubmissionDraft {
    input_when(text, WhenBusy::FollowUp, None)
}

pub fn input_when(text: &str, when_busy: WhenBusy, request_id: Option<&str>) -> SubmissionDraft {
    SubmissionDraft::Input(InputDraft {
        request_id: request_id.map(Into::into),
        content: Json::from(text),
        when_busy,
        entry: None,
    })
}

pub fn write(entry: EntryDraft) -> SubmissionDraft {
    SubmissionDraft::Write(WriteDraft {
        request_id: None,
        entry,
    })
}

/// `kind[stop]: text` of an entry.
pub fn line(entry: &Json) -> String {
    let kind = entry.get("kind").and_then(Json::as_str).unwrap_or("?");
    let message = entry.get("model").and_then(|model| model.index(0));
    let content = message.and_then(|message| message.get("content"));
    let text = match content {
        Some(Json::String(text)) => text.to_string(),
        Some(Json::Array(blocks)) => blocks
            .iter()
            .filter_map(|block| {
                block
                    .get("text")
                    .or_else(|| block.get("name"))
                    .and_then(Json::as_str)
            })
            .collect(),
        _ => entry.get("data").map(ToString::to_string).unwrap_or_default(),
    };
    match message
        .and_then(|message| message.get("stopReason"))
        .and_then(Json::as_str)
    {
        Some(stop) => format!("{kind}[{stop}]: {text}"),
        None => format!("{kind}: {text}"),
    }
}

pub fn status(submission: &Json) -> &str {
    submission.get("status").and_then(Json::as_str).unwrap_or("?")
}

pub fn reason(submission: &Json) -> &str {
    submission.get("reason").and_then(Json::as_str).unwrap_or("?")
}

pub fn is_storage_failure(error: &SessionError) -> bool {
    error.is_fatal()
}
