//! The kernel's own story (crates/session/tests/support/story.rs) over the product's storage and host.

#[path = "../../../crates/session/tests/support/story.rs"]
mod story;

use std::rc::Rc;
use tidehold_durable_objects::platform::guard::{Guarded, guard};
use tidehold_durable_objects::platform::host::WasmHost;
use tidehold_durable_objects::platform::life::{EndReason, Life};
use tidehold_durable_objects::platform::sql::ObjectDriver;
use tidehold_durable_objects::platform::storage::ObjectStorage;
use tidehold_session::{Session, SessionOptions};
use tidehold_storage::SqlStorage;
use worker::{Response, Result};

/// One line of JSON each.
pub async fn tell(storage: ObjectStorage, seed: &str) -> Result<Response> {
    let told = match seed.parse() {
        Ok(seed) => told(storage, seed).await,
        Err(_) => Err(format!("{seed} is no seed")),
    };
    match told {
        Ok(lines) => Response::ok(lines),
        Err(error) => Response::error(error, 500),
    }
}

async fn told(storage: ObjectStorage, seed: u64) -> std::result::Result<String, String> {
    let life = Life::default();
    let ending = life.clone();
    let on_panic = Rc::new(move |message: String| {
        worker::console_error!("a story panicked: {message}");
        ending.end(EndReason::Failed);
    });
    let host = Rc::new(WasmHost::new(life.clone(), on_panic));
    let storage = SqlStorage::open(ObjectDriver::new(storage), "story").map_err(|error| error.to_string())?;
    let reported = Rc::new(|report| worker::console_error!("report: {report}"));
    let options = SessionOptions {
        on_report: Some(reported),
        ..SessionOptions::default()
    };
    let session = Session::open(Rc::new(storage), host, options);
    match guard(&life, story::tell(&session, seed)).await {
        Guarded::Completed(Ok(lines)) => {
            session.close().await.map_err(|error| error.to_string())?;
            Ok(lines.iter().map(|line| format!("{line}\n")).collect())
        }
        Guarded::Completed(Err(error)) => Err(error.to_string()),
        Guarded::Ended(_) => Err("the story's life ended".to_owned()),
        Guarded::Panicked(message) => Err(format!("the story panicked: {message}")),
    }
}
