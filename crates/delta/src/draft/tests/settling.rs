//! Reads, refusals, and what happens to handles in the end.

use super::*;

#[test]
fn reads_see_earlier_writes() {
    let change = Change::begin(json!({ "o": { "x": 1 }, "l": [1, 2], "s": "é😀" }));
    let d = change.draft();
    assert!(!change.is_dirty());
    assert_eq!(d.at("o").at("x").get().unwrap(), Some(json!(1)));
    assert_eq!(d.at("o").at("z").at("deeper").get().unwrap(), None);
    assert_eq!(d.at("l").at(2).get().unwrap(), None);
    assert_eq!(d.at("l").at("0").get().unwrap(), None);
    assert_eq!(
        (
            d.len().unwrap(),
            d.at("l").len().unwrap(),
            d.at("s").len().unwrap()
        ),
        (3, 2, 3)
    );
    let snapshot = d.at("o").get().unwrap().unwrap();
    let other = d.clone();
    d.at("o").at("x").set(2).unwrap();
    d.at("s").append("!").unwrap();
    assert!(change.is_dirty());
    assert_eq!(other.at("o").get().unwrap(), Some(json!({ "x": 2 })));
    assert_eq!(other.get().unwrap().unwrap().get("s"), Some(&json!("é😀!")));
    assert_eq!(snapshot, json!({ "x": 1 }));
    assert!(!d.at("l").is_empty().unwrap());
    assert!(matches!(d.at("o").at("x").len(), Err(DraftError::Place(_))));
    assert!(matches!(d.at("no").len(), Err(DraftError::Place(_))));
}

#[test]
fn handles_are_dead_after_prepare_abort_and_drop() {
    for settle in [
        (|change| drop(change.prepare().unwrap())) as fn(Change),
        |change| change.abort(),
        |change| drop(change),
    ] {
        let change = Change::begin(json!({ "l": [1], "s": "x" }));
        let d = change.draft();
        d.at("s").set("y").unwrap();
        settle(change);
        let revoked = Err(DraftError::Revoked);
        assert_eq!(d.get(), Err(DraftError::Revoked));
        assert_eq!(d.at("l").len(), Err(DraftError::Revoked));
        assert_eq!(d.at("s").set(1), revoked);
        assert_eq!(d.at("s").remove(), revoked);
        assert_eq!(d.at("l").push(1), revoked);
        assert_eq!(d.at("l").splice(0, 1, vec![]), revoked);
        assert_eq!(d.at("s").append("x"), revoked);
        assert_eq!(d.assign(json!({})), revoked);
        assert_eq!(d.edit(|_: &mut Json| ()), revoked);
    }
}

#[test]
fn an_edit_may_use_other_handles_or_settle_the_change() {
    let base = json!({ "a": 1, "b": 1 });
    check(base.clone(), json!([["s", ["b"], 2], ["s", ["a"], 5]]), |d| {
        d.at("a")
            .edit(|a: &mut u32| {
                d.at("b").set(2).unwrap();
                *a = 5;
            })
            .unwrap();
    });
    let change = Change::begin(base);
    let d = change.draft();
    let mut slot = Some(change);
    let outcome = d.edit(|_: &mut Json| drop(slot.take().unwrap().prepare()));
    assert_eq!(outcome, Err(DraftError::Revoked));
}

#[test]
fn a_refused_edit_changes_nothing() {
    let base = json!({ "o": {}, "l": [1, 2], "s": "x" });
    let change = Change::begin(base.clone());
    let d = change.draft();
    let nested = |levels: usize| (0..levels).fold(Json::Null, |inner, _| Json::array([inner]));
    let nan = || Json::Number(f64::NAN);
    let place = |outcome: Result<(), DraftError>| {
        assert!(matches!(outcome, Err(DraftError::Place(_))), "{outcome:?}")
    };

    place(d.at("no").at("x").set(1));
    place(d.at("s").at("x").set(1));
    place(d.at("l").at(3).set(1));
    place(d.at("l").at("0").set(1));
    place(d.at("l").at(2).remove());
    place(d.at("l").at(3).remove());
    place(d.at("no").at("x").remove());
    place(d.remove());
    place(d.at("l").splice(3, 0, vec![json!(1)]));
    place(d.at("l").splice(3, 0, vec![]));
    place(d.at("o").push(1));
    place(d.at("no").push(1));
    place(d.at("o").append("x"));
    place(d.at("no").append(""));
    place(d.append("x"));
    place(d.at("no").edit(|_: &mut Json| ()));

    assert_eq!(d.at("o").at("deep").set(nested(511)), Err(DraftError::Depth));
    assert_eq!(d.at("l").push(nested(511)), Err(DraftError::Depth));
    assert_eq!(d.set(nested(513)), Err(DraftError::Depth));
    assert_eq!(d.assign(nested(513)), Err(DraftError::Depth));
    assert_eq!(d.at("o").assign(nested(512)), Err(DraftError::Depth));

    assert_eq!(d.at("o").at("n").set(f64::INFINITY), Err(DraftError::NotFinite));
    assert_eq!(
        d.at("l").splice(0, 1, vec![json!(1), Json::array([nan()])]),
        Err(DraftError::NotFinite)
    );
    assert_eq!(d.at("l").push(nan()), Err(DraftError::NotFinite));
    assert_eq!(
        d.assign(json!({ "o": 1, "l": [(f64::NAN)] })),
        Err(DraftError::NotFinite)
    );
    let unrepresentable = d.at("l").edit(|list: &mut Vec<f64>| list.push(f64::NAN));
    assert_eq!(
        unrepresentable,
        Err(DraftError::Convert(crate::ConvertProblem::NotFinite.into()))
    );
    assert!(matches!(
        d.at("s").edit(|_: &mut u32| ()),
        Err(DraftError::Convert(_))
    ));

    assert!(!change.is_dirty());
    let prepared = change.prepare().unwrap();
    assert!(prepared.ops.is_empty() && prepared.value.same(&base) && prepared.base.same(&base));
}

#[test]
fn depth_counts_from_the_root() {
    let nested = |levels: usize| (0..levels).fold(Json::Null, |inner, _| Json::array([inner]));
    let prepared = change(&json!({ "o": {}, "l": [] }), |d| {
        d.at("o").at("deep").set(nested(510)).unwrap();
        d.at("l").push(nested(510)).unwrap();
    });
    assert_eq!(prepared.value.depth(), 512);
}

/// A base of any depth can only be built by hand; edits below the limit are refused all the same.
#[test]
fn places_below_the_limit_are_refused() {
    let base = (0..5000).fold(json!("s"), |inner, _| Json::array([inner]));
    let change = Change::begin(base);
    let at = |levels: usize| (0..levels).fold(change.draft(), |draft, _| draft.at(0));
    assert_eq!(at(5000).append("x"), Err(DraftError::Depth));
    assert_eq!(at(4000).at(0).remove(), Err(DraftError::Depth));
    assert_eq!(at(500).at(0).set(1), Ok(()));
    assert_eq!(change.prepare().unwrap().value.depth(), 501);
}

#[test]
fn unchanged_parts_are_shared_with_the_base() {
    let base = json!({ "a": { "x": [1] }, "b": { "y": [2] } });
    let prepared = change(&base, |d| d.at("a").at("z").set(1).unwrap());
    assert!(prepared.value.get("b").unwrap().same(base.get("b").unwrap()));
    assert!(
        prepared
            .value
            .get("a")
            .unwrap()
            .get("x")
            .unwrap()
            .same(base.get("a").unwrap().get("x").unwrap())
    );
}
