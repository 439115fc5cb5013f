//! Decisions broken on purpose, one at a time: the stories must notice each, by the rule that it breaks. Another rule may
//! be broken sooner, and would prove nothing of the one that the decision is for.

use super::CAMPAIGN;
use super::story::tell;
use crate::core::sabotage::{Sabotage, sabotage};
use tidehold_simulator::Telling;

/// Seeds within which a broken decision must show.
const SEEDS: u64 = 2_000;

#[track_caller]
fn notices(decision: Sabotage, rule: &str) {
    let _broken = sabotage(decision);
    let judged_by_it = |telling: &Telling| {
        let mut told = tell(telling);
        told.breaches.retain(|breach| breach.contains(rule));
        told
    };
    match CAMPAIGN.first_breach(SEEDS, &judged_by_it) {
        Some((seed, breach)) => println!("{decision:?} is noticed by seed {seed}: {breach}"),
        None => panic!("{SEEDS} seeds did not notice {decision:?} by \"{rule}\""),
    }
}

macro_rules! noticed {
    ($($name:ident: $decision:ident by $rule:literal,)*) => {
        $(
            #[test]
            fn $name() {
                notices(Sabotage::$decision, $rule);
            }
        )*
    };
}

noticed! {
    an_abort_handler_above_live_work_is_noticed: TopDownAbort by "for its abort above live work",
    a_missing_cascade_is_noticed: NoCascade by "below a cancelled owner has no mark",
    a_cascade_across_a_background_task_is_noticed: CascadeAcrossBackground by "was marked for no reason",
    a_completed_hold_that_cancels_is_noticed: CompletedCancels by "was marked for no reason",
    a_failed_join_that_marks_nobody_is_noticed: NoFailFast by "lost a join and has no mark",
    a_failed_join_that_marks_who_waits_is_noticed: MarksTheWaiter by "was marked for no reason",
    a_forgotten_restart_mark_is_noticed: NoRestartMarks by "was started before the abandoned task",
    a_hold_forgotten_at_the_open_is_noticed: ForgetsHeldAtOpen by "holds its outcome above nothing",
    an_end_above_live_work_is_noticed: NoHold by "ended above live work",
    a_mark_that_replaces_a_held_outcome_is_noticed: MarkReplacesOutcome by "the outcome of task",
    an_early_start_is_noticed: EarlyWake by "was started before its time",
    a_join_that_resumes_early_is_noticed: ResumesJoinEarly by "was started before what it waits for has ended",
    a_start_below_a_cancelled_owner_is_noticed: StartsBelowIntent by "was started below an owner that cancels it",
    an_orphan_that_nobody_aborted_is_noticed: OrphansUnasked by "was orphaned and nobody aborted it",
    a_second_invocation_is_noticed: StartsTwice by "two invocations of task",
    a_definition_that_takes_a_newer_task_is_noticed: TakesNewer by "was started under a definition that cannot take it",
    a_step_that_ignores_the_mark_is_noticed: StepIgnoresMark by "started after it was cancelled",
    a_step_that_ignores_a_cancelled_owner_is_noticed: StepIgnoresOwners by "started after it was cancelled",
    a_phase_without_progress_that_goes_on_is_noticed: NoProgressIsProgress by "started again without progress",
    a_replaced_definition_that_goes_on_is_noticed: NeverHandsOver by "which was replaced",
    a_wait_in_a_cycle_is_noticed: WaitsInCycles by "waits in a cycle",
    a_run_commit_after_the_mark_is_noticed: GateIgnoresMark by "was let through after its abort mark",
    a_commit_of_an_ended_invocation_is_noticed: GateIgnoresEnd by "what an earlier invocation of task",
    a_memo_that_changes_is_noticed: MemosChange by "memo key-",
    a_lost_poke_is_noticed: LostPokes by "can go on, and was not started",
    a_lost_receipt_is_noticed: LostReceipts by "is over and was not told",
    an_early_idle_is_noticed: EarlyIdle by "nothing of it happened",
    a_forgotten_deadline_is_noticed: NoDeadlines by "and the alarm is set to",
    a_forgotten_watchdog_is_noticed: NoWatchdog by "is unsettled, and nothing wakes it",
    an_alarm_that_is_not_set_again_is_noticed: NoRearm by "is unsettled, and nothing wakes it",
    an_open_that_does_not_count_is_noticed: ForgetsOpens by "an open with due work made",
    an_open_that_does_not_back_off_is_noticed: NoBackoff by "without progress set the alarm",
}
