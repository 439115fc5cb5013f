//! What JSONL writes, in which order, and what it gives back.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::jsonl::*;
use common::now;
use tidehold_delta::{Json, Op, json};
use tidehold_session::documents::Point;
use tidehold_session::ids::*;
use tidehold_session::storage::*;
use tidehold_storage::conformance::build::*;
use tidehold_storage::jsonl::fs::memory::{Afterwards, Effect, Fault, MemoryFs};
use tidehold_storage::jsonl::{Fsync, JsonlOpenError};

const BOTH: [Fsync; 2] = [Fsync::Off, Fsync::On];

fn value(storage: &Jsonl, id: u64, at: Point) -> Option<Json> {
    now(storage.document(DocumentId(id), at))
        .unwrap()
        .map(|stored| stored.value)
}

#[test]
fn each_commit_is_one_line_of_main_and_content_is_in_sidecars() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &first()).unwrap();
    assert_eq!(
        fs.names(),
        ["doc-20.jsonl", "doc-21.jsonl", "main.jsonl", "task-10.jsonl"]
    );
    commit(&storage, &second()).unwrap();
    assert_eq!(lines(&fs, "main.jsonl").len(), 2);
    for sidecar in ["doc-20.jsonl", "doc-21.jsonl", "task-10.jsonl"] {
        assert_eq!(lines(&fs, sidecar).len(), 2, "{sidecar}");
    }
    // Live states are in the sidecar alone, terminal ones in main alone.
    let main = fs.get("main.jsonl").unwrap();
    assert!(!String::from_utf8(main).unwrap().contains("checkpoint"));
    commit(&storage, &[put_task(task(10, 1, "t", terminal()))]).unwrap();
    assert!(lines(&fs, "main.jsonl")[2].contains("terminal"));
    assert_eq!(fs.get("task-10.jsonl"), None);
    commit(&storage, &[doc::retire(20)]).unwrap();
    assert!(lines(&fs, "main.jsonl")[3].contains(r#"{"type":"retire","id":20}"#));
    assert_eq!(fs.names(), ["doc-21.jsonl", "main.jsonl"]);
}

#[test]
fn the_format_stays_readable() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &[conv(1)]).unwrap();
    commit(
        &storage,
        &[doc::create(doc::session(2, "d"), 3, json!({ "a": 1 }))],
    )
    .unwrap();
    commit(&storage, &[doc::delta(2, 3, vec![doc::set("a", 2)]), entry(5, 1)]).unwrap();
    assert_eq!(
        lines(&fs, "main.jsonl"),
        [
            r#"{"format":1,"type":"commit","seq":1,"incarnation":"test","ids":1025,"writes":[{"type":"conversation","value":{"id":1}}]}"#,
            r#"{"format":1,"type":"commit","seq":2,"writes":[{"type":"document","record":{"id":2,"kind":"d","scope":{"kind":"session"},"createdAt":2},"version":3,"ordinal":0}]}"#,
            r#"{"format":1,"type":"commit","seq":3,"writes":[{"type":"delta","id":2,"version":3,"ordinal":0},{"type":"entry","value":{"id":5,"conversationId":1,"kind":"test.entry"}}]}"#,
        ]
    );
    assert_eq!(
        lines(&fs, "doc-2.jsonl"),
        [
            r#"{"format":1,"type":"record","seq":2,"ordinal":0,"payload":{"kind":"base","version":3,"value":{"a":1}}}"#,
            r#"{"format":1,"type":"record","seq":3,"ordinal":0,"payload":{"kind":"delta","version":3,"ops":[["s",["a"],2]]}}"#,
        ]
    );
}

#[test]
fn sidecars_are_appended_in_write_order_then_flushed_then_confirmed() {
    for fsync in BOTH {
        let (fs, storage) = opened_after_first(fsync);
        commit(&storage, &second()).unwrap();
        let mut wanted = vec![
            "append doc-21.jsonl",
            "append task-10.jsonl",
            "append doc-20.jsonl",
            "append main.jsonl",
        ];
        if fsync == Fsync::On {
            wanted.splice(
                3..3,
                ["sync doc-21.jsonl", "sync task-10.jsonl", "sync doc-20.jsonl"],
            );
        }
        assert_eq!(log(&fs), wanted);
        // Without a sidecar there is nothing to flush.
        commit(&storage, &[entry(31, 1)]).unwrap();
        assert_eq!(log(&fs), ["append main.jsonl"]);
    }
}

