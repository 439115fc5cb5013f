//! Random transcripts against the rules read literally, each with its own scan.

use super::*;
use crate::context::{Derived, Superseded};

const SEEDS: u64 = 1_000;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn call_id(&mut self) -> &'static str {
        ["a", "b", "c", "d"][self.below(4)]
    }

    fn message(&mut self, label: &str) -> Json {
        match self.below(10) {
            0..=2 => user(label),
            3 => system(label),
            4 => assistant(
                label,
                &[],
                ["stop", "aborted", "error", "deferred", "length"][self.below(5)],
            ),
            5 | 6 => {
                let calls: Vec<_> = (0..self.below(4)).map(|_| self.call_id()).collect();
                let reason = if self.one_in(6) { "aborted" } else { "toolUse" };
                assistant(label, &calls, reason)
            }
            _ => result(self.call_id(), label),
        }
    }

    fn messages(&mut self, label: &str) -> Vec<Json> {
        let count = if self.one_in(4) { self.below(4) } else { 1 };
        (0..count)
            .map(|n| self.message(&format!("{label}.{n}")))
            .collect()
    }

    fn transcript(&mut self) -> Transcript {
        let mut transcript = Transcript::default();
        let (heads, edits) = (3 + self.below(12), 2 + self.below(6));
        for n in 1..=1 + self.below(24) {
            let label = format!("m{n}");
            let mut draft = match self.below(6) {
                0 => EntryDraft::of_messages("pi.system", vec![system(&label)]),
                1 if self.one_in(2) => EntryDraft {
                    kind: "note".into(),
                    ..EntryDraft::default()
                },
                _ => EntryDraft::of_messages("message", self.messages(&label)),
            };
            let target = |random: &mut Self| EntryId(1 + random.below(n) as u64);
            if self.one_in(heads) {
                let head = target(self);
                draft.head = Some(if head.0 == n as u64 {
                    DraftHead::Itself
                } else {
                    DraftHead::Entry(head)
                });
            }
            if self.one_in(edits) {
                let count = 1 + self.below(3);
                let edit = |k: usize| {
                    let target = target(self);
                    match self.one_in(2) {
                        true => omit(target),
                        false => replace(target, self.messages(&format!("{label}e{k}"))),
                    }
                };
                draft.edits = Some((0..count).map(edit).collect());
            }
            transcript.append(draft);
        }
        transcript
    }
}

fn has_role(message: &Json, role: &str) -> bool {
    message.get("role").and_then(Json::as_str) == Some(role)
}

/// The ten rules one after the other, with a scan wherever they say "find".
fn naive(visible: &[Rc<EntryRecord>]) -> ContextView {
    // 1 to 3.
    let head = visible.iter().rfind(|entry| entry.head.is_some()).cloned();
    let from = head.as_ref().and_then(|head| head.head).unwrap_or(EntryId(0));
    let range: Vec<_> = visible.iter().filter(|entry| entry.id >= from).cloned().collect();
    // 5.
    let mut entries = range.clone();
    if let Some(head) = &head {
        entries.retain(|entry| entry.head.is_none());
        entries.insert(0, Rc::clone(head));
    }
    // 4 and 9, every message with its entry.
    let edit_of = |id: EntryId| {
        range
            .iter()
            .flat_map(|entry| entry.edits.iter().flatten())
            .rfind(|edit| edit.target == id)
    };
    let contribution = |entry: &Rc<EntryRecord>| -> Rc<[Json]> {
        let mut messages = match edit_of(entry.id).map(|edit| &edit.action) {
            None => entry.model.clone().unwrap_or_default(),
            Some(ContextEditAction::Omit) => Vec::new(),
            Some(ContextEditAction::Replace { messages }) => messages.clone(),
        };
        messages.retain(|message| {
            let stop = message.get("stopReason").and_then(Json::as_str);
            !matches!(stop, Some("aborted" | "error" | "deferred"))
        });
        messages.into()
    };
    let contributions: Vec<Rc<[Json]>> = entries.iter().map(contribution).collect();
    let sent: Vec<(EntryId, &Json)> = entries
        .iter()
        .zip(&contributions)
        .flat_map(|(entry, messages)| messages.iter().map(|message| (entry.id, message)))
        .collect();
    // 6 to 8.
    let mut messages: Vec<(EntryId, Json)> = Vec::new();
    let mut used = vec![false; sent.len()];
    for (at, (origin, message)) in sent.iter().enumerate() {
        if has_role(message, "toolResult") {
            continue;
        }
        messages.push((*origin, (*message).clone()));
        if !has_role(message, "assistant") {
            continue;
        }
        for block in message.get("content").unwrap().as_array().unwrap().iter() {
            let Some(call) = block.get("id").and_then(Json::as_str) else {
                continue;
            };
            let mut window = (at + 1..sent.len()).take_while(|next| !has_role(sent[*next].1, "assistant"));
            let found = window.find(|next| {
                !used[*next] && sent[*next].1.get("toolCallId").and_then(Json::as_str) == Some(call)
            });
            let answer = match found {
                Some(found) => {
                    used[found] = true;
                    sent[found].1.clone()
                }
                None => Json::object([
                    ("role", Json::from("toolResult")),
                    ("toolCallId", Json::from(call)),
                    ("toolName", block.get("name").unwrap().clone()),
                    ("content", missing_content()),
                    (
                        "details",
                        Json::object([("reason", Json::from("missing_result"))]),
                    ),
                    ("isError", Json::from(true)),
                    ("timestamp", message.get("timestamp").unwrap().clone()),
                ]),
            };
            messages.push((*origin, answer));
        }
    }
    // 10.
    let has_system = |messages: &[Json]| messages.iter().any(|message| has_role(message, "system"));
    let after_head = |entry: &&Rc<EntryRecord>| head.as_ref().is_none_or(|head| entry.id > head.id);
    let baseline = entries
        .iter()
        .filter(after_head)
        .find(|entry| &*entry.kind == "pi.system");
    let baseline = baseline.filter(|baseline| {
        let earlier_system = entries
            .iter()
            .filter(|entry| entry.id < baseline.id)
            .any(|entry| {
                has_system(entry.model.as_deref().unwrap_or_default())
                    || entry.edits.iter().flatten().any(|edit| match &edit.action {
                        ContextEditAction::Replace { messages } => has_system(messages),
                        ContextEditAction::Omit => false,
                    })
            });
        edit_of(baseline.id).is_none() && (head.is_some() || !earlier_system)
    });
    if let Some(first) = messages
        .iter()
        .position(|(_, message)| has_role(message, "system"))
    {
        let only_users = messages[..first]
            .iter()
            .all(|(_, message)| has_role(message, "user"));
        if only_users || baseline.is_some_and(|baseline| baseline.id == messages[first].0) {
            let leading = messages.remove(first);
            messages.insert(0, leading);
        }
    }
    let messages = messages.into_iter().map(|(_, message)| message).collect();
    ContextView {
        head,
        entries,
        contributions,
        messages,
    }
}

