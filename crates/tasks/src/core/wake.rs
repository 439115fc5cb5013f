//! When the object must wake again (invariant 6). Pure: due work in, alarm time out.

use crate::core::plan::Due;
use crate::recovery::backoff;
use tidehold_session::host::Millis;

/// What the alarm is computed from besides what is due.
#[derive(Clone, Copy, Debug)]
pub struct AlarmInputs {
    pub now: Millis,
    /// The time it was set to last.
    pub armed: Option<Millis>,
    pub watchdog: Millis,
    /// Opens without progress that still count.
    pub opens: u32,
    /// Whether tasks are being started; a paused session wakes at once instead of watching.
    pub scheduling: bool,
}

/// The alarm for what is due. While work is under way the watchdog stays ahead, and moves only when it is too late or under
/// half its distance away, since each setting is a billed row.
pub fn alarm(due: Due, inputs: AlarmInputs) -> Option<Millis> {
    let watch = due.now.then(|| watch(due.at, inputs));
    match (watch, due.at) {
        (Some(watch), Some(at)) => Some(watch.min(at)),
        (watch, at) => watch.or(at),
    }
}

fn watch(before: Option<Millis>, inputs: AlarmInputs) -> Millis {
    let AlarmInputs {
        now,
        armed,
        watchdog,
        opens,
        scheduling,
    } = inputs;
    let distance = if scheduling {
        watchdog.max(backoff(opens, watchdog))
    } else {
        backoff(opens, watchdog)
    };
    let latest = now.saturating_add(distance);
    // A paused session has a deadline rather than a watchdog: it is not pushed ahead.
    let earliest = if scheduling {
        now.saturating_add(distance / 2)
    } else {
        0
    };
    let serves = earliest..=latest;
    let armed = armed.filter(|armed| serves.contains(armed) && before.is_none_or(|before| *armed <= before));
    armed.unwrap_or(latest)
}
