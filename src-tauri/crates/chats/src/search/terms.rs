//! The words of a text, as the index holds them.

use std::collections::VecDeque;
use std::ops::Range;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use unicode_segmentation::{GraphemeIndices, UnicodeSegmentation};

/// Longer words are cut into several, so that a text without spaces is no single entry of the index.
const LONGEST: usize = 64;

/// A word without case and accents, or a single character of a script that writes words together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// As it is compared: letters and digits only.
    pub(super) folded: String,
    /// Where it stands in the text, in bytes.
    pub(super) range: Range<usize>,
}

/// The words of a text, one after the other, with one space between them.
pub(crate) fn terms(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for term in Terms::of(text) {
        if !all.is_empty() {
            all.push(' ');
        }
        all.push_str(&term.folded);
    }
    all
}

/// Finds the words of a text.
#[derive(Debug)]
pub(super) struct Terms<'a> {
    graphemes: GraphemeIndices<'a>,
    /// The word that is being read.
    word: Option<Term>,
    /// Characters of `word`.
    length: usize,
    ready: VecDeque<Term>,
}

impl<'a> Terms<'a> {
    /// The words of `text`, in order.
    pub(super) fn of(text: &'a str) -> Self {
        Self { graphemes: text.grapheme_indices(true), word: None, length: 0, ready: VecDeque::new() }
    }

    fn end_word(&mut self) {
        self.ready.extend(self.word.take());
        self.length = 0;
    }

    fn grow_word(&mut self, letter: char, range: &Range<usize>) {
        if self.length == LONGEST {
            self.end_word();
        }
        let word =
            self.word.get_or_insert_with(|| Term { folded: String::new(), range: range.start..range.start });
        word.folded.push(letter);
        word.range.end = range.end;
        self.length += 1;
    }

    /// Takes a character as people see it, which may fold to several or to none.
    fn read(&mut self, start: usize, grapheme: &str) {
        let range = start..start + grapheme.len();
        if let &[byte] = grapheme.as_bytes() {
            match byte.is_ascii_alphanumeric() {
                true => self.grow_word(char::from(byte.to_ascii_lowercase()), &range),
                false => self.end_word(),
            }
            return;
        }
        for letter in fold(grapheme) {
            if stands_alone(letter) {
                self.end_word();
                self.ready.push_back(Term { folded: letter.into(), range: range.clone() });
            } else if letter.is_alphanumeric() {
                self.grow_word(letter, &range);
            } else if !is_mark(letter) {
                self.end_word();
            }
        }
    }
}

impl Iterator for Terms<'_> {
    type Item = Term;

    fn next(&mut self) -> Option<Term> {
        loop {
            if let Some(term) = self.ready.pop_front() {
                return Some(term);
            }
            match self.graphemes.next() {
                Some((start, grapheme)) => self.read(start, grapheme),
                None => {
                    self.end_word();
                    return self.ready.pop_front();
                }
            }
        }
    }
}

/// The letters of a character without case, accents and differences of form only.
fn fold(grapheme: &str) -> impl Iterator<Item = char> {
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize_iter(grapheme.chars());
    let bare = decomposed.flat_map(char::to_lowercase).filter(|&letter| !is_accent(letter));
    // Marks that are not accents, as the voicing of kana, make one letter again.
    let composed: Vec<char> = ComposingNormalizerBorrowed::new_nfc().normalize_iter(bare).collect();
    composed.into_iter().flat_map(|letter| {
        // Letters that Unicode does not take apart, but people without the key type so.
        let plain = match letter {
            'ß' => ['s', 's'],
            'æ' => ['a', 'e'],
            'œ' => ['o', 'e'],
            'ø' => ['o', '\0'],
            'ł' => ['l', '\0'],
            'đ' => ['d', '\0'],
            'ı' => ['i', '\0'],
            'ς' => ['σ', '\0'],
            other => [other, '\0'],
        };
        plain.into_iter().filter(|&letter| letter != '\0')
    })
}

/// Whether a character belongs to the letter before it, as vowel signs do that are no letters themselves.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && ['a', c].iter().collect::<String>().graphemes(true).count() == 1
}

/// Accents and vowel points that people leave out when they type.
fn is_accent(mark: char) -> bool {
    matches!(
        mark,
        // Latin, Greek and Cyrillic
        '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}'
            | '\u{FE20}'..='\u{FE2F}'
            // Hebrew
            | '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}'
            // Arabic, with the stroke that only stretches a word
            | '\u{610}'..='\u{61A}' | '\u{640}' | '\u{64B}'..='\u{65F}' | '\u{670}'
    )
}

/// Whether a letter is of a script that has no spaces between words, or whose words are found by their parts.
fn stands_alone(letter: char) -> bool {
    letter.is_alphanumeric()
        && matches!(
            letter,
            // Thai and Lao, Myanmar, Khmer
            '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
                // Hiragana, Katakana and Bopomofo
                | '\u{3040}'..='\u{312F}' | '\u{31A0}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}'
                // Han
                | '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
                | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}'
                // Hangul
                | '\u{AC00}'..='\u{D7AF}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The page marks by the same examples what it has found.
    #[test]
    fn words_lose_case_accents_and_form() {
        let examples: serde_json::Value = serde_json::from_str(include_str!("examples.json")).unwrap();
        let cases: Vec<(String, String)> = serde_json::from_value(examples["terms"].clone()).unwrap();
        for (text, folded) in cases {
            assert_eq!(terms(&text), folded, "{text}");
        }
    }

    #[test]
    fn a_text_without_spaces_is_cut() {
        assert_eq!(terms(&"x".repeat(130)), format!("{0} {0} xx", "x".repeat(64)));
    }

    proptest! {
        #[test]
        fn terms_hold_nothing_that_an_index_would_split(text in any::<String>()) {
            let mut end = 0;
            for term in Terms::of(&text) {
                prop_assert!(!term.folded.is_empty());
                prop_assert!(term.folded.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric()), "{:?}", term);
                prop_assert!(text.get(term.range.clone()).is_some_and(|piece| !piece.is_empty()));
                // Several may come of one character, but they never go back.
                prop_assert!(term.range.end >= end);
                end = term.range.end;
            }
        }

        #[test]
        fn what_is_folded_folds_to_itself(text in any::<String>()) {
            let folded = terms(&text);
            prop_assert_eq!(terms(&folded), folded);
        }
    }
}
