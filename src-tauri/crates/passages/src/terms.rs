//! The words by which a passage is found.

use unicode_segmentation::UnicodeSegmentation;

/// The words of a text in small letters. Scripts that write words together give each pair of neighbours, so that a word
/// of two characters is one term wherever it stands.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut alone: Option<char> = None;
    for word in text.unicode_words() {
        let mut characters = word.chars();
        let joined = match (characters.next(), characters.next()) {
            (Some(character), None) if stands_alone(character) => Some(character),
            _ => None,
        };
        match (alone, joined) {
            (Some(before), Some(character)) => terms.push(String::from_iter([before, character])),
            // The first one of its run, which may be the only one.
            (None, Some(character)) => terms.push(character.to_string()),
            (_, None) => terms.push(word.to_lowercase()),
        }
        alone = joined;
    }
    terms
}

/// Whether a character is written without spaces around its words, so that it is found as a word by itself.
fn stands_alone(character: char) -> bool {
    ['\u{3040}'..='\u{30ff}', '\u{3400}'..='\u{9fff}', '\u{f900}'..='\u{faff}', '\u{20000}'..='\u{323af}']
        .iter()
        .any(|script| script.contains(&character))
}
