//! Random batches over everything a session stores, valid ones mostly, and what is there after each.

use super::super::build::{self, doc};
use super::super::dump::{Item, dump};
use super::super::random::Random;
use crate::MemoryStorage;
use std::collections::HashSet;
use std::rc::Rc;
use tidehold_delta::{Array, Json, Op, Text, json};
use tidehold_session::documents::*;
use tidehold_session::ids::*;
use tidehold_session::records::*;
use tidehold_session::storage::*;

/// One step. Sequence numbers in batches are those of [`MemoryStorage`]: 1 for the first commit, and so on.
#[derive(Clone, Debug)]
pub enum Step {
    Commit(Vec<StorageWrite>),
    /// A batch that breaks the contract.
    Refused(Vec<StorageWrite>),
    /// So many ids.
    Mint(u64),
    /// Open again without a close.
    Reopen,
}

/// A run without failures.
#[derive(Debug)]
pub struct Scenario {
    pub seed: u64,
    pub steps: Vec<Step>,
    /// What is stored after so many commits.
    pub states: Vec<State>,
}

/// After a number of commits.
#[derive(Debug)]
pub struct State {
    pub dump: Vec<Item>,
    /// The largest stored id.
    pub highest: u64,
    /// Where the next commit is among the steps, or their number.
    pub next_step: usize,
}

