//! The plan's way to the outside: next pass, alarm, timer in memory.

use super::Inner;
use crate::core::plan::{due, is_due, next_start};
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::Stage;
use crate::core::wake::{AlarmInputs, alarm};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::select;
use std::rc::Rc;
use tidehold_session::host::Millis;

/// Live tasks up to which a debug build computes everything again after every commit.
#[cfg(debug_assertions)]
const SMALL_STATE: usize = 24;

/// A running timer in memory; dropping it stops it.
pub(super) struct Timer {
    at: Millis,
    _stop: oneshot::Sender<()>,
}

impl Inner {
    /// After anything that may change a decision.
    pub(crate) fn replan(self: &Rc<Self>) {
        let now = self.now();
        let (due, start, is_due) = {
            let state = self.state.borrow();
            if state.stage == Stage::Ended || !self.following.get() {
                return;
            }
            (
                due(&state, now),
                next_start(&state, now),
                state.is_scheduling() && is_due(&state, now),
            )
        };
        self.due.set(due);
        self.arm(now);
        self.set_timer(start, now);
        self.check_wake(now);
        self.tell_idle();
        if is_due {
            self.kick();
        }
    }

    /// A commit that was admitted before the session ended may leave work that no alarm knows of. Nothing here starts it any
    /// more: it is the next open's.
    pub(super) fn leave_wake(&self) {
        if self.state.borrow().stage == Stage::Ended {
            let now = self.now();
            self.due.set(due(&self.state.borrow(), now));
            self.arm(now);
        }
    }

    /// The alarm for what is due, passed on when it changed.
    fn arm(&self, now: Millis) {
        let at = self.alarm(now);
        if self.armed.replace(at) != at {
            self.options.alarm.arm(at);
        }
    }

    fn alarm(&self, now: Millis) -> Option<Millis> {
        let state = self.state.borrow();
        let inputs = AlarmInputs {
            now,
            armed: self.armed.get(),
            watchdog: self.options.watchdog_ms,
            opens: if self.forgiven.get() { 0 } else { state.opens },
            scheduling: state.is_scheduling(),
        };
        alarm(self.due.get(), inputs)
    }

    /// A commit that changes no decision, such as a streamed partial, still proves that work is under way.
    pub(super) fn keep_watchdog_ahead(&self) {
        if self.due.get().now && self.state.borrow().stage != Stage::Ended {
            self.arm(self.now());
        }
    }

    /// Passes the alarm on again: at the open, and when it fired, which used it up.
    pub(crate) fn rearm(self: &Rc<Self>) {
        self.replan();
        if self.state.borrow().stage != Stage::Ended {
            self.options.alarm.arm(self.armed.get());
        }
    }

    /// The alarm is set to this time, not by this scheduler.
    pub(crate) fn is_armed(&self, at: Option<Millis>) {
        self.armed.set(at);
    }

    /// A call from outside ends the back-off, durably with the next pass.
    pub(crate) fn forgive(self: &Rc<Self>) {
        let backed_off = self.state.borrow().opens > 0 && !self.forgiven.replace(true);
        if backed_off {
            self.replan();
            self.kick();
        }
    }

    pub(crate) fn next_wake(&self) -> Option<Millis> {
        self.armed.get()
    }

    #[cfg(debug_assertions)]
    fn check_wake(&self, now: Millis) {
        use crate::core::check::{check, is_wanted};
        use crate::core::invariant;
        // A decision that is broken on purpose is for the test to notice.
        if !broken(Sabotage::None) {
            return;
        }
        let state = self.state.borrow();
        let breach = invariant::check(&state, self.armed.get(), now);
        debug_assert!(breach.is_ok(), "invariant 6: {breach:?}");
        if state.live_count() <= SMALL_STATE && is_wanted() {
            let difference = check(&state);
            debug_assert!(difference.is_ok(), "the mirror: {difference:?}");
        }
    }

    #[cfg(not(debug_assertions))]
    fn check_wake(&self, _: Millis) {}

    fn set_timer(self: &Rc<Self>, deadline: Option<Millis>, now: Millis) {
        let scheduling = self.state.borrow().is_scheduling();
        let near = |at: &Millis| at.saturating_sub(now) <= self.options.timer_horizon_ms;
        let wanted = deadline.filter(|at| scheduling && near(at));
        if self.timer.borrow().as_ref().map(|timer| timer.at) == wanted {
            return;
        }
        *self.timer.borrow_mut() = wanted.map(|at| self.spawn_timer(at));
    }

    fn spawn_timer(self: &Rc<Self>, at: Millis) -> Timer {
        let (stop, stopped) = oneshot::channel::<()>();
        let sleep = self.session.host().sleep_until(at);
        // Weak: a timer alone must not keep a dropped scheduler alive.
        let inner = Rc::downgrade(self);
        self.session.spawn(async move {
            let rang = select(sleep, stopped)
                .map(|first| matches!(first, futures::future::Either::Left(_)))
                .await;
            if let Some(inner) = inner.upgrade().filter(|_| rang) {
                inner.timer.borrow_mut().take();
                inner.replan();
            }
        });
        Timer { at, _stop: stop }
    }
}
