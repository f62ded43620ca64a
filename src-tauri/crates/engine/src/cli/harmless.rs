//! Text of others on a terminal: what a model writes, and names and messages that come from its files.

/// The text without what could command a terminal: U+FFFD stands for control characters other than line breaks and
/// tabs, and for marks that turn the direction of text. A carriage return, which would write over the line, goes.
pub(crate) fn harmless(text: &str) -> String {
    let commands = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let kept = text.chars().filter(|&c| c != '\r');
    kept.map(|c| if commands(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_commands_the_terminal() {
        for (text, shown) in [
            ("plain\ttext\r\nand é 漢 🦉\n", "plain\ttext\nand é 漢 🦉\n"),
            ("\x1b]0;title\x07", "\u{fffd}]0;title\u{fffd}"),
            ("\u{9b}2J\x7f", "\u{fffd}2J\u{fffd}"),
            ("abc\u{202e}fdp.exe", "abc\u{fffd}fdp.exe"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }
}
