//! A directory in memory that fails on demand and loses what was not synced, for tests.

use super::{FileSystem, FsError, FsFuture};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What a failing call still did. Other calls than appends have no prefix: they do nothing then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// So many bytes, at most all.
    Prefix(usize),
    Everything,
}

/// What comes after a failing call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// Later calls work: a full disk that was cleared.
    Works,
    /// Later calls fail too: the process is gone.
    Dead,
}

/// A failure to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How many calls succeed before.
    pub calls: u64,
    pub effect: Effect,
    pub afterwards: Afterwards,
}

/// One call, as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub operation: &'static str,
    /// Empty for the directory.
    pub file: String,
    /// Of an append.
    pub bytes: usize,
}

/// A disk with one directory. Clones are handles on the same disk; [`copy`](Self::copy) makes another.
#[derive(Clone, Default)]
pub struct MemoryFs(Rc<Inner>);

#[derive(Default)]
struct Inner {
    disk: RefCell<Disk>,
    fault: Cell<Option<Fault>>,
    dead: Cell<bool>,
    calls: Cell<u64>,
    log: RefCell<Vec<Call>>,
}

#[derive(Clone, Default)]
struct Disk {
    /// Never freed: a renamed-over file may still come back.
    inodes: Vec<Inode>,
    names: HashMap<String, usize>,
    synced_names: HashMap<String, usize>,
    /// Since `synced_names`, in order.
    name_changes: Vec<NameChange>,
}

#[derive(Clone, Default)]
struct Inode {
    content: Vec<u8>,
    synced: Vec<u8>,
    /// Since `synced`, in order.
    changes: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Append(Vec<u8>),
    Truncate(usize),
}

#[derive(Clone)]
enum NameChange {
    Create(String, usize),
    Rename(String, String),
    Remove(String),
}

impl MemoryFs {
    /// Arms a failure, counted from now; `None` disarms. What is dead stays dead.
    pub fn fail(&self, fault: Option<Fault>) {
        self.0.fault.set(fault);
    }

    /// Whether a failure is still to come.
    pub fn is_armed(&self) -> bool {
        self.0.fault.get().is_some()
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.0.calls.get()
    }

    /// The calls since the last look.
    pub fn take_log(&self) -> Vec<Call> {
        self.0.log.take()
    }

    /// The process ended: what it wrote is there, and nothing fails any more.
    pub fn restart(&self) {
        self.0.fault.set(None);
        self.0.dead.set(false);
    }

    /// The power failed: of what was not synced any part that could have been written is there. `choose(n)` decides,
    /// each time for a number below `n`.
    ///
    /// Of each file a prefix of its changes survives, the last one torn at any byte. Of the directory each change may
    /// survive or not, but none that follows a lost one of the same name.
    pub fn power_loss(&self, choose: &mut dyn FnMut(usize) -> usize) {
        self.restart();
        self.0.disk.borrow_mut().lose(choose);
    }

    /// An independent disk with the same content, all of it synced.
    pub fn copy(&self) -> Self {
        let copy = Self::default();
        let disk = self.0.disk.borrow();
        for (name, inode) in &disk.names {
            if let Some(inode) = disk.inodes.get(*inode) {
                copy.put(name, &inode.content);
            }
        }
        copy
    }

    /// The content of a file.
    pub fn get(&self, file: &str) -> Option<Vec<u8>> {
        self.0.disk.borrow().get(file)
    }

    /// Replaces a file behind the storage's back, synced.
    pub fn put(&self, file: &str, content: &[u8]) {
        self.0.disk.borrow_mut().put(file, content);
    }

    /// Removes a file behind the storage's back.
    pub fn take(&self, file: &str) -> Option<Vec<u8>> {
        let mut disk = self.0.disk.borrow_mut();
        let content = disk.get(file);
        disk.names.remove(file);
        disk.synced_names.remove(file);
        content
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.0.disk.borrow().list()
    }

    /// One call: counted, logged, and failed when its time has come.
    fn call<T>(
        &self,
        operation: &'static str,
        file: &str,
        body: impl FnOnce(&mut Disk, Option<usize>) -> T,
    ) -> Result<T, FsError> {
        self.call_with(operation, file, 0, body)
    }

    fn call_with<T>(
        &self,
        operation: &'static str,
        file: &str,
        bytes: usize,
        body: impl FnOnce(&mut Disk, Option<usize>) -> T,
    ) -> Result<T, FsError> {
        let failed = |reason: &str| FsError {
            operation,
            file: file.to_owned(),
            reason: reason.to_owned(),
        };
        let inner = &self.0;
        if inner.dead.get() {
            return Err(failed("the process is dead"));
        }
        inner.calls.set(inner.calls.get() + 1);
        inner.log.borrow_mut().push(Call {
            operation,
            file: file.to_owned(),
            bytes,
        });
        let effect = match inner.fault.get() {
            None => None,
            Some(Fault {
                calls: 0,
                effect,
                afterwards,
            }) => {
                inner.fault.set(None);
                inner.dead.set(afterwards == Afterwards::Dead);
                Some(effect)
            }
            Some(fault) => {
                let calls = fault.calls - 1;
                inner.fault.set(Some(Fault { calls, ..fault }));
                None
            }
        };
        let disk = &mut *inner.disk.borrow_mut();
        match effect {
            None => Ok(body(disk, None)),
            Some(Effect::Nothing) => Err(failed("injected, nothing done")),
            Some(Effect::Prefix(bytes)) if operation == "append" => {
                body(disk, Some(bytes));
                Err(failed("injected, some of it done"))
            }
            Some(Effect::Prefix(_)) => Err(failed("injected, nothing done")),
            Some(Effect::Everything) => {
                body(disk, None);
                Err(failed("injected, all of it done"))
            }
        }
    }
}

