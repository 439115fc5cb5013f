//! The conformance suite over memory, SQLite files and JSONL.

mod common;

use common::{Files, JsonlFiles, JsonlMemory, Memory, now};
use std::collections::HashSet;
use std::io::Write;
use std::rc::Rc;
use tidehold_storage::conformance::{StorageFactory, cases};
use tidehold_storage::jsonl::Fsync;

fn run(backend: &str, factory: Rc<dyn StorageFactory>) {
    let cases = cases();
    let mut failed = Vec::new();
    for case in &cases {
        if let Err(failure) = now(case.run(factory.clone())) {
            println!("{backend} {}: {failure}", case.name);
            failed.push(case.name);
        }
    }
    // Written past the capture of the test runner: the count belongs in every log.
    let _ = writeln!(
        std::io::stdout(),
        "{backend}: {} cases run, {} failed",
        cases.len(),
        failed.len()
    );
    assert!(failed.is_empty(), "{backend}: {failed:?}");
}

#[test]
fn memory() {
    run("memory", Rc::new(Memory::default()));
}

#[test]
fn sqlite_file() {
    run("sqlite", Rc::new(Files::new()));
}

#[test]
fn jsonl_in_memory() {
    run("jsonl in memory", Rc::new(JsonlMemory::new(Fsync::Off)));
}

#[test]
fn jsonl_in_memory_with_fsync() {
    run("jsonl in memory, fsync", Rc::new(JsonlMemory::new(Fsync::On)));
}

#[test]
fn jsonl_files() {
    run("jsonl files", Rc::new(JsonlFiles::new(Fsync::Off)));
}

#[test]
fn jsonl_files_with_fsync() {
    run("jsonl files, fsync", Rc::new(JsonlFiles::new(Fsync::On)));
}

#[test]
fn names_are_unique() {
    let cases = cases();
    let names: HashSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len());
    assert!(cases.len() >= 150, "{} cases", cases.len());
}
