//! Random edits of a document, with every operation that a draft has.

use tidehold_delta::{Draft, DraftError, Json, json};

/// xorshift64: the same story everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // Spread, and never zero.
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Another one, for code that runs on its own.
    pub fn fork(&mut self) -> Self {
        Self::new(self.next())
    }
}

pub fn initial() -> Json {
    json!({ "text": "héllo 😀", "list": [1, "two", { "three": 3 }], "deep": { "er": { "list": [[], [1]] } } })
}

const MEMBERS: [&str; 8] = ["text", "list", "deep", "er", "0", "", "a\"b", "ключ"];
const TEXTS: [&str; 6] = [
    "",
    "a",
    "😀",
    "é\u{301}",
    "line\n",
    "a longer piece of text that is more than a few units",
];

fn value(random: &mut Random, depth: usize) -> Json {
    match random.below(if depth < 3 { 8 } else { 6 }) {
        0 => Json::Null,
        1 => Json::from(random.below(2) == 0),
        2 => Json::from(random.below(1_000) as f64 / 8.0),
        3 => Json::from(random.below(1 << 20) as u64),
        4 | 5 => Json::from(TEXTS[random.below(TEXTS.len())]),
        6 => (0..random.below(4))
            .map(|_| value(random, depth + 1))
            .collect::<Vec<_>>()
            .into(),
        _ => Json::object((0..random.below(4)).map(|_| {
            let member = MEMBERS[random.below(MEMBERS.len())];
            (member, value(random, depth + 1))
        })),
    }
}

/// One edit somewhere in the document.
pub fn edit(random: &mut Random, draft: &Draft) -> Result<(), DraftError> {
    match draft.get()? {
        Some(Json::Object(object)) => {
            let members: Vec<String> = object.iter().map(|(key, _)| key.to_string()).collect();
            edit_object(random, draft, &members)
        }
        Some(Json::Array(array)) => edit_array(random, draft, array.len()),
        Some(Json::String(text)) => edit_text(random, draft, &text),
        _ => draft.set(value(random, 1)),
    }
}

fn edit_object(random: &mut Random, draft: &Draft, members: &[String]) -> Result<(), DraftError> {
    let present = (!members.is_empty()).then(|| members[random.below(members.len())].as_str());
    match (random.below(10), present) {
        (0..=5, Some(member)) => edit(random, &draft.at(member)),
        (6, Some(member)) => draft.at(member).remove(),
        (7, Some(member)) => {
            // Removed and put back: at the end.
            let value = draft.at(member).get()?.unwrap_or_default();
            draft.at(member).remove()?;
            draft.at(member).set(value)
        }
        (8, _) => {
            let mut next = draft.get()?.unwrap_or_default();
            if let Json::Object(object) = &mut next {
                *object = object
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .chain([("assigned".into(), value(random, 1))])
                    .collect();
            }
            draft.assign(next)
        }
        _ => draft
            .at(MEMBERS[random.below(MEMBERS.len())])
            .set(value(random, 1)),
    }
}

fn edit_array(random: &mut Random, draft: &Draft, length: usize) -> Result<(), DraftError> {
    let place = random.below(length + 1);
    match random.below(12) {
        0 | 1 => draft.push(value(random, 1)),
        2 | 3 => {
            let items = (0..random.below(3)).map(|_| value(random, 1)).collect();
            draft.splice(place, random.below(3), items)
        }
        4 if place < length => draft.at(place).remove(),
        5 => draft.at(place).set(value(random, 1)),
        6 => draft.set_len(random.below(length + 2)),
        7 => draft.reverse(),
        8 => draft.sort_by(|one, other| one.to_string().cmp(&other.to_string())),
        9 => {
            let mut order: Vec<usize> = (0..length).collect();
            for at in (1..length).rev() {
                order.swap(at, random.below(at + 1));
            }
            draft.reorder(&order)
        }
        10 if place < length => {
            // Held while others move, and edited behind them.
            let held = draft.at(place).hold()?;
            draft.splice(0, 0, vec![value(random, 1)])?;
            draft.reverse()?;
            edit(random, &held)
        }
        11 => draft.edit::<Vec<Json>>(|items| {
            items.retain(|item| !item.is_null());
            items.truncate(12);
        }),
        _ if place < length => edit(random, &draft.at(place)),
        _ => draft.push(Json::from("end")),
    }
}

fn edit_text(random: &mut Random, draft: &Draft, text: &str) -> Result<(), DraftError> {
    let more = TEXTS[random.below(TEXTS.len())];
    let characters = text.chars().count();
    match random.below(5) {
        0 | 1 => draft.append(more),
        2 => {
            // A window that moves on: a trim and an append.
            let rest: String = text.chars().skip(random.below(characters + 1)).collect();
            draft.set(rest + more)
        }
        3 => {
            let kept: String = text.chars().take(random.below(characters + 1)).collect();
            draft.set(kept + more)
        }
        _ => draft.set(value(random, 2)),
    }
}

/// More operations than a batch may have: one replacement takes their place.
pub fn many_edits(draft: &Draft) -> Result<(), DraftError> {
    (0..4_100).try_for_each(|n| draft.at(format!("m{n}").as_str()).set(n as u64))
}
