use super::world::{completed, task};
use crate::core::state::Mode;
use crate::core::step::{Returned, Surroundings, Verdict, step};
use tidehold_delta::{Json, json};
use tidehold_session::records::{JoinPolicy, TaskState};

const RUN: Surroundings = Surroundings {
    mode: Mode::Run,
    closing: false,
    below_intent: false,
    may_hand_over: false,
};
const ABORT: Surroundings = Surroundings {
    mode: Mode::Abort,
    ..RUN
};

fn unchanged() -> Json {
    json!({ "phase": "first" })
}

fn earlier() -> Json {
    json!({ "phase": "zeroth" })
}

#[track_caller]
fn check(
    task: super::world::Build,
    around: Surroundings,
    past: Option<(Option<&str>, &Json)>,
    expected: Verdict,
) {
    let returned = past.map(|(error, checkpoint)| Returned { error, checkpoint });
    assert_eq!(step(&task.record, around, returned), expected);
}

#[test]
fn rule_1_what_is_no_longer_running_stops_before_any_fault() {
    let checkpoint = unchanged();
    let past = Some((Some("boom"), &checkpoint));
    check(task(2).ended(completed()), RUN, past, Verdict::Stop);
    check(task(2).holding(completed()), RUN, past, Verdict::Stop);
    check(
        task(2).waiting(&[], JoinPolicy::AllSettled, None),
        RUN,
        past,
        Verdict::Stop,
    );
    check(task(2).ended(completed()), ABORT, past, Verdict::Stop);
}

#[test]
fn rule_2_a_closing_session_goes_on_with_nothing() {
    let closing = |around| Surroundings {
        closing: true,
        ..around
    };
    let hand_over = Surroundings {
        may_hand_over: true,
        ..RUN
    };
    for around in [RUN, hand_over, ABORT] {
        let task = || task(2).running();
        check(task(), closing(around), None, Verdict::Stop);
        check(task(), closing(around), Some((None, &earlier())), Verdict::Stop);
        check(task(), closing(around), Some((None, &unchanged())), Verdict::Stop);
        check(
            task(),
            closing(around),
            Some((Some("boom"), &earlier())),
            Verdict::Stop,
        );
    }
}

#[test]
fn rule_3_an_abort_mark_beats_an_error() {
    let checkpoint = unchanged();
    check(
        task(2).running().marked(),
        RUN,
        Some((Some("boom"), &checkpoint)),
        Verdict::Stop,
    );
    check(task(2).running().marked(), RUN, None, Verdict::Stop);
    let below = Surroundings {
        below_intent: true,
        ..RUN
    };
    check(task(2).running(), below, Some((None, &earlier())), Verdict::Stop);
    check(task(2).running().marked(), ABORT, None, Verdict::Go);
}

#[test]
fn rule_4_an_uncaught_error_faults() {
    check(
        task(2).running(),
        RUN,
        Some((Some("boom"), &earlier())),
        Verdict::Fault("boom".into()),
    );
    check(
        task(2).running().marked(),
        ABORT,
        Some((Some("boom"), &earlier())),
        Verdict::Fault("boom".into()),
    );
}

#[test]
fn rule_5_progress_goes_on_or_hands_over() {
    let hand_over = Surroundings {
        may_hand_over: true,
        ..RUN
    };
    check(task(2).running(), RUN, None, Verdict::Go);
    check(task(2).running(), RUN, Some((None, &earlier())), Verdict::Go);
    check(
        task(2).running(),
        hand_over,
        Some((None, &earlier())),
        Verdict::HandOver,
    );
}

#[test]
fn rule_6_no_progress_faults_and_key_order_is_no_progress() {
    let text = "task kind returned from phase first without durable progress";
    let hand_over = Surroundings {
        may_hand_over: true,
        ..RUN
    };
    check(
        task(2).running(),
        hand_over,
        Some((None, &unchanged())),
        Verdict::Fault(text.into()),
    );
    let two_keys = TaskState::Running {
        checkpoint: json!({ "phase": "first", "n": 1 }),
    };
    let reordered = json!({ "n": 1, "phase": "first" });
    check(
        task(2).running().state(two_keys),
        RUN,
        Some((None, &reordered)),
        Verdict::Fault(text.into()),
    );
}

#[test]
fn an_abort_handler_without_an_outcome_faults() {
    let text = "the abort handler of task kind returned without a terminal outcome";
    check(
        task(2).running().marked(),
        ABORT,
        Some((None, &earlier())),
        Verdict::Fault(text.into()),
    );
}
