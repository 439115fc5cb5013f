//! Repairs the two mistakes models make inside JSON strings (models.md 7.1).

/// Inside string literals, escapes raw control characters and doubles backslashes that start no valid escape.
/// Everything else stays as it is.
pub fn repair_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut in_string = false;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '"' => {
                in_string = !in_string;
                out.push('"');
            }
            '\\' if in_string => repair_escape(&mut rest, &mut out),
            control if in_string && control < ' ' => escape_control(control, &mut out),
            other => out.push(other),
        }
    }
    out
}

/// After a backslash: copies a valid escape, else doubles the backslash and leaves what follows for the caller.
fn repair_escape(rest: &mut std::str::Chars<'_>, out: &mut String) {
    let after = rest.as_str();
    let valid = match after.chars().next() {
        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => 1,
        Some('u') if four_hex_digits(after.get(1..).unwrap_or_default()) => 5,
        _ => 0,
    };
    out.push('\\');
    if valid == 0 {
        out.push('\\');
    }
    out.extend(rest.by_ref().take(valid));
}

fn four_hex_digits(text: &str) -> bool {
    text.bytes().take(4).filter(u8::is_ascii_hexdigit).count() == 4
}

fn escape_control(control: char, out: &mut String) {
    match control {
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        other => out.push_str(&format!("\\u{:04x}", u32::from(other))),
    }
}
