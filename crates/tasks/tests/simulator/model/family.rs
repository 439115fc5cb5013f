//! Who is above and below whom, followed edge by edge.

use super::{Inner, Reach};
use tidehold_session::ids::{ConversationId, TaskId};

impl Inner {
    pub(super) fn is_live(&self, id: TaskId) -> bool {
        self.tasks.get(&id).is_some_and(super::Known::is_live)
    }

    fn above(&self, id: TaskId) -> Option<TaskId> {
        let record = &self.tasks.get(&id)?.record;
        record
            .owner
            .or_else(|| self.rooms.get(&record.conversation_id).copied().flatten())
    }

    /// The owners whose ordinary owned work contains the task, nearest first.
    pub(super) fn owners(&self, id: TaskId) -> Vec<TaskId> {
        let mut owners = Vec::new();
        let mut at = id;
        while self.tasks.get(&at).is_some_and(|task| !task.record.background) {
            match self.above(at) {
                Some(above) => {
                    owners.push(above);
                    at = above;
                }
                None => break,
            }
        }
        owners
    }

    /// Live ordinary owned work of a task.
    pub(super) fn live_below(&self, owner: TaskId) -> Vec<TaskId> {
        let live = self.tasks.iter().filter(|(_, task)| task.is_live());
        live.map(|(id, _)| *id)
            .filter(|id| self.owners(*id).contains(&owner))
            .collect()
    }

    /// Whether a live ordinary owner has cancellation intent.
    pub(super) fn is_below_intent(&self, id: TaskId) -> bool {
        let cancels = |owner: &TaskId| {
            self.tasks
                .get(owner)
                .is_some_and(|task| task.record.cancels_below())
        };
        self.owners(id).iter().any(cancels)
    }

    /// Live tasks that a traversal from a conversation meets, from the top down.
    pub(super) fn reached(&self, from: ConversationId, reach: Reach) -> Vec<TaskId> {
        let (mut found, mut open) = (Vec::new(), vec![from]);
        while let Some(room) = open.pop() {
            let at_top = self.tasks.iter().filter(|(_, task)| {
                task.record.conversation_id == room
                    && task.record.owner.is_none()
                    && (reach == Reach::Everything || !task.record.background)
            });
            let mut tasks: Vec<TaskId> = at_top.map(|(id, _)| *id).collect();
            while let Some(id) = tasks.pop() {
                if self.is_live(id) {
                    found.push(id);
                }
                let owned = self
                    .tasks
                    .iter()
                    .filter(|(_, task)| task.record.owner == Some(id));
                tasks.extend(owned.map(|(id, _)| *id));
                let rooms = self.rooms.iter().filter(|(_, owner)| **owner == Some(id));
                open.extend(rooms.map(|(room, _)| *room));
            }
        }
        found
    }

    /// The same from every ownerless conversation, or from one.
    pub(super) fn is_idle(&self, conversation: Option<ConversationId>) -> bool {
        match conversation {
            Some(room) => self.reached(room, Reach::Foreground).is_empty(),
            None => {
                let mut roots = self.rooms.iter().filter(|(_, owner)| owner.is_none());
                roots.all(|(room, _)| self.reached(*room, Reach::Foreground).is_empty())
            }
        }
    }

    /// Whether `from` waits durably for `to`, or is held by it.
    pub(super) fn waits_for(&self, from: TaskId, to: TaskId) -> bool {
        let waits = self
            .tasks
            .get(&from)
            .is_some_and(|task| match &task.record.state {
                tidehold_session::records::TaskState::Waiting { on, .. } => {
                    !task.record.abort_requested && on.contains(&to)
                }
                _ => false,
            });
        waits || (self.is_live(to) && self.owners(to).contains(&from))
    }

    /// Whether a path of such edges leads from a live task back to it.
    pub(super) fn closes_a_cycle(&self, id: TaskId) -> bool {
        let live: Vec<TaskId> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.is_live())
            .map(|(id, _)| *id)
            .collect();
        let (mut seen, mut open) = (Vec::new(), vec![id]);
        while let Some(at) = open.pop() {
            for next in &live {
                if self.waits_for(at, *next) {
                    if *next == id {
                        return true;
                    }
                    if !seen.contains(next) {
                        seen.push(*next);
                        open.push(*next);
                    }
                }
            }
        }
        false
    }
}
