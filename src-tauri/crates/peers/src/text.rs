//! Texts that another Mac chose, as they may be shown here.

use foretoken_protocol::ErrorReport;

/// The longest name of a Mac, in characters.
const LONGEST_NAME: usize = 64;
/// The longest sentence of another Mac, in characters.
const LONGEST_SENTENCE: usize = 300;
/// The longest code of an error, in bytes.
const LONGEST_CODE: usize = 64;

/// A Mac's name in one line of at most 64 characters, never empty.
pub(crate) fn name(text: &str) -> String {
    let name = line(text, LONGEST_NAME);
    if name.is_empty() { "A Mac without a name".to_owned() } else { name }
}

/// What another Mac reports, in one line each.
pub(crate) fn report(report: &ErrorReport) -> ErrorReport {
    let is_code = |code: &str| {
        (1..=LONGEST_CODE).contains(&code.len())
            && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let code = if is_code(&report.code) { &report.code } else { "peer_refused" };
    ErrorReport {
        code: code.to_owned(),
        message: line(&report.message, LONGEST_SENTENCE),
        hint: line(&report.hint, LONGEST_SENTENCE),
    }
}

/// Words with single spaces between them, in so many characters at most, without those that draw nothing or change the
/// order of others.
pub(crate) fn line(text: &str, longest: usize) -> String {
    let words = text.split_whitespace().map(|word| word.chars().filter(|c| is_drawn(*c)).collect::<String>());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(longest).collect::<String>().trim_end().to_owned()
}

fn is_drawn(c: char) -> bool {
    let is_mark = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}');
    !c.is_control() && !is_mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_line() {
        assert_eq!(name(" Anna's\n\u{1b}[31m\tStudio\u{202e} "), "Anna's [31m Studio");
        assert_eq!(name(&"ä".repeat(1000)), "ä".repeat(64));
        assert_eq!(name("\0\u{200b} \n"), "A Mac without a name");
    }

    #[test]
    fn a_report_keeps_no_odd_code() {
        let odd = ErrorReport { code: "A B".into(), message: "It is\nfull.".into(), hint: String::new() };
        let (code, message) = ("peer_refused".into(), "It is full.".into());
        assert_eq!(report(&odd), ErrorReport { code, message, hint: String::new() });
    }
}
