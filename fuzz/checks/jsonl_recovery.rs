//! Opening a directory of JSONL files: whatever is in them, it never panics and never hangs. Damage is reported and left as
//! it is; what opens opens again with the same content and goes on.
//!
//! An input is either text, the files themselves (`=== NAME` and the content up to the next such line), or bytes that
//! damage the files of a real session, four a stroke. The first byte decides.

use futures::FutureExt;
use std::cell::OnceCell;
use tidehold_session::ids::{EntryId, Seq};
use tidehold_session::storage::{Storage, StorageError};
use tidehold_storage::JsonlStorage;
use tidehold_storage::conformance::build;
use tidehold_storage::conformance::crash::scenario::{Step, scenario};
use tidehold_storage::conformance::dump::{Item, dump};
use tidehold_storage::jsonl::fs::memory::{Afterwards, Effect, Fault, MemoryFs};
use tidehold_storage::jsonl::{Fsync, JsonlOpenError, JsonlOptions};

/// Sessions to damage.
const SESSIONS: u64 = 12;

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Opened,
    Refused,
    /// It has no files.
    Nothing,
}

/// Checks one input.
///
/// # Panics
/// When a promise is broken.
pub fn check(input: &[u8]) -> Outcome {
    match input.split_first() {
        Some((b'=', _)) => check_files(&files_of(input), Fsync::On),
        Some((session, strokes)) => {
            let fsync = if session % 2 == 0 { Fsync::On } else { Fsync::Off };
            check_files(&damaged(*session, strokes), fsync)
        }
        None => Outcome::Nothing,
    }
}

fn files_of(text: &[u8]) -> MemoryFs {
    let fs = MemoryFs::default();
    let mut name = String::new();
    let mut content = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(b"=== ") {
            Some(next) => {
                put(&fs, &name, &content);
                name = String::from_utf8_lossy(next).trim_end().to_owned();
                content.clear();
            }
            None => content.extend_from_slice(line),
        }
    }
    put(&fs, &name, &content);
    fs
}

fn put(fs: &MemoryFs, name: &str, content: &[u8]) {
    if !name.is_empty() {
        fs.put(name, content);
    }
}

fn check_files(fs: &MemoryFs, fsync: Fsync) -> Outcome {
    let before = snapshot(fs);
    let storage = match open(fs, fsync) {
        Ok(storage) => storage,
        Err(JsonlOpenError::FileSystem(error)) => panic!("{error}"),
        Err(error) => {
            assert_eq!(snapshot(fs), before, "{error} and changed the files");
            return Outcome::Refused;
        }
    };
    assert_eq!(storage.deferred_reclamations(), []);
    let moments = moments(&storage);
    let content = now(dump(&storage, &moments));
    let repaired = snapshot(fs);

    let storage = open(fs, fsync).expect("what opened opens again");
    assert_same(&now(dump(&storage, &moments)), &content);
    assert_eq!(snapshot(fs), repaired, "the second open changed something");

    let head = now(storage.head()).unwrap();
    match now(storage.commit(&[])) {
        Ok(seq) => assert!(Some(seq) > head),
        // No number is left.
        Err(error) => {
            assert!(head.is_some_and(|head| head.0 > 1 << 52), "{error}");
            return Outcome::Opened;
        }
    }
    let entry = match now(storage.mint_id()) {
        Ok(id) => {
            let writes = [build::entry_with(id, id, "new".into())];
            now(storage.commit(&writes)).map(|_| EntryId(id)).ok()
        }
        Err(StorageError::IdsExhausted) => None,
        Err(error) => panic!("{error}"),
    };
    let storage = open(fs, fsync).expect("what was committed opens");
    assert_same(&now(dump(&storage, &moments)), &content);
    if let Some(id) = entry {
        assert!(now(storage.entry(id)).unwrap().is_some());
        assert!(now(storage.mint_id()).map_or(true, |minted| minted > id.0));
    }
    Outcome::Opened
}

fn assert_same(found: &Result<Vec<Item>, StorageError>, wanted: &Result<Vec<Item>, StorageError>) {
    match (found, wanted) {
        (Ok(found), Ok(wanted)) => assert!(found == wanted, "the content differs"),
        (found, wanted) => assert_eq!(found.as_ref().err(), wanted.as_ref().err()),
    }
}

/// Some commits of the past, none of the future.
fn moments(storage: &JsonlStorage<MemoryFs>) -> Vec<Seq> {
    let head = now(storage.head()).unwrap().map_or(0, |head| head.0);
    let mut moments: Vec<u64> = (1..=head.min(8)).chain([head.saturating_sub(1), head]).collect();
    moments.retain(|moment| *moment > 0);
    moments.sort_unstable();
    moments.dedup();
    moments.into_iter().map(Seq).collect()
}

fn snapshot(fs: &MemoryFs) -> Vec<(String, Option<Vec<u8>>)> {
    let files = fs.names().into_iter();
    files.map(|name| (name.clone(), fs.get(&name))).collect()
}

