use super::world::{completed, id, task, world};
use crate::core::apply::{Assessment, Changes, Oracle, apply};
use crate::core::check::check;
use crate::core::forest::{Life, Place};
use crate::core::state::{Fit, Mode, State};
use crate::task::Wake;
use std::rc::Rc;
use tidehold_session::ids::{ConversationId, EntryId, Seq, SubmissionId};
use tidehold_session::publication::{Publication, TaskChange};
use tidehold_session::records::{InputStatus, SubmissionRecord, SubmissionState, TaskRecord};

fn publication(changes: impl IntoIterator<Item = (Option<TaskRecord>, TaskRecord)>) -> Publication {
    let change = |(before, after): (Option<TaskRecord>, TaskRecord)| TaskChange {
        before: before.map(Rc::new),
        after: Rc::new(after),
    };
    Publication {
        seq: Seq(1),
        conversations: Vec::new(),
        entries: Vec::new(),
        submissions: Vec::new(),
        tasks: changes.into_iter().map(change).collect(),
        documents: Vec::new(),
    }
}

fn take(state: &mut State, publication: &Publication, starting: bool) -> Changes {
    let oracle = Oracle {
        assess: &|_| Assessment {
            fit: Fit::Fits,
            wake: Some(Wake::Now),
        },
        starting: &|_| starting,
    };
    let changes = apply(state, publication, oracle);
    assert_eq!(check(state), Ok(()));
    changes
}

#[test]
fn a_reservation_starts_one_invocation_in_the_mode_of_its_mark() {
    let mut state = world();
    take(
        &mut state,
        &publication([(None, task(2).record), (None, task(3).marked().record)]),
        false,
    );
    let started = publication([
        (Some(task(2).record), task(2).running().record),
        (Some(task(3).marked().record), task(3).marked().running().record),
    ]);
    let changes = take(&mut state, &started, true);
    assert_eq!(changes.started, [(id(2), Mode::Run), (id(3), Mode::Abort)]);
    let again = take(
        &mut state,
        &publication([(Some(task(2).running().record), task(2).running().record)]),
        true,
    );
    assert_eq!(again.started, []);
}

#[test]
fn a_new_mark_signals_a_run_invocation_once() {
    let mut state = world();
    take(&mut state, &publication([(None, task(2).running().record)]), true);
    let marked = task(2).running().marked().record;
    let changes = take(
        &mut state,
        &publication([(Some(task(2).running().record), marked.clone())]),
        false,
    );
    assert_eq!(changes.aborted, [id(2)]);
    let changes = take(&mut state, &publication([(Some(marked.clone()), marked)]), false);
    assert_eq!(changes.aborted, []);
}

#[test]
fn an_ended_task_leaves_the_mirror_and_stays_in_the_forest() {
    let mut state = world();
    take(&mut state, &publication([(None, task(2).record)]), false);
    let changes = take(
        &mut state,
        &publication([(Some(task(2).record), task(2).ended(completed()).record)]),
        false,
    );
    assert_eq!(changes.ended.len(), 1);
    assert_eq!(state.live_count(), 0);
    assert_eq!(
        state.forest.node(id(2)).map(|node| node.life),
        Some(Life::Completed)
    );
}

#[test]
fn queued_inputs_are_noticed_and_documents_alone_change_no_decision() {
    let mut state = world();
    let mut queued = publication([]);
    let input = |status| SubmissionRecord {
        id: SubmissionId(5),
        conversation_id: ConversationId(1),
        request_id: None,
        content_hash: None,
        state: SubmissionState::Input(status),
    };
    queued.submissions.push(Rc::new(input(InputStatus::Queued)));
    assert!(take(&mut state, &queued, false).relevant);
    let conversation = Place::conversation(ConversationId(1));
    assert!(state.forest.is_pinned(conversation));
    let mut placed = publication([]);
    let status = InputStatus::Placed { entry: EntryId(6) };
    placed.submissions.push(Rc::new(input(status)));
    assert!(!take(&mut state, &placed, false).relevant);
    assert!(!state.forest.is_pinned(conversation), "known to be empty again");
    assert!(!take(&mut state, &publication([]), false).relevant);
}
