//! The contract over a harness with the memory backend, a virtual clock and the scripted model.
#![allow(dead_code, reason = "every test binary uses its own part of the support")]
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail like tests"
)]

use std::cell::RefCell;
use std::rc::Rc;
use tidehold_contract::config::{Availability, ContractConfig, HarnessChoice, Role, RunLimits};
use tidehold_contract::schema::check;
use tidehold_contract::{Begun, Call, CallError, Contract, Tool, ToolResult, run};
use tidehold_delta::{Json, Object, json};
use tidehold_harness::{Harness, HarnessOptions, Settings};
use tidehold_models::catalog::Catalog;
use tidehold_models::model::ModelRef;
use tidehold_models::registry::ModelRegistry;
use tidehold_models::thinking::ThinkingLevel;
use tidehold_models::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use tidehold_session::host::{Host, Millis};
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::signal::AbortSignal;
use tidehold_session::storage::Storage;
use tidehold_storage::memory::MemoryStorage;
use tidehold_tasks::{NoAlarm, TaskRegistry};

pub mod golden;

pub const START: Millis = 1_760_000_000_000;

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

/// One open session with its tools.
pub struct Bench {
    pub runtime: LocalRuntime,
    storage: MemoryStorage,
    config: Rc<ContractConfig>,
    pub reports: Rc<RefCell<Vec<String>>>,
    pub harness: Harness,
    pub contract: Rc<Contract>,
}

impl Bench {
    pub fn new() -> Self {
        Self::named("incarnation-one")
    }

    pub fn named(incarnation: &str) -> Self {
        Self::over(
            MemoryStorage::new(incarnation),
            START,
            Rc::new(config()),
            run::install,
        )
    }

    pub fn over(
        storage: MemoryStorage,
        now: Millis,
        config: Rc<ContractConfig>,
        install: impl FnOnce(&mut TaskRegistry) + 'static,
    ) -> Self {
        let shared = Rc::new(storage.reopen());
        Self::on(shared, storage, now, config, install)
    }

    /// Over `shared`, which `storage` is a handle of.
    pub fn on(
        shared: Rc<dyn Storage>,
        storage: MemoryStorage,
        now: Millis,
        config: Rc<ContractConfig>,
        install: impl FnOnce(&mut TaskRegistry) + 'static,
    ) -> Self {
        let mut runtime = LocalRuntime::virtual_clock(now, 7);
        let reports = Rc::new(RefCell::new(Vec::new()));
        let options = options(runtime.host(), Rc::clone(&reports));
        let host = runtime.host();
        let opened = runtime.run(async move { Harness::open(shared, host, options, install).await });
        let harness = opened.expect("open ends").expect("open succeeds");
        let contract = Rc::new(Contract::new(harness.clone(), Rc::clone(&config)));
        Self {
            runtime,
            storage,
            config,
            reports,
            harness,
            contract,
        }
    }

    /// Everything in memory is gone, the committed state is opened again.
    pub fn crash(self) -> Self {
        self.crash_into(run::install)
    }

    pub fn crash_into(self, install: impl FnOnce(&mut TaskRegistry) + 'static) -> Self {
        let now = self.runtime.host().now();
        let Self {
            runtime,
            storage,
            config,
            harness,
            contract,
            ..
        } = self;
        drop((contract, harness, runtime));
        Self::over(storage, now, config, install)
    }

    pub fn now(&self) -> Millis {
        self.runtime.host().now()
    }

