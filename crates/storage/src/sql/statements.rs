//! All SQL text, and with it the schema.
//!
//! The platform's rules: at most 100 bound parameters and 100 KB a statement, five compound terms, no `PRAGMA` and no
//! `BEGIN` (those at the end are for the native driver only). Statements are constants without interpolation: values
//! are bound, optional filters are `?n IS NULL OR …`, and a driver caches by [`Statement::id`].
//!
//! Rows written are the bill: an insert costs 1 + the indexes that take the row, a delete 1, an update 1 plus 1 for each
//! index that takes the changed row. Leaving an index is free. Hence the partial indexes below, and updates that do
//! not mention indexed columns unless those change. `rowid` is part of every index, so indexes end in id order. Each
//! [`Bill`] below was compared with `rowsWritten` of workerd (2026-04); the whole schema costs 26 rows, once.
//!
//! `kind`, `key` and `request` columns hold the JSON form of the text: no control character reaches a driver.

use super::writes::Cell;

/// One SQL statement. Its [`id`](Self::id) is a dense index into [`STATEMENTS`].
#[derive(Debug)]
pub struct Statement {
    pub id: usize,
    pub sql: &'static str,
    /// What one row it changes is billed.
    pub bill: Bill,
}

/// Billed rows for one changed row: `rows`, plus one for each listed parameter (counted from 0, as often as it is listed) that is
/// bound to something but NULL: that of a partial index, or of a part of a statement that may be absent. Schema changes are not
/// modelled; they happen once.
#[derive(Clone, Copy, Debug)]
pub struct Bill {
    pub rows: u64,
    pub unless_null: &'static [usize],
    pub per: Per,
}

/// What a bill is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Each row that the engine says was changed.
    ChangedRow,
    /// Each run: the engine does not count what triggers change.
    Run,
}

impl Bill {
    /// Rows billed for one run of a statement with these cells, of which the engine says that it changed `changed` rows.
    pub fn of(&self, cells: &[Cell], changed: u64) -> u64 {
        let is_bound = |index: &&usize| cells.get(**index).is_some_and(|cell| *cell != Cell::Null);
        let rows = self.rows + self.unless_null.iter().filter(is_bound).count() as u64;
        match self.per {
            Per::ChangedRow => changed * rows,
            Per::Run => rows,
        }
    }
}

const FREE: Bill = rows(0);

const fn rows(rows: u64) -> Bill {
    partial(rows, &[])
}

const fn partial(rows: u64, unless_null: &'static [usize]) -> Bill {
    Bill {
        rows,
        unless_null,
        per: Per::ChangedRow,
    }
}

const fn triggered(unless_null: &'static [usize]) -> Bill {
    Bill {
        rows: 0,
        unless_null,
        per: Per::Run,
    }
}

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident: $bill:expr, $sql:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Index { $($name),* }
        $($(#[$doc])* pub static $name: Statement =
            Statement { id: Index::$name as usize, sql: $sql, bill: $bill };)*
        /// Every statement, by id.
        pub static STATEMENTS: &[&Statement] = &[$(&$name),*];
    };
}

