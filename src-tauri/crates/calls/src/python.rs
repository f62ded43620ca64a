//! Objects and lists as Python writes them: `{'a': True, 'b': None}`. Models that have read much of it write them where
//! JSON was asked for.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Number, Value};

/// How deep they may nest.
const DEEPEST: usize = 64;

/// A text as a JSON value, where it is a literal of Python's that JSON can say, words of JSON's among them; `None`
/// where it is anything else.
pub(crate) fn literal(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text.chars().peekable(), depth: 0 };
    let value = reader.value()?;
    reader.blank();
    reader.rest.next().is_none().then_some(value)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Value> {
        self.blank();
        match *self.rest.peek()? {
            '{' | '[' => {
                self.depth += 1;
                let value = if self.depth > DEEPEST { None } else { self.several() };
                self.depth -= 1;
                value
            }
            '\'' | '"' => self.text().map(Value::String),
            _ => self.word(),
        }
    }

    /// An object or a list; a comma may stand behind its last entry.
    fn several(&mut self) -> Option<Value> {
        if self.rest.next()? == '[' {
            let mut list = Vec::new();
            while !self.takes(']') {
                list.push(self.value()?);
                self.between(']')?;
            }
            return Some(list.into());
        }
        let mut object = Map::new();
        while !self.takes('}') {
            self.blank();
            let key = self.text()?;
            if !self.takes(':') {
                return None;
            }
            let value = self.value()?;
            object.insert(key, value);
            self.between('}')?;
        }
        Some(object.into())
    }

    /// A comma, unless the end stands here.
    fn between(&mut self, end: char) -> Option<()> {
        self.blank();
        (self.takes(',') || *self.rest.peek()? == end).then_some(())
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.rest.next_if(|c| matches!(c, '\'' | '"'))?;
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                '\\' => self.escape(&mut text)?,
                c if c == quote => return Some(text),
                c => text.push(c),
            }
        }
    }

    /// What stands behind a backslash. One before any other letter is a letter itself.
    fn escape(&mut self, text: &mut String) -> Option<()> {
        let digits = match self.rest.next()? {
            '\n' => return Some(()),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            c @ ('\\' | '\'' | '"') => {
                text.push(c);
                return Some(());
            }
            c => {
                let known =
                    [('n', '\n'), ('t', '\t'), ('r', '\r'), ('b', '\u{8}'), ('f', '\u{c}'), ('0', '\0')];
                match known.iter().find(|(name, _)| *name == c) {
                    Some((_, is)) => text.push(*is),
                    None => text.extend(['\\', c]),
                }
                return Some(());
            }
        };
        let mut code = 0_u32;
        for _ in 0..digits {
            code = code.checked_mul(16)? + self.rest.next()?.to_digit(16)?;
        }
        text.push(char::from_u32(code)?);
        Some(())
    }

    /// A number, or a word for true, false or null.
    fn word(&mut self) -> Option<Value> {
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
            word.push(c);
        }
        match word.as_str() {
            "True" | "true" => Some(true.into()),
            "False" | "false" => Some(false.into()),
            "None" | "null" => Some(Value::Null),
            number => serde_json::from_str::<Number>(number).ok().map(Value::Number),
        }
    }

    fn takes(&mut self, c: char) -> bool {
        self.blank();
        self.rest.next_if_eq(&c).is_some()
    }

    fn blank(&mut self) {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_json_can_say_is_read() {
        for (text, is) in [
            ("{'a': True, 'b': None, \"c\": False}", json!({"a": true, "b": null, "c": false})),
            ("[ 'x' , \"it's\", 'say \"hi\"' ]", json!(["x", "it's", "say \"hi\""])),
            ("['a\\n\\'b\\' \\x41\\u00e9\\U0001f980 \\d\\\\']", json!(["a\n'b' Aé🦀 \\d\\"])),
            ("{'a': {'b': [1, -2.5, 1e3,],},}", json!({"a": {"b": [1, -2.5, 1000.0]}})),
            ("{}", json!({})),
            ("[]", json!([])),
            ("{'a': true, 'b': null}", json!({"a": true, "b": null})),
            (" {'z': 1,\n 'a': 2} ", json!({"z": 1, "a": 2})),
        ] {
            let value = literal(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(value.to_string(), is.to_string(), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        for text in [
            "",
            "{",
            "[1",
            "[1 2]",
            "[,]",
            "{'a'}",
            "{'a': }",
            "{a: 1}",
            "{1: 2}",
            "['a",
            "['\\x4']",
            "[nan]",
            "[1] 2",
            "(1, 2)",
            "{'a', 'b'}",
            "[f(1)]",
            "[01]",
            "['\\ud800']",
            "{'a' 1}",
        ] {
            assert_eq!(literal(text), None, "{text}");
        }
        assert_eq!(literal(&("[".repeat(65) + &"]".repeat(65))), None);
        assert!(literal(&("[".repeat(64) + &"]".repeat(64))).is_some());
        assert_eq!(literal(&"[".repeat(1 << 20)), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[\\[\\]{}'\":, \\\\xuU0a1TN.é-]{0,40}") {
            let _ = literal(&text);
        }

        /// All JSON without escapes of its own is read as JSON reads it.
        #[test]
        fn json_is_what_it_is(list in prop::collection::vec(("[a-zé ']{0,5}", any::<i64>(), any::<bool>()), 0..4)) {
            let value = json!(list);
            prop_assert_eq!(literal(&value.to_string()), Some(value));
        }
    }
}