    /// Runs something to its end, with everything that is spawned.
    pub fn run<T: 'static>(&mut self, call: impl AsyncFnOnce(Rc<Contract>) -> T + 'static) -> T {
        let contract = Rc::clone(&self.contract);
        let done = self.runtime.run(async move { call(contract).await });
        // Those of listeners are contained: they would pass in silence.
        let panicked = |report: &String| report.contains("panicked");
        assert!(!self.reports.borrow().iter().any(panicked), "{:?}", self.reports);
        done.expect("the call ends")
    }

    /// A call seen through; its result is checked as every result is.
    pub fn call(&mut self, tool: Tool, arguments: Json) -> ToolResult {
        let result = self.run(async move |contract| contract.call(tool.name(), &arguments).await);
        let result = result.expect("a receipt");
        assert_valid(tool, &result);
        result
    }

    /// A call that must be refused before there is a receipt.
    pub fn problems(&mut self, tool: Tool, arguments: Json) -> Vec<String> {
        match self.run(async move |contract| contract.call(tool.name(), &arguments).await) {
            Err(CallError::ArgumentsInvalid(problems)) => problems
                .iter()
                .map(|problem| format!("{} {}", problem.path, problem.message))
                .collect(),
            other => panic!("expected problems, got {other:?}"),
        }
    }

    pub fn delegate(&mut self, prompt: &str) -> ToolResult {
        self.call(Tool::Delegate, delegation(prompt))
    }

    /// Starts a run in the background and answers its id.
    pub fn start(&mut self, prompt: &str) -> String {
        self.start_with(prompt, json!({}))
    }

    pub fn start_with(&mut self, prompt: &str, more: Json) -> String {
        let arguments = merged(
            &delegation(prompt),
            &merged(&json!({ "background": true }), &more),
        );
        let result = self.call(Tool::Delegate, arguments);
        assert!(!result.is_error(), "{}", result.receipt);
        text_at(&result.receipt, "data.run.runId").to_owned()
    }

    pub fn runs(&mut self, arguments: Json) -> ToolResult {
        self.call(Tool::Runs, arguments)
    }

    pub fn inspect(&mut self, id: &str, view: &str) -> ToolResult {
        self.runs(json!({ "action": "inspect", "runIds": [id], "view": view }))
    }

    /// All pages of a view, each asserted to stay within the limit.
    pub fn read(&mut self, id: &str, view: &str, limit: usize) -> Vec<String> {
        let mut pages = Vec::new();
        let mut arguments = json!({ "action": "inspect", "runIds": [id], "view": view, "limitBytes": limit });
        loop {
            let result = self.runs(arguments.clone());
            let page = at(&result.receipt, "data.page").clone();
            let text = text_at(&page, "text").to_owned();
            assert!(text.len() <= limit);
            pages.push(text);
            assert!(pages.len() < 100_000, "paging ends");
            match page.get("nextCursor") {
                Some(cursor) => arguments = merged(&arguments, &json!({ "cursor": cursor })),
                None => return pages,
            }
        }
    }

    /// Begins a call without waiting for it.
    pub fn begin(&mut self, tool: Tool, arguments: Json) -> Begun {
        let begun = self.run(async move |contract| {
            contract
                .begin(Call::check(tool.name(), &arguments).expect("valid arguments"))
                .await
        });
        begun.expect("the session is open")
    }

    pub fn code(&mut self, tool: Tool, arguments: Json) -> String {
        let result = self.call(tool, arguments);
        assert!(result.is_error(), "{}", result.receipt);
        text_at(&result.receipt, "error.code").to_owned()
    }
}

pub fn config() -> ContractConfig {
    let model = |id: &str| ModelRef {
        provider: "scripted".into(),
        model_id: id.into(),
    };
    let choice = |id: &str, availability| HarnessChoice {
        model: model(id),
        thinking_level: None,
        availability,
    };
    let harnesses = [
        ("default", choice("echo", Availability::Ready)),
        (
            "thinker",
            HarnessChoice {
                thinking_level: Some(ThinkingLevel::High),
                ..choice("echo", Availability::Ready)
            },
        ),
        ("locked", choice("echo", Availability::SecretMissing)),
        ("gone", choice("nowhere", Availability::ModelUnknown)),
        ("lying", choice("nowhere", Availability::Ready)),
    ];
    let role = |instructions: Option<&str>, harness: Option<&str>| Role {
        instructions: instructions.map(Into::into),
        harness: harness.map(Into::into),
    };
    let roles = [
        ("worker", role(Some("Work."), None)),
        ("silent", role(None, Some("thinker"))),
        ("broken", role(None, Some("missing"))),
    ];
    ContractConfig {
        roles: roles
            .into_iter()
            .map(|(name, role)| (name.to_owned(), role))
            .collect(),
        harnesses: harnesses
            .into_iter()
            .map(|(name, choice)| (name.to_owned(), choice))
            .collect(),
        limits: RunLimits::default(),
    }
}

