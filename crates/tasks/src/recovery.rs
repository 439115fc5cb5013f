//! What the scheduler itself keeps over reopens: opens without progress, so that a session that breaks its object backs off
//! (invariant 6), and conversation aborts whose marks need more than one commit.

use crate::core::sabotage::{Sabotage, broken};
use crate::core::scope::Boundaries;
use crate::core::state::UnfinishedAbort;
use crate::limits::{MAX_BACKOFF_MS, PATIENT_OPENS};
use tidehold_delta::{Json, json};
use tidehold_session::documents::{DocToken, SessionDoc, TheSession};
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::{SessionError, Tx};

/// `{ opensWithoutProgress, aborts? }`: opens with due work since a task last committed, and unfinished aborts.
pub static RECOVERY: SessionDoc =
    DocToken::of_session("tidehold.recovery", 1, || json!({ "opensWithoutProgress": 0 }))
        // Small: a base each time keeps it one row without deltas.
        .checkpoint_when(|_, _, _| true);

const MEMBER: &str = "opensWithoutProgress";
const ABORTS: &str = "aborts";

/// The counter in a value of [`RECOVERY`].
pub(crate) fn read(value: &Json) -> u32 {
    value
        .get(MEMBER)
        .and_then(Json::as_u64)
        .and_then(|count| u32::try_from(count).ok())
        .unwrap_or(0)
}

/// Stages the counter.
pub(crate) async fn write(tx: &Tx, opens: u32) -> Result<(), SessionError> {
    let draft = tx.doc(&RECOVERY, TheSession).await?;
    draft.at(MEMBER).set(u64::from(opens))?;
    Ok(())
}

/// The unfinished aborts in a value of [`RECOVERY`].
pub(crate) fn aborts(value: &Json) -> Vec<UnfinishedAbort> {
    let aborts = value.get(ABORTS).and_then(Json::as_array);
    let read = |abort: &Json| {
        let number = |member| abort.get(member).and_then(Json::as_u64);
        Some(UnfinishedAbort {
            conversation: ConversationId(number("conversation")?),
            boundaries: match abort.get("everything").and_then(Json::as_bool) {
                Some(true) => Boundaries::Ignored,
                _ => Boundaries::Background,
            },
            last: TaskId(number("last")?),
        })
    };
    aborts.into_iter().flatten().filter_map(read).collect()
}

/// Stages one more unfinished abort.
pub(crate) async fn add_abort(tx: &Tx, abort: UnfinishedAbort) -> Result<(), SessionError> {
    let aborts = tx.doc(&RECOVERY, TheSession).await?.at(ABORTS);
    if aborts.get()?.is_none() {
        aborts.set(json!([]))?;
    }
    aborts.push(json!({
        "conversation": (abort.conversation.0),
        "everything": (abort.boundaries == Boundaries::Ignored),
        "last": (abort.last.0),
    }))?;
    Ok(())
}

/// Stages that every abort is finished.
pub(crate) async fn end_aborts(tx: &Tx) -> Result<(), SessionError> {
    tx.doc(&RECOVERY, TheSession).await?.at(ABORTS).remove()?;
    Ok(())
}

/// How far the alarm backs off after so many opens; 0 while patience lasts, then twice the watchdog, doubling.
pub fn backoff(opens: u32, watchdog: Millis) -> Millis {
    match opens.checked_sub(PATIENT_OPENS + 1) {
        _ if broken(Sabotage::NoBackoff) => 0,
        None => 0,
        // Beyond 16 doublings the cap holds anyway.
        Some(doublings) => watchdog
            .saturating_mul(2 << doublings.min(16))
            .min(MAX_BACKOFF_MS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_back_off_starts_with_the_third_open_and_ends_at_an_hour() {
        let seconds: Vec<_> = (0..13).map(|opens| backoff(opens, 10_000) / 1_000).collect();
        assert_eq!(
            seconds,
            [0, 0, 0, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]
        );
        assert_eq!(backoff(u32::MAX, 10_000), MAX_BACKOFF_MS);
    }
}
