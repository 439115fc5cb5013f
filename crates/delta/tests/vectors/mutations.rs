//! The mutation language of `vectors.jsonl`, carried out on a draft.

use tidehold_delta::{
    ApplyError, Change, Draft, DraftError, Json, Object, Prepared, byte_of_unit, utf16_len,
};

/// Why a vector's mutations did not run to the end.
pub enum Stop {
    /// They ask for something a draft has no call for (see `main.rs`).
    Inexpressible,
    Refused(DraftError),
}

use Stop::Inexpressible;

type Result<T> = std::result::Result<T, Stop>;

impl From<DraftError> for Stop {
    fn from(error: DraftError) -> Stop {
        match error {
            // The reference lets a write beyond the end of an array pass and looks for holes in the end.
            DraftError::Place(ApplyError::UnsafePath(_)) => Inexpressible,
            other => Stop::Refused(other),
        }
    }
}

pub fn run(base: &Json, steps: &Json) -> Result<Prepared> {
    let change = Change::begin(base.clone());
    for step in steps.as_array().ok_or(Inexpressible)? {
        perform(&change.draft(), step)?;
    }
    Ok(change.prepare()?)
}

fn perform(root: &Draft, step: &Json) -> Result<()> {
    if step.get("at").is_some() {
        return Err(Inexpressible);
    }
    let place = walk(root, step.get("path").ok_or(Inexpressible)?);
    let value = || resolve(root, step.get("value").unwrap_or(&Json::Null));
    let items = || -> Result<Vec<Json>> {
        let items = step.get("items").and_then(Json::as_array);
        items
            .map(|items| items.iter().map(|item| resolve(root, item)).collect())
            .unwrap_or(Ok(vec![]))
    };
    let number = |key: &str| step.get(key).and_then(Json::as_f64);
    let text = step.get("text").and_then(Json::as_str).unwrap_or_default();
    match step.get("op").and_then(Json::as_str).unwrap_or_default() {
        "set" => place.set(value()?)?,
        "delete" => place.remove()?,
        "push" => {
            for item in items()? {
                place.push(item)?;
            }
        }
        "unshift" => place.splice(0, 0, items()?)?,
        "pop" => match place.len()? {
            0 => {}
            length => place.splice(length - 1, 1, vec![])?,
        },
        "shift" => place.splice(0, 1, vec![])?,
        "splice" => {
            let length = place.len()?;
            let start = relative(number("start").unwrap_or(0.0), length);
            let count = number("deleteCount").map_or(length, |count| count.max(0.0) as usize);
            place.splice(start, count, items()?)?;
        }
        "setLength" => {
            let (length, wanted) = (place.len()?, number("length").ok_or(Inexpressible)?);
            if wanted.fract() != 0.0 || wanted < 0.0 || wanted > length as f64 {
                return Err(Inexpressible);
            }
            place.splice(wanted as usize, length, vec![])?;
        }
        "filterAssign" => {
            let present = elements(&place)?;
            let keep = step.get("keep").and_then(Json::as_array).ok_or(Inexpressible)?;
            let kept = keep
                .iter()
                .filter_map(|i| present.get(i.as_u64()? as usize).cloned());
            place.set(Json::array(kept))?;
        }
        "sort" => {
            let mut sorted = elements(&place)?;
            sort(&mut sorted, step.get("by"))?;
            place.assign(Json::array(sorted))?;
        }
        "reverse" => {
            let mut reversed = elements(&place)?;
            reversed.reverse();
            place.assign(Json::array(reversed))?;
        }
        "fill" => {
            let mut present = elements(&place)?;
            let (start, end) = range(&number, present.len());
            let value = value()?;
            present
                .iter_mut()
                .take(end)
                .skip(start)
                .for_each(|slot| *slot = value.clone());
            place.assign(Json::array(present))?;
        }
        "copyWithin" => {
            let mut present = elements(&place)?;
            let (start, end) = range(&number, present.len());
            let target = relative(number("target").unwrap_or(0.0), present.len());
            let source: Vec<Json> = present.iter().take(end).skip(start).cloned().collect();
            present
                .iter_mut()
                .skip(target)
                .zip(source)
                .for_each(|(slot, value)| *slot = value);
            place.assign(Json::array(present))?;
        }
        "appendString" => place.append(text)?,
        "trimStart" => place.set(cut(&place, number("units"), "")?)?,
        "slide" => place.set(cut(&place, number("units"), text)?)?,
        "trimEnd" => {
            let present = string(&place)?;
            let units = number("units").ok_or(Inexpressible)? as usize;
            // `slice(0, -0)` is empty in JavaScript, which the generator avoids by its own length.
            let keep = utf16_len(&present).saturating_sub(units);
            let byte = byte_of_unit(&present, keep).ok_or(Inexpressible)?;
            place.set(&present[..byte])?;
        }
        "increment" => {
            let present = place
                .get()?
                .and_then(|value| value.as_f64())
                .ok_or(Inexpressible)?;
            place.set(present + number("by").unwrap_or(1.0))?;
        }
        "deleteKeys" => {
            let present = place.get()?.ok_or(Inexpressible)?;
            let except = step.get("except").and_then(Json::as_array).ok_or(Inexpressible)?;
            let kept = |key: &str| except.iter().any(|other| other.as_str() == Some(key));
            for key in present
                .as_object()
                .ok_or(Inexpressible)?
                .keys()
                .filter(|key| !kept(key))
            {
                place.at(key.clone()).remove()?;
            }
        }
        _ => return Err(Inexpressible),
    }
    Ok(())
}

