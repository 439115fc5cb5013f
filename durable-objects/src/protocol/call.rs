//! One call from the Worker to an object.

use super::Operation;
use serde::Serialize;
use tidehold_delta::{FromJson, Json, MAX_DEPTH};

/// Everything about a call but its body.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Call<Op = Operation> {
    pub operation: Op,
    pub caller: Caller,
    /// The name in the route; objects do not know their own.
    pub session: String,
    pub accept: Accept,
    /// From `if-incarnation`: the write is meant for this incarnation only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_incarnation: Option<String>,
    /// Names this call in logs.
    pub request_id: String,
    /// W3C trace context of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

impl<Op> Call<Op> {
    /// Names this call in the lines of the log, so that they can be found by what the client was told and what it told.
    pub fn log_name(&self) -> String {
        match &self.traceparent {
            Some(trace) => format!("request {} (trace {trace:?})", self.request_id),
            None => format!("request {}", self.request_id),
        }
    }
}

/// Who calls, after authentication and the check of scopes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    pub project: String,
    /// `sub` of a JWT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// False in dev mode only.
    pub rate_limited: bool,
}

/// What kind of answer the client can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum Accept {
    Json,
    EventStream,
}

/// `value` as JSON in ASCII, which is what a header can carry unharmed.
pub fn to_ascii_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(value)?;
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        match character.is_ascii() {
            true => ascii.push(character),
            // Outside ASCII only strings have characters, where an escape means the same.
            false => character
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| ascii.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    Ok(ascii)
}

/// A message of the protocol, from [`to_ascii_json`] or a body. The error is for the log.
pub fn from_json_text<T: FromJson>(text: &str) -> Result<T, String> {
    let json = Json::parse(text, MAX_DEPTH).map_err(|error| error.to_string())?;
    json.to_typed().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ConversationKey, Order};
    use tidehold_session::ids::ConversationId;

    #[test]
    fn calls_survive_a_header() {
        let call = Call {
            operation: Operation::ListEntries {
                conversation: ConversationKey::Id(ConversationId(7)),
                cursor: Some("päge \u{1F30A}\n".to_owned()),
                limit: Some(20),
                order: Some(Order::Ascending),
            },
            caller: Caller {
                project: "p".to_owned(),
                subject: None,
                rate_limited: true,
            },
            session: "s".to_owned(),
            accept: Accept::Json,
            if_incarnation: None,
            request_id: "r".to_owned(),
            traceparent: None,
        };
        let header = to_ascii_json(&call).unwrap();
        assert!(header.chars().all(|c| (' '..='~').contains(&c)), "{header}");
        assert_eq!(from_json_text::<Call>(&header).unwrap(), call);
        assert_eq!(call.log_name(), "request r");
        let traced = Call {
            traceparent: Some("00-1\n".to_owned()),
            ..call
        };
        assert_eq!(traced.log_name(), r#"request r (trace "00-1\n")"#);
    }
}
