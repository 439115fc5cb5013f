//! The product's session: what lies open in the object's memory, and how it opens.

use crate::frame::{App, Platform, Reply, Request};
use crate::ops;
use crate::platform::alarm::Alarm;
use crate::platform::fetch::FetchTransport;
use crate::platform::sql::ObjectDriver;
use crate::protocol::{Code, Operation, OperationError};
use std::rc::Rc;
use tidehold_contract::{Contract, hex, run};
use tidehold_harness::{Harness, HarnessOptions, Settings};
use tidehold_models::registry::ModelRegistry;
use tidehold_session::host::{Host, Millis};
use tidehold_session::{SessionEnd, Subscription};
use tidehold_storage::sql::SqlStorage;
use tidehold_tasks::TaskRegistry;

/// Tidehold's own [`App`].
pub struct SessionApp;

/// An open session.
pub struct OpenSession {
    pub platform: Platform,
    pub harness: Harness,
    pub contract: Contract,
    pub storage: Rc<SqlStorage<ObjectDriver>>,
    pub alarm: Alarm,
    /// Tells the frame when the session fails.
    _failure: Subscription,
}

/// Deadlines within this many milliseconds are slept for in memory; later ones are the alarm's. A pending timer keeps an
/// object in memory, where it is billed.
const TIMER_HORIZON_MS: Millis = 3_000;

impl OpenSession {
    /// Opens the product's session on `host`, with the task definitions that `install` adds to the product's own.
    pub async fn open(
        platform: Platform,
        host: Rc<dyn Host>,
        install: impl FnOnce(&mut TaskRegistry),
    ) -> Result<Self, OperationError> {
        let alarm = platform
            .alarm()
            .await
            .map_err(|error| failed(error.to_string()))?;
        let driver = platform.database().map_err(|error| failed(error.to_string()))?;
        let storage = SqlStorage::open(driver, new_incarnation(host.as_ref()));
        let storage = Rc::new(storage.map_err(|error| failed(error.to_string()))?);
        let options = options(&platform, &host, &alarm);
        let harness = Harness::open(Rc::clone(&storage) as _, host, options, |registry| {
            run::install(registry);
            install(registry);
        })
        .await
        .map_err(|error| failed(error.to_string()))?;
        let contract = Contract::new(harness.clone(), crate::config::contract::of(&platform));
        // Whatever fails the session, in a call or outside, must drop its memory: the next request reopens it.
        let fail = Rc::clone(&platform.fail);
        let failure = harness.session().subscribe_close(move |end| match end {
            SessionEnd::Failed(failed) => fail(failed.to_string()),
            SessionEnd::Closed => {}
        });
        Ok(Self {
            platform,
            harness,
            contract,
            storage,
            alarm,
            _failure: failure,
        })
    }
}

impl App for SessionApp {
    type Operation = Operation;
    type Session = OpenSession;

    async fn open(platform: Platform) -> Result<OpenSession, OperationError> {
        let host = Rc::new(platform.host());
        OpenSession::open(platform, host, |_| {}).await
    }

    async fn perform(session: Rc<OpenSession>, request: Request<Operation>) -> Result<Reply, OperationError> {
        ops::perform(session, request).await
    }

    fn is_deletion(operation: &Operation) -> bool {
        matches!(operation, Operation::DeleteSession)
    }

    async fn alarm(session: Rc<OpenSession>) -> Result<(), String> {
        session.harness.scheduler().on_alarm_with(session.alarm.stored());
        Ok(())
    }

    fn without_configuration(
        request: Request<Operation>,
        error: &crate::config::ConfigError,
    ) -> Result<Reply, OperationError> {
        ops::tool::without_configuration(&request, &error.to_string())
    }
}

/// Random name of a session's lifetime, should this open turn out to create it.
fn new_incarnation(host: &dyn Host) -> String {
    let mut bytes = [0_u8; 8];
    host.entropy(&mut bytes);
    hex::encode(&bytes)
}

fn options(platform: &Platform, host: &Rc<dyn Host>, alarm: &Alarm) -> HarnessOptions {
    let secrets = platform.clone();
    let models = ModelRegistry::new(
        Rc::clone(&platform.config.catalog),
        Rc::new(FetchTransport::new(platform.life.clone())),
        Rc::clone(host),
        Rc::new(move |name: &str| secrets.secret(name)),
    );
    let settings: Settings = platform.config.settings.clone();
    let default_model = platform
        .config
        .harnesses
        .get("default")
        .map(|harness| harness.model.clone());
    HarnessOptions {
        models: Rc::new(models),
        settings: Rc::new(move || settings.clone()),
        default_model: Rc::new(move || default_model.clone()),
        alarm: Rc::new(alarm.clone()),
        watchdog_ms: platform.config.limits.watchdog_ms,
        timer_horizon_ms: TIMER_HORIZON_MS,
        on_report: Rc::new(|report| worker::console_error!("report: {report}")),
    }
}

fn failed(message: String) -> OperationError {
    OperationError::new(Code::SessionFailed, message).retry_after(crate::limits::REOPEN_AFTER_SECONDS)
}
