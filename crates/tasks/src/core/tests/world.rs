//! Building states for tests. Conversation 1 is an ownerless root; tasks live there unless said otherwise.

use crate::core::apply::Assessment;
use crate::core::check::check;
use crate::core::state::{Fit, LiveTask, Mode, Stage, State};
use crate::inspection::BlockedReason;
use crate::task::Wake;
use std::rc::Rc;
use tidehold_delta::{Object, json};
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{
    AbortMarkReason, JoinPolicy, TaskOutcome, TaskOutcomeError, TaskRecord, TaskState,
};

pub fn world() -> State {
    let mut state = State {
        stage: Stage::Running,
        ..State::default()
    };
    state.end_queue_load();
    state.forest.insert_conversation(ConversationId(1), None);
    state
}

pub fn id(id: u64) -> TaskId {
    TaskId(id)
}

pub fn ids(ids: &[u64]) -> Vec<TaskId> {
    ids.iter().copied().map(TaskId).collect()
}

pub fn completed() -> TaskOutcome {
    TaskOutcome::Completed { result: json!(null) }
}

pub fn failed() -> TaskOutcome {
    TaskOutcome::Failed {
        error: TaskOutcomeError {
            message: "no".into(),
            detail: None,
        },
        result: None,
    }
}

/// A task under construction: pending, unmarked, fitting, due now.
#[derive(Clone)]
pub struct Build {
    pub record: TaskRecord,
    task: LiveTask,
}

pub fn task(number: u64) -> Build {
    let record = TaskRecord {
        id: TaskId(number),
        conversation_id: ConversationId(1),
        kind: "kind".into(),
        version: 1,
        input: json!(null),
        owner: None,
        background: false,
        abort_requested: false,
        abort_reason: None,
        abandon_on_restart: false,
        started_at: None,
        ended_at: None,
        state: TaskState::Pending {
            checkpoint: json!({ "phase": "first" }),
        },
        memos: Object::new(),
    };
    let fits = Assessment {
        fit: Fit::Fits,
        wake: Some(Wake::Now),
    };
    let task = LiveTask::new(Rc::new(record.clone()), fits);
    Build { record, task }
}

impl From<TaskRecord> for Build {
    fn from(record: TaskRecord) -> Self {
        Self { record, ..task(0) }
    }
}

impl Build {
    pub fn of(mut self, owner: u64) -> Self {
        self.record.owner = Some(TaskId(owner));
        self
    }
    pub fn at(mut self, conversation: u64) -> Self {
        self.record.conversation_id = ConversationId(conversation);
        self
    }
    pub fn background(mut self) -> Self {
        self.record.background = true;
        self
    }
    pub fn marked(mut self) -> Self {
        self.record.abort_requested = true;
        self
    }
    pub fn restart_marked(mut self) -> Self {
        self.record.abort_reason = Some(AbortMarkReason::Restart);
        self.marked()
    }
    pub fn abandoned(mut self) -> Self {
        self.record.abandon_on_restart = true;
        self.recovered()
    }
    pub fn recovered(mut self) -> Self {
        self.task.recovered = true;
        self.record.started_at = Some(1);
        self
    }
    pub fn poked(mut self) -> Self {
        self.record.memos.insert(crate::core::state::POKES, json!(1));
        self
    }
    pub fn wake(mut self, wake: Wake) -> Self {
        self.task.wake = Some(wake);
        self
    }
    /// Of what does not fit, the wake is unknown.
    pub fn fit(mut self, fit: Fit) -> Self {
        self.task.wake = None;
        self.task.fit = fit;
        self
    }
    pub fn blocked(self) -> Self {
        self.fit(Fit::Blocked {
            reason: BlockedReason::MissingTask,
            error: None,
        })
    }
    pub fn state(mut self, state: TaskState) -> Self {
        self.record.state = state;
        self
    }
    pub fn running(mut self) -> Self {
        self.record.started_at = Some(1);
        let mode = if self.record.abort_requested {
            Mode::Abort
        } else {
            Mode::Run
        };
        self.task.invocation = Some(mode);
        self.state(TaskState::Running {
            checkpoint: json!({ "phase": "first" }),
        })
    }
    pub fn waiting(self, on: &[u64], policy: JoinPolicy, until: Option<Millis>) -> Self {
        let checkpoint = json!({ "phase": "joined" });
        self.state(TaskState::Waiting {
            checkpoint,
            on: ids(on),
            policy,
            until,
        })
    }
    pub fn holding(self, outcome: TaskOutcome) -> Self {
        self.state(TaskState::Completing { outcome })
    }
    pub fn ended(self, outcome: TaskOutcome) -> Self {
        self.state(TaskState::Terminal { outcome })
    }
}

/// Puts tasks into a world. What the mirror keeps of it is checked against what follows from the records.
#[track_caller]
pub fn with(mut state: State, tasks: impl IntoIterator<Item = Build>) -> State {
    for Build { record, task } in tasks {
        let record = Rc::new(record);
        if record.is_live() {
            state.put(LiveTask { record, ..task });
        } else {
            state.end(&record);
        }
    }
    state.settle();
    assert_eq!(check(&state), Ok(()));
    state
}

/// A conversation owned by a task.
pub fn owned(mut state: State, conversation: u64, owner: u64) -> State {
    state
        .forest
        .insert_conversation(ConversationId(conversation), Some(TaskId(owner)));
    state
}
