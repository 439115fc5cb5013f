//! What the scheduler needs from those above and below it.

use crate::limits::WATCHDOG_MS;
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::TaskRecord;
use tidehold_session::{SessionError, Tx};

/// What must also happen in commits that the scheduler makes. Hooks run on the line, inside the transaction: they may use
/// documents and staged submissions, but no table reads, since other records may already be staged, and change no task,
/// since the commit was decided without that. An error ends the
/// session, since running the commit again would not help (spec 10.1).
pub trait SchedulerHooks {
    /// The scheduler wrote `faulted` or `orphaned` itself and this commit makes it terminal: clean up what the task's
    /// code cannot (spec 5.4). `record` carries the outcome.
    fn settle_written_outcome<'a>(
        &'a self,
        tx: &'a Tx,
        record: &'a TaskRecord,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>>;

    /// A cascade reached this conversation: its queued inputs become unanswered; queued writes stay.
    fn withdraw_inputs<'a>(
        &'a self,
        tx: &'a Tx,
        conversation: ConversationId,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>>;
}

/// The object's single alarm. Called synchronously from the commit listener, in the turn of the commit, and at open.
pub trait Alarm {
    /// The time the object must wake at, or none. The value is stable while it serves; it may repeat. The adapter decides
    /// whether the stored alarm must change.
    fn arm(&self, at: Option<Millis>);
}

/// Hooks of a session without submissions.
pub struct NoHooks;

impl SchedulerHooks for NoHooks {
    fn settle_written_outcome<'a>(
        &'a self,
        _: &'a Tx,
        _: &'a TaskRecord,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        Box::pin(futures::future::ready(Ok(())))
    }

    fn withdraw_inputs<'a>(
        &'a self,
        _: &'a Tx,
        _: ConversationId,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        Box::pin(futures::future::ready(Ok(())))
    }
}

/// The alarm of a process that is never evicted.
pub struct NoAlarm;

impl Alarm for NoAlarm {
    fn arm(&self, _: Option<Millis>) {}
}

/// Construction options of a scheduler.
#[derive(Clone)]
pub struct SchedulerOptions {
    pub hooks: Rc<dyn SchedulerHooks>,
    pub alarm: Rc<dyn Alarm>,
    /// Distance of the alarm while work is under way.
    pub watchdog_ms: Millis,
    /// Deadlines at most this far away are also slept for in memory. A pending timer keeps an object in memory and is
    /// billed, so platforms with an alarm choose a short one; the default serves processes without.
    pub timer_horizon_ms: Millis,
    /// Receives failures that stop nothing.
    pub on_report: Rc<dyn Fn(String)>,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            hooks: Rc::new(NoHooks),
            alarm: Rc::new(NoAlarm),
            watchdog_ms: WATCHDOG_MS,
            timer_horizon_ms: Millis::MAX,
            on_report: Rc::new(|_| {}),
        }
    }
}
