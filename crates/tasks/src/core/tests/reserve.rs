use super::world::{completed, id, owned, task, with, world};
use crate::core::reserve::Reservation::{self, Migrate, Orphan, Start};
use crate::core::reserve::reserve;
use crate::core::state::{Fit, Mode, State};
use crate::inspection::BlockedReason;
use crate::task::Wake;
use tidehold_delta::json;
use tidehold_session::records::JoinPolicy::AllSettled;

const NOW: u64 = 1_000;

#[track_caller]
fn check(state: State, expected: impl IntoIterator<Item = Reservation>) {
    assert_eq!(reserve(&state, NOW), expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn everything_eligible_starts_in_id_order() {
    let tree = [
        task(4),
        task(2).background(),
        task(3).running(),
        task(5).holding(completed()),
    ];
    check(
        with(world(), tree),
        [Start(id(2), Mode::Run), Start(id(4), Mode::Run)],
    );
}

#[test]
fn a_wait_ends_when_all_it_names_have_ended_or_its_time_has_come() {
    let tree = [
        task(2).running(),
        task(3).ended(completed()),
        task(4).waiting(&[2, 3], AllSettled, None),
        task(5).waiting(&[3], AllSettled, None),
        task(6).waiting(&[], AllSettled, None),
        task(7).waiting(&[2], AllSettled, Some(NOW)),
        task(8).waiting(&[2], AllSettled, Some(NOW + 1)),
        task(9).waiting(&[3], AllSettled, Some(NOW + 1)),
    ];
    let starts = [5, 6, 7, 9].map(|number| Start(id(number), Mode::Run));
    check(with(world(), tree), starts);
}

#[test]
fn an_empty_wait_with_a_time_is_a_sleep_that_a_poke_ends() {
    let tree = [
        task(2).waiting(&[], AllSettled, Some(NOW)),
        task(3).waiting(&[], AllSettled, Some(NOW + 1)),
        task(4).waiting(&[], AllSettled, Some(NOW + 1)).poked(),
    ];
    check(
        with(world(), tree),
        [Start(id(2), Mode::Run), Start(id(4), Mode::Run)],
    );
}

#[test]
fn parked_tasks_wait_for_their_wake() {
    let tree = [
        task(2).wake(Wake::At(NOW + 1)),
        task(3).wake(Wake::At(NOW)),
        task(4).recovered().wake(Wake::At(NOW + 1)).poked(),
        task(5).recovered().wake(Wake::External),
        task(6).recovered().wake(Wake::External).poked(),
        task(7).wake(Wake::External),
    ];
    check(
        with(world(), tree),
        [3, 4, 6, 7].map(|number| Start(id(number), Mode::Run)),
    );
}

#[test]
fn an_abort_handler_starts_at_once_when_nothing_is_below() {
    let tree = [
        task(2).marked().wake(Wake::External).recovered(),
        task(3).running(),
        task(4).marked().waiting(&[3], AllSettled, Some(NOW + 9)),
    ];
    check(
        with(world(), tree),
        [Start(id(2), Mode::Abort), Start(id(4), Mode::Abort)],
    );
}

#[test]
fn an_abort_handler_waits_for_ordinary_work_only() {
    let state = owned(world(), 10, 2);
    let held = [task(2).marked(), task(3).at(10).running().marked()];
    check(with(state.clone(), held), []);
    let free = [task(2).marked(), task(3).at(10).running().background()];
    check(with(state, free), [Start(id(2), Mode::Abort)]);
}

#[test]
fn no_run_phase_starts_below_an_intent_even_before_the_cascade() {
    check(with(world(), [task(2).running().marked(), task(3).of(2)]), []);
    check(
        with(world(), [task(2).holding(super::world::failed()), task(3).of(2)]),
        [],
    );
}

#[test]
fn blocked_tasks_stay_and_a_request_orphans_them_once_their_work_drained() {
    check(
        with(world(), [task(2).blocked(), task(3).blocked().restart_marked()]),
        [],
    );
    check(
        with(world(), [task(2).blocked().marked()]),
        [Orphan(id(2), BlockedReason::MissingTask)],
    );
    check(
        with(
            world(),
            [task(2).blocked().marked(), task(3).of(2).running().marked()],
        ),
        [],
    );
}

#[test]
fn migrations_are_tried_when_the_task_is_due() {
    let migrated = Fit::Migrated {
        version: 2,
        input: json!(1),
        checkpoint: json!({}),
    };
    let tree = [
        task(2).fit(Fit::Untried),
        task(3).fit(Fit::Untried).waiting(&[2], AllSettled, None),
        task(4).fit(migrated),
    ];
    check(with(world(), tree), [Migrate(id(2)), Start(id(4), Mode::Run)]);
}
