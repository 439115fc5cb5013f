//! An independent view of what was committed, with the rules checked by brute force.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::publication::Publication;
use tidehold_session::records::{ConversationRecord, TaskRecord, TaskState};

/// Everything ever committed, and every breach.
#[derive(Default)]
pub struct Model(RefCell<Inner>);

#[derive(Default)]
struct Inner {
    tasks: BTreeMap<TaskId, TaskRecord>,
    owners: BTreeMap<ConversationId, Option<TaskId>>,
    active: BTreeSet<TaskId>,
    /// Tasks of which a phase ran since the last crash.
    warm: BTreeSet<TaskId>,
    poked: BTreeSet<TaskId>,
    /// Poked since a handler of theirs last started; the call has not returned.
    poking: BTreeSet<TaskId>,
    /// The same, and the poke was taken: they must run.
    owed: BTreeSet<TaskId>,
    /// Live at a crash and meant to be abandoned by it.
    abandoned: BTreeSet<TaskId>,
    /// Effects done since the last crash.
    effects: BTreeSet<(TaskId, u64)>,
    breaches: Vec<String>,
}

impl Inner {
    fn breach(&mut self, text: String) {
        self.breaches.push(text);
    }

    fn above(&self, id: TaskId) -> Option<TaskId> {
        let task = self.tasks.get(&id)?;
        task.owner
            .or_else(|| self.owners.get(&task.conversation_id).copied().flatten())
    }

    /// Whether `id` is ordinary owned work of `owner`.
    fn is_below(&self, id: TaskId, owner: TaskId) -> bool {
        let mut at = id;
        loop {
            if self.tasks.get(&at).is_none_or(|task| task.background) {
                return false;
            }
            match self.above(at) {
                Some(above) if above == owner => return true,
                Some(above) => at = above,
                None => return false,
            }
        }
    }

    fn live_below(&self, owner: TaskId) -> Vec<TaskId> {
        let live = self
            .tasks
            .values()
            .filter(|task| task.is_live())
            .map(|task| task.id);
        live.filter(|id| self.is_below(*id, owner)).collect()
    }

    fn take_task(&mut self, record: &TaskRecord) {
        let id = record.id;
        if let Some(before) = self.tasks.get(&id)
            && !before.is_live()
            && before != record
        {
            self.breach(format!("task {id} changed after its end"));
        }
        self.tasks.insert(id, record.clone());
        if !record.is_live() {
            let live = self.live_below(id);
            if !live.is_empty() {
                self.breach(format!("task {id} ended above live work {live:?}"));
            }
        }
    }
}

impl Model {
    pub fn publish(&self, publication: &Publication) {
        let mut model = self.0.borrow_mut();
        for conversation in &publication.conversations {
            model
                .owners
                .insert(conversation.id, conversation.owner.map(|owner| owner.task_id));
        }
        // Ends are judged on everything the commit leaves.
        let (live, ended): (Vec<_>, Vec<_>) = publication
            .tasks
            .iter()
            .partition(|change| change.after.is_live());
        for change in &ended {
            model
                .tasks
                .entry(change.after.id)
                .or_insert_with(|| change.after.as_ref().clone());
        }
        for change in live {
            model.take_task(&change.after);
        }
        // In reverse of the tree: deeper work has the higher ids.
        for change in ended.into_iter().rev() {
            model.take_task(&change.after);
        }
    }

    /// What storage holds after a crash. What had been published must be there.
    pub fn restart(&self, tasks: Vec<TaskRecord>, conversations: Vec<ConversationRecord>) {
        let mut model = self.0.borrow_mut();
        model.active.clear();
        model.warm.clear();
        model.effects.clear();
        model.poking.clear();
        model.owners.extend(
            conversations
                .into_iter()
                .map(|c| (c.id, c.owner.map(|owner| owner.task_id))),
        );
        let known: BTreeSet<TaskId> = tasks.iter().map(|task| task.id).collect();
        let lost: Vec<TaskId> = model
            .tasks
            .keys()
            .filter(|id| !known.contains(id))
            .copied()
            .collect();
        if !lost.is_empty() {
            model.breach(format!("published tasks {lost:?} are gone"));
        }
        for record in &tasks {
            if model
                .tasks
                .get(&record.id)
                .is_some_and(|before| !before.is_live() && before != record)
            {
                model.breach(format!("task {} has another outcome after the crash", record.id));
            }
            model.tasks.insert(record.id, record.clone());
            if record.abandon_on_restart && record.is_live() {
                model.abandoned.insert(record.id);
            }
        }
    }

