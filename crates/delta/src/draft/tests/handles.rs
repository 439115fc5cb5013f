//! Handles that follow their element.

use super::*;

fn held(base: Json, edit: impl FnOnce(&Draft)) -> Json {
    change(&base, edit).value
}

#[test]
fn a_handle_follows_its_element_through_every_structural_edit() {
    let base = json!({ "l": [{ "k": 0 }, { "k": 1 }, { "k": 2 }, { "k": 3 }] });
    check(
        base.clone(),
        json!([
            ["p", ["l"], 3, 1, []],
            ["p", ["l"], 0, 1, []],
            ["m", ["l"], [1, 0]],
            ["p", ["l"], 0, 0, ["x", "y"]],
            ["s", ["l", 3, "k"], "one"]
        ]),
        |d| {
            let one = d.at("l").at(1).hold().unwrap();
            d.at("l").at(0).remove().unwrap();
            d.at("l").splice(0, 0, vec![json!("x"), json!("y")]).unwrap();
            assert_eq!(one.at("k").get().unwrap(), Some(json!(1)));
            d.at("l").splice(4, 1, vec![]).unwrap();
            d.at("l").reorder(&[0, 1, 3, 2]).unwrap();
            one.at("k").set("one").unwrap();
            assert_eq!(d.at("l").at(3).get().unwrap(), one.get().unwrap());
        },
    );
    // Also what lies below a moved element, and edits that miss it.
    let value = held(json!([[{ "a": [1] }], "b"]), |d| {
        let inner = d.at(0).at(0).at("a").hold().unwrap();
        d.reverse().unwrap();
        d.at(1).splice(0, 0, vec![json!(null)]).unwrap();
        d.at(0).set("c").unwrap();
        d.push("d").unwrap();
        inner.push(2).unwrap();
    });
    assert_eq!(value, json!(["c", [null, { "a": [1, 2] }], "d"]));
}

#[test]
fn edits_of_a_removed_or_overwritten_element_go_nowhere() {
    type Loss = fn(&Draft);
    let losses: [Loss; 8] = [
        |d| d.at("l").at(0).remove().unwrap(),
        |d| d.at("l").splice(0, 1, vec![json!({ "x": 7 })]).unwrap(),
        |d| d.at("l").set_len(0).unwrap(),
        |d| d.at("l").at(0).set(json!({ "x": 7 })).unwrap(),
        // Equal, but another element.
        |d| d.at("l").at(0).set(json!({ "in": [1], "x": 1 })).unwrap(),
        |d| d.at("l").set(json!([])).unwrap(),
        |d| d.at("l").remove().unwrap(),
        |d| d.set(json!({ "l": [{ "x": 7 }] })).unwrap(),
    ];
    for lose in losses {
        let base = json!({ "l": [{ "x": 1, "in": [1] }] });
        let lost = held(base.clone(), lose);
        let value = held(base, |d| {
            let element = d.at("l").at(0).hold().unwrap();
            let inner = element.at("in").hold().unwrap();
            lose(d);
            element.at("x").set(2).unwrap();
            inner.push(5).unwrap();
            inner.at(1).set(6).unwrap();
            assert_eq!(element.get().unwrap(), Some(json!({ "x": 2, "in": [1, 6] })));
            element.at("in").remove().unwrap();
            inner.push(7).unwrap();
            assert_eq!(element.get().unwrap(), Some(json!({ "x": 2 })));
            assert_eq!(inner.get().unwrap(), Some(json!([1, 6, 7])));
        });
        assert_eq!(value, lost);
    }
}

#[test]
fn placing_a_handle_copies_its_content_of_that_moment() {
    let value = held(json!({ "a": { "x": 1 }, "l": [{ "y": 1 }, 2] }), |d| {
        let (a, y) = (d.at("a").hold().unwrap(), d.at("l").at(0).hold().unwrap());
        d.at("a").set(y.get().unwrap().unwrap()).unwrap();
        d.at("l").at(0).set(a.get().unwrap().unwrap()).unwrap();
        a.at("x").set(9).unwrap();
        y.at("y").set(9).unwrap();
        d.at("l").push(a.get().unwrap().unwrap()).unwrap();
        a.at("x").set(10).unwrap();
    });
    assert_eq!(
        value,
        json!({ "a": { "y": 1 }, "l": [{ "x": 1 }, 2, { "x": 9 }] })
    );
    // A value may be placed inside itself, once.
    let value = held(json!({ "a": {} }), |d| {
        let a = d.at("a").hold().unwrap();
        d.at("a").at("all").set(d.get().unwrap().unwrap()).unwrap();
        a.at("b").set(1).unwrap();
    });
    assert_eq!(value, json!({ "a": { "all": { "a": {} }, "b": 1 } }));
}

#[test]
fn a_write_through_a_handle_takes_it_along_and_leaves_the_others_behind() {
    let value = held(json!({ "a": { "x": 1 } }), |d| {
        let (one, other) = (d.at("a").hold().unwrap(), d.at("a").hold().unwrap());
        let clone = one.clone();
        one.set(json!({ "x": 2 })).unwrap();
        clone.at("y").set(3).unwrap();
        other.at("z").set(4).unwrap();
        assert_eq!(other.get().unwrap(), Some(json!({ "x": 1, "z": 4 })));
        one.remove().unwrap();
        assert!(one.remove().is_err(), "nothing is around it");
        one.set("detached").unwrap();
        one.append("!").unwrap();
        assert_eq!(clone.get().unwrap(), Some(json!("detached!")));
        d.at("b").set(clone.get().unwrap().unwrap()).unwrap();
    });
    assert_eq!(value, json!({ "b": "detached!" }));
}

#[test]
fn handles_are_refused_like_paths() {
    let change = Change::begin(json!({ "l": [[]], "s": "x" }));
    let d = change.draft();
    assert!(matches!(d.at("no").hold(), Err(DraftError::Place(_))));
    assert!(matches!(d.at("l").at(1).hold(), Err(DraftError::Place(_))));
    let (list, text) = (d.at("l").at(0).hold().unwrap(), d.at("s").hold().unwrap());
    d.at("l").at(0).remove().unwrap();
    let nested = |levels: usize| (0..levels).fold(Json::Null, |inner, _| Json::array([inner]));
    assert!(matches!(list.at("x").set(1), Err(DraftError::Place(_))));
    assert_eq!(list.push(f64::NAN), Err(DraftError::NotFinite));
    assert_eq!(list.push(nested(512)), Err(DraftError::Depth));
    list.push(nested(511)).unwrap();
    // What is fine on its own may be too deep elsewhere.
    let deep = list.get().unwrap().unwrap();
    assert_eq!(d.at("l").push(deep), Err(DraftError::Depth));
    text.append("y").unwrap();
    assert_eq!(text.len(), Ok(2));
    let value = change.prepare().unwrap().value;
    assert_eq!(value, json!({ "l": [], "s": "xy" }));
    assert_eq!(list.get(), Err(DraftError::Revoked));
    assert_eq!(text.at("x").set(1), Err(DraftError::Revoked));
    assert!(matches!(text.hold(), Err(DraftError::Revoked)));
}

#[test]
fn edits_through_a_handle_below_a_reserved_key_are_folded() {
    let base = json!({ "o": { "__proto__": [{ "x": 1 }, 2] } });
    check(
        base,
        json!([["s", ["o"], { "__proto__": [2, { "x": 5 }] }]]),
        |d| {
            let inner = d.at("o").at("__proto__").at(0).hold().unwrap();
            d.at("o").at("__proto__").reverse().unwrap();
            inner.at("x").set(5).unwrap();
        },
    );
}
