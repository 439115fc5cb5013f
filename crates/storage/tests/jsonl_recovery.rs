//! What JSONL makes of torn and dropped tails, and of files that contradict each other.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::jsonl::*;
use common::now;
use tidehold_delta::json;
use tidehold_session::ids::*;
use tidehold_session::storage::*;
use tidehold_storage::conformance::build::*;
use tidehold_storage::jsonl::fs::memory::{Afterwards, Effect, Fault, MemoryFs};
use tidehold_storage::jsonl::{Corruption, Damage, Fsync, JsonlOpenError};

/// Torn at every byte, also inside characters: the commit is gone, and the file ends exactly where the one before did.
#[test]
fn a_marker_torn_at_any_byte_undoes_its_commit() {
    let (fs, storage) = opened_after_first(Fsync::Off);
    let before = fs.copy();
    commit(&storage, &second()).unwrap();
    let whole = fs.get("main.jsonl").unwrap();
    let start = before.get("main.jsonl").unwrap().len();
    let expected = after(&[first()], 1);
    for length in start..whole.len() {
        let fs = fs.copy();
        fs.put("main.jsonl", &whole[..length]);
        let storage = open(&fs, Fsync::On);
        assert_eq!(all(&storage), expected, "{length} bytes");
        for file in fs.names() {
            assert_eq!(fs.get(&file), before.get(&file), "{file}, {length} bytes");
        }
        assert_eq!(commit(&storage, &second()), Ok(Seq(2)));
        assert_eq!(fs.get("main.jsonl").unwrap(), whole);
    }
}

#[test]
fn a_sidecar_torn_at_any_byte_before_its_marker_is_cut_there() {
    let (fs, storage) = opened_after_first(Fsync::Off);
    let before = fs.copy();
    commit(&storage, &second()).unwrap();
    let expected = after(&[first()], 1);
    for sidecar in SIDECARS {
        let whole = fs.get(sidecar).unwrap();
        let start = before.get(sidecar).unwrap().len();
        assert!(whole[start..].iter().any(|byte| *byte >= 0x80) || sidecar.starts_with("task"));
        for length in start..=whole.len() {
            let torn = before.copy();
            torn.put(sidecar, &whole[..length]);
            let storage = open(&torn, Fsync::Off);
            assert_eq!(all(&storage), expected, "{sidecar}, {length} bytes");
            assert_eq!(
                torn.get(sidecar),
                before.get(sidecar),
                "{sidecar}, {length} bytes"
            );
            assert_eq!(commit(&storage, &second()), Ok(Seq(2)));
        }
    }
}

#[test]
fn the_only_line_torn_at_any_byte_is_as_if_never_written() {
    let fs = MemoryFs::default();
    commit(&open(&fs, Fsync::Off), &first()).unwrap();
    let whole = fs.get("main.jsonl").unwrap();
    for length in 0..whole.len() {
        let fs = fs.copy();
        fs.put("main.jsonl", &whole[..length]);
        let storage = open(&fs, Fsync::On);
        assert_eq!(now(storage.head()), Ok(None));
        for sidecar in SIDECARS {
            assert_eq!(fs.get(sidecar), None);
        }
        assert_eq!(commit(&storage, &first()), Ok(Seq(1)));
        assert_eq!(all(&open(&fs, Fsync::Off)), after(&[first()], 1));
    }
}

fn corruption(fs: &MemoryFs) -> Corruption {
    let before = fs.copy();
    let error = try_open(fs, Fsync::On).map(drop).unwrap_err();
    assert_eq!(fs.names(), before.names(), "damage is left as it is");
    for name in fs.names() {
        assert_eq!(fs.get(&name), before.get(&name), "damage is left as it is");
    }
    let JsonlOpenError::Corrupt(corruption) = error.clone() else {
        panic!("{error}");
    };
    let StorageError::Corrupt(text) = StorageError::from(error) else {
        panic!("{corruption}");
    };
    let place = format!("{} line {}", corruption.file, corruption.line);
    assert!(text.contains(&place), "{text}");
    corruption
}

