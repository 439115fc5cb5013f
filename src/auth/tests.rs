use super::*;
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const NOW: u64 = 1_800_000_000;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn with_tokens() -> AuthConfig {
    let tokens = json!([
        { "sha256": hex(&Sha256::digest("alpha")), "project": "a", "scopes": ["call", "read"] },
        { "sha256": hex(&Sha256::digest("beta")).to_lowercase(), "project": "b", "scopes": [] },
    ]);
    AuthConfig {
        tokens: Some(tokens.to_string()),
        ..AuthConfig::default()
    }
}

fn status(config: &AuthConfig, header: Option<&str>) -> u16 {
    authenticate(config, header, NOW).unwrap_err().status()
}

#[test]
fn nothing_configured_refuses_everyone() {
    assert_eq!(status(&AuthConfig::default(), Some("Bearer alpha")), 503);
    let broken = AuthConfig {
        tokens: Some(r#"[{"sha256": "secret-part"}]"#.to_owned()),
        ..AuthConfig::default()
    };
    let error = authenticate(&broken, None, NOW).unwrap_err();
    assert_eq!(error.status(), 503);
    assert!(!error.message.contains("secret-part"), "{}", error.message);
}

#[test]
fn dev_mode_accepts_everyone() {
    let config = AuthConfig {
        dev: true,
        ..with_tokens()
    };
    let identity = authenticate(&config, None, NOW).unwrap();
    assert!(identity.require(Scope::Admin).is_ok());
    let caller = identity.caller();
    assert_eq!((caller.project.as_str(), caller.rate_limited), ("dev", false));
}

#[test]
fn listed_tokens_name_project_and_scopes() {
    let config = with_tokens();
    let identity = authenticate(&config, Some("bearer  alpha "), NOW).unwrap();
    assert_eq!(identity.require(Scope::Call), Ok(()));
    assert_eq!(identity.require(Scope::Write).unwrap_err().status(), 403);
    let caller = identity.caller();
    assert_eq!((caller.project.as_str(), caller.rate_limited), ("a", true));
    assert_eq!(
        authenticate(&config, Some("Bearer beta"), NOW).unwrap().project,
        "b"
    );
    for header in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer "),
        Some("Basic alpha"),
        Some("Bearer Alpha"),
    ] {
        assert_eq!(status(&config, header), 401, "{header:?}");
    }
}

fn encode(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .chain([0; 3].iter())
            .take(3)
            .fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        (0..=chunk.len())
            .for_each(|at| text.push(char::from(ALPHABET[(bits >> (18 - 6 * at)) as usize & 63])));
    }
    text
}

fn token(secret: &str, header: Value, claims: Value) -> String {
    let signed = format!(
        "{}.{}",
        encode(header.to_string().as_bytes()),
        encode(claims.to_string().as_bytes())
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", encode(&mac.finalize().into_bytes()))
}

#[test]
fn signed_tokens_name_project_scopes_and_subject() {
    let config = AuthConfig {
        jwt_secret: Some("key".to_owned()),
        ..with_tokens()
    };
    let claims = json!({ "project": "p", "scope": "read write", "exp": NOW + 1, "sub": "u" });
    let check = |token: &str| authenticate(&config, Some(&format!("Bearer {token}")), NOW);
    let hs256 = || json!({ "alg": "HS256", "typ": "JWT" });

    let identity = check(&token("key", hs256(), claims.clone())).unwrap();
    assert_eq!(
        (identity.project.as_str(), identity.subject.as_deref()),
        ("p", Some("u"))
    );
    assert!(identity.require(Scope::Write).is_ok() && identity.require(Scope::Call).is_err());
    assert!(check("alpha").is_ok());

    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        claims
    };
    for refused in [
        token("other", hs256(), claims.clone()),
        token("key", json!({ "alg": "none" }), claims.clone()),
        token("key", json!({ "alg": "HS256", "crit": ["b64"] }), claims.clone()),
        token("key", hs256(), with("exp", json!(NOW))),
        token("key", hs256(), with("exp", Value::Null)),
        token("key", hs256(), with("nbf", json!(NOW + 1))),
        token("key", hs256(), with("project", json!(""))),
        "a.b.c".to_owned(),
        "..".to_owned(),
    ] {
        assert_eq!(check(&refused).unwrap_err().status(), 401, "{refused}");
    }
}
