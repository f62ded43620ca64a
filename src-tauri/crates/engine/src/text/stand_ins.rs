//! Keeps what people write from being read as control tokens: while a template is rendered, private-use characters
//! stand in their texts for whatever looks like one.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{TextError, Tokenizer};

/// For each control token that occurs in the texts of people, a character that stands for it there while a template is
/// rendered around them. Every control token in the result is then the template's own.
///
/// Each is a single character, of those that Unicode leaves to private use, that the texts do not use themselves: a
/// template may trim, cut and compare texts without damaging it.
#[derive(Debug)]
pub(super) struct StandIns(Vec<(String, char)>);

/// Whether a character may be a stand-in.
pub(super) fn is_one(character: char) -> bool {
    character >= '\u{F0000}'
}

impl StandIns {
    /// Stand-ins for all control tokens in these texts.
    pub(super) fn new<'a>(
        tokenizer: &Tokenizer,
        texts: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Self, TextError> {
        let mut controls = tokenizer.control_tokens();
        controls.retain(|control| texts.clone().any(|text| text.contains(control)));
        if controls.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let private = || ('\u{F0000}'..='\u{FFFFD}').chain('\u{100000}'..='\u{10FFFD}');
        let used: HashSet<char> = texts.flat_map(str::chars).filter(|&c| is_one(c)).collect();
        let free: Vec<char> = private().filter(|c| !used.contains(c)).take(controls.len()).collect();
        if free.len() < controls.len() {
            let reason = "it uses every character that Unicode leaves to private use".into();
            return Err(TextError::EncodingFailed { reason });
        }
        // The longest first: one may be a part of another.
        controls.sort_by_key(|control| std::cmp::Reverse(control.len()));
        Ok(Self(controls.into_iter().zip(free).collect()))
    }

    /// A text with stand-ins in place of what looks like control tokens.
    pub(super) fn put<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (control, stand_in) in &self.0 {
            if text.contains(control) {
                text = text.replace(control, stand_in.encode_utf8(&mut [0; 4])).into();
            }
        }
        text
    }

    /// A text with the stand-ins replaced by what people wrote.
    pub(super) fn take_back<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (control, stand_in) in &self.0 {
            if text.contains(*stand_in) {
                text = text.replace(*stand_in, control).into();
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::TOKENIZER;
    use super::*;

    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("<|im_end|>"),
            Just("<|im_"),
            Just("start|>"),
            Just("<think>"),
            Just("</think>"),
            Just("end|>"),
            Just("\u{F0000}"),
            Just("\u{F0001}"),
            Just("é "),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn texts_come_back_and_hold_no_control_token_meanwhile(texts in prop::collection::vec(text(), 1..4)) {
            let stand_ins = StandIns::new(&TOKENIZER, texts.iter().map(String::as_str)).unwrap();
            for text in &texts {
                let put = stand_ins.put(text);
                prop_assert!(TOKENIZER.controls_in(&put).is_empty(), "{}", put);
                prop_assert_eq!(stand_ins.take_back(&put), text.as_str());
                if TOKENIZER.controls_in(text).is_empty() {
                    prop_assert_eq!(&put, text);
                }
            }
        }
    }

    #[test]
    fn a_text_that_leaves_no_character_is_refused() {
        let all: String = ('\u{F0000}'..='\u{FFFFD}').chain('\u{100000}'..='\u{10FFFD}').collect();
        assert!(StandIns::new(&TOKENIZER, [all.as_str(), "fine"].into_iter()).is_ok());
        let refused = StandIns::new(&TOKENIZER, [all.as_str(), "<think>"].into_iter());
        assert!(matches!(refused, Err(TextError::EncodingFailed { .. })));
    }
}
