use super::parameters::{Parameters, accept, operation};
use super::*;
use crate::error::Code;
use tidehold_durable_objects::protocol::{
    Accept, Code as ObjectCode, ConversationId, Detail, Operation, Order,
};

fn action(method: &str, path: &str) -> Action {
    match find(method, path) {
        Ok((Endpoint::Session { session, action }, _)) if session == "s" => action,
        other => panic!("{method} {path}: {:?}", other.map(|(endpoint, _)| endpoint)),
    }
}

fn refused(method: &str, path: &str) -> (u16, Vec<(&'static str, String)>) {
    let error = find(method, path).map(|(endpoint, _)| endpoint).unwrap_err();
    (error.status(), error.headers)
}

#[test]
fn paths_become_endpoints() {
    let seven = ConversationKey::Id(ConversationId(7));
    assert_eq!(find("GET", "/healthz").unwrap().0, Endpoint::Healthz);
    assert_eq!(action("GET", "/v1/sessions/s"), Action::Inspect);
    assert_eq!(action("GET", "/v1/sessions/s/"), Action::Inspect);
    assert_eq!(
        action("POST", "/v1/sessions/s/tools/external_runs"),
        Action::CallTool {
            tool: "external_runs".to_owned()
        }
    );
    assert_eq!(
        action("GET", "/v1/sessions/s/conversations/root/entries"),
        Action::ListEntries {
            conversation: ConversationKey::Root
        }
    );
    assert_eq!(
        action("GET", "/v1/sessions/s/conversations/1/entries"),
        Action::ListEntries {
            conversation: ConversationKey::Root
        }
    );
    assert_eq!(
        action("GET", "/v1/sessions/s/conversations/7"),
        Action::GetConversation { conversation: seven }
    );
    assert_eq!(
        action("GET", "/v1/sessions/s/submissions/12"),
        Action::GetSubmission {
            submission: SubmissionId(12)
        }
    );
}

#[test]
fn other_paths_are_not_found() {
    let long = format!("/v1/sessions/{}", "a".repeat(129));
    for path in [
        "/",
        "",
        "/healthz/",
        "/v1/sessions",
        "/v1/sessions/",
        "/v1/sessions/.",
        "/v1/sessions/..",
        "/v1/sessions/a%20b",
        "/v1/sessions/a b",
        "/v1/sessions/s//",
        "/v1/sessions/s/conversations/",
        "/v1/sessions/s/conversations/main",
        "/v1/sessions/s/conversations/0",
        "/v1/sessions/s/conversations/01",
        "/v1/sessions/s/conversations/+1",
        "/v1/sessions/s/conversations/9007199254740992",
        "/v1/sessions/s/submissions/root",
        &long,
    ] {
        assert_eq!(refused("GET", path), (404, vec![]), "{path}");
    }
    assert!(find("GET", &long[..long.len() - 1]).is_ok());
}

#[test]
fn a_known_path_names_its_methods() {
    let allow = |methods: &str| (405, vec![("allow", methods.to_owned())]);
    assert_eq!(refused("POST", "/healthz"), allow("GET"));
    assert_eq!(refused("PUT", "/v1/sessions/s/conversations"), allow("GET, POST"));
    assert_eq!(
        refused("GET", "/v1/sessions/s/tools/external_help"),
        allow("POST")
    );
}

fn query(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn parameters_are_read_or_named() {
    let entries = || Action::ListEntries {
        conversation: ConversationKey::Root,
    };
    let given = query(&[
        ("limit", "500"),
        ("order", "ascending"),
        ("cursor", "c"),
        ("other", "x"),
    ]);
    let parameters = Parameters {
        query: &given,
        ..Parameters::default()
    };
    let expected = Operation::ListEntries {
        conversation: ConversationKey::Root,
        cursor: Some("c".to_owned()),
        limit: Some(500),
        order: Some(Order::Ascending),
    };
    assert_eq!(operation(entries(), &parameters).unwrap(), expected);
    for (name, value) in [
        ("limit", "0"),
        ("limit", "501"),
        ("limit", "x"),
        ("limit", ""),
        ("order", "up"),
    ] {
        let given = query(&[(name, value)]);
        let error = operation(
            entries(),
            &Parameters {
                query: &given,
                ..Parameters::default()
            },
        )
        .unwrap_err();
        assert_eq!(
            error.code,
            Code::Object(ObjectCode::ParameterInvalid),
            "{name}={value}"
        );
    }
}

#[test]
fn waits_are_clamped() {
    let wait = |text: &str| {
        let given = query(&[("wait", text)]);
        let action = Action::GetSubmission {
            submission: SubmissionId(2),
        };
        match operation(
            action,
            &Parameters {
                query: &given,
                ..Parameters::default()
            },
        ) {
            Ok(Operation::GetSubmission { wait_seconds, .. }) => wait_seconds,
            _ => None,
        }
    };
    assert_eq!(wait("1.5"), Some(2));
    assert_eq!(wait("0"), Some(0));
    assert_eq!(wait("1e9"), Some(60));
    assert_eq!(
        [wait("-1"), wait("x"), wait(""), wait("inf"), wait("NaN")],
        [None; 5]
    );
}

#[test]
fn the_newer_position_and_the_asked_form_win() {
    let given = query(&[("after", "i-1")]);
    let watch = Action::WatchEvents {
        conversation: ConversationKey::Root,
    };
    let both = Parameters {
        query: &given,
        last_event_id: Some("i-2"),
        ..Parameters::default()
    };
    let watching = operation(watch, &both).unwrap();
    assert_eq!(
        watching,
        Operation::WatchEvents {
            conversation: ConversationKey::Root,
            after: Some("i-2".to_owned())
        }
    );
    let form = |operation: &Operation, asked| {
        accept(
            operation,
            &Parameters {
                accept: asked,
                ..both
            },
        )
    };
    assert_eq!(form(&watching, None), Accept::EventStream);
    assert_eq!(form(&watching, Some("application/json")), Accept::Json);
    assert_eq!(
        form(&watching, Some("application/json, text/event-stream")),
        Accept::EventStream
    );
    let inspect = Operation::Inspect {
        detail: Detail::Status,
    };
    assert_eq!(form(&inspect, Some("*/*")), Accept::Json);
}
