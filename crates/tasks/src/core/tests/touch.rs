use super::world::{Build, completed, failed, id, owned, task, with, world};
use crate::core::state::State;
use tidehold_session::records::JoinPolicy::{AllSettled, FailFast};

const MANY: u64 = 300;

/// An owner that waits for many children, one of which has an owned conversation with a task in it.
fn family() -> State {
    let children: Vec<u64> = (10..10 + MANY).collect();
    let state = owned(world(), 5_000, 10);
    let tasks = children.iter().map(|child| task(*child).of(2).running());
    let state = with(state, tasks.chain([task(2).waiting(&children, FailFast, None)]));
    with(
        state,
        [
            task(6_000).at(5_000).running(),
            task(7_000).waiting(&[2], AllSettled, None),
        ],
    )
}

/// How many tasks and conversations stand anew when these change.
#[track_caller]
fn check(state: &State, changes: impl IntoIterator<Item = Build>, expected: usize) -> State {
    let before = state.touched.stood;
    let after = with(state.clone(), changes);
    assert_eq!(after.touched.stood - before, expected);
    after
}

#[test]
fn a_change_touches_the_task_alone() {
    let state = family();
    check(&state, [task(20).of(2).running().poked()], 1);
    check(&state, [task(9_000)], 1);
    check(&state, [task(9_000), task(9_001).of(9_000)], 2);
}

#[test]
fn an_end_touches_nobody_while_others_are_left() {
    let state = family();
    let state = check(&state, [task(20).of(2).ended(completed())], 0);
    // Whoever waits for nothing else, and the owner that it held.
    let state = with(
        state,
        [
            task(8_000).waiting(&[21], AllSettled, None),
            task(21).of(2).running(),
        ],
    );
    check(&state, [task(21).of(2).ended(completed())], 1);
    check(&state, [task(6_000).at(5_000).ended(completed())], 1);
}

#[test]
fn the_last_end_touches_the_owner_that_it_held_and_those_that_waited() {
    let state = with(world(), [task(2).holding(completed()), task(3).of(2).running()]);
    let state = with(state, [task(4).waiting(&[3], AllSettled, None)]);
    check(&state, [task(3).of(2).ended(completed())], 2);
}

#[test]
fn the_first_failure_touches_the_members_and_the_next_does_not() {
    let state = check(&family(), [task(20).of(2).ended(failed())], MANY as usize);
    check(&state, [task(21).of(2).ended(failed())], 0);
}

#[test]
fn an_intent_touches_what_it_reaches_and_a_cascade_each_task_once() {
    let state = family();
    let marked = check(&state, [task(10).of(2).running().marked()], 3);
    assert!(marked.is_below_intent(id(6_000)));
    let children: Vec<u64> = (10..10 + MANY).collect();
    let owner = task(2).waiting(&children, FailFast, None).marked();
    let cascade = check(&state, [owner], 3 + MANY as usize);
    let tasks = children.iter().map(|child| task(*child).of(2).running().marked());
    let tasks = tasks.chain([task(6_000).at(5_000).running().marked()]);
    check(&cascade, tasks, 2 + MANY as usize);
}
