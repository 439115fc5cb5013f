//! The mutation language of `vectors.jsonl`, carried out on a draft.

use std::collections::HashMap;

use tidehold_delta::{
    ApplyError, Change, Draft, DraftError, Json, Object, Prepared, byte_of_unit, utf16_len,
};

use crate::javascript;

/// How a vector's mutations ended.
pub enum End {
    Prepared {
        prepared: Prepared,
        /// An array got longer by its length alone, so it holds `null`s where the reference has holes.
        grew: bool,
    },
    /// The callback threw, or a call was refused; nothing was published.
    Failed(String),
    /// They ask for something no draft call can be given, for this reason.
    LeftOut(&'static str),
    /// The draft broke a promise.
    Broken(String),
}

enum Stop {
    LeftOut(&'static str),
    Failed(String),
}

type Result<T> = std::result::Result<T, Stop>;

impl From<DraftError> for Stop {
    fn from(error: DraftError) -> Stop {
        Stop::Failed(error.to_string())
    }
}

const NO_JSON: Stop = Stop::LeftOut("values no JSON has");
const LONE: Stop = Stop::LeftOut("lone surrogates");

/// What JavaScript itself throws before any draft is reached.
fn threw<T>(why: &str) -> Result<T> {
    Err(Stop::Failed(format!("the callback threw: {why}")))
}

/// What a name was given to: elements are followed, scalars are remembered.
enum Kept {
    Element(Draft),
    Scalar(Json),
}

struct Program {
    root: Draft,
    kept: HashMap<String, Kept>,
    grew: bool,
}

pub fn run(base: &Json, steps: &Json) -> End {
    let change = Change::begin(base.clone());
    let mut program = Program {
        root: change.draft(),
        kept: HashMap::new(),
        grew: false,
    };
    for step in steps.as_array().into_iter().flatten() {
        let before = program.root.get();
        match program.step(step) {
            Ok(()) => {}
            Err(Stop::LeftOut(reason)) => return End::LeftOut(reason),
            Err(Stop::Failed(why)) => {
                let unchanged = program.root.get() == before;
                change.abort();
                let revoked = program.root.get() == Err(DraftError::Revoked);
                return if unchanged && revoked {
                    End::Failed(why)
                } else {
                    End::Broken(format!("unchanged: {unchanged}, revoked: {revoked} after: {why}"))
                };
            }
        }
    }
    let grew = program.grew;
    match change.prepare() {
        Ok(prepared) => End::Prepared { prepared, grew },
        Err(error) => End::Broken(error.to_string()),
    }
}

impl Program {
    fn step(&mut self, step: &Json) -> Result<()> {
        let text_of = |key: &str| step.get(key).and_then(Json::as_str);
        let verb = text_of("op").unwrap_or_default();
        if verb == "throw" {
            return threw("on request");
        }
        let from = match text_of("at").map(|name| self.kept.get(name)) {
            None => self.root.clone(),
            Some(Some(Kept::Element(element))) => element.clone(),
            Some(_) => return threw("no draft of that name"),
        };
        let segments = step
            .get("path")
            .and_then(Json::as_array)
            .cloned()
            .unwrap_or_default();
        let place = segments.iter().try_fold(from.clone(), below)?;
        let number = |key: &str| step.get(key).and_then(Json::as_f64);
        let text = text_of("text").unwrap_or_default();
        let name = || text_of("name").unwrap_or_default().to_owned();
        match verb {
            "hold" => drop(self.kept.insert(name(), keep(&place)?)),
            "holdRemoved" => {
                let length = elements(&place)?.len();
                let index = match text_of("how") {
                    Some("shift") => 0,
                    Some("pop") => length.saturating_sub(1),
                    _ => relative(number("index").unwrap_or(0.0), length),
                };
                let kept = keep(&place.at(index))?;
                place.splice(index, 1, vec![])?;
                self.kept.insert(name(), kept);
            }
            "set" => {
                let last = segments.last().and_then(Json::as_str);
                let above = segments.len().saturating_sub(1);
                let holder = segments.iter().take(above).try_fold(from, below)?;
                if last == Some("length") && matches!(holder.get()?, Some(Json::Array(_))) {
                    return self.set_length(&holder, step.get("value"));
                }
                place.set(self.value(step)?)?;
            }
            "delete" => {
                let above = segments.len().saturating_sub(1);
                let holder = segments.iter().take(above).try_fold(from, below)?;
                if let (Some(Json::Array(_)), Some(Json::Number(_))) = (holder.get()?, segments.last()) {
                    // `Draft::remove` closes the gap, which is another call.
                    return Err(Stop::LeftOut("deleted array elements"));
                }
                place.remove()?;
            }
            "push" => {
                let items = self.items(step)?;
                place.splice(elements(&place)?.len(), 0, items)?;
            }
            "unshift" => place.splice(0, 0, self.items(step)?)?,
            "pop" => {
                let length = elements(&place)?.len();
                place.splice(length.saturating_sub(1), 1, vec![])?;
            }
            "shift" => place.splice(0, 1, vec![])?,
            "splice" => {
                let length = elements(&place)?.len();
                let start = relative(number("start").unwrap_or(0.0), length);
                let count = number("deleteCount").map_or(length, |count| count.max(0.0) as usize);
                place.splice(start, count, self.items(step)?)?;
            }
            "setLength" => self.set_length(&place, step.get("length"))?,
            "filterAssign" => {
                let present = elements(&place)?;
                let keep = step
                    .get("keep")
                    .and_then(Json::as_array)
                    .cloned()
                    .unwrap_or_default();
                let kept = keep
                    .iter()
                    .filter_map(|i| present.get(i.as_u64()? as usize).cloned());
                place.set(Json::array(kept))?;
            }
            "sort" => match step.get("by") {
                Some(Json::Object(by)) => {
                    let key = by.get("key").and_then(Json::as_str);
                    let down = by.get("dir").and_then(Json::as_str) == Some("desc");
                    place.sort_by(|one, other| {
                        let part = |item: &Json| match key {
                            Some(key) => item.get(key).cloned(),
                            None => Some(item.clone()),
                        };
                        let order = javascript::compare(part(one).as_ref(), part(other).as_ref());
                        if down { order.reverse() } else { order }
                    })?;
                }
                _ => place.sort_by(|one, other| javascript::units(one).cmp(&javascript::units(other)))?,
            },
            "reverse" => place.reverse()?,
            "fill" => {
                let length = elements(&place)?.len();
                let (start, end) = range(&number, length);
                place.splice(start, end - start, vec![self.value(step)?; end - start])?;
            }
            "copyWithin" => {
                let present = elements(&place)?;
                let (start, end) = range(&number, present.len());
                let target = relative(number("target").unwrap_or(0.0), present.len());
                let count = (end - start).min(present.len() - target);
                let copies = present[start..start + count].to_vec();
                place.splice(target, count, copies)?;
            }
            "appendString" => match place.get()? {
                Some(Json::String(_)) => place.append(text)?,
                Some(other) => place.set(javascript::string(&other) + text)?,
                None => return Err(NO_JSON),
            },
            "trimStart" => place.set(cut(&place, number("units"), "")?)?,
            "slide" => place.set(cut(&place, number("units"), text)?)?,
            "trimEnd" => {
                let present = string(&place)?;
                let units = number("units").unwrap_or(0.0) as usize;
                let keep = utf16_len(&present).saturating_sub(units);
                let byte = byte_of_unit(&present, keep).ok_or(LONE)?;
                place.set(&present[..byte])?;
            }
            "increment" => match place.get()? {
                Some(Json::Number(present)) => place.set(present + number("by").unwrap_or(1.0))?,
                _ => return Err(NO_JSON),
            },
            "deleteKeys" => {
                let Some(Json::Object(present)) = place.get()? else {
                    return threw("no object");
                };
                let except = step
                    .get("except")
                    .and_then(Json::as_array)
                    .cloned()
                    .unwrap_or_default();
                let kept = |key: &str| except.iter().any(|other| other.as_str() == Some(key));
                for key in present.keys().filter(|key| !kept(key)) {
                    place.at(key.clone()).remove()?;
                }
            }
            _ => return Err(Stop::LeftOut("unknown mutations")),
        }
        Ok(())
    }

