//! Arrays put in another order, and other edits of whole arrays.

use super::*;

#[test]
fn a_new_order_is_one_move() {
    let base = json!({ "l": [10, 9, 1, 9] });
    check(base.clone(), json!([["m", ["l"], [3, 2, 1, 0]]]), |d| {
        d.at("l").reverse().unwrap()
    });
    check(base.clone(), json!([["m", ["l"], [2, 1, 3, 0]]]), |d| {
        d.at("l").sort_by(numerically).unwrap()
    });
    check(base.clone(), json!([["m", ["l"], [1, 2, 3, 0]]]), |d| {
        d.at("l").reorder(&[1, 2, 3, 0]).unwrap()
    });
    check(json!([{}, []]), json!([["m", [], [1, 0]]]), |d| {
        d.reverse().unwrap()
    });
    // Steps back leave nothing, and neither does a place change of equal scalars.
    check(base.clone(), json!([]), |d| {
        d.at("l").sort_by(numerically).unwrap();
        d.at("l").reverse().unwrap();
        d.at("l").reorder(&[0, 2, 3, 1]).unwrap();
    });
    check(base, json!([]), |d| d.at("l").reorder(&[0, 3, 2, 1]).unwrap());
}

fn numerically(one: &Json, other: &Json) -> std::cmp::Ordering {
    one.as_f64().partial_cmp(&other.as_f64()).unwrap()
}

#[test]
fn removals_stand_before_a_move_and_insertions_behind_it() {
    let base = json!({ "l": [{ "k": 0 }, { "k": 1 }, { "k": 2 }, { "k": 3 }, { "k": 4 }] });
    let wanted = json!([
        ["p", ["l"], 3, 1, []],
        ["p", ["l"], 0, 1, []],
        ["m", ["l"], [2, 1, 0]],
        ["p", ["l"], 0, 0, ["first"]],
        ["p", ["l"], 3, 0, ["new"]],
        ["s", ["l", 1, "k"], 9]
    ]);
    check(base.clone(), wanted, |d| {
        let l = d.at("l");
        l.at(4).at("k").set(9).unwrap();
        l.at(3).remove().unwrap();
        l.splice(2, 0, vec![json!("new")]).unwrap();
        l.reverse().unwrap();
        l.at(4).set("lost").unwrap();
        l.at(4).remove().unwrap();
        l.splice(0, 0, vec![json!("first")]).unwrap();
    });
    // Edits below moved elements stay edits.
    check(
        base,
        json!([
            ["m", ["l"], [4, 0, 1, 2, 3]],
            ["s", ["l", 0, "x"], 1],
            ["s", ["l", 4], 5]
        ]),
        |d| {
            d.at("l").at(4).at("x").set(1).unwrap();
            d.at("l").reorder(&[4, 0, 1, 2, 3]).unwrap();
            d.at("l").at(4).set(5).unwrap();
        },
    );
}

#[test]
fn an_assigned_permutation_is_a_move() {
    let rows = json!([{ "id": 1, "t": ["a"] }, { "id": 2 }, { "id": 1, "t": ["b"] }, 0]);
    let base = json!({ "l": (rows) });
    check(base.clone(), json!([["m", ["l"], [2, 0, 1, 3]]]), |d| {
        let sorted = json!({ "l": [{ "t": ["b"], "id": 1 }, { "id": 1, "t": ["a"] }, { "id": 2 }, (-0.0)] });
        d.assign(sorted).unwrap();
    });
    check(json!([1, 2, 1, 3]), json!([["m", [], [3, 0, 2, 1]]]), |d| {
        d.assign(json!([3, 1, 1, 2])).unwrap()
    });
    // As many of each are needed.
    check(
        json!([1, 2, 1]),
        json!([["s", [0], 2], ["s", [1], 1], ["s", [2], 2]]),
        |d| d.assign(json!([2, 1, 2])).unwrap(),
    );
}

#[test]
fn an_order_must_name_each_element_once() {
    let change = Change::begin(json!({ "l": [1, 2, 3], "o": {} }));
    let d = change.draft();
    for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 3], &[]] {
        assert!(
            matches!(d.at("l").reorder(order), Err(DraftError::Place(_))),
            "{order:?}"
        );
    }
    assert!(matches!(d.at("o").reorder(&[]), Err(DraftError::Place(_))));
    assert!(matches!(d.at("o").reverse(), Err(DraftError::Place(_))));
    assert!(matches!(
        d.at("o").sort_by(|_, _| unreachable!()),
        Err(DraftError::Place(_))
    ));
    assert!(!change.is_dirty());
}

#[test]
fn a_longer_length_appends_nulls_and_a_shorter_one_truncates() {
    let base = json!({ "l": [1, 2] });
    check(base.clone(), json!([["p", ["l"], 2, 0, [null, null]]]), |d| {
        d.at("l").set_len(4).unwrap()
    });
    check(base.clone(), json!([["p", ["l"], 1, 1, []]]), |d| {
        d.at("l").set_len(1).unwrap()
    });
    check(base.clone(), json!([]), |d| d.at("l").set_len(2).unwrap());
    check(base.clone(), json!([]), |d| {
        for length in [usize::MAX, 1 << 23] {
            assert!(matches!(d.at("l").set_len(length), Err(DraftError::Place(_))));
        }
        assert!(matches!(d.set_len(1), Err(DraftError::Place(_))));
    });
}

#[test]
fn dense_regions_are_sent_as_one_splice_each() {
    let base = Json::array((0..1200).map(|k| json!({ "k": (k) })));
    let edit = |places: &dyn Fn(usize) -> bool| {
        change(&base, |d| {
            for place in (0..1200).filter(|place| places(*place)) {
                d.at(place).at("k").set("x").unwrap();
            }
        })
        .ops
    };
    let verbs = |ops: &[Op]| {
        let splices = ops.iter().filter(|op| matches!(op, Op::Splice { .. })).count();
        (splices, ops.len() - splices)
    };
    assert_eq!(verbs(&edit(&|place| place < 255)), (0, 255));
    assert_eq!(verbs(&edit(&|place| place < 256)), (1, 0));
    // One untouched element between two is no gap, two are.
    assert_eq!(verbs(&edit(&|place| place % 2 == 0 && place < 512)), (1, 0));
    assert_eq!(verbs(&edit(&|place| place % 3 == 0)), (0, 400));
    assert_eq!(
        verbs(&edit(&|place| matches!(place, 5 | 10..=300 | 600..=1000 | 1100))),
        (2, 2)
    );
    let [
        Op::Splice {
            index, remove, items, ..
        },
    ] = &edit(&|place| (3..400).contains(&place))[..]
    else {
        panic!("one splice");
    };
    assert_eq!((*index, *remove, items.len()), (3, 397, 397));
    // Not in an array that has another structure.
    let ops = change(&base, |d| {
        (0..300).for_each(|place| d.at(place).set(0).unwrap());
        d.push(1).unwrap();
    });
    assert_eq!(verbs(&ops.ops), (1, 300));
}

#[test]
fn a_sorted_long_array_is_a_move_and_not_a_replacement() {
    let mut random = 1_u64;
    let base = Json::array((0..20_000).map(|_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Json::from((random >> 40) as f64)
    }));
    let prepared = change(&base, |d| {
        d.sort_by(numerically).unwrap();
        d.at(7).remove().unwrap();
        d.at(19_000).set("x").unwrap();
    });
    let verbs: Vec<_> = prepared
        .ops
        .iter()
        .map(|op| op.encode().index(0).cloned())
        .collect();
    assert_eq!(Json::array(verbs.into_iter().flatten()), json!(["p", "m", "s"]));
}
