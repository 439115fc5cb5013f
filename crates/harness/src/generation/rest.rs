//! `rest`: what a boundary selected beyond the bytes of one commit (spec 6) is placed by commits that hold nothing else.

use super::{Generation, GenerationResult, GenerationRuntime};
use crate::limits::MAX_BOUNDARY_BYTES;
use crate::submissions::Floor;
use crate::submissions::boundary::{Boundary, final_boundary};
use tidehold_tasks::{Next, Outcome, TaskFault};

pub(super) async fn run(generation: &Generation, runtime: GenerationRuntime) -> Result<(), TaskFault> {
    let settings = (generation.settings)();
    let conversation = runtime.conversation_id();
    runtime
        .commit(async move |tx, _| {
            let floor = Floor::read(&tx, conversation).await?;
            // A run that began meanwhile places the rest at its own boundaries.
            if floor.run.is_none() {
                let boundary = Boundary {
                    tx: &tx,
                    conversation,
                    settings: &settings,
                };
                final_boundary(&boundary, &floor, MAX_BOUNDARY_BYTES).await?;
            }
            Ok(Some(Next::Finish(Outcome::Completed(GenerationResult {
                entry_id: None,
            }))))
        })
        .await
}
