//! JSON Web Tokens signed with HS256 (RFC 7519): claims `project`, `scope` (separated by spaces), `exp`, `sub`.

use super::Identity;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use tidehold_delta::{FromJson, Json};
use tidehold_durable_objects::base64url;

/// Claims of other programs may be nested; none has reason to be deep.
const CLAIMS_DEPTH: usize = 32;

#[derive(FromJson)]
struct Header {
    alg: String,
    /// Extensions that the reader must understand; none is.
    crit: Option<Json>,
}

#[derive(FromJson)]
struct Claims {
    project: String,
    #[serde(default)]
    scope: String,
    sub: Option<String>,
    /// Seconds since the epoch. Required: a token without an end cannot be taken back.
    exp: f64,
    nbf: Option<f64>,
}

/// The identity a valid token states; `None` for every other text.
pub fn verify(secret: &str, token: &str, now_seconds: u64) -> Option<Identity> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(signed.as_bytes());
    // Compares in constant time, and before anything inside the token is believed.
    mac.verify_slice(&base64url::decode(signature)?).ok()?;
    let header: Header = read(header)?;
    if header.alg != "HS256" || header.crit.is_some() {
        return None;
    }
    let claims: Claims = read(claims)?;
    let now = now_seconds as f64;
    let valid = claims.exp > now && claims.nbf.is_none_or(|start| start <= now) && !claims.project.is_empty();
    let scopes = claims.scope.split_ascii_whitespace().map(str::to_owned).collect();
    valid.then(|| Identity::new(claims.project, claims.sub, scopes))
}

fn read<T: FromJson>(part: &str) -> Option<T> {
    let text = String::from_utf8(base64url::decode(part)?).ok()?;
    Json::parse(&text, CLAIMS_DEPTH).ok()?.to_typed().ok()
}
