//! `pi.agent`: stored choices of a conversation and their changes (spec 2.2).

use crate::docs::AGENT;
use crate::error::{HarnessError, malformed};
use serde::Serialize;
use tidehold_delta::{FromJson, Json};
use tidehold_models::model::ModelRef;
use tidehold_models::thinking::ThinkingLevel;
use tidehold_session::ids::ConversationId;
use tidehold_session::{SessionError, Tx};

/// What someone chose for the conversation. Unset fields follow the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct AgentState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl AgentState {
    /// Reads a stored or absent document.
    pub fn from_document(value: Option<&Json>) -> Result<Self, SessionError> {
        match value {
            None => Ok(Self::default()),
            Some(value) => value.to_typed().map_err(|error| malformed("pi.agent", &error)),
        }
    }
}

/// One change of an agent. A given field replaces the stored one, `Clear` removes it, `Keep` changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentChange {
    pub model: Field,
    pub thinking_level: Field,
    pub extensions: Field,
    pub tools: Field,
    pub model_tools: Field,
    pub instructions: Field,
    pub cwd: Field,
}

/// One field of a change, already in its stored shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Field {
    #[default]
    Keep,
    Clear,
    Set(Json),
}

impl AgentChange {
    /// A change of the model alone.
    pub fn of_model(model: &ModelRef) -> Self {
        Self {
            model: Field::Set(stored_model(model)),
            ..Self::default()
        }
    }

    /// Reads the change a client sends (http.md): the model as `"provider/model"`, names for tools and extensions,
    /// `null` to clear.
    pub fn from_request(value: &Json) -> Result<Self, HarnessError> {
        let members = value
            .as_object()
            .ok_or_else(|| invalid("agent", "must be an object"))?;
        let mut change = Self::default();
        for (name, value) in members.iter() {
            let (field, read): (&mut Field, ReadField) = match &**name {
                "model" => (&mut change.model, read_model),
                "thinkingLevel" => (&mut change.thinking_level, read_thinking_level),
                "extensions" => (&mut change.extensions, read_names_or_edit),
                "tools" => (&mut change.tools, read_names_or_edit),
                "modelTools" => (&mut change.model_tools, read_names_or_edit),
                "instructions" => (&mut change.instructions, read_text),
                "cwd" => (&mut change.cwd, read_text),
                // The caller's business (http.md).
                "remoteTools" => continue,
                unknown => return Err(invalid(unknown, "is no member of an agent")),
            };
            *field = if value.is_null() {
                Field::Clear
            } else {
                Field::Set(read(name, value)?)
            };
        }
        Ok(change)
    }
}

/// Applies one change in any commit, including the creating one.
pub async fn configure(
    tx: &Tx,
    conversation: ConversationId,
    change: &AgentChange,
) -> Result<(), SessionError> {
    let fields = [
        ("model", &change.model),
        ("thinkingLevel", &change.thinking_level),
        ("extensions", &change.extensions),
        ("tools", &change.tools),
        ("modelTools", &change.model_tools),
        ("instructions", &change.instructions),
        ("cwd", &change.cwd),
    ];
    if fields.iter().all(|(_, field)| **field == Field::Keep) {
        return Ok(());
    }
    let agent = tx.doc(&AGENT, conversation).await?;
    for (name, field) in fields {
        match field {
            Field::Keep => {}
            Field::Clear => agent.at(name).remove()?,
            Field::Set(value) => agent.at(name).set(value.clone())?,
        }
    }
    Ok(())
}

/// Reads one field of a request into its stored shape.
type ReadField = fn(&str, &Json) -> Result<Json, HarnessError>;

fn stored_model(model: &ModelRef) -> Json {
    Json::object([
        ("provider", Json::from(model.provider.as_str())),
        ("modelId", Json::from(model.model_id.as_str())),
    ])
}

fn invalid(path: &str, message: &str) -> HarnessError {
    HarnessError::Invalid {
        path: path.into(),
        message: message.to_owned(),
    }
}

fn read_model(name: &str, value: &Json) -> Result<Json, HarnessError> {
    let text = value
        .as_str()
        .ok_or_else(|| invalid(name, "must be a string \"provider/model\""))?;
    match text.split_once('/') {
        Some((provider, model_id)) if !provider.is_empty() && !model_id.is_empty() => Ok(Json::object([
            ("provider", Json::from(provider)),
            ("modelId", Json::from(model_id)),
        ])),
        _ => Err(invalid(name, "must be \"provider/model\"")),
    }
}

fn read_thinking_level(name: &str, value: &Json) -> Result<Json, HarnessError> {
    match value.to_typed::<ThinkingLevel>() {
        Ok(_) => Ok(value.clone()),
        Err(_) => Err(invalid(
            name,
            "must be one of off, minimal, low, medium, high, xhigh, max",
        )),
    }
}

fn read_text(name: &str, value: &Json) -> Result<Json, HarnessError> {
    value
        .as_str()
        .map(|_| value.clone())
        .ok_or_else(|| invalid(name, "must be a string or null"))
}

/// An array of names, or an object of `add` and `remove` arrays.
fn read_names_or_edit(name: &str, value: &Json) -> Result<Json, HarnessError> {
    let names = |value: &Json| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| item.as_str().is_some()))
    };
    let edit = |value: &Json| {
        value.as_object().is_some_and(|members| {
            members
                .iter()
                .all(|(name, list)| matches!(&**name, "add" | "remove") && names(list))
        })
    };
    if names(value) || edit(value) {
        Ok(value.clone())
    } else {
        Err(invalid(
            name,
            "must be an array of names, or an object with add and remove",
        ))
    }
}

/// Copies every stored field of one conversation's agent to another (spec 2.2, task-owned conversations).
pub(crate) async fn configure_from(
    tx: &Tx,
    from: ConversationId,
    to: ConversationId,
) -> Result<(), SessionError> {
    let Some(stored) = tx.peek(&AGENT, from).await? else {
        return Ok(());
    };
    let agent = tx.doc(&AGENT, to).await?;
    for (name, value) in stored.as_object().into_iter().flat_map(|members| members.iter()) {
        agent.at(name.clone()).set(value.clone())?;
    }
    Ok(())
}