#[test]
fn new_names_are_flushed_before_the_marker_that_needs_them() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::On);
    log(&fs);
    commit(&storage, &first()[..2]).unwrap();
    let new = [
        "create_dir",
        "append task-10.jsonl",
        "sync task-10.jsonl",
        "sync_dir",
        "append main.jsonl",
        // Once: without it sidecars of a session whose power is lost would have no main file, which is a damage.
        "sync main.jsonl",
        "sync_dir",
    ];
    assert_eq!(log(&fs), new);
}

#[test]
fn what_cannot_be_encoded_touches_no_file_and_takes_no_number() {
    let not_a_number = || Json::Number(f64::NAN);
    let deep = || (0..600).fold(json!(1), |inner, _| Json::array([inner]));
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::On);
    commit(&storage, &first()).unwrap();
    log(&fs);
    for bad in [not_a_number, deep as fn() -> Json] {
        for writes in [
            vec![entry_with(30, 1, bad())],
            vec![doc::base(20, 1, bad())],
            vec![doc::delta(20, 1, vec![doc::set("a", bad())])],
            vec![doc::create(doc::session(31, "d"), 1, bad())],
            // Beside what could be written.
            vec![
                doc::delta(21, 1, vec![doc::append("t", "x")]),
                entry_with(30, 1, bad()),
            ],
        ] {
            let answer = commit(&storage, &writes);
            assert!(matches!(answer, Err(StorageError::Batch(_))), "{answer:?}");
        }
    }
    let refused = commit(&storage, &[conv(1)]);
    assert!(matches!(refused, Err(StorageError::Batch(_))));
    assert_eq!(log(&fs), Vec::<String>::new());
    assert_eq!(commit(&storage, &second()), Ok(Seq(2)));
}

#[test]
fn a_base_replaces_what_came_before_it() {
    for fsync in BOTH {
        let (fs, storage) = opened_after_first(fsync);
        commit(&storage, &second()).unwrap();
        log(&fs);
        commit(&storage, &[doc::base(20, 2, json!({ "t": "base" }))]).unwrap();
        let wanted: &[&str] = match fsync {
            Fsync::Off => &[
                "append doc-20.jsonl",
                "append main.jsonl",
                "append doc-20.jsonl.reclaim",
                "rename doc-20.jsonl.reclaim",
            ],
            Fsync::On => &[
                "append doc-20.jsonl",
                "sync doc-20.jsonl",
                "append main.jsonl",
                "sync main.jsonl",
                "append doc-20.jsonl.reclaim",
                "sync doc-20.jsonl.reclaim",
                "rename doc-20.jsonl.reclaim",
            ],
        };
        assert_eq!(log(&fs), wanted);
        let left = lines(&fs, "doc-20.jsonl");
        assert_eq!(left.len(), 1);
        assert!(left[0].contains(r#""value":{"t":"base"}"#), "{left:?}");
        // The next append goes to the new file, whose name must be flushed first.
        commit(&storage, &[doc::delta(20, 2, vec![doc::append("t", "!")])]).unwrap();
        if fsync == Fsync::On {
            assert_eq!(
                log(&fs),
                [
                    "append doc-20.jsonl",
                    "sync doc-20.jsonl",
                    "sync_dir",
                    "append main.jsonl"
                ]
            );
        }
        let storage = open(&fs, fsync);
        assert_eq!(value(&storage, 20, Point::Current), Some(json!({ "t": "base!" })));
    }
}

#[test]
fn nothing_needed_removes_the_file_and_main_is_flushed_once() {
    let (fs, storage) = opened_after_first(Fsync::On);
    let end = [put_task(task(10, 1, "t", terminal())), doc::retire(20)];
    commit(&storage, &end).unwrap();
    assert_eq!(
        log(&fs),
        [
            "append main.jsonl",
            "sync main.jsonl",
            "remove task-10.jsonl",
            "remove doc-20.jsonl"
        ]
    );
}

#[test]
fn rewindable_documents_are_never_reclaimed() {
    for fsync in BOTH {
        let (fs, storage) = opened_after_first(fsync);
        commit(&storage, &second()).unwrap();
        commit(&storage, &[doc::base(21, 2, json!({ "t": "base" }))]).unwrap();
        commit(&storage, &[doc::retire(21)]).unwrap();
        let storage = open(&fs, fsync);
        assert_eq!(lines(&fs, "doc-21.jsonl").len(), 3);
        for (seq, wanted) in [(1, "é😀"), (2, "é😀ü€𝄞"), (3, "base")] {
            assert_eq!(
                value(&storage, 21, Point::At(Seq(seq))),
                Some(json!({ "t": wanted }))
            );
        }
        assert_eq!(value(&storage, 21, Point::At(Seq(4))), None);
    }
}

#[test]
fn the_record_of_a_removed_sidecar_is_still_found() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &first()).unwrap();
    commit(&storage, &[doc::retire(20)]).unwrap();
    assert_eq!(fs.get("doc-20.jsonl"), None);
    let address = doc::address(&doc::latest(20, 1, "l"));
    for storage in [&storage, &open(&fs, Fsync::Off)] {
        let at = |point| {
            let found = now(storage.find_document(&address, point)).unwrap();
            found.map(|record| (record.id, record.created_at, record.retired_at))
        };
        assert_eq!(
            at(Point::At(Seq(1))),
            Some((DocumentId(20), Seq(1), Some(Seq(2))))
        );
        assert_eq!((at(Point::At(Seq(2))), at(Point::Current)), (None, None));
    }
}

