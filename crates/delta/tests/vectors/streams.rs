//! `wire-vectors.jsonl` and `replica-vectors.jsonl`: what depends on the batches before.

use tidehold_delta::{Json, Op, Replica, ReplicaError, WireDecoder, WireEncoder, decode_batch};

use crate::{Outcome, check, expect_class, expect_equal};

/// `{kind: "roundtrip", batches, wire}`, or `{kind: "decode", wire, batches}` with an error class instead of batches.
pub fn wire_case(vector: &Json) -> Outcome {
    check((|| {
        let list = |key: &str| vector.get(key).and_then(Json::as_array).cloned();
        let wire = list("wire").ok_or("no wire")?;
        let mut decoder = WireDecoder::new();
        let decoded: Vec<_> = wire.iter().map(|batch| decoder.decode(batch)).collect();
        if vector.get("error").is_some() {
            let failed = vector.get("failedBatch").and_then(Json::as_u64).unwrap_or(0) as usize;
            if let Some((early, Err(error))) = decoded
                .iter()
                .take(failed)
                .enumerate()
                .find(|(_, batch)| batch.is_err())
            {
                return Err(format!("batch {early}: {error}"));
            }
            return match decoded.into_iter().nth(failed) {
                Some(Err(error)) => expect_class(vector, error.class(), &error.to_string()),
                _ => Err(format!("no error in batch {failed}")),
            };
        }
        let batches = list("batches").ok_or("no batches")?;
        if batches.len() != decoded.len() {
            return Err(format!(
                "{} batches, {} of them on the wire",
                batches.len(),
                decoded.len()
            ));
        }
        let mut encoder = WireEncoder::new();
        let writes = vector.get("kind").and_then(Json::as_str) == Some("roundtrip");
        for ((batch, wire), decoded) in batches.iter().zip(&wire).zip(decoded) {
            let ops = decode_batch(batch).map_err(|error| error.to_string())?;
            if decoded.as_ref() != Ok(&ops) {
                return Err(format!("{wire} decodes to {decoded:?}"));
            }
            let encoded = encoder.encode(&ops);
            if writes && encoded.to_string() != wire.to_string() {
                return Err(format!("{batch} encodes to {encoded}, wanted {wire}"));
            }
        }
        Ok(())
    })())
}

/// Whether operations come through a new stream as they are.
pub fn over_the_wire(ops: &[Op]) -> Result<(), String> {
    let (mut encoder, mut decoder) = (WireEncoder::new(), WireDecoder::new());
    // Twice, so that paths get numbers.
    for _ in 0..2 {
        let wire = encoder.encode(ops);
        if decoder.decode(&wire).as_deref() != Ok(ops) {
            return Err(format!("{wire} decodes to something else"));
        }
    }
    Ok(())
}

/// `{steps: [{do, sequence, ops, value, ready, error?}], deliveries}`.
pub fn replica_case(vector: &Json) -> Outcome {
    check((|| {
        let list = |key: &str| vector.get(key).and_then(Json::as_array).cloned();
        let mut replica = Replica::new();
        let mut deliveries = Vec::new();
        for (number, step) in list("steps").ok_or("no steps")?.iter().enumerate() {
            let what = format!("step {number}");
            let kind = step.get("do").and_then(Json::as_str).unwrap_or_default();
            let sequence = step.get("sequence").and_then(Json::as_u64).unwrap_or_default();
            let batch = step.get("ops").unwrap_or(&Json::Null);
            let outcome = match kind {
                "hydrate" => replica.hydrate_batch(sequence, batch),
                "update" => replica.update_batch(sequence, batch),
                "clear" => {
                    replica.clear();
                    Ok(())
                }
                _ => return Err(format!("{what}: unknown {kind}")),
            };
            match (&outcome, step.get("error")) {
                (Ok(()), None) => {}
                (Ok(()), Some(error)) => return Err(format!("{what}: no error, wanted {error}")),
                (Err(error), None) => return Err(format!("{what}: {error}")),
                (Err(error), Some(wanted)) => {
                    let class = match error {
                        ReplicaError::Apply(error) => error.class(),
                        _ => "Error",
                    };
                    if wanted.get("type").and_then(Json::as_str) != Some(class) {
                        return Err(format!("{what}: {class}: {error}, wanted {wanted}"));
                    }
                }
            }
            let ready = step.get("ready").and_then(Json::as_bool).unwrap_or_default();
            if ready != replica.value().is_some() {
                return Err(format!("{what}: {replica:?}"));
            }
            let value = replica.value().cloned().unwrap_or_default();
            expect_equal(&what, &value, step.get("value").unwrap_or(&Json::Null))?;
            if outcome.is_ok() && kind != "clear" {
                deliveries.push(Json::object([
                    ("kind", Json::from(kind)),
                    ("sequence", Json::from(sequence as f64)),
                    ("value", value),
                ]));
            }
        }
        let wanted = vector.get("deliveries").unwrap_or(&Json::Null);
        expect_equal("deliveries", &Json::array(deliveries), wanted)
    })())
}
