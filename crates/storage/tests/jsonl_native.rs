//! JSONL in a directory of the operating system.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Scratch, now, options};
use std::path::Path;
use tidehold_delta::json;
use tidehold_session::documents::Point;
use tidehold_session::ids::*;
use tidehold_session::storage::*;
use tidehold_storage::JsonlStorage;
use tidehold_storage::conformance::build::*;
use tidehold_storage::jsonl::fs::native::NativeFs;
use tidehold_storage::jsonl::{FileSystem, Fsync, JsonlOpenError};

fn open(path: &Path, fsync: Fsync) -> JsonlStorage<NativeFs> {
    now(JsonlStorage::open(NativeFs::new(path), options(fsync, "test"))).unwrap()
}

#[test]
fn the_directory_comes_with_the_first_commit() {
    let scratch = Scratch::new();
    let path = scratch.path().join("deep/er/session");
    let storage = open(&path, Fsync::On);
    now(storage.mint_id()).unwrap();
    assert!(!scratch.path().join("deep").exists());
    now(storage.commit(&[conv(1)])).unwrap();
    assert!(path.join("main.jsonl").exists());
    drop(storage);
    assert_eq!(now(open(&path, Fsync::On).head()), Ok(Some(Seq(1))));
}

#[test]
fn a_directory_is_one_storages_at_a_time() {
    let scratch = Scratch::new();
    let refused = |path: &Path| {
        let second = now(JsonlStorage::open(
            NativeFs::new(path),
            options(Fsync::Off, "test"),
        ));
        match second {
            Err(JsonlOpenError::FileSystem(error)) => {
                assert_eq!(
                    (error.operation, error.file.as_str()),
                    ("list", path.to_str().unwrap())
                );
                assert!(
                    error.reason.contains("another storage has this directory open"),
                    "{error}"
                );
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("opened twice"),
        }
    };
    let storage = open(scratch.path(), Fsync::Off);
    refused(scratch.path());
    now(storage.commit(&[conv(1)])).unwrap();
    refused(scratch.path());
    now(storage.close()).unwrap();
    let storage = open(scratch.path(), Fsync::Off);
    // Two that both saw no directory: the second finds it taken when it would make it.
    let absent = scratch.path().join("absent");
    let (one, two) = (open(&absent, Fsync::Off), open(&absent, Fsync::Off));
    now(one.commit(&[conv(1)])).unwrap();
    assert!(now(two.commit(&[conv(1)])).is_err());
    drop(storage);
    drop(open(scratch.path(), Fsync::Off));
}

/// A descriptor follows its file, not its name.
#[test]
fn appends_follow_a_name_through_renames_and_removals() {
    let scratch = Scratch::new();
    let fs = NativeFs::new(scratch.path());
    now(fs.append("a", b"old")).unwrap();
    now(fs.append("b", b"new")).unwrap();
    now(fs.rename("b", "a")).unwrap();
    now(fs.append("a", b"er")).unwrap();
    now(fs.append("b", b"again")).unwrap();
    assert_eq!(now(fs.read("a")), Ok(Some(b"newer".to_vec())));
    assert_eq!(now(fs.read("b")), Ok(Some(b"again".to_vec())));
    now(fs.remove("a")).unwrap();
    now(fs.remove("a")).unwrap();
    assert_eq!(now(fs.read("a")), Ok(None));
    now(fs.append("a", b"third")).unwrap();
    now(fs.truncate("a", 2)).unwrap();
    now(fs.append("a", b"!")).unwrap();
    now(fs.sync("a")).unwrap();
    now(fs.sync_dir()).unwrap();
    assert_eq!(now(fs.read("a")), Ok(Some(b"th!".to_vec())));
    let mut names = now(fs.list()).unwrap();
    names.sort();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn errors_name_the_operation_and_the_file() {
    let scratch = Scratch::new();
    let fs = NativeFs::new(scratch.path());
    std::fs::create_dir(scratch.path().join("dir")).unwrap();
    let error = now(fs.append("dir", b"x")).unwrap_err();
    assert_eq!((error.operation, &*error.file), ("append", "dir"));
    assert!(now(fs.sync("absent")).is_err());
    assert!(now(fs.rename("absent", "other")).is_err());
    assert!(now(fs.truncate("absent", 0)).is_err());
    // A directory is no file of ours.
    assert_eq!(now(fs.list()), Ok(vec![]));
}

#[test]
fn more_documents_than_files_may_be_open() {
    for fsync in [Fsync::Off, Fsync::On] {
        let scratch = Scratch::new();
        let storage = open(scratch.path(), fsync);
        now(storage.commit(&[conv(1)])).unwrap();
        let documents = 10..100;
        for id in documents.clone() {
            let record = doc::keyed(doc::latest(id, 1, "d"), &id.to_string());
            now(storage.commit(&[doc::create(record, 1, json!({ "t": "" }))])).unwrap();
        }
        for round in ["a", "b"] {
            for id in documents.clone() {
                let change = match round == "b" && id % 2 == 0 {
                    true => doc::base(id, 1, json!({ "t": "base" })),
                    false => doc::delta(id, 1, vec![doc::append("t", round)]),
                };
                now(storage.commit(&[change])).unwrap();
            }
        }
        now(storage.close()).unwrap();
        let storage = open(scratch.path(), fsync);
        for id in documents {
            let stored = now(storage.document(DocumentId(id), Point::Current)).unwrap();
            let wanted = if id % 2 == 0 { "base" } else { "ab" };
            assert_eq!(stored.unwrap().value, json!({ "t": wanted }));
        }
    }
}

#[test]
fn a_torn_tail_is_cut_on_disk() {
    let scratch = Scratch::new();
    let storage = open(scratch.path(), Fsync::Off);
    now(storage.commit(&[conv(1), doc::create(doc::session(2, "d"), 1, json!({}))])).unwrap();
    let (main, sidecar) = (
        scratch.path().join("main.jsonl"),
        scratch.path().join("doc-2.jsonl"),
    );
    let whole = (std::fs::read(&main).unwrap(), std::fs::read(&sidecar).unwrap());
    drop(storage);
    for (path, content) in [(&main, &whole.0), (&sidecar, &whole.1)] {
        std::fs::write(path, [&content[..], "{\"é".as_bytes()].concat()).unwrap();
    }
    std::fs::write(scratch.path().join("doc-2.jsonl.reclaim"), b"x").unwrap();
    let storage = open(scratch.path(), Fsync::On);
    assert_eq!(now(storage.head()), Ok(Some(Seq(1))));
    assert_eq!(
        (std::fs::read(&main).unwrap(), std::fs::read(&sidecar).unwrap()),
        whole
    );
    assert!(!scratch.path().join("doc-2.jsonl.reclaim").exists());
}

#[test]
fn a_directory_that_cannot_be_read_is_an_error() {
    let scratch = Scratch::new();
    let path = scratch.path().join("file");
    std::fs::write(&path, b"").unwrap();
    let opened = now(JsonlStorage::open(
        NativeFs::new(path),
        options(Fsync::Off, "test"),
    ));
    assert!(matches!(opened.map(drop), Err(JsonlOpenError::FileSystem(_))));
}
