//! An independent view of what was committed and of what ran, with the rules checked by brute force.
//!
//! It learns of commits from publications, of code from the actors, and of the platform from the story. Nothing of the
//! core is asked. Time is counted in steps of the executor where order matters.

mod calls;
mod code;
mod commits;
mod family;
mod marks;
mod opens;
mod rest;
mod wake;

use super::actor::{Fate, Migrates, Point, migration_of};
use super::life::{Deployed, LATEST};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, Seq, TaskId};
use tidehold_session::records::TaskRecord;
use tidehold_simulator::{Trace, World};

pub use calls::{Awaits, CallId, Calling};
pub use opens::{Survived, WayIn};

/// A step of the executor.
type Tick = u64;

/// Everything ever committed, and every breach.
pub struct Model {
    inner: RefCell<Inner>,
    world: World,
    pub trace: Trace,
    dirty: Cell<bool>,
}

/// What code of a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Run,
    Abort,
}

/// A task as it was published.
struct Known {
    record: Rc<TaskRecord>,
    /// Its checkpoint as a value, while it has one.
    point: Option<Point>,
    fate: Fate,
    created: Tick,
    /// Since when it carries a mark, or a live ordinary owner cancels what is below it.
    cancelled: Option<Tick>,
    /// When it last became `running`.
    reserved: Tick,
    /// When its last handler of this life returned.
    left: Option<Tick>,
    active: bool,
    /// The last commit before its last commit callback.
    gated: Option<Seq>,
    /// Of the last handler of this life.
    mode: Option<Mode>,
    /// The last phase of this life, with the reservation it belongs to.
    phase: Option<(Tick, Json)>,
    /// When it was poked last, unless it got further with an invocation that began later.
    poked: Option<Tick>,
    /// Poked since a handler of it last started or got further; the call has not returned.
    poking: bool,
    /// The same, and the poke was taken: it must run.
    owed: bool,
    /// Live at a crash and meant to be abandoned by it.
    abandoned: bool,
    /// Somebody asked to abort it in this life.
    asked: bool,
}

#[derive(Default)]
struct Inner {
    tasks: BTreeMap<TaskId, Known>,
    rooms: BTreeMap<ConversationId, Option<TaskId>>,
    /// Sequence number of the last publication, and its step.
    seq: Option<Seq>,
    published: Tick,
    /// The latest time there was.
    latest: Millis,
    /// What was installed since when, in this life.
    deployed: Vec<(Tick, Deployed)>,
    memos: BTreeMap<(TaskId, String), u64>,
    /// Effects done in this life.
    effects: BTreeSet<(TaskId, u64)>,
    /// Conversation aborts under way.
    aborts: Vec<(CallId, ConversationId, Reach)>,
    calls: calls::Calls,
    opens: opens::Opens,
    breaches: Vec<String>,
}

/// Whether a traversal crosses background tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Foreground,
    Everything,
}

impl Known {
    fn new(record: Rc<TaskRecord>, tick: Tick) -> Self {
        let fate = record.input.to_typed().expect("an actor's input");
        Self {
            point: point_of(&record),
            record,
            fate,
            created: tick,
            cancelled: None,
            reserved: 0,
            left: None,
            active: false,
            gated: None,
            mode: None,
            phase: None,
            poked: None,
            poking: false,
            owed: false,
            abandoned: false,
            asked: false,
        }
    }

    fn is_live(&self) -> bool {
        self.record.is_live()
    }

    /// Whether a definition of this version can take it.
    fn fits(&self, deployed: Deployed) -> bool {
        let Some(version) = deployed else { return false };
        match version.cmp(&self.record.version) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => true,
            std::cmp::Ordering::Greater => migration_of(&self.fate, version) == Migrates::Yes,
        }
    }
}

fn point_of(record: &TaskRecord) -> Option<Point> {
    record
        .checkpoint()
        .map(|json| json.to_typed().expect("an actor's checkpoint"))
}

impl Inner {
    fn breach(&mut self, text: String) {
        self.breaches.push(text);
    }

    fn deployed(&self) -> Deployed {
        self.deployed
            .last()
            .map_or(Some(LATEST), |(_, deployed)| *deployed)
    }

    /// Whether definitions of other versions that can take the task, and no other, were installed since the last handler of
    /// this invocation returned: it had to hand over.
    fn was_replaced(&self, id: TaskId, version: u32) -> bool {
        let Some(task) = self.tasks.get(&id) else {
            return false;
        };
        let Some(since) = task.left.filter(|left| *left >= task.reserved) else {
            return false;
        };
        for (at, deployed) in self.deployed.iter().rev() {
            if *deployed == Some(version) || !task.fits(*deployed) {
                return false;
            }
            if *at < since {
                return true;
            }
        }
        false
    }

    /// Whether a definition that was installed since the last publication can take the task: commits come one after the
    /// other, so what is published now was decided since.
    fn fitted_lately(&self, task: &Known, wanted: bool) -> bool {
        let mut until = Tick::MAX;
        for (since, deployed) in self.deployed.iter().rev() {
            if task.fits(*deployed) == wanted {
                return true;
            }
            until = until.min(*since);
            if until < self.published {
                break;
            }
        }
        false
    }
}

impl Model {
    pub fn new(world: &World, trace: Trace) -> Self {
        Self {
            inner: RefCell::default(),
            world: world.clone(),
            trace,
            dirty: Cell::new(true),
        }
    }

    fn tick(&self) -> Tick {
        self.world.steps()
    }

    /// Something happened that the rules may care about.
    pub fn touch(&self) {
        self.dirty.set(true);
    }

    /// Injected failures are the story's; any other, and any panic of a listener, is ours.
    pub fn session_reported(&self, text: String) {
        if !text.contains(tidehold_simulator::storage::INJECTED) {
            self.breach(text);
        }
    }

    pub fn breach(&self, text: String) {
        self.trace.line(|| format!("BREACH: {text}"));
        self.inner.borrow_mut().breach(text);
    }

    pub fn is_broken(&self) -> bool {
        !self.inner.borrow().breaches.is_empty()
    }

    pub fn breaches(&self) -> Vec<String> {
        self.inner.borrow().breaches.clone()
    }

    pub fn live(&self) -> Vec<TaskId> {
        let inner = self.inner.borrow();
        let live = inner.tasks.iter().filter(|(_, task)| task.is_live());
        live.map(|(id, _)| *id).collect()
    }

    /// Every task, ended ones too.
    pub fn known(&self) -> Vec<TaskId> {
        self.inner.borrow().tasks.keys().copied().collect()
    }

    /// Every conversation.
    pub fn rooms(&self) -> Vec<ConversationId> {
        self.inner.borrow().rooms.keys().copied().collect()
    }

    pub fn count(&self) -> usize {
        self.inner.borrow().tasks.len()
    }

    /// Another definition.
    pub fn deploys(&self, deployed: Deployed) {
        let tick = self.tick();
        let mut inner = self.inner.borrow_mut();
        inner.deployed.push((tick, deployed));
        // What an open under way will find due may have changed.
        inner.opens.cannot_tell();
        drop(inner);
        self.touch();
    }

    pub fn clock_is(&self, now: Millis) {
        let mut inner = self.inner.borrow_mut();
        inner.latest = inner.latest.max(now);
        self.touch();
    }
}