    fn set_length(&mut self, place: &Draft, length: Option<&Json>) -> Result<()> {
        let length = match length {
            Some(Json::String(digits)) => digits.parse().ok(),
            other => other.and_then(Json::as_u64),
        };
        // JavaScript throws at what a `usize` cannot even hold.
        let Some(length) = length else {
            return Err(Stop::LeftOut("lengths no usize holds"));
        };
        self.grew |= length as usize > elements(place)?.len();
        Ok(place.set_len(length as usize)?)
    }

    fn value(&self, step: &Json) -> Result<Json> {
        self.resolve(step.get("value").ok_or(NO_JSON)?)
    }

    fn items(&self, step: &Json) -> Result<Vec<Json>> {
        let items = step
            .get("items")
            .and_then(Json::as_array)
            .cloned()
            .unwrap_or_default();
        items.iter().map(|item| self.resolve(item)).collect()
    }

    /// Replaces `$ref` by the value now there, `$handle` by the content of that element now, and `$js` by the number it is.
    fn resolve(&self, value: &Json) -> Result<Json> {
        match value {
            Json::Object(object) => {
                if let Some(path) = object.get("$ref").and_then(Json::as_array) {
                    let place = path.iter().try_fold(self.root.clone(), below)?;
                    return place.get()?.ok_or(NO_JSON);
                }
                if let Some(name) = object.get("$handle").and_then(Json::as_str) {
                    return match self.kept.get(name) {
                        Some(Kept::Element(element)) => element.get()?.ok_or(NO_JSON),
                        Some(Kept::Scalar(scalar)) => Ok(scalar.clone()),
                        None => Err(NO_JSON),
                    };
                }
                if let Some(name) = object.get("$js") {
                    return match name.as_str() {
                        Some("NaN") => Ok(Json::Number(f64::NAN)),
                        Some("Infinity") => Ok(Json::Number(f64::INFINITY)),
                        Some("-Infinity") => Ok(Json::Number(f64::NEG_INFINITY)),
                        Some("-0") => Ok(Json::Number(-0.0)),
                        _ => Err(NO_JSON),
                    };
                }
                let members = object
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.resolve(value)?)));
                members.collect::<Result<Object>>().map(Json::Object)
            }
            Json::Array(array) => array
                .iter()
                .map(|item| self.resolve(item))
                .collect::<Result<_>>()
                .map(Json::Array),
            scalar => Ok(scalar.clone()),
        }
    }
}

