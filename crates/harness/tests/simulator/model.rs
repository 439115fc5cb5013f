//! What was promised to callers, followed through publications alone.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_harness::Harness;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, EntryId, Seq, SubmissionId, TaskId};
use tidehold_session::publication::Publication;
use tidehold_session::records::{EntryRecord, InputStatus, SubmissionRecord, SubmissionState, TaskRecord};
use tidehold_simulator::Trace;
use tidehold_simulator::storage::INJECTED;
use tidehold_simulator::trace::of_publication;

/// Everything ever committed, and every breach.
pub struct Model {
    inner: RefCell<Inner>,
    pub trace: Trace,
    dirty: Cell<bool>,
}

#[derive(Default)]
struct Inner {
    submissions: BTreeMap<SubmissionId, Rc<SubmissionRecord>>,
    entries: BTreeMap<EntryId, Rc<EntryRecord>>,
    tasks: BTreeMap<TaskId, Rc<TaskRecord>>,
    rooms: BTreeSet<ConversationId>,
    /// Conversations whose last run failed: what is queued there waits for the next admission (spec 6).
    failed: BTreeSet<ConversationId>,
    /// What callers were told was admitted.
    accepted: BTreeSet<SubmissionId>,
    /// What waits were told before it was published.
    foretold: BTreeMap<SubmissionId, SubmissionRecord>,
    /// What each request id was first told.
    requests: BTreeMap<(ConversationId, String), SubmissionId>,
    seq: Option<Seq>,
    calls: BTreeMap<u64, String>,
    next_call: u64,
    breaches: Vec<String>,
}

/// What storage holds after a crash.
pub struct Survived {
    pub submissions: Vec<SubmissionRecord>,
    pub entries: Vec<EntryRecord>,
    pub tasks: Vec<TaskRecord>,
    pub head: Option<Seq>,
}

/// A call under way. Dropped before it settled, it was lost in a crash.
pub struct Calling {
    model: Rc<Model>,
    id: u64,
}

impl Drop for Calling {
    fn drop(&mut self) {
        self.model.inner.borrow_mut().calls.remove(&self.id);
    }
}

/// The stop reason of an assistant entry.
fn stop_of(entry: &EntryRecord) -> Option<&str> {
    let message = entry.model.as_ref()?.first()?;
    message.get("stopReason").and_then(Json::as_str)
}

fn is_answer(entry: &EntryRecord) -> bool {
    &*entry.kind == "pi.assistant" && stop_of(entry) == Some("stop")
}

impl Inner {
    fn take(&mut self, record: &Rc<SubmissionRecord>) -> Vec<String> {
        let id = record.id;
        let mut said = Vec::new();
        if let Some(before) = self.submissions.get(&id) {
            if before.is_settled() && before != record {
                said.push(format!(
                    "submission {id} settled twice: {:?}, {:?}",
                    before.state, record.state
                ));
            }
            if !before.is_queued() && record.is_queued() {
                said.push(format!("submission {id} is queued again"));
            }
            if before.request_id != record.request_id || before.conversation_id != record.conversation_id {
                said.push(format!("submission {id} is another one now"));
            }
        }
        if self.foretold.remove(&id).is_some_and(|told| told != **record) {
            said.push(format!(
                "a wait for submission {id} was told something else than {:?}",
                record.state
            ));
        }
        if let Some(request) = &record.request_id {
            let twin = self.submissions.values().find(|other| {
                other.id != id
                    && other.conversation_id == record.conversation_id
                    && other.request_id.as_ref() == Some(request)
            });
            if let Some(twin) = twin {
                said.push(format!("request {request} made submissions {} and {id}", twin.id));
            }
        }
        if self.submissions.get(&id) != Some(record) {
            match &record.state {
                SubmissionState::Input(InputStatus::Done { .. }) => {
                    self.failed.remove(&record.conversation_id);
                }
                SubmissionState::Input(InputStatus::Unanswered { entry: Some(_), .. }) => {
                    self.failed.insert(record.conversation_id);
                }
                _ => {}
            }
        }
        self.submissions.insert(id, Rc::clone(record));
        said
    }