/// Three commits, so that there is a middle.
fn three() -> MemoryFs {
    let (fs, storage) = opened_after_first(Fsync::Off);
    commit(&storage, &second()).unwrap();
    let third = [
        doc::delta(20, 1, vec![doc::append("t", "3")]),
        doc::delta(21, 1, vec![doc::append("t", "3")]),
        put_task(task(10, 1, "t", waiting(&[10]))),
    ];
    commit(&storage, &third).unwrap();
    fs
}

fn with_line(fs: &MemoryFs, file: &str, line: usize, text: &[u8]) -> MemoryFs {
    let fs = fs.copy();
    let mut lines: Vec<Vec<u8>> = lines(&fs, file).into_iter().map(String::into_bytes).collect();
    lines[line - 1] = text.to_vec();
    fs.put(file, &[lines.join(&b'\n'), vec![b'\n']].concat());
    fs
}

fn without_line(fs: &MemoryFs, file: &str, line: usize) -> MemoryFs {
    let fs = fs.copy();
    let mut lines = lines(&fs, file);
    lines.remove(line - 1);
    let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs.put(file, content.as_bytes());
    fs
}

#[test]
fn a_complete_but_malformed_line_is_corruption_with_its_place() {
    let fs = three();
    for file in ["main.jsonl", "doc-20.jsonl", "doc-21.jsonl", "task-10.jsonl"] {
        let whole = lines(&fs, file);
        for line in 1..=whole.len() {
            let text = whole[line - 1].as_bytes();
            let torn = &text[..text.len() - 1];
            let other = br#"{"format":1,"type":"other","seq":1}"#;
            let unformatted = String::from_utf8(text.to_vec())
                .unwrap()
                .replace(r#""format":1,"#, "");
            for bad in [
                &b""[..],
                b"{}",
                b"null",
                b"\xff\xfe",
                b"\0\0\0\0",
                torn,
                other,
                unformatted.as_bytes(),
                br#"{"format":0,"type":"commit"}"#,
                br#"{"format":1,"type":"commit","seq":"1","writes":[]}"#,
                br#"{"format":1,"type":"record","seq":1,"ordinal":-1,"payload":{}}"#,
            ] {
                let found = corruption(&with_line(&fs, file, line, bad));
                assert_eq!((&*found.file, found.line), (file, line as u64), "{bad:?}");
                let told = matches!(
                    found.damage,
                    Damage::NotText | Damage::NotJson(_) | Damage::Shape(_)
                );
                assert!(told, "{found}");
            }
        }
    }
}

#[test]
fn a_confirmed_record_that_is_missing_is_corruption_at_every_byte() {
    let fs = three();
    let documents = ["doc-20.jsonl", "doc-21.jsonl"];
    for file in documents {
        for line in 1..=3 {
            let found = corruption(&without_line(&fs, file, line));
            assert_eq!((&*found.file, found.line), (file, line as u64));
            let commit = line as u64;
            assert_eq!(found.damage, Damage::Missing { commit });
        }
        // Whatever is dropped of the last record, its line break alone included.
        let whole = fs.get(file).unwrap();
        let last = lines(&fs, file)[2].len() + 1;
        for dropped in 1..=last {
            let fs = fs.copy();
            fs.put(file, &whole[..whole.len() - dropped]);
            let found = corruption(&fs);
            assert_eq!(found.damage, Damage::Missing { commit: 3 }, "{dropped} bytes");
            assert_eq!((&*found.file, found.line), (file, 3));
        }
    }
    for file in SIDECARS {
        let fs = fs.copy();
        fs.take(file);
        let found = corruption(&fs);
        let first_needed = if file == "task-10.jsonl" { 3 } else { 1 };
        assert_eq!((&*found.file, found.line), (file, 1));
        assert_eq!(found.damage, Damage::Missing { commit: first_needed });
    }
}

#[test]
fn what_a_later_base_state_or_retirement_supersedes_may_be_missing() {
    let fs = three();
    let storage = open(&fs, Fsync::Off);
    let expected = all(&storage);
    // A task needs its newest state alone; this open has already dropped the others.
    assert_eq!(lines(&fs, "task-10.jsonl").len(), 1);
    assert_eq!(all(&open(&fs, Fsync::Off)), expected);

    let fs = three();
    for line in [1, 2] {
        assert_eq!(
            all(&open(&without_line(&fs, "task-10.jsonl", line), Fsync::Off)),
            expected
        );
    }
    let found = corruption(&without_line(&fs, "task-10.jsonl", 3));
    assert_eq!(found.damage, Damage::Missing { commit: 3 });

    // The reclamation of a base was lost, wholly or in part.
    let old = fs.get("doc-20.jsonl").unwrap();
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &[doc::base(20, 2, json!({ "t": "b" }))]).unwrap();
    commit(&storage, &[doc::delta(20, 2, vec![doc::append("t", "!")])]).unwrap();
    let expected = all(&storage);
    let new = fs.get("doc-20.jsonl").unwrap();
    fs.put("doc-20.jsonl", &[old.clone(), new.clone()].concat());
    for line in [1, 2, 3] {
        let fs = without_line(&fs, "doc-20.jsonl", line);
        assert_eq!(all(&open(&fs, Fsync::Off)), expected);
        assert_eq!(fs.get("doc-20.jsonl").unwrap(), new, "reclaimed at the open");
    }
    for line in [4, 5] {
        let found = corruption(&without_line(&fs, "doc-20.jsonl", line));
        assert_eq!(found.damage, Damage::Missing { commit: line as u64 });
    }

    // That of a retirement.
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &[doc::retire(20)]).unwrap();
    let expected = all(&storage);
    for left in [&old[..], &new, &old[..old.len() / 2], b""] {
        let fs = fs.copy();
        fs.put("doc-20.jsonl", left);
        assert_eq!(all(&open(&fs, Fsync::Off)), expected);
        assert_eq!(fs.get("doc-20.jsonl"), None);
    }
}

