use super::world::{Build, completed, id, ids, owned, task, with, world};
use crate::core::state::State;
use crate::core::waits::check as judge;
use crate::fault::WaitRejection;
use tidehold_session::records::JoinPolicy::{self, AllSettled, FailFast};

#[track_caller]
fn check(state: State, on: &[u64], policy: JoinPolicy, expected: Result<(), WaitRejection>) {
    let exists = |target| state.forest.node(target).is_some();
    assert_eq!(
        judge(&state, &state.forest, id(2), &ids(on), policy, exists),
        expected
    );
}

fn running(others: impl IntoIterator<Item = Build>) -> State {
    with(with(world(), [task(2).running()]), others)
}

#[test]
fn any_existing_task_may_be_awaited_fail_fast_only_owned_ones() {
    let state = || running([task(3).of(2), task(4), task(5).ended(completed())]);
    check(state(), &[3, 4, 5], AllSettled, Ok(()));
    check(state(), &[], FailFast, Ok(()));
    check(state(), &[3], FailFast, Ok(()));
    check(
        state(),
        &[3, 4],
        FailFast,
        Err(WaitRejection::ForeignFailFast(id(2), id(4))),
    );
    check(state(), &[3, 9], AllSettled, Err(WaitRejection::Missing(id(9))));
}

#[test]
fn cycles_are_named() {
    check(
        running([]),
        &[2],
        AllSettled,
        Err(WaitRejection::Cycle(ids(&[2, 2]))),
    );
    let mutual = running([
        task(3).waiting(&[4], AllSettled, None),
        task(4).waiting(&[2], AllSettled, None),
    ]);
    check(
        mutual,
        &[3],
        AllSettled,
        Err(WaitRejection::Cycle(ids(&[2, 3, 4, 2]))),
    );
    let message = WaitRejection::Cycle(ids(&[2, 3, 2])).to_string();
    assert_eq!(message, "waiting would close a cycle: 2 -> 3 -> 2");
}

#[test]
fn an_owner_that_holds_the_waiter_closes_a_cycle_unless_the_waiter_is_background() {
    let state = |waiter| with(owned(world(), 10, 3), [task(3).running(), waiter]);
    check(
        state(task(2).at(10).running()),
        &[3],
        AllSettled,
        Err(WaitRejection::Cycle(ids(&[2, 3, 2]))),
    );
    check(
        state(task(2).at(10).running().background()),
        &[3],
        AllSettled,
        Ok(()),
    );
}

#[test]
fn an_abort_mark_ends_a_wait_and_its_edges() {
    let state = running([task(3).waiting(&[2], AllSettled, None).marked()]);
    check(state, &[3], AllSettled, Ok(()));
}
