use super::world::{completed, ids, owned, task, with, world};
use crate::core::scope::{Boundaries, Start, is_idle, live_tasks, queued_conversations};
use crate::core::state::State;
use tidehold_session::ids::{ConversationId, SubmissionId};

fn tree() -> State {
    let state = owned(owned(owned(world(), 10, 2), 20, 4), 30, 6);
    let mut state = with(
        state,
        [
            task(2).ended(completed()),
            task(3).at(10).running(),
            task(4).at(10).background(),
            task(5).at(20),
            task(6).at(10).ended(completed()),
            task(7).at(30),
            task(8).of(3).at(10),
            task(9).at(2),
        ],
    );
    state.forest.insert_conversation(ConversationId(2), None);
    state
}

#[track_caller]
fn check(start: Start, boundaries: Boundaries, expected: &[u64]) {
    assert_eq!(live_tasks(&tree(), start, boundaries), ids(expected));
}

fn conversation(id: u64) -> Start {
    Start::Conversation(ConversationId(id))
}

#[test]
fn ordinary_traversal_passes_ended_owners_and_stops_at_background_tasks() {
    check(Start::Roots, Boundaries::Background, &[3, 7, 8, 9]);
    check(conversation(1), Boundaries::Background, &[3, 7, 8]);
    check(conversation(10), Boundaries::Background, &[3, 7, 8]);
    check(conversation(20), Boundaries::Background, &[5]);
    check(conversation(1), Boundaries::Ignored, &[3, 4, 5, 7, 8]);
}

#[test]
fn conversations_are_reached_the_same_way() {
    let mut state = tree();
    state.load_queue([1, 2, 20, 30].map(|id| (ConversationId(id), SubmissionId(id))));
    let queued = |boundaries| queued_conversations(&state, conversation(1), boundaries);
    assert_eq!(queued(Boundaries::Background), [ConversationId(30)]);
    assert_eq!(
        queued(Boundaries::Ignored),
        [ConversationId(20), ConversationId(30)]
    );
}

#[test]
fn a_chain_that_is_not_loaded_counts_as_busy() {
    let state = with(world(), [task(3).at(77)]);
    assert!(!is_idle(&state, conversation(5)));
    assert!(is_idle(&with(world(), [task(3).background()]), Start::Roots));
}
