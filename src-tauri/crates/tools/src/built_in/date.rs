//! The tool `current_date`: the date, the time and the weekday, and how far a day is.

use foretoken_protocol::ErrorReport;
use jiff::Zoned;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;

/// Why there is no answer. Each sentence is for the model, which can mend its call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DateError {
    /// There is no such time zone.
    #[error("There is no time zone \"{name}\".")]
    TimeZone {
        /// What was asked for.
        name: String,
    },
    /// It is not the date of a day.
    #[error("\"{text}\" is no date.")]
    Date {
        /// What was asked for.
        text: String,
    },
}

impl From<&DateError> for ErrorReport {
    fn from(error: &DateError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

impl DateError {
    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TimeZone { .. } => "tool_date_time_zone",
            Self::Date { .. } => "tool_date_date",
        }
    }

    /// What the model can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TimeZone { .. } => "Give an IANA name such as Europe/Berlin or America/New_York, or none.",
            Self::Date { .. } => "Give a day of the calendar as YYYY-MM-DD, such as 2027-02-28.",
        }
    }
}

/// Tells the model the moment `now` in the time zone of this IANA name, or in that of `now`, and how many days are left
/// until the day `until`, a date in the form `YYYY-MM-DD`.
pub fn current_date(now: &Zoned, time_zone: Option<&str>, until: Option<&str>) -> Result<String, DateError> {
    let now = match time_zone {
        Some(name) => now
            .with_time_zone(TimeZone::get(name).map_err(|_| DateError::TimeZone { name: shortened(name) })?),
        None => now.clone(),
    };
    let zone = now.time_zone().iana_name().unwrap_or("the computer's time zone");
    let (today, week) = (now.date(), now.date().iso_week_date());
    let mut text = format!(
        "It is {}, {today}, {} in {zone} (UTC{}). ISO week: {}-W{:02}.",
        weekday(today.weekday()),
        now.strftime("%H:%M:%S"),
        now.strftime("%:z"),
        week.year(),
        week.week(),
    );
    if let Some(until) = until {
        let day = day(until)?;
        let days = (day - today).get_days();
        let count = format!("{} day{}", days.abs(), if days.abs() == 1 { "" } else { "s" });
        text += &match days {
            0 => format!(" {day} is today."),
            1.. => format!(" {day}, a {}, is in {count}.", weekday(day.weekday())),
            _ => format!(" {day}, a {}, was {count} ago.", weekday(day.weekday())),
        };
    }
    Ok(text)
}

/// The day that is written as `YYYY-MM-DD`.
fn day(text: &str) -> Result<Date, DateError> {
    let is_written_so = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let date = is_written_so.then(|| text.parse().ok()).flatten();
    date.ok_or_else(|| DateError::Date { text: shortened(text) })
}

/// What was asked for, as far as a message tells it.
fn shortened(text: &str) -> String {
    text.chars().take(60).filter(|character| !character.is_control()).collect()
}

fn weekday(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    #[test]
    fn the_moment_is_told_in_the_zone_of_the_computer() {
        let now = moment("2026-11-22T09:05:07+01:00[Europe/Berlin]");
        assert_eq!(
            current_date(&now, None, None).unwrap(),
            "It is Sunday, 2026-11-22, 09:05:07 in Europe/Berlin (UTC+01:00). ISO week: 2026-W47."
        );
    }

    #[test]
    fn the_moment_is_told_in_the_zone_that_was_asked_for() {
        let now = moment("2026-12-31T23:30:00+01:00[Europe/Berlin]");
        assert_eq!(
            current_date(&now, Some("Asia/Kathmandu"), None).unwrap(),
            "It is Friday, 2027-01-01, 04:15:00 in Asia/Kathmandu (UTC+05:45). ISO week: 2026-W53."
        );
        assert!(
            current_date(&now, Some("America/New_York"), None)
                .unwrap()
                .contains("17:30:00 in America/New_York (UTC-05:00)")
        );
    }

    #[test]
    fn a_zone_without_a_name_is_the_computers() {
        let now = moment("2026-11-22T09:05:07Z[UTC]").with_time_zone(TimeZone::fixed(jiff::tz::offset(2)));
        assert!(
            current_date(&now, None, None)
                .unwrap()
                .contains("11:05:07 in the computer's time zone (UTC+02:00)")
        );
    }

    #[test]
    fn the_offset_follows_daylight_saving_time() {
        for (utc, local) in [
            ("2026-03-29T00:59:59Z[UTC]", "01:59:59 in Europe/Berlin (UTC+01:00)"),
            ("2026-03-29T01:00:00Z[UTC]", "03:00:00 in Europe/Berlin (UTC+02:00)"),
            ("2026-10-25T00:30:00Z[UTC]", "02:30:00 in Europe/Berlin (UTC+02:00)"),
            ("2026-10-25T01:30:00Z[UTC]", "02:30:00 in Europe/Berlin (UTC+01:00)"),
        ] {
            let text = current_date(&moment(utc), Some("Europe/Berlin"), None).unwrap();
            assert!(text.contains(local), "{text}");
        }
    }

    #[test]
    fn days_are_counted_by_the_calendar_even_over_a_change_of_the_clock() {
        let now = moment("2026-03-28T23:30:00+01:00[Europe/Berlin]");
        let ends = |until, end: &str| {
            let text = current_date(&now, None, Some(until)).unwrap();
            assert!(text.ends_with(end), "{text}");
        };
        ends("2026-03-28", ". 2026-03-28 is today.");
        ends("2026-03-29", ". 2026-03-29, a Sunday, is in 1 day.");
        ends("2026-03-30", ". 2026-03-30, a Monday, is in 2 days.");
        ends("2028-02-29", ". 2028-02-29, a Tuesday, is in 703 days.");
        ends("2026-03-27", ". 2026-03-27, a Friday, was 1 day ago.");
        ends("0001-01-01", " days ago.");
        ends("9999-12-31", " days.");
    }

    #[test]
    fn days_are_counted_in_the_zone_that_was_asked_for() {
        let now = moment("2026-11-22T20:00:00Z[UTC]");
        assert!(
            current_date(&now, Some("Asia/Tokyo"), Some("2026-11-24")).unwrap().ends_with("is in 1 day.")
        );
    }

    #[test]
    fn a_zone_or_a_date_that_does_not_exist_is_named() {
        let now = moment("2026-11-22T20:00:00Z[UTC]");
        for name in ["Europe/Atlantis", "", "../../etc/passwd", "CEST\n"] {
            let error = current_date(&now, Some(name), None).unwrap_err();
            assert!(matches!(error, DateError::TimeZone { .. }), "{name}");
        }
        for text in
            ["2027-02-29", "2027-2-28", "28.02.2027", "tomorrow", "", "2027-02-28T10:00", "+002027-02"]
        {
            let error = current_date(&now, None, Some(text)).unwrap_err();
            assert_eq!(error.to_string(), format!("\"{text}\" is no date."));
        }
    }
}
