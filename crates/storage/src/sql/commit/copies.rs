//! The source of a `document.copy`, as it was before the batch.

use super::Target;
use crate::batch;
use crate::sql::read;
use tidehold_session::documents::{DocumentCreate, Point};
use tidehold_session::ids::DocumentId;
use tidehold_session::storage::{StorageError, StoredDocument};

pub(super) fn load(
    target: &Target<'_>,
    child: &DocumentCreate,
    source: DocumentId,
    at: Point,
) -> Result<StoredDocument, StorageError> {
    let reader = target.reader();
    let record = read::documents::record(&reader, source)?.ok_or_else(|| batch::unknown_document(source))?;
    batch::check_copy(&record, at, child)?;
    read::documents::load(&reader, source, at)?.ok_or_else(|| batch::unknown_document(source))
}
