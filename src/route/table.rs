//! Every route there is.

use super::names::Captures;
use super::{Action, Endpoint, session};
use crate::auth::Scope;
use crate::limits::{BODY_BYTES, TOOL_BODY_BYTES};

/// One method of one path.
pub struct RouteSpec {
    pub method: &'static str,
    /// With `{placeholders}`, as in OpenAPI.
    pub path: &'static str,
    /// What a token needs; `None`: no token.
    pub scope: Option<Scope>,
    /// Most bytes of the body; `None`: the route takes none.
    pub body_limit: Option<usize>,
    /// Status of success.
    pub status: u16,
    /// For the OpenAPI document.
    pub summary: &'static str,
    /// Query parameters, as [`super::parameters`] reads them.
    pub query: &'static [&'static str],
    /// Whether the route can answer with server-sent events.
    pub streams: bool,
    /// `None`: a name in the path is outside its grammar.
    pub build: fn(&Captures<'_>) -> Option<Endpoint>,
}

const GET: RouteSpec = RouteSpec {
    method: "GET",
    path: "",
    scope: Some(Scope::Read),
    body_limit: None,
    status: 200,
    summary: "",
    query: &[],
    streams: false,
    build: |_| None,
};

const POST: RouteSpec = RouteSpec {
    method: "POST",
    scope: Some(Scope::Write),
    body_limit: Some(BODY_BYTES),
    ..GET
};

/// Paths in the order of http.md.
pub static ROUTES: [RouteSpec; 11] = [
    RouteSpec {
        path: "/healthz",
        scope: None,
        summary: "Whether the Worker runs.",
        build: |_| Some(Endpoint::Healthz),
        ..GET
    },
    RouteSpec {
        path: "/openapi.json",
        scope: None,
        summary: "This document.",
        build: |_| Some(Endpoint::OpenApi),
        ..GET
    },
    RouteSpec {
        path: "/v1/sessions/{session}/tools/{tool}",
        scope: Some(Scope::Call),
        body_limit: Some(TOOL_BODY_BYTES),
        status: 200,
        summary: "Calls a contract tool; the answer is its receipt.",
        build: |names| session(names, Action::CallTool { tool: names.tool()? }),
        ..POST
    },
    RouteSpec {
        path: "/v1/sessions/{session}",
        summary: "What the session is doing and how large it is.",
        build: |names| session(names, Action::Inspect),
        ..GET
    },
    RouteSpec {
        path: "/v1/sessions/{session}/conversations",
        summary: "The session's conversations.",
        query: &["cursor", "limit"],
        build: |names| session(names, Action::ListConversations),
        ..GET
    },
    RouteSpec {
        path: "/v1/sessions/{session}/conversations",
        status: 201,
        summary: "Creates a conversation.",
        build: |names| session(names, Action::CreateConversation),
        ..POST
    },
    RouteSpec {
        path: "/v1/sessions/{session}/conversations/{conversation}",
        summary: "One conversation with its resolved agent and its usage.",
        build: |names| {
            session(
                names,
                Action::GetConversation {
                    conversation: names.conversation()?,
                },
            )
        },
        ..GET
    },
    RouteSpec {
        path: "/v1/sessions/{session}/conversations/{conversation}/submissions",
        status: 202,
        summary: "Submits an input or a write. The same requestId with the same content answers the same record.",
        build: |names| {
            session(
                names,
                Action::Submit {
                    conversation: names.conversation()?,
                },
            )
        },
        ..POST
    },
    RouteSpec {
        path: "/v1/sessions/{session}/submissions/{submission}",
        summary: "One submission, after it settled or after the wait.",
        query: &["wait"],
        build: |names| {
            session(
                names,
                Action::GetSubmission {
                    submission: names.submission()?,
                },
            )
        },
        ..GET
    },
    RouteSpec {
        path: "/v1/sessions/{session}/conversations/{conversation}/entries",
        scope: Some(Scope::Transcript),
        summary: "A page of the transcript.",
        query: &["cursor", "limit", "order"],
        build: |names| {
            session(
                names,
                Action::ListEntries {
                    conversation: names.conversation()?,
                },
            )
        },
        ..GET
    },
    RouteSpec {
        path: "/v1/sessions/{session}/conversations/{conversation}/events",
        scope: Some(Scope::Transcript),
        summary: "Committed agent events as they happen; with Accept: application/json the snapshot alone.",
        query: &["after"],
        streams: true,
        build: |names| {
            session(
                names,
                Action::WatchEvents {
                    conversation: names.conversation()?,
                },
            )
        },
        ..GET
    },
];
