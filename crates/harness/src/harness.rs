//! The open harness: a session with its scheduler, built-in tasks, waits and event streams (spec 2.2).

mod conversations;
mod hooks;
mod reads;
mod submit;
mod waits;

use crate::events::hub::EventHub;
use crate::generation::Generation;
use crate::settings::Settings;
use std::rc::Rc;
use tidehold_models::model::ModelRef;
use tidehold_models::models::Models;
use tidehold_session::host::{Host, Millis};
use tidehold_session::storage::Storage;
use tidehold_session::{Session, SessionError, SessionOptions};
use tidehold_tasks::{Alarm, Scheduler, SchedulerOptions, TaskRegistry};
use waits::Waits;

pub use reads::{EntryPage, Usage};

/// What the host supplies.
pub struct HarnessOptions {
    pub models: Rc<dyn Models>,
    /// Resolved at each use; never stored.
    pub settings: Rc<dyn Fn() -> Settings>,
    /// Model of conversations that chose none.
    pub default_model: Rc<dyn Fn() -> Option<ModelRef>>,
    pub alarm: Rc<dyn Alarm>,
    /// How long unsettled work may sit without a sign of life before the alarm looks after it, in milliseconds.
    pub watchdog_ms: Millis,
    /// Deadlines at most this far away, in milliseconds, are also slept for in memory.
    pub timer_horizon_ms: Millis,
    /// Failures that fail no call, and the session's failure, once.
    pub on_report: Rc<dyn Fn(String)>,
}

/// Handle of an open harness. Clones share it.
#[derive(Clone)]
pub struct Harness(Rc<Inner>);

struct Inner {
    session: Session,
    scheduler: Scheduler,
    settings: Rc<dyn Fn() -> Settings>,
    waits: Rc<Waits>,
    events: Rc<EventHub>,
}

impl Harness {
    /// Opens a session over its storage. `install` adds the host's own tasks. Recovery is at most one commit; nothing
    /// is dispatched before [`Harness::resume`] or a call that asks for progress.
    pub async fn open(
        storage: Rc<dyn Storage>,
        host: Rc<dyn Host>,
        options: HarnessOptions,
        install: impl FnOnce(&mut TaskRegistry),
    ) -> Result<Self, SessionError> {
        let report = Rc::clone(&options.on_report);
        let retention = Rc::clone(&options.settings);
        let session = Session::open(
            storage,
            host,
            SessionOptions {
                conversation_created: Some(Rc::new(hooks::CreationHook)),
                on_report: Some(Rc::clone(&report)),
                document_retention_ms: Some(Rc::new(move || retention().document_retention_ms)),
            },
        );
        let mut registry = TaskRegistry::default();
        registry.install(Rc::new(Generation {
            models: options.models,
            settings: Rc::clone(&options.settings),
            default_model: options.default_model,
        }));
        install(&mut registry);
        let waits = Waits::new(&session);
        let events = EventHub::new(&session);
        let opened = Scheduler::open(
            &session,
            registry,
            SchedulerOptions {
                hooks: Rc::new(hooks::Cleanup),
                alarm: options.alarm,
                watchdog_ms: options.watchdog_ms,
                timer_horizon_ms: options.timer_horizon_ms,
                on_report: report,
            },
        )
        .await;
        let scheduler = match opened {
            Ok(scheduler) => scheduler,
            Err(error) => {
                // Nobody else can close it. How that ends is reported by the session; the caller is told why it did not open.
                drop(session.close().await);
                return Err(error);
            }
        };
        Ok(Self(Rc::new(Inner {
            session,
            scheduler,
            settings: options.settings,
            waits,
            events,
        })))
    }

    /// The session below.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// The scheduler below.
    pub fn scheduler(&self) -> &Scheduler {
        &self.0.scheduler
    }

    /// Event streams of the session.
    pub fn events(&self) -> &Rc<EventHub> {
        &self.0.events
    }

    /// Settings, resolved now.
    pub fn settings(&self) -> Settings {
        (self.0.settings)()
    }

    /// Enables scheduling for a call that asks for progress; idempotent. Such calls do it themselves.
    pub fn resume(&self) {
        self.0.scheduler.resume_by_call();
    }
}
