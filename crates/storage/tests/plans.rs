//! What SQLite makes of the statements: no walk through history but the listed ones, and bills that match the bytecode.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::now;
use std::rc::Rc;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::ConversationRecord;
use tidehold_session::storage::{Storage, StorageWrite};
use tidehold_storage::SqlStorage;
use tidehold_storage::sql::native::NativeDriver;
use tidehold_storage::sql::statements::{self as sql, STATEMENTS, Statement};

fn created() -> SqlStorage<NativeDriver> {
    let storage = SqlStorage::open(NativeDriver::in_memory().unwrap(), "test").unwrap();
    let root = ConversationRecord {
        id: ConversationId(1),
        parent: None,
        owner: None,
    };
    now(storage.commit(&[StorageWrite::Conversation(Rc::new(root))])).unwrap();
    storage
}

/// The text column `column` of all rows that explain a statement.
fn explain(
    storage: &SqlStorage<NativeDriver>,
    prefix: &str,
    statement: &Statement,
    column: usize,
) -> Vec<String> {
    let rows = storage.driver().with(|connection| {
        let mut prepared = connection.prepare(&format!("{prefix} {}", statement.sql))?;
        for index in 1..=prepared.parameter_count() {
            prepared.raw_bind_parameter(index, 1)?;
        }
        let mut rows = prepared.raw_query();
        let mut details = Vec::new();
        while let Some(row) = rows.next()? {
            details.push(row.get::<_, String>(column)?);
        }
        Ok(details)
    });
    rows.unwrap_or_else(|error| panic!("{}: {error}", statement.sql))
}

fn is_schema(statement: &Statement) -> bool {
    statement.sql.starts_with("CREATE")
}

fn is_one_of(statement: &Statement, list: &[&Statement]) -> bool {
    list.iter().any(|listed| listed.id == statement.id)
}

#[test]
fn ids_are_dense() {
    for (position, statement) in STATEMENTS.iter().enumerate() {
        assert_eq!(statement.id, position);
    }
}

#[test]
fn statements_fit_the_platform() {
    let storage = created();
    for statement in STATEMENTS {
        assert!(statement.sql.len() < 100_000);
        assert!(statement.sql.matches("UNION").count() < 5, "{}", statement.sql);
        // The body of a trigger is no transaction.
        let begins = statement.sql.contains("BEGIN") && !statement.sql.starts_with("CREATE TRIGGER");
        assert!(!statement.sql.contains("PRAGMA") && !begins, "{}", statement.sql);
        if !is_schema(statement) {
            let count = storage
                .driver()
                .with(|connection| Ok(connection.prepare(statement.sql)?.parameter_count()));
            assert!(count.unwrap() <= 100);
        }
    }
}

#[test]
fn no_read_walks_through_history() {
    // Pages of everything: each row read is a row returned.
    let unfiltered = [&sql::CONVERSATIONS_ASC, &sql::CONVERSATIONS_DESC];
    // Walks by id with a filter, see the comments at the statements.
    let walks = [
        &sql::TASKS_ENDED_ASC,
        &sql::TASKS_ENDED_DESC,
        &sql::SUBMISSIONS_ASC,
        &sql::SUBMISSIONS_DESC,
    ];
    // Sorts of one scope and of one line of forks, both small.
    let sorts = [
        &sql::DOCUMENTS_IN_SCOPE,
        &sql::DOCUMENTS_IN_SCOPE_AT,
        &sql::LINEAGE,
    ];
    let storage = created();
    for statement in STATEMENTS.iter().filter(|statement| !is_schema(statement)) {
        for detail in explain(&storage, "EXPLAIN QUERY PLAN", statement, 3) {
            // The rows of the recursion, and the constant row of a SELECT without FROM.
            let harmless = ["SCAN line", "SCAN CONSTANT ROW"].contains(&detail.as_str())
                || detail.starts_with("SCAN sqlite_")
                || detail.starts_with("SEARCH sqlite_");
            assert!(
                !detail.starts_with("SCAN") || harmless,
                "{}\n{detail}",
                statement.sql
            );
            let by_id_range = detail.contains("INTEGER PRIMARY KEY (rowid>?)")
                || detail.contains("INTEGER PRIMARY KEY (rowid<?)");
            let listed = is_one_of(statement, &unfiltered) || is_one_of(statement, &walks);
            assert!(!by_id_range || listed, "{}\n{detail}", statement.sql);
            let sorted = detail.contains("TEMP B-TREE");
            assert!(
                !sorted || is_one_of(statement, &sorts),
                "{}\n{detail}",
                statement.sql
            );
        }
    }
}

#[test]
fn each_query_uses_its_index() {
    let storage = created();
    for (statement, index) in [
        (&sql::ENTRIES_ASC, "entries_by_conversation"),
        (&sql::ENTRIES_DESC, "entries_by_conversation"),
        (&sql::NEWEST_HEAD, "entries_with_head"),
        (&sql::TASKS_LIVE_ASC, "tasks_live"),
        (&sql::TASKS_LIVE_DESC, "tasks_live"),
        (&sql::TASKS_ENDED_OF_KIND_ASC, "tasks_ended_by_kind"),
        (&sql::TASKS_ENDED_OF_KIND_DESC, "tasks_ended_by_kind"),
        (&sql::SUBMISSION_BY_REQUEST, "submissions_by_request"),
        (&sql::SUBMISSIONS_LIVE_ASC, "submissions_live"),
        (&sql::SUBMISSIONS_LIVE_DESC, "submissions_live"),
        (&sql::DOCUMENT_AT_ADDRESS, "documents_by_address"),
        (&sql::DOCUMENT_AT_ADDRESS_AT, "documents_by_address"),
        (&sql::DOCUMENTS_IN_SCOPE, "documents_by_address"),
        (&sql::CONVERSATIONS_OF_TASK_ASC, "conversations_by_task"),
        (&sql::CONVERSATIONS_OF_OWNER_DESC, "conversations_by_owner"),
    ] {
        let plan = explain(&storage, "EXPLAIN QUERY PLAN", statement, 3).join("; ");
        assert!(plan.contains(index), "{}\n{plan}", statement.sql);
    }
    // The whole address is looked up, not only its scope.
    let plan = explain(&storage, "EXPLAIN QUERY PLAN", &sql::DOCUMENT_AT_ADDRESS, 3).join("; ");
    assert!(
        plan.contains("scope=? AND owner=? AND kind=? AND key=?"),
        "{plan}"
    );
}

#[test]
fn bills_match_the_bytecode() {
    let storage = created();
    for statement in STATEMENTS.iter().filter(|statement| !is_schema(statement)) {
        let opcodes = explain(&storage, "EXPLAIN", statement, 1);
        let count = |name: &str| opcodes.iter().filter(|opcode| *opcode == name).count() as u64;
        let written = if statement.sql.starts_with("DELETE") {
            count("Delete")
        } else if statement.sql.contains("ON CONFLICT") {
            // Either inserts or updates.
            (count("Insert") + count("IdxInsert")) / 2
        } else if statement.sql.starts_with("SELECT") || statement.sql.starts_with("WITH") {
            0
        } else {
            count("Insert") + count("IdxInsert")
        };
        // The bytecode holds the insertions into both partial indexes of which a task is only ever in one.
        let exclusive = u64::from(is_one_of(statement, &[&sql::INSERT_TASK, &sql::TURN_TASK]));
        let most = statement.bill.rows + statement.bill.unless_null.len() as u64 + exclusive;
        assert_eq!(written, most, "{}", statement.sql);
    }
}
