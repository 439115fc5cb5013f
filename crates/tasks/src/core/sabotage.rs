//! Decisions that tests break on purpose: the simulator must notice each of them.

/// Which decision is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sabotage {
    #[default]
    None,
    /// An abort handler does not wait for the work below.
    TopDownAbort,
    /// Abort marks do not flow down.
    NoCascade,
    /// Parked tasks are reserved before their time.
    EarlyWake,
    /// The alarm forgets tasks that wait for a time.
    NoDeadlines,
    /// A task ends while its owned work is live.
    NoHold,
}
