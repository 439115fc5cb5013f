//! What a frame needs to know about the session inside.

use super::Reply;
use crate::config::{Config, ConfigError};
use crate::platform::alarm::{Alarm, AlarmError, KnownAlarm};
use crate::platform::host::WasmHost;
use crate::platform::life::Life;
use crate::platform::sql::ObjectDriver;
use crate::platform::storage::of_state;
use crate::protocol::{Call, Code, OperationError};
use std::future::Future;
use std::rc::Rc;
use tidehold_delta::FromJson;
use worker::{Env, State};

/// The session inside a frame.
pub trait App: Sized + 'static {
    /// What can be asked of it.
    type Operation: FromJson + 'static;
    /// An open session.
    type Session: 'static;

    /// Opens it from storage. Bounded work; writes nothing for a session that does not exist.
    fn open(platform: Platform) -> impl Future<Output = Result<Self::Session, OperationError>> + 'static;

    /// Performs one operation. A panic makes the frame drop the session, and so does [`Platform::fail`]; an error does
    /// not: it is this request's alone.
    fn perform(
        session: Rc<Self::Session>,
        request: Request<Self::Operation>,
    ) -> impl Future<Output = Result<Reply, OperationError>> + 'static;

    /// Whether the operation asks for the deletion that [`Reply::Delete`] orders: then it is done, whoever did it.
    fn is_deletion(_operation: &Self::Operation) -> bool {
        false
    }

    /// The alarm went off, and the frame has set the next one. The message of an error is for the log.
    fn alarm(session: Rc<Self::Session>) -> impl Future<Output = Result<(), String>> + 'static;

    /// Answers an operation while the configuration is broken.
    fn without_configuration(
        _request: Request<Self::Operation>,
        error: &ConfigError,
    ) -> Result<Reply, OperationError> {
        Err(OperationError::new(Code::ConfigurationInvalid, error.to_string()))
    }
}

/// One operation with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<Op> {
    pub call: Call<Op>,
    /// Valid JSON within its limits, or empty.
    pub body: String,
}

/// What an open session stands on.
#[derive(Clone)]
pub struct Platform {
    pub state: Rc<State>,
    pub env: Env,
    pub config: Rc<Config>,
    /// What the object knows of its alarm.
    pub known_alarm: KnownAlarm,
    /// Ends with the session's memory. Everything that runs for the session must end with it.
    pub life: Life,
    /// Reports that the session cannot go on: a fatal storage error outside an operation.
    pub fail: Rc<dyn Fn(String)>,
}

impl Platform {
    /// The session's host: what it spawns lives as long as the session.
    pub fn host(&self) -> WasmHost {
        let fail = Rc::clone(&self.fail);
        WasmHost::new(
            self.life.clone(),
            Rc::new(move |message| fail(format!("panic in a task: {message}"))),
        )
    }

    /// The object's database.
    pub fn database(&self) -> worker::Result<ObjectDriver> {
        Ok(ObjectDriver::new(of_state(&self.state)?))
    }

    /// The object's alarm.
    pub async fn alarm(&self) -> Result<Alarm, AlarmError> {
        let storage = of_state(&self.state).map_err(|error| AlarmError::unavailable(&error))?;
        Alarm::read(storage, self.known_alarm.clone(), Rc::clone(&self.fail)).await
    }

    /// A secret by its name; `None` when it is not set or empty.
    pub fn secret(&self, name: &str) -> Option<String> {
        self.env
            .secret(name)
            .ok()
            .map(|secret| secret.to_string())
            .filter(|secret| !secret.is_empty())
    }
}
