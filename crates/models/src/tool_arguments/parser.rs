//! A tolerant incremental JSON parser: shows arguments while they arrive, and never fails (models.md 7.3).
//!
//! What it shows is a preview. What runs is the strict parse of the finished text ([`super::finished`]).

use super::text::{Literal, StringDecoder};
use crate::limits::JSON_DEPTH;
use tidehold_delta::{Array, Json, Object, Path, Segment};

/// Containers below this depth are reported once, when they close.
const REPORTED_DEPTH: usize = 32;

/// Longer unfinished numbers and words are not shown.
const SHOWN_SCALAR_BYTES: usize = 64;

/// What an append changed, for consumers that keep a copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The value at `path` is now `value`.
    Set {
        /// From the root.
        path: Path,
        /// A scalar, or a container: empty when it just opened.
        value: Json,
    },
    /// The string at `path` grew.
    Append {
        /// From the root.
        path: Path,
        /// What is new at its end.
        text: String,
    },
}

#[derive(Clone, Debug)]
enum Container {
    Object {
        members: Object,
        key: Option<String>,
    },
    Array(Array),
    /// A container where no value may stand, and this many within it: read and dropped. Counted, because `[[[[…` from a
    /// model must cost neither stack nor memory.
    Dropped(usize),
}

#[derive(Clone, Debug)]
enum Token {
    None,
    Key {
        text: String,
        decoder: StringDecoder,
    },
    Value {
        text: String,
        decoder: StringDecoder,
        reported: Option<usize>,
    },
    /// A string where no value may stand.
    DroppedString(StringDecoder),
    /// A number, a literal, or a word that is neither.
    Word(String),
}

/// The parser. Feed it with [`ArgumentsParser::append`], look with [`ArgumentsParser::snapshot`].
#[derive(Clone, Debug)]
pub struct ArgumentsParser {
    stack: Vec<Container>,
    token: Token,
    root: Option<Json>,
}

impl Default for ArgumentsParser {
    fn default() -> Self {
        Self {
            stack: Vec::new(),
            token: Token::None,
            root: None,
        }
    }
}

impl ArgumentsParser {
    /// Takes the next piece and says what changed. Costs time in proportion to the piece.
    pub fn append(&mut self, piece: &str) -> Vec<Change> {
        let mut changes = Vec::new();
        for character in piece.chars() {
            if self.root.is_some() {
                break;
            }
            self.push(character, &mut changes);
        }
        self.report_string(&mut changes);
        changes
    }

    /// What is known so far; `None` before the root value starts. Costs time in proportion to the open containers.
    pub fn snapshot(&self) -> Option<Json> {
        if let Some(root) = &self.root {
            return Some(root.clone());
        }
        let mut shown = match &self.token {
            Token::Value { text, .. } => Some(Json::from(text)),
            Token::Word(word) if word.len() <= SHOWN_SCALAR_BYTES => unfinished_scalar(word),
            _ => None,
        };
        for container in self.stack.iter().rev() {
            shown = match container {
                Container::Dropped(_) => None,
                Container::Array(items) => {
                    let mut items = items.clone();
                    items.extend(shown);
                    Some(Json::Array(items))
                }
                Container::Object { members, key } => {
                    let mut members = members.clone();
                    if let (Some(key), Some(value)) = (key, shown) {
                        members.insert(key.as_str(), value);
                    }
                    Some(Json::Object(members))
                }
            };
        }
        shown
    }

    /// Whether the text began to say something: a value, or a word that may become one.
    pub fn has_value(&self) -> bool {
        self.root.is_some() || !self.stack.is_empty() || !matches!(self.token, Token::None)
    }

    fn push(&mut self, character: char, changes: &mut Vec<Change>) {
        match &mut self.token {
            Token::None => self.structure(character, changes),
            Token::Word(word) => {
                if is_word(character) {
                    word.push(character);
                } else {
                    self.finish_word(changes);
                    if self.root.is_none() {
                        self.structure(character, changes);
                    }
                }
            }
            Token::DroppedString(decoder) => {
                if decoder.push(character, &mut String::new()) == Literal::Closed {
                    self.token = Token::None;
                }
            }
            Token::Key { text, decoder } => {
                if decoder.push(character, text) == Literal::Closed {
                    let name = std::mem::take(text);
                    self.token = Token::None;
                    if let Some(Container::Object { key, .. }) = self.stack.last_mut() {
                        *key = Some(name);
                    }
                }
            }
            Token::Value { text, decoder, .. } => {
                if decoder.push(character, text) == Literal::Closed {
                    self.report_string(changes);
                    if let Token::Value { text, .. } = std::mem::replace(&mut self.token, Token::None) {
                        self.place(Json::from(text));
                    }
                }
            }
        }
    }

