//! The frame around a session: what every object does whatever it is asked.
//!
//! It opens the session on demand, counts requests, keeps a panic inside, and turns replies into responses. What a
//! session is and which operations it knows is the [`App`]'s business, so that a test can put another one into the
//! same frame.

mod app;
mod delete;
mod reply;
mod slot;
mod wake;

pub use app::{App, Platform, Request};
pub use reply::Reply;

use crate::config::{self, Config, ConfigError};
use crate::platform::alarm::KnownAlarm;
use crate::platform::guard::{Guarded, guard};
use crate::platform::life::{EndReason, Life};
use crate::platform::timer;
use crate::protocol::{CALL, Call, Code, OperationError, from_json_text};
use crate::rate::RateLimit;
use reply::{error_response, reply_response};
use slot::{Opened, Slot};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use worker::{Env, Response, State};

/// One object's frame. Everything in it belongs to this object alone (invariant 11).
pub struct Frame<A: App>(Rc<Inner<A>>);

struct Inner<A: App> {
    state: Rc<State>,
    env: Env,
    config: OnceCell<Result<Rc<Config>, ConfigError>>,
    slot: Slot<A>,
    rate: RefCell<Option<RateLimit>>,
    known_alarm: KnownAlarm,
    /// Alarms in a row that did not reach a session.
    failed_wakes: Cell<u32>,
    /// Somebody keeps trying to set an alarm that the platform refused.
    sets_alarm: Cell<bool>,
}

impl<A: App> Frame<A> {
    pub fn new(state: State, env: Env) -> Self {
        let (config, slot, rate) = (OnceCell::new(), Slot::default(), RefCell::default());
        Self(Rc::new(Inner {
            state: Rc::new(state),
            env,
            config,
            slot,
            rate,
            known_alarm: KnownAlarm::default(),
            failed_wakes: Cell::new(0),
            sets_alarm: Cell::new(false),
        }))
    }

    /// Answers one internal request of the Worker.
    pub async fn fetch(&self, mut request: worker::Request) -> worker::Result<Response> {
        match read_request::<A>(&mut request).await {
            Ok(request) => self.answer(request).await,
            // The Worker is the only caller, so this is a mistake of ours.
            Err(error) => error_response(&OperationError::new(Code::Internal, error)),
        }
    }

    async fn answer(&self, request: Request<A::Operation>) -> worker::Result<Response> {
        let name = request.call.log_name();
        let (result, life) = self.perform(request, &name).await;
        match result {
            Err(error) => {
                // What a client can do nothing about is looked for in the log, by what it was told.
                if matches!(error.code, Code::Internal | Code::SessionFailed) {
                    worker::console_error!("{name}: {error}");
                }
                error_response(&error)
            }
            Ok(reply) => {
                let (frame, ending) = (self.clone(), life.clone());
                reply_response(reply, &life, move |message| {
                    frame.panicked(&ending, &name, &message);
                })
            }
        }
    }

    /// The result of an operation, and the life it belongs to.
    async fn perform(
        &self,
        request: Request<A::Operation>,
        name: &str,
    ) -> (Result<Reply, OperationError>, Life) {
        let config = match self.config() {
            Ok(config) => config,
            Err(error) => return (A::without_configuration(request, &error), Life::default()),
        };
        if let Err(error) = self.admit(&request.call, &config) {
            return (Err(error), Life::default());
        }
        let opened = match self.opened(config).await {
            Ok(opened) => opened,
            Err(error) => return (Err(error), Life::default()),
        };
        let deletes = A::is_deletion(&request.call.operation);
        let result = match guard(&opened.life, A::perform(Rc::clone(&opened.session), request)).await {
            // Outside the guard: this ends the life that the guard keeps to.
            Guarded::Completed(Ok(Reply::Delete)) => {
                self.delete(&opened.life, name).await.map(|()| Reply::Empty)
            }
            Guarded::Completed(result) => result,
            // Another request deleted the session. Whoever waited in it asks for what is not there.
            Guarded::Ended(EndReason::Deleted) if deletes => Ok(Reply::Empty),
            Guarded::Ended(EndReason::Deleted) => Err(OperationError::not_found()),
            Guarded::Ended(EndReason::Failed) => Err(session_failed()),
            Guarded::Panicked(message) => {
                self.panicked(&opened.life, name, &message);
                Err(OperationError::new(
                    Code::Internal,
                    "the session met an internal error",
                ))
            }
        };
        (result, opened.life)
    }

