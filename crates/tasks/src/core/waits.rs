//! Which waits a task may commit (spec 5.5).

use crate::core::forest::Forest;
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::State;
use crate::fault::WaitRejection;
use litemap::LiteMap;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{JoinPolicy, TaskState};

/// Judges a wait of `id` on the commit's candidate forest. `exists` knows ended tasks too.
pub fn check(
    state: &State,
    forest: &Forest,
    id: TaskId,
    on: &[TaskId],
    policy: JoinPolicy,
    exists: impl Fn(TaskId) -> bool,
) -> Result<(), WaitRejection> {
    if let Some(missing) = on.iter().find(|target| !exists(**target)) {
        return Err(WaitRejection::Missing(*missing));
    }
    if policy == JoinPolicy::FailFast {
        let owned = |target: &TaskId| forest.node(*target).is_some_and(|node| node.owner == Some(id));
        if let Some(foreign) = on.iter().find(|target| !owned(target)) {
            return Err(WaitRejection::ForeignFailFast(id, *foreign));
        }
    }
    match cycle(state, forest, id, on).filter(|_| !broken(Sabotage::WaitsInCycles)) {
        Some(cycle) => Err(WaitRejection::Cycle(cycle)),
        None => Ok(()),
    }
}

/// A path from the waiting task over one of its targets back to itself. Edges lead from a task to what it waits for durably
/// and to its live ordinary owned work, which holds it. They are followed backwards, since what is above a task is known
/// where it stands and what is below it is not; each task is visited once.
fn cycle(state: &State, forest: &Forest, id: TaskId, on: &[TaskId]) -> Option<Vec<TaskId>> {
    let waiters = waiters(state);
    // From each visited task the next one towards `id`.
    let mut towards: LiteMap<TaskId, TaskId> = LiteMap::new_vec();
    towards.insert(id, id);
    let mut open = vec![id];
    while let Some(task) = open.pop() {
        if on.contains(&task) {
            return Some(path(&towards, id, task));
        }
        let waiting = waiters.get(&task).into_iter().flatten().copied();
        for from in forest.ordinary_owners(task).chain(waiting) {
            if forest.is_live(from) && !towards.contains_key(&from) {
                towards.insert(from, task);
                open.push(from);
            }
        }
    }
    None
}

/// Who waits durably for a task. An abort mark ends a wait.
fn waiters(state: &State) -> LiteMap<TaskId, Vec<TaskId>> {
    let mut waiters: LiteMap<TaskId, Vec<TaskId>> = LiteMap::new_vec();
    for (id, task) in &state.tasks {
        if let TaskState::Waiting { on, .. } = &task.record.state
            && !task.record.abort_requested
        {
            for target in on {
                waiters.entry(*target).or_default().push(*id);
            }
        }
    }
    waiters
}

fn path(towards: &LiteMap<TaskId, TaskId>, id: TaskId, target: TaskId) -> Vec<TaskId> {
    let mut path = vec![id, target];
    let mut at = target;
    while at != id
        && let Some(next) = towards.get(&at)
    {
        at = *next;
        path.push(at);
    }
    path
}
