//! The only argument of a free-form tool, out of its JSON while that is written.

use std::mem;

use super::INPUT;

/// Reads the text of a JSON object's `input`, `{"input": "…"}`, as it comes in pieces. Whatever else the model has put
/// beside it is left out.
#[derive(Debug, Default)]
pub(crate) struct InputText {
    place: Place,
    key: String,
    /// Whether the character before was a backslash, in a string that is not decoded.
    escaped: bool,
    /// What is not decoded yet: a part of an escape.
    held: String,
    /// The first half of a character that is written as two.
    high: Option<u16>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Before a key.
    #[default]
    Object,
    Key,
    /// Behind a key, before its value.
    Colon,
    /// In the text that is looked for.
    Text,
    /// In another value, so deep in arrays and objects.
    Value(usize),
    /// In a string of another value, which stands so deep.
    String(usize),
}

impl InputText {
    /// What more JSON adds to the text.
    pub(crate) fn push(&mut self, json: &str) -> String {
        let mut text = String::new();
        for character in json.chars() {
            self.place = match (self.place, character) {
                (Place::Object, '"') => {
                    self.key.clear();
                    Place::Key
                }
                (Place::Key, _) if self.is_end(character) => Place::Colon,
                (Place::Key, part) => {
                    self.key.push(part);
                    Place::Key
                }
                (Place::Colon, '"') if self.key == INPUT => Place::Text,
                (Place::Colon, '"') => Place::String(0),
                (Place::Colon, '[' | '{') => Place::Value(1),
                (Place::Colon, other) if other != ':' && !other.is_whitespace() => Place::Value(0),
                (Place::Text, _) => {
                    self.character(character, &mut text);
                    continue;
                }
                (Place::Value(0), ',' | '}') => Place::Object,
                (Place::Value(depth), '[' | '{') => Place::Value(depth + 1),
                (Place::Value(depth), ']' | '}') => Place::Value(depth.saturating_sub(1)),
                (Place::Value(depth), '"') => Place::String(depth),
                (Place::String(depth), _) if self.is_end(character) => Place::Value(depth),
                (place, _) => place,
            };
        }
        text
    }

    /// Whether a character of a string that is not decoded ends it.
    fn is_end(&mut self, character: char) -> bool {
        let escaped = mem::take(&mut self.escaped);
        self.escaped = !escaped && character == '\\';
        !escaped && character == '"'
    }

    fn character(&mut self, character: char, text: &mut String) {
        match (self.held.as_str(), character) {
            ("", '\\') => self.held.push('\\'),
            ("", '"') => self.place = Place::Value(0),
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
        for beside in [
            r#""a:b":"x""#,
            r#""n":5"#,
            r#""o":{"input":["no",{"input":"no"}],"k":"\"}"}"#,
            r#""q\"":"input""#,
            r#""t":true"#,
        ] {
            assert_eq!(read([format!(r#"{{{beside},"input":"yes"}}"#)]), "yes", "{beside}");
            assert_eq!(read([format!(r#"{{"input":"yes",{beside}}}"#)]), "yes", "{beside}");
        }
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
