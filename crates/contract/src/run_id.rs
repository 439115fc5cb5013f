//! Run ids: derived from the anchor task, bound to the session's lifetime, and stored nowhere.
//!
//! `run_` and 32 hex digits: 14 of the task's number, 18 of a digest over it and the session's incarnation. So an id
//! verifies itself, and one of another session, or of a deleted one of the same name, resolves to nothing.

use crate::digest;
use tidehold_delta::MAX_SAFE_INTEGER;
use tidehold_session::ids::TaskId;

const PREFIX: &str = "run_";
const NUMBER_DIGITS: usize = 14;
const SEAL_BYTES: usize = 9;

/// The id of the run whose anchor is `task`.
pub fn of_task(task: TaskId, incarnation: &str) -> String {
    let number = format!("{:0NUMBER_DIGITS$x}", task.0);
    let seal = digest::of_parts([incarnation, &number], SEAL_BYTES);
    format!("{PREFIX}{number}{seal}")
}

/// The task an id may name. Ids of no run name the task 0, which no session has: they cost the same lookup and get the
/// same answer as any other unknown one. The caller compares [`of_task`] of what it found.
pub fn claimed_task(id: &str) -> TaskId {
    let number = id
        .strip_prefix(PREFIX)
        .and_then(|digits| digits.get(..NUMBER_DIGITS));
    let number = number.and_then(|number| u64::from_str_radix(number, 16).ok());
    // Ids are JSON numbers, also on their way to a storage driver.
    TaskId(number.filter(|number| *number <= MAX_SAFE_INTEGER).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_task_in_its_session_only() {
        let id = of_task(TaskId(9_007_199_254_740_991), "one");
        assert_eq!(id.len(), PREFIX.len() + 32);
        assert_eq!(claimed_task(&id), TaskId(9_007_199_254_740_991));
        assert_ne!(id, of_task(TaskId(9_007_199_254_740_991), "two"));
        for other in [
            "",
            "run_",
            "run_zz",
            "run_ffffffffffffff",
            "run_é234567890123",
            "wf_00000000000002",
            "run_+0000000000001",
        ] {
            assert!(matches!(claimed_task(other), TaskId(0 | 1)), "{other}");
        }
    }
}
