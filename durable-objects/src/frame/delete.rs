//! Deletion of everything an object holds. It is the frame's: it ends the life under which every operation runs, the one
//! that asked for it included.

use super::{App, Frame, session_failed};
use crate::platform::life::{EndReason, Life};
use crate::platform::storage::{describe, of_state};
use crate::protocol::OperationError;
use js_sys::Promise;
use js_sys::futures::JsFuture;
use worker::State;

impl<A: App> Frame<A> {
    /// Deletes the storage and the alarm, takes the session of `life` out of the slot and ends that life, all in one
    /// turn: nothing of the session runs in between, and no request opens what is going away. Whoever waits on the life
    /// is told after the deletion took place. Resolves once it is durable.
    pub(super) async fn delete(&self, life: &Life, name: &str) -> Result<(), OperationError> {
        if life.ended() == Some(EndReason::Deleted) {
            return Ok(());
        }
        let started = delete_storage(&self.0.state);
        if started.is_ok() {
            self.0.known_alarm.is(None);
        }
        let reason = match started {
            Ok(_) => EndReason::Deleted,
            Err(_) => EndReason::Failed,
        };
        self.end(life, reason);
        let durable = match started {
            Ok([alarm, all]) => {
                let (alarm, all) = (JsFuture::from(alarm), JsFuture::from(all));
                alarm.await.and(all.await).map_err(|thrown| describe(&thrown))
            }
            Err(message) => Err(message),
        };
        durable.map(drop).map_err(|message| {
            worker::console_error!("{name}: deletion failed: {message}");
            session_failed()
        })
    }
}

/// Both take effect in this turn; the promises tell when that is durable.
fn delete_storage(state: &State) -> Result<[Promise; 2], String> {
    let storage = of_state(state).map_err(|error| error.to_string())?;
    let thrown = |thrown| describe(&thrown);
    Ok([
        storage.delete_alarm().map_err(thrown)?,
        storage.delete_all().map_err(thrown)?,
    ])
}
