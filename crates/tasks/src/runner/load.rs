//! Loading what the mirror misses. Owner edges and outcomes never change, so reading them needs no order; callers are on
//! the line, where the mirror itself stands still.

use super::Inner;
use crate::core::enter::Found;
use crate::core::forest::{Missing, Overlay, Reach, View, node_of};
use std::rc::Rc;
use tidehold_session::limits::SCAN_PAGE;
use tidehold_session::records::TaskRecord;
use tidehold_session::storage::{SubmissionQuery, SubmissionStatus};
use tidehold_session::{SessionError, Tx};

impl Inner {
    /// Loads until every decision can be made.
    pub(super) async fn load(&self) -> Result<(), SessionError> {
        let needs_queues = self.state.borrow().needs_queues();
        if needs_queues {
            self.load_queues().await?;
        }
        loop {
            let missing = self.state.borrow().first_missing();
            match missing {
                Some(edge) => self.load_one(edge).await?,
                None => return Ok(()),
            }
        }
    }

    /// The same for a transaction: also what is above the records it staged.
    pub(crate) async fn load_for(&self, tx: &Tx) -> Result<(), SessionError> {
        self.load().await?;
        let staged = tx.staged();
        let overlay = Overlay::new(&staged.tasks, staged.conversations.iter().map(Rc::as_ref));
        for task in &staged.tasks {
            loop {
                let missing = View::candidate(self.state.borrow().forest(), &overlay).missing(task.id);
                match missing {
                    Some(edge) => self.load_one(edge).await?,
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// What is above conversations with queued inputs, for a traversal that does not come from an intent.
    pub(super) async fn load_queue_owners(&self) -> Result<(), SessionError> {
        loop {
            let missing = self.state.borrow().forest().first_missing(Reach::Queued);
            match missing {
                Some(edge) => self.load_one(edge).await?,
                None => return Ok(()),
            }
        }
    }

    /// Takes note of an ended task that someone names: what ended before the open, or long ago, is not in the mirror.
    pub(crate) fn know_ended(&self, record: &TaskRecord) {
        let mut state = self.state.borrow_mut();
        if state.forest().node(record.id).is_none() {
            state.load(Missing::Task(record.id), Some(Found::Task(node_of(record))));
        }
    }

    async fn load_one(&self, edge: Missing) -> Result<(), SessionError> {
        let found = match edge {
            Missing::Conversation(id) => self.session.conversation(id).await?.map(|record| {
                let owner = record.owner.map(|owner| owner.task_id);
                Found::Conversation { owner }
            }),
            Missing::Task(id) => {
                let record = self.session.task(id).await?;
                record.map(|record| Found::Task(node_of(&record)))
            }
        };
        self.state.borrow_mut().load(edge, found);
        Ok(())
    }

    /// Conversations with queued inputs from before the open; later ones are published.
    pub(super) async fn load_queues(&self) -> Result<(), SessionError> {
        if self.state.borrow().has_loaded_queues() {
            return Ok(());
        }
        let query = SubmissionQuery {
            status: Some(SubmissionStatus::Queued),
            ..SubmissionQuery::default()
        };
        let mut cursor = None;
        loop {
            let page = self
                .session
                .scan_submissions(&query, SCAN_PAGE, cursor.as_ref())
                .await?;
            let inputs = page.items.iter().map(|item| (item.conversation_id, item.id));
            self.state.borrow_mut().load_queue(inputs);
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        self.state.borrow_mut().end_queue_load();
        Ok(())
    }
}
