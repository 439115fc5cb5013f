use super::world::{Build, completed, failed, id, owned, task, with, world};
use crate::core::reconcile::Reconcile::{self, EndAborts, Finalize, Mark, Withdraw};
use crate::core::reconcile::reconcile;
use crate::core::scope::Boundaries;
use crate::core::state::{State, UnfinishedAbort};
use tidehold_session::ids::{ConversationId, SubmissionId};
use tidehold_session::records::{AbortMarkReason, JoinPolicy};

const RESTART: Option<AbortMarkReason> = Some(AbortMarkReason::Restart);

#[track_caller]
fn check(state: State, expected: impl IntoIterator<Item = Reconcile>) {
    assert_eq!(reconcile(&state), expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn nothing_follows_from_ordinary_work() {
    check(
        with(world(), [task(2).running(), task(3).of(2), task(4).background()]),
        [],
    );
}

#[test]
fn a_mark_flows_down_over_conversations_and_ended_owners_but_not_into_the_background() {
    let state = owned(owned(owned(world(), 10, 3), 20, 5), 30, 7);
    let tree = [
        task(2).running().marked(),
        task(3).of(2).ended(completed()),
        task(4).of(2).marked(),
        task(5).at(10),
        task(6).at(20).waiting(&[5], JoinPolicy::AllSettled, None),
        task(7).at(20).background(),
        task(8).at(30),
        task(9),
    ];
    check(with(state, tree), [Mark(id(5), None), Mark(id(6), None)]);
}

#[test]
fn a_background_task_with_its_own_mark_cascades_inside_its_subtree() {
    let state = owned(owned(world(), 10, 2), 20, 3);
    let tree = [
        task(2),
        task(3).at(10).background().marked(),
        task(4).at(20),
        task(5).at(10),
    ];
    check(with(state, tree), [Mark(id(4), None)]);
}

#[test]
fn a_held_failure_marks_below_and_a_held_success_waits() {
    let tree = |outcome| [task(2).holding(outcome), task(3).of(2)];
    check(with(world(), tree(failed())), [Mark(id(3), None)]);
    check(with(world(), tree(completed())), []);
}

#[test]
fn holds_end_in_one_commit_however_deep_and_from_below() {
    let state = owned(world(), 10, 3);
    let tree = [
        task(2).holding(completed()),
        task(3).of(2).holding(failed()),
        task(4).at(10).holding(completed()),
        task(5).at(10).background(),
    ];
    check(
        with(state, tree),
        [Finalize(id(4)), Finalize(id(3)), Finalize(id(2))],
    );
}

#[test]
fn the_restart_pass_marks_what_was_abandoned_and_a_request_wins() {
    let tree = [
        task(2).abandoned(),
        task(3).of(2),
        task(4).marked(),
        task(5).of(4).abandoned(),
    ];
    check(with(world(), tree), [Mark(id(2), RESTART), Mark(id(5), None)]);
}

#[test]
fn restart_marks_are_inherited_and_replaced_by_requests() {
    let tree = [task(2).restart_marked(), task(3).of(2), task(4).of(3)];
    check(with(world(), tree), [Mark(id(3), RESTART), Mark(id(4), RESTART)]);
    let upgraded = [
        task(2).marked(),
        task(3).of(2).restart_marked(),
        task(4).of(3).restart_marked(),
    ];
    check(with(world(), upgraded), [Mark(id(3), None), Mark(id(4), None)]);
}

#[test]
fn a_request_replaces_restart_marks_across_a_background_task_with_an_intent_of_its_own() {
    let tree = |background: Build| {
        let state = owned(owned(world(), 10, 2), 11, 5);
        with(
            state,
            [task(2).marked(), background, task(6).of(5).restart_marked()],
        )
    };
    check(
        tree(task(5).at(10).background().restart_marked()),
        [Mark(id(6), None)],
    );
    // Without one it is a boundary.
    check(tree(task(5).at(10).background()), []);
}

#[test]
fn a_restart_marked_task_that_holds_success_aborts_only_what_is_below() {
    let tree = [task(2).restart_marked().holding(completed()), task(3).of(2)];
    check(with(world(), tree), [Mark(id(3), RESTART)]);
}

#[test]
fn fail_fast_marks_the_other_live_members_but_not_the_waiter() {
    let wait = |policy| task(2).waiting(&[3, 4, 5, 6], policy, None);
    let members = || {
        [
            task(3).of(2),
            task(4).of(2).ended(failed()),
            task(5).of(2).holding(completed()),
            task(6).of(2).ended(completed()),
            task(7).of(2),
        ]
    };
    let state = owned(world(), 10, 5);
    let state = with(state, [task(8).at(10)]);
    let fast = with(with(state.clone(), [wait(JoinPolicy::FailFast)]), members());
    check(fast, [Mark(id(3), None), Mark(id(5), None)]);
    let settled = with(with(state, [wait(JoinPolicy::AllSettled)]), members());
    check(settled, []);
}

#[test]
fn a_held_failure_of_a_member_is_enough() {
    let tree = [
        task(2).waiting(&[3, 4], JoinPolicy::FailFast, None),
        task(3).of(2).holding(failed()),
        task(4).of(2),
        task(5).of(3),
    ];
    check(with(world(), tree), [Mark(id(4), None), Mark(id(5), None)]);
}

#[test]
fn queued_inputs_below_an_intent_are_withdrawn_and_its_own_queue_stays() {
    let mut state = owned(owned(world(), 10, 2), 20, 3);
    let queued = [1, 10, 20].map(|id| (ConversationId(id), SubmissionId(id)));
    state.load_queue(queued);
    let tree = [task(2).marked(), task(3).at(10).background().ended(completed())];
    check(with(state, tree), [Withdraw(ConversationId(10))]);
}

#[test]
fn an_unfinished_abort_marks_what_it_reached_and_then_ends() {
    let aborting = |boundaries| {
        let mut state = owned(world(), 10, 3);
        let abort = UnfinishedAbort {
            conversation: ConversationId(1),
            boundaries,
            last: id(6),
        };
        state.recall(0, vec![abort]);
        let tree = [
            task(2).running().marked(),
            task(3).running(),
            task(4).at(10).background(),
            task(5).background(),
            task(6).at(99).ended(completed()),
            task(7),
            task(8).restart_marked(),
        ];
        with(state, tree)
    };
    check(aborting(Boundaries::Background), [Mark(id(3), None), EndAborts]);
    check(
        aborting(Boundaries::Ignored),
        [Mark(id(3), None), Mark(id(4), None), Mark(id(5), None), EndAborts],
    );
    let state = aborting(Boundaries::Background);
    let below = [3, 5, 7].map(|number| state.is_below_intent(id(number)));
    assert_eq!(below, [true, false, false], "no phase starts before the mark");
    let ended = [2, 3, 5, 7, 8].map(|number| task(number).ended(completed()));
    let idle = with(aborting(Boundaries::Background), ended);
    check(with(idle, [task(4).at(10).background().ended(completed())]), []);
}
