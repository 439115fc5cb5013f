//! The alarm handler: sets the next alarm, kicks the session and returns.

use super::{App, Frame};
use crate::limits::{ALARM_TRIES, WAKE_UNCONFIGURED_MS};
use crate::platform::guard::{Guarded, guard};
use crate::platform::host::spawn_caught;
use crate::platform::life::EndReason;
use crate::platform::storage::{describe, of_state};
use crate::platform::timer;
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
        self.set_next_alarm().await?;
        let frame = self.clone();
        spawn_caught(async move {
            let failed = match frame.wake().await {
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

    async fn wake(&self) -> Result<(), String> {
        let config = self.config().map_err(|error| error.to_string())?;
        let opened = self.opened(config).await.map_err(|error| error.to_string())?;
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

    /// While the platform refuses the alarm, no work may be begun that would then have no wake.
    async fn set_next_alarm(&self) -> worker::Result<()> {
        let mut tries = 1;
        loop {
            let at = timer::now() + self.distance();
            // Not through `Alarm`: that one belongs to an open session, and there may be none.
            match of_state(&self.0.state)?.set_alarm(at as f64) {
                // The promise tells when this is durable. Should it never be, the platform ends the object, and the alarm
                // that goes off here goes off again.
                Ok(_durable) => {
                    self.0.known_alarm.is(Some(at));
                    return Ok(());
                }
                Err(thrown) if tries == ALARM_TRIES => {
                    return Err(worker::Error::JsError(describe(&thrown)));
                }
                Err(thrown) => worker::console_error!("alarm: {}", describe(&thrown)),
            }
            timer::sleep(1_000 << tries).await;
            tries += 1;
        }
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
