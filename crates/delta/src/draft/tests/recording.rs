//! What each edit becomes.

use crate::FromJson;
use serde::Serialize;

use super::*;

#[test]
fn members_are_set_and_removed() {
    let base = json!({ "a": 1, "o": { "x": 1, "y": 2 } });
    check(base.clone(), json!([["s", ["a"], 2]]), |d| {
        d.at("a").set(2).unwrap()
    });
    check(base.clone(), json!([["s", ["b"], null]]), |d| {
        d.at("b").set(Json::Null).unwrap()
    });
    check(base.clone(), json!([["d", ["o", "x"]]]), |d| {
        d.at("o").at("x").remove().unwrap()
    });
    check(base.clone(), json!([]), |d| d.at("o").at("z").remove().unwrap());
    check(base.clone(), json!([]), |d| d.at("a").set(1.0).unwrap());
    check(base.clone(), json!([]), |d| {
        d.at("o").set(json!({ "y": 2, "x": 1 })).unwrap()
    });
    // A number names a member of an object.
    check(base.clone(), json!([["s", ["o", "7"], true]]), |d| {
        d.at("o").at(7).set(true).unwrap()
    });
    // First write order, and one operation a place.
    check(
        base,
        json!([["s", ["c"], 3], ["s", ["a"], 9], ["d", ["o"]]]),
        |d| {
            d.at("c").set(1).unwrap();
            d.at("a").set(2).unwrap();
            d.at("o").at("x").set(5).unwrap();
            d.at("c").set(3).unwrap();
            d.at("a").set(9).unwrap();
            d.at("o").remove().unwrap();
        },
    );
}

#[test]
fn edits_that_cancel_out_leave_nothing() {
    let base = json!({ "a": 1, "s": "x", "l": [1, 2, 3] });
    check(base.clone(), json!([]), |d| {
        d.at("a").set(2).unwrap();
        d.at("a").set(1).unwrap();
    });
    check(base.clone(), json!([]), |d| {
        d.at("new").set(1).unwrap();
        d.at("new").remove().unwrap();
    });
    check(base.clone(), json!([]), |d| {
        d.at("l").push(4).unwrap();
        d.at("l").at(3).remove().unwrap();
    });
    check(base.clone(), json!([]), |d| {
        d.at("s").append("y").unwrap();
        d.at("s").set("x").unwrap();
    });
    let prepared = change(&base, |d| {
        d.at("l").splice(1, 0, vec![json!(9), json!(8)]).unwrap();
        d.at("l").splice(1, 2, vec![]).unwrap();
    });
    assert!(prepared.ops.is_empty());
    assert!(prepared.value.same(&prepared.base));
}

#[test]
fn a_member_written_after_its_removal_moves_to_the_end() {
    let base = json!({ "a": 1, "b": 2 });
    check(
        base.clone(),
        json!([["s", ["c"], 3], ["d", ["a"]], ["s", ["a"], 1]]),
        |d| {
            d.at("a").remove().unwrap();
            d.at("c").set(3).unwrap();
            d.at("a").set(1).unwrap();
        },
    );
    check(base, json!([["s", ["d"], 2], ["s", ["c"], 3]]), |d| {
        d.at("c").set(1).unwrap();
        d.at("d").set(2).unwrap();
        d.at("c").remove().unwrap();
        d.at("c").set(3).unwrap();
    });
}

#[test]
fn edits_inside_a_placed_value_fold_into_it() {
    let base = json!({ "o": { "x": 1 }, "l": [{ "k": 1 }] });
    check(
        base.clone(),
        json!([["s", ["n"], { "l": [1, { "s": "ab" }] }]]),
        |d| {
            d.at("n").set(json!({ "l": [] })).unwrap();
            d.at("n").at("l").push(1).unwrap();
            d.at("n").at("l").push(json!({ "s": "a", "gone": 1 })).unwrap();
            d.at("n").at("l").at(1).at("s").append("b").unwrap();
            d.at("n").at("l").at(1).at("gone").remove().unwrap();
        },
    );
    check(
        base.clone(),
        json!([["p", ["l"], 0, 0, [{ "k": 7 }]], ["s", ["l", 1, "k"], 2]]),
        |d| {
            d.at("l").splice(0, 0, vec![json!({ "k": 0 })]).unwrap();
            d.at("l").at(0).at("k").set(7).unwrap();
            d.at("l").at(1).at("k").set(2).unwrap();
        },
    );
    // Placing copies: the source and the copy go separate ways.
    check(
        base,
        json!([["s", ["copy"], { "x": 1, "y": 2 }], ["s", ["o", "x"], 5]]),
        |d| {
            d.at("copy").set(d.at("o").get().unwrap().unwrap()).unwrap();
            d.at("o").at("x").set(5).unwrap();
            d.at("copy").at("y").set(2).unwrap();
        },
    );
}

