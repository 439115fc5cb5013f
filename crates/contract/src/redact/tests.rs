use super::*;
use std::cell::Cell;
use tidehold_delta::json;

fn check(original: &str, expected: &str) {
    let redacted = text(original);
    assert_eq!(redacted, expected, "of {original:?}");
    assert_eq!(text(&redacted), redacted, "redacting twice changes nothing");
}

fn keeps(original: &str) {
    check(original, original);
}

#[test]
fn tokens_by_prefix() {
    let tokens = [
        "sk-ant-api03-AbCdEfGhIjKlMnOpQrSt_uv-wx",
        "sk-proj-0123456789abcdefABCDEF",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0123456789_abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-123456789012-abcdefghij",
        "AIzaSyA0123456789abcdefghijklmnopqrstuvw",
        "whsec_0123456789abcdef",
        "glpat-0123456789abcdefghij",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpM",
        "https://hooks.slack.com/services/T0123/B0123/abcdefghijklmnop",
    ];
    for token in tokens {
        let expected = token
            .strip_prefix("https://")
            .map_or(String::new(), |_| "https://".to_owned())
            + "[REDACTED]";
        check(token, &expected);
        check(&format!("use {token}, now"), &format!("use {expected}, now"));
        check(&format!("é{token}\u{1f980}"), &format!("é{expected}\u{1f980}"));
        check(&format!("(\"{token}\")"), &format!("(\"{expected}\")"));
    }
    check("sk-0123456789abcdef.sk-0123456789abcdef", "[REDACTED].[REDACTED]");
    keeps("a task-oriented risk-based sk-learn desk");
    keeps("AKIA is a prefix, eyJ too, eyJ.a.b, ghp_short");
}

#[test]
fn authentication_schemes() {
    check(
        "Authorization: Bearer abcdef123456",
        "Authorization: Bearer [REDACTED]",
    );
    check(
        "authorization: bearer abcdefghijklmnopqrstuvwxyz",
        "authorization: bearer [REDACTED]",
    );
    check(
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        "Authorization: Basic [REDACTED]",
    );
    keeps("Basic understanding of bearer authentication. Basic Knowledge.");
    keeps("the bearer of news, Basic, Bearer");
}

#[test]
fn private_keys() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc==\n-----END RSA PRIVATE KEY-----";
    check(&format!("a\n{key}\nb"), "a\n[REDACTED]\nb");
    check("a -----BEGIN OPENSSH PRIVATE KEY-----\nMIIE", "a [REDACTED]");
    check(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----.",
        "[REDACTED].",
    );
    keeps("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----");
    keeps("----- BEGIN -----BEGIN ");
}

