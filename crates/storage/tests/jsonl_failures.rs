//! What JSONL makes of appends that fail, and of writes that nobody waits for.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::jsonl::*;
use common::{now, options};
use std::cell::Cell;
use std::rc::Rc;
use tidehold_session::documents::{Point, Scope};
use tidehold_session::ids::*;
use tidehold_session::storage::*;
use tidehold_storage::JsonlStorage;
use tidehold_storage::conformance::build::*;
use tidehold_storage::jsonl::fs::memory::{Afterwards, Effect, Fault, MemoryFs};
use tidehold_storage::jsonl::{FileSystem, FsError, FsFuture, Fsync};

/// Everything refuses but a close.
fn assert_poisoned(storage: &Jsonl) {
    macro_rules! poisoned {
        ($($call:expr),* $(,)?) => {
            $(assert!(
                matches!(now($call), Err(StorageError::Poisoned(_))),
                stringify!($call)
            );)*
        };
    }
    let conversation = ConversationId(1);
    let address = doc::address(&doc::latest(20, 1, "l"));
    let scope = DocumentQuery {
        scope: Scope::Session,
        at: Point::Current,
        kind: None,
    };
    let writes = [entry(90, 1)];
    poisoned![
        storage.commit(&writes),
        storage.commit(&[]),
        storage.mint_id(),
        storage.incarnation(),
        storage.head(),
        storage.conversation(conversation),
        storage.scan_conversations(&ConversationQuery::default(), 5, None),
        storage.entry(EntryId(30)),
        storage.visible_entry(conversation, EntryId(30)),
        storage.find_latest_head_marker(conversation, None),
        storage.scan_entries(&entries_of(1, None), 5, None),
        storage.task(TaskId(10)),
        storage.scan_tasks(&TaskQuery::default(), 5, None),
        storage.submission(SubmissionId(1)),
        storage.scan_submissions(&SubmissionQuery::default(), 5, None),
        storage.submission_by_request(conversation, "r"),
        storage.find_document(&address, Point::Current),
        storage.document(DocumentId(20), Point::Current),
        storage.scan_documents(&scope, 5, None),
    ];
    assert_eq!(now(storage.close()), Ok(()));
    assert_eq!(now(storage.head()), Err(StorageError::Closed));
}

/// At each call of a commit: fails before, after a prefix, after everything. Only the whole marker makes the commit.
#[test]
fn an_uncertain_append_poisons_and_only_a_whole_marker_commits() {
    let states = [after(&[first(), second()], 1), after(&[first(), second()], 2)];
    let mut cases = 0;
    for fsync in [Fsync::Off, Fsync::On] {
        let (fs, storage) = opened_after_first(fsync);
        commit(&storage, &second()).unwrap();
        let calls = log(&fs);
        for (call, name) in calls.iter().enumerate() {
            for (effect, afterwards) in [Effect::Nothing, Effect::Prefix(30), Effect::Everything]
                .into_iter()
                .flat_map(|effect| [(effect, Afterwards::Works), (effect, Afterwards::Dead)])
            {
                let (fs, storage) = opened_after_first(fsync);
                fs.fail(Some(Fault {
                    calls: call as u64,
                    effect,
                    afterwards,
                }));
                let answer = commit(&storage, &second());
                assert!(
                    matches!(answer, Err(StorageError::Backend(_))),
                    "{name} {effect:?}: {answer:?}"
                );
                if afterwards == Afterwards::Works {
                    let before = fs.calls();
                    assert_poisoned(&storage);
                    assert_eq!(fs.calls(), before, "a poisoned storage makes no call");
                }
                // The marker is never written after a failure.
                let marked = name == "append main.jsonl";
                assert_eq!(
                    lines_of(&fs, "main.jsonl") > 1,
                    marked && effect == Effect::Everything
                );
                fs.restart();
                let commits = usize::from(marked && effect == Effect::Everything);
                let storage = open(&fs, fsync);
                assert_eq!(all(&storage), states[commits], "{name} {effect:?}");
                for sidecar in SIDECARS {
                    assert!(lines(&fs, sidecar).len() <= 1 + commits, "{sidecar}");
                }
                if commits == 0 {
                    assert_eq!(commit(&storage, &second()), Ok(Seq(2)));
                    assert_eq!(all(&open(&fs, fsync)), states[1]);
                }
                cases += 1;
            }
        }
    }
    assert_eq!(cases, (4 + 7) * 6);
}

