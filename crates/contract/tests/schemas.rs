//! Schemas: golden files, and the interpreter against the `jsonschema` crate over random values.

#![allow(clippy::indexing_slicing, reason = "helpers of tests fail like tests")]

mod support;

use std::path::PathBuf;
use support::{Bench, at, delegation, merged};
use tidehold_contract::schema::{KNOWN_PATTERNS, check};
use tidehold_contract::{Call, Tool};
use tidehold_delta::{Json, Object, json};

fn foreign(value: &Json) -> serde_json::Value {
    serde_json::from_str(&value.to_string()).expect("JSON")
}

#[test]
fn schemas_match_their_golden_files() {
    for tool in Tool::ALL {
        for (side, schema) in [("input", tool.input_schema()), ("output", tool.output_schema())] {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join("tests/golden/schemas")
                .join(format!("{}.{side}.json", tool.name()));
            support::golden::assert_contents(&path, &schema);
            jsonschema::draft202012::meta::validate(&foreign(&schema)).expect("a valid schema");
            assert_eq!(schema.get("type"), Some(&json!("object")), "MCP wants objects");
            assert_patterns(&schema);
        }
    }
}

fn assert_patterns(schema: &Json) {
    match schema {
        Json::Object(members) => {
            if let Some(pattern) = members.get("pattern").and_then(Json::as_str) {
                assert!(KNOWN_PATTERNS.contains(&pattern), "{pattern}");
            }
            members.values().for_each(assert_patterns);
        }
        Json::Array(items) => items.iter().for_each(assert_patterns),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

#[test]
fn every_branch_of_the_delegate_schema_is_whole() {
    let schema = Tool::Delegate.input_schema();
    let properties = |value: &Json| -> Vec<String> {
        at(value, "properties")
            .as_object()
            .expect("an object")
            .keys()
            .map(ToString::to_string)
            .collect()
    };
    let shared: Vec<String> = properties(&schema)
        .into_iter()
        .filter(|key| !["role", "harness", "subagent_type"].contains(&&**key))
        .collect();
    for branch in ["anyOf.0", "anyOf.1"] {
        let branch = at(&schema, branch);
        let own = properties(branch);
        assert!(shared.iter().all(|key| own.contains(key)));
        assert_eq!(at(branch, "required.0"), &json!("description"));
    }
}

/// Reproducible choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn scalar(&mut self) -> Json {
        let texts = [
            "",
            " ",
            "worker",
            "list",
            "any",
            "none",
            "recent",
            "summary",
            "readonly",
            "run_1",
            "wf_a-b",
            "run_",
            "é\u{1f980}",
        ];
        match self.below(9) {
            0 => Json::Null,
            1 => Json::Bool(self.below(2) == 0),
            2 => Json::from(*self.one_of(&[-1.0, 0.0, 1.0, 1.5, 4.0, 100.0, 101.0, 65_536.0, 1e300])),
            3 => Json::from("€".repeat(*self.one_of(&[63, 64, 65, 512, 513]))),
            4 => json!([]),
            5 => json!(["run_1", "run_2"]),
            6 => {
                json!({ "mode": *self.one_of(&["none", "recent", "full", "other"]), "turns": self.below(3) as u64 })
            }
            _ => Json::from(*self.one_of(&texts)),
        }
    }

    /// The value with one random change somewhere.
    fn changed(&mut self, value: &Json, keys: &[String]) -> Json {
        match value {
            Json::Object(members) if self.below(4) > 0 => {
                let mut members: Object = members.clone();
                let existing: Vec<String> = members.keys().map(ToString::to_string).collect();
                match self.below(4) {
                    0 if !existing.is_empty() => drop(members.remove(self.one_of(&existing).as_str())),
                    1 | 2 if !existing.is_empty() => {
                        let key = self.one_of(&existing).clone();
                        let changed = self.changed(members.get(&key).expect("there"), keys);
                        members.insert(key, changed);
                    }
                    _ => drop(members.insert(self.one_of(keys).as_str(), self.scalar())),
                }
                Json::Object(members)
            }
            Json::Array(items) if !items.is_empty() && self.below(3) > 0 => {
                let mut items = items.to_vec();
                let at = self.below(items.len());
                items[at] = self.changed(&items[at].clone(), keys);
                Json::array(items)
            }
            _ => self.scalar(),
        }
    }
}

