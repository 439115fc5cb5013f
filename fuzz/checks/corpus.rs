//! The committed inputs of a fuzz target, for the native test that replays them.

use std::fs;
use std::path::Path;

/// Runs `check` on each file of `fuzz/corpus/TARGET`, in the order of their names; returns how many there were.
///
/// # Panics
/// When there are none, or when the check does; the input that it was at is printed then.
pub fn replay(target: &str, check: impl Fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "nothing in {}", folder.display());
    for file in &files {
        println!("{}", file.display());
        check(&fs::read(file).unwrap());
    }
    files.len()
}
