//! Documents in memory (spec 4): bounded by use, not by history. Only on the line anything leaves.

use super::CachedDocument;
use crate::documents::{DocumentAddress, DocumentRecord};
use crate::host::Millis;
use std::collections::HashMap;
use tidehold_delta::Json;

/// The longest time between two looks for idle documents; a tenth of the retention where that is less.
const GRANULE_MS: Millis = 1000;

#[derive(Default)]
pub(crate) struct DocumentCache {
    documents: HashMap<DocumentAddress, Kept>,
    sweep_at: Millis,
}

struct Kept {
    document: CachedDocument,
    used: Millis,
}

impl DocumentCache {
    /// The document, which is in use now.
    pub fn get(&mut self, address: &DocumentAddress, now: Millis) -> Option<&CachedDocument> {
        let kept = self.documents.get_mut(address)?;
        kept.used = now;
        Some(&kept.document)
    }

    pub fn insert(&mut self, address: DocumentAddress, document: CachedDocument, now: Millis) {
        self.documents.insert(address, Kept { document, used: now });
    }

    /// Remembers how a definition of a newer version reads the incarnation.
    pub fn migrated(&mut self, address: &DocumentAddress, record: &DocumentRecord, migrated: (u32, Json)) {
        let kept = self.documents.get_mut(address);
        if let Some(kept) = kept.filter(|kept| kept.document.record.id == record.id) {
            kept.document.migrated = Some(migrated);
        }
    }

    /// Forgets the document unless another incarnation took its address.
    pub fn retire(&mut self, address: &DocumentAddress, retired: &DocumentRecord) {
        let same = |kept: &Kept| kept.document.record.id == retired.id;
        if self.documents.get(address).is_some_and(same) {
            self.documents.remove(address);
        }
    }

    /// Forgets what was not used for `retention`. Transactions hold what they use themselves.
    pub fn evict(&mut self, now: Millis, retention: impl FnOnce() -> Millis) {
        if now < self.sweep_at {
            return;
        }
        let retention = retention();
        self.sweep_at = now.saturating_add((retention / 10).min(GRANULE_MS));
        self.documents
            .retain(|_, kept| kept.used.saturating_add(retention) > now);
    }
}
