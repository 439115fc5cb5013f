//! What code of tasks may do, as the actors tell.

use super::{Known, Mode, Model, Point};
use crate::fault::WaitRejection;
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskOutcome, TaskRecord, TaskState};

impl Model {
    fn with(&self, id: TaskId, say: impl FnOnce(&mut Known) -> Option<String>) {
        self.touch();
        let mut inner = self.inner.borrow_mut();
        let said = match inner.tasks.get_mut(&id) {
            Some(task) => say(task),
            None => Some(format!("code of task {id} runs, which was never published")),
        };
        if let Some(text) = said {
            drop(inner);
            self.breach(text);
        }
    }

    /// A handler starts.
    pub fn enter(&self, id: TaskId) {
        self.with(id, |task| {
            task.poking = false;
            task.owed = false;
            let second = std::mem::replace(&mut task.active, true);
            second.then(|| format!("two invocations of task {id}"))
        });
    }

    /// It returned, or its memory is lost.
    pub fn leave(&self, id: TaskId) {
        let tick = self.tick();
        self.with(id, |task| {
            task.active = false;
            task.left = Some(tick);
            None
        });
    }

    pub fn phase_starts(&self, id: TaskId, record: &TaskRecord, version: u32) {
        self.trace.line(|| {
            format!(
                "phase of task {id} in version {version}: {:?}",
                record.checkpoint()
            )
        });
        let replaced = self.inner.borrow().was_replaced(id, version);
        self.with(id, |task| {
            task.mode = Some(Mode::Run);
            let phase = Some((task.reserved, record.checkpoint().cloned().unwrap_or_default()));
            let again = task.phase == phase;
            task.phase = phase;
            // The step that let it start came after these.
            let since = task.reserved.max(task.left.unwrap_or(0));
            if record.abort_requested || task.cancelled.is_some_and(|cancelled| cancelled < since) {
                return Some(format!("a phase of task {id} started after it was cancelled"));
            }
            if task.abandoned {
                return Some(format!(
                    "a phase of the abandoned task {id} started after a restart"
                ));
            }
            if replaced {
                return Some(format!(
                    "a phase of task {id} started in version {version}, which was replaced"
                ));
            }
            again.then(|| format!("a phase of task {id} started again without progress"))
        });
    }

    pub fn abort_starts(&self, id: TaskId) {
        self.trace.line(|| format!("abort of task {id}"));
        let late = {
            let inner = self.inner.borrow();
            let marked = inner.tasks.get(&id).and_then(|task| task.cancelled);
            let below = inner.live_below(id);
            let known = |below: &&TaskId| {
                let created = inner.tasks.get(*below).map(|task| task.created);
                // Work that somebody starts in an owned conversation may come at any time.
                created.is_none_or(|created| marked.is_none_or(|marked| created <= marked))
            };
            below.iter().filter(known).copied().collect::<Vec<_>>()
        };
        self.with(id, |task| {
            task.mode = Some(Mode::Abort);
            if !task.record.abort_requested {
                return Some(format!("the abort handler of {id} started without a mark"));
            }
            (!late.is_empty()).then(|| format!("the abort handler of {id} started above live work {late:?}"))
        });
    }

    /// A commit callback of the task runs.
    pub fn gated(&self, record: &Rc<TaskRecord>) {
        let (id, seq) = (record.id, self.inner.borrow().seq);
        self.with(id, |task| {
            task.gated = seq;
            if *task.record != **record {
                return Some(format!(
                    "a commit of task {id} sees another record than was published"
                ));
            }
            if !matches!(record.state, TaskState::Running { .. }) {
                return Some(format!(
                    "a commit of task {id} was let through, which is not running"
                ));
            }
            let late = record.abort_requested && task.mode == Some(Mode::Run);
            late.then(|| format!("a run commit of task {id} was let through after its abort mark"))
        });
    }

    /// The external effect. Its intent is the committed checkpoint.
    pub fn effect(&self, id: TaskId, n: u64) {
        self.trace.line(|| format!("effect {n} of task {id}"));
        let twice = !self.inner.borrow_mut().effects.insert((id, n));
        self.with(id, |task| {
            if twice {
                return Some(format!("effect {n} of task {id} ran twice without a crash"));
            }
            let meant = matches!(task.point, Some(Point::Effect { n: intent, .. }) if intent == n);
            (!meant).then(|| format!("effect {n} of task {id} has no committed intent"))
        });
    }

