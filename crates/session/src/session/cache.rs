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
    /// Commits adopted.
    adopted: u64,
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

    /// Which commit was adopted last, for a read that takes its time: see [`DocumentCache::loaded`].
    pub fn adopted(&self) -> u64 {
        self.adopted
    }

    /// Another commit is adopted.
    pub fn adopt(&mut self) {
        self.adopted += 1;
    }

    /// Keeps what storage answered, unless a commit was adopted since it was asked: a transaction that settled does not wait
    /// for the reads it has under way.
    pub fn loaded(&mut self, address: &DocumentAddress, document: &CachedDocument, asked: u64, now: Millis) {
        if self.adopted == asked {
            self.insert(address.clone(), document.clone(), now);
        }
    }

    /// Remembers how a definition of a newer version reads what was loaded.
    pub fn migrated(&mut self, address: &DocumentAddress, loaded: &CachedDocument, migrated: (u32, Json)) {
        let is_that = |kept: &&mut Kept| kept.document.value.same(&loaded.value);
        if let Some(kept) = self.documents.get_mut(address).filter(is_that) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{DocumentCreate, Scope};
    use crate::ids::{DocumentId, Seq};
    use std::rc::Rc;

    #[test]
    fn what_a_commit_overtook_is_not_kept() {
        let create = DocumentCreate {
            id: DocumentId(2),
            kind: "test".into(),
            key: None,
            scope: Scope::Session,
            history: None,
            fork: None,
        };
        let address = create.address();
        let document = CachedDocument {
            record: Rc::new(create.stamped(Seq(1))),
            version: 1,
            value: Json::empty_object(),
            migrated: None,
            deltas_since_base: 0,
        };
        let mut cache = DocumentCache::default();
        let asked = cache.adopted();
        cache.adopt();
        cache.loaded(&address, &document, asked, 0);
        assert!(cache.get(&address, 0).is_none());
        let asked = cache.adopted();
        cache.loaded(&address, &document, asked, 0);
        assert!(cache.get(&address, 0).is_some());
    }
}
