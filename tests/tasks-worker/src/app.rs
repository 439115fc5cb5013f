//! The session under test: the product's, with the tasks of this Worker.

use crate::definitions::{Definitions, Kind};
use crate::in_frame::product_request;
use crate::work;
use crate::world::{AheadHost, World};
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{FromJson, Json};
use tidehold_durable_objects::app::{OpenSession, SessionApp};
use tidehold_durable_objects::frame::{App, Platform, Reply, Request};
use tidehold_durable_objects::platform::timer::now;
use tidehold_durable_objects::protocol::{Code, Operation, OperationError};
use tidehold_session::SessionError;
use tidehold_session::ids::TaskId;

pub struct TasksApp;

/// What the test asks for.
#[derive(Clone, Debug, Serialize, FromJson)]
#[serde(tag = "name", rename_all = "camelCase")]
pub enum TasksOperation {
    /// A new task of the root conversation.
    Create { kind: Kind, input: Json },
    /// So many parked tasks: a third each for an answer, for one of those, and for ten days.
    Crowd { tasks: u64 },
    /// An answer to a parked task.
    Answer { task: TaskId },
    /// Asks for progress.
    Call,
    /// The next so many times something fails: `setAlarm`, or one of the ways in which an opening can.
    Break { what: String, times: u32 },
    /// Ends the object.
    End,
    /// Moves the clock ahead, for the next object.
    Ahead { days: u64 },
    /// Everything noted.
    Notes,
    /// The bank.
    Bank,
    /// Tasks and conversations as stored.
    Records,
    /// What this opening cost, and what it asked of the platform since.
    Meter,
    /// An operation of the product.
    Product { operation: Operation, body: String },
}

pub struct TasksSession {
    pub product: Rc<OpenSession>,
    pub world: World,
    pub definitions: Rc<Definitions>,
    /// Milliseconds that opening took.
    pub opening: u64,
}

impl App for TasksApp {
    type Operation = TasksOperation;
    type Session = TasksSession;

    async fn open(platform: Platform) -> Result<TasksSession, OperationError> {
        let world = World::of(&platform.state);
        work::fail_if_told(&world).await;
        let definitions = Rc::new(Definitions::new(&world));
        let host = Rc::new(AheadHost {
            inner: platform.host(),
            world: world.clone(),
        });
        let start = now();
        let product = OpenSession::open(platform, host, |registry| definitions.install(registry)).await;
        world.set_broken(false);
        let product = product?;
        let opening = now() - start;
        work::note_open(&world, &product);
        Ok(TasksSession {
            product: Rc::new(product),
            world,
            definitions,
            opening,
        })
    }

    async fn perform(
        session: Rc<TasksSession>,
        request: Request<TasksOperation>,
    ) -> Result<Reply, OperationError> {
        let answer = match request.call.operation.clone() {
            TasksOperation::Create { kind, input } => work::create(&session, kind, input).await,
            TasksOperation::Crowd { tasks } => work::crowd(&session, tasks).await,
            TasksOperation::Answer { task } => work::answer(&session, task).await,
            TasksOperation::Call => {
                session.product.harness.scheduler().resume_by_call();
                Ok(Json::Null)
            }
            TasksOperation::Break { what, times } => {
                session.world.break_it(&what, times);
                Ok(Json::Null)
            }
            TasksOperation::End => {
                session.world.end().await;
                Ok(Json::Null)
            }
            TasksOperation::Ahead { days } => {
                session.world.move_clock((days * 86_400_000) as f64);
                Ok(Json::Null)
            }
            TasksOperation::Notes => read(&session.world.notes()),
            TasksOperation::Bank => read(&session.world.bank()),
            TasksOperation::Records => work::records(&session).await,
            TasksOperation::Meter => Ok(work::meter(&session)),
            TasksOperation::Product { operation, body } => {
                let request = product_request(request.call, operation, body);
                return SessionApp::perform(Rc::clone(&session.product), request).await;
            }
        };
        answer
            .map(Reply::Json)
            .map_err(|error| OperationError::new(Code::Internal, error.to_string()))
    }

    async fn alarm(session: Rc<TasksSession>) -> Result<(), String> {
        session.world.note(TaskId(0), "alarm");
        SessionApp::alarm(Rc::clone(&session.product)).await
    }
}

fn read(text: &str) -> Result<Json, SessionError> {
    Json::parse(text, 128).map_err(|error| SessionError::Request(error.to_string()))
}