    /// Its entry, and what answers it.
    fn judge_places(&self, record: &SubmissionRecord) -> Option<String> {
        let id = record.id;
        let SubmissionState::Input(status) = &record.state else {
            return None;
        };
        let (entry, answer) = match status {
            InputStatus::Queued => return None,
            InputStatus::Placed { entry } => (Some(entry), None),
            InputStatus::Done { entry, answer } => (Some(entry), Some(answer)),
            InputStatus::Unanswered { entry, .. } => (entry.as_ref(), None),
        };
        if let Some(entry) = entry {
            let placed = self.entries.get(entry);
            let fine = placed.is_some_and(|placed| {
                &*placed.kind == "pi.user" && placed.conversation_id == record.conversation_id
            });
            if !fine {
                return Some(format!("input {id} is placed at {entry}, which is {placed:?}"));
            }
            let others = self
                .submissions
                .values()
                .filter(|other| other.id != id && place_of(other) == Some(*entry));
            if let Some(other) = others.into_iter().next() {
                return Some(format!("inputs {id} and {} share entry {entry}", other.id));
            }
        }
        if let (Some(entry), Some(answer)) = (entry, answer) {
            let fine = answer > entry
                && self.entries.get(answer).is_some_and(|found| {
                    &*found.kind == "pi.assistant"
                        && found.conversation_id == record.conversation_id
                        && !matches!(stop_of(found), None | Some("aborted" | "error"))
                });
            if !fine {
                return Some(format!(
                    "input {id} at {entry} is answered by {answer}: {:?}",
                    self.entries.get(answer)
                ));
            }
        }
        None
    }
}

fn place_of(record: &SubmissionRecord) -> Option<EntryId> {
    match &record.state {
        SubmissionState::Input(InputStatus::Placed { entry } | InputStatus::Done { entry, .. }) => {
            Some(*entry)
        }
        SubmissionState::Input(InputStatus::Unanswered { entry, .. }) => *entry,
        _ => None,
    }
}

fn answer_of(record: &SubmissionRecord) -> Option<EntryId> {
    match &record.state {
        SubmissionState::Input(InputStatus::Done { answer, .. }) => Some(*answer),
        _ => None,
    }
}

impl Model {
    pub fn new(trace: Trace) -> Self {
        Self {
            inner: RefCell::default(),
            trace,
            dirty: Cell::new(true),
        }
    }

    pub fn publish(&self, publication: &Publication) {
        self.touch();
        self.trace.line(|| of_publication(publication));
        let mut inner = self.inner.borrow_mut();
        let mut said = Vec::new();
        inner
            .rooms
            .extend(publication.conversations.iter().map(|room| room.id));
        for entry in &publication.entries {
            if inner
                .entries
                .keys()
                .next_back()
                .is_some_and(|last| *last >= entry.id)
            {
                said.push(format!("entry {} comes after a later one", entry.id));
            }
            inner.entries.insert(entry.id, Rc::clone(entry));
        }
        for record in &publication.submissions {
            said.extend(inner.take(record));
        }
        said.extend(
            publication
                .submissions
                .iter()
                .filter_map(|record| inner.judge_places(record)),
        );
        // A final answer that answers nothing: somebody was answered twice.
        for entry in publication.entries.iter().filter(|entry| is_answer(entry)) {
            let answers = publication
                .submissions
                .iter()
                .any(|record| answer_of(record) == Some(entry.id));
            if !answers {
                said.push(format!("entry {} answers nobody", entry.id));
            }
        }
        for change in &publication.tasks {
            inner.tasks.insert(change.after.id, Rc::clone(&change.after));
        }
        inner.seq = Some(publication.seq);
        drop(inner);
        said.into_iter().for_each(|text| self.breach(text));
    }

    /// The open settled. Its own commit was published before anybody could listen.
    pub async fn opened(&self, harness: &Harness) {
        let head = harness.session().head().await;
        self.inner.borrow_mut().seq = head.unwrap_or(None);
    }

