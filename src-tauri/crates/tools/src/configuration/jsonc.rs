//! JSON as people write it in settings, with comments and commas behind the last entry, made plain.

/// A comment has no end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenComment {
    /// The line that it begins on, from 1.
    pub(super) line: usize,
}

/// The text with a blank for each byte of a comment and for each comma behind the last entry of an object or a list.
/// Lines and columns stay, so that what a reader says of them is true of the text. What is no JSON remains none.
pub(super) fn to_json(text: &str) -> Result<String, OpenComment> {
    let mut plain = Plain { text: String::with_capacity(text.len()), before: None, comma: None };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let open = || OpenComment { line: plain.text.matches('\n').count() + 1 };
            comment.find("*/").ok_or_else(open)? + 4
        } else if first == '"' {
            string_length(rest)
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        match first {
            '/' if length > 1 => plain.blank(token),
            _ if first.is_ascii_whitespace() => plain.text.push(first),
            _ => plain.token(first, token),
        }
        rest = behind;
    }
    Ok(plain.text)
}

/// How long the string is that a text begins with, in bytes, with its quotes; all of the text where it has no end.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// What is written so far.
struct Plain {
    text: String,
    /// How the last token began.
    before: Option<char>,
    /// Where a comma behind a value is, while nothing but blanks has followed it.
    comma: Option<usize>,
}

impl Plain {
    fn token(&mut self, first: char, token: &str) {
        let comma = self.comma.take();
        match first {
            '}' | ']' => {
                if let Some(at) = comma {
                    self.text.replace_range(at..=at, " ");
                }
            }
            // A comma that is behind no value stays, for the reader to refuse.
            ',' if !matches!(self.before, None | Some('{' | '[' | ',' | ':')) => {
                self.comma = Some(self.text.len());
            }
            _ => {}
        }
        self.text.push_str(token);
        self.before = Some(first);
    }

    fn blank(&mut self, comment: &str) {
        self.text.extend(
            comment.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte as char } else { ' ' }),
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Option<Value> {
        serde_json::from_str(&to_json(text).ok()?).ok()
    }

    #[test]
    fn comments_and_last_commas_go_and_strings_stay() {
        let text = r#"// begin
            { /* a, */ "a": [1, 2, /* } */ ], // b
              "http://x": "/* no */ // no", "c\\": "\",]}\\",
              "ü": {"d": null,}, /* ü */
            } // end"#;
        let expected = json!({"a": [1, 2], "http://x": "/* no */ // no", "c\\": "\",]}\\", "ü": {"d": null}});
        assert_eq!(read(text), Some(expected));
        assert_eq!(read("[1,//\r2]"), Some(json!([1, 2])));
    }

    #[test]
    fn what_is_no_json_remains_none() {
        for text in
            ["[,]", "{,}", "[1,,]", "[1,,2]", "{\"a\":,}", ",", "[1],", "[1 / 2]", "/", "\"a", "[1 2]", "#"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_comment_without_an_end_is_named_by_its_line() {
        assert_eq!(to_json("{\n// /*\n} /* a\n*"), Err(OpenComment { line: 3 }));
        assert_eq!(to_json("/*/"), Err(OpenComment { line: 1 }));
    }

    proptest! {
        #[test]
        fn plain_json_stays_as_it_is(value in values()) {
            let text = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(to_json(&text), Ok(text));
        }

        #[test]
        fn comments_and_last_commas_change_nothing(
            value in values(), noise in prop::collection::vec(0..9_u8, 1..40)
        ) {
            let mut noise = noise.into_iter().cycle();
            let mut text = String::new();
            write(&value, &mut noise, &mut text);
            prop_assert_eq!(read(&text), Some(value));
        }

        #[test]
        fn places_stay(text in "[\\[\\]{},:/*\"\\\\\n aü1]{0,60}") {
            if let Ok(plain) = to_json(&text) {
                prop_assert_eq!(plain.len(), text.len());
                let lines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
                prop_assert_eq!(lines(&plain), lines(&text));
            }
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = || "[a\"\\\\/*,\\]}\nü]{0,6}";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            text().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(text(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Writes a value with comments between all tokens, and commas behind last entries.
    fn write(value: &Value, noise: &mut impl Iterator<Item = u8>, text: &mut String) {
        let between = |noise: &mut dyn Iterator<Item = u8>, text: &mut String| {
            text.push_str(match noise.next().unwrap_or_default() {
                0 => "/* \" , ] } */",
                1 => "// \" , ] }\n",
                2 => "/**/",
                3 => "//\r\n",
                4 => "/* ü // */",
                _ => " ",
            });
        };
        between(noise, text);
        let entries: Vec<(Option<&String>, &Value)> = match value {
            Value::Array(values) => values.iter().map(|value| (None, value)).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| (Some(key), value)).collect(),
            plain => {
                text.push_str(&plain.to_string());
                return between(noise, text);
            }
        };
        let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
        text.push(open);
        for (place, (key, value)) in entries.iter().enumerate() {
            between(noise, text);
            if let Some(key) = key {
                text.push_str(&json!(key).to_string());
                between(noise, text);
                text.push(':');
            }
            write(value, noise, text);
            if place + 1 < entries.len() || noise.next().is_some_and(|noise| noise % 2 == 0) {
                text.push(',');
            }
        }
        between(noise, text);
        text.push(close);
        between(noise, text);
    }
}
