//! The tasks of this Worker, a kind a file.

mod card;
mod node;
mod parked;
mod poison;
mod sleeper;
mod steps;

use crate::world::World;
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{FromJson, Json};
use tidehold_example_checkout::{Checkout, Payment};
use tidehold_session::ids::{ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::{Rejection, SessionError, Tx};
use tidehold_tasks::{Task, TaskOptions, TaskRegistry, create};

pub use node::Node;
pub use parked::{Parked, ParkedInput, Until};
pub use poison::Poison;
pub use sleeper::Sleeper;
pub use steps::Steps;

/// Every kind but the payments of a checkout, which only it creates.
#[derive(Clone, Copy, Debug, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    Sleeper,
    Node,
    Steps,
    Poison,
    Parked,
    Checkout,
}

/// One definition each.
pub struct Definitions {
    sleeper: Rc<Sleeper>,
    node: Rc<Node>,
    steps: Rc<Steps>,
    poison: Rc<Poison>,
    pub parked: Rc<Parked>,
    payment: Rc<Payment>,
    checkout: Rc<Checkout>,
}

impl Definitions {
    pub fn new(world: &World) -> Self {
        let payment = Rc::new(Payment::new(Rc::new(card::Bank(world.clone()))));
        Self {
            sleeper: Rc::new(Sleeper(world.clone())),
            node: Rc::new(Node(world.clone())),
            steps: Rc::new(Steps(world.clone())),
            poison: Rc::new(Poison(world.clone())),
            parked: Rc::new(Parked(world.clone())),
            checkout: Rc::new(Checkout::new(Rc::clone(&payment))),
            payment,
        }
    }

    pub fn install(&self, registry: &TaskRegistry) {
        registry.install(Rc::clone(&self.sleeper));
        registry.install(Rc::clone(&self.node));
        registry.install(Rc::clone(&self.steps));
        registry.install(Rc::clone(&self.poison));
        registry.install(Rc::clone(&self.parked));
        registry.install(Rc::clone(&self.payment));
        registry.install(Rc::clone(&self.checkout));
    }

    /// A task of the root conversation.
    pub async fn create(&self, tx: &Tx, kind: Kind, input: &Json) -> Result<TaskId, SessionError> {
        match kind {
            Kind::Sleeper => top(tx, self.sleeper.as_ref(), input).await,
            Kind::Node => top(tx, self.node.as_ref(), input).await,
            Kind::Steps => top(tx, self.steps.as_ref(), input).await,
            Kind::Poison => top(tx, self.poison.as_ref(), input).await,
            Kind::Parked => top(tx, self.parked.as_ref(), input).await,
            Kind::Checkout => top(tx, self.checkout.as_ref(), input).await,
        }
    }
}

async fn top<T: Task>(tx: &Tx, definition: &T, input: &Json) -> Result<TaskId, SessionError> {
    let input = input
        .to_typed()
        .map_err(|error| Rejection::Other(error.to_string()))?;
    let options = TaskOptions::in_conversation(ROOT_CONVERSATION_ID);
    Ok(create(tx, definition, &input, options).await?.id())
}
