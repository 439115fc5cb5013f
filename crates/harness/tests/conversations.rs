//! Opening, the root, and what new conversations start with, those of tasks too (spec 2.2).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use support::Bench;
use tidehold_delta::{Json, json};
use tidehold_harness::agent::{AgentChange, Field};
use tidehold_harness::docs::{AGENT, INBOX, LIVE, PROVIDER, USAGE};
use tidehold_session::SessionError;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID as ROOT, Seq};
use tidehold_session::records::{ConversationOwnership, TaskCreate, TaskOwnership};

fn head(bench: &mut Bench) -> Option<Seq> {
    bench.run(async |harness| harness.session().head().await).unwrap()
}

fn instructed(text: &str) -> AgentChange {
    AgentChange {
        instructions: Field::Set(text.into()),
        cwd: Field::Set("/work".into()),
        ..AgentChange::default()
    }
}

fn agent(bench: &mut Bench, conversation: ConversationId) -> Json {
    let agent = bench.run(async move |harness| harness.session().snapshot(&AGENT, conversation).await);
    agent.unwrap().unwrap()
}

fn provider(bench: &mut Bench, conversation: ConversationId) -> Json {
    let stored = bench.run(async move |harness| harness.session().snapshot(&PROVIDER, conversation).await);
    stored.unwrap().unwrap().get("sessionId").cloned().unwrap()
}

/// A task of the conversation that nobody runs.
fn owner(conversation: ConversationId) -> TaskCreate {
    TaskCreate {
        kind: "test.owner".into(),
        version: 1,
        input: Json::Null,
        checkpoint: json!({ "phase": "only" }),
        ownership: TaskOwnership::Conversation,
        conversation_id: Some(conversation),
        background: false,
        abandon_on_restart: false,
    }
}

/// A conversation owned by a task of `above`.
fn owned(bench: &mut Bench, above: ConversationId) -> ConversationId {
    bench.run(async move |harness| {
        let created = harness.session().commit(async move |tx| {
            let task = tx.create_task(owner(above)).await?;
            let record = tx.create_conversation(ConversationOwnership::Task(task)).await?;
            Ok::<_, SessionError>(record.id)
        });
        created.await.unwrap()
    })
}

#[test]
fn opening_an_empty_storage_commits_nothing() {
    let mut bench = Bench::new();
    assert_eq!(head(&mut bench), None);
    assert_eq!(bench.alarm.0.get(), None);
    let mut bench = bench.crash();
    assert_eq!(head(&mut bench), None);
}

#[test]
fn the_root_is_one_commit_with_its_documents_and_found_again() {
    let mut bench = Bench::new();
    let root = bench
        .run(async |harness| harness.root(instructed("first")).await)
        .unwrap();
    assert_eq!(root.id, ROOT);
    let created = head(&mut bench);
    for document in [&LIVE, &INBOX, &USAGE, &PROVIDER, &AGENT] {
        let found = bench.run(async move |harness| harness.session().snapshot(document, ROOT).await);
        assert!(found.unwrap().is_some());
    }
    let publications = std::rc::Rc::new(std::cell::Cell::new(0));
    let seen = publications.clone();
    let _subscription = bench
        .harness
        .session()
        .subscribe_commits(move |_| seen.set(seen.get() + 1));
    bench
        .run(async |harness| harness.root(instructed("second")).await)
        .unwrap();
    assert_eq!((head(&mut bench), publications.get()), (created, 0), "no write");
    let mut bench = bench.crash();
    assert_eq!(agent(&mut bench, ROOT).get("instructions"), Some(&json!("first")));
    let absent = bench.run(async |harness| harness.conversation(ConversationId(999)).await);
    assert_eq!(absent.unwrap(), None);
}

#[test]
fn a_conversation_of_a_task_starts_with_the_agent_of_its_owners_conversation() {
    let mut bench = Bench::new();
    bench
        .run(async |harness| harness.root(instructed("of the root")).await)
        .unwrap();
    let child = owned(&mut bench, ROOT);
    let grandchild = owned(&mut bench, child);
    let stored = json!({ "instructions": "of the root", "cwd": "/work" });
    assert_eq!(
        (agent(&mut bench, child), agent(&mut bench, grandchild)),
        (stored.clone(), stored.clone())
    );
    bench
        .run(async |harness| harness.configure(ROOT, instructed("later")).await)
        .unwrap();
    assert_eq!(agent(&mut bench, child), stored, "later changes do not reach it");
    let ownerless = bench.run(async |harness| harness.create_conversation(AgentChange::default()).await);
    assert_eq!(agent(&mut bench, ownerless.unwrap().id), json!({}));
}

#[test]
fn every_conversation_has_an_identity_of_its_own_for_providers_and_keeps_it() {
    let mut bench = Bench::new();
    bench
        .run(async |harness| harness.root(AgentChange::default()).await)
        .unwrap();
    let child = owned(&mut bench, ROOT);
    let ids = [provider(&mut bench, ROOT), provider(&mut bench, child)];
    assert_ne!(ids[0], ids[1]);
    assert_eq!(ids[0].as_str().unwrap().chars().nth(14), Some('7'), "{}", ids[0]);
    bench.settle("hello");
    bench
        .run(async |harness| harness.reset(ROOT, None).await)
        .unwrap();
    let mut bench = bench.crash();
    assert_eq!([provider(&mut bench, ROOT), provider(&mut bench, child)], ids);
}
