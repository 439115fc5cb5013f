//! What a commit may change.

use super::{Inner, Known, Mode, Model, Tick, point_of};
use crate::recovery::RECOVERY;
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::publication::{DocumentChangeKind, Publication};
use tidehold_session::records::{TaskOutcome, TaskRecord, TaskState};
use tidehold_simulator::trace::of_publication;

impl Model {
    pub fn publish(&self, publication: &Publication) {
        self.touch();
        self.trace.line(|| of_publication(publication));
        let tick = self.tick();
        let mut inner = self.inner.borrow_mut();
        for conversation in &publication.conversations {
            let owner = conversation.owner.map(|owner| owner.task_id);
            inner.rooms.insert(conversation.id, owner);
        }
        // Judged on what was there before any of it.
        for change in &publication.tasks {
            inner.judge_change(&change.after, change.before.as_deref());
        }
        let progress = publication
            .tasks
            .iter()
            .any(|change| inner.is_own_progress(&change.after));
        for change in &publication.tasks {
            inner.take(&change.after, tick);
        }
        // And on all that it leaves.
        for change in &publication.tasks {
            inner.judge_end(&change.after);
        }
        for document in &publication.documents {
            let (DocumentChangeKind::Created { value } | DocumentChangeKind::Changed { value, .. }) =
                &document.kind
            else {
                continue;
            };
            if *document.record.kind == *RECOVERY.kind() {
                inner.opens.stored(crate::recovery::read(value));
            }
        }
        if progress && inner.opens.count() > 0 {
            inner.breach("a task got further, and the opens before still count".to_owned());
        }
        inner.follow_intents(tick);
        inner.follow_waits();
        inner.seq = Some(publication.seq);
        inner.published = tick;
    }
}

impl Inner {
    pub(super) fn take(&mut self, record: &Rc<TaskRecord>, tick: Tick) {
        let task = self
            .tasks
            .entry(record.id)
            .or_insert_with(|| Known::new(Rc::clone(record), tick));
        let further = task.record.checkpoint() != record.checkpoint();
        if further {
            task.point = point_of(record);
            task.poking = false;
            task.owed = false;
            task.poked = task.poked.filter(|poked| *poked >= task.reserved);
        }
        let starts = matches!(record.state, TaskState::Running { .. })
            && !matches!(task.record.state, TaskState::Running { .. });
        if starts {
            task.reserved = tick;
        }
        task.record = Rc::clone(record);
    }

    /// Whether a commit of the task's own code made this change.
    fn is_own_progress(&self, after: &TaskRecord) -> bool {
        let Some(before) = self.tasks.get(&after.id) else {
            return false;
        };
        let further = before.record.checkpoint() != after.checkpoint();
        let waits = matches!(after.state, TaskState::Waiting { .. }) && before.record.state != after.state;
        before.active && before.record.version == after.version && (further || waits)
    }

    fn judge_change(&mut self, after: &TaskRecord, before: Option<&TaskRecord>) {
        let id = after.id;
        let Some(known) = self.tasks.get(&id) else {
            if before.is_some() {
                self.breach(format!("task {id} is published as changed and never was as new"));
            }
            return self.judge_new(after);
        };
        let mut breaches = Vec::new();
        if before.is_none_or(|before| *before != *known.record) {
            breaches.push(format!(
                "the change of task {id} starts from another record than was published"
            ));
        }
        if !known.is_live() && *known.record != *after {
            breaches.push(format!("task {id} changed after its end"));
        }
        if known.record.owner != after.owner || known.record.conversation_id != after.conversation_id {
            breaches.push(format!("task {id} moved"));
        }
        if let Some(held) = known.record.outcome()
            && after.outcome() != Some(held)
        {
            breaches.push(format!("the outcome of task {id} was replaced"));
        }
        if known.record.abort_requested && !after.abort_requested {
            breaches.push(format!("task {id} lost its abort mark"));
        }
        breaches.extend(self.judge_step(known, after));
        breaches.extend(self.judge_start(known, after));
        breaches.extend(self.judge_outcome(known, after));
        breaches.extend(self.judge_mark(known, after));
        breaches.into_iter().for_each(|text| self.breach(text));
    }

    fn judge_new(&mut self, after: &TaskRecord) {
        let owner = after.owner.and_then(|owner| self.tasks.get(&owner));
        let refuses = |owner: &Known| {
            !owner.is_live() || owner.record.outcome().is_some() || owner.record.abort_requested
        };
        if owner.is_some_and(refuses) {
            self.breach(format!(
                "task {} was created below an owner that is over",
                after.id
            ));
        }
    }