    /// A new life begins. What was published is there, and nothing else unless one answer was lost. Answers whether live
    /// work is among that, of which the alarm knows nothing.
    pub fn restart(&self, survived: Survived) -> bool {
        self.touch();
        let mut inner = self.inner.borrow_mut();
        let exact = inner.seq == survived.head;
        inner.seq = survived.head;
        let mut said = Vec::new();
        let kept: BTreeSet<SubmissionId> = survived.submissions.iter().map(|record| record.id).collect();
        said.extend(
            inner
                .submissions
                .keys()
                .chain(&inner.accepted)
                .filter(|id| !kept.contains(id))
                .map(|id| format!("submission {id} is lost")),
        );
        let stored: BTreeMap<EntryId, EntryRecord> = survived
            .entries
            .into_iter()
            .map(|entry| (entry.id, entry))
            .collect();
        for (id, entry) in &inner.entries {
            if stored.get(id) != Some(entry) {
                said.push(format!("entry {id} is lost or another one"));
            }
        }
        if exact && stored.len() != inner.entries.len() {
            said.push("entries appeared in a crash".to_owned());
        }
        inner
            .entries
            .extend(stored.into_iter().map(|(id, entry)| (id, Rc::new(entry))));
        for record in survived.submissions {
            let record = Rc::new(record);
            if exact && inner.submissions.get(&record.id) != Some(&record) {
                said.push(format!("submission {} changed in a crash", record.id));
            }
            said.extend(inner.take(&record));
            said.extend(inner.judge_places(&record));
        }
        let mut unseen = false;
        for task in survived.tasks {
            unseen |= task.is_live() && !inner.tasks.contains_key(&task.id);
            inner.tasks.insert(task.id, Rc::new(task));
        }
        drop(inner);
        said.into_iter().for_each(|text| self.breach(text));
        unseen
    }

    pub fn touch(&self) {
        self.dirty.set(true);
    }

    /// After each step in which something happened: unsettled work has a wake (invariant 6).
    pub fn after_step(&self, alarm: Option<Millis>) {
        if !self.dirty.replace(false) || alarm.is_some() {
            return;
        }
        let live = self.live_tasks();
        if let Some(task) = live.first() {
            self.breach(format!("task {task} is unsettled, and nothing wakes it"));
        }
    }

    /// Nothing can run at this instant, and tasks are being started: what is queued has somebody who will look after it.
    pub fn at_rest(&self) {
        let stranded: Vec<SubmissionId> = {
            let inner = self.inner.borrow();
            let busy = |room: ConversationId| {
                inner
                    .tasks
                    .values()
                    .any(|task| task.is_live() && task.conversation_id == room)
            };
            let unsettled = inner.submissions.values().filter(|record| !record.is_settled());
            let waits = |record: &SubmissionRecord| {
                record.is_queued() && inner.failed.contains(&record.conversation_id)
            };
            let stranded = unsettled.filter(|record| !busy(record.conversation_id) && !waits(record));
            stranded.map(|record| record.id).collect()
        };
        if !stranded.is_empty() {
            self.breach(format!(
                "submissions {stranded:?} wait, and nothing runs in their conversation"
            ));
        }
    }

    pub fn call_begins(self: &Rc<Self>, name: String) -> Calling {
        self.trace.line(|| format!("call: {name}"));
        let mut inner = self.inner.borrow_mut();
        let id = inner.next_call;
        inner.next_call += 1;
        inner.calls.insert(id, name);
        drop(inner);
        Calling {
            model: Rc::clone(self),
            id,
        }
    }

    pub fn call_ends(&self, calling: &Calling, outcome: Result<(), String>) {
        let name = self
            .inner
            .borrow()
            .calls
            .get(&calling.id)
            .cloned()
            .unwrap_or_default();
        self.trace.line(|| format!("settled: {name}: {outcome:?}"));
    }

