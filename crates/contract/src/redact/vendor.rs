//! Tokens that say by their prefix who issued them, and JSON Web Tokens.

use super::scan::{reads, run};

/// Characters a token is made of.
#[derive(Clone, Copy)]
enum Charset {
    Upper,
    Alphanumeric,
    Word,
    Url,
    Path,
}

impl Charset {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/'),
        }
    }
}

/// Prefix, characters after it, and how many there are at least.
const TOKENS: [(&str, Charset, usize); 37] = [
    ("sk-", Charset::Url, 16),
    ("sk_live_", Charset::Word, 10),
    ("sk_test_", Charset::Word, 10),
    ("rk_live_", Charset::Word, 10),
    ("rk_test_", Charset::Word, 10),
    ("whsec_", Charset::Word, 10),
    ("ghp_", Charset::Alphanumeric, 16),
    ("gho_", Charset::Alphanumeric, 16),
    ("ghu_", Charset::Alphanumeric, 16),
    ("ghs_", Charset::Alphanumeric, 16),
    ("ghr_", Charset::Alphanumeric, 16),
    ("github_pat_", Charset::Word, 16),
    ("glpat-", Charset::Url, 16),
    ("AKIA", Charset::Upper, 16),
    ("ASIA", Charset::Upper, 16),
    ("AIza", Charset::Url, 30),
    ("ya29.", Charset::Url, 20),
    ("xoxb-", Charset::Url, 10),
    ("xoxa-", Charset::Url, 10),
    ("xoxp-", Charset::Url, 10),
    ("xoxr-", Charset::Url, 10),
    ("xoxs-", Charset::Url, 10),
    ("xapp-", Charset::Url, 10),
    ("hooks.slack.com/services/", Charset::Path, 20),
    ("npm_", Charset::Alphanumeric, 30),
    ("pypi-", Charset::Url, 30),
    ("hf_", Charset::Alphanumeric, 20),
    ("gsk_", Charset::Alphanumeric, 20),
    ("xai-", Charset::Alphanumeric, 20),
    ("r8_", Charset::Alphanumeric, 20),
    ("dop_v1_", Charset::Alphanumeric, 20),
    ("shpat_", Charset::Alphanumeric, 20),
    ("lin_api_", Charset::Alphanumeric, 20),
    ("SG.", Charset::Path, 30),
    ("sntrys_", Charset::Path, 20),
    ("dckr_pat_", Charset::Url, 16),
    ("AGE-SECRET-KEY-1", Charset::Upper, 30),
];

/// The end of a token that starts at `at`, which is no continuation of a word.
pub fn at(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let first = rest.as_bytes().first()?;
    let starts = |prefix: &str| prefix.as_bytes().first() == Some(first) && rest.starts_with(prefix);
    let (prefix, charset, least) = TOKENS.iter().find(|(prefix, ..)| starts(prefix))?;
    let start = at + prefix.len();
    reads(prefix.len() + least);
    // A short run is read at most to its least length, so that failures stay cheap.
    let enough = text
        .as_bytes()
        .iter()
        .skip(start)
        .take(*least)
        .filter(|byte| charset.has(**byte))
        .count()
        == *least;
    enough.then(|| start + run(text, start, |byte| charset.has(byte)))
}

/// JSON Web Tokens: three dotted segments, the first the base64url of `{"`.
///
/// Every start inside one segment shares the end of that segment and of the next: both are kept, so that a text full of
/// starts is not read once for each of them.
#[derive(Default)]
pub struct Jwt {
    /// Where the header that was read last was taken up.
    start: usize,
    /// Where it ends.
    header: usize,
    /// Where the segment behind its dot ends; where it ends itself when no dot follows.
    payload: usize,
}

impl Jwt {
    /// The end of a token that starts at `at`.
    pub fn at(&mut self, text: &str, at: usize) -> Option<usize> {
        const LEAST: usize = 6;
        if !text.get(at..)?.starts_with("eyJ") {
            return None;
        }
        let segment = |start| start + run(text, start, |byte| Charset::Url.has(byte));
        let is_dot = |at| text.as_bytes().get(at) == Some(&b'.');
        if !(self.start..self.header).contains(&at) {
            let header = segment(at);
            let payload = if is_dot(header) {
                segment(header + 1)
            } else {
                header
            };
            (self.start, self.header, self.payload) = (at, header, payload);
        }
        let (header, payload) = (self.header, self.payload);
        if header - at < LEAST || payload.saturating_sub(header + 1) < LEAST {
            return None;
        }
        // The signature may be empty or still to come.
        Some(if is_dot(payload) {
            segment(payload + 1)
        } else {
            payload
        })
    }
}