    fn config(&self) -> Result<Rc<Config>, ConfigError> {
        self.0
            .config
            .get_or_init(|| config::from_env(&self.0.env))
            .clone()
    }

    fn admit(&self, call: &Call<A::Operation>, config: &Config) -> Result<(), OperationError> {
        if !call.caller.rate_limited {
            return Ok(());
        }
        let now = timer::now();
        let mut rate = self.0.rate.borrow_mut();
        let limit = rate.get_or_insert_with(|| RateLimit::new(config.limits.requests_per_minute, now));
        limit.take(now).map_err(|seconds| {
            OperationError::new(Code::RateLimited, "too many requests for this session").retry_after(seconds)
        })
    }

    async fn opened(&self, config: Rc<Config>) -> Result<Opened<A>, OperationError> {
        let open = |life: Life| {
            let frame = self.clone();
            async move {
                let platform = frame.platform(config, &life);
                match guard(&life, A::open(platform)).await {
                    Guarded::Completed(Ok(session)) => Ok(Rc::new(session)),
                    Guarded::Completed(Err(error)) => Err(error),
                    Guarded::Ended(_) => Err(session_failed()),
                    Guarded::Panicked(message) => {
                        worker::console_error!("panic while opening: {message}");
                        Err(OperationError::new(
                            Code::Internal,
                            "the session met an internal error",
                        ))
                    }
                }
            }
        };
        self.0.slot.get_or_open(open).await
    }

    fn platform(&self, config: Rc<Config>, life: &Life) -> Platform {
        let (frame, ending) = (self.clone(), life.clone());
        Platform {
            state: Rc::clone(&self.0.state),
            env: self.0.env.clone(),
            config,
            known_alarm: self.0.known_alarm.clone(),
            life: life.clone(),
            fail: Rc::new(move |message| {
                worker::console_error!("session failed: {message}");
                frame.end(&ending, EndReason::Failed);
            }),
        }
    }

    /// `cause` is what the session was doing.
    fn panicked(&self, life: &Life, cause: &str, message: &str) {
        worker::console_error!("{cause}: panic in a session: {message}");
        self.end(life, EndReason::Failed);
    }

    /// Drops the session of that life, if it still is the open one, and ends everything that runs for it.
    fn end(&self, life: &Life, reason: EndReason) {
        let session = self.0.slot.close(life);
        life.end(reason);
        crate::platform::guard::discard(session);
        // What it had stored may have no wake yet: it may have failed between the two.
        if reason == EndReason::Failed && self.0.known_alarm.at().is_none() {
            self.keep_setting_alarm();
        }
    }
}

impl<A: App> Clone for Frame<A> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

fn session_failed() -> OperationError {
    OperationError::new(
        Code::SessionFailed,
        "the session failed; the next request reopens it",
    )
    .retry_after(crate::limits::REOPEN_AFTER_SECONDS)
}

async fn read_request<A: App>(request: &mut worker::Request) -> Result<Request<A::Operation>, String> {
    let header = request.headers().get(CALL).map_err(|error| error.to_string())?;
    let header = header.ok_or("the internal call header is missing")?;
    let call =
        from_json_text(&header).map_err(|error| format!("the internal call header is invalid: {error}"))?;
    let body = request.text().await.map_err(|error| error.to_string())?;
    Ok(Request { call, body })
}