fn options(host: Rc<dyn Host>, reports: Rc<RefCell<Vec<String>>>) -> HarnessOptions {
    let providers = json!({ "scripted": { "api": "scripted", "models": { "echo": {} } } });
    let catalog = Rc::new(Catalog::from_config(&providers, "providers").expect("catalog"));
    let models = ModelRegistry::new(catalog, Rc::new(NoTransport), host, Rc::new(|_: &str| None));
    HarnessOptions {
        models: Rc::new(models),
        settings: Rc::new(Settings::default),
        default_model: Rc::new(|| None),
        alarm: Rc::new(NoAlarm),
        watchdog_ms: 10_000,
        timer_horizon_ms: Millis::MAX,
        on_report: Rc::new(move |report| reports.borrow_mut().push(report)),
    }
}

pub fn delegation(prompt: &str) -> Json {
    json!({ "role": "worker", "description": "Check build", "prompt": prompt })
}

pub fn merged(base: &Json, more: &Json) -> Json {
    let mut members: Object = base.as_object().cloned().unwrap_or_default();
    for (key, value) in more.as_object().expect("an object") {
        members.insert(key.clone(), value.clone());
    }
    Json::Object(members)
}

/// The value at a dotted path; numbers are indices.
pub fn at<'a>(value: &'a Json, path: &str) -> &'a Json {
    let step = |value: Option<&'a Json>, key: &str| match key.parse() {
        Ok(index) => value?.index(index),
        Err(_) => value?.get(key),
    };
    path.split('.')
        .fold(Some(value), step)
        .unwrap_or_else(|| panic!("{path} of {value}"))
}

pub fn text_at<'a>(value: &'a Json, path: &str) -> &'a str {
    at(value, path)
        .as_str()
        .unwrap_or_else(|| panic!("no text at {path} of {value}"))
}

/// What holds for every result of a tool.
pub fn assert_valid(tool: Tool, result: &ToolResult) {
    let receipt = &result.receipt;
    assert_eq!(check(&tool.output_schema(), receipt), [], "{receipt}");
    let ok = at(receipt, "ok").as_bool().expect("a boolean");
    assert_eq!(ok, receipt.get("error").is_none());
    assert_eq!(result.is_error(), !ok);
    assert!(
        !result.content.is_empty() && result.content.iter().all(|text| !text.is_empty()),
        "{receipt}"
    );
    let whole = result.to_json().to_string();
    assert!(!whole.contains("ghp_0123456789"), "{whole}");
    if tool == Tool::Runs && !ok {
        assert_eq!(at(receipt, "data"), &Json::Null);
    }
    for run in rows(receipt) {
        assert_row(&run);
    }
}

/// Every run of a receipt.
pub fn rows(receipt: &Json) -> Vec<Json> {
    let data = at(receipt, "data");
    let single = data.get("run").filter(|run| !run.is_null()).cloned();
    let lists = ["runs", "workflows", "entries", "completed"];
    let listed = lists
        .iter()
        .filter_map(|list| data.get(list)?.as_array())
        .flat_map(|rows| rows.to_vec());
    single.into_iter().chain(listed).collect()
}

/// The rules between members that no schema can say.
fn assert_row(run: &Json) {
    let output = at(run, "output");
    let delivery = text_at(output, "delivery");
    assert_eq!(output.get("value").is_some(), delivery == "inline", "{run}");
    assert_eq!(
        at(output, "finalAvailable").as_bool(),
        Some(delivery != "none"),
        "{run}"
    );
    let status = text_at(run, "state.status");
    let terminal = ["done", "error", "aborted"].contains(&status);
    assert_eq!(
        run.get("state").and_then(|state| state.get("outcome")).is_some(),
        terminal,
        "{run}"
    );
    let live = at(run, "live").as_bool().expect("a boolean");
    assert_eq!(live, ["queued", "running"].contains(&status), "{run}");
    if live {
        assert_eq!(text_at(run, "evidence.integrity"), "incomplete");
    }
    for name in ["summary", "final", "diagnostics"] {
        let reference = at(run, &format!("refs.{name}"));
        assert_eq!(check(&Tool::Runs.input_schema(), reference), [], "{reference}");
    }
}
