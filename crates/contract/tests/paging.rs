//! Pages of long, odd and growing texts.

#![allow(clippy::indexing_slicing, reason = "helpers of tests fail like tests")]

mod support;

use support::{Bench, at, text_at};
use tidehold_contract::redact;
use tidehold_delta::{Json, json};

/// Four-byte characters, combining marks, every C0 control, and secrets across every border.
fn odd_text() -> String {
    let controls: String = (0_u8..32).map(char::from).collect();
    let mut text = String::new();
    for n in 0..40 {
        text.push_str(&format!("{n} \u{1f980}e\u{301}€é ghp_0123456789abcdefghij{n} "));
    }
    text + &controls + "\u{7f}\u{2028}end"
}

#[test]
fn pages_at_every_limit_concatenate_to_the_redacted_whole() {
    let mut bench = Bench::new();
    let text = odd_text();
    let id = bench.start(&format!("@say {}", Json::from(text.as_str())));
    bench.runtime.advance(10);
    let whole = redact::text(&text).into_owned();
    assert!(whole.contains("[REDACTED]") && !whole.contains("ghp_"));
    for view in ["final", "output"] {
        for limit in [4, 5, 6, 7, 64, 100, 1000, 4096, 65_536] {
            assert_eq!(bench.read(&id, view, limit).concat(), whole, "{view} at {limit}");
        }
    }
    let launch = Json::parse(&bench.read(&id, "launch", 5).concat(), 16).expect("JSON");
    assert_eq!(text_at(&launch, "runId"), id);
    assert_eq!(text_at(&launch, "launch.role"), "worker");
    assert!(text_at(&launch, "launch.prompt").starts_with("@say "));
}

#[test]
fn a_long_answer_is_read_back_byte_for_byte() {
    let mut bench = Bench::new();
    let id = bench.start("@repeat 60000 abcdé\n@say \\u0000");
    bench.runtime.advance(1000);
    let whole = vec!["abcdé"; 60_000].join(" ") + "\\u0000";
    assert_eq!(bench.read(&id, "final", 65_536).concat(), whole);
    let wait = bench.runs(json!({ "action": "wait", "runIds": [id.as_str()] }));
    assert_eq!(
        text_at(&wait.receipt, "data.completed.0.output.delivery"),
        "reference"
    );
}

#[test]
fn output_grows_without_losing_or_repeating_anything() {
    let mut bench = Bench::new();
    let id = bench.start("@pace 50\n@repeat 200 token\n@say \" ghp_0123456789abcdefghij end\"");
    let mut read = String::new();
    let mut cursor: Option<Json> = None;
    let mut pages = 0;
    loop {
        bench.runtime.advance(40);
        let mut arguments =
            json!({ "action": "inspect", "runIds": [id.as_str()], "view": "output", "limitBytes": 16 });
        if let Some(cursor) = &cursor {
            arguments = support::merged(&arguments, &json!({ "cursor": cursor }));
        }
        let result = bench.runs(arguments);
        let page = at(&result.receipt, "data.page");
        assert_eq!(
            page.get("nextCursor").is_none(),
            at(page, "complete").as_bool().expect("a boolean")
        );
        // Without a cursor there is nothing to go on from yet: ask again from the last one.
        let Some(next) = page.get("nextCursor") else {
            if text_at(&result.receipt, "data.outputStatus") == "final" {
                read.push_str(text_at(page, "text"));
                break;
            }
            continue;
        };
        read.push_str(text_at(page, "text"));
        cursor = Some(next.clone());
        pages += 1;
    }
    assert!(pages > 20, "{pages}");
    assert_eq!(read, vec!["token"; 200].join(" ") + " [REDACTED] end");
}

#[test]
fn several_messages_start_new_lines() {
    let mut bench = Bench::new();
    let id = bench.start("@say first\n@fail 529 overloaded\n@say never\n@call nothing {}\n---\n@say second");
    bench.runtime.advance(60_000);
    let output = bench.read(&id, "output", 5).concat();
    let diagnostics = bench.read(&id, "diagnostics", 1000).concat();
    assert!(
        diagnostics.starts_with("A model answer ended with an error: 529 overloaded"),
        "{diagnostics}"
    );
    assert!(output.ends_with("\nsecond"), "{output:?}");
    assert_eq!(bench.read(&id, "final", 4).concat(), "second");
}

#[test]
fn a_forged_or_outdated_position_is_stale_or_invalid() {
    let mut bench = Bench::new();
    let id = bench.start(&"x".repeat(200));
    bench.runtime.advance(10);
    let first = bench
        .runs(json!({ "action": "inspect", "runIds": [id.as_str()], "view": "final", "limitBytes": 64 }));
    let cursor = text_at(&first.receipt, "data.page.nextCursor").to_owned();
    let change = |from: &str, to: &str| forge(&cursor, from, to);
    let code = |bench: &mut Bench, cursor: String| {
        let arguments =
            json!({ "action": "inspect", "runIds": [id.as_str()], "view": "final", "cursor": cursor });
        bench.code(tidehold_contract::Tool::Runs, arguments)
    };
    assert_eq!(code(&mut bench, change("\"v\":1", "\"v\":0")), "cursor_stale");
    assert_eq!(code(&mut bench, change("\"v\":1", "\"v\":2")), "cursor_invalid");
    assert_eq!(code(&mut bench, change("\"o\":64", "\"o\":65")), "cursor_stale");
    assert_eq!(code(&mut bench, change("\"o\":64", "\"o\":9999")), "cursor_stale");
    assert_eq!(code(&mut bench, change("\"o\":64", "\"o\":-1")), "cursor_invalid");
}

/// The cursor with a piece of its JSON replaced.
fn forge(cursor: &str, from: &str, to: &str) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bits = cursor.bytes().flat_map(|byte| {
        let value = ALPHABET
            .iter()
            .position(|known| *known == byte)
            .expect("base64url");
        (0..6).rev().map(move |bit| value >> bit & 1)
    });
    let mut bytes = Vec::new();
    loop {
        let byte: Vec<usize> = bits.by_ref().take(8).collect();
        if byte.len() < 8 {
            break;
        }
        bytes.push(byte.iter().fold(0, |byte, bit| byte << 1 | bit) as u8);
    }
    let json = String::from_utf8(bytes).expect("JSON");
    assert!(json.contains(from), "{json}");
    let json = json.replace(from, to);
    let bits: Vec<u8> = json
        .bytes()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
        .collect();
    bits.chunks(6)
        .map(|chunk| {
            let value = (0..6).fold(0, |value, at| value << 1 | chunk.get(at).copied().unwrap_or(0));
            char::from(ALPHABET[usize::from(value)])
        })
        .collect()
}
