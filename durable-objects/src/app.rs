//! The product's session: what lies open in the object's memory, and how it opens.

use crate::frame::{App, Platform, Reply, Request};
use crate::ops;
use crate::protocol::{Operation, OperationError};
use std::rc::Rc;

/// Tidehold's own [`App`].
pub struct SessionApp;

/// An open session.
pub struct OpenSession {
    pub platform: Platform,
}

impl App for SessionApp {
    type Operation = Operation;
    type Session = OpenSession;

    async fn open(platform: Platform) -> Result<OpenSession, OperationError> {
        Ok(OpenSession { platform })
    }

    async fn perform(session: Rc<OpenSession>, request: Request<Operation>) -> Result<Reply, OperationError> {
        ops::perform(session, request).await
    }

    async fn alarm(_session: Rc<OpenSession>) -> Result<(), String> {
        Ok(())
    }
}
