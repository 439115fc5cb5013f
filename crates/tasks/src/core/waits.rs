//! Which waits a task may commit (spec 5.5).

use crate::core::finish::live_below;
use crate::core::forest::Forest;
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
    match cycle(state, forest, id, on) {
        Some(cycle) => Err(WaitRejection::Cycle(cycle)),
        None => Ok(()),
    }
}

/// A path from the waiting task over its targets back to itself. Edges lead from a task to what it waits for durably and
/// to its live ordinary owned work, which holds it; each task is visited once.
fn cycle(state: &State, forest: &Forest, id: TaskId, on: &[TaskId]) -> Option<Vec<TaskId>> {
    let mut came_from: LiteMap<TaskId, TaskId> = LiteMap::new_vec();
    let mut open: Vec<TaskId> = Vec::new();
    let mut reach = |from: TaskId, to: TaskId, open: &mut Vec<TaskId>| {
        came_from.entry(to).or_insert_with(|| {
            open.push(to);
            from
        });
    };
    for target in on {
        reach(id, *target, &mut open);
    }
    while let Some(task) = open.pop() {
        if task == id {
            return Some(path(&came_from, id));
        }
        if !forest.is_live(task) {
            continue;
        }
        for target in targets(state, forest, task) {
            reach(task, target, &mut open);
        }
    }
    None
}

fn targets(state: &State, forest: &Forest, task: TaskId) -> Vec<TaskId> {
    let mut targets: Vec<TaskId> = live_below(forest, task).collect();
    if let Some(record) = state.record(task)
        && let TaskState::Waiting { on, .. } = &record.state
        && !record.abort_requested
    {
        targets.extend(on);
    }
    targets
}

fn path(came_from: &LiteMap<TaskId, TaskId>, id: TaskId) -> Vec<TaskId> {
    let mut path = vec![id];
    let mut at = id;
    while let Some(from) = came_from.get(&at) {
        path.push(*from);
        at = *from;
        if at == id {
            break;
        }
    }
    path.reverse();
    path
}
