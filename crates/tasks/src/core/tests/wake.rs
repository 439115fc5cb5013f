use super::world::{completed, failed, owned, task, with, world};
use crate::core::invariant;
use crate::core::plan::{Due, due};
use crate::core::state::{Stage, State};
use crate::core::wake::{AlarmInputs, alarm};
use crate::task::Wake;
use tidehold_session::records::JoinPolicy::AllSettled;

const NOW: u64 = 100_000;
const WATCHDOG: u64 = 10_000;
const INPUTS: AlarmInputs = AlarmInputs {
    now: NOW,
    armed: None,
    watchdog: WATCHDOG,
    opens: 0,
    scheduling: true,
};

/// The alarm of a state, which must also satisfy the invariant as stated on its own.
#[track_caller]
fn check(state: State, expected: Option<u64>) {
    let inputs = AlarmInputs {
        opens: state.opens,
        scheduling: state.is_scheduling(),
        ..INPUTS
    };
    let at = alarm(due(&state, NOW), inputs);
    assert_eq!(at, expected);
    assert_eq!(invariant::check(&state, at, NOW), Ok(()));
}

#[test]
fn idle_sets_no_alarm() {
    check(world(), None);
}

#[test]
fn running_and_ready_work_keeps_the_watchdog_ahead() {
    check(with(world(), [task(2).running()]), Some(NOW + WATCHDOG));
    check(with(world(), [task(2)]), Some(NOW + WATCHDOG));
}

#[test]
fn parked_work_wakes_at_its_time_or_not_at_all() {
    check(
        with(world(), [task(2).running().wake(Wake::At(NOW + 77))]),
        Some(NOW + 77),
    );
    check(
        with(world(), [task(2).recovered().wake(Wake::At(NOW + 77))]),
        Some(NOW + 77),
    );
    check(
        with(world(), [task(2).running().wake(Wake::At(NOW - 77))]),
        Some(NOW + WATCHDOG),
    );
    check(with(world(), [task(2).running().wake(Wake::External)]), None);
    check(with(world(), [task(2).recovered().wake(Wake::External)]), None);
    check(
        with(world(), [task(2).running().wake(Wake::External).poked()]),
        Some(NOW + WATCHDOG),
    );
    check(
        with(world(), [task(2).running().wake(Wake::At(NOW + 77)).poked()]),
        Some(NOW + 77),
    );
    check(
        with(world(), [task(2).wake(Wake::External)]),
        Some(NOW + WATCHDOG),
    );
    check(with(world(), [task(2).blocked()]), None);
}

#[test]
fn the_earliest_time_wins() {
    let tree = [
        task(2).running(),
        task(3).wake(Wake::At(NOW + 500)),
        task(4).wake(Wake::At(NOW + 700)),
    ];
    check(with(world(), tree), Some(NOW + 500));
    check(
        with(world(), [task(2).running(), task(3).wake(Wake::At(NOW + 60_000))]),
        Some(NOW + WATCHDOG),
    );
}

#[test]
fn waiting_and_held_tasks_rely_on_what_they_wait_for() {
    let external = || task(3).of(2).running().wake(Wake::External);
    check(
        with(world(), [task(2).waiting(&[3], AllSettled, None), external()]),
        None,
    );
    check(
        with(
            world(),
            [task(2).waiting(&[3], AllSettled, Some(NOW + 5)), external()],
        ),
        Some(NOW + 5),
    );
    check(with(world(), [task(2).holding(completed()), external()]), None);
    check(
        with(world(), [task(2).holding(completed())]),
        Some(NOW + WATCHDOG),
    );
    check(
        with(world(), [task(2).waiting(&[], AllSettled, None)]),
        Some(NOW + WATCHDOG),
    );
}

#[test]
fn an_intent_that_has_not_cascaded_yet_is_work() {
    let parked = || task(3).of(2).recovered().wake(Wake::External);
    check(
        with(world(), [task(2).holding(failed()), parked()]),
        Some(NOW + WATCHDOG),
    );
    check(
        with(world(), [task(2).marked(), parked().marked()]),
        Some(NOW + WATCHDOG),
    );
}

#[test]
fn a_marked_task_over_parked_background_work_wakes_for_itself() {
    let state = owned(world(), 10, 2);
    let tree = [
        task(2).marked(),
        task(3).at(10).background().recovered().wake(Wake::External),
    ];
    check(with(state, tree), Some(NOW + WATCHDOG));
}

#[test]
fn a_paused_session_wakes_at_once_and_backs_off_from_the_third_open() {
    let paused = |opens, tasks: [_; 1]| {
        with(
            State {
                stage: Stage::Paused,
                opens,
                ..world()
            },
            tasks,
        )
    };
    check(paused(1, [task(2)]), Some(NOW));
    check(paused(2, [task(2)]), Some(NOW));
    check(paused(3, [task(2)]), Some(NOW + 2 * WATCHDOG));
    check(paused(4, [task(2)]), Some(NOW + 4 * WATCHDOG));
    check(paused(40, [task(2)]), Some(NOW + 3_600_000));
    check(
        paused(40, [task(2).recovered().wake(Wake::At(NOW + 9))]),
        Some(NOW + 9),
    );
    check(paused(40, [task(2).recovered().wake(Wake::External)]), None);
    check(paused(0, [task(2).abandoned().wake(Wake::External)]), Some(NOW));
}

#[test]
fn the_armed_watchdog_serves_until_half_its_distance() {
    let busy = Due { now: true, at: None };
    let at = |armed, now| alarm(busy, AlarmInputs { armed, now, ..INPUTS });
    assert_eq!(at(Some(NOW + WATCHDOG), NOW), Some(NOW + WATCHDOG));
    assert_eq!(at(Some(NOW + WATCHDOG), NOW + 5_000), Some(NOW + WATCHDOG));
    assert_eq!(
        at(Some(NOW + WATCHDOG), NOW + 5_001),
        Some(NOW + 5_001 + WATCHDOG)
    );
    assert_eq!(at(Some(NOW + WATCHDOG + 1), NOW), Some(NOW + WATCHDOG));
    assert_eq!(at(None, NOW), Some(NOW + WATCHDOG));
    let sooner = Due {
        now: true,
        at: Some(NOW + 6_000),
    };
    let armed = AlarmInputs {
        armed: Some(NOW + WATCHDOG),
        ..INPUTS
    };
    assert_eq!(alarm(sooner, armed), Some(NOW + 6_000));
}
