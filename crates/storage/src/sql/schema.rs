//! The stored schema: recognised at open, created by the first commit, migrated step by step.

use super::driver::{Param, SqlDriver};
use super::marks::Marks;
use super::rows::{Reader, backend, bound, exact};
use super::statements::{self as sql, Statement};
use super::writes::Writes;
use tidehold_delta::Text;
use tidehold_session::storage::StorageError;

/// Migration `n` leads from schema `n` to schema `n + 1`; the first creates everything. Never edited once released:
/// a change of the schema is a new migration.
const MIGRATIONS: &[&[&Statement]] = &[SCHEMA_1, SCHEMA_2];

const SCHEMA_1: &[&Statement] = &[
    &sql::CREATE_META,
    &sql::CREATE_CONVERSATIONS,
    &sql::CREATE_CONVERSATIONS_BY_TASK,
    &sql::CREATE_CONVERSATIONS_BY_OWNER,
    &sql::CREATE_ENTRIES,
    &sql::CREATE_ENTRIES_BY_CONVERSATION,
    &sql::CREATE_ENTRIES_WITH_HEAD,
    &sql::CREATE_TASKS,
    &sql::CREATE_TASKS_LIVE,
    &sql::CREATE_TASKS_ENDED,
    &sql::CREATE_SUBMISSIONS,
    &sql::CREATE_SUBMISSIONS_BY_REQUEST,
    &sql::CREATE_SUBMISSIONS_LIVE,
    &sql::CREATE_DOCUMENTS,
    &sql::CREATE_DOCUMENTS_BY_ADDRESS,
    &sql::CREATE_DOCUMENT_PARTS,
    &sql::CREATE_CHUNKS,
];

const SCHEMA_2: &[&Statement] = &[&sql::CREATE_SMALL_COMMITS, &sql::CREATE_APPLY_SMALL_COMMIT];

/// The schema this release writes.
const SCHEMA: u32 = MIGRATIONS.len() as u32;

/// The metadata of a stored session.
#[derive(Debug)]
pub(super) struct Meta {
    pub(super) incarnation: Text,
    pub(super) marks: Marks,
}

/// Reads the metadata, migrating an older schema first; `None` when nothing was ever committed.
///
/// # Errors
/// [`StorageError::SchemaTooNew`]; [`StorageError::Corrupt`] when the metadata row is missing.
pub(super) fn open(driver: &dyn SqlDriver) -> Result<Option<Meta>, StorageError> {
    let reader = Reader::over(driver);
    if reader
        .first(&sql::TABLE_EXISTS, &[Param::Text("meta")])?
        .is_none()
    {
        return Ok(None);
    }
    let mut row = reader
        .first(&sql::META, &[])?
        .ok_or_else(|| StorageError::Corrupt("the metadata row is missing".into()))?;
    let found = u32::try_from(row.number()?).unwrap_or(u32::MAX);
    let incarnation = row.text()?.into();
    let marks = Marks {
        id: row.number()?,
        seq: row.number()?,
    };
    if found > SCHEMA {
        return Err(StorageError::SchemaTooNew {
            found,
            supported: SCHEMA,
        });
    }
    if found < SCHEMA {
        migrate(driver, MIGRATIONS, found)?;
    }
    Ok(Some(Meta { incarnation, marks }))
}

/// Leads a stored schema to the newest one, in one transaction.
fn migrate(
    driver: &dyn SqlDriver,
    migrations: &[&[&'static Statement]],
    from: u32,
) -> Result<(), StorageError> {
    let mut writes = Writes::default();
    for statement in migrations.iter().skip(from as usize).copied().flatten() {
        writes.push(statement, &[]);
    }
    writes.push(&sql::SET_SCHEMA, &[exact(migrations.len() as u64)]);
    driver.apply(&writes).map_err(backend)
}

/// Creates the schema, in the transaction of the first commit.
pub(super) fn create(writes: &mut Writes, incarnation: &str, marks: Marks) {
    for statement in MIGRATIONS.iter().copied().flatten() {
        writes.push(statement, &[]);
    }
    let incarnation = writes.text(incarnation);
    let cells = [
        exact(u64::from(SCHEMA)),
        incarnation,
        bound(marks.id),
        bound(marks.seq),
    ];
    writes.push(&sql::INSERT_META, &cells);
}

/// Stores raised marks.
pub(super) fn set_marks(writes: &mut Writes, marks: Marks) {
    writes.push(&sql::SET_MARKS, &[bound(marks.id), bound(marks.seq)]);
}

#[cfg(test)]
mod tests {
    use super::super::native::NativeDriver;
    use super::super::statements::{Bill, Per};
    use super::*;

    static ADD_COLUMN: Statement = Statement {
        id: usize::MAX,
        sql: "ALTER TABLE meta ADD COLUMN extra INTEGER",
        bill: Bill {
            rows: 0,
            unless_null: &[],
            per: Per::ChangedRow,
        },
    };
    static BROKEN: Statement = Statement {
        sql: "CREATE TABLE meta (id)",
        ..ADD_COLUMN
    };

    fn created() -> NativeDriver {
        let driver = NativeDriver::in_memory().unwrap();
        let mut writes = Writes::default();
        create(&mut writes, "test", Marks { id: 10, seq: 20 });
        driver.apply(&writes).unwrap();
        driver
    }

    fn stored_schema(driver: &NativeDriver) -> u64 {
        Reader::over(driver)
            .first(&sql::META, &[])
            .unwrap()
            .unwrap()
            .number()
            .unwrap()
    }

    #[test]
    fn a_created_schema_opens() {
        let meta = open(&created()).unwrap().unwrap();
        assert_eq!(
            (&*meta.incarnation, meta.marks),
            ("test", Marks { id: 10, seq: 20 })
        );
        assert!(open(&NativeDriver::in_memory().unwrap()).unwrap().is_none());
    }

    #[test]
    fn migrations_run_from_the_stored_schema_on() {
        let driver = created();
        let migrations: &[&[&'static Statement]] = &[&[&BROKEN], &[&BROKEN], &[&ADD_COLUMN], &[]];
        migrate(&driver, migrations, 2).unwrap();
        assert_eq!(stored_schema(&driver), 4);
        driver
            .with(|connection| connection.execute("UPDATE meta SET extra = 1", []))
            .unwrap();
    }

    #[test]
    fn a_failing_migration_changes_nothing() {
        let driver = created();
        let migrations: &[&[&'static Statement]] = &[&[], &[], &[&ADD_COLUMN], &[&BROKEN]];
        assert!(migrate(&driver, migrations, 2).is_err());
        assert_eq!(stored_schema(&driver), 2);
        assert!(
            driver
                .with(|connection| connection.execute("UPDATE meta SET extra = 1", []))
                .is_err()
        );
    }
}
