//! Instants as the contract writes them: ISO 8601 in UTC with milliseconds.

use tidehold_delta::Text;
use tidehold_session::host::Millis;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// `1970-01-01T00:00:00.000Z` and on.
pub fn iso(at: Millis) -> Text {
    let (year, month, day) = civil(at / DAY_MS);
    let time = at % DAY_MS;
    let (hours, minutes) = (time / 3_600_000, time / 60_000 % 60);
    let (seconds, millis) = (time / 1000 % 60, time % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z").into()
}

/// Calendar date of a day since the epoch. Years start in March here, so that the leap day comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    /// From 0000-03-01 to 1970-01-01.
    const SHIFT: u64 = 719_468;
    /// Days of 400 years.
    const ERA: u64 = 146_097;
    let days = days + SHIFT;
    let (era, day_of_era) = (days / ERA, days % ERA);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_around_leap_days_and_centuries() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
            (1_760_000_000_000, "2025-10-09T08:53:20.000Z"),
            (1_798_761_599_999, "2026-12-31T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ];
        for (at, expected) in cases {
            assert_eq!(&*iso(at), expected);
        }
    }
}
