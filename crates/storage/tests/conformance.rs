//! The conformance suite over memory and over SQLite files.

mod common;

use common::{Files, Memory, now};
use std::collections::HashSet;
use std::rc::Rc;
use tidehold_storage::conformance::{StorageFactory, cases};

fn run(backend: &str, factory: Rc<dyn StorageFactory>) {
    let cases = cases();
    let mut failed = Vec::new();
    for case in &cases {
        if let Err(failure) = now(case.run(factory.clone())) {
            println!("{backend} {}: {failure}", case.name);
            failed.push(case.name);
        }
    }
    println!("{backend}: {} cases run, {} failed", cases.len(), failed.len());
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
fn names_are_unique() {
    let cases = cases();
    let names: HashSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len());
    assert!(cases.len() >= 150, "{} cases", cases.len());
}