fn open(fs: &MemoryFs, fsync: Fsync) -> Result<JsonlStorage<MemoryFs>, JsonlOpenError> {
    let incarnation = "fuzz".into();
    now(JsonlStorage::open(
        fs.clone(),
        JsonlOptions { fsync, incarnation },
    ))
}

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("ready at first poll")
}

/// The files of a session after strokes of four bytes: what to do, to which file, and where (two bytes).
fn damaged(session: u8, strokes: &[u8]) -> MemoryFs {
    thread_local! {
        static SESSIONS_MADE: OnceCell<Vec<MemoryFs>> = const { OnceCell::new() };
    }
    let fs = SESSIONS_MADE.with(|sessions| {
        let made = sessions.get_or_init(|| (1..=SESSIONS).map(session_of).collect());
        made[usize::from(session) % made.len()].copy()
    });
    for stroke in strokes.chunks_exact(4).take(16) {
        let names = fs.names();
        let Some(name) = names.get(usize::from(stroke[1]) % names.len().max(1)) else {
            break;
        };
        let place = usize::from(u16::from_le_bytes([stroke[2], stroke[3]]));
        strike(&fs, name, stroke[0], place);
    }
    fs
}

fn strike(fs: &MemoryFs, name: &str, how: u8, place: usize) {
    let mut content = fs.get(name).unwrap_or_default();
    let at = place % (content.len() + 1);
    let lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let line = place % lines.len().max(1);
    let with_lines = |lines: Vec<&[u8]>| lines.concat();
    match how {
        0..32 => content.truncate(at),
        32..64 => {
            let mut kept = lines;
            if line < kept.len() {
                kept.remove(line);
            }
            content = with_lines(kept);
        }
        64..80 => {
            let mut twice = lines;
            if let Some(again) = twice.get(line).copied() {
                twice.push(again);
            }
            content = with_lines(twice);
        }
        80..96 => {
            let mut swapped = lines;
            if line + 1 < swapped.len() {
                swapped.swap(line, line + 1);
            }
            content = with_lines(swapped);
        }
        96..112 => {
            fs.take(name);
            return;
        }
        // What names a file, a replacement or a stranger.
        112..128 => {
            let other = ["doc-3.jsonl", "doc-5.jsonl.reclaim", "task-4.jsonl", "other"][place % 4];
            return fs.put(other, &content);
        }
        // A digit, by which ids, numbers, versions and ordinals change.
        128..192 => {
            let digits: Vec<usize> = (0..content.len())
                .filter(|at| content[*at].is_ascii_digit())
                .collect();
            if let Some(at) = digits.get(place % digits.len().max(1)) {
                content[*at] = b'0' + how % 10;
            }
        }
        // A byte, which mostly makes the line malformed.
        192..224 => {
            if let Some(byte) = content.get_mut(at) {
                *byte = how.wrapping_mul(31);
            }
        }
        _ => content.extend_from_slice(&lines_to_add(how)),
    }
    fs.put(name, &content);
}

fn lines_to_add(which: u8) -> Vec<u8> {
    const MAX: u64 = 9_007_199_254_740_991;
    match which % 8 {
        0 => b"{\"format\":1,".to_vec(),
        1 => "é".as_bytes()[..1].to_vec(),
        2 => b"{\"format\":2,\"type\":\"commit\"}\n".to_vec(),
        3 => format!("{{\"format\":1,\"type\":\"ids\",\"upTo\":{MAX}}}\n").into_bytes(),
        4 => format!("{{\"format\":1,\"type\":\"commit\",\"seq\":{MAX},\"writes\":[]}}\n").into_bytes(),
        5 => b"{\"format\":1,\"type\":\"record\",\"seq\":900,\"ordinal\":0,\"payload\":{}}\n".to_vec(),
        6 => b"{\"format\":1,\"type\":\"commit\",\"seq\":900,\"writes\":[{\"type\":\"conversation\",\"value\":{\"id\":901,\"parent\":{\"conversationId\":901,\"at\":1}}}]}\n".to_vec(),
        _ => vec![0; 4],
    }
}

/// A session as a crash leaves it: some reclamation was not done, the last commit is torn.
fn session_of(seed: u64) -> MemoryFs {
    let fs = MemoryFs::default();
    let scenario = now(scenario(seed, 9)).unwrap();
    let mut storage = open(&fs, Fsync::Off).unwrap();
    let batches = scenario.steps.iter().filter_map(|step| match step {
        Step::Commit(writes) => Some(writes),
        _ => None,
    });
    for (number, writes) in batches.enumerate() {
        // Every third commit dies at a call of its own; what it left is gone on from.
        if number as u64 % 3 == seed % 3 {
            let calls = 2 + seed % 3;
            let (effect, afterwards) = (Effect::Prefix(40), Afterwards::Dead);
            fs.fail(Some(Fault {
                calls,
                effect,
                afterwards,
            }));
        }
        let committed = now(storage.commit(writes));
        fs.restart();
        if committed.is_err() {
            if number == 8 {
                break;
            }
            storage = open(&fs, Fsync::Off).unwrap();
            now(storage.commit(writes)).unwrap();
        }
    }
    fs.copy()
}
