//! A matcher for fixed patterns: sequences of parts, found anywhere in a text that is already ASCII lowercase.
//!
//! The parts mean what the same notation means in a JavaScript regular expression without the `u` flag.

/// One part of a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// This text.
    Text(&'static str),
    /// One of these texts.
    Either(&'static [&'static str]),
    /// `(?:…)?`
    Maybe(&'static [Part]),
    /// `.?`
    AnyMaybe,
    /// `\d+`
    Digits,
    /// `[\d,]+`
    Grouped,
    /// `\s*`
    Spaces,
    /// `\S+`
    NonSpaces,
    /// `(?<![a-z0-9])` before and `(?![a-z0-9])` after one of these texts; with `_` counted as a letter or not.
    Alone(&'static [&'static str], Underscore),
    /// `(?![0-9])`
    NoDigit,
}

/// Whether `_` belongs to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Underscore {
    Letter,
    Boundary,
}

/// Whether any of the patterns occurs in `text`, which must be ASCII lowercase.
pub(super) fn any_found(patterns: &[&[Part]], text: &str) -> bool {
    patterns.iter().any(|pattern| found(pattern, text))
}

fn found(pattern: &[Part], text: &str) -> bool {
    // A pattern that starts with text is looked for with the fast substring search.
    if let [Part::Text(first), rest @ ..] = pattern {
        return text
            .match_indices(first)
            .any(|(at, _)| matches_at(rest, text, at + first.len()));
    }
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    starts.into_iter().any(|at| matches_at(pattern, text, at))
}

fn matches_at(parts: &[Part], text: &str, at: usize) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return true;
    };
    let here = text.get(at..).unwrap_or_default();
    let continues = |taken: usize| matches_at(rest, text, at + taken);
    match part {
        Part::Text(expected) => here.starts_with(expected) && continues(expected.len()),
        Part::Either(options) => options
            .iter()
            .any(|option| here.starts_with(option) && continues(option.len())),
        Part::Maybe(inner) => {
            let with: Vec<Part> = inner.iter().chain(rest).copied().collect();
            matches_at(&with, text, at) || continues(0)
        }
        Part::AnyMaybe => {
            let any = here.chars().next().filter(|character| is_dot(*character));
            any.is_some_and(|character| continues(character.len_utf8())) || continues(0)
        }
        Part::Digits => run(here, |character| character.is_ascii_digit()).is_some_and(continues),
        Part::Grouped => {
            run(here, |character| character.is_ascii_digit() || character == ',').is_some_and(continues)
        }
        Part::Spaces => continues(run(here, is_space).unwrap_or(0)),
        Part::NonSpaces => run(here, |character| !is_space(character)).is_some_and(continues),
        Part::Alone(options, underscore) => {
            let letter = |character: char| is_letter(character, *underscore);
            let before = text.get(..at).unwrap_or_default().chars().next_back();
            !before.is_some_and(letter)
                && options.iter().any(|option| {
                    let after = here.strip_prefix(option).map(|rest| rest.chars().next());
                    after.is_some_and(|next| !next.is_some_and(letter)) && continues(option.len())
                })
        }
        Part::NoDigit => !here.starts_with(|character: char| character.is_ascii_digit()) && continues(0),
    }
}

/// Bytes of the longest start of `text` made of such characters; `None` when there is none.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> Option<usize> {
    let length = text.find(|character| !belongs(character)).unwrap_or(text.len());
    (length > 0).then_some(length)
}

/// `.`: one UTF-16 unit that ends no line.
fn is_dot(character: char) -> bool {
    character.len_utf16() == 1 && !is_line_end(character)
}

/// Characters that `.` excludes.
pub(super) fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// `\s`.
pub(super) fn is_space(character: char) -> bool {
    character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}')
}

fn is_letter(character: char, underscore: Underscore) -> bool {
    character.is_ascii_alphanumeric() || (character == '_' && underscore == Underscore::Letter)
}