    /// The first value ever proposed wins, also over crashes, and is committed.
    pub fn memo(&self, id: TaskId, name: &str, value: u64) {
        let winner = {
            let mut inner = self.inner.borrow_mut();
            *inner.memos.entry((id, name.to_owned())).or_insert(value)
        };
        self.with(id, |task| {
            let stored = task.record.memos.get(name).and_then(tidehold_delta::Json::as_u64);
            if stored != Some(value) && task.record.outcome().is_none() {
                return Some(format!(
                    "memo {name} of task {id} is {stored:?}, and the task was told {value}"
                ));
            }
            (winner != value).then(|| format!("memo {name} of task {id} was {winner} and is {value}"))
        });
    }

    /// Its look for what it waits for takes in every poke so far.
    pub fn answered(&self, id: TaskId) {
        self.with(id, |task| {
            task.poking = false;
            task.owed = false;
            None
        });
    }

    /// When the task was last reserved.
    pub fn reserved(&self, id: TaskId) -> u64 {
        self.inner.borrow().tasks.get(&id).map_or(0, |task| task.reserved)
    }

    /// What an invocation left behind tried to commit.
    pub fn left_behind(&self, id: TaskId, since: u64, committed: bool) {
        self.trace
            .line(|| format!("left behind by task {id}: committed {committed}"));
        self.with(id, |task| {
            let late = committed && task.reserved != since;
            late.then(|| format!("what an earlier invocation of task {id} left behind committed"))
        });
    }

    /// A join was answered.
    pub fn joined(&self, on: &[TaskId], outcomes: &[TaskOutcome]) {
        for (id, outcome) in on.iter().zip(outcomes) {
            self.with(*id, |task| {
                let right = !task.is_live() && task.record.outcome() == Some(outcome);
                (!right).then(|| format!("a join was told {outcome:?} of task {id}"))
            });
        }
    }

    /// A receipt was handed out.
    pub fn receipt(&self, id: TaskId, record: &TaskRecord) {
        self.with(id, |task| {
            let right = !record.is_live() && *record == *task.record;
            (!right).then(|| format!("the receipt of task {id} is {record:?}"))
        });
    }

    pub fn must_have_ended(&self, id: TaskId) {
        self.with(id, |task| {
            task.is_live()
                .then(|| format!("task {id} was aborted by its owner, who was told early"))
        });
    }

    pub fn owned(&self, owner: TaskId, told: &[Rc<TaskRecord>]) {
        let told: Vec<TaskId> = told.iter().map(|record| record.id).collect();
        let really: Vec<TaskId> = {
            let inner = self.inner.borrow();
            let owned = inner
                .tasks
                .iter()
                .filter(|(_, task)| task.record.owner == Some(owner) && task.is_live());
            owned.map(|(id, _)| *id).collect()
        };
        if told != really {
            self.breach(format!("task {owner} owns {really:?} and was told {told:?}"));
        }
    }

    /// A wait was refused: the named cycle must be one.
    pub fn refused(&self, id: TaskId, on: &[TaskId], rejection: &WaitRejection) {
        let fine = match rejection {
            WaitRejection::Cycle(cycle) => {
                let inner = self.inner.borrow();
                // What was published since may have dissolved it.
                let judged = inner.tasks.get(&id).and_then(|task| task.gated);
                let mut edges = cycle.windows(2);
                let ends = cycle.first() == Some(&id) && cycle.last() == Some(&id) && cycle.len() > 1;
                let first = edges
                    .next()
                    .is_some_and(|edge| edge.last().is_some_and(|to| on.contains(to)));
                let real = |edge: &[TaskId]| match edge {
                    [from, to] => inner.waits_for(*from, *to),
                    _ => false,
                };
                ends && first && (judged != inner.seq || edges.all(real))
            }
            _ => false,
        };
        if !fine {
            self.breach(format!("a wait of task {id} on {on:?} was refused: {rejection}"));
        }
    }
}
