//! Arguments of `external_delegate`, and the schema that checks them.

use crate::limits::{
    CONTEXT_TURNS, DESCRIPTION_CHARS, NAME_CHARS, PROFILE_CHARS, PROMPT_CHARS, REQUEST_ID_CHARS,
    RUN_ID_CHARS, RUN_TIMEOUT_MAX_MS,
};
use crate::schema::{self, NOT_BLANK, about, filled_text_up_to, integer, text_up_to, with};
use crate::wire::{Member, Wire, wire_enum, wire_struct};
use tidehold_delta::{Json, Text, json};

wire_enum! {
    /// Requested authority tier.
    pub enum Permission { Readonly = "readonly", Edit = "edit", Danger = "danger" }
}

wire_struct! {
    /// The arguments.
    pub struct DelegateInput {
        description: Text as "description" = about(text_up_to(DESCRIPTION_CHARS), "Short task label (3-5 words)."),
        prompt: Text as "prompt" = about(filled_text_up_to(PROMPT_CHARS), "Complete task briefing."),
        context: Option<ContextMode> as "context",
        background: Option<bool> as "background"
            = about(schema::boolean(), "true: return as soon as the run is registered."),
        permission: Option<Permission> as "permission" = about(Permission::schema(), "Requested authority tier."),
        max_budget_usd: Option<f64> as "max_budget_usd" = about(
            with(schema::number(), "minimum", 0_u64),
            "Spending cap where the harness can enforce one.",
        ),
        resume: Option<Text> as "resume" = about(
            text_up_to(RUN_ID_CHARS),
            "Run id (run_...) of a child to continue. Not together with context recent/full.",
        ),
        timeout_ms: Option<u64> as "timeout_ms" = about(
            integer(0, Some(RUN_TIMEOUT_MAX_MS)),
            "Limit of the run in milliseconds; 0 = the configured default.",
        ),
        answer_schema: Option<Json> as "schema"
            = about(json!({ "type": "object" }), "JSON Schema the canonical answer must match."),
        role: Option<Text> as "role" = about(text_up_to(NAME_CHARS), "Role name, e.g. worker, explorer, reviewer."),
        harness: Option<Text> as "harness" = about(text_up_to(NAME_CHARS), "Harness override; blank = default."),
        subagent_type: Option<Text> as "subagent_type"
            = about(text_up_to(PROFILE_CHARS), "Exact profile. Excludes role and harness."),
        request_id: Option<Text> as "requestId" = about(
            filled_text_up_to(REQUEST_ID_CHARS),
            "Idempotency key: the same arguments with the same id reattach to the first run.",
        ),
        conversation_id: Option<u64> as "conversationId"
            = about(integer(1, None), "Parent conversation; default the root."),
    }
}

/// Parent history given to the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextMode {
    None,
    Recent { turns: u64 },
    Full,
}

impl Wire for ContextMode {
    fn schema() -> Json {
        let mode = |name, more: Option<Member>| {
            let mode = Member {
                key: "mode",
                required: true,
                schema: schema::constant(name),
            };
            let members = std::iter::once(mode).chain(more).collect();
            with(schema::object(members), "additionalProperties", false)
        };
        let turns = Member {
            key: "turns",
            required: true,
            schema: integer(1, Some(CONTEXT_TURNS)),
        };
        json!({
            "description": "Parent history given to the child. none is the default.",
            "anyOf": [mode("none", None), mode("recent", Some(turns)), mode("full", None)],
        })
    }

    fn write(&self) -> Option<Json> {
        Some(match self {
            Self::None => json!({ "mode": "none" }),
            Self::Recent { turns } => json!({ "mode": "recent", "turns": *turns }),
            Self::Full => json!({ "mode": "full" }),
        })
    }

    fn read(value: Option<&Json>) -> Option<Self> {
        let value = value?;
        match value.get("mode")?.as_str()? {
            "none" => Some(Self::None),
            "recent" => Some(Self::Recent {
                turns: value.get("turns")?.as_u64()?,
            }),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

impl DelegateInput {
    /// Two ways to say who works, each with the shared members repeated, so that a declaration rendered from one branch is
    /// whole. A blank placeholder selects nothing: routers that fill in every member stay welcome.
    pub(super) fn input_schema() -> Json {
        let by_role = branch("role", &["role", "harness"], excluded(&["subagent_type"]));
        let by_profile = branch(
            "subagent_type",
            &["subagent_type"],
            excluded(&["role", "harness"]),
        );
        with(Self::schema(), "anyOf", json!([by_role, by_profile]))
    }
}

/// The members of every branch and those of this one; its selector is required.
fn branch(selector: &'static str, own: &[&'static str], excluded: Json) -> Json {
    let shared = |key| !["role", "harness", "subagent_type"].contains(&key);
    let members = DelegateInput::members()
        .into_iter()
        .filter(|member| shared(member.key) || own.contains(&member.key));
    let members = members.map(|member| match member {
        Member { key, schema, .. } if key == selector => Member {
            key,
            required: true,
            schema: with(schema, "minLength", 1_u64),
        },
        other => other,
    });
    with(schema::object(members.collect()), "not", excluded)
}

/// What a branch does not go with: another selector that says something.
fn excluded(keys: &[&'static str]) -> Json {
    let forms = keys.iter().map(|key| {
        let filled = json!({ "type": "string", "pattern": NOT_BLANK });
        json!({ "required": [*key], "properties": { (*key): filled } })
    });
    let said = "subagent_type excludes role and harness";
    match forms.collect::<Vec<_>>().as_slice() {
        [only] => about(only.clone(), said),
        several => about(json!({ "anyOf": Json::array(several.iter().cloned()) }), said),
    }
}
