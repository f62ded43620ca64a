//! What the model gets of an outcome, within a limit, and what becomes of characters that people do not see.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::ops::Range;
use std::str::Chars;

use crate::tool::{Outcome, ResultPart};

/// What the model gets where a tool gives nothing.
const NOTHING: &str = "(no result)";
/// Names, media types and addresses of more characters are cut. Addresses may be long.
const LONGEST_NAME: usize = 2_000;

/// What the model gets of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelText {
    /// The text, with a line in place of what was left out.
    pub text: String,
    /// How many characters were left out of its middle; 0 where it is whole.
    pub left_out: usize,
}

/// Writes `outcome` down for the model: its texts without escape sequences of terminals and without control characters,
/// and a line for each thing that is no text, a blank line apart. A text that `measure` finds larger than `most` is
/// cut: its beginning gets three quarters of `most`, its end one quarter, and a line between says how much is left out.
/// That line comes on top of `most`. `measure` gives the size of a text in whatever unit `most` is in, such as tokens;
/// a part of a text should not measure more than the text.
pub fn for_model(outcome: &Outcome, most: usize, measure: impl Fn(&str) -> usize) -> ModelText {
    let parts: Vec<String> =
        outcome.parts.iter().map(written).filter(|part| !part.trim().is_empty()).collect();
    if parts.is_empty() {
        return ModelText { text: NOTHING.to_owned(), left_out: 0 };
    }
    let text = parts.join("\n\n");
    if measure(&text) <= most {
        return ModelText { text, left_out: 0 };
    }
    let last = most / 4;
    let head = beginning(&text, most - last, &measure);
    let tail = ending(&text[head.len()..], last, &measure);
    let left_out = text[head.len()..text.len() - tail.len()].chars().count();
    let text = format!("{head}{}{}{tail}", if head.ends_with('\n') { "" } else { "\n" }, gap(left_out));
    ModelText { text, left_out }
}

/// The line between the beginning and the end of a text that was cut.
fn gap(left_out: usize) -> String {
    format!("[{left_out} characters are left out here]\n")
}

/// What the model reads of a part.
fn written(part: &ResultPart) -> String {
    match part {
        ResultPart::Text { text } => plain(text),
        ResultPart::Picture { media_type, data } => {
            format!("[Picture, {}, {} bytes: only the person sees it]", name(media_type), decoded_size(data))
        }
        ResultPart::Other { media_type, name: called, bytes } => {
            format!("[File {}, {}, {bytes} bytes: not shown]", name(called), name(media_type))
        }
        ResultPart::Link { address, name: called } => format!("[Link {}: {}]", name(called), name(address)),
    }
}

/// Something that a tool calls by `text`, on one line, without hidden characters.
fn name(text: &str) -> String {
    let (text, _) = stripped(&plain(text));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "without a name".to_owned(),
        None => line,
    }
}

/// How many bytes there are in this base64.
fn decoded_size(base64: &str) -> usize {
    base64.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count() * 3 / 4
}

/// The longest beginning that measures `most`, ending at a line's end where one is near.
fn beginning<'a>(text: &'a str, most: usize, measure: &impl Fn(&str) -> usize) -> &'a str {
    let length = longest(text.len(), most, |length| measure(&text[..text.floor_char_boundary(length)]));
    let head = &text[..text.floor_char_boundary(length)];
    let near = head.ceil_char_boundary(head.len() - head.len() / 8);
    head[near..].rfind('\n').map_or(head, |line| &head[..=near + line])
}

/// The longest ending that measures `most`, starting at a line's start where one is near.
fn ending<'a>(text: &'a str, most: usize, measure: &impl Fn(&str) -> usize) -> &'a str {
    let from = |length: usize| text.ceil_char_boundary(text.len() - length);
    let length = longest(text.len(), most, |length| measure(&text[from(length)..]));
    let tail = &text[from(length)..];
    let near = tail.floor_char_boundary(tail.len() / 8);
    tail[..near].find('\n').map_or(tail, |line| &tail[line + 1..])
}

