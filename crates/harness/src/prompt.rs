//! System prompt planning (spec 7.4), for what agents carry so far: the section `instructions`.

use crate::agent::AgentState;
use tidehold_delta::Json;
use tidehold_models::{Message, SystemMessage};
use tidehold_session::host::Millis;

/// Rendered sections in order.
pub(crate) type Sections = Vec<(String, String)>;

/// Name of the section that carries an agent's `instructions`.
const INSTRUCTIONS: &str = "instructions";

/// The sections an agent asks for, rendered. Tagged, like every section that does not opt out.
pub(crate) fn desired(agent: &AgentState) -> Sections {
    let tagged = |text: &String| {
        (INSTRUCTIONS.to_owned(), format!("<{INSTRUCTIONS}>\n{text}\n</{INSTRUCTIONS}>"))
    };
    agent.instructions.iter().filter(|text| !text.is_empty()).map(tagged).collect()
}

/// The one positional patch that turns the shown sections into the desired ones; `None` when they agree.
pub(crate) fn plan(context: &[Message], desired: &Sections, now: Millis) -> Option<Message> {
    let shown = shown(context);
    let value_of = |sections: &Sections, name: &str| {
        sections.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone())
    };
    let changed = desired
        .iter()
        .filter(|(name, text)| value_of(&shown, name).as_ref() != Some(text))
        .map(|(name, text)| (name.clone(), Json::from(text.as_str())));
    let removed = shown
        .iter()
        .filter(|(name, _)| value_of(desired, name).is_none())
        .map(|(name, _)| (name.clone(), Json::Null));
    let patch: Vec<(String, Json)> = changed.chain(removed).collect();
    if patch.is_empty() {
        return None;
    }
    Some(Message::System(SystemMessage::of_sections(Json::object(patch), now)))
}

/// Replays the transcript's system messages into the sections the model was shown.
fn shown(context: &[Message]) -> Sections {
    let mut sections = Sections::new();
    for message in context {
        let Message::System(system) = message else { continue };
        for (name, text) in system.section_patch() {
            match text {
                None => sections.retain(|(known, _)| *known != name),
                Some(text) => match sections.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, value)) => *value = text,
                    None => sections.push((name, text)),
                },
            }
        }
    }
    sections
}
