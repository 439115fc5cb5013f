//! Sources of `document.copy`, materialized before the batch changes anything.

use super::Target;
use crate::batch::{self, ContentWrite, Plan};
use crate::sql::read;
use std::collections::HashMap;
use tidehold_session::documents::{DocumentCreate, Point};
use tidehold_session::ids::DocumentId;
use tidehold_session::storage::{StorageError, StoredDocument};

/// Materialized sources by the id of their copy.
pub(super) type Copies = HashMap<DocumentId, StoredDocument>;

pub(super) fn load(target: &Target<'_>, plan: &Plan<'_>) -> Result<Copies, StorageError> {
    let mut copies = Copies::new();
    for document in &plan.documents {
        if let Some(ContentWrite::Copy { record, source, at }) = document.content {
            copies.insert(document.id, load_one(target, record, source, at)?);
        }
    }
    Ok(copies)
}

fn load_one(
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
