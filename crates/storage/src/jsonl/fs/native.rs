//! A directory of the operating system.

use super::{FileSystem, FsError, FsFuture};
use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Files kept open for appending. A commit touches a handful; a session has thousands, more than a process may hold.
const OPEN_FILES: usize = 32;

/// One directory. Calls block, and are ready at their first poll.
pub struct NativeFs {
    directory: PathBuf,
    /// The most recently used last. A descriptor follows its file and not its name, so whatever gives a name another
    /// file drops the descriptor first: an append would otherwise go to a file that nobody finds again.
    open: RefCell<Vec<(String, File)>>,
}

impl NativeFs {
    /// The directory is created by the first commit.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            open: RefCell::default(),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    fn forget(&self, file: &str) {
        self.open.borrow_mut().retain(|(name, _)| name != file);
    }

    /// Runs `body` on the descriptor of a file, cached or opened as `options` say.
    fn with<T>(
        &self,
        file: &str,
        options: &OpenOptions,
        body: impl FnOnce(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut open = self.open.borrow_mut();
        let cached = open.iter().position(|(name, _)| name == file);
        let mut descriptor = match cached {
            Some(at) => open.remove(at).1,
            None => options.open(self.path(file))?,
        };
        let done = body(&mut descriptor)?;
        if open.len() >= OPEN_FILES {
            open.remove(0);
        }
        open.push((file.to_owned(), descriptor));
        Ok(done)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            // A name that is no Unicode is none of ours. A link counts as what it leads to.
            if let (true, Ok(name)) = (entry.path().is_file(), entry.file_name().into_string()) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self) -> io::Result<()> {
        if self.directory.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(&self.directory)?;
        match self.directory.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync_directory(Path::new(".")),
            Some(parent) => sync_directory(parent),
            None => Ok(()),
        }
    }
}

/// Directories are files on Unix. Elsewhere they cannot be synced, nor is it needed on the file systems in use there.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()
    } else {
        Ok(())
    }
}

fn run<'a, T: 'a>(
    operation: &'static str,
    file: &'a str,
    body: impl FnOnce() -> io::Result<T> + 'a,
) -> FsFuture<'a, T> {
    Box::pin(async move {
        body().map_err(|error| FsError {
            operation,
            file: file.to_owned(),
            reason: error.to_string(),
        })
    })
}

impl FileSystem for NativeFs {
    fn create_dir(&self) -> FsFuture<'_, ()> {
        run("create", "", || self.create())
    }

    fn list(&self) -> FsFuture<'_, Vec<String>> {
        run("list", "", || self.names())
    }

    fn read<'a>(&'a self, file: &'a str) -> FsFuture<'a, Option<Vec<u8>>> {
        run("read", file, || match fs::read(self.path(file)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            content => content.map(Some),
        })
    }

    fn append<'a>(&'a self, file: &'a str, bytes: &'a [u8]) -> FsFuture<'a, ()> {
        run("append", file, || {
            let options = OpenOptions::new().create(true).append(true).clone();
            self.with(file, &options, |descriptor| descriptor.write_all(bytes))
        })
    }

    fn sync<'a>(&'a self, file: &'a str) -> FsFuture<'a, ()> {
        run("sync", file, || {
            let options = OpenOptions::new().append(true).clone();
            self.with(file, &options, |descriptor| descriptor.sync_data())
        })
    }

    fn sync_dir(&self) -> FsFuture<'_, ()> {
        run("sync", "", || sync_directory(&self.directory))
    }

    fn truncate<'a>(&'a self, file: &'a str, length: u64) -> FsFuture<'a, ()> {
        run("truncate", file, move || {
            let descriptor = OpenOptions::new().write(true).open(self.path(file))?;
            descriptor.set_len(length)
        })
    }

    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> FsFuture<'a, ()> {
        run("rename", from, || {
            // Before the call, whatever it reports: it may have happened.
            self.forget(from);
            self.forget(to);
            fs::rename(self.path(from), self.path(to))
        })
    }

    fn remove<'a>(&'a self, file: &'a str) -> FsFuture<'a, ()> {
        run("remove", file, || {
            self.forget(file);
            match fs::remove_file(self.path(file)) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                removed => removed,
            }
        })
    }

    fn release(&self) {
        self.open.borrow_mut().clear();
    }
}