#[test]
fn assignments() {
    check("OPENAI_API_KEY=abc next", "OPENAI_API_KEY=[REDACTED] next");
    check("export MY_PASSWORD=hunter;x", "export MY_PASSWORD=[REDACTED];x");
    check("GITHUB_TOKEN=plainwords", "GITHUB_TOKEN=[REDACTED]");
    check("password: hunter22", "password: [REDACTED]");
    check(r#"{"api_key":"ab c","n":1}"#, r#"{"api_key":"[REDACTED]","n":1}"#);
    check(
        r#"{\"apiKey\": \"ab\\\"c\", \"n\":1}"#,
        r#"{\"apiKey\": \"[REDACTED]\", \"n\":1}"#,
    );
    check(
        r#"{"secret":"a\\","n":"b"}"#,
        r#"{"secret":"[REDACTED]","n":"b"}"#,
    );
    check("secret = 'a \"b\" c'", "secret = '[REDACTED]'");
    check("client_secret: \"cut", "client_secret: \"[REDACTED]");
    check("x?api_key=abc&y=1", "x?api_key=[REDACTED]&y=1");
    check("tool --password=hunter --y", "tool --password=[REDACTED] --y");
    check(
        "Server=a;Password=b c;Pwd=abc",
        "Server=a;Password=[REDACTED] c;Pwd=[REDACTED]",
    );
    check(
        "AccountName=a;AccountKey=Zm9v==;",
        "AccountName=a;AccountKey=[REDACTED];",
    );
    check("-H \"Cookie: a=1; b=2\" x", "-H \"Cookie: [REDACTED]\" x");
    check("Set-Cookie: sid=1; Path=/\nnext", "Set-Cookie: [REDACTED]\nnext");
    keeps("const password = getPassword(); token == other; secret: string; MAX_TOKEN=5");
    keeps("The token: a unit of text. The password must be long. maxTokens: 4000, invalid_token: 12ab34cd");
    keeps("PWD=/home/me API_KEY=${OTHER} API_KEY=$(cat key)");
}

#[test]
fn urls() {
    check(
        "postgres://me:pw@host:5432/db",
        "postgres://[REDACTED]@host:5432/db",
    );
    check(
        "https://x0123456789ab@github.com/a",
        "https://[REDACTED]@github.com/a",
    );
    keeps("ssh://git@github.com/a and https://host/a@b:c and ://");
}

#[test]
fn values_by_name_and_by_pattern() {
    let original = json!({
        "note": "key ghp_0123456789abcdefghij",
        "apiKey": "x", "password": null, "secret": "", "token": 7, "credentials": { "user": "me" }, "tokens": 12,
        "list": ["AKIAIOSFODNN7EXAMPLE", 1, true], "ghp_0123456789abcdefghij": 1,
    });
    let redacted = value(&original);
    assert!(redacted.changed);
    let expected = json!({
        "note": "key [REDACTED]",
        "apiKey": "[REDACTED]", "password": null, "secret": "", "token": "[REDACTED]", "credentials": "[REDACTED]",
        "tokens": 12, "list": ["[REDACTED]", 1, true], "[REDACTED]": 1,
    });
    assert_eq!(redacted.value, expected);
    assert_eq!(
        value(&expected),
        Redacted {
            value: expected.clone(),
            changed: false
        }
    );
}

thread_local! {
    static READ: Cell<usize> = const { Cell::new(0) };
}

/// Counts what the matchers read.
pub(super) fn reads(bytes: usize) {
    READ.set(READ.get() + bytes);
}

/// Bytes read to redact a text.
fn steps(original: &str) -> usize {
    READ.set(0);
    let redacted = text(original).into_owned();
    let steps = READ.get();
    let again = text(&redacted);
    assert!(again == redacted, "redacting {:.60?}… twice changes it", original);
    steps
}

/// Every part alone, with each ending behind each, and with one ending behind them all.
#[test]
fn no_text_is_read_more_than_its_length_allows() {
    let parts = [
        "-",
        "eyJ",
        "eyJ-",
        "eyJa.",
        "eyJabc.eyJ",
        "sk-",
        "\\",
        "\\\"",
        "\"",
        "api_key=\"",
        "api_key='\"",
        "api_key:\"\"",
        "secret:\\",
        "secret:\\\"",
        "://",
        "://a",
        "://a:b@",
        "://a:b,c",
        "Bearer ",
        "Bearer\t",
        "token+",
        "token/",
        "basic~",
        "-----BEGIN ",
        "-----BEGIN RSA PRIVATE KEY",
        "a.",
        "_",
        "é",
        "\u{1f980}token=",
        "password = ",
        "PASSWORD=",
        "dsn=",
        "cookie:",
        "cookie:a=",
        "cookie:a",
        "cookie-",
        "ghp_0123456789abcdef.",
        "AKIAIOSFODNN7EXAMPLE-",
        "hooks.slack.com/services/",
        "SG.",
        "a ",
        "a\t",
    ];
    let ends = ["", ".a", "=", "\"", " ", ":", "@", "/", "(", "\\", "\n"];
    for part in parts.into_iter().chain(FRAGMENTS) {
        for end in ends {
            let behind_all = |length: usize| part.repeat(length / part.len()) + end;
            let behind_each = |length: usize| [part, end].concat().repeat(length / (part.len() + end.len()));
            for (short, long) in [
                (behind_all(2_000), behind_all(8_000)),
                (behind_each(2_000), behind_each(8_000)),
            ] {
                // Four times the length takes four times the steps; each byte read again for each other, sixteen times.
                let (few, many) = (steps(&short), steps(&long));
                assert!(many <= 6 * few, "{part:?} and {end:?}: {few} steps, then {many}");
            }
        }
    }
}

#[test]
fn a_prefix_shows_nothing_that_the_whole_hides() {
    use crate::limits::HOLD_BACK_BYTES;
    let secret = "password: hunter22 and -----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY----- then Bearer \
                  abcdef123456 and ghp_0123456789abcdefghij and \"apiKey\": \"two words\" end ";
    let whole = text(secret).into_owned();
    for end in 0..secret.len() {
        let shown = text(hold_back(&secret[..end])).into_owned();
        assert!(whole.starts_with(&shown), "{shown:?} at {end}");
    }
    let token = "x".repeat(HOLD_BACK_BYTES * 2);
    assert_eq!(hold_back(&token).len(), HOLD_BACK_BYTES);
}

/// Fragments that meet in every order: secrets, their names, borders, prose.
const FRAGMENTS: [&str; 30] = [
    "sk-0123456789abcdef",
    "ghp_0123456789abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-0123456789ab",
    " ",
    "\n",
    "\"",
    "'",
    "\\",
    ":",
    "=",
    ", ",
    ".",
    "-",
    "_",
    "é",
    "\u{1f980}",
    "Bearer ",
    "Basic ",
    "API_KEY",
    "password",
    "apiKey",
    "cookie: a=1",
    "https://me:pw@host/",
    "-----BEGIN EC PRIVATE KEY-----\nMII",
    "-----END EC PRIVATE KEY-----",
    "the token",
    "word",
    "12",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxw",
];

#[test]
fn random_texts_keep_the_promises() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % bound
    };
    for _ in 0..4_000 {
        let original: String = (0..=below(14))
            .map(|_| FRAGMENTS[below(FRAGMENTS.len())])
            .collect();
        let whole = text(&original).into_owned();
        assert_eq!(text(&whole), whole, "redacting {original:?} twice");
        // Behind a border a token is always found; inside a word it is no token.
        for token in &FRAGMENTS[..4] {
            assert!(!whole.contains(&format!(" {token}")), "{original:?}");
        }
        let mut end = below(original.len() + 1);
        while !original.is_char_boundary(end) {
            end += 1;
        }
        let shown = text(hold_back(&original[..end])).into_owned();
        assert!(whole.starts_with(&shown), "{original:?} at {end} shows {shown:?}");
    }
}
