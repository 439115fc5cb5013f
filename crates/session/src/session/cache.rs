//! Documents in memory (spec 4): bounded by use, not by history. Only on the line anything leaves, and nothing that is
//! observed.

use super::{CachedDocument, Inner};
use crate::documents::{DocumentAddress, DocumentRecord};
use crate::host::Millis;
use crate::ids::DocumentId;
use crate::limits::DOCUMENT_RETENTION_MS;
use crate::panics::{caught_call, panic_text};
use std::collections::HashMap;
use tidehold_delta::Json;

/// A document in constant use is noted as used at most this often; a tenth of the retention where that is less.
const GRANULE_MS: Millis = 1000;

#[derive(Default)]
pub(crate) struct DocumentCache {
    documents: HashMap<DocumentAddress, Kept>,
    /// No unobserved document was noted as used before. While this is younger than the retention, nobody looks at them.
    oldest: Millis,
    granule: Millis,
    /// Commits adopted.
    adopted: u64,
}

struct Kept {
    document: CachedDocument,
    used: Millis,
    observers: usize,
}

impl Kept {
    fn touch(&mut self, now: Millis, granule: Millis) {
        if now.saturating_sub(self.used) >= granule {
            self.used = now;
        }
    }

    fn is(&self, id: DocumentId) -> bool {
        self.document.record.id == id
    }
}

impl DocumentCache {
    /// The document, which is in use now.
    pub fn get(&mut self, address: &DocumentAddress, now: Millis) -> Option<&CachedDocument> {
        let kept = self.documents.get_mut(address)?;
        kept.touch(now, self.granule);
        Some(&kept.document)
    }

    pub fn insert(&mut self, address: DocumentAddress, document: CachedDocument, now: Millis) {
        if let Some(kept) = self.documents.get_mut(&address)
            && kept.is(document.record.id)
        {
            kept.document = document;
            kept.touch(now, self.granule);
            return;
        }
        self.oldest = self.oldest.min(now);
        let kept = Kept {
            document,
            used: now,
            observers: 0,
        };
        self.documents.insert(address, kept);
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
        if self.incarnation(address, retired.id).is_some() {
            self.documents.remove(address);
        }
    }

    /// Keeps the incarnation for one more observer.
    pub fn pin(&mut self, address: &DocumentAddress, id: DocumentId) {
        if let Some(kept) = self.incarnation(address, id) {
            kept.observers += 1;
        }
    }

    /// Gives back what [`DocumentCache::pin`] took.
    pub fn unpin(&mut self, address: &DocumentAddress, id: DocumentId) {
        let used = self.incarnation(address, id).map(|kept| {
            kept.observers = kept.observers.saturating_sub(1);
            kept.used
        });
        self.oldest = self.oldest.min(used.unwrap_or(Millis::MAX));
    }

    fn incarnation(&mut self, address: &DocumentAddress, id: DocumentId) -> Option<&mut Kept> {
        self.documents.get_mut(address).filter(|kept| kept.is(id))
    }

    /// Forgets what was not used for `retention`. Transactions hold what they use themselves.
    fn evict(&mut self, now: Millis, retention: Millis) {
        self.granule = (retention / 10).min(GRANULE_MS);
        let is_idle = |used: Millis| used.saturating_add(retention) <= now;
        if !is_idle(self.oldest) {
            return;
        }
        let mut oldest = Millis::MAX;
        self.documents.retain(|_, kept| {
            if kept.observers > 0 {
                return true;
            }
            let stays = !is_idle(kept.used);
            if stays {
                oldest = oldest.min(kept.used);
            }
            stays
        });
        self.oldest = oldest;
    }
}

impl Inner {
    /// Only on the line, after a commit.
    pub(super) fn evict(&self) {
        let now = self.host.now();
        let chosen = self.options.document_retention_ms.as_ref();
        let read = || chosen.map_or(DOCUMENT_RETENTION_MS, |read| read());
        // The host's code: what it does wrong is no reason to lose a session.
        let retention = caught_call(read).unwrap_or_else(|panic| {
            let text = panic_text(panic.as_ref());
            self.report(format!("reading the retention of documents panicked: {text}"));
            DOCUMENT_RETENTION_MS
        });
        self.documents.borrow_mut().evict(now, retention);
        self.contexts.borrow_mut().evict(now, retention);
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
