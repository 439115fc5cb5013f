//! The list of tokens: `[{"sha256": "<hex>", "project": "p", "scopes": ["call", …]}]`.

use super::Identity;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};
use tidehold_delta::{ConvertProblem, FromJson, Json};

/// A list of objects with a list.
const LIST_DEPTH: usize = 3;

/// One accepted token. The list holds digests, so that reading the secret gives nobody a token.
#[derive(FromJson)]
#[serde(deny_unknown_fields)]
pub struct Token {
    sha256: String,
    project: String,
    scopes: Vec<String>,
}

/// The list, or what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Token>, String> {
    // The problem may quote the text around it, which is secret: only its place is told.
    let json =
        Json::parse(text, LIST_DEPTH).map_err(|error| format!("TIDEHOLD_TOKENS is not JSON: {error}"))?;
    let tokens: Vec<Token> = json.to_typed().map_err(|error| match error.problem() {
        ConvertProblem::Mismatch { path, .. } if !path.is_empty() => {
            format!("TIDEHOLD_TOKENS is not a valid list (at {path})")
        }
        _ => "TIDEHOLD_TOKENS is not a list".to_owned(),
    })?;
    for (index, token) in tokens.iter().enumerate() {
        if digest(token).is_none() {
            return Err(format!(
                "TIDEHOLD_TOKENS entry {index}: sha256 must be 64 hexadecimal digits"
            ));
        }
        if token.project.is_empty() {
            return Err(format!(
                "TIDEHOLD_TOKENS entry {index}: project must not be empty"
            ));
        }
    }
    Ok(tokens)
}

/// The entry of `token`. Every entry is compared in full, so that time tells neither which one nor how much matched.
pub fn find(tokens: &[Token], token: &str) -> Option<Identity> {
    let presented = Sha256::digest(token.as_bytes());
    let mut found = None;
    for entry in tokens {
        let equal = match digest(entry) {
            Some(digest) => presented.as_slice().ct_eq(&digest),
            None => Choice::from(0),
        };
        if bool::from(equal) {
            found = found.or(Some(entry));
        }
    }
    found.map(|entry| Identity::new(entry.project.clone(), None, entry.scopes.clone()))
}

fn digest(token: &Token) -> Option<[u8; 32]> {
    let hex = token.sha256.as_bytes();
    let mut digest = [0; 32];
    if hex.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(hex.chunks_exact(2)) {
        let digits = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| !pair.starts_with('+'))?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(digest)
}