#[test]
fn scattered_removals_carry_nothing() {
    let base = json!({ "l": [{ "k": 0 }, { "k": 1 }, { "k": 2 }, { "k": 3 }, { "k": 4 }] });
    let wanted = json!([["p", ["l"], 1, 1, []], ["p", ["l"], 2, 1, []]]);
    check(base.clone(), wanted.clone(), |d| {
        d.at("l").at(3).remove().unwrap();
        d.at("l").at(1).remove().unwrap();
    });
    check(base.clone(), wanted, |d| {
        d.at("l").at(1).remove().unwrap();
        d.at("l").at(2).remove().unwrap();
    });
    // Neighbours join, in any order.
    check(base, json!([["p", ["l"], 1, 3, []]]), |d| {
        d.at("l").at(2).remove().unwrap();
        d.at("l").at(1).remove().unwrap();
        d.at("l").at(1).remove().unwrap();
    });
}

#[test]
fn array_edits_use_final_positions() {
    let base = json!({ "l": [{ "k": 0 }, { "k": 1 }, { "k": 2 }] });
    check(
        base.clone(),
        json!([
            ["p", ["l"], 0, 1, []],
            ["p", ["l"], 2, 0, ["end"]],
            ["s", ["l", 1, "k"], 9]
        ]),
        |d| {
            d.at("l").at(2).at("k").set(9).unwrap();
            d.at("l").at(0).at("k").set("gone").unwrap();
            d.at("l").at(0).remove().unwrap();
            d.at("l").at(2).set("end").unwrap();
        },
    );
    check(base.clone(), json!([["p", ["l"], 1, 1, ["a", "b"]]]), |d| {
        d.at("l").splice(1, 1, vec![json!("a"), json!("b")]).unwrap();
    });
    check(base.clone(), json!([["s", ["l", 1], "x"]]), |d| {
        d.at("l").at(1).set("x").unwrap()
    });
    check(base.clone(), json!([["p", ["l"], 0, 3, []]]), |d| {
        d.at("l").splice(0, 99, vec![]).unwrap()
    });
    check(base, json!([]), |d| d.at("l").splice(3, 0, vec![]).unwrap());
    check(json!([[1]]), json!([["p", [0], 1, 0, [2]]]), |d| {
        d.at(0).push(2).unwrap()
    });
    check(json!([1]), json!([["p", [], 1, 0, [2]]]), |d| d.push(2).unwrap());
}

#[test]
fn strings_compare_first_and_last() {
    let base = json!({ "s": "hello", "l": ["abc"] });
    check(base.clone(), json!([["a", ["s"], " world"]]), |d| {
        d.at("s").append(" ").unwrap();
        d.at("s").append("world").unwrap();
        d.at("s").append("").unwrap();
    });
    check(base.clone(), json!([["t", ["s"], 2], ["a", ["s"], "!"]]), |d| {
        d.at("s").set("llo!").unwrap()
    });
    check(base.clone(), json!([["s", ["s"], "xyz"]]), |d| {
        d.at("s").set("xyz").unwrap()
    });
    check(base.clone(), json!([["s", ["s"], ""]]), |d| {
        d.at("s").set("").unwrap()
    });
    check(base.clone(), json!([["s", ["s"], 1]]), |d| {
        d.at("s").set(1).unwrap()
    });
    check(base.clone(), json!([["a", ["l", 0], "d"]]), |d| {
        d.at("l").at(0).append("d").unwrap()
    });
    check(base, json!([["t", ["s"], 4], ["a", ["s"], "😀"]]), |d| {
        d.at("s").set("h").unwrap();
        d.at("s").append("😀").unwrap();
        d.at("s").set("o😀").unwrap();
    });
}

#[test]
fn reserved_names_are_folded_into_the_object_around() {
    let base = json!({ "o": { "__proto__": { "x": 1 }, "a": 1 }, "l": [{ "constructor": 1 }] });
    check(base.clone(), json!([["s", ["o", "a"], 2]]), |d| {
        d.at("o").at("a").set(2).unwrap()
    });
    check(
        base.clone(),
        json!([["s", ["o"], { "__proto__": { "x": 2 }, "a": 3 }]]),
        |d| {
            d.at("o").at("a").set(3).unwrap();
            d.at("o").at("__proto__").at("x").set(2).unwrap();
        },
    );
    check(base.clone(), json!([["s", ["l", 0], {}]]), |d| {
        d.at("l").at(0).at("constructor").remove().unwrap()
    });
    check(base.clone(), json!([]), |d| {
        d.at("o").at("__proto__").at("x").set(2).unwrap();
        d.at("o").at("__proto__").at("x").set(1).unwrap();
    });
    let root = change(&base, |d| d.at("prototype").set(1).unwrap());
    assert!(matches!(root.ops.as_slice(), [Op::Replace(_)]));
}

