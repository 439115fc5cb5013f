//! Observation of documents (spec 9.1 and 9.2): from the one publication of a commit to the frames of each observer.
//!
//! An observer is bound to one incarnation on the line, together with the value it begins with, so that it misses no commit
//! and sees none twice. Commits only queue frames; code of users runs later, off the line. [`DocumentState`] is what a
//! replica of Chord's replicated states follows, [`Watch`] what code inside the session listens to.

mod hub;
mod state;
mod watch;

pub(crate) use hub::Hub;
pub use state::{Delivery, DeliveryKind, DocumentState, StateSubscription};
pub use watch::{AlreadyStarted, ListenerError, Watch, WatchEnd};

use crate::documents::{DocDef, DocumentAddress, Token};
use crate::error::SessionError;
use crate::session::typed::TypedDocument;
use crate::session::{Inner, Session};
use futures::future::LocalBoxFuture;
use hub::Subject;
use std::rc::Rc;
use tidehold_delta::{Json, Op};

/// A committed revision of an observed document. Retirement is the revision `null`.
#[derive(Clone, Debug)]
pub struct Revision {
    /// The committed value, shared with every snapshot of it.
    pub value: Json,
    /// What makes it of the revision before.
    pub ops: Rc<[Op]>,
}

impl Revision {
    /// One that needs none before it.
    fn replacement(value: Json) -> Self {
        let ops = Rc::new([Op::Replace(value.clone())]);
        Self { value, ops }
    }
}

impl Session {
    /// The committed state of a document, to subscribe to; `None` when it is absent. Never creates it; migrates in memory.
    ///
    /// Bound to the incarnation that it found. Dropping the returned future leaves nothing behind.
    ///
    /// # Errors
    /// Those of [`Session::snapshot`]; [`SessionError::Closed`] for a document that exists when a close began before its
    /// turn on the line.
    pub fn document_state<'a, T: Token>(
        &'a self,
        token: T,
        at: T::At<'_>,
    ) -> LocalBoxFuture<'a, Result<Option<DocumentState>, SessionError>> {
        Box::pin(self.observe(token.def(), token.address(at), DocumentState::attach))
    }

    /// A watch of a document, which buffers from now on; `None` when it is absent. Otherwise like
    /// [`Session::document_state`].
    ///
    /// # Errors
    /// Those of [`Session::document_state`].
    pub fn watch_doc<'a, T: Token>(
        &'a self,
        token: T,
        at: T::At<'_>,
    ) -> LocalBoxFuture<'a, Result<Option<Watch>, SessionError>> {
        Box::pin(self.observe(token.def(), token.address(at), Watch::attach))
    }

    async fn observe<O: 'static>(
        &self,
        def: &'static DocDef,
        address: DocumentAddress,
        attach: fn(&Rc<Inner>, Subject) -> O,
    ) -> Result<Option<O>, SessionError> {
        let session = self.clone();
        self.on_line(async move || {
            let inner = &session.0;
            let Some(document) = inner.typed_document(def, &address).await? else {
                return Ok(None);
            };
            // Its turn came after the seal: what exists cannot be observed any more.
            session.health()?;
            let TypedDocument { record, value, .. } = document;
            let subject = Subject {
                address,
                id: record.id,
                version: def.version,
                value,
            };
            Ok(Some(attach(inner, subject)))
        })
        .await?
    }
}
