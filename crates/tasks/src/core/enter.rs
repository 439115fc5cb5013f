//! The doors of the mirror: how what is known changes. Each notes what it touches; [`State::settle`] ends a change.

use crate::core::apply::Assessment;
use crate::core::forest::{Missing, Node, Place, node_of};
use crate::core::joins::wait_of;
use crate::core::marks::intent;
use crate::core::scope::{Start, live_tasks};
use crate::core::state::{LiveTask, Mode, State, UnfinishedAbort};
use std::rc::Rc;
use tidehold_session::ids::{ConversationId, SubmissionId, TaskId};
use tidehold_session::records::TaskRecord;

/// What storage says about a missing edge.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    Conversation { owner: Option<TaskId> },
    Task(Node),
}

impl State {
    /// Enters a live task, new or changed.
    pub(super) fn put(&mut self, mut task: LiveTask) {
        let record = Rc::clone(&task.record);
        let id = record.id;
        let before = self.tasks.remove(&id);
        (task.join, task.standing) = before
            .as_ref()
            .map_or_else(Default::default, |before| (before.join, before.standing));
        self.tasks.insert(id, task);
        self.forest.insert(id, node_of(&record));
        let known = before.as_ref().map(|before| before.record.as_ref());
        self.note_intent(id, known, Some(&record));
        match &before {
            None => {
                self.open_waits(id);
                self.enter_wait(&record);
            }
            Some(before) if wait_of(&before.record) != wait_of(&record) => {
                self.leave_wait(before);
                self.enter_wait(&record);
            }
            Some(_) => {}
        }
        self.lose_wait_on(id);
        self.touch(Place::task(id));
    }

    /// Takes an ended task out.
    pub(super) fn end(&mut self, record: &TaskRecord) {
        let id = record.id;
        let before = self.tasks.remove(&id);
        self.forest.insert(id, node_of(record));
        if let Some(before) = before {
            self.agenda.move_task(id, before.standing, Default::default());
            self.note_intent(id, Some(&before.record), None);
            self.leave_wait(&before);
            self.close_waits(id);
        }
        self.lose_wait_on(id);
    }

    fn note_intent(&mut self, id: TaskId, before: Option<&TaskRecord>, after: Option<&TaskRecord>) {
        let (was, is) = (before.and_then(intent), after.and_then(intent));
        if was != is {
            self.intents = self.intents + usize::from(is.is_some()) - usize::from(was.is_some());
            self.touched.intents.push(id);
        }
    }

    /// Enters an edge that was missing.
    pub fn load(&mut self, edge: Missing, found: Option<Found>) {
        match (edge, found) {
            (Missing::Conversation(id), Some(Found::Conversation { owner })) => {
                self.forest.insert_conversation(id, owner);
            }
            (Missing::Task(id), Some(Found::Task(node))) => self.forest.insert(id, node),
            // An impossible owner must not stop its session.
            (Missing::Conversation(id), _) => self.forest.insert_conversation(id, None),
            (Missing::Task(id), _) => self.forest.insert(id, Node::NOWHERE),
        }
        self.settle();
    }

    /// Enters inputs that were queued before the open; later ones are published.
    pub fn load_queue(&mut self, inputs: impl IntoIterator<Item = (ConversationId, SubmissionId)>) {
        for (conversation, id) in inputs {
            self.queue(conversation, id);
        }
        self.settle();
    }

    /// All of them were entered.
    pub fn end_queue_load(&mut self) {
        self.queues.loaded = true;
    }

    /// An input is queued; whether that is news.
    pub(super) fn queue(&mut self, conversation: ConversationId, id: SubmissionId) -> bool {
        let is_new = self.queues.inputs.insert(conversation.0, id.0);
        if is_new {
            self.forest.pin(Place::conversation(conversation));
            self.touch(Place::conversation(conversation));
        }
        is_new
    }

    /// An input is queued no more.
    pub(super) fn unqueue(&mut self, conversation: ConversationId, id: SubmissionId) {
        if self.queues.inputs.remove(conversation.0, id.0) {
            self.forest.unpin(Place::conversation(conversation));
            self.touch(Place::conversation(conversation));
        }
    }

    /// The queued inputs of a conversation are being withdrawn.
    pub fn forget_queue(&mut self, conversation: ConversationId) {
        let queued: Vec<u64> = self.queues.inputs.under(conversation.0).collect();
        for id in queued {
            self.unqueue(conversation, SubmissionId(id));
        }
        self.settle();
    }

    /// Takes what the scheduler itself had stored.
    pub fn recall(&mut self, opens: u32, aborts: Vec<UnfinishedAbort>) {
        self.opens = opens;
        self.set_aborts(aborts);
        self.settle();
    }

    pub(super) fn set_aborts(&mut self, aborts: Vec<UnfinishedAbort>) {
        if self.aborts == aborts {
            return;
        }
        let before = std::mem::replace(&mut self.aborts, aborts);
        for abort in before.iter().chain(&self.aborts.clone()) {
            let start = Start::Conversation(abort.conversation);
            let reached = live_tasks(self, start, abort.boundaries);
            self.touched.places.extend(reached.into_iter().map(Place::task));
        }
    }

    /// An invocation of the task starts.
    pub fn begin(&mut self, id: TaskId, mode: Mode) {
        self.change(id, |task| {
            task.invocation = Some(mode);
            task.recovered = false;
        });
        self.settle();
    }

    /// The task's invocation has ended; whether the task lives on. It ran under the definition it started with; whoever comes
    /// next runs under the present one.
    pub fn finish_invocation(&mut self, id: TaskId, assess: &dyn Fn(&TaskRecord) -> Assessment) -> bool {
        let Some(record) = self.record(id).map(Rc::clone) else {
            return false;
        };
        let Assessment { fit, wake } = assess(&record);
        self.change(id, |task| {
            task.invocation = None;
            (task.fit, task.wake) = (fit, wake);
        });
        self.settle();
        true
    }

    /// Takes a new judgement of the registry.
    pub fn judge(&mut self, id: TaskId, assessment: Assessment) {
        let Assessment { fit, wake } = assessment;
        self.change(id, |task| (task.fit, task.wake) = (fit, wake));
        self.settle();
    }

    /// Judges the tasks of a kind again after its definition changed.
    pub fn judge_kind(&mut self, kind: &str, assess: &dyn Fn(&TaskRecord) -> Assessment) {
        for (id, task) in self
            .tasks
            .iter_mut()
            .filter(|(_, task)| *task.record.kind == *kind)
        {
            let Assessment { fit, wake } = assess(&task.record);
            (task.fit, task.wake) = (fit, wake);
            self.touched.places.push(Place::task(*id));
        }
        self.settle();
    }

    fn change(&mut self, id: TaskId, change: impl FnOnce(&mut LiveTask)) {
        if let Some(task) = self.tasks.get_mut(&id) {
            change(task);
            self.touch(Place::task(id));
        }
    }
}