fn compare(schema: &Json, seeds: &[Json], keys: &[String], rounds: usize) {
    let reference = jsonschema::draft202012::new(&foreign(schema)).expect("a schema");
    let mut choices = Choices(0x9e37_79b9_7f4a_7c15);
    let (mut valid, mut invalid) = (0, 0);
    for round in 0..rounds {
        let mut value = choices.one_of(seeds).clone();
        for _ in 0..round % 5 {
            value = choices.changed(&value, keys);
        }
        let expected = reference.is_valid(&foreign(&value));
        assert_eq!(check(schema, &value).is_empty(), expected, "{value}");
        if expected { valid += 1 } else { invalid += 1 }
    }
    assert!(
        valid > rounds / 10 && invalid > rounds / 10,
        "{valid} valid, {invalid} invalid"
    );
}

fn keys_of(schema: &Json) -> Vec<String> {
    let properties = at(schema, "properties").as_object().expect("an object");
    properties
        .keys()
        .map(ToString::to_string)
        .chain(["unknown".to_owned()])
        .collect()
}

#[test]
fn inputs_are_judged_like_a_full_validator_does() {
    let delegate = Tool::Delegate.input_schema();
    let seeds = [
        delegation("x"),
        merged(
            &delegation("x"),
            &json!({ "subagent_type": " ", "harness": "h", "context": { "mode": "full" } }),
        ),
        merged(
            &delegation("x"),
            &json!({ "background": true, "timeout_ms": 5, "max_budget_usd": 0.5, "schema": {} }),
        ),
        json!({ "description": "d", "prompt": "p", "subagent_type": "s", "role": "", "permission": "edit" }),
    ];
    compare(&delegate, &seeds, &keys_of(&delegate), 20_000);
    let runs = Tool::Runs.input_schema();
    let seeds = [
        json!({ "action": "list", "limit": 5, "cursor": "" }),
        json!({ "action": "inspect", "runIds": ["run_1"], "view": "final", "limitBytes": 64, "tool": "external_runs" }),
        json!({ "action": "wait", "runIds": ["run_1"], "mode": "any", "timeoutMs": 0 }),
    ];
    compare(&runs, &seeds, &keys_of(&runs), 20_000);
}

#[test]
fn receipts_are_judged_like_a_full_validator_does() {
    let mut bench = Bench::new();
    let id = bench.start("hello");
    let keys: Vec<String> = [
        "ok", "error", "data", "run", "state", "status", "output", "value", "mode", "page", "unknown",
    ]
    .map(Into::into)
    .to_vec();
    let delegated = [
        bench.delegate("hi").receipt,
        bench.delegate("@fail 400 no").receipt,
    ];
    let refused = bench
        .call(
            Tool::Delegate,
            merged(&delegation("x"), &json!({ "role": "nobody" })),
        )
        .receipt;
    compare(
        &Tool::Delegate.output_schema(),
        &[&delegated[..], &[refused]].concat(),
        &keys,
        6_000,
    );
    let supervised = [
        bench.runs(json!({ "action": "list" })).receipt,
        bench.inspect(&id, "final").receipt,
        bench.inspect(&id, "summary").receipt,
        bench
            .runs(json!({ "action": "wait", "runIds": [id.as_str()] }))
            .receipt,
        bench
            .runs(json!({ "action": "cancel", "runIds": [id.as_str()] }))
            .receipt,
        bench
            .runs(json!({ "action": "cancel", "runIds": ["run_x"] }))
            .receipt,
    ];
    compare(&Tool::Runs.output_schema(), &supervised, &keys, 6_000);
}

#[test]
fn tools_are_found_by_name_only() {
    for name in ["external_workflow", "external_help", "", "External_Runs"] {
        assert!(matches!(
            Call::check(name, &json!({})),
            Err(tidehold_contract::CallError::UnknownTool)
        ));
    }
}

#[test]
fn problems_are_bounded_and_never_show_values() {
    let secret = "ghp_0123456789abcdefghij";
    let many = json!({ "action": secret, "runIds": Json::array((0..500).map(|_| json!(7))), "mode": secret });
    let problems = check(&Tool::Runs.input_schema(), &many);
    assert_eq!(problems.len(), 20);
    assert!(problems.iter().all(|problem| !problem.message.contains("ghp_")));
    assert_eq!(
        problems
            .iter()
            .find(|problem| problem.path == "/runIds/3")
            .map(|p| p.message.as_str()),
        Some("must be a string")
    );
}