impl Disk {
    fn get(&self, file: &str) -> Option<Vec<u8>> {
        let inode = self.inodes.get(*self.names.get(file)?)?;
        Some(inode.content.clone())
    }

    fn put(&mut self, file: &str, content: &[u8]) {
        let inode = self.inodes.len();
        self.inodes.push(Inode {
            content: content.to_vec(),
            synced: content.to_vec(),
            changes: Vec::new(),
        });
        self.names.insert(file.to_owned(), inode);
        self.synced_names.insert(file.to_owned(), inode);
    }

    fn list(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.keys().cloned().collect();
        names.sort();
        names
    }

    fn append(&mut self, file: &str, bytes: &[u8]) {
        let inode = match self.names.get(file) {
            Some(inode) => *inode,
            None => {
                let inode = self.inodes.len();
                self.inodes.push(Inode::default());
                self.rename_all(NameChange::Create(file.to_owned(), inode));
                inode
            }
        };
        self.change(inode, Change::Append(bytes.to_vec()));
    }

    fn truncate(&mut self, file: &str, length: usize) {
        if let Some(inode) = self.names.get(file) {
            self.change(*inode, Change::Truncate(length));
        }
    }

    fn change(&mut self, inode: usize, change: Change) {
        if let Some(inode) = self.inodes.get_mut(inode) {
            change.apply(&mut inode.content);
            inode.changes.push(change);
        }
    }

    fn sync(&mut self, file: &str) {
        let inode = self.names.get(file);
        if let Some(inode) = inode.and_then(|inode| self.inodes.get_mut(*inode)) {
            inode.synced.clone_from(&inode.content);
            inode.changes.clear();
        }
    }

    fn sync_dir(&mut self) {
        self.synced_names.clone_from(&self.names);
        self.name_changes.clear();
    }

    fn rename_all(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }

    fn lose(&mut self, choose: &mut dyn FnMut(usize) -> usize) {
        for inode in &mut self.inodes {
            let changes = std::mem::take(&mut inode.changes);
            let kept = choose(changes.len() + 1);
            let mut content = inode.synced.clone();
            for (at, change) in changes.iter().take(kept).enumerate() {
                match change {
                    Change::Append(bytes) if at + 1 == kept => {
                        let torn = 1 + choose(bytes.len().max(1));
                        content.extend(bytes.iter().take(torn));
                    }
                    whole => whole.apply(&mut content),
                }
            }
            inode.content.clone_from(&content);
            inode.synced = content;
        }
        let mut names = self.synced_names.clone();
        let mut lost: HashSet<&str> = HashSet::new();
        let changes = std::mem::take(&mut self.name_changes);
        for change in &changes {
            let touched = change.names();
            if touched.iter().any(|name| lost.contains(name)) || choose(2) == 0 {
                lost.extend(touched);
            } else {
                change.apply(&mut names);
            }
        }
        self.names.clone_from(&names);
        self.synced_names = names;
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Append(bytes) => content.extend_from_slice(bytes),
            Self::Truncate(length) => content.truncate(*length),
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut HashMap<String, usize>) {
        match self {
            Self::Create(name, inode) => {
                names.insert(name.clone(), *inode);
            }
            Self::Rename(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
            Self::Remove(name) => {
                names.remove(name);
            }
        }
    }

    fn names(&self) -> Vec<&str> {
        match self {
            Self::Create(name, _) | Self::Remove(name) => vec![name],
            Self::Rename(from, to) => vec![from, to],
        }
    }
}

impl FileSystem for MemoryFs {
    fn create_dir(&self) -> FsFuture<'_, ()> {
        Box::pin(async move { self.call("create_dir", "", |_, _| ()) })
    }

    fn list(&self) -> FsFuture<'_, Vec<String>> {
        Box::pin(async move { self.call("list", "", |disk, _| disk.list()) })
    }

    fn read<'a>(&'a self, file: &'a str) -> FsFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move { self.call("read", file, |disk, _| disk.get(file)) })
    }

    fn append<'a>(&'a self, file: &'a str, bytes: &'a [u8]) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.call_with("append", file, bytes.len(), |disk, prefix| {
                let kept = prefix.map_or(bytes.len(), |prefix| prefix.min(bytes.len()));
                disk.append(file, bytes.get(..kept).unwrap_or_default());
            })
        })
    }

    fn sync<'a>(&'a self, file: &'a str) -> FsFuture<'a, ()> {
        Box::pin(async move { self.call("sync", file, |disk, _| disk.sync(file)) })
    }

    fn sync_dir(&self) -> FsFuture<'_, ()> {
        Box::pin(async move { self.call("sync_dir", "", |disk, _| disk.sync_dir()) })
    }

    fn truncate<'a>(&'a self, file: &'a str, length: u64) -> FsFuture<'a, ()> {
        Box::pin(async move {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            self.call("truncate", file, |disk, _| disk.truncate(file, length))
        })
    }

    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> FsFuture<'a, ()> {
        Box::pin(async move {
            let change = NameChange::Rename(from.to_owned(), to.to_owned());
            self.call("rename", from, |disk, _| disk.rename_all(change))
        })
    }

    fn remove<'a>(&'a self, file: &'a str) -> FsFuture<'a, ()> {
        Box::pin(async move {
            self.call("remove", file, |disk, _| {
                if disk.names.contains_key(file) {
                    disk.rename_all(NameChange::Remove(file.to_owned()));
                }
            })
        })
    }
}
