//! Observation of documents for as long as the invocation lives.

use super::Runtime;
use crate::fault::TaskFault;
use crate::runner::invocation::Observation;
use crate::task::Task;
use std::rc::Rc;
use tidehold_session::documents::Token;
use tidehold_session::observe::{DocumentState, Watch};

impl<T: Task> Runtime<T> {
    /// The committed state of a document; see [`tidehold_session::Session::document_state`]. When the invocation ends it
    /// follows no more commits, and keeps its last value.
    pub async fn document_state<K: Token>(
        &self,
        token: K,
        at: K::At<'_>,
    ) -> Result<Option<Rc<DocumentState>>, TaskFault> {
        let acquired = self.session().document_state(token, at);
        // Refused here, what was acquired meanwhile is dropped, which ends it.
        let state = self.access.while_it_runs(acquired).await??;
        Ok(state.map(|state| self.bound(state, Observation::State)))
    }

    /// A watch of a document; see [`tidehold_session::Session::watch_doc`]. It is stopped when the invocation ends.
    pub async fn watch_doc<K: Token>(&self, token: K, at: K::At<'_>) -> Result<Option<Rc<Watch>>, TaskFault> {
        let acquired = self.session().watch_doc(token, at);
        let watch = self.access.while_it_runs(acquired).await??;
        Ok(watch.map(|watch| self.bound(watch, Observation::Watch)))
    }

    fn bound<O>(&self, observer: O, observation: impl FnOnce(std::rc::Weak<O>) -> Observation) -> Rc<O> {
        let observer = Rc::new(observer);
        let observation = observation(Rc::downgrade(&observer));
        self.access.invocation.end_with(observation);
        observer
    }
}
