//! Path templates and the grammar of the names in them. A name outside its grammar is no such path: 404.

use crate::limits::SESSION_NAME_BYTES;
use tidehold_delta::MAX_SAFE_INTEGER;
use tidehold_durable_objects::protocol::{ConversationKey, SubmissionId, TaskId};

/// What the placeholders of a template stand for in one path, by their order.
pub struct Captures<'a>(Vec<(&'static str, &'a str)>);

/// Matches `path` against a template such as `/v1/sessions/{session}`.
///
/// Segments are compared as sent: every name in use is made of characters that need no percent encoding.
pub fn capture<'a>(template: &'static str, path: &'a str) -> Option<Captures<'a>> {
    let mut captures = Vec::new();
    let mut given = path.split('/');
    for wanted in template.split('/') {
        let segment = given.next()?;
        match wanted.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => captures.push((name, segment)),
            None if wanted == segment => {}
            None => return None,
        }
    }
    // `GET /` of a session: the slash may be there.
    match given.next() {
        None => Some(Captures(captures)),
        Some("") if template.ends_with('}') && given.next().is_none() => Some(Captures(captures)),
        Some(_) => None,
    }
}

impl<'a> Captures<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, segment)| *segment)
    }

    /// 1 to 128 of `[A-Za-z0-9._-]`, not `.` or `..`.
    pub fn session(&self) -> Option<String> {
        let name = self.get("session")?;
        let fits = (1..=SESSION_NAME_BYTES).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            && !matches!(name, "." | "..");
        fits.then(|| name.to_owned())
    }

    /// A number or `root`.
    pub fn conversation(&self) -> Option<ConversationKey> {
        match self.get("conversation")? {
            "root" => Some(ConversationKey::Root),
            number => id(number).map(ConversationKey::from),
        }
    }

    pub fn submission(&self) -> Option<SubmissionId> {
        id(self.get("submission")?).map(SubmissionId)
    }

    pub fn task(&self) -> Option<TaskId> {
        id(self.get("task")?).map(TaskId)
    }

    /// Any word; the object knows which tools there are.
    pub fn tool(&self) -> Option<String> {
        let name = self.get("tool")?;
        let fits = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        fits.then(|| name.to_owned())
    }
}

/// A decimal number without sign or leading zeros, up to 2^53 - 1: one spelling for each id.
pub fn id(text: &str) -> Option<u64> {
    let canonical =
        text.bytes().all(|byte| byte.is_ascii_digit()) && !(text.len() > 1 && text.starts_with('0'));
    canonical
        .then(|| text.parse().ok())
        .flatten()
        .filter(|id| (1..=MAX_SAFE_INTEGER).contains(id))
}