statements! {
    // ---- schema 1 ----

    /// One row. Marks are the first numbers never handed out.
    CREATE_META: FREE, "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), schema INTEGER NOT NULL,
        incarnation TEXT NOT NULL, id_mark INTEGER NOT NULL, seq_mark INTEGER NOT NULL) STRICT";
    CREATE_CONVERSATIONS: FREE, "CREATE TABLE conversations (id INTEGER PRIMARY KEY, parent INTEGER,
        parent_at INTEGER, owner_conversation INTEGER, owner_task INTEGER, record TEXT NOT NULL) STRICT";
    CREATE_CONVERSATIONS_BY_TASK: FREE, "CREATE INDEX conversations_by_task ON conversations (owner_task)
        WHERE owner_task IS NOT NULL";
    CREATE_CONVERSATIONS_BY_OWNER: FREE, "CREATE INDEX conversations_by_owner
        ON conversations (owner_conversation) WHERE owner_conversation IS NOT NULL";
    /// `chunks` counts the rows of table `chunks` that hold the record instead; `record` is then empty.
    CREATE_ENTRIES: FREE, "CREATE TABLE entries (id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL,
        head INTEGER, seq INTEGER NOT NULL, chunks INTEGER NOT NULL, record TEXT NOT NULL) STRICT";
    CREATE_ENTRIES_BY_CONVERSATION: FREE, "CREATE INDEX entries_by_conversation ON entries (conversation)";
    CREATE_ENTRIES_WITH_HEAD: FREE, "CREATE INDEX entries_with_head ON entries (conversation)
        WHERE head IS NOT NULL";
    /// `ended` is 0 or 1. Each task is in exactly one of the two partial indexes, so a life costs 2 rows at creation,
    /// 1 per change, 2 at the end; a split into two tables would cost the same in sum, and more at the end.
    CREATE_TASKS: FREE, "CREATE TABLE tasks (id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL,
        kind TEXT NOT NULL, status TEXT NOT NULL, abort_requested INTEGER NOT NULL, background INTEGER NOT NULL,
        ended INTEGER NOT NULL, chunks INTEGER NOT NULL, record TEXT NOT NULL) STRICT";
    CREATE_TASKS_LIVE: FREE, "CREATE INDEX tasks_live ON tasks (id) WHERE ended = 0";
    CREATE_TASKS_ENDED: FREE, "CREATE INDEX tasks_ended_by_kind ON tasks (kind) WHERE ended = 1";
    /// `live` is 1 or NULL.
    CREATE_SUBMISSIONS: FREE, "CREATE TABLE submissions (id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL,
        request TEXT, status TEXT NOT NULL, live INTEGER, chunks INTEGER NOT NULL, record TEXT NOT NULL) STRICT";
    CREATE_SUBMISSIONS_BY_REQUEST: FREE, "CREATE UNIQUE INDEX submissions_by_request
        ON submissions (conversation, request) WHERE request IS NOT NULL";
    CREATE_SUBMISSIONS_LIVE: FREE, "CREATE INDEX submissions_live ON submissions (id) WHERE live IS NOT NULL";
    /// Record, creation base and, while they fit, the deltas after it: a current-only document is this one row.
    /// `owner` is 0 for the session. `version` is that of the newest base. `bytes` measures `content`, which holds
    /// one segment a line (see `sql/segments.rs`).
    CREATE_DOCUMENTS: FREE, "CREATE TABLE documents (id INTEGER PRIMARY KEY, scope INTEGER NOT NULL,
        owner INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT, history INTEGER, fork INTEGER, created INTEGER NOT NULL,
        retired INTEGER, version INTEGER NOT NULL, bytes INTEGER NOT NULL, content TEXT NOT NULL) STRICT";
    CREATE_DOCUMENTS_BY_ADDRESS: FREE, "CREATE INDEX documents_by_address
        ON documents (scope, owner, kind, key)";
    /// What follows the creation base: packs of deltas (current-only) or one row a revision (rewindable), under the
    /// sequence number of their first segment.
    CREATE_DOCUMENT_PARTS: FREE, "CREATE TABLE document_parts (document INTEGER NOT NULL, seq INTEGER NOT NULL,
        base INTEGER NOT NULL, bytes INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (document, seq))
        STRICT, WITHOUT ROWID";
    /// Long values in pieces. `owner` is the id of the record or document, ids being global; `slot` is 0 for a record
    /// and for the base in a `documents` row, and otherwise the sequence number of the segment.
    CREATE_CHUNKS: FREE, "CREATE TABLE chunks (owner INTEGER NOT NULL, slot INTEGER NOT NULL,
        part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (owner, slot, part)) STRICT, WITHOUT ROWID";

    // ---- schema 2 ----

    /// Holds nothing: what is inserted goes to the tables, see `sql/small.rs`. Parts that are NULL are absent.
    CREATE_SMALL_COMMITS: FREE, "CREATE VIEW small_commits (entry, conversation, head, seq, entry_chunks, entry_record,
        task, status, abort_requested, background, task_chunks, task_record, document, delta, bytes)
        AS SELECT 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0";
    CREATE_APPLY_SMALL_COMMIT: FREE, "CREATE TRIGGER apply_small_commit INSTEAD OF INSERT ON small_commits BEGIN
        INSERT INTO entries (id, conversation, head, seq, chunks, record)
            SELECT NEW.entry, NEW.conversation, NEW.head, NEW.seq, NEW.entry_chunks, NEW.entry_record
            WHERE NEW.entry IS NOT NULL;
        UPDATE tasks SET status = NEW.status, abort_requested = NEW.abort_requested, background = NEW.background,
            chunks = NEW.task_chunks, record = NEW.task_record WHERE id = NEW.task;
        UPDATE documents SET content = content || NEW.delta, bytes = bytes + NEW.bytes WHERE id = NEW.document;
        END";

    // ---- schema and marks ----

    TABLE_EXISTS: FREE, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    META: FREE, "SELECT schema, incarnation, id_mark, seq_mark FROM meta WHERE id = 1";
    INSERT_META: rows(1), "INSERT INTO meta (id, schema, incarnation, id_mark, seq_mark)
        VALUES (1, ?1, ?2, ?3, ?4)";
    SET_SCHEMA: rows(1), "UPDATE meta SET schema = ?1 WHERE id = 1";
    SET_MARKS: rows(1), "UPDATE meta SET id_mark = ?1, seq_mark = ?2 WHERE id = 1";
    /// Which table holds an id. Nested and not compound: the platform allows five compound terms.
    OWNER_OF_ID: FREE, "SELECT CASE
        WHEN EXISTS (SELECT 1 FROM entries WHERE id = ?1) THEN 'entry'
        WHEN EXISTS (SELECT 1 FROM tasks WHERE id = ?1) THEN 'task'
        WHEN EXISTS (SELECT 1 FROM documents WHERE id = ?1) THEN 'document'
        WHEN EXISTS (SELECT 1 FROM submissions WHERE id = ?1) THEN 'submission'
        WHEN EXISTS (SELECT 1 FROM conversations WHERE id = ?1) THEN 'conversation' END";

    // ---- conversations ----

    CONVERSATION: FREE, "SELECT record FROM conversations WHERE id = ?1";
    /// The conversation and its ancestors, nearest first, each with the highest entry id visible from the first.
    LINEAGE: FREE, "WITH RECURSIVE line (id, cap, parent, parent_at, depth) AS (
            SELECT id, 9007199254740991, parent, parent_at, 0 FROM conversations WHERE id = ?1
            UNION ALL
            SELECT c.id, min(line.cap, line.parent_at), c.parent, c.parent_at, line.depth + 1
                FROM line JOIN conversations c ON c.id = line.parent WHERE line.depth < ?2)
        SELECT id, cap FROM line ORDER BY depth";
    CONVERSATIONS_ASC: FREE, "SELECT id, record FROM conversations WHERE id > ?1 ORDER BY id LIMIT ?2";
    CONVERSATIONS_DESC: FREE, "SELECT id, record FROM conversations WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
    CONVERSATIONS_OF_TASK_ASC: FREE, "SELECT id, record FROM conversations WHERE owner_task = ?3
        AND (?4 IS NULL OR owner_conversation = ?4) AND id > ?1 ORDER BY id LIMIT ?2";
    CONVERSATIONS_OF_TASK_DESC: FREE, "SELECT id, record FROM conversations WHERE owner_task = ?3
        AND (?4 IS NULL OR owner_conversation = ?4) AND id < ?1 ORDER BY id DESC LIMIT ?2";
    CONVERSATIONS_OF_OWNER_ASC: FREE, "SELECT id, record FROM conversations WHERE owner_conversation = ?3
        AND id > ?1 ORDER BY id LIMIT ?2";
    CONVERSATIONS_OF_OWNER_DESC: FREE, "SELECT id, record FROM conversations WHERE owner_conversation = ?3
        AND id < ?1 ORDER BY id DESC LIMIT ?2";
    INSERT_CONVERSATION: partial(1, &[3, 4]), "INSERT INTO conversations
        (id, parent, parent_at, owner_conversation, owner_task, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

    // ---- entries ----

    ENTRY: FREE, "SELECT id, chunks, record, seq, conversation FROM entries WHERE id = ?1";
    ENTRIES_ASC: FREE, "SELECT id, chunks, record FROM entries
        WHERE conversation = ?1 AND id >= ?2 AND id <= ?3 ORDER BY id LIMIT ?4";
    ENTRIES_DESC: FREE, "SELECT id, chunks, record FROM entries
        WHERE conversation = ?1 AND id >= ?2 AND id <= ?3 ORDER BY id DESC LIMIT ?4";
    NEWEST_HEAD: FREE, "SELECT id, chunks, record FROM entries
        WHERE conversation = ?1 AND head IS NOT NULL AND id <= ?2 ORDER BY id DESC LIMIT 1";
    INSERT_ENTRY: partial(2, &[2]), "INSERT INTO entries (id, conversation, head, seq, chunks, record)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

    // ---- tasks ----

    TASK: FREE, "SELECT id, chunks, record FROM tasks WHERE id = ?1";
    TASK_FACTS: FREE, "SELECT conversation, kind, ended, chunks FROM tasks WHERE id = ?1";
    TASKS_LIVE_ASC: FREE, "SELECT id, chunks, record FROM tasks WHERE ended = 0 AND id > ?1
        AND (?3 IS NULL OR conversation = ?3) AND (?4 IS NULL OR kind = ?4) AND (?5 IS NULL OR status = ?5)
        AND (?6 IS NULL OR abort_requested = ?6) AND (?7 IS NULL OR background = ?7) ORDER BY id LIMIT ?2";
    TASKS_LIVE_DESC: FREE, "SELECT id, chunks, record FROM tasks WHERE ended = 0 AND id < ?1
        AND (?3 IS NULL OR conversation = ?3) AND (?4 IS NULL OR kind = ?4) AND (?5 IS NULL OR status = ?5)
        AND (?6 IS NULL OR abort_requested = ?6) AND (?7 IS NULL OR background = ?7) ORDER BY id DESC LIMIT ?2";
    TASKS_ENDED_OF_KIND_ASC: FREE, "SELECT id, chunks, record FROM tasks WHERE ended = 1 AND kind = ?4 AND id > ?1
        AND (?3 IS NULL OR conversation = ?3)
        AND (?5 IS NULL OR abort_requested = ?5) AND (?6 IS NULL OR background = ?6) ORDER BY id LIMIT ?2";
    TASKS_ENDED_OF_KIND_DESC: FREE, "SELECT id, chunks, record FROM tasks WHERE ended = 1 AND kind = ?4 AND id < ?1
        AND (?3 IS NULL OR conversation = ?3)
        AND (?5 IS NULL OR abort_requested = ?5) AND (?6 IS NULL OR background = ?6) ORDER BY id DESC LIMIT ?2";
    /// Walks all tasks by id. A filter by conversation alone reads past the tasks of others: a row more per ended task
    /// would cost more than such a read does. The unary plus keeps the planner off the index by kind.
    TASKS_ENDED_ASC: FREE, "SELECT id, chunks, record FROM tasks WHERE +ended = 1 AND id > ?1
        AND (?3 IS NULL OR conversation = ?3)
        AND (?4 IS NULL OR abort_requested = ?4) AND (?5 IS NULL OR background = ?5) ORDER BY id LIMIT ?2";
    TASKS_ENDED_DESC: FREE, "SELECT id, chunks, record FROM tasks WHERE +ended = 1 AND id < ?1
        AND (?3 IS NULL OR conversation = ?3)
        AND (?4 IS NULL OR abort_requested = ?4) AND (?5 IS NULL OR background = ?5) ORDER BY id DESC LIMIT ?2";
    INSERT_TASK: rows(2), "INSERT INTO tasks (id, conversation, kind, status, abort_requested, background, ended,
        chunks, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    UPDATE_TASK: rows(1), "UPDATE tasks SET status = ?2, abort_requested = ?3, background = ?4, chunks = ?5,
        record = ?6 WHERE id = ?1";
    /// The update that ends a task, or revives it: only this one pays for an index.
    TURN_TASK: rows(2), "UPDATE tasks SET status = ?2, abort_requested = ?3, background = ?4, chunks = ?5,
        record = ?6, ended = ?7 WHERE id = ?1";

    // ---- submissions ----

    SUBMISSION: FREE, "SELECT id, chunks, record FROM submissions WHERE id = ?1";
    SUBMISSION_FACTS: FREE, "SELECT conversation, request, live, chunks FROM submissions WHERE id = ?1";
    SUBMISSION_BY_REQUEST: FREE, "SELECT id, chunks, record FROM submissions
        WHERE conversation = ?1 AND request = ?2";
    SUBMISSIONS_LIVE_ASC: FREE, "SELECT id, chunks, record FROM submissions WHERE live IS NOT NULL AND id > ?1
        AND (?3 IS NULL OR conversation = ?3) AND (?4 IS NULL OR status = ?4) ORDER BY id LIMIT ?2";
    SUBMISSIONS_LIVE_DESC: FREE, "SELECT id, chunks, record FROM submissions WHERE live IS NOT NULL AND id < ?1
        AND (?3 IS NULL OR conversation = ?3) AND (?4 IS NULL OR status = ?4) ORDER BY id DESC LIMIT ?2";
    /// Walks all submissions by id; there is one per input of a user, and no index row is spent on settled ones.
    SUBMISSIONS_ASC: FREE, "SELECT id, chunks, record FROM submissions WHERE id > ?1
        AND (?3 IS NULL OR conversation = ?3) AND (?4 IS NULL OR status = ?4) ORDER BY id LIMIT ?2";
    SUBMISSIONS_DESC: FREE, "SELECT id, chunks, record FROM submissions WHERE id < ?1
        AND (?3 IS NULL OR conversation = ?3) AND (?4 IS NULL OR status = ?4) ORDER BY id DESC LIMIT ?2";
    INSERT_SUBMISSION: partial(1, &[2, 4]), "INSERT INTO submissions
        (id, conversation, request, status, live, chunks, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    UPDATE_SUBMISSION: rows(1), "UPDATE submissions SET status = ?2, chunks = ?3, record = ?4 WHERE id = ?1";
    /// Settles a submission, or revives it. Leaving an index is free.
    TURN_SUBMISSION: partial(1, &[4]), "UPDATE submissions SET status = ?2, chunks = ?3, record = ?4, live = ?5
        WHERE id = ?1";

    // ---- documents ----

    DOCUMENT_AT_ADDRESS: FREE, "SELECT id, scope, owner, kind, key, history, fork, created, retired FROM documents
        WHERE scope = ?1 AND owner = ?2 AND kind = ?3 AND key IS ?4 AND retired IS NULL ORDER BY id DESC LIMIT 1";
    DOCUMENT_AT_ADDRESS_AT: FREE, "SELECT id, scope, owner, kind, key, history, fork, created, retired
        FROM documents WHERE scope = ?1 AND owner = ?2 AND kind = ?3 AND key IS ?4 AND created <= ?5
        AND (retired IS NULL OR retired > ?5) ORDER BY id DESC LIMIT 1";
    DOCUMENTS_IN_SCOPE: FREE, "SELECT id, scope, owner, kind, key, history, fork, created, retired FROM documents
        WHERE scope = ?1 AND owner = ?2 AND id > ?3 AND (?5 IS NULL OR kind = ?5) AND retired IS NULL
        ORDER BY id LIMIT ?4";
    DOCUMENTS_IN_SCOPE_AT: FREE, "SELECT id, scope, owner, kind, key, history, fork, created, retired
        FROM documents WHERE scope = ?1 AND owner = ?2 AND id > ?3 AND (?5 IS NULL OR kind = ?5)
        AND created <= ?6 AND (retired IS NULL OR retired > ?6) ORDER BY id LIMIT ?4";
    DOCUMENT: FREE, "SELECT id, scope, owner, kind, key, history, fork, created, retired, content FROM documents
        WHERE id = ?1";
    /// What a change must know: the record, the version of the newest base, and the row a delta would go to.
    DOCUMENT_TAIL: FREE, "SELECT id, scope, owner, kind, key, history, fork, created, retired, version, bytes,
        (SELECT seq FROM document_parts WHERE document = ?1 ORDER BY seq DESC LIMIT 1),
        (SELECT bytes FROM document_parts WHERE document = ?1 ORDER BY seq DESC LIMIT 1)
        FROM documents WHERE id = ?1";
    NEWEST_BASE_PART: FREE, "SELECT seq FROM document_parts WHERE document = ?1 AND seq <= ?2 AND base = 1
        ORDER BY seq DESC LIMIT 1";
    DOCUMENT_PARTS: FREE, "SELECT content FROM document_parts WHERE document = ?1 AND seq >= ?2 AND seq <= ?3
        ORDER BY seq";
    INSERT_DOCUMENT: rows(2), "INSERT INTO documents (id, scope, owner, kind, key, history, fork, created, retired,
        version, bytes, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    /// Appends in place: the text already there is neither read by us nor sent again.
    APPEND_TO_DOCUMENT: rows(1), "UPDATE documents SET content = content || ?2, bytes = bytes + ?3 WHERE id = ?1";
    REBASE_DOCUMENT: rows(1), "UPDATE documents SET version = ?2, bytes = ?3, content = ?4 WHERE id = ?1";
    SET_DOCUMENT_VERSION: rows(1), "UPDATE documents SET version = ?2 WHERE id = ?1";
    RETIRE_DOCUMENT: rows(1), "UPDATE documents SET retired = ?2 WHERE id = ?1";
    RETIRE_AND_CLEAR_DOCUMENT: rows(1), "UPDATE documents SET retired = ?2, bytes = 0, content = ''
        WHERE id = ?1";
    INSERT_PART: rows(1), "INSERT INTO document_parts (document, seq, base, bytes, content)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    APPEND_TO_PART: rows(1), "UPDATE document_parts SET content = content || ?3, bytes = bytes + ?4
        WHERE document = ?1 AND seq = ?2";
    DELETE_PARTS: rows(1), "DELETE FROM document_parts WHERE document = ?1";

    // ---- chunks ----

    CHUNKS: FREE, "SELECT data FROM chunks WHERE owner = ?1 AND slot = ?2 ORDER BY part";
    /// Overwrites in place: one row, where a delete and an insert would be two.
    PUT_CHUNK: rows(1), "INSERT INTO chunks (owner, slot, part, data) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (owner, slot, part) DO UPDATE SET data = excluded.data";
    DELETE_CHUNKS_FROM: rows(1), "DELETE FROM chunks WHERE owner = ?1 AND slot = ?2 AND part >= ?3";
    DELETE_CHUNKS_AFTER_SLOT: rows(1), "DELETE FROM chunks WHERE owner = ?1 AND slot > ?2";

    // ---- small commits ----

    /// [`INSERT_ENTRY`], [`UPDATE_TASK`] and [`APPEND_TO_DOCUMENT`] with their parameters in this order, each of them or
    /// NULLs.
    SMALL_COMMIT: triggered(&[0, 0, 2, 6, 12]), "INSERT INTO small_commits
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
}

/// What only the native driver says.
#[cfg(not(target_arch = "wasm32"))]
pub mod native {
    pub const BEGIN: &str = "BEGIN IMMEDIATE";
    pub const COMMIT: &str = "COMMIT";
    pub const ROLLBACK: &str = "ROLLBACK";
    pub const WAL: &str = "PRAGMA journal_mode = WAL";
    pub const SYNCHRONOUS_FULL: &str = "PRAGMA synchronous = FULL";
    pub const SYNCHRONOUS_NORMAL: &str = "PRAGMA synchronous = NORMAL";
    /// The objects of a database, for tests that look for traces.
    pub const COUNT_OBJECTS: &str = "SELECT count(*) FROM sqlite_master";
}
