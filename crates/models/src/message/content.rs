//! Content blocks (models.md 1.1).

use serde::Serialize;
use tidehold_delta::{FromJson, Json};

/// Text, of a user or of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Opaque data that a provider wants back with the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_signature: Option<String>,
}

/// What a model thought before it answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingContent {
    /// The thoughts; a placeholder when `redacted`.
    pub thinking: String,
    /// Opaque data that a provider wants back with the thoughts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_signature: Option<String>,
    /// `true`: the provider hid the thoughts and the payload is in the signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<bool>,
}

/// An image.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct ImageContent {
    /// The bytes in base64, without a data URL prefix.
    pub data: String,
    /// For example `image/png`.
    pub mime_type: String,
}

/// A model's request to run a tool.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Names the call within its conversation; the result carries it back.
    pub id: String,
    /// The tool.
    pub name: String,
    /// A JSON object; `{}` when `arguments_error` is set.
    pub arguments: Json,
    /// Opaque data that a provider wants back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
    /// Provider namespace of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Set when the finished argument text was not a JSON object: why, and the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_error: Option<String>,
}

impl ToolCall {
    /// A call as it opens: no arguments yet.
    pub fn open(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: Json::empty_object(),
            thought_signature: None,
            namespace: None,
            arguments_error: None,
        }
    }
}

/// A block of a user message or tool result.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum UserBlock {
    /// `{"type":"text"}`
    Text(TextContent),
    /// `{"type":"image"}`
    Image(ImageContent),
}

/// A block of an assistant message.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AssistantBlock {
    /// `{"type":"text"}`
    Text(TextContent),
    /// `{"type":"thinking"}`
    Thinking(ThinkingContent),
    /// `{"type":"toolCall"}`
    ToolCall(ToolCall),
}

/// Content of a user message: a string or an array of blocks; reading and writing keep which.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(untagged)]
pub enum UserContent {
    /// A plain string.
    Text(String),
    /// Text and images.
    Blocks(Vec<UserBlock>),
}

/// Content of a system message: a string or an array of text blocks; reading and writing keep which.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(untagged)]
pub enum SystemContent {
    /// A plain string.
    Text(String),
    /// Text blocks.
    Blocks(Vec<SystemBlock>),
}

/// A block of a system message: text only.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum SystemBlock {
    /// `{"type":"text"}`
    Text(TextContent),
}

impl UserContent {
    /// The text: the string itself, or the text blocks with a line feed between two of them.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => text_of_blocks(blocks),
        }
    }
}

impl SystemContent {
    /// The text: the string itself, or the blocks with a line feed between two of them.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts: Vec<&str> = blocks
                    .iter()
                    .map(|SystemBlock::Text(block)| block.text.as_str())
                    .collect();
                texts.join("\n")
            }
        }
    }
}

/// The text blocks with a line feed between two of them; images are left out.
pub fn text_of_blocks(blocks: &[UserBlock]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            UserBlock::Text(block) => Some(block.text.as_str()),
            UserBlock::Image(_) => None,
        })
        .collect();
    texts.join("\n")
}
