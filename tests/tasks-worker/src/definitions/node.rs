//! A tree of tasks and conversations that does nothing until it is aborted, which takes every task a while.

use crate::world::World;
use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::ConversationOwnership;
use tidehold_tasks::{
    JoinPolicy, Next, Outcome, Running, Runtime, Task, TaskFault, TaskOptions, Wake, create,
};

pub struct Node(pub World);

#[derive(Clone, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct NodeInput {
    /// How many child tasks without anything below.
    #[serde(default)]
    leaves: u32,
    /// What is in each owned conversation.
    #[serde(default)]
    conversations: Vec<Vec<NodeInput>>,
    /// How long an abort takes at most, from task to task another part of it.
    abort_ms: Millis,
}

#[derive(Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum NodePhase {
    Start,
    /// Waits for its child tasks, or for nothing that ever comes.
    Stand,
}

impl Node {
    async fn grow(&self, runtime: &Runtime<Self>, input: NodeInput) -> Result<(), TaskFault> {
        let definition = Self(self.0.clone());
        runtime
            .commit(async move |tx, record| {
                let leaf = NodeInput {
                    leaves: 0,
                    conversations: Vec::new(),
                    abort_ms: input.abort_ms,
                };
                let mut on: Vec<TaskId> = Vec::new();
                for _ in 0..input.leaves {
                    let leaf = create(&tx, &definition, &leaf, TaskOptions::owned_by(record.id)).await?;
                    on.push(leaf.id());
                }
                for below in &input.conversations {
                    let owned = tx
                        .create_conversation(ConversationOwnership::Task(record.id))
                        .await?;
                    for node in below {
                        create(&tx, &definition, node, TaskOptions::in_conversation(owned.id)).await?;
                    }
                }
                let checkpoint = NodePhase::Stand;
                Ok(Some(if on.is_empty() {
                    Next::Continue(checkpoint)
                } else {
                    Next::Wait {
                        checkpoint,
                        on,
                        policy: JoinPolicy::AllSettled,
                        until: None,
                    }
                }))
            })
            .await
    }
}

impl Task for Node {
    const NAME: &'static str = "test.node";
    const VERSION: u32 = 1;
    type Input = NodeInput;
    type Checkpoint = NodePhase;
    type Outcome = ();

    fn initial(&self, _: &NodeInput) -> NodePhase {
        NodePhase::Start
    }

    fn wake(&self, checkpoint: &NodePhase) -> Wake {
        match checkpoint {
            NodePhase::Start => Wake::Now,
            NodePhase::Stand => Wake::External,
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        match task.checkpoint {
            NodePhase::Start => self.grow(&runtime, task.input).await,
            // Until the abort drops it.
            NodePhase::Stand => Err(TaskFault::Signalled(runtime.signal().aborted().await)),
        }
    }

    async fn abort(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let id = runtime.task_id();
        self.0.note(id, "abort begins");
        let part = 1 + id.0 % 8;
        runtime
            .sleep(runtime.now() + task.input.abort_ms * part / 8)
            .await?;
        let world = self.0.clone();
        runtime
            .commit(async move |_, _| {
                world.note(id, "aborted");
                Ok(Some(Next::Finish(Outcome::aborted())))
            })
            .await
    }
}
