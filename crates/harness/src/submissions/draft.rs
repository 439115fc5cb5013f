//! What a host submits (spec 2.2), and the digest that tells a repeated request from a conflicting one.

use super::inbox::entry_len;
use crate::entries::{InputEntry, RESERVED_PREFIX};
use crate::error::HarnessError;
use crate::hex;
use crate::limits::MAX_SUBMISSION_BYTES;
use sha2::{Digest, Sha256};
use tidehold_delta::{Json, Text};
use tidehold_models::message::Message;
use tidehold_session::records::{ContextEditAction, EntryDraft};

/// An input that asks for an answer, or a passive write.
#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionDraft {
    Input(InputDraft),
    Write(WriteDraft),
}

/// `content` is a string or an array of text and image blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct InputDraft {
    pub request_id: Option<Text>,
    pub content: Json,
    pub when_busy: WhenBusy,
    pub entry: Option<InputEntry>,
}

/// An entry to append when its turn comes.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteDraft {
    pub request_id: Option<Text>,
    pub entry: EntryDraft,
}

/// What a busy conversation does with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenBusy {
    Steer,
    FollowUp,
    Reject,
}

impl SubmissionDraft {
    /// The id that makes a repeated request find its submission.
    pub fn request_id(&self) -> Option<&Text> {
        match self {
            Self::Input(draft) => draft.request_id.as_ref(),
            Self::Write(draft) => draft.request_id.as_ref(),
        }
    }

    /// Refuses what no conversation could admit.
    pub fn validate(&self) -> Result<(), HarnessError> {
        match self {
            Self::Input(InputDraft { content, entry, .. }) => {
                check_content(content)?;
                let data = entry.as_ref().and_then(|entry| entry.data.as_ref());
                check_size(content.encoded_len() + data.map_or(0, Json::encoded_len))?;
                entry.as_ref().map_or(Ok(()), |entry| check_kind(&entry.kind))
            }
            Self::Write(WriteDraft { entry, .. }) => {
                check_kind(&entry.kind)?;
                check_size(entry_len(entry))?;
                check_messages("entry.model", entry.model.as_deref().unwrap_or_default())?;
                for edit in entry.edits.iter().flatten() {
                    if let ContextEditAction::Replace { messages } = &edit.action {
                        check_messages("entry.edits", messages)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// SHA-256 over what was submitted, members in sorted order, so that two spellings of the same JSON agree.
    pub(crate) fn content_hash(&self) -> Result<Text, HarnessError> {
        let unreadable = |error: tidehold_delta::ConvertError| HarnessError::Invalid {
            path: "entry".into(),
            message: error.to_string(),
        };
        let value = match self {
            Self::Input(InputDraft {
                content,
                when_busy: _,
                entry,
                request_id: _,
            }) => Json::object([
                ("type", Json::from("input")),
                ("content", content.clone()),
                (
                    "kind",
                    entry
                        .as_ref()
                        .map_or(Json::Null, |entry| Json::String(entry.kind.clone())),
                ),
                (
                    "data",
                    entry
                        .as_ref()
                        .and_then(|entry| entry.data.clone())
                        .unwrap_or(Json::Null),
                ),
            ]),
            Self::Write(WriteDraft { entry, .. }) => Json::object([
                ("type", Json::from("write")),
                ("entry", Json::from_serialize(entry).map_err(unreadable)?),
            ]),
        };
        let mut digest = Sha256::new();
        hash_canonical(&value, &mut digest);
        Ok(hex::encode(&digest.finalize()).into())
    }
}

fn hash_canonical(value: &Json, digest: &mut Sha256) {
    match value {
        Json::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            digest.update(b"{");
            for (name, value) in sorted {
                hash_canonical(&Json::String(name.clone()), digest);
                hash_canonical(value, digest);
            }
            digest.update(b"}");
        }
        Json::Array(items) => {
            digest.update(b"[");
            for item in items.iter() {
                hash_canonical(item, digest);
                digest.update(b",");
            }
            digest.update(b"]");
        }
        scalar => digest.update(scalar.to_string().as_bytes()),
    }
}

fn check_kind(kind: &str) -> Result<(), HarnessError> {
    let problem = if kind.is_empty() {
        "must not be empty"
    } else if kind.starts_with(RESERVED_PREFIX) {
        "must not start with \"pi.\": these kinds belong to the harness"
    } else {
        return Ok(());
    };
    Err(HarnessError::Invalid {
        path: "entry.kind".into(),
        message: problem.to_owned(),
    })
}

fn check_size(bytes: usize) -> Result<(), HarnessError> {
    if bytes <= MAX_SUBMISSION_BYTES {
        return Ok(());
    }
    Err(HarnessError::Invalid {
        path: "".into(),
        message: format!("has {bytes} bytes of content, more than {MAX_SUBMISSION_BYTES}"),
    })
}

/// A message the model layer cannot read would fail every later request of the conversation.
fn check_messages(path: &'static str, messages: &[Json]) -> Result<(), HarnessError> {
    for (index, message) in messages.iter().enumerate() {
        if let Err(error) = message.to_typed::<Message>() {
            return Err(HarnessError::Invalid {
                path: path.into(),
                message: format!("message {index}: {error}"),
            });
        }
    }
    Ok(())
}

fn check_content(content: &Json) -> Result<(), HarnessError> {
    let text = |value: &Json, member: &str| value.get(member).and_then(Json::as_str).is_some();
    let block = |block: &Json| match block.get("type").and_then(Json::as_str) {
        Some("text") => text(block, "text"),
        Some("image") => text(block, "data") && text(block, "mimeType"),
        _ => false,
    };
    let valid = match content {
        Json::String(_) => true,
        Json::Array(blocks) => blocks.iter().all(block),
        _ => false,
    };
    if valid {
        return Ok(());
    }
    let message =
        "must be a string, or an array of {type: \"text\", text} and {type: \"image\", data, mimeType}";
    Err(HarnessError::Invalid {
        path: "content".into(),
        message: message.to_owned(),
    })
}
