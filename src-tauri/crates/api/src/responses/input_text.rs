//! The only argument of a free-form tool, out of its JSON while that is written.

use std::mem;

/// Reads the first string of a JSON object, `{"input": "…"}`, as it comes in pieces.
#[derive(Debug, Default)]
pub(super) struct InputText {
    place: Place,
    /// What is not decided yet: a part of an escape.
    held: String,
    /// The first half of a character that is written as two.
    high: Option<u16>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Before the colon.
    #[default]
    Key,
    /// Behind it, before the quote.
    Colon,
    Text,
    Behind,
}

impl InputText {
    /// What more JSON adds to the text.
    pub(super) fn push(&mut self, json: &str) -> String {
        let mut text = String::new();
        for character in json.chars() {
            match self.place {
                Place::Key if character == ':' => self.place = Place::Colon,
                Place::Colon if character == '"' => self.place = Place::Text,
                Place::Text => self.character(character, &mut text),
                Place::Key | Place::Colon | Place::Behind => {}
            }
        }
        text
    }

    fn character(&mut self, character: char, text: &mut String) {
        match (self.held.as_str(), character) {
            ("", '\\') => self.held.push('\\'),
            ("", '"') => self.place = Place::Behind,
            ("", plain) => self.give(plain, text),
            ("\\", 'u') => self.held.push('u'),
            ("\\", escape) => {
                self.held.clear();
                let meant = match escape {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    other => other,
                };
                self.give(meant, text);
            }
            (_, digit) => {
                self.held.push(digit);
                if self.held.len() == "\\u0000".len() {
                    let unit = u16::from_str_radix(&mem::take(&mut self.held)[2..], 16).unwrap_or(0xfffd);
                    self.unit(unit, text);
                }
            }
        }
    }

    /// A unit of UTF-16.
    fn unit(&mut self, unit: u16, text: &mut String) {
        match (self.high.take(), unit) {
            (None, 0xd800..=0xdbff) => self.high = Some(unit),
            (high, unit) => {
                let units = high.into_iter().chain([unit]);
                text.extend(char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER)));
            }
        }
    }

    fn give(&mut self, character: char, text: &mut String) {
        if self.high.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        text.push(character);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(pieces: impl IntoIterator<Item = String>) -> String {
        let mut input = InputText::default();
        pieces.into_iter().map(|piece| input.push(&piece)).collect()
    }

    #[test]
    fn escapes_of_all_kinds_are_read_and_what_is_behind_is_not() {
        let json = r#"{"input":"a\"b\\\/\n\t\r\b\f\u00e9\ud83d\udeb2é\ud83d!","more":"x"}"#;
        assert_eq!(read([json.to_owned()]), "a\"b\\/\n\t\r\u{8}\u{c}é\u{1f6b2}é\u{fffd}!");
        assert_eq!(read(["{}".to_owned()]), "");
    }

    proptest! {
        #[test]
        fn any_text_comes_back_however_its_json_is_cut(text in any::<String>(), cut in 1usize..5) {
            let json = json!({"input": text}).to_string();
            let letters: Vec<char> = json.chars().collect();
            let pieces = letters.chunks(cut).map(|piece| piece.iter().collect());
            prop_assert_eq!(read(pieces), text);
        }
    }
}
