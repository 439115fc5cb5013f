use super::world::{Build, completed, id, ids, owned, task, with, world};
use crate::core::state::State;
use crate::core::waits::check as judge;
use crate::fault::WaitRejection;
use std::collections::BTreeSet;
use tidehold_session::ids::TaskId;
use tidehold_session::records::JoinPolicy::{self, AllSettled, FailFast};
use tidehold_session::records::TaskState;

#[track_caller]
fn check(state: State, on: &[u64], policy: JoinPolicy, expected: Result<(), WaitRejection>) {
    let exists = |target| state.forest.node(target).is_some();
    assert_eq!(
        judge(&state, state.forest.view(), id(2), &ids(on), policy, exists),
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
fn the_shortest_cycle_is_named() {
    // 2 -> 3 -> 4 -> 5 -> 2 and 2 -> 6 -> 5 -> 2, in both orders of the ids.
    for (long, short) in [([3, 4], 6), ([4, 5], 3)] {
        let [first, second] = long;
        let state = running([
            task(first).waiting(&[second], AllSettled, None),
            task(second).waiting(&[7], AllSettled, None),
            task(short).waiting(&[7], AllSettled, None),
            task(7).waiting(&[2], AllSettled, None),
        ]);
        let cycle = WaitRejection::Cycle(ids(&[2, short, 7, 2]));
        check(state, &[first, short], AllSettled, Err(cycle));
    }
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

/// The length of the shortest cycle that the wait would close.
fn shortest(state: &State, id: TaskId, on: &[TaskId]) -> Option<usize> {
    let (mut reached, mut length): (BTreeSet<TaskId>, _) = (on.iter().copied().collect(), 2);
    loop {
        if reached.contains(&id) {
            return Some(length);
        }
        let mut further = reached.clone();
        further.extend(reached.iter().flat_map(|task| edges(state, *task)));
        if further == reached {
            return None;
        }
        (reached, length) = (further, length + 1);
    }
}

/// What a task waits for and what holds it, by the words of the specification.
fn edges(state: &State, from: TaskId) -> Vec<TaskId> {
    let Some(record) = state.record(from) else {
        return Vec::new();
    };
    let mut edges: Vec<TaskId> = state.forest.live_below(from);
    if let TaskState::Waiting { on, .. } = &record.state
        && !record.abort_requested
    {
        edges.extend(on);
    }
    edges
}

/// A forest of 12 tasks in two levels of conversations, with random owners, waits and ends.
fn random_world(random: &mut impl FnMut(u64) -> u64) -> State {
    let mut state = world();
    for number in 2..=13 {
        let mut build = task(number);
        if number > 4 {
            let owner = 3 + random(number - 3);
            match random(3) {
                0 => {
                    build = build
                        .of(owner)
                        .at(state.forest.node(id(owner)).map_or(1, |n| n.conversation.0))
                }
                1 => {
                    state = owned(state, 100 + number, owner);
                    build = build.at(100 + number);
                    if random(3) == 0 {
                        build = build.background();
                    }
                }
                _ => {}
            }
        }
        build = match random(4) {
            0 => build.ended(completed()),
            1 => build.running(),
            _ => build.waiting(&[2 + random(12), 2 + random(12)], AllSettled, None),
        };
        if random(5) == 0 {
            build = build.marked();
        }
        state = with(state, [build]);
    }
    with(state, [])
}

#[test]
fn a_wait_is_refused_exactly_when_it_leads_back() {
    let mut seed = 1u64;
    let mut random = move |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let (mut cycles, mut fine) = (0, 0);
    for _ in 0..2_000 {
        let state = random_world(&mut random);
        let id = id(2 + random(12));
        if !state.is_live(id) {
            continue;
        }
        let on = ids(&[2 + random(12), 2 + random(12)]);
        match judge(&state, state.forest.view(), id, &on, AllSettled, |_| true) {
            Ok(()) => {
                assert_eq!(shortest(&state, id, &on), None, "{id} on {on:?}");
                fine += 1;
            }
            Err(WaitRejection::Cycle(path)) => {
                assert_eq!((path.first(), path.last()), (Some(&id), Some(&id)));
                assert_eq!(shortest(&state, id, &on), Some(path.len()), "{path:?}");
                assert!(on.contains(&path[1]));
                for step in path[1..].windows(2) {
                    assert!(edges(&state, step[0]).contains(&step[1]), "{path:?}");
                }
                cycles += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(cycles > 100 && fine > 100, "{cycles} {fine}");
}
