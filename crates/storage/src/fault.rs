//! A storage that fails on demand, for crash injection: the n-th read, commit or mint. And one that waits on demand.

mod gate;

pub use gate::Held;

use crate::forward::forward_reads;
use gate::Gate;
use std::cell::{Cell, RefCell};
use tidehold_delta::Text;
use tidehold_session::documents::{DocumentAddress, DocumentRecord, Point};
use tidehold_session::ids::{ConversationId, DocumentId, EntryId, Seq, SubmissionId, TaskId};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::*;

/// Whether a failing commit has happened. Both are what a crash looks like: the caller must not assume either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFault {
    /// Fails without reaching the storage.
    Before,
    /// Reaches the storage, then fails.
    After,
}

/// Which calls a countdown counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Read,
    Commit,
    Mint,
    Close,
}

/// What one call met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spark {
    Nothing,
    /// The call that fails first.
    Fails,
    /// Everything failed before: the storage is gone.
    Gone,
}

/// How many more calls succeed; `None` for all of them.
#[derive(Debug, Default)]
struct Fuse {
    left: Cell<Option<u64>>,
    burnt: Cell<bool>,
}

impl Fuse {
    fn set(&self, left: Option<u64>) {
        self.left.set(left);
        self.burnt.set(false);
    }

    fn count(&self) -> Spark {
        match self.left.get() {
            None => Spark::Nothing,
            Some(0) if self.burnt.replace(true) => Spark::Gone,
            Some(0) => Spark::Fails,
            Some(left) => {
                self.left.set(Some(left - 1));
                Spark::Nothing
            }
        }
    }
}

/// Wraps a storage and fails from the n-th call on, counted together or by sort of call. Calls can also be held at the
/// entrance.
#[derive(Debug)]
pub struct Countdown<S> {
    inner: S,
    read_gate: Gate,
    commit_gate: Gate,
    close_gate: Gate,
    closes: Fuse,
    any: Fuse,
    reads: Fuse,
    contents: Fuse,
    commits: Fuse,
    mints: Fuse,
    commit_fault: Cell<CommitFault>,
    error: RefCell<StorageError>,
}

impl<S> Countdown<S> {
    /// Nothing fails until a countdown is set.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            read_gate: Gate::default(),
            commit_gate: Gate::default(),
            close_gate: Gate::default(),
            closes: Fuse::default(),
            any: Fuse::default(),
            reads: Fuse::default(),
            contents: Fuse::default(),
            commits: Fuse::default(),
            mints: Fuse::default(),
            commit_fault: Cell::new(CommitFault::Before),
            error: RefCell::new(StorageError::Backend("injected failure".into())),
        }
    }

    /// Lets `calls` more calls of any sort succeed; `None` disarms.
    pub fn allow_calls(&self, calls: Option<u64>) {
        self.any.set(calls);
    }

    /// Lets `reads` more reads succeed.
    pub fn allow_reads(&self, reads: Option<u64>) {
        self.reads.set(reads);
    }

    /// Lets `contents` more document values be read; they count as reads too.
    pub fn allow_contents(&self, contents: Option<u64>) {
        self.contents.set(contents);
    }

    /// Lets `commits` more commits succeed; the next one fails as `fault` says.
    pub fn allow_commits(&self, commits: Option<u64>, fault: CommitFault) {
        self.commits.set(commits);
        self.commit_fault.set(fault);
    }

    /// Lets `mints` more ids be minted.
    pub fn allow_mints(&self, mints: Option<u64>) {
        self.mints.set(mints);
    }

    /// What failing calls fail with; a backend's failure unless told otherwise.
    pub fn fail_with(&self, error: StorageError) {
        self.error.replace(error);
    }

    /// Lets the close fail, after it closed the wrapped storage.
    pub fn fail_close(&self) {
        self.closes.set(Some(0));
    }

    /// Lets reads wait before they reach the storage, until what is returned is dropped.
    pub fn hold_reads(&self) -> Held {
        self.read_gate.hold()
    }

    /// The same for commits.
    pub fn hold_commits(&self) -> Held {
        self.commit_gate.hold()
    }

    /// The same for the close.
    pub fn hold_close(&self) -> Held {
        self.close_gate.hold()
    }

    /// The wrapped storage.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn injected<T>(&self) -> Result<T, StorageError> {
        Err(self.error.borrow().clone())
    }

    fn count(&self, call: Call) -> Spark {
        let own = match call {
            Call::Read => &self.reads,
            Call::Commit => &self.commits,
            Call::Mint => &self.mints,
            // A failed session closes its storage too: only its own fuse counts.
            Call::Close => return self.closes.count(),
        };
        // Both count, whichever fails.
        match (own.count(), self.any.count()) {
            (Spark::Nothing, other) | (other, Spark::Nothing) => other,
            (Spark::Gone, _) | (_, Spark::Gone) => Spark::Gone,
            (Spark::Fails, Spark::Fails) => Spark::Fails,
        }
    }
}

