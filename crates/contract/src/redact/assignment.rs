//! Values assigned to secret names: `NAME=value`, `name: value`, `"name": "value"`, also inside strings of JSON.
//!
//! Code talks about passwords without telling any, so an unquoted value counts only where nothing but a value can stand
//! (an environment variable, an option, a query parameter, a connection string), or when it mixes letters and digits.

use super::REPLACEMENT;
use super::names::{NAME_BYTES, is_environment, is_secret_name};
use super::scan::{byte_at, is_name, reads, run};
use std::ops::Range;

/// Shorter unquoted values are prose.
const LEAST: usize = 6;

/// Bytes of a value that decide what it is; more are read only of what is taken out, so that no byte is read often.
const JUDGED_BYTES: usize = 128;

/// The value assigned to the name that stands at `name`.
pub fn at(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    // Most words assign nothing: that is the cheapest thing to see.
    let after_quote = name.end + quote(text, name.end).map_or(0, |quote| quote.len());
    let separator = after_quote + spaces(text, after_quote);
    let length = separator_length(text, separator)?;
    let named = text.get(name.clone())?;
    let before = name.start.checked_sub(1).and_then(|before| byte_at(text, before));
    let in_list = matches!(before, Some(b'?' | b'&' | b';'));
    reads(named.len().min(NAME_BYTES));
    let is_secret = is_secret_name(named) || (in_list && named.eq_ignore_ascii_case("pwd"));
    if !is_secret {
        return None;
    }
    let start = separator + length + spaces(text, separator + length);
    if let Some(quote) = quote(text, start) {
        return quoted(text, start + quote.len(), quote);
    }
    if named.to_ascii_lowercase().ends_with("cookie") {
        return cookies(text, start);
    }
    if text.get(start..)?.starts_with(REPLACEMENT) {
        return None;
    }
    let seen = text
        .as_bytes()
        .iter()
        .skip(start)
        .take(JUDGED_BYTES)
        .take_while(|byte| !ends_value(**byte))
        .count();
    reads(seen);
    let value = text
        .as_bytes()
        .get(start..start + seen)
        .filter(|value| !value.is_empty())?;
    // `${OTHER}` and `$(command)` name a secret without telling it.
    if value == b"$" {
        return None;
    }
    let tight = after_quote == separator && separator + length == start;
    let assigned = tight
        && byte_at(text, separator) == Some(b'=')
        && (in_list || named.starts_with('-') || is_environment(named));
    let is_call = byte_at(text, start + seen) == Some(b'(');
    let secret = assigned || (value.len() >= LEAST && !is_call && looks_chosen(value));
    secret.then(|| start..start + run(text, start, |byte| !ends_value(byte)))
}

/// `=`, `:`, `:=` or `=>`; a comparison assigns nothing.
fn separator_length(text: &str, at: usize) -> Option<usize> {
    match (byte_at(text, at), byte_at(text, at + 1)) {
        (Some(b'='), Some(b'=')) => None,
        (Some(b':'), Some(b'=')) | (Some(b'='), Some(b'>')) => Some(2),
        (Some(b'=' | b':'), _) => Some(1),
        _ => None,
    }
}

fn spaces(text: &str, at: usize) -> usize {
    run(text, at, |byte| byte == b' ' || byte == b'\t')
}

fn ends_value(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b",;&()[]{}<>\"'`|\\".contains(&byte)
}

/// A quotation mark at `at`, with the backslashes that escape it inside a string.
fn quote(text: &str, at: usize) -> Option<&str> {
    let escapes = run(text, at, |byte| byte == b'\\');
    let end = at + escapes + 1;
    matches!(byte_at(text, end - 1), Some(b'"' | b'\'' | b'`'))
        .then(|| text.get(at..end))
        .flatten()
}

/// Up to the same quotation mark with the same escapes, else to the end of the line: the text may be cut.
fn quoted(text: &str, start: usize, mark: &str) -> Option<Range<usize>> {
    let mut at = start;
    let end = loop {
        match byte_at(text, at) {
            None | Some(b'\n') => break at,
            Some(b'\\' | b'"' | b'\'' | b'`') => match quote(text, at) {
                Some(found) if closes(found, mark) => break at + found.len() - mark.len(),
                Some(found) => at += found.len(),
                None => at += run(text, at, |byte| byte == b'\\').max(1),
            },
            Some(_) => at += 1,
        }
    };
    (end > start).then_some(start..end)
}

/// The same mark with the same escapes; a plain mark also closes after escaped backslashes.
fn closes(found: &str, mark: &str) -> bool {
    found == mark || (mark.len() == 1 && found.ends_with(mark) && found.len() % 2 == 1)
}

/// Letters and digits mixed: no word of a language, no identifier without a number.
fn looks_chosen(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
        && value
            .iter()
            .any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
}

/// The pairs of a cookie header, to the end of the line or of the quotation around it.
fn cookies(text: &str, start: usize) -> Option<Range<usize>> {
    let first = start + run(text, start, is_name);
    if first == start || byte_at(text, first) != Some(b'=') {
        return None;
    }
    Some(
        start
            ..start
                + run(text, start, |byte| {
                    !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`')
                }),
    )
}
