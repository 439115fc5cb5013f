//! The object's single alarm.
//!
//! Setting and deleting take effect in the turn of the call, together with the SQL writes around it: the promise only
//! tells when that turn is durable, which the output gate waits for anyway. Each setting is a billed row.

use crate::platform::host::spawn_caught;
use crate::platform::storage::{ObjectStorage, describe};
use js_sys::Promise;
use js_sys::futures::JsFuture;
use std::cell::Cell;
use std::rc::Rc;
use tidehold_session::host::Millis;
use wasm_bindgen::JsValue;

/// The alarm of one object for one of its sessions.
#[derive(Clone)]
pub struct Alarm {
    storage: ObjectStorage,
    known: KnownAlarm,
    on_failure: Rc<dyn Fn(String)>,
}

/// When the alarm of one object is set to, as far as its memory knows. Clones share it: whoever sets the alarm tells it here,
/// in the same turn.
#[derive(Clone, Default)]
pub struct KnownAlarm(Rc<Shared>);

#[derive(Default)]
struct Shared {
    known: Cell<Known>,
    held: Cell<bool>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Known {
    /// Not looked up since the object is in memory.
    #[default]
    Unread,
    Unset,
    At(u64),
}

impl KnownAlarm {
    /// The alarm was set to this time, deleted, or used up.
    pub fn is(&self, at: Option<u64>) {
        self.0.known.set(at.map_or(Known::Unset, Known::At));
    }

    /// From now on what sessions ask for is passed over: an alarm is set, and whoever holds it lets the scheduler ask again.
    /// An open that an alarm caused would otherwise set two, each a billed row.
    pub fn hold(&self) {
        self.0.held.set(true);
    }

    /// What sessions ask for counts again.
    pub fn release(&self) {
        self.0.held.set(false);
    }

    /// `None` also while nobody has looked.
    pub fn at(&self) -> Option<u64> {
        match self.0.known.get() {
            Known::At(at) => Some(at),
            Known::Unread | Known::Unset => None,
        }
    }
}

/// The platform refused to read or write the alarm.
#[derive(Clone, Debug, thiserror::Error)]
#[error("alarm: {0}")]
pub struct AlarmError(String);

impl AlarmError {
    /// The object has no storage to ask.
    pub fn unavailable(error: &worker::Error) -> Self {
        Self(error.to_string())
    }
}

impl Alarm {
    /// The alarm, read unless it is known. `on_failure` is told when a later setting was not made durable; the session cannot
    /// go on then, because its unsettled work might have no wake (invariant 6).
    pub async fn read(
        storage: ObjectStorage,
        known: KnownAlarm,
        on_failure: Rc<dyn Fn(String)>,
    ) -> Result<Self, AlarmError> {
        if known.0.known.get() == Known::Unread {
            let promise = storage.get_alarm().map_err(refused)?;
            let at = JsFuture::from(promise).await.map_err(refused)?;
            // Unless it was set meanwhile.
            if known.0.known.get() == Known::Unread {
                known.is(at.as_f64().map(|at| at as u64));
            }
        }
        Ok(Self {
            storage,
            known,
            on_failure,
        })
    }

    /// When it will fire, in milliseconds since the Unix epoch; `None` when none is set.
    pub fn stored(&self) -> Option<u64> {
        self.known.at()
    }

    /// Sets it to `at`, or to the earliest moment when `at` is past. Free when it is set so already.
    pub fn set(&self, at: u64) -> Result<(), AlarmError> {
        if self.known.at() == Some(at) {
            return Ok(());
        }
        let promise = self.storage.set_alarm(at as f64).map_err(refused)?;
        self.known.is(Some(at));
        self.watch(promise);
        Ok(())
    }

    /// Deletes it. Free when none is set.
    pub fn clear(&self) -> Result<(), AlarmError> {
        if self.known.at().is_none() {
            return Ok(());
        }
        let promise = self.storage.delete_alarm().map_err(refused)?;
        self.known.is(None);
        self.watch(promise);
        Ok(())
    }

    fn watch(&self, promise: Promise) {
        let on_failure = Rc::clone(&self.on_failure);
        spawn_caught(async move {
            if let Err(thrown) = JsFuture::from(promise).await {
                on_failure(describe(&thrown));
            }
        });
    }
}

impl tidehold_tasks::Alarm for Alarm {
    /// The scheduler's value is stable while it serves, so every other value is worth its row.
    fn arm(&self, at: Option<Millis>) {
        if self.known.0.held.get() {
            return;
        }
        let outcome = match at {
            Some(at) => self.set(at),
            None => self.clear(),
        };
        if let Err(error) = outcome {
            (self.on_failure)(error.to_string());
        }
    }
}

fn refused(thrown: JsValue) -> AlarmError {
    AlarmError(describe(&thrown))
}
