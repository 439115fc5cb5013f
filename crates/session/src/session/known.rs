//! What the session knows of its storage without asking: conversations that exist, and live tasks as it committed them.
//!
//! Only the line changes records, so what it committed is what is stored until it commits again. Nothing staged gets in
//! here, and nothing stays once the session failed.

use crate::ids::{ConversationId, TaskId};
use crate::limits::KNOWN;
use crate::publication::TaskChange;
use crate::records::{ConversationRecord, TaskRecord};
use std::rc::Rc;

/// Both lists forget their first when full: the conversation found, or the task committed, longest ago.
#[derive(Default)]
pub(crate) struct Known {
    conversations: Vec<ConversationId>,
    tasks: Vec<Rc<TaskRecord>>,
}

impl Known {
    /// Whether the conversation is known to exist. One that exists does so for ever.
    pub fn has_conversation(&self, id: ConversationId) -> bool {
        self.conversations.contains(&id)
    }

    /// A conversation was found or created.
    pub fn found(&mut self, id: ConversationId) {
        if self.has_conversation(id) {
            return;
        }
        if self.conversations.len() >= KNOWN {
            self.conversations.remove(0);
        }
        self.conversations.push(id);
    }

    /// The committed record of a live task.
    pub fn task(&self, id: TaskId) -> Option<&Rc<TaskRecord>> {
        self.tasks.iter().rev().find(|task| task.id == id)
    }

    /// These were committed.
    pub fn adopt(&mut self, conversations: &[Rc<ConversationRecord>], tasks: &[TaskChange]) {
        for record in conversations {
            self.found(record.id);
        }
        for TaskChange { after, .. } in tasks {
            if let Some(at) = self.tasks.iter().rposition(|task| task.id == after.id) {
                self.tasks.remove(at);
            } else if self.tasks.len() >= KNOWN {
                self.tasks.remove(0);
            }
            if after.is_live() {
                self.tasks.push(Rc::clone(after));
            }
        }
    }
}