    /// The session has ended, and everything it left has run.
    pub fn session_is_over(&self) {
        let calls: Vec<String> = self.inner.borrow().calls.values().cloned().collect();
        if !calls.is_empty() {
            self.breach(format!("{calls:?} did not settle with the session"));
        }
    }

    /// A caller was told of its submission.
    pub fn admitted(&self, record: &SubmissionRecord, request: Option<&str>) {
        let mut inner = self.inner.borrow_mut();
        inner.accepted.insert(record.id);
        let known = inner.submissions.contains_key(&record.id);
        let first = request.map(|request| {
            let key = (record.conversation_id, request.to_owned());
            *inner.requests.entry(key).or_insert(record.id)
        });
        drop(inner);
        if !known {
            self.breach(format!(
                "submission {} was confirmed and never committed",
                record.id
            ));
        }
        if first.is_some_and(|first| first != record.id) {
            self.breach(format!("request {request:?} was {first:?} and is {}", record.id));
        }
    }

    /// A wait was told how its submission settled. What it read may be stored and not published yet; then it will be.
    pub fn settled(&self, told: &SubmissionRecord) {
        let known = self.submission(told.id);
        if known.as_ref().is_some_and(|record| !record.is_settled()) && told.is_settled() {
            self.inner.borrow_mut().foretold.insert(told.id, told.clone());
            return;
        }
        let right = known.is_some_and(|record| record.is_settled() && *record == *told);
        if !right {
            self.breach(format!("a wait was told {told:?}"));
        }
    }

    /// An accepted abort of a queued submission.
    pub fn must_be_unanswered(&self, id: SubmissionId) {
        let settled = self
            .submission(id)
            .is_some_and(|record| record.is_settled() && answer_of(&record).is_none());
        if !settled {
            self.breach(format!(
                "submission {id} was withdrawn and is {:?}",
                self.submission(id)
            ));
        }
    }

    pub fn submission(&self, id: SubmissionId) -> Option<Rc<SubmissionRecord>> {
        self.inner.borrow().submissions.get(&id).cloned()
    }

    pub fn submissions(&self) -> Vec<SubmissionId> {
        self.inner.borrow().submissions.keys().copied().collect()
    }

    pub fn unsettled(&self) -> Vec<SubmissionId> {
        let inner = self.inner.borrow();
        let unsettled = inner.submissions.values().filter(|record| !record.is_settled());
        unsettled.map(|record| record.id).collect()
    }

    /// Conversations in which something is queued and nothing runs.
    pub fn waiting_rooms(&self) -> BTreeSet<ConversationId> {
        let inner = self.inner.borrow();
        let unsettled = inner.submissions.values().filter(|record| !record.is_settled());
        unsettled.map(|record| record.conversation_id).collect()
    }

    pub fn rooms(&self) -> Vec<ConversationId> {
        self.inner.borrow().rooms.iter().copied().collect()
    }

    pub fn live_tasks(&self) -> Vec<TaskId> {
        let inner = self.inner.borrow();
        inner
            .tasks
            .values()
            .filter(|task| task.is_live())
            .map(|task| task.id)
            .collect()
    }

    /// Inputs that were answered, and those that were not.
    pub fn answers(&self) -> (u64, u64) {
        let inner = self.inner.borrow();
        let answered = inner
            .submissions
            .values()
            .filter(|record| answer_of(record).is_some())
            .count();
        let settled = inner
            .submissions
            .values()
            .filter(|record| record.is_settled())
            .count();
        (answered as u64, (settled - answered) as u64)
    }

    pub fn session_reported(&self, text: &str) {
        if !text.contains(INJECTED) {
            self.breach(text.to_owned());
        }
    }

    pub fn breach(&self, text: String) {
        self.trace.line(|| format!("BREACH: {text}"));
        self.inner.borrow_mut().breaches.push(text);
    }

    pub fn is_broken(&self) -> bool {
        !self.inner.borrow().breaches.is_empty()
    }

    pub fn breaches(&self) -> Vec<String> {
        self.inner.borrow().breaches.clone()
    }
}
