//! Operations to wire tuples.

use std::collections::HashMap;

use crate::{Array, Json, Op, Path};

/// The writing end of one stream.
///
/// It remembers every path used since the last replacement, as the format asks: a path gets its number at its second use.
#[derive(Clone, Debug, Default)]
pub struct WireEncoder {
    /// The paths used so far, with their number once they have one.
    paths: HashMap<Path, Option<u64>>,
    /// How many have a number, hence the next one.
    numbered: u64,
}

impl WireEncoder {
    /// The encoder of a new stream.
    pub fn new() -> WireEncoder {
        WireEncoder::default()
    }

    /// The next batch of the stream, an array of wire tuples.
    ///
    /// The operations are taken as they are: those of a prepared change or of a decoded batch are well-formed.
    pub fn encode(&mut self, ops: &[Op]) -> Json {
        let mut tuples = Array::new();
        let mut previous = None;
        for op in ops {
            let path = op.path();
            let mut tuple = op.encode();
            match (path, &mut tuple) {
                (Some(path), Json::Array(parts)) if previous == Some(path) => {
                    parts.splice(1, 1, Array::new())
                }
                (Some(path), Json::Array(parts)) => {
                    if let Some(number) = self.number(path, &mut tuples) {
                        parts.splice(1, 1, Array::from(vec![number]));
                    }
                }
                // A replacement: everything before it is out of date.
                _ => *self = WireEncoder::new(),
            }
            previous = path;
            tuples.push_back(tuple);
        }
        Json::Array(tuples)
    }

    /// The number of a path from its second use on, defined in `tuples` when it is new.
    fn number(&mut self, path: &Path, tuples: &mut Array) -> Option<Json> {
        let Some(known) = self.paths.get_mut(path) else {
            self.paths.insert(path.clone(), None);
            return None;
        };
        let number = *known.get_or_insert_with(|| {
            let number = self.numbered;
            self.numbered += 1;
            let definition = [
                "#".into(),
                Json::from(number as f64),
                crate::path::encode_path(path),
            ];
            tuples.push_back(Json::array(definition));
            number
        });
        Some(Json::from(number as f64))
    }
}
