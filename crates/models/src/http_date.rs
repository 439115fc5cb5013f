//! The date format of HTTP headers.

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Milliseconds since the Unix epoch of a date like `Sun, 06 Nov 1994 08:49:37 GMT`; `None` for any other form.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let (_, date) = text.split_once(", ")?;
    let parts: Vec<&str> = date.split(' ').collect();
    let [day, month, year, time, "GMT"] = parts.as_slice() else {
        return None;
    };
    let clock: Vec<&str> = time.split(':').collect();
    let [hour, minute, second] = clock.as_slice() else {
        return None;
    };
    let number = |text: &str, limit: u64| text.parse::<u64>().ok().filter(|number| *number <= limit);
    let month = MONTHS.iter().position(|name| name == month)? as u64 + 1;
    let days = days_since_epoch(
        number(year, 9_999).filter(|year| *year >= 1970)?,
        month,
        number(day, 31)?,
    )?;
    let seconds = number(hour, 23)? * 3_600 + number(minute, 59)? * 60 + number(second, 60)?;
    Some((days * 86_400 + seconds) * 1_000)
}

/// Days of the Gregorian calendar, counted from years that start in March so that leap days come last.
fn days_since_epoch(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days =
        year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day.checked_sub(1)?;
    days.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn dates_of_headers() {
        assert_eq!(parse("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777_000));
        assert_eq!(parse("Tue, 29 Feb 2000 23:59:59 GMT"), Some(951_868_799_000));
        assert_eq!(parse("Thu, 09 Oct 2025 08:53:20 GMT"), Some(1_760_000_000_000));
        for text in [
            "",
            "soon",
            "Sun, 06 Nov 1994",
            "Sun, 0 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