fn below(place: Draft, segment: &Json) -> Result<Draft> {
    match segment {
        Json::String(key) => Ok(place.at(key.clone())),
        other => match other.as_u64() {
            Some(index) => Ok(place.at(index as usize)),
            // A property name like any other, which no array has.
            None => Ok(place.at(javascript::string(other))),
        },
    }
}

fn keep(place: &Draft) -> Result<Kept> {
    match place.get()? {
        Some(value) if value.is_container() => Ok(Kept::Element(place.hold()?)),
        Some(scalar) => Ok(Kept::Scalar(scalar)),
        None => Err(NO_JSON),
    }
}

fn elements(place: &Draft) -> Result<Vec<Json>> {
    match place.get()? {
        Some(Json::Array(array)) => Ok(array.to_vec()),
        // The draft's own refusal.
        _ => Err(place
            .reorder(&[])
            .err()
            .unwrap_or(DraftError::Place(ApplyError::Depth))
            .into()),
    }
}

fn string(place: &Draft) -> Result<String> {
    match place.get()? {
        Some(Json::String(text)) => Ok(text.to_string()),
        _ => threw("no string"),
    }
}

/// The string without its first units, and with `more` behind.
fn cut(place: &Draft, units: Option<f64>, more: &str) -> Result<String> {
    let present = string(place)?;
    let units = (units.unwrap_or(0.0) as usize).min(utf16_len(&present));
    let byte = byte_of_unit(&present, units).ok_or(LONE)?;
    Ok([&present[byte..], more].concat())
}

/// A JavaScript index that counts from the end when negative, clamped.
fn relative(index: f64, length: usize) -> usize {
    let index = index.trunc();
    let index = if index < 0.0 { length as f64 + index } else { index };
    (index.max(0.0) as usize).min(length)
}

fn range(number: &dyn Fn(&str) -> Option<f64>, length: usize) -> (usize, usize) {
    let start = relative(number("start").unwrap_or(0.0), length);
    let end = number("end").map_or(length, |end| relative(end, length));
    (start, end.max(start))
}