    /// A new checkpoint or wait.
    fn judge_step(&self, known: &Known, after: &TaskRecord) -> Option<String> {
        let (id, before) = (after.id, &known.record);
        let migrated = before.version != after.version;
        let further = match (before.checkpoint(), after.checkpoint()) {
            (Some(before), Some(after)) => before != after,
            _ => false,
        };
        let waits = matches!(after.state, TaskState::Waiting { .. }) && before.state != after.state;
        if !(further || waits) || migrated {
            return None;
        }
        if !known.active {
            return Some(format!("task {id} got further while none of its code ran"));
        }
        if before.abort_requested && known.mode == Some(Mode::Run) {
            return Some(format!("task {id} committed after its abort mark"));
        }
        None
    }

    /// A reservation.
    fn judge_start(&self, known: &Known, after: &TaskRecord) -> Vec<String> {
        let (id, before) = (after.id, &known.record);
        let starts = matches!(after.state, TaskState::Running { .. })
            && !matches!(before.state, TaskState::Running { .. });
        if !starts {
            return Vec::new();
        }
        let mut breaches = Vec::new();
        let mut says = |broken: bool, text: &str| {
            if broken {
                breaches.push(format!("task {id} was started {text}"));
            }
        };
        says(known.active, "while its code still ran");
        says(
            !self.fitted_lately(known, true),
            "under a definition that cannot take it",
        );
        let unmarked = self
            .tasks
            .iter()
            .find(|(_, task)| task.abandoned && task.is_live() && !task.record.abort_requested);
        if let Some((abandoned, _)) = unmarked {
            says(true, &format!("before the abandoned task {abandoned} was marked"));
        }
        if before.abort_requested {
            let below = self.live_below(id);
            says(
                !below.is_empty(),
                &format!("for its abort above live work {below:?}"),
            );
            return breaches;
        }
        says(self.is_below_intent(id), "below an owner that cancels it");
        match &before.state {
            TaskState::Waiting { on, until, .. } => {
                let live = on.iter().any(|on| self.is_live(*on));
                let sleeps = on.is_empty() && until.is_some();
                let early = until.is_none_or(|until| until > self.latest);
                says(live && early, "before what it waits for has ended");
                says(sleeps && early && known.poked.is_none(), "before its time");
            }
            _ => {
                let early = match &known.point {
                    Some(super::Point::Poll { at, .. }) => *at > self.latest && known.poked.is_none(),
                    _ => false,
                };
                says(early, "before its time");
            }
        }
        breaches
    }

    /// A first outcome.
    fn judge_outcome(&self, known: &Known, after: &TaskRecord) -> Option<String> {
        let (id, before) = (after.id, &known.record);
        let outcome = after.outcome().filter(|_| before.outcome().is_none())?;
        match outcome {
            TaskOutcome::Completed { .. } | TaskOutcome::Failed { .. } | TaskOutcome::Aborted { .. } => {
                if !known.active {
                    return Some(format!("task {id} got an outcome while none of its code ran"));
                }
                let late = before.abort_requested && known.mode == Some(Mode::Run);
                late.then(|| format!("task {id} ended itself after its abort mark"))
            }
            TaskOutcome::Faulted { .. } => (known.active || known.left.is_none())
                .then(|| format!("task {id} faulted and no handler of it returned")),
            TaskOutcome::Orphaned { .. } => {
                let asked = known.asked || (before.abort_requested && before.abort_reason.is_none());
                if !asked && !self.is_below_intent(id) && !self.is_being_aborted(id) {
                    return Some(format!("task {id} was orphaned and nobody aborted it"));
                }
                let blocked = self.fitted_lately(known, false);
                (!blocked).then(|| format!("task {id} was orphaned, and its definition can take it"))
            }
        }
    }

    fn judge_end(&mut self, after: &TaskRecord) {
        let id = after.id;
        if !after.is_live() {
            let live = self.live_below(id);
            if !live.is_empty() {
                self.breach(format!("task {id} ended above live work {live:?}"));
            }
            if !after.memos.is_empty() {
                self.breach(format!("task {id} ended with memos"));
            }
        }
        if matches!(after.state, TaskState::Waiting { .. }) && self.closes_a_cycle(id) {
            self.breach(format!("task {id} waits in a cycle"));
        }
    }

    /// Since when whom is cancelled.
    pub(super) fn follow_intents(&mut self, tick: Tick) {
        let cancelled: Vec<(TaskId, bool)> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.is_live())
            .map(|(id, task)| (*id, task.record.abort_requested || self.is_below_intent(*id)))
            .collect();
        for (id, is_cancelled) in cancelled {
            if let Some(task) = self.tasks.get_mut(&id) {
                task.cancelled = match is_cancelled {
                    true => task.cancelled.or(Some(tick)),
                    false => None,
                };
            }
        }
    }
}