/// A reclamation that fails anywhere leaves the commit as it is, everything usable, and is made up for by the next open.
#[test]
fn a_failed_reclamation_costs_nothing_and_is_repeated_at_open() {
    let endings: [(&str, Vec<StorageWrite>, Option<usize>); 3] = [
        (
            "doc-20.jsonl",
            vec![doc::base(20, 1, json!({ "t": "b" }))],
            Some(1),
        ),
        ("doc-20.jsonl", vec![doc::retire(20)], None),
        (
            "task-10.jsonl",
            vec![put_task(task(10, 1, "t", terminal()))],
            None,
        ),
    ];
    let mut cases = 0;
    for fsync in BOTH {
        for (file, ending, kept) in &endings {
            let (calls, reclaiming) = calls_of(fsync, ending);
            let effects = [Effect::Nothing, Effect::Prefix(20), Effect::Everything];
            for call in calls - reclaiming..calls {
                for (effect, afterwards) in effects
                    .into_iter()
                    .flat_map(|effect| [(effect, Afterwards::Works), (effect, Afterwards::Dead)])
                {
                    let (fs, storage) = opened_after_first(fsync);
                    fs.fail(Some(Fault {
                        calls: call,
                        effect,
                        afterwards,
                    }));
                    let seq = commit(&storage, ending);
                    assert_eq!(seq, Ok(Seq(2)), "{file} {fsync:?} {call} {effect:?}");
                    assert!(!fs.is_armed());
                    let expected = after(&[first(), ending.clone()], 2);
                    assert_eq!(all(&storage), expected);
                    let deferred = storage.deferred_reclamations();
                    assert_eq!(deferred.len(), 1, "{deferred:?}");
                    assert_eq!(deferred[0].0, *file);
                    if afterwards == Afterwards::Works {
                        // The backend is not poisoned: unlike an append, this is not uncertain.
                        commit(&storage, &[entry(40, 1)]).unwrap();
                    }
                    fs.restart();
                    let storage = open(&fs, fsync);
                    assert_eq!(storage.deferred_reclamations(), []);
                    assert_eq!(fs.get(file).map(|_| lines(&fs, file).len()), *kept);
                    assert!(!fs.names().iter().any(|name| name.ends_with(".reclaim")));
                    if afterwards == Afterwards::Dead {
                        assert_eq!(all(&storage), expected);
                    }
                    cases += 1;
                }
            }
        }
    }
    // A replacement is two calls, with fsync four; a removal one, with fsync two. Each in six ways.
    assert_eq!(cases, 6 * ((2 + 1 + 1) + (4 + 2 + 2)));
}

/// All calls of a commit after [`first`], and how many of them reclaim.
fn calls_of(fsync: Fsync, writes: &[StorageWrite]) -> (u64, u64) {
    let (fs, storage) = opened_after_first(fsync);
    commit(&storage, writes).unwrap();
    let log = log(&fs);
    let marker = log.iter().position(|call| call == "append main.jsonl").unwrap();
    (log.len() as u64, (log.len() - marker - 1) as u64)
}

