//! Names whose values are secrets. Names are compared word by word: `OPENAI_API_KEY`, `apiKey` and `x-api-key` all end in
//! the words *api key*, `invalid_token` ends in neither *token* alone nor *id token*.

/// Words that make a secret whatever precedes them.
const SECRETS: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "apikey",
    "privatekey",
    "accesstoken",
    "authtoken",
    "connectionstring",
];

/// What precedes *key*.
const KEYS: [&str; 11] = [
    "api",
    "private",
    "secret",
    "access",
    "signing",
    "encryption",
    "auth",
    "master",
    "account",
    "storage",
    "shared",
];

/// What precedes *token*.
const TOKENS: [&str; 17] = [
    "access", "refresh", "id", "auth", "session", "bearer", "api", "bot", "client", "csrf", "github", "gh",
    "gitlab", "npm", "slack", "service", "vault",
];

/// What precedes *token* in names that count or mark.
const HARMLESS_TOKENS: [&str; 13] = [
    "max",
    "min",
    "num",
    "total",
    "page",
    "next",
    "continuation",
    "eos",
    "bos",
    "pad",
    "stop",
    "special",
    "count",
];

/// What precedes *url* or *uri*.
const STORES: [&str; 9] = [
    "database",
    "db",
    "redis",
    "mongo",
    "mongodb",
    "postgres",
    "postgresql",
    "mysql",
    "amqp",
];

/// The longest name that is looked at; longer runs are data.
pub(super) const NAME_BYTES: usize = 128;

/// Whether the value of an object's member is a secret by its name.
pub fn is_secret_key(key: &str) -> bool {
    key.len() <= NAME_BYTES && {
        let words = words(key);
        ends_secret(&words) || words.last().is_some_and(|word| word == "pwd")
    }
}

/// Whether a text that assigns to this name assigns a secret.
pub fn is_secret_name(name: &str) -> bool {
    if name.len() > NAME_BYTES {
        return false;
    }
    let words = words(name);
    ends_secret(&words) || (is_environment(name) && ends_in_token(&words))
}

/// Written like an environment variable.
pub fn is_environment(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn ends_secret(words: &[String]) -> bool {
    let before = |list: &[&str]| match words {
        [.., before, _] => list.contains(&before.as_str()),
        _ => false,
    };
    match words.last().map(String::as_str) {
        None => false,
        Some("key") => before(&KEYS),
        Some("token") => words.len() == 1 || before(&TOKENS),
        Some("url" | "uri") => before(&STORES),
        Some("string") => before(&["connection"]),
        Some("dsn") => true,
        Some(last) => SECRETS.contains(&last),
    }
}

fn ends_in_token(words: &[String]) -> bool {
    match words {
        [.., before, last] => last == "token" && !HARMLESS_TOKENS.contains(&before.as_str()),
        _ => false,
    }
}

/// Lower-case words: borders are separators, and a capital after a small letter or before one.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = name.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(c) = characters.next() {
        let starts = c.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase()
                        && characters.peek().is_some_and(char::is_ascii_lowercase))
            });
        if starts || !c.is_ascii_alphanumeric() {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        before = Some(c);
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}
