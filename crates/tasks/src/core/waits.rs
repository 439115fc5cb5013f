//! Which waits a task may commit (spec 5.5).

use crate::core::forest::View;
use crate::core::index::{IdMap, ascending};
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::State;
use crate::fault::WaitRejection;
use std::collections::VecDeque;
use tidehold_session::ids::TaskId;
use tidehold_session::records::JoinPolicy;

/// Judges a wait of `id` on the forest that the commit would leave. `exists` knows ended tasks too.
pub fn check(
    state: &State,
    candidate: View<'_>,
    id: TaskId,
    on: &[TaskId],
    policy: JoinPolicy,
    exists: impl Fn(TaskId) -> bool,
) -> Result<(), WaitRejection> {
    if let Some(missing) = on.iter().find(|target| !exists(**target)) {
        return Err(WaitRejection::Missing(*missing));
    }
    if policy == JoinPolicy::FailFast {
        let owned = |target: &TaskId| candidate.node(*target).is_some_and(|node| node.owner == Some(id));
        if let Some(foreign) = on.iter().find(|target| !owned(target)) {
            return Err(WaitRejection::ForeignFailFast(id, *foreign));
        }
    }
    match cycle(state, candidate, id, on).filter(|_| !broken(Sabotage::WaitsInCycles)) {
        Some(cycle) => Err(WaitRejection::Cycle(cycle)),
        None => Ok(()),
    }
}

/// The shortest path from the waiting task over one of its targets back to itself. Edges lead from a task to what it waits
/// for durably and to its live ordinary owned work, which holds it. They are followed backwards, since what is above a task is
/// known where it stands and what is below it may be much; breadth first, so that the first target met is the nearest, and
/// each task is visited once.
fn cycle(state: &State, candidate: View<'_>, id: TaskId, on: &[TaskId]) -> Option<Vec<TaskId>> {
    if on.is_empty() {
        return None;
    }
    let targets = ascending(on.iter().map(|id| id.0));
    // From each visited task the next one towards `id`.
    let mut towards: IdMap<u64, u64> = IdMap::default();
    towards.insert(id.0, id.0);
    // Tasks above which everything is visited: an owner's own owners are those of what it owns.
    let mut climbed: IdMap<u64, ()> = IdMap::default();
    let mut open = VecDeque::from([id]);
    while let Some(task) = open.pop_front() {
        if targets.binary_search(&task.0).is_ok() {
            return Some(path(&towards, id, task));
        }
        let mut next: Vec<TaskId> = state.waits.under(task.0).map(TaskId).collect();
        if climbed.insert(task.0, ()).is_none() {
            let owners = candidate.ordinary_owners(task);
            next.extend(owners.take_while(|owner| climbed.insert(owner.0, ()).is_none()));
        }
        for from in next {
            if candidate.is_live(from) && !towards.contains_key(&from.0) {
                towards.insert(from.0, task.0);
                open.push_back(from);
            }
        }
    }
    None
}

fn path(towards: &IdMap<u64, u64>, id: TaskId, target: TaskId) -> Vec<TaskId> {
    let mut path = vec![id, target];
    let mut at = target;
    while at != id
        && let Some(next) = towards.get(&at.0)
    {
        at = TaskId(*next);
        path.push(at);
    }
    path
}