    /// A character outside strings and words.
    fn structure(&mut self, character: char, changes: &mut Vec<Change>) {
        match character {
            '{' => self.open(
                Container::Object {
                    members: Object::new(),
                    key: None,
                },
                changes,
            ),
            '[' => self.open(Container::Array(Array::new()), changes),
            '}' | ']' => self.close(changes),
            '"' => self.open_string(),
            ',' => {
                if let Some(Container::Object { key, .. }) = self.stack.last_mut() {
                    *key = None;
                }
            }
            ':' => {}
            other if is_word(other) => self.token = Token::Word(other.to_string()),
            _ => {}
        }
    }

    /// Whether a value may stand here.
    fn expects_value(&self) -> bool {
        match self.stack.last() {
            None | Some(Container::Array(_)) => true,
            Some(Container::Object { key, .. }) => key.is_some(),
            Some(Container::Dropped(_)) => false,
        }
    }

    fn open(&mut self, container: Container, changes: &mut Vec<Change>) {
        if let Some(Container::Dropped(within)) = self.stack.last_mut() {
            *within += 1;
            return;
        }
        if !self.expects_value() || self.stack.len() >= JSON_DEPTH {
            self.stack.push(Container::Dropped(0));
            return;
        }
        if self.stack.len() < REPORTED_DEPTH {
            let empty = match &container {
                Container::Array(_) => Json::array([]),
                _ => Json::empty_object(),
            };
            changes.push(Change::Set {
                path: self.path(),
                value: empty,
            });
        }
        self.stack.push(container);
    }

    fn close(&mut self, changes: &mut Vec<Change>) {
        if let Some(Container::Dropped(within)) = self.stack.last_mut()
            && *within > 0
        {
            *within -= 1;
            return;
        }
        let value = match self.stack.pop() {
            None => return,
            Some(Container::Dropped(_)) => {
                // A container below the depth limit stands where a value was expected: its key is used up.
                if let Some(Container::Object { key, .. }) = self.stack.last_mut() {
                    *key = None;
                }
                return;
            }
            Some(Container::Array(items)) => Json::Array(items),
            Some(Container::Object { members, .. }) => Json::Object(members),
        };
        if self.stack.len() == REPORTED_DEPTH {
            changes.push(Change::Set {
                path: self.path(),
                value: value.clone(),
            });
        }
        self.place(value);
    }

    fn open_string(&mut self) {
        let decoder = StringDecoder::default();
        self.token = match self.stack.last() {
            Some(Container::Dropped(_)) => Token::DroppedString(decoder),
            Some(Container::Object { key: None, .. }) => Token::Key {
                text: String::new(),
                decoder,
            },
            _ => Token::Value {
                text: String::new(),
                decoder,
                reported: None,
            },
        };
    }

    fn finish_word(&mut self, changes: &mut Vec<Change>) {
        let Token::Word(word) = std::mem::replace(&mut self.token, Token::None) else {
            return;
        };
        if !self.expects_value() {
            return;
        }
        match finished_scalar(&word) {
            Some(value) => {
                if self.stack.len() <= REPORTED_DEPTH {
                    changes.push(Change::Set {
                        path: self.path(),
                        value: value.clone(),
                    });
                }
                self.place(value);
            }
            None => {
                // An unknown word stands for the value: the next string is a key again.
                if let Some(Container::Object { key, .. }) = self.stack.last_mut() {
                    *key = None;
                }
            }
        }
    }

    /// Puts a complete value where one was expected.
    fn place(&mut self, value: Json) {
        match self.stack.last_mut() {
            None => self.root = Some(value),
            Some(Container::Array(items)) => items.push_back(value),
            Some(Container::Object { members, key }) => {
                if let Some(key) = key.take() {
                    members.insert(key, value);
                }
            }
            Some(Container::Dropped(_)) => {}
        }
    }

