//! What the test's operations do.

use crate::app::TasksSession;
use crate::definitions::{Kind, ParkedInput, Until};
use crate::world::World;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_durable_objects::app::OpenSession;
use tidehold_session::ids::{ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::storage::{ConversationQuery, TaskQuery};
use tidehold_session::{SessionError, Tx};
use tidehold_storage::sql::SqlDriver;
use tidehold_tasks::{TaskOptions, create as create_task};

/// Records of one page, and tasks of one commit.
const PAGE: usize = 500;

type Answer = Result<Json, SessionError>;

/// Breaks this opening, if the test told so before.
pub async fn fail_if_told(world: &World) {
    if world.take_fault("panic") {
        panic!("opened by a test that wants a panic");
    }
    if world.take_fault("trap") {
        // A trap: nothing of this instance runs again.
        std::process::abort();
    }
    if world.take_fault("abort") {
        world.end().await;
    }
    world.set_broken(world.take_fault("storage"));
}

pub fn note_open(world: &World, product: &OpenSession) {
    let scheduler = product.harness.scheduler();
    let opens = scheduler.opens_without_progress();
    world.note(TaskId(0), &format!("open {opens}"));
}

pub async fn create(session: &TasksSession, kind: Kind, input: Json) -> Answer {
    let definitions = Rc::clone(&session.definitions);
    let id = session
        .product
        .harness
        .session()
        .commit(async move |tx: Tx| {
            if tx.conversation(ROOT_CONVERSATION_ID).await?.is_none() {
                tx.create_root().await?;
            }
            definitions.create(&tx, kind, &input).await
        })
        .await?;
    session.product.harness.scheduler().resume_by_call();
    Ok(Json::from(id.0))
}

/// Runs them until they are parked.
pub async fn crowd(session: &TasksSession, tasks: u64) -> Answer {
    let answer = create(session, Kind::Parked, input(Until::Answer)).await?;
    let first = TaskId(answer.as_u64().unwrap());
    let mut left = tasks - 1;
    while left > 0 {
        let part = left.min(PAGE as u64);
        let parked = Rc::clone(&session.definitions.parked);
        session
            .product
            .harness
            .session()
            .commit(async move |tx: Tx| {
                for number in 0..part {
                    let until = match number % 3 {
                        0 => Until::Answer,
                        1 => Until::Task(first),
                        _ => Until::Passed(864_000_000),
                    };
                    let options = TaskOptions::in_conversation(ROOT_CONVERSATION_ID);
                    create_task(&tx, parked.as_ref(), &ParkedInput { until }, options).await?;
                }
                Ok::<_, SessionError>(())
            })
            .await?;
        left -= part;
    }
    Ok(answer)
}

fn input(until: Until) -> Json {
    Json::from_serialize(&ParkedInput { until }).unwrap()
}

/// The answer and the poke; what the test does in two commits the product does in one.
pub async fn answer(session: &TasksSession, task: TaskId) -> Answer {
    session.world.note(task, "answered");
    session
        .product
        .harness
        .scheduler()
        .poke(task)
        .await
        .map(Json::from)
}

pub async fn records(session: &TasksSession) -> Answer {
    let kernel = session.product.harness.session();
    let (mut tasks, mut cursor) = (Vec::new(), None);
    loop {
        let page = kernel
            .scan_tasks(&TaskQuery::default(), PAGE, cursor.as_ref())
            .await?;
        tasks.extend(page.items.iter().map(|task| Json::from_serialize(task).unwrap()));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let conversations = kernel
        .scan_conversations(&ConversationQuery::default(), PAGE, None)
        .await?;
    let conversations = conversations
        .items
        .iter()
        .map(|record| Json::from_serialize(record).unwrap());
    Ok(Json::object([
        ("tasks", Json::array(tasks)),
        ("conversations", Json::array(conversations)),
    ]))
}

pub fn meter(session: &TasksSession) -> Json {
    let (product, world) = (&session.product, &session.world);
    let scheduler = product.harness.scheduler();
    Json::object([
        ("opening", Json::from(session.opening)),
        (
            "live",
            Json::from(scheduler.live_tasks(ROOT_CONVERSATION_ID).len() as u64),
        ),
        ("opens", Json::from(u64::from(scheduler.opens_without_progress()))),
        ("alarm", product.alarm.stored().map_or(Json::Null, Json::from)),
        ("alarmsSet", Json::from(u64::from(world.alarms_set()))),
        ("alarmsDeleted", Json::from(u64::from(world.alarms_deleted()))),
        ("timers", Json::from(u64::from(world.timers()))),
        ("rows", Json::from(product.storage.driver().rows_written())),
    ])
}
