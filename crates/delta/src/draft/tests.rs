mod handles;
mod moving;
mod recording;
mod settling;

use super::*;
use crate::{apply, encode_batch, json};

/// Runs `edit` on a draft of `base` and checks that the batch makes the value of the base, also in the
/// order of members.
fn change(base: &Json, edit: impl FnOnce(&Draft)) -> Prepared {
    let before = base.to_string();
    let change = Change::begin(base.clone());
    edit(&change.draft());
    let prepared = change.prepare().unwrap();
    let applied = apply(Some(base), &prepared.ops).unwrap();
    assert_eq!(applied.to_string(), prepared.value.to_string());
    assert_eq!(base.to_string(), before);
    prepared
}

/// The batch of `edit` must be exactly `ops`.
#[track_caller]
fn check(base: Json, ops: Json, edit: impl FnOnce(&Draft)) {
    let prepared = change(&base, edit);
    assert_eq!(encode_batch(&prepared.ops).to_string(), ops.to_string());
}
