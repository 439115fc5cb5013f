//! One commit on disk (spec 11.3, publication): sidecars in write order, with fsync flushed in that order, then the marker.

use super::disk::Disk;
use super::encode::Prepared;
use super::fs::{FileSystem, FsError};

/// Whether a commit is the first, before which the directory may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    First,
    Later,
}

/// Once this succeeded the commit is there; after an error that is unknown.
pub(super) async fn persist<F: FileSystem>(
    disk: &Disk<F>,
    position: Position,
    prepared: &Prepared,
) -> Result<(), FsError> {
    if position == Position::First {
        disk.fs.create_dir().await?;
    }
    for (sidecar, line) in &prepared.sidecars {
        disk.append_sidecar(*sidecar, line).await?;
    }
    let written = prepared.sidecars.iter().map(|(sidecar, _)| *sidecar);
    disk.flush_sidecars(written).await?;
    disk.append_main(&prepared.marker).await?;
    // From here on sidecars without a `main.jsonl` are a damage, whatever power is lost.
    match position {
        Position::First => disk.flush_main().await,
        Position::Later => Ok(()),
    }
}
