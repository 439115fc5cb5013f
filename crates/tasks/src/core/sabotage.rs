//! Decisions that tests break on purpose: the simulator must notice each of them. Outside tests nothing is ever broken,
//! and nothing of this is compiled in.

/// Which decision is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "only tests break decisions"))]
pub(crate) enum Sabotage {
    /// Every decision is as it should be.
    #[default]
    None,
    /// An abort handler does not wait for the work below.
    TopDownAbort,
    /// Abort marks do not flow down.
    NoCascade,
    /// They flow through background tasks.
    CascadeAcrossBackground,
    /// A held `completed` outcome cancels what is below it.
    CompletedCancels,
    /// A failed member of a failFast join marks nobody.
    NoFailFast,
    /// It marks the waiting task too.
    MarksTheWaiter,
    /// What a restart abandons is not marked.
    NoRestartMarks,
    /// A completing task found at the open is not evaluated again.
    ForgetsHeldAtOpen,
    /// A task ends while its owned work is live.
    NoHold,
    /// A mark replaces a held outcome.
    MarkReplacesOutcome,
    /// Parked tasks are reserved before their time.
    EarlyWake,
    /// A join resumes when the first of its tasks has ended.
    ResumesJoinEarly,
    /// A run phase starts below an owner that cancels it: reservations overtake marks.
    StartsBelowIntent,
    /// A blocked task that nobody aborted is orphaned.
    OrphansUnasked,
    /// A reservation starts two invocations.
    StartsTwice,
    /// A definition takes tasks of newer versions.
    TakesNewer,
    /// Rule 3 of the step does not look at the task's own mark.
    StepIgnoresMark,
    /// Nor at what is above it.
    StepIgnoresOwners,
    /// An unchanged checkpoint counts as progress.
    NoProgressIsProgress,
    /// A replaced definition goes on.
    NeverHandsOver,
    /// Waits may close cycles.
    WaitsInCycles,
    /// A run invocation commits after the mark.
    GateIgnoresMark,
    /// So does what an ended invocation left behind.
    GateIgnoresEnd,
    /// The last candidate of a memo wins.
    MemosChange,
    /// A poke is taken as needless when the definition cannot be asked.
    LostPokes,
    /// Receipts of marked tasks are not handed out.
    LostReceipts,
    /// Idle does not count tasks that wait.
    EarlyIdle,
    /// The alarm forgets tasks that wait for a time.
    NoDeadlines,
    /// It forgets work under way.
    NoWatchdog,
    /// An alarm that rang is not set again.
    NoRearm,
    /// Opens are not counted.
    ForgetsOpens,
    /// Nor backed off from.
    NoBackoff,
}

#[cfg(test)]
thread_local! {
    static BROKEN: std::cell::Cell<Sabotage> = const { std::cell::Cell::new(Sabotage::None) };
}

/// Breaks a decision in this thread until what is returned is dropped.
#[cfg(test)]
pub(crate) fn sabotage(decision: Sabotage) -> impl Drop {
    struct Repair;
    impl Drop for Repair {
        fn drop(&mut self) {
            BROKEN.set(Sabotage::None);
        }
    }
    BROKEN.set(decision);
    Repair
}

/// Whether a test broke this decision; [`Sabotage::None`]: whether none is broken.
#[cfg(test)]
pub(crate) fn broken(decision: Sabotage) -> bool {
    BROKEN.get() == decision
}

/// Whether a test broke this decision.
#[cfg(not(test))]
pub(crate) const fn broken(decision: Sabotage) -> bool {
    matches!(decision, Sabotage::None)
}
