//! The built-in documents (spec 2.2, 6, 8.2, 8.6). Their kinds and fields are public protocol.

use tidehold_delta::{Json, Op};
use tidehold_session::documents::{
    CheckpointInfo, ConversationDoc, DocToken, ForkPolicy, History, LatestFork,
};

/// What only the present of a conversation has: a fork begins without it.
const OWN: History = History::Latest {
    fork: LatestFork::Initial,
};

/// `pi.agent`: the stored choices of one conversation.
pub static AGENT: ConversationDoc = DocToken::of_conversation(
    "pi.agent",
    1,
    History::Rewindable {
        fork: ForkPolicy::AsOf,
    },
    Json::empty_object,
)
.checkpoint_when(always);

/// `pi.live`: run control and presentation of what runs now.
pub static LIVE: ConversationDoc =
    DocToken::of_conversation("pi.live", 1, OWN, Json::empty_object).checkpoint_when(nothing_runs);

/// `pi.inbox`: queued submissions in id order.
pub static INBOX: ConversationDoc =
    DocToken::of_conversation("pi.inbox", 1, OWN, empty_inbox).checkpoint_when(inbox_is_empty);

/// `pi.usage`: the ledger of the conversation's own spend.
pub static USAGE: ConversationDoc =
    DocToken::of_conversation("pi.usage", 1, OWN, empty_usage).checkpoint_when(always);

/// `pi.provider`: the identity this conversation shows to providers.
pub static PROVIDER: ConversationDoc =
    DocToken::of_conversation("pi.provider", 1, OWN, no_provider_session).checkpoint_when(always);

fn always(_: &Json, _: &[Op], _: CheckpointInfo) -> bool {
    true
}

/// A base whenever nothing runs, so every base is small and a delta chain spans at most one generation (spec 8.2).
fn nothing_runs(value: &Json, _: &[Op], _: CheckpointInfo) -> bool {
    let running = |list: &str| {
        value.get(list).and_then(Json::as_array).is_some_and(|slots| {
            slots
                .iter()
                .any(|slot| slot.get("status").and_then(Json::as_str) == Some("running"))
        })
    };
    value.get("generation").is_none() && !running("tools") && !running("nestedTools")
}

fn inbox_is_empty(value: &Json, _: &[Op], _: CheckpointInfo) -> bool {
    value
        .get("items")
        .and_then(Json::as_array)
        .is_none_or(|items| items.iter().next().is_none())
}

fn empty_inbox() -> Json {
    Json::object([("items", Json::array([]))])
}

/// The ledger before anything was spent.
pub fn empty_usage() -> Json {
    Json::object([("models", Json::empty_object()), ("tools", Json::empty_object())])
}

/// The creation hook writes the id in the creating commit.
fn no_provider_session() -> Json {
    Json::object([("sessionId", Json::from(""))])
}
