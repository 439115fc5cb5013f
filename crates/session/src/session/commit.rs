//! One commit: callback, preparation, storage, adoption, publication (spec 3.4).

use super::cache::DocumentCache;
use super::{CachedDocument, Inner};
use crate::error::{Rejection, SessionError};
use crate::host::Millis;
use crate::ids::Seq;
use crate::limits::MAX_BATCH_BYTES;
use crate::panics::{caught, caught_call, panic_text};
use crate::publication::{DocumentChange, DocumentChangeKind, Publication};
use crate::tx::assembly::{Assembly, PreparedDocument, Target};
use crate::tx::{Tx, assembly};
use crate::weight;
use futures::future::LocalBoxFuture;
use std::rc::Rc;

/// The caller's callback without its types. Its value stays with the caller.
pub(super) type Body = Box<dyn FnOnce(Tx) -> LocalBoxFuture<'static, Verdict>>;

/// What a callback asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Commit,
    RollBack,
}

/// Runs on the line. Until storage admission every error rolls back; afterwards any error is fatal.
pub(super) async fn run(inner: Rc<Inner>, body: Body) -> Result<(), SessionError> {
    let tx = Tx::new(Rc::clone(&inner));
    // The callback is the caller's code: its panic rolls back its commit and nothing else.
    let outcome = caught(body(tx.clone())).await;
    let sealed = tx.seal();
    match outcome {
        Ok(Verdict::Commit) => {}
        Ok(Verdict::RollBack) => return Ok(()),
        Err(panic) => return Err(SessionError::CallbackPanicked(panic_text(panic.as_ref()))),
    }
    let documents = sealed.prepare()?;
    // A callback that swallowed a failed read must not commit (spec 10.1).
    inner.health.borrow().check_admitted()?;
    let assembly = assembly::assemble(&tx, documents).await?;
    let stored = match assembly.is_empty() {
        true => None,
        false => Some(store(&inner, assembly).await?),
    };
    settle(&inner, stored)
}

async fn store(inner: &Inner, assembly: Assembly) -> Result<(Assembly, Seq), SessionError> {
    let writes = assembly.writes();
    let bytes = writes.iter().map(weight::of_write).sum();
    if bytes > MAX_BATCH_BYTES {
        return Err(Rejection::BatchTooLarge {
            bytes,
            limit: MAX_BATCH_BYTES,
        }
        .into());
    }
    // From here to the end of `settle` a synchronous backend yields nowhere, so the platform's output gate covers
    // everything that listeners send (invariant 2).
    let seq = inner.write(inner.storage.commit(&writes)).await?;
    Ok((assembly, seq))
}

/// Brings memory to what storage has, and tells everyone.
fn settle(inner: &Inner, stored: Option<(Assembly, Seq)>) -> Result<(), SessionError> {
    let adopted = caught_call(|| stored.map(|(assembly, seq)| adopt(inner, assembly, seq)));
    match adopted {
        Ok(Some(publication)) => inner.publish(&Rc::new(publication)),
        Ok(None) => {}
        Err(panic) => {
            let text = panic_text(panic.as_ref());
            inner.bookkeeping_failed(format!("a committed batch was not adopted: {text}"));
            return inner.health.borrow().check_admitted();
        }
    }
    inner.evict();
    Ok(())
}

/// Makes the prepared values the current ones and describes what changed.
fn adopt(inner: &Inner, assembly: Assembly, seq: Seq) -> Publication {
    inner
        .known
        .borrow_mut()
        .adopt(&assembly.conversations, &assembly.tasks);
    let mut documents = Vec::with_capacity(assembly.documents.len());
    let mut cache = inner.documents.borrow_mut();
    let now = inner.host.now();
    cache.adopt();
    // Nothing of a copy is in memory: whoever asks for it first reads it from storage.
    documents.extend(assembly.copies.into_iter().map(|copy| DocumentChange {
        record: Rc::new(copy.create.stamped(seq)),
        kind: DocumentChangeKind::Copied {
            source: copy.source,
            at: copy.at,
        },
    }));
    for document in assembly.documents {
        adopt_document(&mut cache, &mut documents, document, seq, now);
    }
    Publication {
        seq,
        conversations: assembly.conversations,
        entries: assembly.entries,
        submissions: assembly.submissions,
        tasks: assembly.tasks,
        documents,
    }
}

fn adopt_document(
    cache: &mut DocumentCache,
    published: &mut Vec<DocumentChange>,
    document: PreparedDocument,
    seq: Seq,
    now: Millis,
) {
    let PreparedDocument {
        address,
        target,
        content,
        retired,
    } = document;
    let record = match target {
        Target::Create(create) => Rc::new(create.stamped(seq)),
        Target::Existing(record) | Target::Outdated(record) => record,
    };
    if let Some(content) = content {
        let kind = match content.before {
            None => DocumentChangeKind::Created {
                value: content.value.clone(),
            },
            Some(before) => DocumentChangeKind::Changed {
                before,
                value: content.value.clone(),
                ops: Rc::clone(&content.ops),
                version: content.version,
            },
        };
        published.push(DocumentChange {
            record: Rc::clone(&record),
            kind,
        });
        let deltas_since_base = if content.is_base {
            0
        } else {
            content.deltas_before + 1
        };
        let cached = CachedDocument {
            record: Rc::clone(&record),
            version: content.version,
            value: content.value,
            migrated: None,
            deltas_since_base,
        };
        cache.insert(address.clone(), cached, now);
    }
    if retired {
        // A recreation in the same commit was adopted separately: drop only this incarnation.
        cache.retire(&address, &record);
        let mut retired_record = record.as_ref().clone();
        retired_record.retired_at = Some(seq);
        published.push(DocumentChange {
            record: Rc::new(retired_record),
            kind: DocumentChangeKind::Retired,
        });
    }
}