/// Complete lines, of a file that may be torn.
fn lines_of(fs: &MemoryFs, file: &str) -> usize {
    let content = fs.get(file).unwrap_or_default();
    content.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn a_failed_reservation_poisons() {
    for effect in [Effect::Nothing, Effect::Prefix(10), Effect::Everything] {
        let (fs, storage) = opened_after_first(Fsync::Off);
        fs.fail(Some(Fault {
            calls: 0,
            effect,
            afterwards: Afterwards::Works,
        }));
        assert!(matches!(now(storage.mint_id()), Err(StorageError::Backend(_))));
        assert_poisoned(&storage);
        assert!(now(open(&fs, Fsync::Off).mint_id()).unwrap() > 21);
    }
}

#[test]
fn a_first_commit_that_fails_leaves_an_empty_session() {
    for call in 0..5 {
        for effect in [Effect::Nothing, Effect::Prefix(30)] {
            let fs = MemoryFs::default();
            let storage = open(&fs, Fsync::Off);
            fs.fail(Some(Fault {
                calls: call,
                effect,
                afterwards: Afterwards::Dead,
            }));
            assert!(commit(&storage, &first()).is_err());
            fs.restart();
            let storage = now(JsonlStorage::open(fs.clone(), options(Fsync::Off, "other"))).unwrap();
            assert_eq!(
                (now(storage.incarnation()), now(storage.head())),
                (Ok(None), Ok(None))
            );
            assert_eq!(commit(&storage, &first()), Ok(Seq(1)));
            let storage = open(&fs, Fsync::Off);
            assert_eq!(now(storage.incarnation()), Ok(Some("other".into())));
            assert_eq!(all(&storage), after(&[first()], 1));
        }
    }
}

/// A file system on which every call waits once.
#[derive(Clone)]
struct Slow {
    inner: MemoryFs,
    waits: Rc<Cell<bool>>,
}

impl Slow {
    fn wait<'a, T: 'a>(&self, future: FsFuture<'a, T>) -> FsFuture<'a, T> {
        let waits = self.waits.clone();
        Box::pin(async move {
            if waits.get() {
                let mut waited = false;
                std::future::poll_fn(|_| match std::mem::replace(&mut waited, true) {
                    false => std::task::Poll::Pending,
                    true => std::task::Poll::Ready(()),
                })
                .await;
            }
            future.await
        })
    }
}

impl FileSystem for Slow {
    fn create_dir(&self) -> FsFuture<'_, ()> {
        self.wait(self.inner.create_dir())
    }
    fn list(&self) -> FsFuture<'_, Vec<String>> {
        self.wait(self.inner.list())
    }
    fn read<'a>(&'a self, file: &'a str) -> FsFuture<'a, Option<Vec<u8>>> {
        self.wait(self.inner.read(file))
    }
    fn append<'a>(&'a self, file: &'a str, bytes: &'a [u8]) -> FsFuture<'a, ()> {
        self.wait(self.inner.append(file, bytes))
    }
    fn sync<'a>(&'a self, file: &'a str) -> FsFuture<'a, ()> {
        self.wait(self.inner.sync(file))
    }
    fn sync_dir(&self) -> FsFuture<'_, ()> {
        self.wait(self.inner.sync_dir())
    }
    fn truncate<'a>(&'a self, file: &'a str, length: u64) -> FsFuture<'a, ()> {
        self.wait(self.inner.truncate(file, length))
    }
    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> FsFuture<'a, ()> {
        self.wait(self.inner.rename(from, to))
    }
    fn remove<'a>(&'a self, file: &'a str) -> FsFuture<'a, ()> {
        self.wait(self.inner.remove(file))
    }
}

/// Polls a future so often; returns whether it ended.
fn poll_times<T>(future: &mut StorageFuture<'_, T>, times: usize) -> Option<Result<T, StorageError>> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    (0..times).find_map(|_| match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(done) => Some(done),
        std::task::Poll::Pending => None,
    })
}

#[test]
fn a_commit_whose_future_is_dropped_poisons() {
    let states = [after(&[first(), second()], 1), after(&[first(), second()], 2)];
    let (fs, _) = opened_after_first(Fsync::Off);
    for polls in 1..=4 {
        let fs = fs.copy();
        let slow = Slow {
            inner: fs.clone(),
            waits: Rc::new(Cell::new(false)),
        };
        let storage = now(JsonlStorage::open(slow.clone(), options(Fsync::Off, "test"))).unwrap();
        slow.waits.set(true);
        let writes = second();
        let mut pending = storage.commit(&writes);
        assert_eq!(poll_times(&mut pending, polls), None);
        // Reads go on meanwhile, and see nothing of it.
        assert_eq!(now(storage.head()), Ok(Some(Seq(1))));
        drop(pending);
        assert!(matches!(now(storage.head()), Err(StorageError::Poisoned(_))));
        assert_eq!(all(&open(&fs, Fsync::Off)), states[0]);
    }
}

#[test]
fn ids_asked_for_while_a_commit_is_under_way_wait_for_it() {
    let (fs, _) = opened_after_first(Fsync::On);
    let slow = Slow {
        inner: fs.clone(),
        waits: Rc::new(Cell::new(false)),
    };
    let storage = now(JsonlStorage::open(slow.clone(), options(Fsync::On, "test"))).unwrap();
    slow.waits.set(true);
    let writes = second();
    let mut commit = storage.commit(&writes);
    let (mut one, mut other) = (storage.mint_id(), storage.mint_id());
    assert_eq!(poll_times(&mut commit, 1), None);
    assert_eq!((poll_times(&mut one, 1), poll_times(&mut other, 1)), (None, None));
    assert_eq!(poll_times(&mut commit, 50), Some(Ok(Seq(2))));
    let minted = [poll_times(&mut one, 50), poll_times(&mut other, 50)];
    assert_eq!(minted, [Some(Ok(1046)), Some(Ok(1047))]);
    let reopened = open(&fs, Fsync::On);
    assert!(now(reopened.mint_id()).unwrap() > 1047);
    assert_eq!(all(&reopened), after(&[first(), second()], 2));
}

#[test]
fn an_error_names_the_call_and_the_file() {
    let (fs, storage) = opened_after_first(Fsync::Off);
    fs.fail(Some(Fault {
        calls: 3,
        effect: Effect::Nothing,
        afterwards: Afterwards::Works,
    }));
    let Err(StorageError::Backend(text)) = commit(&storage, &second()) else {
        panic!("the marker was not written");
    };
    let error = FsError {
        operation: "append",
        file: "main.jsonl".into(),
        reason: "injected, nothing done".into(),
    };
    assert_eq!(text, error.to_string());
    assert_eq!(now(storage.head()), Err(StorageError::Poisoned(text)));
}