fn record(seq: u64, ordinal: u64) -> Vec<u8> {
    let text = format!(
        r#"{{"format":1,"type":"record","seq":{seq},"ordinal":{ordinal},"payload":{{"kind":"delta","version":1,"ops":[]}}}}"#
    );
    format!("{text}\n").into_bytes()
}

#[test]
fn records_that_no_marker_lists_are_removed_from_the_end() {
    let (fs, storage) = opened_after_first(Fsync::Off);
    commit(&storage, &second()).unwrap();
    let expected = all(&storage);
    let clean = open(&fs, Fsync::Off).file_system().copy();
    for tail in [
        record(3, 0),
        [record(3, 0), record(4, 0)].concat(),
        [record(3, 7), b"{\"form".to_vec()].concat(),
        record(9000, 0),
    ] {
        for sidecar in ["doc-20.jsonl", "doc-21.jsonl", "task-10.jsonl", "doc-77.jsonl"] {
            let fs = clean.copy();
            fs.put(
                sidecar,
                &[fs.get(sidecar).unwrap_or_default(), tail.clone()].concat(),
            );
            assert_eq!(all(&open(&fs, Fsync::On)), expected);
            assert_eq!(fs.get(sidecar), clean.get(sidecar), "{sidecar}");
        }
    }
}

#[test]
fn a_record_that_no_marker_lists_before_one_that_is_listed_is_corruption() {
    let (fs, storage) = opened_after_first(Fsync::Off);
    commit(&storage, &[entry(30, 1)]).unwrap();
    commit(&storage, &[doc::delta(20, 1, vec![])]).unwrap();
    let confirmed = lines(&fs, "doc-20.jsonl");
    let content = [
        format!("{}\n", confirmed[0]).into_bytes(),
        record(2, 0),
        format!("{}\n", confirmed[1]).into_bytes(),
    ];
    fs.put("doc-20.jsonl", &content.concat());
    let found = corruption(&fs);
    assert_eq!((&*found.file, found.line), ("doc-20.jsonl", 2));
    assert_eq!(
        found.damage,
        Damage::Unconfirmed {
            unconfirmed: 2,
            confirmed: 3
        }
    );
}

