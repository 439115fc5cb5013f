//! The transaction of one commit (spec 3.3 and 4): a cheap handle with interior state.
//!
//! It may be cloned and used concurrently inside the callback; once the callback settled every method answers
//! [`SessionError::Revoked`]. No borrow of the interior state is held across an `await`.

pub mod assembly;
mod create;
pub(crate) mod documents;
mod forks;
pub mod payloads;
mod reads;
mod submissions;

use crate::documents::DocumentAddress;
use crate::error::SessionError;
use crate::ids::{ConversationId, SubmissionId, TaskId};
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord, SubmissionSettlement, TaskRecord};
use crate::session::Inner;
use crate::tx::documents::{OpenDocument, Sealed};
use crate::tx::forks::Forks;
use litemap::LiteMap;
use std::cell::RefCell;
use std::rc::Rc;
use tidehold_delta::Text;

/// Handle of an open transaction. Valid until its commit callback settles.
#[derive(Clone)]
pub struct Tx(pub(crate) Rc<TxInner>);

pub(crate) struct TxInner {
    pub session: Rc<Inner>,
    /// Serializes document acquisition, so that the first acquisition of an address wins.
    pub acquisition: futures::lock::Mutex<()>,
    pub state: RefCell<TxState>,
}

#[derive(Default)]
pub(crate) struct TxState {
    pub sealed: bool,
    pub table_written: bool,
    pub pending: usize,
    /// Set by whoever hands the transaction on: the conversation new tasks default to.
    pub bound: Option<ConversationId>,
    /// Recorded on every appended entry.
    pub by_task: Option<TaskId>,
    pub conversations: Vec<Rc<ConversationRecord>>,
    pub entries: Vec<Rc<EntryRecord>>,
    pub tasks: LiteMap<TaskId, TaskCandidate>,
    /// Owners named by new tasks and conversations, judged on their final candidates.
    pub new_owners: Vec<OwnerClaim>,
    pub submissions: LiteMap<SubmissionId, SubmissionCandidate>,
    /// In the order of acquisition, so that batches are deterministic. Few, so they are searched.
    pub documents: Vec<(DocumentAddress, OpenDocument)>,
    pub retired: Vec<(DocumentAddress, OpenDocument)>,
    pub forks: Forks,
    /// The request id last looked up and not found. No other commit comes between, so that its submission need not ask again.
    pub free_request: Option<(ConversationId, Text)>,
    /// Addresses of copies that were retired before anyone read them.
    pub freed: Vec<DocumentAddress>,
    /// Why nothing of this can be committed, whatever the callback made of it.
    pub failed: Option<SessionError>,
}

pub(crate) struct TaskCandidate {
    pub before: Option<Rc<TaskRecord>>,
    pub after: TaskRecord,
}

/// A new record that names `owner`; `conversation` is checked for child tasks only.
pub(crate) struct OwnerClaim {
    pub owner: TaskId,
    pub kind: OwnerClaimKind,
}

pub(crate) enum OwnerClaimKind {
    ChildTask(TaskId),
    Conversation(ConversationId),
}

#[derive(Default)]
pub(crate) struct SubmissionCandidate {
    pub created: Option<SubmissionRecord>,
    pub transitions: Vec<SubmissionTransition>,
}

pub(crate) enum SubmissionTransition {
    Place(crate::ids::EntryId),
    Settle(SubmissionSettlement),
}

impl TxState {
    /// Whether this transaction retired the incarnation at the address.
    pub fn is_retired(&self, address: &DocumentAddress) -> bool {
        self.retired.iter().any(|(retired, _)| retired == address) || self.freed.contains(address)
    }

    /// Takes the acquired document from its address.
    pub fn take_document(&mut self, address: &DocumentAddress) -> Option<OpenDocument> {
        let at = self.documents.iter().position(|(known, _)| known == address)?;
        Some(self.documents.remove(at).1)
    }

    /// The acquired document at an address.
    pub fn document(&self, address: &DocumentAddress) -> Option<&OpenDocument> {
        let mut documents = self.documents.iter();
        documents
            .find(|(known, _)| known == address)
            .map(|(_, document)| document)
    }
}

/// What a transaction staged so far, for those who judge a commit by the records it would leave.
pub struct Staged {
    pub tasks: Vec<TaskRecord>,
    pub conversations: Vec<Rc<ConversationRecord>>,
}

impl Tx {
    /// The records staged so far.
    pub fn staged(&self) -> Staged {
        let state = self.0.state.borrow();
        Staged {
            tasks: state
                .tasks
                .values()
                .map(|candidate| candidate.after.clone())
                .collect(),
            conversations: state.conversations.clone(),
        }
    }

    pub(crate) fn new(session: Rc<Inner>) -> Self {
        Self(Rc::new(TxInner {
            session,
            acquisition: Default::default(),
            state: RefCell::default(),
        }))
    }

    /// Binds the conversation that new tasks default to.
    pub fn bind(&self, conversation: ConversationId) {
        self.0.state.borrow_mut().bound = Some(conversation);
    }

    /// Records `task` on every entry appended from here on.
    pub fn attribute_to(&self, task: TaskId) {
        self.0.state.borrow_mut().by_task = Some(task);
    }

    /// Wall clock of the session's host.
    pub fn now(&self) -> crate::host::Millis {
        self.0.session.host.now()
    }

    /// The platform under this session, for random names.
    pub fn host(&self) -> &Rc<dyn crate::host::Host> {
        &self.0.session.host
    }

    /// Revokes the handles. What was acquired is out of the callback's reach at once: prepared or dropped by whoever seals.
    pub(crate) fn seal(&self) -> Sealed {
        let mut state = self.0.state.borrow_mut();
        state.sealed = true;
        let mut documents = std::mem::take(&mut state.retired);
        documents.append(&mut state.documents);
        Sealed {
            pending: state.pending > 0,
            failed: state.failed.take(),
            documents,
        }
    }

    pub(crate) fn open(&self) -> Result<(), SessionError> {
        if self.0.state.borrow().sealed {
            Err(SessionError::Revoked)
        } else {
            Ok(())
        }
    }

    /// Admits a table read: open, and no table written yet.
    pub(crate) fn table_read(&self, method: &'static str) -> Result<(), SessionError> {
        self.open()?;
        if self.0.state.borrow().table_written {
            Err(SessionError::ReadAfterWrite(method))
        } else {
            Ok(())
        }
    }

    /// Admits a table write and closes the door for reads.
    pub(crate) fn table_write(&self) -> Result<(), SessionError> {
        self.open()?;
        self.0.state.borrow_mut().table_written = true;
        Ok(())
    }
}
