//! The mirror alone: a publication that touches one task, and what is read off after it.

use crate::{Figure, interleaved};
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;
use tidehold_delta::{Json, Object, json};
use tidehold_session::ids::{ROOT_CONVERSATION_ID, Seq, TaskId};
use tidehold_session::publication::{Publication, TaskChange};
use tidehold_session::records::{ConversationRecord, JoinPolicy, TaskOutcome, TaskRecord, TaskState};
use tidehold_tasks::Wake;
use tidehold_tasks::core::apply::{Assessment, Oracle, admit_recovered, apply};
use tidehold_tasks::core::plan::{due, is_due, next_start};
use tidehold_tasks::core::reconcile::reconcile;
use tidehold_tasks::core::reserve::reserve;
use tidehold_tasks::core::state::{Fit, State};

const SIZES: [usize; 2] = [100, 10_000];
const COMMITS: u64 = 2_000;
const NOW: u64 = 1_000_000;
const LATER: u64 = 2_000_000;

/// "O(log N) or less": the logarithm doubles from 100 to 10,000.
const BAR: f64 = 2.0;

fn record(id: u64, owner: Option<u64>, state: TaskState) -> TaskRecord {
    TaskRecord {
        id: TaskId(id),
        conversation_id: ROOT_CONVERSATION_ID,
        kind: "job".into(),
        version: 1,
        input: json!(null),
        owner: owner.map(TaskId),
        background: false,
        abort_requested: false,
        abort_reason: None,
        abandon_on_restart: false,
        started_at: Some(1),
        ended_at: None,
        state,
        memos: Object::new(),
    }
}

fn pending(checkpoint: Json) -> TaskState {
    TaskState::Pending { checkpoint }
}

fn waiting(on: impl IntoIterator<Item = u64>, until: Option<u64>) -> TaskState {
    TaskState::Waiting {
        checkpoint: json!({ "phase": "joined" }),
        on: on.into_iter().map(TaskId).collect(),
        policy: JoinPolicy::AllSettled,
        until,
    }
}

/// The checkpoint says when it wakes.
fn assess(record: &TaskRecord) -> Assessment {
    let checkpoint = record.checkpoint();
    let wake = match checkpoint
        .and_then(|checkpoint| checkpoint.get("at"))
        .and_then(Json::as_u64)
    {
        Some(at) => Wake::At(at),
        None => Wake::External,
    };
    Assessment {
        fit: Fit::Fits,
        wake: Some(wake),
    }
}

/// Of each five tasks one waits for two others, one of which is parked for the outside and one until a time; one sleeps, one
/// is parked by itself.
fn parked(first: u64) -> [TaskRecord; 5] {
    let external = || pending(json!({ "phase": "external" }));
    let until = || pending(json!({ "phase": "poll", "at": (LATER + first) }));
    [
        record(first, None, waiting([first + 1, first + 2], None)),
        record(first + 1, Some(first), external()),
        record(first + 2, Some(first), until()),
        record(first + 3, None, waiting([], Some(LATER + first))),
        record(first + 4, None, external()),
    ]
}

struct World {
    state: State,
    live: u64,
    next: u64,
}

/// How many groups are touched in turns.
const TOUCHED: u64 = 20;

/// Where tasks begin.
const FIRST: u64 = 10;

impl World {
    fn new(size: usize) -> Self {
        let mut state = State::default();
        let root = ConversationRecord {
            id: ROOT_CONVERSATION_ID,
            parent: None,
            owner: None,
        };
        let world = Publication {
            conversations: vec![Rc::new(root)],
            ..publication()
        };
        let oracle = Oracle {
            assess: &assess,
            starting: &|_| false,
        };
        apply(&mut state, &world, oracle);
        let live = size as u64;
        let records = (0..live / 5).flat_map(|group| parked(FIRST + 5 * group));
        admit_recovered(&mut state, records.map(Rc::new), &assess);
        Self {
            state,
            live,
            next: 1_000_000,
        }
    }

