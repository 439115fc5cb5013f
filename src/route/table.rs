//! Every route there is.

use super::names::Captures;
use super::{Action, Endpoint, session};
use crate::auth::Scope;
use crate::limits::{BODY_BYTES, TOOL_BODY_BYTES};
use tidehold_durable_objects::protocol::ConversationKey;

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

const fn get(path: &'static str, build: fn(&Captures<'_>) -> Option<Endpoint>) -> RouteSpec {
    RouteSpec {
        method: "GET",
        path,
        scope: Some(Scope::Read),
        body_limit: None,
        status: 200,
        summary: "",
        query: &[],
        streams: false,
        build,
    }
}

const fn post(path: &'static str, build: fn(&Captures<'_>) -> Option<Endpoint>) -> RouteSpec {
    RouteSpec {
        method: "POST",
        scope: Some(Scope::Write),
        body_limit: Some(BODY_BYTES),
        ..get(path, build)
    }
}

const fn delete(path: &'static str, build: fn(&Captures<'_>) -> Option<Endpoint>) -> RouteSpec {
    RouteSpec {
        method: "DELETE",
        scope: Some(Scope::Write),
        ..get(path, build)
    }
}

fn about(names: &Captures<'_>, action: fn(ConversationKey) -> Action) -> Option<Endpoint> {
    session(names, action(names.conversation()?))
}

/// Paths in the order of http.md.
pub static ROUTES: [RouteSpec; 21] = [
    RouteSpec {
        scope: None,
        summary: "Whether the Worker runs.",
        ..get("/healthz", |_| Some(Endpoint::Healthz))
    },
    RouteSpec {
        scope: None,
        summary: "This document.",
        ..get("/openapi.json", |_| Some(Endpoint::OpenApi))
    },
    RouteSpec {
        scope: Some(Scope::Call),
        body_limit: Some(TOOL_BODY_BYTES),
        summary: "Calls a contract tool; the structured content is its receipt.",
        ..post("/v1/sessions/{session}/tools/{tool}", |names| {
            session(names, Action::CallTool { tool: names.tool()? })
        })
    },
    RouteSpec {
        summary: "What the session is doing and how large it is.",
        ..get("/v1/sessions/{session}", |names| session(names, Action::Inspect))
    },
    RouteSpec {
        scope: Some(Scope::Admin),
        status: 204,
        summary: "Deletes everything of the session.",
        ..delete("/v1/sessions/{session}", |names| {
            session(names, Action::DeleteSession)
        })
    },
    RouteSpec {
        summary: "The session's conversations.",
        query: &["cursor", "limit"],
        ..get("/v1/sessions/{session}/conversations", |names| {
            session(names, Action::ListConversations)
        })
    },
    RouteSpec {
        status: 201,
        summary: "Creates a conversation.",
        ..post("/v1/sessions/{session}/conversations", |names| {
            session(names, Action::CreateConversation)
        })
    },
    RouteSpec {
        summary: "One conversation with its resolved agent and its usage.",
        ..get("/v1/sessions/{session}/conversations/{conversation}", |names| {
            about(names, |conversation| Action::GetConversation { conversation })
        })
    },
    RouteSpec {
        status: 202,
        summary: "Submits an input or a write. The same requestId with the same content answers the same record.",
        ..post(
            "/v1/sessions/{session}/conversations/{conversation}/submissions",
            |names| about(names, |conversation| Action::Submit { conversation }),
        )
    },
    RouteSpec {
        summary: "One submission, after it settled or after the wait.",
        query: &["wait"],
        ..get("/v1/sessions/{session}/submissions/{submission}", |names| {
            session(
                names,
                Action::GetSubmission {
                    submission: names.submission()?,
                },
            )
        })
    },
    RouteSpec {
        summary: "Takes a queued submission back.",
        ..delete("/v1/sessions/{session}/submissions/{submission}", |names| {
            session(
                names,
                Action::AbortSubmission {
                    submission: names.submission()?,
                },
            )
        })
    },
    RouteSpec {
        status: 202,
        summary: "Aborts what runs in the conversation.",
        ..post(
            "/v1/sessions/{session}/conversations/{conversation}/abort",
            |names| about(names, |conversation| Action::AbortConversation { conversation }),
        )
    },
    RouteSpec {
        status: 202,
        summary: "Starts the conversation over, optionally with a handoff.",
        ..post(
            "/v1/sessions/{session}/conversations/{conversation}/reset",
            |names| about(names, |conversation| Action::ResetConversation { conversation }),
        )
    },
    RouteSpec {
        summary: "Changes the agent; null clears a member. Answers the resolved agent.",
        ..post(
            "/v1/sessions/{session}/conversations/{conversation}/configure",
            |names| about(names, |conversation| Action::Configure { conversation }),
        )
    },
    RouteSpec {
        scope: Some(Scope::Transcript),
        summary: "A page of the transcript.",
        query: &["cursor", "limit", "order"],
        ..get(
            "/v1/sessions/{session}/conversations/{conversation}/entries",
            |names| about(names, |conversation| Action::ListEntries { conversation }),
        )
    },
    RouteSpec {
        scope: Some(Scope::Transcript),
        summary: "The context that the model would be given, at an entry or now.",
        query: &["at"],
        ..get(
            "/v1/sessions/{session}/conversations/{conversation}/context",
            |names| about(names, |conversation| Action::GetContext { conversation }),
        )
    },
    RouteSpec {
        scope: Some(Scope::Transcript),
        summary: "Committed agent events as they happen; with Accept: application/json the snapshot alone.",
        query: &["after"],
        streams: true,
        ..get(
            "/v1/sessions/{session}/conversations/{conversation}/events",
            |names| about(names, |conversation| Action::WatchEvents { conversation }),
        )
    },
    RouteSpec {
        summary: "Live tasks: how they stand, and with the scope transcript what they work on.",
        ..get("/v1/sessions/{session}/tasks", |names| {
            session(names, Action::ListTasks)
        })
    },
    RouteSpec {
        summary: "One task: how it stands, and with the scope transcript what it works on.",
        ..get("/v1/sessions/{session}/tasks/{task}", |names| {
            session(names, Action::GetTask { task: names.task()? })
        })
    },
    RouteSpec {
        summary: "Asks a task to stop.",
        ..post("/v1/sessions/{session}/tasks/{task}/abort", |names| {
            session(names, Action::AbortTask { task: names.task()? })
        })
    },
    RouteSpec {
        summary: "What the session spent.",
        ..get("/v1/sessions/{session}/usage", |names| {
            session(names, Action::Usage)
        })
    },
];