    /// A handler starts.
    pub fn enter(&self, id: TaskId) {
        let mut model = self.0.borrow_mut();
        model.poking.remove(&id);
        model.owed.remove(&id);
        if !model.active.insert(id) {
            model.breach(format!("two invocations of task {id}"));
        }
    }

    /// It returned, or its memory is lost.
    pub fn leave(&self, id: TaskId) {
        let mut model = self.0.borrow_mut();
        model.active.remove(&id);
        model.warm.insert(id);
    }

    pub fn phase_starts(&self, id: TaskId) {
        let mut model = self.0.borrow_mut();
        let Some(record) = model.tasks.get(&id).cloned() else {
            return;
        };
        if record.abort_requested {
            model.breach(format!("a phase of task {id} started after its abort mark"));
        }
        if model.abandoned.contains(&id) {
            model.breach(format!(
                "a phase of the abandoned task {id} started after a restart"
            ));
        }
    }

    pub fn polls(&self, id: TaskId, at: u64, now: u64) {
        let mut model = self.0.borrow_mut();
        if now < at && !model.warm.contains(&id) && !model.poked.contains(&id) {
            model.breach(format!("task {id} was started at {now}, before its time {at}"));
        }
    }

    pub fn effect(&self, id: TaskId, n: u64) {
        let mut model = self.0.borrow_mut();
        if !model.effects.insert((id, n)) {
            model.breach(format!("effect {n} of task {id} ran twice without a crash"));
        }
    }

    pub fn abort_starts(&self, id: TaskId) {
        let mut model = self.0.borrow_mut();
        let live = model.live_below(id);
        if !live.is_empty() {
            model.breach(format!(
                "the abort handler of {id} started above live work {live:?}"
            ));
        }
    }

    pub fn poke(&self, id: TaskId) {
        let mut model = self.0.borrow_mut();
        model.poked.insert(id);
        model.poking.insert(id);
    }

    pub fn poke_taken(&self, id: TaskId) {
        let mut model = self.0.borrow_mut();
        if model.poking.remove(&id) {
            model.owed.insert(id);
        }
    }

    /// Nothing will run by itself any more: whoever was poked has run.
    pub fn at_rest(&self) {
        let mut model = self.0.borrow_mut();
        let parked = |id: &TaskId| {
            let task = model.tasks.get(id);
            task.is_some_and(|task| matches!(task.state, TaskState::Pending { .. }))
        };
        let lost: Vec<TaskId> = model.owed.iter().copied().filter(parked).collect();
        if !lost.is_empty() {
            model.breach(format!("pokes of {lost:?} are lost"));
        }
    }

    /// Nothing can run at this instant: what had to flow down has.
    pub fn settled(&self) {
        let mut model = self.0.borrow_mut();
        let intents: Vec<TaskId> = model
            .tasks
            .values()
            .filter(|task| task.cancels_below())
            .map(|task| task.id)
            .collect();
        for owner in intents {
            for id in model.live_below(owner) {
                if model.tasks.get(&id).is_some_and(|task| !task.abort_requested) {
                    model.breach(format!("task {id} below the cancelled {owner} has no mark"));
                }
            }
        }
    }

    /// Injected failures are the story's; any other, and any panic of a listener, is ours.
    pub fn session_reported(&self, text: String) {
        if !text.contains("injected failure") {
            self.breach(text);
        }
    }

    pub fn breach(&self, text: String) {
        self.0.borrow_mut().breach(text);
    }

    pub fn breaches(&self) -> Vec<String> {
        self.0.borrow().breaches.clone()
    }

    pub fn live(&self) -> Vec<TaskId> {
        self.0
            .borrow()
            .tasks
            .values()
            .filter(|task| task.is_live())
            .map(|task| task.id)
            .collect()
    }

    pub fn count(&self) -> usize {
        self.0.borrow().tasks.len()
    }
}
