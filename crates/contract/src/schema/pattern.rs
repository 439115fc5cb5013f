//! The fixed patterns of our schemas, as plain matchers: a regex engine would cost more than all of this crate.

/// A string that is not blank.
pub const NOT_BLANK: &str = r"\S";

/// A run id.
pub const RUN_ID: &str = "^(run|wf)_[A-Za-z0-9_-]{1,128}$";

/// Every pattern that a schema may name.
pub const KNOWN: [&str; 2] = [NOT_BLANK, RUN_ID];

/// Whether the text matches; `None` for a pattern that is not in [`KNOWN`].
pub fn matches(pattern: &str, text: &str) -> Option<bool> {
    match pattern {
        NOT_BLANK => Some(!is_blank(text)),
        RUN_ID => Some(is_run_id(text)),
        _ => None,
    }
}

/// Nothing but white space, as JavaScript defines it, because callers validate with JavaScript.
pub fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
}

pub fn is_run_id(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("run_").or_else(|| text.strip_prefix("wf_")) else {
        return false;
    };
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=128).contains(&rest.len()) && rest.bytes().all(known)
}
