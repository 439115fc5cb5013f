//! The pass over a text: finds where a pattern may start and asks its matcher.

use super::{REPLACEMENT, assignment, auth, pem, url, vendor};
use std::borrow::Cow;
use std::ops::Range;

/// The text without its secrets; borrowed when there is none.
pub fn text(original: &str) -> Cow<'_, str> {
    // Key blocks go first: dashes are characters of other tokens, which would swallow a header and leave its key.
    match pem::without_keys(original) {
        Cow::Borrowed(original) => tokens(original),
        Cow::Owned(rest) => Cow::Owned(tokens(&rest).into_owned()),
    }
}

fn tokens(original: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    let mut names = Names::default();
    // Whether a name may start here although a name character precedes: right after a replaced secret.
    let mut fresh = true;
    while at < original.len() {
        let rest = original.get(at..).unwrap_or_default();
        let found = match rest.as_bytes().first() {
            Some(b':') if rest.starts_with("://") => Found::from_option(url::at(original, at), at + 3),
            Some(byte) if is_name(*byte) && (fresh || !preceded_by_name(original, at)) => {
                names.at(original, at)
            }
            Some(_) => Found::Nothing { next: at + 1 },
            None => break,
        };
        fresh = false;
        match found {
            Found::Secret(range) => {
                out.push_str(original.get(copied..range.start).unwrap_or_default());
                out.push_str(REPLACEMENT);
                copied = range.end;
                // An empty range would not advance; matchers never return one.
                at = range.end.max(at + 1);
                fresh = true;
            }
            Found::Nothing { next } => at = next,
        }
        while at < original.len() && !original.is_char_boundary(at) {
            at += 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(original);
    }
    out.push_str(original.get(copied..).unwrap_or_default());
    if out == original {
        Cow::Borrowed(original)
    } else {
        Cow::Owned(out)
    }
}

enum Found {
    Secret(Range<usize>),
    Nothing { next: usize },
}

impl Found {
    fn from_option(found: Option<Range<usize>>, next: usize) -> Self {
        found.map_or(Self::Nothing { next }, Self::Secret)
    }
}

/// Runs of name characters.
#[derive(Default)]
struct Names {
    /// Where the run that was read last ends. A run may hold many tokens, and is taken up again after each.
    end: usize,
    jwt: vendor::Jwt,
}

impl Names {
    /// Tokens inside the run at `start`, or what follows it.
    fn at(&mut self, text: &str, start: usize) -> Found {
        if start >= self.end {
            self.end = start + run(text, start, is_name);
        }
        let end = self.end;
        for at in start..end {
            // Every token starts with a letter, and none inside a word.
            let letter = byte_at(text, at).is_some_and(|byte| byte.is_ascii_alphabetic());
            let bordered =
                at == start || !byte_at(text, at - 1).is_some_and(|byte| byte.is_ascii_alphanumeric());
            if letter
                && bordered
                && let Some(token_end) = vendor::at(text, at).or_else(|| self.jwt.at(text, at))
            {
                return Found::Secret(at..token_end);
            }
        }
        let after = auth::at(text, start..end).or_else(|| assignment::at(text, start..end));
        Found::from_option(after, end)
    }
}

/// Told how many bytes a matcher reads, wherever that is not a fixed few. Tests hold the sum against the text.
#[cfg(not(test))]
pub(super) fn reads(_bytes: usize) {}
#[cfg(test)]
pub(super) use super::tests::reads;

/// Characters of names and of most tokens.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// How many bytes from `start` on satisfy the test.
pub(super) fn run(text: &str, start: usize, test: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().iter().skip(start);
    let length = rest.take_while(|byte| test(**byte)).count();
    reads(length + 1);
    length
}

pub(super) fn byte_at(text: &str, at: usize) -> Option<u8> {
    reads(1);
    text.as_bytes().get(at).copied()
}

fn preceded_by_name(text: &str, at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| byte_at(text, before))
        .is_some_and(is_name)
}

/// Whether a word is more likely generated than written: digits among letters, capitals inside, or base64 signs.
pub(super) fn looks_generated(word: &str) -> bool {
    let bytes = word.as_bytes();
    let letters = bytes.iter().any(u8::is_ascii_alphabetic);
    let digits = bytes.iter().any(u8::is_ascii_digit);
    let signs = bytes
        .iter()
        .any(|byte| matches!(byte, b'+' | b'/' | b'=' | b'!' | b'$' | b'%' | b'^' | b'#' | b'@'));
    let capitals = bytes.windows(2).any(|pair| match pair {
        [before, byte] => before.is_ascii_lowercase() && byte.is_ascii_uppercase(),
        _ => false,
    });
    letters && (digits || signs || capitals)
}
