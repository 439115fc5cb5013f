//! Random changes of random worlds: after each of them the mirror is what follows from the records, and every decision is
//! the one that a scan over everything makes.

use super::naive;
use super::world::{Build, completed, failed, id, task};
use crate::core::apply::{Assessment, Oracle, admit_recovered, apply};
use crate::core::check::check;
use crate::core::enter::Found;
use crate::core::forest::{Missing, Overlay, View, node_of};
use crate::core::plan::due;
use crate::core::reconcile::reconcile;
use crate::core::reserve::reserve;
use crate::core::scope::{Boundaries, Start, is_idle, live_tasks, reaches_task};
use crate::core::state::{Fit, Mode, POKES, State, UnfinishedAbort, pokes};
use crate::inspection::BlockedReason;
use crate::simulator::random::Random;
use crate::task::Wake;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tidehold_delta::json;
use tidehold_session::ids::{ConversationId, Seq, SubmissionId, TaskId};
use tidehold_session::publication::{Publication, TaskChange};
use tidehold_session::records::{
    ConversationOwner, ConversationRecord, InputStatus, JoinPolicy, SubmissionRecord, SubmissionState,
    TaskRecord, TaskState,
};

const NOW: u64 = 1_000;

/// What storage would hold.
struct World {
    random: Random,
    next: u64,
    tasks: BTreeMap<TaskId, Rc<TaskRecord>>,
    conversations: BTreeMap<ConversationId, Option<TaskId>>,
    state: State,
    deep: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            random: Random::new(seed),
            next: 2,
            tasks: BTreeMap::new(),
            conversations: BTreeMap::from([(ConversationId(1), None)]),
            state: State::default(),
            deep: seed.is_multiple_of(3),
        };
        world.state.end_queue_load();
        world
    }

    fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn any_task(&mut self) -> Option<Rc<TaskRecord>> {
        let tasks: Vec<_> = self.tasks.values().cloned().collect();
        self.random.pick(&tasks).cloned()
    }

    fn live(&self) -> Vec<Rc<TaskRecord>> {
        let live = self.tasks.values().filter(|task| task.is_live());
        live.cloned().collect()
    }

    fn some_live(&mut self) -> Option<Rc<TaskRecord>> {
        let live = self.live();
        self.random.pick(&live).cloned()
    }

    fn conversation(&mut self) -> ConversationId {
        let known: Vec<_> = self.conversations.keys().copied().collect();
        // Mostly one of the newest, so that chains grow.
        let from = if self.deep {
            known.len().saturating_sub(3)
        } else {
            0
        };
        self.random
            .pick(&known[from..])
            .copied()
            .unwrap_or(ConversationId(1))
    }

    fn created(&mut self) -> TaskRecord {
        let owner = if self.random.percent(50) {
            self.some_live()
        } else {
            None
        };
        let mut build = task(self.id());
        build = match owner {
            Some(owner) => build.of(owner.id.0).at(owner.conversation_id.0),
            None => {
                let conversation = self.conversation();
                let build = build.at(conversation.0);
                if self.random.percent(30) {
                    build.background()
                } else {
                    build
                }
            }
        };
        build.record.abandon_on_restart = self.random.percent(10);
        build.record
    }

    fn changed(&mut self, before: &TaskRecord) -> TaskRecord {
        let mut build = Build::from(before.clone());
        let owned: Vec<u64> = self
            .tasks
            .values()
            .filter(|task| task.owner == Some(before.id))
            .map(|task| task.id.0)
            .collect();
        match self.random.below(12) {
            0 => build.record.abort_requested = true,
            1 if !before.abort_requested => build = build.restart_marked(),
            2 => build.record.abort_reason = None,
            3 => {
                let count = pokes(before) + 1;
                build.record.memos.insert(POKES, json!(count));
            }
            4..6 if before.outcome().is_none() => {
                let until = self.random.percent(40).then(|| NOW - 5 + self.random.below(10));
                let mut on = Vec::new();
                for _ in 0..self.random.below(4) {
                    on.extend(self.any_task().map(|task| task.id.0));
                }
                build = if self.random.percent(50) {
                    build.waiting(&owned, JoinPolicy::FailFast, until)
                } else {
                    build.waiting(&on, JoinPolicy::AllSettled, until)
                };
            }
            6 if before.outcome().is_none() => {
                build = build.state(TaskState::Pending {
                    checkpoint: json!({ "phase": (self.random.below(9)) }),
                });
            }
            7 if before.outcome().is_none() => build = build.running(),
            8 if before.outcome().is_none() => {
                build = if self.random.percent(50) {
                    build.holding(completed())
                } else {
                    build.holding(failed())
                };
            }
            9..11 => {
                let outcome = match before.outcome() {
                    Some(held) => held.clone(),
                    None if self.random.percent(50) => completed(),
                    None => failed(),
                };
                build = build.ended(outcome);
            }
            _ => build.record.started_at = Some(1),
        }
        build.record
    }

    fn publish(&mut self) {
        let mut publication = Publication {
            seq: Seq(1),
            conversations: Vec::new(),
            entries: Vec::new(),
            submissions: Vec::new(),
            tasks: Vec::new(),
            documents: Vec::new(),
        };
        if self.random.percent(25) {
            let owner = self.any_task().filter(|_| self.random.percent(80));
            let id = ConversationId(self.id());
            self.conversations
                .insert(id, owner.as_ref().map(|owner| owner.id));
            let owner = owner.map(|owner| ConversationOwner {
                conversation_id: owner.conversation_id,
                task_id: owner.id,
            });
            let record = ConversationRecord {
                id,
                parent: None,
                owner,
            };
            publication.conversations.push(Rc::new(record));
        }
        if self.random.percent(20) {
            let conversation = self.conversation();
            let status = if self.random.percent(60) {
                InputStatus::Queued
            } else {
                InputStatus::Placed {
                    entry: tidehold_session::ids::EntryId(1),
                }
            };
            publication.submissions.push(Rc::new(SubmissionRecord {
                id: SubmissionId(1 + self.random.below(3)),
                conversation_id: conversation,
                request_id: None,
                content_hash: None,
                state: SubmissionState::Input(status),
            }));
        }
        for _ in 0..1 + self.random.below(3) {
            let (before, after) = match self.some_live() {
                Some(before) if self.random.percent(75) || self.live().len() > 14 => {
                    let after = self.changed(&before);
                    (Some(before), Rc::new(after))
                }
                _ => (None, Rc::new(self.created())),
            };
            self.tasks.insert(after.id, Rc::clone(&after));
            publication.tasks.push(TaskChange { before, after });
        }
        let starts = self.random.percent(70);
        let wake = self.wake();
        let oracle = Oracle {
            assess: &|_| Assessment { fit: Fit::Fits, wake },
            starting: &|_| starts,
        };
        apply(&mut self.state, &publication, oracle);
    }

    fn wake(&mut self) -> Option<Wake> {
        let at = NOW - 5 + self.random.below(10);
        *self
            .random
            .pick(&[None, Some(Wake::Now), Some(Wake::At(at)), Some(Wake::External)])
            .unwrap()
    }

    fn assessment(&mut self) -> Assessment {
        let migrated = Fit::Migrated {
            version: 2,
            input: json!(null),
            checkpoint: json!(null),
        };
        let blocked = Fit::Blocked {
            reason: BlockedReason::MissingTask,
            error: None,
        };
        let fits = [Fit::Fits, Fit::Untried, migrated, blocked];
        let fit = self.random.pick(&fits).unwrap().clone();
        let wake = if fit == Fit::Fits { self.wake() } else { None };
        Assessment { fit, wake }
    }

    fn happen(&mut self) {
        match self.random.below(20) {
            0 => {
                if let Some(task) = self.some_live() {
                    let assessment = self.assessment();
                    self.state.judge(task.id, assessment);
                }
            }
            1 => {
                if let Some(task) = self.some_live() {
                    let assessment = self.assessment();
                    self.state.finish_invocation(task.id, &|_| assessment.clone());
                }
            }
            2 => {
                if let Some(task) = self.some_live() {
                    let mode = if task.abort_requested {
                        Mode::Abort
                    } else {
                        Mode::Run
                    };
                    self.state.begin(task.id, mode);
                }
            }
            3 => {
                let conversation = self.conversation();
                self.state.forget_queue(conversation);
            }
            4 => {
                let boundaries = if self.random.percent(50) {
                    Boundaries::Background
                } else {
                    Boundaries::Ignored
                };
                let abort = UnfinishedAbort {
                    conversation: self.conversation(),
                    boundaries,
                    last: id(self.next),
                };
                let aborts = if self.random.percent(60) {
                    Vec::new()
                } else {
                    vec![abort]
                };
                self.state.recall(0, aborts);
            }
            5 => {
                let assessment = self.assessment();
                self.state.judge_kind("kind", &|_| assessment.clone());
            }
            6 if self.random.percent(30) => self.reopen(),
            _ => self.publish(),
        }
    }

    /// Memory is lost; what is live is found again.
    fn reopen(&mut self) {
        let stage = self.state.stage;
        self.state = State {
            stage,
            ..State::default()
        };
        self.state.end_queue_load();
        let live = self.live();
        let wake = self.wake();
        let (first, second) = live.split_at(live.len() / 2);
        for page in [first, second] {
            admit_recovered(&mut self.state, page.iter().cloned(), &|_| Assessment {
                fit: Fit::Fits,
                wake,
            });
            assert_eq!(check(&self.state), Ok(()));
        }
    }

    /// Loads what is missing, as a pass would, and checks on the way.
    fn load(&mut self) {
        while let Some(edge) = self.state.first_missing() {
            let found = match edge {
                Missing::Task(id) => self.tasks.get(&id).map(|record| Found::Task(node_of(record))),
                Missing::Conversation(id) => {
                    let owner = self.conversations.get(&id).copied();
                    owner.map(|owner| Found::Conversation { owner })
                }
            };
            assert!(found.is_some(), "{edge:?} exists");
            self.state.load(edge, found);
            assert_eq!(check(&self.state), Ok(()));
        }
    }

    fn compare(&self) {
        let state = &self.state;
        assert_eq!(check(state), Ok(()));
        assert_eq!(reconcile(state), naive::reconcile(state));
        let marked = reserve(state, NOW);
        assert_eq!(marked, naive::reserve(state, NOW));
        assert_eq!(due(state, NOW), naive::due(state, NOW));
        let starts = self.conversations.keys().map(|id| Start::Conversation(*id));
        for start in starts.chain([Start::Roots]) {
            assert_eq!(is_idle(state, start), naive::is_idle(state, start), "{start:?}");
            for boundaries in [Boundaries::Background, Boundaries::Ignored] {
                let live = self
                    .tasks
                    .values()
                    .filter(|task| task.is_live())
                    .map(|task| task.id);
                let reached: Vec<_> = live
                    .filter(|id| reaches_task(state, *id, start, boundaries))
                    .collect();
                assert_eq!(live_tasks(state, start, boundaries), reached);
            }
        }
    }
}

