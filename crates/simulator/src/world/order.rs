//! Who runs next among those who can.

use crate::random::Random;

/// How a world chooses. A seed keeps its way: races that need many even choices and races that need one very late one are
/// both found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Each with the same chance.
    Any,
    OldestFirst,
    NewestFirst,
    /// Ids of one remainder run only when nobody else can, most of the time.
    Starving(u64),
}

/// Remainders of ids among which the starving one is drawn.
const CLASSES: u64 = 4;

impl Order {
    pub fn draw(random: &Random) -> Self {
        match random.below(10) {
            0..6 => Self::Any,
            6 => Self::OldestFirst,
            7 => Self::NewestFirst,
            _ => Self::Starving(random.below(CLASSES)),
        }
    }

    /// A position in the list.
    pub fn choose(self, ready: &[u64], random: &Random) -> Option<usize> {
        if ready.len() < 2 {
            return (!ready.is_empty()).then_some(0);
        }
        // Nobody waits for ever: every order makes an even choice now and then.
        if self == Self::Any || random.percent(10) {
            return random.index(ready.len());
        }
        match self {
            Self::Any | Self::OldestFirst => Some(0),
            Self::NewestFirst => Some(ready.len() - 1),
            Self::Starving(class) => {
                let fed = ready.iter().position(|id| id % CLASSES != class);
                fed.or(Some(0))
            }
        }
    }
}