#[test]
fn the_root_can_be_replaced() {
    check(json!({ "a": 1 }), json!([["r", null]]), |d| {
        d.set(Json::Null).unwrap()
    });
    check(json!({ "a": 1 }), json!([["r", { "b": [1] }]]), |d| {
        d.at("a").set(5).unwrap();
        d.set(json!({ "b": [] })).unwrap();
        d.at("b").push(1).unwrap();
    });
    check(json!({ "a": 1 }), json!([]), |d| {
        d.set(json!({ "a": 1 })).unwrap()
    });
    check(json!("ab"), json!([["r", "abc"]]), |d| d.append("c").unwrap());
}

#[test]
fn more_operations_than_a_batch_may_have_become_a_replacement() {
    let base = Json::object((0..5000).map(|key| (format!("k{key}"), Json::from(0))));
    let edit = |count: usize| {
        change(&base, |d| {
            (0..count).for_each(|k| d.at(format!("k{k}")).set(1).unwrap())
        })
    };
    assert_eq!(edit(4096).ops.len(), 4096);
    assert!(matches!(edit(4097).ops.as_slice(), [Op::Replace(_)]));

    let base = Json::array((0..20_000).map(Json::from));
    let remove = |count: usize| change(&base, |d| (0..count).for_each(|k| d.at(k).remove().unwrap()));
    assert_eq!(remove(4096).ops.len(), 4096);
    let replaced = remove(9000);
    assert!(matches!(replaced.ops.as_slice(), [Op::Replace(_)]));
    assert_eq!(replaced.value.as_array().unwrap().len(), 11_000);
}

#[derive(Serialize, FromJson)]
struct Live {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    queue: Vec<Item>,
    count: u32,
}

#[derive(Serialize, FromJson)]
struct Item {
    id: u32,
    body: String,
}

#[test]
fn typed_edits_record_differences() {
    let items: Vec<Json> = (0..5)
        .map(|id| json!({ "id": id, "body": "some words" }))
        .collect();
    let base = json!({ "live": { "text": "hel", "queue": items, "count": 0, "error": "e" } });
    check(
        base.clone(),
        json!([
            ["d", ["live", "error"]],
            ["s", ["live", "count"], 1],
            ["p", ["live", "queue"], 1, 1, []],
            ["p", ["live", "queue"], 2, 1, []],
            ["a", ["live", "text"], "lo"],
        ]),
        |d| {
            d.at("live")
                .edit(|live: &mut Live| {
                    live.text.push_str("lo");
                    live.queue.retain(|item| item.id != 1 && item.id != 3);
                    live.count += 1;
                    live.error = None;
                })
                .unwrap();
        },
    );
    check(
        base.clone(),
        json!([["a", ["live", "queue", 2, "body"], "!"]]),
        |d| {
            d.at("live")
                .edit(|live: &mut Live| live.queue[2].body.push('!'))
                .unwrap();
        },
    );
    check(
        base.clone(),
        json!([["p", ["live", "queue"], 5, 0, [{ "id": 9, "body": "" }]]]),
        |d| {
            d.at("live")
                .edit(|live: &mut Live| {
                    live.queue.push(Item {
                        id: 9,
                        body: String::new(),
                    })
                })
                .unwrap();
        },
    );
    check(
        base.clone(),
        json!([["p", ["live", "queue"], 1, 2, [{ "id": 9, "body": "" }]]]),
        |d| {
            d.at("live")
                .at("queue")
                .edit(|queue: &mut Vec<Item>| {
                    queue.splice(
                        1..3,
                        [Item {
                            id: 9,
                            body: String::new(),
                        }],
                    );
                })
                .unwrap();
        },
    );
    check(base, json!([]), |d| d.edit(|_: &mut Json| {}).unwrap());
}

#[test]
fn assign_records_differences_at_any_place() {
    let base = json!({ "a": { "x": 1, "y": [1, 2] } });
    check(
        base.clone(),
        json!([["s", ["a", "x"], 2], ["s", ["b"], {}]]),
        |d| {
            d.assign(json!({ "a": { "y": [1, 2], "x": 2 } })).unwrap();
            d.at("b").assign(json!({})).unwrap();
        },
    );
    check(base.clone(), json!([["r", [1]]]), |d| {
        d.assign(json!([1])).unwrap()
    });
    check(base, json!([["s", ["a", "y", 1], 3]]), |d| {
        d.at("a").at("y").assign(json!([1, 3])).unwrap()
    });
}
