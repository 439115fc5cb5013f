//! A client that has nothing but the frames of a stream has its document's value after every one of them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

#[path = "support/story.rs"]
mod story;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tidehold_delta::{Json, Op, Replica, WireDecoder, decode_batch};
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::{Session, SessionOptions};
use tidehold_storage::memory::MemoryStorage;

const STORIES: u64 = 200;

#[derive(Default)]
struct Client {
    replica: Replica,
    wire: WireDecoder,
}

impl Client {
    fn take(&mut self, line: &Json) -> Vec<Op> {
        let ops = decode_batch(line.get("ops").unwrap()).unwrap();
        assert_eq!(self.wire.decode(line.get("wire").unwrap()).unwrap(), ops);
        let sequence = line.get("sequence").and_then(Json::as_u64).unwrap();
        match self.replica.value() {
            None => self.replica.hydrate(sequence, &ops).unwrap(),
            Some(_) => self.replica.update(sequence, &ops).unwrap(),
        }
        assert_eq!(self.replica.value(), line.get("value"));
        ops
    }
}

fn told(seed: u64) -> Vec<Json> {
    let mut runtime = LocalRuntime::virtual_clock(1_000, seed);
    let storage = Rc::new(MemoryStorage::new("incarnation"));
    let session = Session::open(storage, runtime.host(), SessionOptions::default());
    let lines = runtime.run(async move { story::tell(&session, seed).await });
    lines.expect("the story ends").unwrap()
}

#[test]
fn every_frame_of_every_stream_leads_to_the_committed_value() {
    let mut verbs = HashSet::new();
    let (mut frames, mut compared, mut retirements, mut replacements) = (0, 0, 0, 0);
    for seed in 0..STORIES {
        let mut clients: HashMap<String, Client> = HashMap::new();
        for line in told(seed) {
            let name = line.get("document").and_then(Json::as_str).unwrap();
            if let Some(committed) = line.get("committed") {
                // Of all subscribers of a state.
                for (stream, client) in &clients {
                    if stream == name || stream.starts_with(&format!("{name}.")) {
                        assert_eq!(client.replica.value(), Some(committed), "seed {seed}, {stream}");
                        compared += 1;
                    }
                }
                continue;
            }
            let ops = clients.entry(name.to_owned()).or_default().take(&line);
            frames += 1;
            retirements += usize::from(line.get("value") == Some(&Json::Null));
            let is_later = line.get("sequence").and_then(Json::as_u64) > Some(0);
            let replaces = matches!(&ops[..], [Op::Replace(Json::Object(_))]);
            replacements += usize::from(name.starts_with("watch") && is_later && replaces);
            verbs.extend(ops.iter().map(|op| op.encode().index(0).unwrap().to_string()));
        }
    }
    let mut verbs: Vec<String> = verbs.into_iter().collect();
    verbs.sort();
    assert_eq!(verbs.join(""), r#""a""d""m""p""r""s""t""#);
    println!(
        "{STORIES} stories: {frames} frames, {retirements} retirements, {replacements} replacements by watches, \
         {compared} final values"
    );
    assert!(frames > 5_000 && compared > 500, "the stories tell enough");
    assert!(retirements > 100 && replacements > 25, "and of everything");
}

#[test]
fn a_story_is_a_function_of_its_seed() {
    assert_eq!(told(7), told(7));
    assert_ne!(told(7), told(8));
}
