//! The files of an open storage, and what of them a loss of power could still take back.
//!
//! Without fsync nothing is ever flushed. With it three things are, each before what relies on it:
//!
//! - The content of a sidecar before the marker that confirms it.
//! - The directory before a marker, when a name changed since the last time. A new sidecar is found by its name; and after
//!   a reclamation an append goes to the file that replaced another, so a marker must not survive a rename that did not.
//! - `main.jsonl` before anything is taken away because of a marker in it, and before an id that a line in it reserves is
//!   handed out. The directory with it, while the file is new.

use super::fs::{FileSystem, FsError};
use super::names::{MAIN, Sidecar};
use super::store::Fsync;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// Which files exist.
pub(super) struct Files {
    pub(super) main: bool,
    pub(super) sidecars: HashSet<Sidecar>,
}

pub(super) struct Disk<F> {
    pub(super) fs: F,
    fsync: Fsync,
    /// As far as is known.
    sidecars: RefCell<HashSet<Sidecar>>,
    main_exists: Cell<bool>,
    /// Sidecars whose replacement was begun and may still be there.
    replacements: RefCell<HashSet<Sidecar>>,
    /// Whether a name may have changed since the directory was flushed.
    names_changed: Cell<bool>,
    /// Whether `main.jsonl` may have grown since it was flushed.
    main_grew: Cell<bool>,
    /// How flushing `main.jsonl` failed, once it did.
    main_lost: RefCell<Option<FsError>>,
}

impl<F: FileSystem> Disk<F> {
    pub(super) fn new(fs: F, fsync: Fsync, files: Files) -> Self {
        Self {
            fs,
            fsync,
            sidecars: RefCell::new(files.sidecars),
            main_exists: Cell::new(files.main),
            replacements: RefCell::default(),
            names_changed: Cell::new(false),
            main_grew: Cell::new(false),
            main_lost: RefCell::default(),
        }
    }

    pub(super) fn has(&self, sidecar: Sidecar) -> bool {
        self.sidecars.borrow().contains(&sidecar)
    }

    pub(super) async fn append_sidecar(&self, sidecar: Sidecar, line: &str) -> Result<(), FsError> {
        if self.sidecars.borrow_mut().insert(sidecar) {
            self.names_changed.set(true);
        }
        self.fs.append(&sidecar.file(), line.as_bytes()).await
    }

    pub(super) async fn append_main(&self, line: &str) -> Result<(), FsError> {
        if !self.main_exists.replace(true) {
            self.names_changed.set(true);
        }
        self.main_grew.set(true);
        self.fs.append(MAIN, line.as_bytes()).await
    }

    /// With fsync: flushes sidecars in this order, then the names by which they are found.
    pub(super) async fn flush_sidecars(
        &self,
        sidecars: impl Iterator<Item = Sidecar>,
    ) -> Result<(), FsError> {
        if self.fsync == Fsync::Off {
            return Ok(());
        }
        let mut any = false;
        for sidecar in sidecars {
            self.fs.sync(&sidecar.file()).await?;
            any = true;
        }
        if any { self.flush_names().await } else { Ok(()) }
    }

    /// With fsync: whatever `main.jsonl` says survives.
    pub(super) async fn flush_main(&self) -> Result<(), FsError> {
        if self.fsync == Fsync::Off || !self.main_grew.get() {
            return Ok(());
        }
        // The system may drop what it could not write and call the next flush a success: nothing is certain any more.
        if let Some(error) = &*self.main_lost.borrow() {
            return Err(error.clone());
        }
        if let Err(error) = self.fs.sync(MAIN).await {
            self.main_lost.replace(Some(error.clone()));
            return Err(error);
        }
        self.flush_names().await?;
        self.main_grew.set(false);
        Ok(())
    }

    async fn flush_names(&self) -> Result<(), FsError> {
        if self.names_changed.get() {
            self.fs.sync_dir().await?;
            self.names_changed.set(false);
        }
        Ok(())
    }

    /// Removes a sidecar, or gives it other content as one step. On an error the old or the new state is there.
    pub(super) async fn replace(&self, sidecar: Sidecar, content: Option<&[u8]>) -> Result<(), FsError> {
        let file = sidecar.file();
        // Before the calls: when they fail they may still have happened.
        self.names_changed.set(true);
        let Some(content) = content else {
            // Counted as gone, also when that fails: an append that finds it gone makes a name anew, which must be flushed.
            self.sidecars.borrow_mut().remove(&sidecar);
            return self.fs.remove(&file).await;
        };
        let replacement = sidecar.replacement();
        if !self.replacements.borrow_mut().insert(sidecar) {
            self.fs.remove(&replacement).await?;
        }
        self.fs.append(&replacement, content).await?;
        if self.fsync == Fsync::On {
            self.fs.sync(&replacement).await?;
        }
        self.fs.rename(&replacement, &file).await?;
        self.replacements.borrow_mut().remove(&sidecar);
        Ok(())
    }

    /// After a recovery with fsync: what was found survives, also what a storage without fsync wrote.
    pub(super) async fn flush_all(&self) -> Result<(), FsError> {
        if !self.main_exists.get() {
            return Ok(());
        }
        let mut sidecars: Vec<Sidecar> = self.sidecars.borrow().iter().copied().collect();
        sidecars.sort();
        self.names_changed.set(true);
        self.main_grew.set(true);
        self.flush_sidecars(sidecars.into_iter()).await?;
        self.flush_main().await
    }
}
