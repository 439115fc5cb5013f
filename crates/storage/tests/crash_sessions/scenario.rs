//! Seeded commits, each valid after the ones before it.

use super::documents::{KINDS, Kind};
use super::model::{Action, Model};
use tidehold_session::documents::ForkPolicy;

pub struct Scenario {
    pub commits: Vec<Commit>,
    /// Before the first commit, and after each.
    pub states: Vec<Model>,
}

#[derive(Clone, Debug)]
pub struct Commit {
    pub actions: Vec<Action>,
    /// The callback fails at its end: nothing of it may be seen.
    pub rolls_back: bool,
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

impl Scenario {
    pub fn new(seed: u64, commits: usize) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut model = Model::default();
        model.conversations.push(Default::default());
        let mut scenario = Self {
            commits: Vec::new(),
            states: vec![model.clone()],
        };
        let mut label = 0;
        while scenario.commits.len() < commits {
            let actions = actions(&mut random, &model, &mut label);
            let rolls_back = random.below(12) == 0;
            if !rolls_back {
                model.apply(&actions);
            }
            scenario.commits.push(Commit { actions, rolls_back });
            scenario.states.push(model.clone());
        }
        scenario
    }
}

fn actions(random: &mut Random, model: &Model, label: &mut u64) -> Vec<Action> {
    let mut actions = Vec::new();
    // Each action is chosen on what those before it leave.
    let mut staged = model.clone();
    let mut forks = false;
    for _ in 0..1 + random.below(4) {
        let conversation = random.below(staged.conversations.len());
        let committed = conversation < model.conversations.len();
        let live: Vec<usize> = (0..staged.tasks.len())
            .filter(|task| staged.tasks[*task].live)
            .collect();
        let to = random.below(1_000) as u64;
        let action = match random.below(12) {
            0..=2 => {
                *label += 1;
                let marks = random.below(6) == 0;
                Some(Action::Append {
                    conversation,
                    label: *label,
                    marks,
                })
            }
            3..=6 => edit(random, &staged, conversation, to),
            7 => {
                let kind = KINDS[random.below(KINDS.len())];
                Some(Action::Retire { conversation, kind })
            }
            8 => {
                let labels = if committed {
                    model.labels(conversation)
                } else {
                    Vec::new()
                };
                // A fork reads what was committed: its sources cannot change with it.
                let free = actions.iter().all(|action| !writes_a_source(action));
                (free && !labels.is_empty() && model.conversations.len() < 6).then(|| Action::Fork {
                    parent: conversation,
                    at: labels[random.below(labels.len())],
                })
            }
            9 => Some(Action::EditSession { to }),
            10 if live.is_empty() => Some(Action::CreateTask { conversation }),
            10 => Some(Action::EditTask {
                task: live[random.below(live.len())],
                to,
            }),
            _ if live.is_empty() => None,
            _ => Some(Action::FinishTask {
                task: live[random.below(live.len())],
            }),
        };
        let Some(action) = action else { continue };
        forks |= matches!(action, Action::Fork { .. });
        if forks && committed && writes_a_source(&action) {
            continue;
        }
        staged.apply(std::slice::from_ref(&action));
        actions.push(action);
    }
    actions
}

/// Not before version 2 once that was stored.
fn edit(random: &mut Random, staged: &Model, conversation: usize, to: u64) -> Option<Action> {
    let kind = KINDS[random.below(KINDS.len())];
    let stored = staged.conversations[conversation].documents.get(&kind);
    let newest = stored.map_or(1, |document| document.version);
    let version = if random.below(4) == 0 { 2 } else { newest };
    Some(Action::Edit {
        conversation,
        kind,
        version,
        to,
    })
}

/// Whether a fork in the same transaction might read what this writes.
fn writes_a_source(action: &Action) -> bool {
    let copied = |kind: Kind| kind.fork() != ForkPolicy::Initial;
    matches!(action, Action::Edit { kind, .. } | Action::Retire { kind, .. } if copied(*kind))
}
