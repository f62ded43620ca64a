//! Numbers and times as Excel's formats show them: percent, dates without a time, times without a date.

use calamine::ExcelDateTime;
use calamine::NumberFormat;

/// What a number format makes of a value.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    /// Decimals of a percentage.
    percent: Option<usize>,
    /// Whether a date, or a time, is shown; neither where that is not known.
    date: bool,
    time: bool,
}

impl Format {
    pub(super) fn of(format: Option<&NumberFormat>) -> Self {
        let code = format.map_or("", |format| format.format_code.as_str());
        let (mut bare, mut quoted, mut literal, mut bracketed) = (String::new(), false, false, false);
        // The first part is for positive numbers. What is quoted, escaped or left as room is no part of the format,
        // nor are colours, languages and conditions in brackets.
        for character in code.chars() {
            match character {
                _ if literal => literal = false,
                '"' if !bracketed => quoted = !quoted,
                _ if quoted => {}
                '[' | ']' => bracketed = character == '[',
                _ if bracketed => {}
                ';' => break,
                '\\' | '_' | '*' => literal = true,
                character => bare.extend(character.to_lowercase()),
            }
        }
        let decimals = bare
            .split_once('.')
            .map_or(0, |(_, rest)| rest.chars().take_while(|c| "0#?".contains(*c)).count());
        // An m is a month, or minutes beside hours or seconds.
        let time = bare.contains(['h', 's']);
        let date = bare.contains(['y', 'd']) || (bare.contains('m') && !time);
        Self { percent: bare.contains('%').then_some(decimals), date, time }
    }
}

/// A number without the traces of binary fractions.
pub(super) fn number(value: f64, format: Format) -> String {
    if let Some(decimals) = format.percent {
        return format!("{:.*}%", decimals.min(15), value * 100.0);
    }
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    // Excel computes with 15 digits.
    let rounded = format!("{value:.14e}").parse().unwrap_or(value);
    if (1e-9..1e21).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// A date, a time, both, or how long something takes.
pub(super) fn time(value: ExcelDateTime, format: Format) -> String {
    if value.is_duration() {
        let seconds = (value.as_f64() * 86_400.0).round();
        let sign = if seconds < 0.0 { "-" } else { "" };
        let seconds = seconds.abs() as u64;
        return format!("{sign}{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    // To the nearest second: fractions of a day are not exact.
    let (year, month, day, mut hour, mut minute, mut second, milli) = value.to_ymd_hms_milli();
    if milli >= 500 && (hour, minute, second) != (23, 59, 59) {
        second += 1;
        minute += second / 60;
        hour += minute / 60;
        (second, minute) = (second % 60, minute % 60);
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    let time = if second == 0 {
        format!("{hour:02}:{minute:02}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    };
    let midnight = (hour, minute, second) == (0, 0, 0);
    match (format.date, format.time) {
        (true, false) => date,
        (false, true) => time,
        // What stands on the first day of all is a time.
        _ if value.as_f64().abs() < 1.0 => time,
        _ if midnight => date,
        _ => format!("{date} {time}"),
    }
}
