//! From a stored value to the value a definition sees: semantics, versions, migration (spec 3.1 and 3.6).

use super::{CachedDocument, Inner};
use crate::documents::{DocDef, DocumentAddress, DocumentRecord, Migrate};
use crate::error::{Rejection, SessionError};
use crate::panics::{caught_call, panic_text};
use std::rc::Rc;
use tidehold_delta::{Json, MAX_DEPTH};

/// An incarnation as one definition sees it.
pub(crate) struct TypedDocument {
    pub record: Rc<DocumentRecord>,
    pub value: Json,
    pub deltas_since_base: u32,
    pub stored_as: StoredAs,
}

/// Which version of the definition wrote what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredAs {
    Current,
    /// An older one: the next write through this definition is a base.
    Older,
}

/// How a stored version relates to a definition's.
enum Reading {
    AsStored,
    Migrated(Migrate),
}

impl Inner {
    /// The current incarnation at an address. Only on the line, like [`Inner::load_document`].
    pub(crate) async fn typed_document(
        &self,
        def: &'static DocDef,
        address: &DocumentAddress,
    ) -> Result<Option<TypedDocument>, SessionError> {
        let loaded = self.load_document(address).await?;
        loaded.map(|loaded| self.typed(def, address, loaded)).transpose()
    }

    /// What was loaded, as a definition sees it.
    pub(crate) fn typed(
        &self,
        def: &'static DocDef,
        address: &DocumentAddress,
        loaded: CachedDocument,
    ) -> Result<TypedDocument, SessionError> {
        let (value, stored_as) = match migrated_before(def, &loaded)? {
            Some(seen) => seen,
            None => {
                let (value, stored_as) = read_as(def, loaded.version, loaded.value.clone())?;
                // Once a load: whoever asks next through this version gets the same value.
                let mut cache = self.documents.borrow_mut();
                cache.migrated(address, &loaded, (def.version, value.clone()));
                (value, stored_as)
            }
        };
        Ok(TypedDocument {
            record: loaded.record,
            value,
            deltas_since_base: loaded.deltas_since_base,
            stored_as,
        })
    }
}

/// The value without running any migration: `None` where one has to run.
pub(crate) fn migrated_before(
    def: &DocDef,
    document: &CachedDocument,
) -> Result<Option<(Json, StoredAs)>, SessionError> {
    check_semantics(def, &document.record)?;
    match (reading(def, document.version)?, &document.migrated) {
        (Reading::AsStored, _) => Ok(Some((document.value.clone(), StoredAs::Current))),
        (Reading::Migrated(_), Some((version, value))) if *version == def.version => {
            Ok(Some((value.clone(), StoredAs::Older)))
        }
        (Reading::Migrated(_), _) => Ok(None),
    }
}

/// A stored value of some version, as the definition reads it.
pub(crate) fn read_as(def: &DocDef, stored: u32, value: Json) -> Result<(Json, StoredAs), SessionError> {
    match reading(def, stored)? {
        Reading::AsStored => Ok((value, StoredAs::Current)),
        Reading::Migrated(migrate) => Ok((run_migration(def, migrate, stored, value)?, StoredAs::Older)),
    }
}

fn reading(def: &DocDef, stored: u32) -> Result<Reading, Rejection> {
    check_not_newer(def, stored)?;
    match def.migrate {
        _ if stored == def.version => Ok(Reading::AsStored),
        Some(migrate) => Ok(Reading::Migrated(migrate)),
        None => Err(Rejection::MigrationMissing {
            kind: def.kind.into(),
            stored,
        }),
    }
}

/// A definition does not touch what a newer one wrote (spec 3.6).
pub(crate) fn check_not_newer(def: &DocDef, stored: u32) -> Result<(), Rejection> {
    if stored <= def.version {
        return Ok(());
    }
    Err(Rejection::DocumentTooNew {
        kind: def.kind.into(),
        stored,
        defined: def.version,
    })
}

fn run_migration(def: &DocDef, migrate: Migrate, stored: u32, value: Json) -> Result<Json, SessionError> {
    let migrated = definition_code(def, || migrate(value, stored))?;
    let migrated = migrated.map_err(|reason| Rejection::MigrationFailed {
        kind: def.kind.into(),
        stored,
        reason,
    })?;
    root(def, migrated)
}

/// Typed access rejects a definition that disagrees with the stored incarnation (spec 3.1). A scope cannot disagree: it is
/// part of the address.
pub(crate) fn check_semantics(def: &DocDef, record: &DocumentRecord) -> Result<(), Rejection> {
    if def.history.unzip() == (record.history, record.fork) {
        return Ok(());
    }
    Err(Rejection::DocumentSemantics {
        kind: def.kind.into(),
    })
}

/// What `initial` or `migrate` answered, as the root of a document.
pub(crate) fn root(def: &DocDef, value: Json) -> Result<Json, SessionError> {
    match value.is_finite() && !value.deeper_than(MAX_DEPTH) {
        true => object(def, value),
        false => object(def, Json::Null),
    }
}

/// A document is an object at its root: `null` there means that it was retired.
pub(crate) fn object(def: &DocDef, value: Json) -> Result<Json, SessionError> {
    match value {
        Json::Object(_) => Ok(value),
        _ => Err(Rejection::DocumentRoot {
            kind: def.kind.into(),
        }
        .into()),
    }
}

/// Runs code of a definition: its panic is an error of the call that needed it (spec 10.1).
pub(crate) fn definition_code<T>(def: &DocDef, code: impl FnOnce() -> T) -> Result<T, SessionError> {
    caught_call(code).map_err(|panic| SessionError::DefinitionPanicked {
        kind: def.kind.into(),
        text: panic_text(panic.as_ref()),
    })
}