impl<S: Storage> Storage for Countdown<S> {
    fn commit<'a>(&'a self, writes: &'a [StorageWrite]) -> StorageFuture<'a, Seq> {
        Box::pin(async move {
            self.commit_gate.passed().await;
            match (self.count(Call::Commit), self.commit_fault.get()) {
                (Spark::Nothing, _) => self.inner.commit(writes).await,
                (Spark::Fails, CommitFault::After) => {
                    self.inner.commit(writes).await?;
                    self.injected()
                }
                (Spark::Fails | Spark::Gone, _) => self.injected(),
            }
        })
    }

    fn mint_id(&self) -> StorageFuture<'_, u64> {
        Box::pin(async move {
            if self.count(Call::Mint) == Spark::Nothing {
                self.inner.mint_id().await
            } else {
                self.injected()
            }
        })
    }

    // Each counts when it is first polled.
    forward_reads!(|storage, read| {
        storage.read_gate.passed().await;
        let content = match read {
            "document" => storage.contents.count(),
            _ => Spark::Nothing,
        };
        if (storage.count(Call::Read), content) != (Spark::Nothing, Spark::Nothing) {
            return storage.injected();
        }
        &storage.inner
    });

    fn close(&self) -> StorageFuture<'_, ()> {
        Box::pin(async move {
            self.close_gate.passed().await;
            self.inner.close().await?;
            match self.count(Call::Close) {
                Spark::Nothing => Ok(()),
                Spark::Fails | Spark::Gone => self.injected(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStorage;
    use futures::FutureExt;

    fn now<T>(future: StorageFuture<'_, T>) -> Result<T, StorageError> {
        future.now_or_never().unwrap()
    }

    #[test]
    fn the_nth_call_fails_and_all_after_it() {
        let storage = Countdown::new(MemoryStorage::new("test"));
        storage.allow_mints(Some(2));
        assert_eq!((now(storage.mint_id()), now(storage.mint_id())), (Ok(2), Ok(3)));
        assert!(now(storage.mint_id()).is_err() && now(storage.mint_id()).is_err());
        assert_eq!(now(storage.head()), Ok(None));
        storage.allow_mints(None);
        assert_eq!(now(storage.mint_id()), Ok(4));
        storage.allow_calls(Some(2));
        assert!(now(storage.head()).is_ok() && now(storage.mint_id()).is_ok());
        assert!(now(storage.head()).is_err() && now(storage.commit(&[])).is_err());
    }

    #[test]
    fn a_failed_commit_may_have_happened() {
        let storage = Countdown::new(MemoryStorage::new("test"));
        storage.allow_commits(Some(0), CommitFault::Before);
        assert!(now(storage.commit(&[])).is_err());
        assert_eq!(now(storage.inner().head()), Ok(None));
        storage.allow_commits(Some(0), CommitFault::After);
        assert!(now(storage.commit(&[])).is_err() && now(storage.commit(&[])).is_err());
        assert_eq!(now(storage.inner().head()), Ok(Some(Seq(1))));
    }
}
