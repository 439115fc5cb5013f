//! One invocation in memory: mode, signal and end (spec 5.4).

use crate::core::state::Mode;
use crate::erased::ErasedTask;
use crate::registry::{RegistrySnapshot, TaskRegistry};
use futures::channel::oneshot;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::observe::{DocumentState, Watch};
use tidehold_session::signal::{AbortController, AbortReason};

/// Reason of the signal when an invocation ends for whatever reason: detached leftovers learn that they are dead.
pub(crate) const ENDED: AbortReason = "the invocation has ended";
pub(crate) const ABORT_REQUESTED: AbortReason = "the task was aborted";
pub(crate) const SESSION_OVER: AbortReason = "the session is closing";

/// An active run or abort invocation of a task.
pub(crate) struct Invocation {
    pub id: TaskId,
    pub conversation: ConversationId,
    pub mode: Mode,
    pub definition: Rc<dyn ErasedTask>,
    pub controller: AbortController,
    ended: Cell<bool>,
    /// Told when the last handler has returned.
    joins: RefCell<Vec<oneshot::Sender<()>>>,
    /// Told at the next poke.
    pokes: RefCell<Vec<oneshot::Sender<()>>>,
    /// Pokes the task code has taken note of.
    pub seen_pokes: Cell<u64>,
    observations: RefCell<Vec<Observation>>,
    /// What was installed when the present phase began.
    registry: RefCell<RegistrySnapshot>,
    /// Unfit definitions that were reported; `None` stands for there being none.
    reported: RefCell<Vec<Option<Rc<dyn ErasedTask>>>>,
}

/// A document that task code observes.
pub(crate) enum Observation {
    State(Weak<DocumentState>),
    Watch(Weak<Watch>),
}

impl Observation {
    fn is_held(&self) -> bool {
        match self {
            Self::State(state) => state.strong_count() > 0,
            Self::Watch(watch) => watch.strong_count() > 0,
        }
    }

    fn end(self) {
        match self {
            Self::State(state) => {
                if let Some(state) = state.upgrade() {
                    state.dispose();
                }
            }
            Self::Watch(watch) => {
                if let Some(watch) = watch.upgrade() {
                    watch.stop();
                }
            }
        }
    }
}

impl Invocation {
    pub fn new(
        id: TaskId,
        conversation: ConversationId,
        mode: Mode,
        definition: Rc<dyn ErasedTask>,
        registry: RegistrySnapshot,
    ) -> Rc<Self> {
        Rc::new(Self {
            id,
            conversation,
            mode,
            definition,
            controller: AbortController::new(),
            ended: Cell::new(false),
            joins: RefCell::default(),
            pokes: RefCell::default(),
            seen_pokes: Cell::new(0),
            observations: RefCell::default(),
            registry: RefCell::new(registry),
            reported: RefCell::default(),
        })
    }

    /// A phase boundary: what is installed now counts for the next phase.
    pub fn refresh_registry(&self, registry: &TaskRegistry) {
        self.registry.replace(registry.snapshot());
    }

    pub fn registry(&self) -> RegistrySnapshot {
        self.registry.borrow().clone()
    }

    /// Whether this definition, or the lack of one, was not reported yet; from now on it is.
    pub fn is_news(&self, unfit: Option<&Rc<dyn ErasedTask>>) -> bool {
        let mut reported = self.reported.borrow_mut();
        let known = reported.iter().any(|known| match (known, unfit) {
            (Some(known), Some(unfit)) => known.is(unfit.as_ref()),
            (None, None) => true,
            _ => false,
        });
        if !known {
            reported.push(unfit.cloned());
        }
        !known
    }

    /// From here on every runtime operation is refused. On the line, so that queued commits come after it.
    pub fn end(&self) {
        self.ended.set(true);
        self.controller.abort(ENDED);
        for observation in self.observations.take() {
            observation.end();
        }
    }

    /// Ends the observation together with the invocation.
    pub fn end_with(&self, observation: Observation) {
        let mut observations = self.observations.borrow_mut();
        observations.retain(Observation::is_held);
        observations.push(observation);
    }

    pub fn has_ended(&self) -> bool {
        self.ended.get()
    }

    /// Resolves once the invocation is over; cancelled when the session ends first.
    pub fn joined(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.joins.borrow_mut().push(sender);
        receiver
    }

    pub fn tell_joined(&self) {
        tell(&self.joins);
    }

    /// Resolves at the next poke.
    pub fn next_poke(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let mut pokes = self.pokes.borrow_mut();
        // A cancelled wait leaves its sender behind.
        pokes.retain(|sender| !sender.is_canceled());
        pokes.push(sender);
        receiver
    }

    pub fn tell_poked(&self) {
        tell(&self.pokes);
    }

    /// The session is over: signals the code and rejects who waits for it.
    pub fn give_up(&self) {
        self.controller.abort(SESSION_OVER);
        self.joins.borrow_mut().clear();
        self.pokes.borrow_mut().clear();
    }
}

fn tell(list: &RefCell<Vec<oneshot::Sender<()>>>) {
    let senders = std::mem::take(&mut *list.borrow_mut());
    for sender in senders {
        let _gone = sender.send(());
    }
}