/// The scenario of a seed, with `commits` commits.
///
/// # Errors
/// Those of the model, which are faults.
pub async fn scenario(seed: u64, commits: usize) -> Result<Scenario, StorageError> {
    let model = MemoryStorage::new("model");
    let mut world = World::new(seed);
    let mut steps = Vec::new();
    let mut states = vec![State {
        dump: dump(&model, &[]).await?,
        highest: 0,
        next_step: 0,
    }];
    let mut moments = Vec::new();
    while moments.len() < commits {
        match world.random.below(12) {
            0 => steps.push(Step::Reopen),
            1 => steps.push(Step::Mint(1 + world.random.below(4))),
            2 if world.random.chance(20) => steps.push(Step::Mint(1100)),
            _ => {}
        }
        let mut after = world.clone();
        let writes = after.batch();
        match model.commit(&writes).await {
            Ok(seq) => {
                if let Some(before) = states.last_mut() {
                    before.next_step = steps.len();
                }
                steps.push(Step::Commit(writes));
                moments.push(seq);
                world = after;
                world.commits += 1;
                states.push(State {
                    dump: dump(&model, &moments).await?,
                    highest: world.next,
                    next_step: steps.len(),
                });
            }
            Err(StorageError::Batch(_)) => {
                world.random = after.random;
                if world.random.chance(30) {
                    steps.push(Step::Refused(writes));
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Scenario { seed, steps, states })
}

/// A batch with the sequence numbers of another storage, `moments` being those of its commits.
pub fn translate(writes: &[StorageWrite], moments: &[Seq]) -> Vec<StorageWrite> {
    let seq = |model: Seq| {
        let position = usize::try_from(model.0).unwrap_or(usize::MAX).checked_sub(1);
        let known = position.and_then(|position| moments.get(position));
        known.copied().unwrap_or(model)
    };
    let translate = |write: &StorageWrite| match write {
        StorageWrite::DocumentCopy {
            record,
            source,
            at: Point::At(model),
        } => StorageWrite::DocumentCopy {
            record: record.clone(),
            source: *source,
            at: Point::At(seq(*model)),
        },
        other => other.clone(),
    };
    writes.iter().map(translate).collect()
}

/// What was stored so far, as far as later batches build on it.
#[derive(Clone)]
struct World {
    random: Random,
    /// The largest id used.
    next: u64,
    commits: u64,
    conversations: Vec<u64>,
    /// With their conversation.
    entries: Vec<(u64, u64)>,
    tasks: Vec<TaskRecord>,
    submissions: Vec<SubmissionRecord>,
    documents: Vec<Document>,
}

#[derive(Clone)]
struct Document {
    record: DocumentCreate,
    version: u32,
    created: u64,
    retired: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            next: 1,
            commits: 0,
            conversations: Vec::new(),
            entries: Vec::new(),
            tasks: Vec::new(),
            submissions: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn id(&mut self) -> u64 {
        self.next += 1 + self.random.below(2);
        self.next
    }

    fn batch(&mut self) -> Vec<StorageWrite> {
        if self.commits == 0 {
            self.conversations.push(1);
            return vec![build::conv(1)];
        }
        let mut writes = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            match self.random.below(16) {
                0 => self.conversation(&mut writes),
                1..=2 => self.entry(&mut writes),
                3..=5 => self.task(&mut writes),
                6 => self.submission(&mut writes),
                7..=8 => self.create(&mut writes),
                9 => self.copy(&mut writes),
                10..=13 => self.change(&mut writes),
                14 => self.retire(&mut writes),
                _ => self.replace(&mut writes),
            }
        }
        // A rule of batches: a task or document is written once. Mostly kept, since a breach refuses the batch.
        if self.random.chance(90) {
            keep_first_of_each(&mut writes);
        }
        for at in (1..writes.len()).rev() {
            let other = self.random.below(at as u64 + 1) as usize;
            writes.swap(at, other);
        }
        writes
    }

    /// Text with characters of every length.
    fn text(&mut self) -> Text {
        let piece = self.random.pick(&["a", "é", "😀", "\n", "\"", "long line "]);
        let count = match self.random.below(20) {
            0 => 300,
            few => few as usize % 5,
        };
        piece.repeat(count).as_str().into()
    }

    fn value(&mut self) -> Json {
        let number = self.random.below(100);
        json!({ "t": self.text(), "n": number, "l": [number, [number]] })
    }

    fn any_conversation(&mut self) -> u64 {
        self.random.pick(&self.conversations)
    }

    fn conversation(&mut self, writes: &mut Vec<StorageWrite>) {
        let id = self.id();
        let fork = self.random.maybe_pick(&self.entries);
        let owner = self.random.maybe_pick(&self.tasks);
        writes.push(match (self.random.below(3), fork, owner) {
            (0, Some((parent, at)), _) => build::fork(id, parent, at),
            (1, _, Some(task)) => build::owned(id, task.conversation_id.0, task.id.0),
            _ => build::conv(id),
        });
        self.conversations.push(id);
    }

    fn entry(&mut self, writes: &mut Vec<StorageWrite>) {
        let (id, conversation) = (self.id(), self.any_conversation());
        let head = self.random.chance(20).then_some(EntryId(id));
        writes.push(StorageWrite::Entry(Rc::new(EntryRecord {
            data: Some(self.value()),
            head,
            ..build::entry_record(id, conversation)
        })));
        self.entries.push((conversation, id));
    }

    fn task(&mut self, writes: &mut Vec<StorageWrite>) {
        let known = match self.random.chance(75) {
            true => self.random.maybe_pick(&self.tasks),
            false => None,
        };
        let mut record = match known {
            Some(record) => record,
            None => {
                let (id, conversation) = (self.id(), self.any_conversation());
                build::task(id, conversation, "t", build::pending())
            }
        };
        let checkpoint = self.value();
        record.state = match self.random.below(5) {
            0 => build::terminal(),
            1 => build::completing(),
            2 => build::waiting(&[1]),
            3 => TaskState::Pending { checkpoint },
            _ => TaskState::Running { checkpoint },
        };
        record.abort_requested = self.random.chance(20);
        self.tasks.retain(|task| task.id != record.id);
        self.tasks.push(record.clone());
        writes.push(build::put_task(record));
    }

    fn submission(&mut self, writes: &mut Vec<StorageWrite>) {
        let known = match self.random.chance(50) {
            true => self.random.maybe_pick(&self.submissions),
            false => None,
        };
        let mut record = match known {
            Some(record) => record,
            None => {
                let (id, conversation) = (self.id(), self.any_conversation());
                let request = format!("r{}", self.random.below(12));
                let request = self.random.chance(60).then_some(request.as_str());
                build::submission(id, conversation, request, build::queued())
            }
        };
        record.state = match self.random.below(4) {
            0 => build::queued(),
            1 => build::placed(1),
            2 => build::done(1, 2),
            _ => build::unanswered(&self.text()),
        };
        self.submissions.retain(|known| known.id != record.id);
        self.submissions.push(record.clone());
        writes.push(build::put_submission(record));
    }

    fn create(&mut self, writes: &mut Vec<StorageWrite>) {
        let id = self.id();
        let (kind, conversation) = (self.random.pick(&["x", "y", "z"]), self.any_conversation());
        let task = self.random.maybe_pick(&self.tasks);
        let record = match (self.random.below(6), task) {
            (0, _) => doc::session(id, kind),
            (1, Some(task)) => doc::of_task(id, task.id.0, kind),
            (2..=3, _) => doc::rewindable(id, conversation, kind),
            _ => doc::latest(id, conversation, kind),
        };
        let record = match self.random.below(4) {
            0 => doc::keyed(record, "k"),
            1 => doc::keyed(record, "é"),
            _ => record,
        };
        self.created(record.clone(), 1);
        writes.push(doc::create(record, 1, self.value()));
        if self.random.chance(4) {
            writes.push(doc::retire(id));
        }
    }

    fn created(&mut self, record: DocumentCreate, version: u32) {
        self.documents.push(Document {
            record,
            version,
            created: self.commits + 1,
            retired: false,
        });
    }

    fn copy(&mut self, writes: &mut Vec<StorageWrite>) {
        let in_conversation =
            |document: &&Document| matches!(document.record.scope, Scope::Conversation { .. });
        let sources: Vec<Document> = self.documents.iter().filter(in_conversation).cloned().collect();
        let Some(source) = self.random.maybe_pick(&sources) else {
            return;
        };
        let (id, conversation) = (self.id(), self.any_conversation());
        let record = DocumentCreate {
            id: DocumentId(id),
            scope: ConversationId(conversation).into(),
            ..source.record.clone()
        };
        let historical = source.record.history == Some(StoredHistory::Rewindable) && self.random.chance(70);
        let at = match historical && source.created <= self.commits {
            true => Point::At(Seq(
                source.created + self.random.below(self.commits + 1 - source.created)
            )),
            false => Point::Current,
        };
        // Its version may be an older one, so the next change is a base.
        self.created(record.clone(), 0);
        writes.push(doc::copy(record, source.record.id.0, at));
    }

    fn alive(&mut self) -> Option<Document> {
        let alive = |document: &&Document| !document.retired && document.created <= self.commits;
        let alive: Vec<Document> = self.documents.iter().filter(alive).cloned().collect();
        self.random.maybe_pick(&alive)
    }

    fn change(&mut self, writes: &mut Vec<StorageWrite>) {
        let Some(document) = self.alive() else { return };
        let id = document.record.id.0;
        if document.version == 0 || self.random.chance(25) {
            let version = document.version.max(1) + u32::from(self.random.chance(30));
            for known in &mut self.documents {
                if known.record.id.0 == id {
                    known.version = version;
                }
            }
            writes.push(doc::base(id, version, self.value()));
        } else {
            let ops = self.ops();
            writes.push(doc::delta(id, document.version, ops));
        }
        if self.random.chance(10) {
            self.retired(id);
            writes.push(doc::retire(id));
        }
    }

    fn ops(&mut self) -> Vec<Op> {
        let mut ops = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            ops.push(match self.random.below(5) {
                0 => doc::set("n", self.random.below(100)),
                1 => Op::Splice {
                    path: vec!["l".into()],
                    index: self.random.below(4),
                    remove: self.random.below(2),
                    items: Array::from(vec![self.value()]),
                },
                2 => Op::TrimStart(vec!["t".into()], 0),
                3 => Op::Replace(self.value()),
                _ => Op::Append(vec!["t".into()], self.text()),
            });
        }
        ops
    }

    fn retire(&mut self, writes: &mut Vec<StorageWrite>) {
        if let Some(document) = self.alive() {
            self.retired(document.record.id.0);
            writes.push(doc::retire(document.record.id.0));
        }
    }

    fn retired(&mut self, id: u64) {
        for document in &mut self.documents {
            document.retired |= document.record.id.0 == id;
        }
    }

    /// Retires an incarnation and creates the next at its address.
    fn replace(&mut self, writes: &mut Vec<StorageWrite>) {
        let Some(document) = self.alive() else { return };
        self.retired(document.record.id.0);
        writes.push(doc::retire(document.record.id.0));
        let record = DocumentCreate {
            id: DocumentId(self.id()),
            ..document.record
        };
        self.created(record.clone(), 1);
        writes.push(doc::create(record, 1, self.value()));
    }
}

/// Drops the writes that would be a second one of a record. What the world remembers may then be ahead of what is stored;
/// batches that build on that are refused.
fn keep_first_of_each(writes: &mut Vec<StorageWrite>) {
    let mut seen = HashSet::new();
    writes.retain(|write| match write {
        StorageWrite::Task(record) => seen.insert((record.id.0, "record")),
        StorageWrite::Submission(record) => seen.insert((record.id.0, "record")),
        StorageWrite::DocumentChange { id, .. } => seen.insert((id.0, "content")),
        StorageWrite::DocumentRetire { id } => seen.insert((id.0, "end")),
        _ => true,
    });
}