#[test]
fn sequence_numbers_that_do_not_increase_are_corruption() {
    let fs = three();
    for file in ["main.jsonl", "doc-20.jsonl"] {
        for (line, text, before, found) in [
            (3, r#""seq":2"#, 2, 2),
            (3, r#""seq":1"#, 2, 1),
            (2, r#""seq":0"#, 1, 0),
        ] {
            let old = &lines(&fs, file)[line - 1];
            let new = old.replacen(&format!(r#""seq":{line}"#), text, 1);
            let damage = corruption(&with_line(&fs, file, line, new.as_bytes()));
            assert_eq!((&*damage.file, damage.line), (file, line as u64));
            assert_eq!(damage.damage, Damage::Order { before, found });
        }
    }
}

#[test]
fn markers_that_contradict_each_other_or_their_records_are_corruption() {
    let fs = three();
    let cases = [
        // A document that was never created, an ordinal that does not count, a second creation, an incarnation twice.
        (
            "main.jsonl",
            2,
            r#"{"type":"delta","id":20,"#,
            r#"{"type":"delta","id":22,"#,
        ),
        ("main.jsonl", 2, r#""ordinal":2"#, r#""ordinal":1"#),
        ("main.jsonl", 2, r#""value":{"id":30"#, r#""value":{"id":20"#),
        ("main.jsonl", 2, r#""seq":2,"#, r#""seq":2,"incarnation":"x","#),
        ("main.jsonl", 1, r#""incarnation":"test","#, ""),
        ("main.jsonl", 1, r#""createdAt":1"#, r#""createdAt":2"#),
        ("main.jsonl", 1, r#""ids":1045"#, r#""ids":9007199254740992"#),
        // A record of another sort, version or task than its marker says.
        (
            "doc-20.jsonl",
            2,
            r#""kind":"delta""#,
            r#""kind":"delta","x":1,"kind":"base","value":{}"#,
        ),
        ("doc-21.jsonl", 3, r#""version":1"#, r#""version":2"#),
        ("task-10.jsonl", 3, r#""id":10"#, r#""id":11"#),
        (
            "task-10.jsonl",
            3,
            r#""status":"waiting""#,
            r#""status":"terminal","outcome":{"status":"orphaned","reason":""}"#,
        ),
    ];
    for (file, line, from, to) in cases {
        let old = &lines(&fs, file)[line - 1];
        assert!(old.contains(from), "{old}");
        let fs = with_line(&fs, file, line, old.replacen(from, to, 1).as_bytes());
        let found = corruption(&fs);
        // A record that a marker lists by mistake is missed in its sidecar.
        if !matches!(found.damage, Damage::Missing { .. } | Damage::Unconfirmed { .. }) {
            assert_eq!((&*found.file, found.line), (file, line as u64), "{found}");
        }
    }
}

#[test]
fn an_open_that_fails_below_reports_it_and_the_next_one_succeeds() {
    let (fs, storage) = opened_after_first(Fsync::On);
    commit(&storage, &second()).unwrap();
    let expected = after(&[first()], 1);
    // Everything that an open can find to repair.
    let torn = fs.get("main.jsonl").unwrap();
    fs.put("main.jsonl", &torn[..torn.len() - 1]);
    fs.put("doc-20.jsonl.reclaim", b"half");
    fs.put("doc-99.jsonl", b"half");
    let calls = {
        let fs = fs.copy();
        open(&fs, Fsync::On);
        fs.calls()
    };
    let mut failed = 0;
    for call in 0..calls {
        for effect in [Effect::Nothing, Effect::Everything] {
            let fs = fs.copy();
            fs.fail(Some(Fault {
                calls: call,
                effect,
                afterwards: Afterwards::Dead,
            }));
            match try_open(&fs, Fsync::On).map(drop) {
                Err(JsonlOpenError::FileSystem(_)) => failed += 1,
                other => panic!("{call}: {other:?}"),
            }
            fs.restart();
            assert_eq!(all(&open(&fs, Fsync::On)), expected);
        }
    }
    assert_eq!(failed, 2 * calls);
}

/// What one crashed commit can leave goes; what many commits left is nobody's to delete.
#[test]
fn sidecars_of_several_commits_without_their_main_file_are_corruption() {
    let (fs, storage) = opened_after_first(Fsync::Off);
    commit(&storage, &second()).unwrap();
    for main in [None, Some(&b""[..]), Some(&br#"{"format":1,"ty"#[..])] {
        let fs = fs.copy();
        match main {
            None => now(tidehold_storage::jsonl::FileSystem::remove(&fs, "main.jsonl")).unwrap(),
            Some(torn) => fs.put("main.jsonl", torn),
        }
        let Corruption { file, damage, .. } = corruption(&fs);
        assert!(SIDECARS.contains(&file.as_str()), "{file}");
        assert_eq!(damage, Damage::Headless { commit: 2 });
    }
}