fn walk(root: &Draft, path: &Json) -> Draft {
    path.as_array()
        .unwrap()
        .iter()
        .fold(root.clone(), |place, segment| match segment.as_u64() {
            Some(index) => place.at(index as usize),
            None => place.at(segment.as_str().unwrap()),
        })
}

/// Replaces `$ref` by the value now there; other special values are out of reach.
fn resolve(root: &Draft, value: &Json) -> Result<Json> {
    match value {
        Json::Object(object) => {
            if let Some(path) = object.get("$ref") {
                return walk(root, path).get()?.ok_or(Inexpressible);
            }
            if object.contains_key("$js") || object.contains_key("$handle") {
                return Err(Inexpressible);
            }
            let members = object
                .iter()
                .map(|(key, value)| Ok((key.clone(), resolve(root, value)?)));
            members.collect::<Result<Object>>().map(Json::Object)
        }
        Json::Array(array) => array
            .iter()
            .map(|item| resolve(root, item))
            .collect::<Result<_>>()
            .map(Json::Array),
        scalar => Ok(scalar.clone()),
    }
}

fn elements(place: &Draft) -> Result<Vec<Json>> {
    place
        .get()?
        .and_then(|value| Some(value.as_array()?.to_vec()))
        .ok_or(Inexpressible)
}

fn string(place: &Draft) -> Result<String> {
    place
        .get()?
        .and_then(|value| Some(value.as_str()?.to_owned()))
        .ok_or(Inexpressible)
}

/// The string without its first units, and with `more` behind; inexpressible when a pair is split.
fn cut(place: &Draft, units: Option<f64>, more: &str) -> Result<String> {
    let present = string(place)?;
    let units = (units.ok_or(Inexpressible)? as usize).min(utf16_len(&present));
    let byte = byte_of_unit(&present, units).ok_or(Inexpressible)?;
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

/// By JavaScript's string form, or by a member or the element itself in a direction.
fn sort(items: &mut [Json], by: Option<&Json>) -> Result<()> {
    match by {
        Some(Json::Object(by)) => {
            let key = |item: &Json| match by.get("key").and_then(Json::as_str) {
                Some(key) => item.get(key).cloned().unwrap_or_default(),
                None => item.clone(),
            };
            let down = by.get("dir").and_then(Json::as_str) == Some("desc");
            if items
                .iter()
                .any(|item| key(item).as_f64().is_none() && key(item).as_str().is_none())
            {
                return Err(Inexpressible);
            }
            items.sort_by(|a, b| {
                let order = match (key(a), key(b)) {
                    (Json::Number(a), Json::Number(b)) => a.total_cmp(&b),
                    (a, b) => units(&a).cmp(&units(&b)),
                };
                if down { order.reverse() } else { order }
            });
        }
        _ if items.iter().any(Json::is_container) => return Err(Inexpressible),
        _ => items.sort_by_key(units),
    }
    Ok(())
}

fn units(value: &Json) -> Vec<u16> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.encode_utf16().collect()
}