impl World {
    /// What holds a task in the forest that a transaction would leave, by looking at every task.
    fn compare_candidate(&mut self) {
        let mut staged: BTreeMap<TaskId, TaskRecord> = BTreeMap::new();
        for _ in 0..self.random.below(4) {
            let record = match self.some_live() {
                Some(live) if self.random.percent(60) => {
                    Build::from(live.as_ref().clone()).ended(completed()).record
                }
                _ => self.created(),
            };
            staged.insert(record.id, record);
        }
        let overlay = Overlay::new(staged.values(), []);
        let view = View::candidate(self.state.forest(), &overlay);
        let mut all: BTreeMap<TaskId, &TaskRecord> =
            self.tasks.iter().map(|(id, task)| (*id, task.as_ref())).collect();
        all.extend(staged.iter().map(|(id, task)| (*id, task)));
        let live = all.iter().filter(|(_, task)| task.is_live());
        let holding: BTreeSet<TaskId> = live.flat_map(|(id, _)| view.ordinary_owners(*id)).collect();
        for id in all.keys() {
            assert_eq!(view.holds(*id), holding.contains(id), "{id} over {staged:?}");
        }
    }
}

#[test]
fn every_change_leaves_what_computing_everything_again_gives() {
    let (mut marks, mut reservations, mut forgotten) = (0, 0, 0);
    for seed in 0..60 {
        let mut world = World::new(seed);
        for _ in 0..120 {
            world.happen();
            assert_eq!(check(&world.state), Ok(()), "seed {seed}");
            world.load();
            world.compare();
            world.compare_candidate();
            marks += reconcile(&world.state).len();
            reservations += reserve(&world.state, NOW).len();
        }
        forgotten += usize::from(world.state.forest.len() < world.tasks.len() + world.conversations.len());
    }
    assert!(
        marks > 1_000 && reservations > 1_000 && forgotten > 10,
        "{marks} {reservations} {forgotten}"
    );
}
