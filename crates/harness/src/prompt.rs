//! System prompt planning (spec 7.4), for what agents carry so far: the section `instructions`.

use crate::agent::AgentState;
use indexmap::IndexMap;
use tidehold_models::message::{Message, SystemContent, SystemMessage, Timestamp};
use tidehold_models::system::current_system_message;

/// Section texts by name, in order; `None` removes a section.
type Patch = IndexMap<String, Option<String>>;

/// Name of the section that carries an agent's `instructions`.
const INSTRUCTIONS: &str = "instructions";

/// The sections an agent asks for, rendered in order. Tagged, like every section that does not opt out.
pub(crate) fn desired(agent: &AgentState) -> IndexMap<String, String> {
    let tagged = |text: &String| {
        (
            INSTRUCTIONS.to_owned(),
            format!("<{INSTRUCTIONS}>\n{text}\n</{INSTRUCTIONS}>"),
        )
    };
    agent
        .instructions
        .iter()
        .filter(|text| !text.is_empty())
        .map(tagged)
        .collect()
}

/// The one positional patch that turns the shown sections into the desired ones; `None` when they agree.
pub(crate) fn plan(
    context: &[Message],
    desired: &IndexMap<String, String>,
    now: Timestamp,
) -> Option<Message> {
    let shown = current_system_message(context)
        .and_then(|message| message.sections)
        .unwrap_or_default();
    let shown_text = |name: &String| shown.get(name).and_then(Option::as_ref);
    let changed = desired
        .iter()
        .filter(|(name, text)| shown_text(name) != Some(*text))
        .map(|(name, text)| (name.clone(), Some(text.clone())));
    let removed = shown
        .iter()
        .filter(|(name, text)| text.is_some() && !desired.contains_key(*name))
        .map(|(name, _)| (name.clone(), None));
    let sections: Patch = changed.chain(removed).collect();
    if sections.is_empty() {
        return None;
    }
    Some(Message::System(SystemMessage {
        content: SystemContent::Text(String::new()),
        sections: Some(sections),
        tools_added: None,
        tools_removed: None,
        timestamp: now,
    }))
}
