//! What JSONL needs of a platform: one directory of files that grow at their end (spec 11.3, the portable capability).

pub mod memory;
#[cfg(not(target_arch = "wasm32"))]
pub mod native;

use futures::future::LocalBoxFuture;

/// What a file operation reported. Whether it took effect is unknown unless the operation says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operation} {file}: {reason}")]
pub struct FsError {
    pub operation: &'static str,
    /// Name inside the directory, or that of the directory itself.
    pub file: String,
    pub reason: String,
}

/// Result of a file operation.
pub type FsFuture<'a, T> = LocalBoxFuture<'a, Result<T, FsError>>;

/// One directory, owned by one storage at a time. Names are plain file names without separators.
///
/// What an operation did is seen by every later operation at once; that it also survives a loss of power is promised by
/// [`sync`](Self::sync) for the content of a file and by [`sync_dir`](Self::sync_dir) for which names exist and what they
/// name. A rename is atomic: another look finds the old file or the new one, never neither.
pub trait FileSystem {
    /// Creates the directory when it is absent, surviving a loss of power.
    fn create_dir(&self) -> FsFuture<'_, ()>;

    /// The names of all files; empty when the directory is absent.
    fn list(&self) -> FsFuture<'_, Vec<String>>;

    /// The whole content; `None` when there is no such file.
    fn read<'a>(&'a self, file: &'a str) -> FsFuture<'a, Option<Vec<u8>>>;

    /// Adds `bytes` at the end, creating the file when it is absent. A failure may leave any prefix of them.
    fn append<'a>(&'a self, file: &'a str, bytes: &'a [u8]) -> FsFuture<'a, ()>;

    /// Makes the content of a file survive a loss of power.
    fn sync<'a>(&'a self, file: &'a str) -> FsFuture<'a, ()>;

    /// Makes creations, renames and removals survive a loss of power.
    fn sync_dir(&self) -> FsFuture<'_, ()>;

    /// Cuts a file to its first `length` bytes.
    fn truncate<'a>(&'a self, file: &'a str, length: u64) -> FsFuture<'a, ()>;

    /// Gives a file another name, replacing the file that has it.
    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> FsFuture<'a, ()>;

    /// Removes a file; an absent one is no error.
    fn remove<'a>(&'a self, file: &'a str) -> FsFuture<'a, ()>;

    /// Lets go of what is held open. No call follows.
    fn release(&self) {}
}