/// The greatest length up to `whole` whose measure is at most `most`. Lengths grow from `most` on, so that little more
/// of a long text is measured than what is kept of it.
fn longest(whole: usize, most: usize, measure: impl Fn(usize) -> usize) -> usize {
    let (mut fits, mut above) = (0, most.clamp(1, whole.max(1)));
    while above <= whole && measure(above) <= most {
        fits = above;
        above *= 2;
    }
    above = above.min(whole + 1);
    while above - fits > 1 {
        let middle = fits + (above - fits) / 2;
        if measure(middle) <= most {
            fits = middle;
        } else {
            above = middle;
        }
    }
    fits
}

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';
/// Begins a control sequence in one character, as `ESC [` does in two.
const CONTROL_SEQUENCE: char = '\u{9b}';

/// `text` without the escape sequences of terminals and without control characters that are not white space.
fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ESCAPE => skip_escape(&mut rest),
            CONTROL_SEQUENCE => skip_control_sequence(&mut rest),
            '\n' | '\t' | '\r' => kept.push(character),
            _ if character.is_control() => {}
            _ => kept.push(character),
        }
    }
    kept
}

/// Skips what belongs to an escape character.
fn skip_escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_control_sequence(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        _ => {
            while rest.next_if(|character| matches!(character, ' '..='/')).is_some() {}
            rest.next_if(|character| matches!(character, '0'..='~'));
        }
    }
}

/// Skips the parameters and the last character of a control sequence.
fn skip_control_sequence(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|character| matches!(character, ' '..='?')).is_some() {}
    rest.next_if(|character| matches!(character, '@'..='~'));
}

/// Skips a string for the terminal, such as a title; one that does not end on its line is no such string and stays.
fn skip_string(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    while let Some(character) = ahead.next() {
        match character {
            BELL | '\u{9c}' => return *rest = ahead,
            ESCAPE if ahead.next_if_eq(&'\\').is_some() => return *rest = ahead,
            ESCAPE | '\n' => return,
            _ => {}
        }
    }
}

/// A character that people do not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// Where it stands in the text that was looked through, in bytes.
    pub at: usize,
    /// What it is.
    pub character: char,
}

/// Makes hidden characters visible for people, U+202E as `⟨U+202E⟩`, and tells which there are. Newlines, tabs and the
/// joiners within emoji stay.
pub fn visible(text: &str) -> (String, Vec<Hidden>) {
    let hidden = hidden(text);
    let shown = replaced(text, &hidden, |shown, character| {
        write!(shown, "⟨U+{:04X}⟩", u32::from(character)).expect("a string takes all");
    });
    (shown, hidden)
}

/// Removes hidden characters from what a model reads, and tells how many there were. Newlines, tabs and the joiners
/// within emoji stay.
pub fn stripped(text: &str) -> (String, usize) {
    let hidden = hidden(text);
    (replaced(text, &hidden, |_, _| {}), hidden.len())
}

/// `text` with what `with` writes in place of hidden characters.
fn replaced(text: &str, hidden: &[Hidden], with: impl Fn(&mut String, char)) -> String {
    let mut new = String::with_capacity(text.len());
    let mut done = 0;
    for Hidden { at, character } in hidden {
        new.push_str(&text[done..*at]);
        with(&mut new, *character);
        done = at + character.len_utf8();
    }
    new.push_str(&text[done..]);
    new
}

/// Characters of this text that people do not see, in order.
fn hidden(text: &str) -> Vec<Hidden> {
    let mut found = Vec::new();
    let (mut before, mut base) = ('\0', '\0');
    for (at, character) in text.char_indices() {
        let is_hidden = match character {
            '\u{200d}' => {
                let next = text[at + character.len_utf8()..].chars().next();
                before == '\u{200d}' || !is_emoji(base) || !next.is_some_and(is_emoji)
            }
            // One selects a form of the character before it; more of them carry data.
            _ if is_selector(character) => is_selector(before) || at == 0,
            _ => is_invisible(character),
        };
        if is_hidden {
            found.push(Hidden { at, character });
        }
        before = character;
        if !is_selector(character) {
            base = character;
        }
    }
    found
}

/// Whether this character selects the form of the one before it, as emoji do.
fn is_selector(character: char) -> bool {
    ('\u{fe00}'..='\u{fe0f}').contains(&character)
}

