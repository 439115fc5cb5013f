//! The reads of a storage that answers them through another.

/// Implements every read of `Storage`: `|storage, read| inner` names the storage to ask for the read of this name, or
/// returns an error, when the read is first polled. What follows `then` happens between the answer and its delivery. The
/// caller imports the types.
#[doc(hidden)]
#[macro_export]
macro_rules! forward_reads {
    (|$storage:ident, $read:ident| $inner:expr) => {
        $crate::forward_reads!(|$storage, $read| $inner, then ());
    };
    (|$storage:ident, $read:ident| $inner:expr, then $after:expr) => {
        $crate::forward_reads! { @each |$storage, $read| $inner, $after;
            fn incarnation() -> Option<Text>;
            fn head() -> Option<Seq>;
            fn conversation(id: ConversationId) -> Option<ConversationRecord>;
            fn scan_conversations(query: &'a ConversationQuery, limit: usize, cursor: Option<&'a Cursor>)
                -> Page<ConversationRecord>;
            fn entry(id: EntryId) -> Option<StoredEntry>;
            fn visible_entry(conversation: ConversationId, id: EntryId) -> Option<StoredEntry>;
            fn find_latest_head_marker(conversation: ConversationId, at_or_before: Option<EntryId>)
                -> Option<HeadMarker>;
            fn scan_entries(query: &'a EntryQuery, limit: usize, cursor: Option<&'a Cursor>) -> Page<EntryRecord>;
            fn task(id: TaskId) -> Option<TaskRecord>;
            fn scan_tasks(query: &'a TaskQuery, limit: usize, cursor: Option<&'a Cursor>) -> Page<TaskRecord>;
            fn submission(id: SubmissionId) -> Option<SubmissionRecord>;
            fn scan_submissions(query: &'a SubmissionQuery, limit: usize, cursor: Option<&'a Cursor>)
                -> Page<SubmissionRecord>;
            fn submission_by_request(conversation: ConversationId, request_id: &'a str) -> Option<SubmissionRecord>;
            fn find_document(address: &'a DocumentAddress, at: Point) -> Option<DocumentRecord>;
            fn document(id: DocumentId, at: Point) -> Option<StoredDocument>;
            fn scan_documents(query: &'a DocumentQuery, limit: usize, cursor: Option<&'a Cursor>)
                -> Page<DocumentRecord>;
        }
    };
    (@each |$storage:ident, $read:ident| $inner:expr, $after:expr;) => {};
    (@each |$storage:ident, $read:ident| $inner:expr, $after:expr;
        fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty; $($rest:tt)*) => {
        fn $name<'a>(&'a self, $($arg: $type),*) -> StorageFuture<'a, $out> {
            Box::pin(async move {
                let ($storage, $read) = (self, stringify!($name));
                let inner = $inner;
                let answer = inner.$name($($arg),*).await;
                $after;
                answer
            })
        }
        $crate::forward_reads! { @each |$storage, $read| $inner, $after; $($rest)* }
    };
}

pub(crate) use forward_reads;
