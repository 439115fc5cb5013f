//! Ids, reserved in blocks so that none is handed out twice.
//!
//! A line in `main.jsonl` reserves every id up to a number before the first of them is handed out; the first marker does so
//! for those minted before it. A reopen continues above it, so what was minted and never stored stays spent. With fsync
//! the reservation is also flushed first: a loss of power may take back acknowledged commits, but no id that left this
//! storage comes again. Before the first commit nothing is written; there a lost id has met no stored record.

use super::disk::Disk;
use super::fs::{FileSystem, FsError};
use super::line;
use crate::limits::{ID_BLOCK, MAX_NUMBER};
use std::cell::Cell;

pub(super) struct Reservation {
    /// Ids up to this one are reserved on disk.
    reserved: Cell<u64>,
    /// And these for good.
    flushed: Cell<u64>,
}

impl Reservation {
    /// As found: everything up to `id` is spent.
    pub(super) fn found(id: u64) -> Self {
        Self {
            reserved: Cell::new(id),
            flushed: Cell::new(id),
        }
    }

    /// Where the block ends that begins at `next`.
    pub(super) fn block(next: u64) -> u64 {
        next.saturating_add(ID_BLOCK - 1).min(MAX_NUMBER)
    }

    /// The first marker reserved up to here.
    pub(super) fn written(&self, up_to: u64) {
        self.reserved.set(up_to);
    }

    /// Whether `id` may be handed out without any write.
    pub(super) fn covers(&self, id: u64) -> bool {
        id <= self.flushed.get()
    }

    /// Makes it so.
    pub(super) async fn extend<F: FileSystem>(&self, disk: &Disk<F>, id: u64) -> Result<(), FsError> {
        if id > self.reserved.get() {
            let up_to = Self::block(id);
            disk.append_main(&line::reservation(up_to)).await?;
            self.reserved.set(up_to);
        }
        disk.flush_main().await?;
        self.flushed.set(self.reserved.get());
        Ok(())
    }
}