#[test]
fn an_open_whose_reclamation_fails_opens_and_tells() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &first()).unwrap();
    fs.fail(Some(Fault {
        calls: 1,
        effect: Effect::Nothing,
        afterwards: Afterwards::Works,
    }));
    commit(&storage, &[doc::retire(20)]).unwrap();
    assert_eq!(storage.deferred_reclamations().len(), 1);
    // list, main, three sidecars; then the removal.
    fs.fail(Some(Fault {
        calls: 5,
        effect: Effect::Nothing,
        afterwards: Afterwards::Works,
    }));
    let storage = open(&fs, Fsync::Off);
    assert_eq!(storage.deferred_reclamations()[0].0, "doc-20.jsonl");
    assert_eq!(value(&storage, 20, Point::Current), None);
    assert_eq!(open(&fs, Fsync::Off).deferred_reclamations(), []);
    assert_eq!(fs.get("doc-20.jsonl"), None);
}

#[test]
fn superseded_task_states_go_at_the_next_open() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &first()).unwrap();
    commit(&storage, &second()).unwrap();
    assert_eq!(lines(&fs, "task-10.jsonl").len(), 2);
    let storage = open(&fs, Fsync::Off);
    assert_eq!(lines(&fs, "task-10.jsonl").len(), 1);
    assert_eq!(all(&storage), after(&[first(), second()], 2));
}

#[test]
fn a_task_that_lives_again_gets_a_new_sidecar() {
    for fsync in BOTH {
        let (fs, storage) = opened_after_first(fsync);
        // Gone, though the removal reports a failure.
        fs.fail(Some(Fault {
            calls: 1 + u64::from(fsync == Fsync::On),
            effect: Effect::Everything,
            afterwards: Afterwards::Works,
        }));
        commit(&storage, &[put_task(task(10, 1, "t", terminal()))]).unwrap();
        assert_eq!(fs.get("task-10.jsonl"), None);
        // Flushes the names once in between.
        commit(&storage, &[doc::delta(20, 1, vec![doc::append("t", "x")])]).unwrap();
        log(&fs);
        commit(&storage, &[put_task(task(10, 1, "t", running()))]).unwrap();
        if fsync == Fsync::On {
            assert_eq!(
                log(&fs),
                [
                    "append task-10.jsonl",
                    "sync task-10.jsonl",
                    "sync_dir",
                    "append main.jsonl"
                ]
            );
        }
        let storage = open(&fs, fsync);
        let found = now(storage.task(TaskId(10))).unwrap();
        assert_eq!(found, Some(task(10, 1, "t", running())));
    }
}

#[test]
fn other_files_of_the_directory_are_left_alone() {
    let fs = MemoryFs::default();
    for name in [
        "README",
        "doc-07.jsonl",
        "notes.jsonl",
        "main.jsonl.bak",
        "x.reclaim",
    ] {
        fs.put(name, b"not ours");
    }
    fs.put("doc-20.jsonl.reclaim", b"half a replacem");
    let storage = open(&fs, Fsync::On);
    commit(&storage, &first()).unwrap();
    let names = fs.names();
    open(&fs, Fsync::On);
    assert_eq!(fs.names(), names);
    assert_eq!(fs.get("README"), Some(b"not ours".to_vec()));
    assert_eq!(fs.get("doc-07.jsonl"), Some(b"not ours".to_vec()));
    assert_eq!(fs.get("doc-20.jsonl.reclaim"), None);
}

