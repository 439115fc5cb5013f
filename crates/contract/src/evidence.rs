//! Finding runs and reading what is known of them. Reads only: nothing here lets a session make progress.

use crate::run::{self, Child, RunInput};
use crate::run_id;
use crate::standing::{Standing, child_of, of_record};
use std::collections::HashSet;
use tidehold_delta::Text;
use tidehold_harness::Harness;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::TaskRecord;
use tidehold_session::storage::{ConversationQuery, Cursor, Page, ScanOrder, SubmissionQuery, TaskQuery};
use tidehold_session::{Rejection, SessionError};
use tidehold_tasks::TaskInspectionState;

/// A run of this session.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub id: Text,
    pub input: RunInput,
    pub record: TaskRecord,
    pub standing: Standing,
}

/// Reads the runs of one open session, as of now.
pub(crate) struct Runs<'a> {
    pub harness: &'a Harness,
    /// Random name of the session's lifetime; empty before its first commit, when it has no runs.
    pub incarnation: Text,
    blocked: Blocked,
}

/// Live tasks that nothing installed can continue, and their conversations.
struct Blocked {
    tasks: HashSet<TaskId>,
    conversations: HashSet<ConversationId>,
}

impl<'a> Runs<'a> {
    pub async fn of(harness: &'a Harness) -> Result<Self, SessionError> {
        let incarnation = harness
            .session()
            .incarnation()
            .await?
            .unwrap_or_else(|| "".into());
        let inspected = harness.scheduler().inspect();
        let blocked = inspected
            .iter()
            .filter(|task| matches!(task.state, TaskInspectionState::Blocked { .. }));
        let (tasks, conversations) = blocked
            .map(|task| (task.record.id, task.record.conversation_id))
            .unzip();
        Ok(Self {
            harness,
            incarnation,
            blocked: Blocked { tasks, conversations },
        })
    }

    /// The run of this id. Whatever the id is, one record is looked up and one digest computed, so that unknown, foreign
    /// and pruned runs cost and answer the same.
    pub async fn find(&self, id: &str) -> Result<Option<Found>, SessionError> {
        let claimed = run_id::claimed_task(id);
        let record = self.harness.session().task(claimed).await?;
        let own = run_id::of_task(claimed, &self.incarnation) == id;
        Ok(record
            .filter(|record| own && &*record.kind == run::KIND)
            .map(|record| self.found(record)))
    }

    /// The run of an anchor that is known to exist.
    pub async fn expect(&self, anchor: TaskId) -> Result<Found, SessionError> {
        let record = self
            .harness
            .session()
            .task(anchor)
            .await?
            .ok_or(Rejection::MissingTask(anchor))?;
        Ok(self.found(record))
    }

    /// Runs, newest first.
    pub async fn page(&self, limit: usize, cursor: Option<&Cursor>) -> Result<Page<Found>, SessionError> {
        let query = TaskQuery {
            kind: Some(run::KIND.into()),
            order: Some(ScanOrder::Descending),
            ..TaskQuery::default()
        };
        let page = self.harness.session().scan_tasks(&query, limit, cursor).await?;
        Ok(Page {
            items: page.items.into_iter().map(|record| self.found(record)).collect(),
            next: page.next,
        })
    }

    fn found(&self, record: TaskRecord) -> Found {
        let blocked = self.is_blocked(&record);
        Found {
            id: run_id::of_task(record.id, &self.incarnation).into(),
            // A record of another version still has its row.
            input: record.input.to_typed().unwrap_or_default(),
            standing: of_record(&record, blocked),
            record,
        }
    }

    /// Whether nothing installed can bring the run to its end: also while its child still works, which the inspection of a
    /// waiting task does not show.
    fn is_blocked(&self, record: &TaskRecord) -> bool {
        let installed = self.harness.scheduler().registry().version(run::KIND);
        let child_blocked = |child: Child| self.blocked.conversations.contains(&child.conversation);
        installed.is_none_or(|installed| installed < record.version)
            || self.blocked.tasks.contains(&record.id)
            || child_of(record).is_some_and(child_blocked)
    }

    /// The child of a run. An outcome that the scheduler wrote does not name it, but the child names its owner.
    pub async fn child(&self, run: &Found) -> Result<Option<Child>, SessionError> {
        if let Some(child) = child_of(&run.record) {
            return Ok(Some(child));
        }
        let session = self.harness.session();
        let owned = ConversationQuery {
            owner_task_id: Some(run.record.id),
            ..ConversationQuery::default()
        };
        let Some(conversation) = session.scan_conversations(&owned, 1, None).await?.items.pop() else {
            return Ok(None);
        };
        let first = SubmissionQuery {
            conversation_id: Some(conversation.id),
            ..SubmissionQuery::default()
        };
        let submission = session.scan_submissions(&first, 1, None).await?.items.pop();
        Ok(submission.map(|submission| Child {
            conversation: conversation.id,
            submission: submission.id,
        }))
    }
}
