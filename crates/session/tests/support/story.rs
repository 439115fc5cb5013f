//! A seeded session that is watched while it changes: every frame that its observers got, as lines for a client.
//!
//! Told natively (`tests/replicas.rs`) and inside an object (`tests/object-worker`), whose lines npm's Chord applies.

#[path = "story/edits.rs"]
mod edits;
#[path = "story/streams.rs"]
mod streams;

use edits::{Random, edit, many_edits};
use futures::channel::oneshot;
use streams::{Lines, Stream};
use tidehold_delta::{Draft, Json, json};
use tidehold_session::documents::{
    ConversationDoc, ConversationFamily, DocFamilyToken, DocToken, ForkPolicy, History, LatestFork,
    SessionDoc, SessionFamily, TaskDoc, TaskFamily, TheSession,
};
use tidehold_session::ids::{ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::records::{TaskCreate, TaskOutcome, TaskOwnership, TaskState};
use tidehold_session::{Session, SessionError, Tx};

const LATEST: History = History::Latest {
    fork: LatestFork::Current,
};
const REWINDABLE: History = History::Rewindable {
    fork: ForkPolicy::AsOf,
};

static SHARED: SessionDoc = DocToken::of_session("story.shared", 1, edits::initial);
static SHELVES: SessionFamily =
    DocFamilyToken::of_session("story.shelves", 1, |seed| json!({ "seed": seed.clone() }));
static NOTES: ConversationDoc = DocToken::of_conversation("story.notes", 1, LATEST, edits::initial);
/// The same kind in its next version.
static NOTES_2: ConversationDoc = DocToken::of_conversation("story.notes", 2, LATEST, edits::initial)
    .migrate(|value, _| Ok(json!({ "was": value, "list": [] })));
static HISTORY: ConversationDoc = DocToken::of_conversation("story.history", 1, REWINDABLE, edits::initial)
    .checkpoint_when(|_, _, info| info.deltas_since_base >= 5);
static MEMBERS: ConversationFamily =
    DocFamilyToken::of_conversation("story.members", 1, LATEST, |seed| json!({ "seed": seed.clone() }));
static SCRATCH: TaskDoc = DocToken::of_task("story.scratch", 1, edits::initial);
static OUTPUTS: TaskFamily =
    DocFamilyToken::of_task("story.outputs", 1, |seed| json!({ "seed": seed.clone() }));

const KEYS: [&str; 2] = ["a", "ключ"];

/// One logical document of the story.
#[derive(Clone, Copy, PartialEq)]
enum Doc {
    Shared,
    Shelf(&'static str),
    Notes,
    History,
    Member(&'static str),
    Scratch(TaskId),
    Output(TaskId, &'static str),
}

/// Which version of [`NOTES`] code uses.
#[derive(Clone, Copy, PartialEq)]
enum Version {
    First,
    Second,
}

impl Version {
    fn notes(self) -> &'static ConversationDoc {
        match self {
            Self::First => &NOTES,
            Self::Second => &NOTES_2,
        }
    }
}

impl Doc {
    async fn draft(self, tx: &Tx, version: Version) -> Result<Draft, SessionError> {
        let seed = json!({ "list": [], "text": "seed" });
        match self {
            Self::Shared => tx.doc(&SHARED, TheSession).await,
            Self::Shelf(key) => tx.member(&SHELVES, (TheSession, key), seed).await,
            Self::Notes => tx.doc(version.notes(), ROOT_CONVERSATION_ID).await,
            Self::History => tx.doc(&HISTORY, ROOT_CONVERSATION_ID).await,
            Self::Member(key) => tx.member(&MEMBERS, (ROOT_CONVERSATION_ID, key), seed).await,
            Self::Scratch(task) => tx.doc(&SCRATCH, task).await,
            Self::Output(task, key) => tx.member(&OUTPUTS, (task, key), seed).await,
        }
    }

    async fn retire(self, tx: &Tx, version: Version) -> Result<(), SessionError> {
        match self {
            Self::Shared => tx.retire_doc(&SHARED, TheSession).await,
            Self::Shelf(key) => tx.retire_doc(&SHELVES, (TheSession, key)).await,
            Self::Notes => tx.retire_doc(version.notes(), ROOT_CONVERSATION_ID).await,
            Self::History => tx.retire_doc(&HISTORY, ROOT_CONVERSATION_ID).await,
            Self::Member(key) => tx.retire_doc(&MEMBERS, (ROOT_CONVERSATION_ID, key)).await,
            Self::Scratch(task) => tx.retire_doc(&SCRATCH, task).await,
            Self::Output(task, key) => tx.retire_doc(&OUTPUTS, (task, key)).await,
        }
    }

    async fn snapshot(self, session: &Session, version: Version) -> Result<Option<Json>, SessionError> {
        match self {
            Self::Shared => session.snapshot(&SHARED, TheSession).await,
            Self::Shelf(key) => session.snapshot(&SHELVES, (TheSession, key)).await,
            Self::Notes => session.snapshot(version.notes(), ROOT_CONVERSATION_ID).await,
            Self::History => session.snapshot(&HISTORY, ROOT_CONVERSATION_ID).await,
            Self::Member(key) => session.snapshot(&MEMBERS, (ROOT_CONVERSATION_ID, key)).await,
            Self::Scratch(task) => session.snapshot(&SCRATCH, task).await,
            Self::Output(task, key) => session.snapshot(&OUTPUTS, (task, key)).await,
        }
    }
}

struct Story<'a> {
    session: &'a Session,
    random: Random,
    lines: Lines,
    streams: Vec<Stream>,
    task: TaskId,
    /// Of what is stored of [`NOTES`]: older code cannot read it any more.
    stored: Version,
}

/// Tells a story on an empty session. Each line is `{document, sequence, ops, wire, value}`: a frame of one stream, in the
/// order of its stream, as operations and in their wire form, and the value it leads to; or `{document, committed}`: what the
/// stream's document is in the end.
pub async fn tell(session: &Session, seed: u64) -> Result<Vec<Json>, SessionError> {
    session.commit(async |tx: Tx| tx.create_root().await).await?;
    let mut story = Story {
        session,
        random: Random::new(seed),
        lines: Lines::default(),
        streams: Vec::new(),
        task: create_task(session).await?,
        stored: Version::First,
    };
    for step in 0..60 {
        // Every kind of overflow, in some stories.
        match (seed % 8, step) {
            (3, 30) => story.overflow().await?,
            (5, 45) => story.change_of_everything().await?,
            _ => story.step().await?,
        }
    }
    story.end().await
}

async fn create_task(session: &Session) -> Result<TaskId, SessionError> {
    session
        .commit(async |tx: Tx| {
            tx.create_task(TaskCreate {
                kind: "story.task".into(),
                version: 1,
                input: Json::Null,
                checkpoint: Json::empty_object(),
                ownership: TaskOwnership::Conversation,
                conversation_id: Some(ROOT_CONVERSATION_ID),
                background: false,
                abandon_on_restart: false,
            })
            .await
        })
        .await
}

impl Story<'_> {
    fn doc(&mut self) -> Doc {
        let key = KEYS[self.random.below(KEYS.len())];
        let docs = [
            Doc::Shared,
            Doc::Shelf(key),
            Doc::Notes,
            Doc::History,
            Doc::Member(key),
            Doc::Scratch(self.task),
            Doc::Output(self.task, key),
        ];
        docs[self.random.below(docs.len())]
    }

    /// The version that the next piece of code uses.
    fn version(&mut self) -> Version {
        match self.stored {
            Version::First if self.random.below(5) > 0 => Version::First,
            _ => Version::Second,
        }
    }

    async fn step(&mut self) -> Result<(), SessionError> {
        match self.random.below(20) {
            0..=4 => self.observe().await?,
            5 => self.touch(),
            6 => self.retire().await?,
            7 => self.end_task().await?,
            _ => self.change().await?,
        }
        if self.random.below(3) > 0 {
            self.turn().await;
        }
        Ok(())
    }

    /// Lets everything that was spawned run.
    async fn turn(&self) {
        for _ in 0..3 {
            let (sender, spawned) = oneshot::channel();
            self.session.spawn(async move {
                let _waited_for = sender.send(());
            });
            let _ran = spawned.await;
        }
    }

    async fn observe(&mut self) -> Result<(), SessionError> {
        let (doc, version) = (self.doc(), self.version());
        let number = self.streams.len();
        let stream = match self.random.below(3) {
            0 => Stream::watch(self.session, doc, version, number).await?,
            _ => Stream::state(self.session, doc, version, number, &self.lines).await?,
        };
        self.streams.extend(stream);
        Ok(())
    }

    /// The end of a stream, another subscriber of a state, or the listener of a watch that has waited.
    fn touch(&mut self) {
        if self.streams.is_empty() {
            return;
        }
        let at = self.random.below(self.streams.len());
        match self.random.below(3) {
            0 => self.streams[at].close(),
            _ => self.streams[at].go_on(&self.lines),
        }
    }

    /// Edits some documents in one commit, sometimes also retiring or recreating them.
    async fn change(&mut self) -> Result<(), SessionError> {
        let version = self.version();
        let docs: Vec<Doc> = (0..=self.random.below(2)).map(|_| self.doc()).collect();
        let mut random = self.random.fork();
        let edited = docs.clone();
        self.session
            .commit(async move |tx: Tx| {
                for doc in edited {
                    let draft = doc.draft(&tx, version).await?;
                    // None at all writes a new version's base alone.
                    for _ in 0..random.below(6) {
                        edit(&mut random, &draft)?;
                    }
                }
                Ok::<_, SessionError>(())
            })
            .await?;
        if docs.contains(&Doc::Notes) {
            self.stored = version;
        }
        Ok(())
    }

    async fn retire(&mut self) -> Result<(), SessionError> {
        let (doc, version) = (self.doc(), self.version());
        let recreates = self.random.below(2) == 0;
        let mut random = self.random.fork();
        self.session
            .commit(async move |tx: Tx| {
                let draft = doc.draft(&tx, version).await?;
                edit(&mut random, &draft)?;
                doc.retire(&tx, version).await?;
                if recreates {
                    doc.draft(&tx, version).await?.at("again").set(true)?;
                }
                Ok::<_, SessionError>(())
            })
            .await?;
        self.retired(|retired| retired == doc);
        if doc == Doc::Notes {
            self.stored = match recreates {
                true => version,
                false => Version::First,
            };
        }
        Ok(())
    }

    /// Its documents end with it.
    async fn end_task(&mut self) -> Result<(), SessionError> {
        let id = self.task;
        self.session
            .commit(async move |tx: Tx| {
                let mut record = tx.task(id).await?.ok_or(SessionError::Closed)?;
                let outcome = TaskOutcome::Completed { result: Json::Null };
                record.state = TaskState::Terminal { outcome };
                tx.stage_task(record).await
            })
            .await?;
        self.retired(|doc| matches!(doc, Doc::Scratch(task) | Doc::Output(task, _) if task == id));
        self.task = create_task(self.session).await?;
        Ok(())
    }

    fn retired(&mut self, is: impl Fn(Doc) -> bool) {
        for stream in &mut self.streams {
            stream.retired |= is(stream.doc);
        }
    }

    /// More commits than a watch keeps, before it was started and while its listener is at work.
    async fn overflow(&mut self) -> Result<(), SessionError> {
        self.append_to_history("the first one").await?;
        for blocked in [false, true] {
            let number = self.streams.len();
            let watch = Stream::watch(self.session, Doc::History, Version::First, number).await?;
            let mut watch = watch.ok_or(SessionError::Closed)?;
            let gate = blocked.then(|| watch.block(&self.lines));
            for n in 0..105 {
                self.append_to_history(&format!(" {n}")).await?;
                if n == 1 {
                    self.turn().await;
                }
            }
            drop(gate);
            watch.go_on(&self.lines);
            self.turn().await;
            self.streams.push(watch);
        }
        Ok(())
    }

    async fn append_to_history(&self, text: &str) -> Result<(), SessionError> {
        let text = text.to_owned();
        self.session
            .commit(async move |tx: Tx| {
                let draft = tx.doc(&HISTORY, ROOT_CONVERSATION_ID).await?;
                if draft
                    .at("log")
                    .get()?
                    .and_then(|log| log.as_str().map(drop))
                    .is_none()
                {
                    draft.at("log").set("")?;
                }
                Ok::<_, SessionError>(draft.at("log").append(&text)?)
            })
            .await
    }

    /// More operations than a batch may have.
    async fn change_of_everything(&mut self) -> Result<(), SessionError> {
        self.session
            .commit(async |tx: Tx| {
                let draft = tx.doc(&SHARED, TheSession).await?;
                Ok::<_, SessionError>(many_edits(&draft)?)
            })
            .await
    }

    async fn end(mut self) -> Result<Vec<Json>, SessionError> {
        for stream in &mut self.streams {
            stream.go_on(&self.lines);
        }
        self.turn().await;
        for stream in &self.streams {
            // Older code that observes what newer code wrote has another view of it than a snapshot by either.
            if stream.is_closed() || stream.doc == Doc::Notes {
                continue;
            }
            let committed = match stream.retired {
                true => Json::Null,
                false => stream
                    .doc
                    .snapshot(self.session, self.stored)
                    .await?
                    .unwrap_or_default(),
            };
            self.lines.committed(&stream.name, committed);
        }
        Ok(self.lines.take())
    }
}