    /// One commit and everything that follows it in the scheduler, with the lists that a pass would make.
    fn commit(&mut self, before: Option<&Rc<TaskRecord>>, after: &Rc<TaskRecord>) {
        let publication = Publication {
            tasks: vec![TaskChange {
                before: before.map(Rc::clone),
                after: Rc::clone(after),
            }],
            ..publication()
        };
        let oracle = Oracle {
            assess: &assess,
            starting: &|_| false,
        };
        black_box(apply(&mut self.state, &publication, oracle));
        self.state.take_calmed();
        black_box((
            due(&self.state, NOW),
            is_due(&self.state, NOW),
            next_start(&self.state, NOW),
        ));
        black_box((reconcile(&self.state), reserve(&self.state, NOW)));
    }

    /// The first task of a group. The same few groups are touched at each size, spread over all of them: how much of the
    /// memory fits into the processor's caches is no matter of the mirror.
    fn group(&self, round: u64) -> u64 {
        let groups = self.live / 5;
        FIRST + 5 * (round % TOUCHED * groups / TOUCHED)
    }
}

fn publication() -> Publication {
    Publication {
        seq: Seq(1),
        conversations: Vec::new(),
        entries: Vec::new(),
        submissions: Vec::new(),
        tasks: Vec::new(),
        documents: Vec::new(),
    }
}

/// Changes one task of a group and changes it back: two commits.
fn there_and_back(world: &mut World, id: u64, there: TaskRecord) {
    let here = Rc::clone(world.state.record(TaskId(id)).unwrap());
    let there = Rc::new(there);
    world.commit(Some(&here), &there);
    world.commit(Some(&there), &here);
}

/// A parked task polls once more, at another time.
fn moves_its_deadline(world: &mut World, round: u64) {
    let group = world.group(round);
    let later = pending(json!({ "phase": "poll", "at": (LATER + round) }));
    there_and_back(world, group + 2, record(group + 2, Some(group), later));
}

/// A parked task waits for one of another group.
fn waits(world: &mut World, round: u64) {
    let (group, other) = (world.group(round), world.group(round + 1));
    let wait = waiting([other + 4], None);
    there_and_back(world, group + 4, record(group + 4, None, wait));
}

/// A task is created in the conversation of all and ends.
fn comes_and_goes(world: &mut World, round: u64) {
    world.next += 1;
    let outcome = TaskOutcome::Completed { result: json!(round) };
    let created = Rc::new(record(world.next, None, pending(json!({ "phase": "external" }))));
    let ended = Rc::new(record(world.next, None, TaskState::Terminal { outcome }));
    world.commit(None, &created);
    world.commit(Some(&created), &ended);
}

/// A waiting task gets an abort mark, which cascades to its two children, and loses it again.
fn is_marked(world: &mut World, round: u64) {
    let group = world.group(round);
    let here = world.state.record(TaskId(group)).unwrap().as_ref().clone();
    let marked = TaskRecord {
        abort_requested: true,
        ..here
    };
    there_and_back(world, group, marked);
}

type Touch = fn(&mut World, u64);

pub fn measure() -> Vec<Figure> {
    let subjects: [(&'static str, Touch); 4] = [
        (
            "mirror: one of N live tasks moves its deadline",
            moves_its_deadline,
        ),
        ("mirror: one of N live tasks waits for another", waits),
        ("mirror: a task comes and goes beside N live ones", comes_and_goes),
        ("mirror: one of N live tasks is marked, with two below", is_marked),
    ];
    let mut worlds = SIZES.map(World::new);
    let mut figures = Vec::new();
    for (what, touch) in subjects {
        figures.push(interleaved(what, SIZES, Some(BAR), |side| {
            let begun = Instant::now();
            for round in 0..COMMITS / 2 {
                touch(&mut worlds[side], round);
            }
            begun.elapsed().as_secs_f64() * 1e6 / COMMITS as f64
        }));
    }
    figures
}