    /// Reports what the open string gained since the last report.
    fn report_string(&mut self, changes: &mut Vec<Change>) {
        if self.stack.len() > REPORTED_DEPTH {
            return;
        }
        let Token::Value { text, reported, .. } = &mut self.token else {
            return;
        };
        let known = reported.replace(text.len());
        match known {
            None => {
                let value = Json::from(&*text);
                changes.push(Change::Set {
                    path: self.path(),
                    value,
                });
            }
            Some(known) => {
                let new = text.get(known..).unwrap_or_default().to_owned();
                if !new.is_empty() {
                    changes.push(Change::Append {
                        path: self.path(),
                        text: new,
                    });
                }
            }
        }
    }

    /// Where the next value goes.
    fn path(&self) -> Path {
        self.stack
            .iter()
            .map(|container| match container {
                Container::Array(items) => Segment::Index(items.len() as u64),
                Container::Object { key, .. } => Segment::Key(key.as_deref().unwrap_or_default().into()),
                Container::Dropped(_) => Segment::Index(0),
            })
            .collect()
    }
}

/// White space and structure end a word, everything else is part of it.
fn is_word(character: char) -> bool {
    !matches!(character, '{' | '}' | '[' | ']' | ',' | ':' | '"')
        && !character.is_whitespace()
        && character != '\u{feff}'
}

fn finished_scalar(word: &str) -> Option<Json> {
    match word {
        "true" => Some(Json::Bool(true)),
        "false" => Some(Json::Bool(false)),
        "null" => Some(Json::Null),
        _ => number(word),
    }
}

/// A literal shows from its first letter on, a number while it is one, also with a dangling exponent.
fn unfinished_scalar(word: &str) -> Option<Json> {
    for (literal, value) in [
        ("true", Json::Bool(true)),
        ("false", Json::Bool(false)),
        ("null", Json::Null),
    ] {
        if literal.starts_with(word) {
            return Some(value);
        }
    }
    let mantissa = word
        .strip_suffix(['+', '-'])
        .filter(|rest| rest.ends_with(['e', 'E']))
        .unwrap_or(word);
    number(mantissa.strip_suffix(['e', 'E']).unwrap_or(mantissa))
}

/// The number a text denotes under JSON's grammar; `None` for anything else, also for one beyond a double's range.
fn number(text: &str) -> Option<Json> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let valid = all_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(all_digits)
        && exponent.is_none_or(|exponent| all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let value = if valid { text.parse::<f64>().ok() } else { None };
    value.filter(|value| value.is_finite()).map(Json::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str) {
        let mut parser = ArgumentsParser::default();
        for piece in pieces {
            parser.append(piece);
        }
        assert_eq!(parser.snapshot().unwrap_or_default().to_string(), expected);
    }

    #[test]
    fn impossible_values_are_dropped_with_everything_in_them() {
        check(&["{[1,{\"x\":2}],\"a\":1}"], r#"{"a":1}"#);
        check(&["{\"a\":,\"b\":2,{\"c\":[3]}}"], r#"{"b":2}"#);
        check(&["{\"a\":x{\"b\":1},\"c\":2}"], r#"{"c":2}"#);
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "[".repeat(1_000_000);
        let mut parser = ArgumentsParser::default();
        parser.append(&deep);
        let mut shown = parser.snapshot();
        let mut depth = 0;
        while let Some(inner) = shown.as_ref().and_then(|value| value.index(0).cloned()) {
            (shown, depth) = (Some(inner), depth + 1);
        }
        assert_eq!(depth, JSON_DEPTH - 1);
        parser.append(&"]".repeat(1_000_000));
        assert!(parser.snapshot().is_some_and(|value| value.as_array().is_some()));
    }

    #[test]
    fn containers_far_down_are_reported_when_they_close() {
        let open = "{\"a\":".repeat(33);
        let mut parser = ArgumentsParser::default();
        assert_eq!(parser.append(&open).len(), 32);
        assert!(parser.append("1, \"b\": \"x").is_empty());
        let closed = parser.append("\"}");
        assert!(
            matches!(closed.as_slice(), [Change::Set { path, value }] if path.len() == 32 && value.get("b").is_some())
        );
    }
}
