//! `JsonlStorage`: the `Storage` trait over a file system.

use super::disk::Disk;
use super::encode::{self, Head};
use super::error::JsonlOpenError;
use super::fs::{FileSystem, FsError};
use super::health::Health;
use super::mint::Reservation;
use super::persist::{Position, persist};
use super::reclaim::{Deferred, reclaim};
use super::recover;
use crate::batch;
use crate::forward::forward_reads;
use crate::limits::MAX_NUMBER;
use crate::memory::MemoryStorage;
use futures::lock::Mutex;
use tidehold_delta::Text;
use tidehold_session::documents::{DocumentAddress, DocumentRecord, Point};
use tidehold_session::ids::{ConversationId, DocumentId, EntryId, Seq, SubmissionId, TaskId};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::*;

/// What a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// A crash of the process. After a loss of power the files may contradict each other, and do not open then.
    #[default]
    Off,
    /// Also a loss of power, though the newest commits may be gone: what is left is what was committed up to some point.
    On,
}

/// How to open.
#[derive(Clone, Debug)]
pub struct JsonlOptions {
    pub fsync: Fsync,
    /// Becomes the incarnation of a session that has none, with its first commit.
    pub incarnation: Text,
}

impl JsonlOptions {
    /// Without fsync.
    pub fn new(incarnation: impl Into<Text>) -> Self {
        Self {
            fsync: Fsync::Off,
            incarnation: incarnation.into(),
        }
    }
}

/// A session in a directory of text files. One storage at a time may have it open; nothing here can tell another apart.
pub struct JsonlStorage<F> {
    disk: Disk<F>,
    /// Everything stored. Its values are immutable and its records copied out, so no caller can reach into it.
    index: MemoryStorage,
    incarnation: Text,
    reservation: Reservation,
    deferred: Deferred,
    health: Health,
    /// Held by whoever appends: over a file system that waits, an id may be asked for while a commit is under way.
    writer: Mutex<()>,
}

impl<F: FileSystem> JsonlStorage<F> {
    /// Opens a directory, or an absent one as empty. Recovery removes what no marker confirms, and reclaims what earlier
    /// commits left behind; when it finds damage it changes nothing.
    ///
    /// # Errors
    /// [`JsonlOpenError`].
    pub async fn open(fs: F, options: JsonlOptions) -> Result<Self, JsonlOpenError> {
        let recovered = recover::recover(fs, options.fsync, &options.incarnation).await?;
        let reservation = Reservation::found(recovered.index.next_id() - 1);
        Ok(Self {
            disk: recovered.disk,
            index: recovered.index,
            incarnation: recovered.incarnation.unwrap_or(options.incarnation),
            reservation,
            deferred: recovered.deferred,
            health: Health::default(),
            writer: Mutex::new(()),
        })
    }

    /// Files that still hold what could be given back, with the failure that kept them. The next open tries again.
    pub fn deferred_reclamations(&self) -> Vec<(String, FsError)> {
        self.deferred.list()
    }

    /// The file system, for what it counts.
    pub fn file_system(&self) -> &F {
        &self.disk.fs
    }

    async fn commit_now(&self, writes: &[StorageWrite]) -> Result<Seq, StorageError> {
        let _writer = self.writer.lock().await;
        self.health.check()?;
        let plan = batch::plan(writes)?;
        let copies = self.index.prepare(&plan)?;
        let seq = self.index.next_seq()?;
        let position = match self.index.newest() {
            Some(_) => Position::Later,
            None => Position::First,
        };
        let up_to = Reservation::block(self.index.next_id().max(plan.highest + 1));
        let first = (position == Position::First).then_some((&self.incarnation, up_to));
        let is_rewindable = |id| self.index.is_rewindable(id).unwrap_or(false);
        let prepared = encode::prepare(&Head { seq, first }, writes, &plan, &copies, is_rewindable)?;
        let writing = self.health.writing();
        writing.end(persist(&self.disk, position, &prepared).await)?;
        self.index.publish(&plan, copies, seq);
        if position == Position::First {
            self.reservation.written(up_to);
        }
        // Abandoned, a rename may still come, over what a later commit appends to.
        let reclaiming = self.health.writing();
        reclaim(&self.disk, &self.deferred, prepared.obsolete).await;
        reclaiming.end(Ok(()))?;
        Ok(seq)
    }

    async fn mint_now(&self) -> Result<u64, StorageError> {
        let _writer = self.writer.lock().await;
        self.health.check()?;
        let id = self.index.next_id();
        if id > MAX_NUMBER {
            return Err(StorageError::IdsExhausted);
        }
        if self.index.newest().is_some() && !self.reservation.covers(id) {
            let writing = self.health.writing();
            writing.end(self.reservation.extend(&self.disk, id).await)?;
        }
        self.index.spend_ids_to(id);
        Ok(id)
    }

    async fn close_now(&self) -> Result<(), StorageError> {
        let _writer = self.writer.lock().await;
        let flushed = match self.health.close() {
            true => self.disk.flush_main().await,
            false => Ok(()),
        };
        self.disk.fs.release();
        flushed.map_err(|error| StorageError::Backend(error.to_string()))
    }
}

impl<F: FileSystem> Storage for JsonlStorage<F> {
    fn commit<'a>(&'a self, writes: &'a [StorageWrite]) -> StorageFuture<'a, Seq> {
        Box::pin(self.commit_now(writes))
    }

    fn mint_id(&self) -> StorageFuture<'_, u64> {
        Box::pin(self.mint_now())
    }

    forward_reads!(|storage, _read| {
        storage.health.check()?;
        &storage.index
    });

    fn close(&self) -> StorageFuture<'_, ()> {
        Box::pin(self.close_now())
    }
}
