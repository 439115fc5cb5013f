//! The alarm handler: opens the session, kicks it, and always leaves another wake behind when that failed.

use super::{App, Frame};
use crate::limits::{WAKE_AGAIN_MS, WAKE_UNCONFIGURED_MS};
use crate::platform::guard::{Guarded, guard};
use crate::platform::life::EndReason;
use crate::platform::storage::{describe, of_state};
use crate::platform::timer;
use js_sys::futures::JsFuture;
use std::rc::Rc;
use worker::Response;

impl<A: App> Frame<A> {
    /// The alarm went off.
    pub async fn alarm(&self) -> worker::Result<Response> {
        if let Err(trouble) = self.wake().await {
            worker::console_error!("alarm: {}", trouble.message);
            self.wake_again(trouble.again_ms).await?;
        }
        Response::empty()
    }

    async fn wake(&self) -> Result<(), Trouble> {
        let config = self.config().map_err(|error| Trouble {
            message: error.to_string(),
            again_ms: WAKE_UNCONFIGURED_MS,
        })?;
        let opened = self
            .opened(config)
            .await
            .map_err(|error| Trouble::again(error.to_string()))?;
        match guard(&opened.life, A::alarm(Rc::clone(&opened.session))).await {
            Guarded::Completed(Ok(())) => Ok(()),
            Guarded::Completed(Err(message)) => {
                self.end(&opened.life, EndReason::Failed);
                Err(Trouble::again(message))
            }
            Guarded::Panicked(message) => {
                self.panicked(&opened.life, "alarm", &message);
                Err(Trouble::again(message))
            }
            Guarded::Ended(EndReason::Deleted) => Ok(()),
            Guarded::Ended(reason) => Err(Trouble::again(format!("the session ended: {}", reason.name()))),
        }
    }

    /// Not through [`crate::platform::alarm::Alarm`]: that one belongs to an open session, and there is none.
    async fn wake_again(&self, after_ms: u64) -> worker::Result<()> {
        let storage = of_state(&self.0.state)?;
        let promise = storage.set_alarm((timer::now() + after_ms) as f64)?;
        JsFuture::from(promise)
            .await
            .map_err(|thrown| worker::Error::JsError(describe(&thrown)))?;
        Ok(())
    }
}

struct Trouble {
    message: String,
    again_ms: u64,
}

impl Trouble {
    fn again(message: String) -> Self {
        Self {
            message,
            again_ms: WAKE_AGAIN_MS,
        }
    }
}
