//! Makes a title of one line and at most 60 characters out of a longer text: the automatic title of a chat out of its
//! first message, or the words that stand for a deleted message.

use unicode_segmentation::UnicodeSegmentation;

/// The most characters of a title, the `…` counted.
const LONGEST: usize = 60;

/// The title of a chat that begins with `text`: its first line with words, shortened at the end of a word.
///
/// Empty if there are no words.
pub fn title_from(text: &str) -> String {
    let line = text.split(['\n', '\r']).map(one_line).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= LONGEST {
        return line;
    }
    let room = line.char_indices().nth(LONGEST - 1).map_or(line.len(), |(end, _)| end);
    // A single word that is too long is cut between characters as people see them.
    let end = last_within(line.split_word_bound_indices(), room)
        .or_else(|| last_within(line.grapheme_indices(true), room))
        .unwrap_or(room);
    format!("{}…", line[..end].trim_end())
}

/// Words with one space between them, free of control characters.
pub(crate) fn one_line(line: &str) -> String {
    let words = line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The start of the last piece that starts after the first and within `room` bytes.
fn last_within<'a>(pieces: impl Iterator<Item = (usize, &'a str)>, room: usize) -> Option<usize> {
    pieces.map(|(start, _)| start).take_while(|&start| start <= room).filter(|&start| start > 0).last()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_first_line_is_the_title() {
        assert_eq!(title_from("  What is\ta  draft? \nMore below."), "What is a draft?");
        assert_eq!(title_from("\r\n \n\u{0}second line\r\nthird"), "second line");
        assert_eq!(title_from(" \n\t"), "");
    }

    #[test]
    fn a_long_line_ends_with_a_whole_word() {
        let sixty = format!("{} {}", "a".repeat(29), "b".repeat(30));
        assert_eq!(title_from(&sixty), sixty);
        assert_eq!(title_from(&format!("{sixty}c")), format!("{}…", "a".repeat(29)));
        let fits = format!("{} {}", "a".repeat(29), "b".repeat(29));
        assert_eq!(title_from(&format!("{fits} c")), format!("{fits}…"));
    }

    #[test]
    fn scripts_without_spaces_and_joined_characters_are_cut_between_characters() {
        assert_eq!(title_from(&"漢".repeat(80)), format!("{}…", "漢".repeat(59)));
        assert_eq!(title_from(&"x".repeat(80)), format!("{}…", "x".repeat(59)));
        let family = "👩‍👩‍👧";
        assert_eq!(title_from(&family.repeat(20)), format!("{}…", family.repeat(11)));
        let accented = "e\u{301}";
        assert_eq!(title_from(&accented.repeat(40)), format!("{}…", accented.repeat(29)));
    }

    proptest! {
        #[test]
        fn any_text_gives_one_short_line(text in any::<String>()) {
            let title = title_from(&text);
            prop_assert!(title.chars().count() <= LONGEST);
            prop_assert!(!title.chars().any(|c| c.is_control() || (c.is_whitespace() && c != ' ')));
            prop_assert!(!title.contains("  ") && title.trim() == title);
            prop_assert_eq!(title_from(&title), title);
        }

        #[test]
        fn a_title_is_the_beginning_of_the_line(words in prop::collection::vec("\\w{1,20}", 1..30), gap in "[ \t]{1,3}") {
            let line = words.join(" ");
            let title = title_from(&words.join(&gap));
            if line.chars().count() <= LONGEST {
                prop_assert_eq!(title, line);
            } else {
                let kept = title.strip_suffix('…').expect("a cut is marked");
                prop_assert!(!kept.is_empty() && line.starts_with(kept));
            }
        }
    }
}
