//! The alarm handler: sets the next alarm, kicks the session and returns.

use super::{App, Frame};
use crate::limits::{SET_ALARM_AGAIN_MS, WAKE_UNCONFIGURED_MS};
use crate::platform::guard::{Guarded, guard};
use crate::platform::host::spawn_caught;
use crate::platform::life::EndReason;
use crate::platform::storage::{describe, of_state};
use crate::platform::timer;
use js_sys::futures::JsFuture;
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_tasks::recovery::backoff;
use worker::Response;

impl<A: App> Frame<A> {
    /// The alarm went off, and with that it is gone. Before anything that can fail another one is set, which the session then
    /// moves to where it belongs: whatever ends this object from here on, there is a next wake. The platform's own retries
    /// would end after six. Nothing else is awaited: a trap leaves pending handlers without an answer, and no alarm goes
    /// off while a handler runs.
    pub async fn alarm(&self) -> worker::Result<Response> {
        self.0.known_alarm.is(None);
        if let Err(message) = self.set_next_alarm() {
            self.keep_setting_alarm();
            return Err(worker::Error::RustError(message));
        }
        self.0.known_alarm.hold();
        let frame = self.clone();
        spawn_caught(async move {
            let woken = frame.wake().await;
            frame.0.known_alarm.release();
            let failed = match woken {
                Ok(()) => 0,
                Err(message) => {
                    worker::console_error!("alarm: {message}");
                    frame.0.failed_wakes.get().saturating_add(1)
                }
            };
            frame.0.failed_wakes.set(failed);
        });
        Response::empty()
    }

    /// What a dying isolate takes along is the turn it dies in. So the next alarm is durable before the session is opened,
    /// and the count of this open before any work starts.
    async fn wake(&self) -> Result<(), String> {
        self.durable().await?;
        let config = self.config().map_err(|error| error.to_string())?;
        let opened = self.opened(config).await.map_err(|error| error.to_string())?;
        self.durable().await?;
        self.0.known_alarm.release();
        match guard(&opened.life, A::alarm(Rc::clone(&opened.session))).await {
            Guarded::Completed(Ok(())) | Guarded::Ended(EndReason::Deleted) => Ok(()),
            Guarded::Completed(Err(message)) => {
                self.end(&opened.life, EndReason::Failed);
                Err(message)
            }
            Guarded::Panicked(message) => {
                self.panicked(&opened.life, "alarm", &message);
                Err(message)
            }
            Guarded::Ended(reason) => Err(format!("the session ended: {}", reason.name())),
        }
    }

    async fn durable(&self) -> Result<(), String> {
        let storage = of_state(&self.0.state).map_err(|error| error.to_string())?;
        let durable = storage.sync().map_err(|thrown| describe(&thrown))?;
        let durable = JsFuture::from(durable).await;
        durable.map(drop).map_err(|thrown| describe(&thrown))
    }

    /// Not through `Alarm`: that one belongs to an open session, and there may be none.
    fn set_next_alarm(&self) -> Result<(), String> {
        let at = timer::now() + self.distance();
        let storage = of_state(&self.0.state).map_err(|error| error.to_string())?;
        // Should this never be durable, the platform ends the object, and the alarm that goes off here goes off again.
        let _durable = storage.set_alarm(at as f64).map_err(|thrown| describe(&thrown))?;
        self.0.known_alarm.is(Some(at));
        Ok(())
    }

    /// While the platform refuses the alarm nothing may begin that would then have no wake. The handler fails, which is
    /// answered with six retries; this goes on beside them until somebody has set an alarm.
    pub(super) fn keep_setting_alarm(&self) {
        if self.0.sets_alarm.replace(true) {
            return;
        }
        let frame = self.clone();
        spawn_caught(async move {
            let mut pause = SET_ALARM_AGAIN_MS;
            loop {
                timer::sleep(pause).await;
                if frame.0.known_alarm.at().is_some() {
                    break;
                }
                match frame.set_next_alarm() {
                    Ok(()) => break,
                    Err(message) => worker::console_error!("alarm: {message}"),
                }
                pause = (2 * pause).min(WAKE_UNCONFIGURED_MS);
            }
            frame.0.sets_alarm.set(false);
        });
    }

    /// As far as the watchdog of a session at work, which is what a session with work to do then keeps. Wakes that fail back
    /// off as opens without progress do.
    fn distance(&self) -> Millis {
        let Ok(config) = self.config() else {
            return WAKE_UNCONFIGURED_MS;
        };
        let watchdog = config.limits.watchdog_ms;
        watchdog.max(backoff(self.0.failed_wakes.get(), watchdog))
    }
}
