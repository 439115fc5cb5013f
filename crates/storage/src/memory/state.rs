//! What the memory backend holds. Maps are keyed by the plain id, since all ids share one space.

use crate::batch::RecordType;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use tidehold_delta::Text;
use tidehold_session::documents::{DocumentAddress, DocumentRecord};
use tidehold_session::ids::{ConversationId, DocumentId, Seq};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::DocumentContent;

pub(super) struct State {
    pub(super) incarnation: Text,
    pub(super) next_id: u64,
    /// The newest commit.
    pub(super) head: Option<Seq>,
    /// The record type of every stored id.
    pub(super) owners: HashMap<u64, RecordType>,
    pub(super) conversations: BTreeMap<u64, Rc<ConversationRecord>>,
    pub(super) entries: BTreeMap<u64, (Rc<EntryRecord>, Seq)>,
    pub(super) entries_of: HashMap<ConversationId, BTreeSet<u64>>,
    pub(super) tasks: BTreeMap<u64, Rc<TaskRecord>>,
    pub(super) submissions: BTreeMap<u64, Rc<SubmissionRecord>>,
    pub(super) requests: HashMap<(ConversationId, Text), u64>,
    pub(super) documents: BTreeMap<u64, Document>,
    /// All incarnations of an address, in order of creation.
    pub(super) addresses: HashMap<DocumentAddress, Vec<DocumentId>>,
}

/// One incarnation. A current-only one keeps its newest base and what follows, a retired one of those nothing.
pub(super) struct Document {
    pub(super) record: DocumentRecord,
    /// Version of the newest base.
    pub(super) version: u32,
    pub(super) revisions: Vec<(Seq, DocumentContent)>,
}

impl State {
    pub(super) fn new(incarnation: Text) -> Self {
        Self {
            incarnation,
            // 1 is the root conversation's.
            next_id: 2,
            head: None,
            owners: HashMap::new(),
            conversations: BTreeMap::new(),
            entries: BTreeMap::new(),
            entries_of: HashMap::new(),
            tasks: BTreeMap::new(),
            submissions: BTreeMap::new(),
            requests: HashMap::new(),
            documents: BTreeMap::new(),
            addresses: HashMap::new(),
        }
    }

    /// The number of the next commit.
    pub(super) fn next_seq(&self) -> Seq {
        Seq(self.head.map_or(1, |head| head.0 + 1))
    }
}