fn missing_content() -> Json {
    let text = "No result is recorded: the history ends before this call completed.";
    Json::array([Json::object([
        ("type", Json::from("text")),
        ("text", Json::from(text)),
    ])])
}

#[test]
fn random_transcripts_match_the_rules_read_literally() {
    for seed in 1..=SEEDS {
        let transcript = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)).transcript();
        for cut in 0..=transcript.entries.len() {
            let visible = &transcript.entries[..cut];
            let at = visible.last().map_or(EntryId(0), |last| last.id);
            assert_eq!(
                transcript.context_at(at),
                naive(visible),
                "seed {seed}, cutoff {at:?}"
            );
        }
    }
}

/// Every request satisfies the provider protocol: results stand directly behind their assistant, one per call.
#[test]
fn random_contexts_pair_every_call_with_the_next_results() {
    for seed in 1..=SEEDS {
        let transcript = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95)).transcript();
        let messages = transcript.context().messages;
        let mut expected = std::collections::VecDeque::<String>::new();
        for message in &messages {
            if has_role(message, "toolResult") {
                let call = message.get("toolCallId").and_then(Json::as_str).unwrap();
                assert_eq!(
                    expected.pop_front().as_deref(),
                    Some(call),
                    "seed {seed}: {:?}",
                    show(&messages)
                );
                continue;
            }
            assert!(expected.is_empty(), "seed {seed}: {:?}", show(&messages));
            let blocks = message.get("content").and_then(Json::as_array);
            let calls = blocks
                .into_iter()
                .flat_map(|blocks| blocks.iter())
                .filter_map(|block| block.get("id"));
            expected.extend(calls.filter_map(Json::as_str).map(str::to_owned));
        }
        assert!(expected.is_empty(), "seed {seed}: {:?}", show(&messages));
    }
}

/// A derivation continued gives what a derivation anew gives, and says when it cannot.
#[test]
fn appended_entries_continue_a_derivation() {
    let mut continued = 0;
    for seed in 1..=SEEDS {
        let transcript = Random(seed.wrapping_mul(0xA076_1D64_78BD_642F)).transcript();
        let anew = |at| {
            let (marker, range) = transcript.range_at(at);
            Derived::new(marker, range)
        };
        let mut kept = Derived::new(None, Vec::new());
        for entry in &transcript.entries {
            let supersedes = entry.head.is_some() || entry.edits.is_some();
            match kept.extend(vec![Rc::clone(entry)]) {
                Ok(()) => {
                    assert!(!supersedes);
                    continued += 1;
                }
                Err(Superseded) => {
                    assert!(supersedes);
                    kept = anew(entry.id);
                }
            }
            assert_eq!(kept.newest(), Some(entry.id));
            assert_eq!(kept.view(), transcript.context_at(entry.id), "seed {seed}");
        }
    }
    assert!(continued > 1_000);
}