/// Whether this is a character that emoji are joined of, skin tones among them.
fn is_emoji(character: char) -> bool {
    matches!(character, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Ranges of characters that nobody sees, or that move others about.
const INVISIBLE: [Range<u32>; 15] = [
    // The soft hyphen.
    0xad..0xae,
    // Marks of direction, and blank letters and marks.
    0x61c..0x61d,
    0x115f..0x1161,
    0x17b4..0x17b6,
    0x180b..0x1810,
    // Zero-width spaces, joiners and marks of direction; separators of lines; embeddings and overrides.
    0x200b..0x2010,
    0x2028..0x202f,
    // Invisible operators, isolates and formats given up.
    0x2060..0x2070,
    0x3164..0x3165,
    0xfeff..0xff00,
    0xffa0..0xffa1,
    0xfff9..0xfffc,
    // Formats of musical notes.
    0x1_d173..0x1_d17b,
    // Tags and the supplement of selectors, in which whole texts can be hidden.
    0xe_0000..0xe_0080,
    0xe_0100..0xe_01f0,
];

fn is_invisible(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || INVISIBLE.iter().any(|range| range.contains(&u32::from(character)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn characters(text: &str) -> usize {
        text.chars().count()
    }

    fn given(text: &str) -> ModelText {
        for_model(&Outcome::text(text), 1_000, characters)
    }

    #[test]
    fn texts_come_as_they_are_and_a_blank_line_apart() {
        let text = |text: &str| ResultPart::Text { text: text.into() };
        let outcome =
            Outcome { parts: vec![text(" a\r\n\tb"), text(""), text("c 👨‍👩‍👧")], failed: true };
        let expected = ModelText { text: " a\r\n\tb\n\nc 👨‍👩‍👧".into(), left_out: 0 };
        assert_eq!(for_model(&outcome, 1_000, characters), expected);
    }

    #[test]
    fn nothing_is_told_as_no_result() {
        assert_eq!(given("").text, "(no result)");
        assert_eq!(given(" \n").text, "(no result)");
        assert_eq!(given("\u{1b}[0m").text, "(no result)");
        let nothing = Outcome { parts: vec![], failed: false };
        assert_eq!(for_model(&nothing, 0, str::len), ModelText { text: "(no result)".into(), left_out: 0 });
    }

    #[test]
    fn what_is_no_text_is_a_line_with_its_kind_name_and_size() {
        let outcome = Outcome {
            parts: vec![
                ResultPart::Picture { media_type: "image/png".into(), data: "AAECAw==".into() },
                ResultPart::Other { media_type: "audio/wav".into(), name: "a\nb\u{202e}".into(), bytes: 7 },
                ResultPart::Link { address: "https://example.org/x".into(), name: String::new() },
            ],
            failed: false,
        };
        assert_eq!(
            for_model(&outcome, 1_000, characters).text,
            "[Picture, image/png, 4 bytes: only the person sees it]\n\n\
             [File a b, audio/wav, 7 bytes: not shown]\n\n\
             [Link without a name: https://example.org/x]"
        );
    }

    #[test]
    fn three_quarters_are_of_the_beginning_and_one_of_the_end() {
        let text: String = ('a'..='z').cycle().take(1_000).collect();
        let got = for_model(&Outcome::text(&text), 100, characters);
        let expected = format!("{}\n[900 characters are left out here]\n{}", &text[..75], &text[975..]);
        assert_eq!(got, ModelText { text: expected, left_out: 900 });
    }

    #[test]
    fn lines_that_end_near_a_cut_stay_whole() {
        let text = "0123456\n".repeat(100);
        let got = for_model(&Outcome::text(&text), 100, characters);
        let (head, tail) = (&text[..72], &text[text.len() - 24..]);
        assert_eq!(got.text, format!("{head}[704 characters are left out here]\n{tail}"));
    }

    #[test]
    fn a_limit_of_nothing_leaves_the_line_alone() {
        assert_eq!(
            for_model(&Outcome::text("äöü"), 0, characters).text,
            "\n[3 characters are left out here]\n"
        );
    }

    #[test]
    fn a_text_of_a_megabyte_is_not_measured_over_and_over() {
        let measured = std::cell::Cell::new(0);
        let text = "word ".repeat(200_000);
        let measure = |text: &str| {
            measured.set(measured.get() + text.len());
            text.len().div_ceil(4)
        };
        let got = for_model(&Outcome::text(&text), 1_000, measure);
        assert!(got.left_out > 990_000);
        assert!(measured.get() < text.len() + 200_000, "{} bytes were measured", measured.get());
    }

    #[test]
    fn escape_sequences_of_terminals_do_not_reach_the_model() {
        for (raw, clean) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{9b}4mline", "line"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;https://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]never ended\nnext", "never ended\nnext"),
            ("\u{1b}(Bcharset\u{1b}c", "charset"),
            ("a\u{0}b\u{8}c\u{7f}\u{1b}", "abc"),
            ("\u{1b}[31ä", "ä"),
        ] {
            assert_eq!(given(raw).text, clean, "{raw:?}");
        }
    }

    #[test]
    fn hidden_characters_are_shown_to_people() {
        let (shown, hidden) = visible("pay\u{202e}oday\n\t\u{e0041}.\u{200b}\r");
        assert_eq!(shown, "pay⟨U+202E⟩oday\n\t⟨U+E0041⟩.⟨U+200B⟩⟨U+000D⟩");
        assert_eq!(hidden[0], Hidden { at: 3, character: '\u{202e}' });
        assert_eq!(hidden.len(), 4);
        assert_eq!(visible("Straße 日本 ✓"), ("Straße 日本 ✓".to_owned(), vec![]));
    }

    #[test]
    fn each_kind_of_hidden_character_is_stripped() {
        for character in
            "\u{0}\u{1b}\u{85}\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}\u{200b}\u{200c}\
                          \u{200d}\u{2060}\u{feff}\u{ad}\u{e0000}\u{e007f}\u{e0100}\u{e01ef}\u{2028}\u{3164}"
                .chars()
        {
            assert_eq!(stripped(&format!("a{character}b")), ("ab".to_owned(), 1), "{character:?}");
        }
    }

    #[test]
    fn emoji_of_several_characters_stay_whole() {
        for emoji in ["👨‍👩‍👧", "❤️‍🔥", "👩🏽‍🚀", "🏳️‍🌈", "☺️", "🧑‍⚕️"]
        {
            assert_eq!(stripped(emoji), (emoji.to_owned(), 0));
            assert_eq!(visible(emoji).0, emoji);
        }
        assert_eq!(stripped("👨\u{200d}\u{200d}👩").1, 2);
        assert_eq!(stripped("☺\u{fe0f}\u{fe01}\u{fe02}"), ("☺\u{fe0f}".to_owned(), 2));
        assert_eq!(stripped("👨\u{200d}a"), ("👨a".to_owned(), 1));
    }

    proptest! {
        #[test]
        fn a_text_keeps_a_prefix_and_a_suffix_within_the_limit(
            text in "([a-zäß日🙂 ]{0,9}\n?){0,40}", most in 0usize..200, by_bytes: bool,
        ) {
            prop_assume!(!text.trim().is_empty());
            let measure: fn(&str) -> usize = if by_bytes { str::len } else { characters };
            let got = for_model(&Outcome::text(&text), most, measure);
            if measure(&text) <= most {
                prop_assert_eq!(got, ModelText { text, left_out: 0 });
            } else {
                let line = gap(got.left_out);
                let at = got.text.find(&line).unwrap();
                let (head, tail) = (&got.text[..at], &got.text[at + line.len()..]);
                let kept = characters(&text) - got.left_out;
                // The newline before the line may be the line's own.
                let own = characters(head) + characters(tail) - kept;
                prop_assert!(own == 0 || (own == 1 && head.ends_with('\n')));
                let head = &head[..head.len() - own];
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
                prop_assert!(measure(head) + measure(tail) <= most);
            }
        }

        #[test]
        fn no_escape_reaches_the_model_and_clean_text_is_unchanged(
            text in "[\u{1b}\u{9b}\\[\\]m;0\\\\\u{7}a\n]{0,40}",
        ) {
            let clean = plain(&text);
            prop_assert!(!clean.contains([ESCAPE, CONTROL_SEQUENCE, BELL]));
            prop_assert_eq!(plain(&clean), clean);
        }

        #[test]
        fn what_was_stripped_hides_nothing_and_what_is_visible_lost_nothing(text: String) {
            let (clean, removed) = stripped(&text);
            let (shown, hidden) = visible(&text);
            prop_assert_eq!(removed, hidden.len());
            prop_assert_eq!(characters(&clean), characters(&text) - removed);
            prop_assert_eq!(visible(&shown), (shown.clone(), vec![]));
        }
    }
}
