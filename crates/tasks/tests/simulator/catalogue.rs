//! Decisions broken on purpose, one at a time: the stories must notice each.

use super::CAMPAIGN;
use super::story::tell;
use crate::core::sabotage::{Sabotage, sabotage};

/// Seeds within which a broken decision must show.
const SEEDS: u64 = 2_000;

#[track_caller]
fn notices(decision: Sabotage) {
    let _broken = sabotage(decision);
    match CAMPAIGN.first_breach(SEEDS, &tell) {
        Some((seed, breach)) => println!("{decision:?} is noticed by seed {seed}: {breach}"),
        None => panic!("{SEEDS} seeds did not notice {decision:?}"),
    }
}

macro_rules! noticed {
    ($($name:ident: $decision:ident,)*) => {
        $(
            #[test]
            fn $name() {
                notices(Sabotage::$decision);
            }
        )*
    };
}

noticed! {
    an_abort_handler_above_live_work_is_noticed: TopDownAbort,
    a_missing_cascade_is_noticed: NoCascade,
    a_cascade_across_a_background_task_is_noticed: CascadeAcrossBackground,
    a_completed_hold_that_cancels_is_noticed: CompletedCancels,
    a_failed_join_that_marks_nobody_is_noticed: NoFailFast,
    a_failed_join_that_marks_who_waits_is_noticed: MarksTheWaiter,
    a_forgotten_restart_mark_is_noticed: NoRestartMarks,
    a_hold_forgotten_at_the_open_is_noticed: ForgetsHeldAtOpen,
    an_end_above_live_work_is_noticed: NoHold,
    a_mark_that_replaces_a_held_outcome_is_noticed: MarkReplacesOutcome,
    an_early_start_is_noticed: EarlyWake,
    a_join_that_resumes_early_is_noticed: ResumesJoinEarly,
    a_start_below_a_cancelled_owner_is_noticed: StartsBelowIntent,
    an_orphan_that_nobody_aborted_is_noticed: OrphansUnasked,
    a_second_invocation_is_noticed: StartsTwice,
    a_definition_that_takes_a_newer_task_is_noticed: TakesNewer,
    a_step_that_ignores_the_mark_is_noticed: StepIgnoresMark,
    a_step_that_ignores_a_cancelled_owner_is_noticed: StepIgnoresOwners,
    a_phase_without_progress_that_goes_on_is_noticed: NoProgressIsProgress,
    a_replaced_definition_that_goes_on_is_noticed: NeverHandsOver,
    a_wait_in_a_cycle_is_noticed: WaitsInCycles,
    a_run_commit_after_the_mark_is_noticed: GateIgnoresMark,
    a_commit_of_an_ended_invocation_is_noticed: GateIgnoresEnd,
    a_memo_that_changes_is_noticed: MemosChange,
    a_lost_poke_is_noticed: LostPokes,
    a_lost_receipt_is_noticed: LostReceipts,
    an_early_idle_is_noticed: EarlyIdle,
    a_forgotten_deadline_is_noticed: NoDeadlines,
    a_forgotten_watchdog_is_noticed: NoWatchdog,
    an_alarm_that_is_not_set_again_is_noticed: NoRearm,
    an_open_that_does_not_count_is_noticed: ForgetsOpens,
    an_open_that_does_not_back_off_is_noticed: NoBackoff,
}