#[test]
fn a_newer_format_is_refused_and_nothing_is_changed() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &first()).unwrap();
    commit(&storage, &second()).unwrap();
    for file in ["main.jsonl", "doc-20.jsonl", "task-10.jsonl"] {
        let fs = fs.copy();
        let mut content = lines(&fs, file).join("\n");
        let last = content.rfind(r#"{"format":1"#).unwrap();
        content.replace_range(last..last + 11, r#"{"format":2"#);
        // Also what would be cut otherwise.
        fs.put(file, format!("{content}\ntorn").as_bytes());
        fs.put("doc-99.jsonl", b"torn");
        let before = fs.copy();
        let error = try_open(&fs, Fsync::On).map(drop).unwrap_err();
        assert_eq!(
            error,
            JsonlOpenError::TooNew {
                file: file.into(),
                line: 2,
                found: 2,
                supported: 1
            }
        );
        assert_eq!(
            StorageError::from(error),
            StorageError::SchemaTooNew {
                found: 2,
                supported: 1
            }
        );
        assert_eq!(fs.names(), before.names());
        for name in fs.names() {
            assert_eq!(fs.get(&name), before.get(&name), "{name}");
        }
    }
}

#[test]
fn an_id_is_reserved_before_it_is_handed_out() {
    for fsync in BOTH {
        let fs = MemoryFs::default();
        let storage = open(&fs, fsync);
        // Nothing is written before the first commit, which reserves for what was minted.
        for id in 2..10 {
            assert_eq!(now(storage.mint_id()), Ok(id));
        }
        assert_eq!(fs.names(), Vec::<String>::new());
        log(&fs);
        commit(&storage, &[conv(1)]).unwrap();
        let flushed = |calls: &[&str]| -> Vec<String> {
            let kept = |call: &&&str| fsync == Fsync::On || !call.starts_with("sync");
            calls.iter().filter(kept).map(|call| call.to_string()).collect()
        };
        // The first marker reserves a block, and is flushed.
        let first = ["create_dir", "append main.jsonl", "sync main.jsonl", "sync_dir"];
        assert_eq!(log(&fs), flushed(&first));
        for id in 10..=1033 {
            assert_eq!(now(storage.mint_id()), Ok(id));
        }
        assert_eq!(log(&fs), Vec::<String>::new());
        assert_eq!(now(storage.mint_id()), Ok(1034));
        assert_eq!(log(&fs), flushed(&["append main.jsonl", "sync main.jsonl"]));
        assert_eq!(
            lines(&fs, "main.jsonl")[1],
            r#"{"format":1,"type":"ids","upTo":2057}"#
        );
        // Not stored, and yet spent.
        let storage = open(&fs, fsync);
        assert_eq!(now(storage.mint_id()), Ok(2058));
        assert_eq!(commit(&storage, &[entry(5000, 1)]), Ok(Seq(2)));
        assert_eq!(now(storage.mint_id()), Ok(5001));
        assert_eq!(commit(&storage, &[entry(5002, 1)]), Ok(Seq(3)));
        assert_eq!(now(open(&fs, fsync).mint_id()), Ok(6025));
    }
}

#[test]
fn an_open_with_fsync_flushes_what_one_without_wrote() {
    let fs = MemoryFs::default();
    commit(&open(&fs, Fsync::Off), &first()).unwrap();
    let storage = open(&fs, Fsync::On);
    let expected = all(&storage);
    drop(storage);
    // Whatever could be lost is lost.
    fs.power_loss(&mut |_| 0);
    assert_eq!(all(&open(&fs, Fsync::On)), expected);
}

#[test]
fn a_close_with_fsync_flushes_the_newest_commits() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::On);
    commit(&storage, &first()).unwrap();
    commit(&storage, &[entry(30, 1)]).unwrap();
    let expected = all(&storage);
    now(storage.close()).unwrap();
    fs.power_loss(&mut |_| 0);
    assert_eq!(all(&open(&fs, Fsync::On)), expected);
}

#[test]
fn operations_keep_their_shape() {
    let fs = MemoryFs::default();
    let storage = open(&fs, Fsync::Off);
    commit(&storage, &first()).unwrap();
    let ops = vec![
        Op::Replace(json!({ "l": [1, 2, 3], "t": "abc" })),
        Op::TrimStart(vec!["t".into()], u64::MAX),
        Op::Move(vec!["l".into()], vec![2, 0, 1]),
        Op::Splice {
            path: vec!["l".into()],
            index: u64::MAX,
            remove: u64::MAX,
            items: vec![json!({ "k": null })].into(),
        },
        Op::Delete(vec!["none".into()]),
    ];
    commit(&storage, &[doc::delta(20, 1, ops)]).unwrap();
    let wanted = Some(json!({ "l": [3, 1, 2, { "k": null }], "t": "" }));
    assert_eq!(value(&storage, 20, Point::Current), wanted);
    assert_eq!(value(&open(&fs, Fsync::Off), 20, Point::Current), wanted);
}
