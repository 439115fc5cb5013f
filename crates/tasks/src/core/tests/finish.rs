use super::world::{Build, completed, id, owned, task, with, world};
use crate::core::finish::ending;
use crate::core::forest::{Overlay, View};
use crate::core::state::State;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::{ConversationOwner, ConversationRecord, TaskState};

#[track_caller]
fn check(state: &State, staged: &[Build], conversations: &[ConversationRecord], held: bool) {
    let overlay = Overlay::new(staged.iter().map(|task| &task.record), conversations);
    let candidate = View::candidate(state.forest(), &overlay);
    let ending = ending(state, candidate, id(2), completed());
    assert_eq!(matches!(ending, TaskState::Completing { .. }), held, "{ending:?}");
}

#[test]
fn live_ordinary_work_holds() {
    let state = owned(world(), 10, 2);
    check(&with(state.clone(), [task(2).running()]), &[], &[], false);
    check(
        &with(state.clone(), [task(2).running(), task(3).of(2)]),
        &[],
        &[],
        true,
    );
    check(
        &with(state.clone(), [task(2).running(), task(3).at(10)]),
        &[],
        &[],
        true,
    );
    check(
        &with(state.clone(), [task(2).running(), task(3).at(10).background()]),
        &[],
        &[],
        false,
    );
    check(&with(state, [task(2).running(), task(3)]), &[], &[], false);
}

#[test]
fn work_that_the_finishing_commit_creates_holds_too() {
    let state = with(owned(world(), 10, 2), [task(2).running()]);
    check(&state, &[task(5).at(10)], &[], true);
    check(&state, &[task(5)], &[], false);
    let owner = Some(ConversationOwner {
        conversation_id: ConversationId(1),
        task_id: id(2),
    });
    let staged = ConversationRecord {
        id: ConversationId(20),
        parent: None,
        owner,
    };
    check(&state, &[task(5).at(20)], &[staged], true);
}

#[test]
fn work_below_an_ended_child_conversation_holds() {
    let state = owned(owned(world(), 10, 2), 20, 3);
    let tree = [
        task(2).running(),
        task(3).at(10).ended(completed()),
        task(4).at(20),
    ];
    check(&with(state, tree), &[], &[], true);
}
