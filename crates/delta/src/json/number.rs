//! The one number printer, and integers within doubles.

use std::fmt;

use super::MAX_SAFE_INTEGER;

/// The number as JavaScript prints it: `1.0` → `1`, `1e21` → `1e+21`, `-0` → `0`, `1e-7` → `1e-7`.
///
/// The shortest digits that read back as the same double. A number that is not finite has no JSON form
/// and prints as `null`, like `JSON.stringify`.
pub fn format_number(number: f64) -> String {
    let mut text = String::new();
    push_number(&mut text, number);
    text
}

/// Appends the number as [`format_number`] prints it.
pub(super) fn push_number(out: &mut String, number: f64) {
    match integral(number) {
        Some(integer) => {
            if integer < 0 {
                out.push('-');
            }
            push_integer(out, integer.unsigned_abs());
        }
        // Writing into a `String` cannot fail.
        None => drop(write_number(out, number)),
    }
}

/// Appends the decimal digits.
pub fn push_integer(out: &mut String, integer: u64) {
    // The digits from the last to the first; 20 hold every integer.
    let mut digits = [b'0'; 20];
    let mut left = integer;
    let mut first = digits.len();
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
        first = place;
        if left == 0 {
            break;
        }
    }
    let digits = digits.get(first..).unwrap_or_default();
    out.push_str(std::str::from_utf8(digits).unwrap_or_default());
}

/// An integral number within ±(2^53-1).
pub(crate) fn integral(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64).then_some(number as i64)
}

pub(super) fn write_number(out: &mut dyn fmt::Write, number: f64) -> fmt::Result {
    if !number.is_finite() {
        return out.write_str("null");
    }
    if let Some(integer) = integral(number) {
        return write!(out, "{integer}");
    }
    // Rust's `e` form gives the same shortest digits; only their layout differs from JavaScript's.
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (head, tail) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number < 0.0 {
        out.write_char('-')?;
    }
    match exponent {
        0..=20 => {
            // The point stands `exponent` digits further right, past the tail's end for large integers.
            let whole = usize::try_from(exponent).unwrap_or(0);
            out.write_str(head)?;
            match tail.split_at_checked(whole) {
                Some((whole, "")) => out.write_str(whole),
                Some((whole, fraction)) => write!(out, "{whole}.{fraction}"),
                None => write!(out, "{tail:0<whole$}"),
            }
        }
        -6..=-1 => {
            out.write_str("0.")?;
            for _ in exponent..-1 {
                out.write_char('0')?;
            }
            write!(out, "{head}{tail}")
        }
        _ => {
            out.write_str(head)?;
            if !tail.is_empty() {
                write!(out, ".{tail}")?;
            }
            write!(out, "e{exponent:+}")
        }
    }
}
