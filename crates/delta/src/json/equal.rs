//! Equality and the debug form.

use std::fmt;

use super::Json;

/// Deep equality: numbers as doubles, objects without regard to member order.
///
/// Parts that are shared by both sides are not walked.
impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        // A list instead of recursion: equality must hold out for every depth code can build.
        let mut open = Vec::new();
        let mut next = Some((self, other));
        while let Some((a, b)) = next {
            match (a, b) {
                _ if a.same(b) => {}
                (Json::String(a), Json::String(b)) if a == b => {}
                (Json::Array(a), Json::Array(b)) if a.len() == b.len() => open.extend(a.iter().zip(b)),
                (Json::Object(a), Json::Object(b)) if a.len() == b.len() => {
                    for (key, value) in a {
                        match b.get(key) {
                            Some(other) => open.push((value, other)),
                            None => return false,
                        }
                    }
                }
                _ => return false,
            }
            next = open.pop();
        }
        true
    }
}

impl PartialEq for super::Array {
    fn eq(&self, other: &super::Array) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(a, b)| a == b)
    }
}

impl PartialEq for super::Object {
    fn eq(&self, other: &super::Object) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

/// The compact JSON text, like `Display`.
impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for super::Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Json::Array(self.clone()), f)
    }
}

impl fmt::Debug for super::Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Json::Object(self.clone()), f)
    }
}
