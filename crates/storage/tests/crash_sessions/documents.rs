//! The documents of the scenarios: every policy, in two versions.

use tidehold_delta::{Json, Op, json};
use tidehold_session::documents::{
    CheckpointInfo, ConversationDoc, ConversationFamily, DocFamilyToken, DocToken, ForkPolicy, History,
    LatestFork, SessionDoc, TaskDoc,
};

/// A document of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Rewindable, copied as of the fork's entry.
    Then,
    /// Current-only, copied as it is now.
    Now,
    /// Current-only, not copied.
    Own,
    /// As `Then`, a family.
    Member(&'static str),
}

pub const KINDS: [Kind; 5] = [
    Kind::Then,
    Kind::Now,
    Kind::Own,
    Kind::Member("a"),
    Kind::Member("b"),
];

impl Kind {
    pub fn fork(self) -> ForkPolicy {
        match self {
            Self::Then | Self::Member(_) => ForkPolicy::AsOf,
            Self::Now => ForkPolicy::Current,
            Self::Own => ForkPolicy::Initial,
        }
    }
}

const AS_OF: History = History::Rewindable {
    fork: ForkPolicy::AsOf,
};
const CURRENT: History = History::Latest {
    fork: LatestFork::Current,
};
const INITIAL: History = History::Latest {
    fork: LatestFork::Initial,
};

pub fn empty() -> Json {
    json!({ "n": 0, "log": [], "text": "" })
}

fn seeded(_: &Json) -> Json {
    empty()
}

/// Version 2 says where it comes from.
fn migrate(value: Json, from: u32) -> Result<Json, String> {
    let members = value.as_object().ok_or("no object")?.iter();
    let members = members.map(|(key, value)| (key.clone(), value.clone()));
    Ok(Json::object(members.chain([("from".into(), from.into())])))
}

fn every_third(_: &Json, _: &[Op], info: CheckpointInfo) -> bool {
    info.deltas_since_base >= 2
}

fn when_short(value: &Json, _: &[Op], _: CheckpointInfo) -> bool {
    value
        .get("text")
        .and_then(Json::as_str)
        .is_some_and(|text| text.len() % 5 == 0)
}

pub static THEN: [ConversationDoc; 2] = [
    DocToken::of_conversation("then", 1, AS_OF, empty).checkpoint_when(every_third),
    DocToken::of_conversation("then", 2, AS_OF, empty)
        .checkpoint_when(every_third)
        .migrate(migrate),
];
pub static NOW: [ConversationDoc; 2] = [
    DocToken::of_conversation("now", 1, CURRENT, empty).checkpoint_when(when_short),
    DocToken::of_conversation("now", 2, CURRENT, empty)
        .checkpoint_when(when_short)
        .migrate(migrate),
];
pub static OWN: [ConversationDoc; 2] = [
    DocToken::of_conversation("own", 1, INITIAL, empty),
    DocToken::of_conversation("own", 2, INITIAL, empty).migrate(migrate),
];
pub static MEMBER: [ConversationFamily; 2] = [
    DocFamilyToken::of_conversation("member", 1, AS_OF, seeded).checkpoint_when(every_third),
    DocFamilyToken::of_conversation("member", 2, AS_OF, seeded).migrate(migrate),
];
pub static SESSION: SessionDoc = DocToken::of_session("session", 1, empty).checkpoint_when(every_third);
pub static TASK: TaskDoc = DocToken::of_task("task", 1, empty);
