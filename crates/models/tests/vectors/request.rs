//! Request bodies as exact text, headers and address.

use crate::pure::{member, optional, text, typed};
use crate::reader::{Outcome, Tally, same};
use crate::support::START;
use tidehold_delta::Json;
use tidehold_models::message::Message;
use tidehold_models::openai_completions::request::{ApiKey, prepare};
use tidehold_models::system::normalize_context;

pub fn run(tally: &mut Tally) {
    tally.file("request.openai-completions", |case| {
        let options = member(case, "options");
        let key = match options.get("apiKey") {
            Some(Json::Null) => ApiKey::Missing,
            Some(key) => ApiKey::Key(key.as_str().expect("a key").to_owned()),
            None => ApiKey::Key("sk-test".to_owned()),
        };
        let messages = context(&member(case, "context"));
        let prepared = prepare(
            &typed(case, "model"),
            &messages,
            &typed(case, "options"),
            &key,
            START as i64,
        );
        let name = text(case, "name");
        let outcome = match (prepared, case.get("request").filter(|request| !request.is_null())) {
            (Ok(prepared), Some(expected)) => compare(&prepared.http, expected),
            (Err(error), None) => same(&Json::from(error), &member(case, "errorMessage")),
            (Ok(_), None) => Outcome::Differs("a request, want an error".to_owned()),
            (Err(error), Some(_)) => Outcome::Differs(error),
        };
        match outcome {
            Outcome::Differs(how) => Outcome::Differs(format!("{name}: {how}")),
            other => other,
        }
    });
}

/// A context's messages, its shorthand for a prompt and tools written out.
pub fn context(context: &Json) -> Vec<Message> {
    let prompt = context
        .get("systemPrompt")
        .and_then(Json::as_str)
        .unwrap_or_default();
    normalize_context(
        prompt,
        optional(context, "tools").unwrap_or_default(),
        typed(context, "messages"),
    )
}

fn compare(http: &tidehold_models::transport::HttpRequest, expected: &Json) -> Outcome {
    let headers = Json::object(
        http.headers
            .iter()
            .map(|(name, value)| (name.as_str(), Json::from(value))),
    );
    if let outcome @ Outcome::Differs(_) = same(&headers, &member(expected, "headers")) {
        return outcome;
    }
    if http.url != text(expected, "url") {
        return Outcome::Differs(format!("{} , want {}", http.url, text(expected, "url")));
    }
    let body = String::from_utf8(http.body.clone()).expect("text");
    let wanted = match member(expected, "body") {
        Json::String(text) => text.to_string(),
        value => value.to_string(),
    };
    if body == wanted {
        Outcome::Agrees
    } else {
        same(&Json::from(body), &Json::from(wanted))
    }
}
