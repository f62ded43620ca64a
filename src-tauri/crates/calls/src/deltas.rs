//! A call's arguments as JSON while it is written: put together, what has come so far is always the beginning of valid
//! JSON, and at the end of a whole call it is that of [`TypedCall`].

use std::mem;

use serde_json::Value;

use crate::arguments::{Expected, Misfit, TypedCall, expected, value_of};
use crate::parser::{Argument, Call, CallPiece, ValueForm};
use crate::tools::Tools;

/// What a piece of an answer adds to its calls.
#[derive(Debug, Clone, PartialEq)]
pub enum CallDelta {
    /// A call of this tool begins.
    Begin {
        /// The tool.
        name: String,
    },
    /// More of its arguments' JSON.
    Arguments(String),
    /// It has ended.
    End {
        /// Why it cannot be run as it is.
        misfits: Vec<Misfit>,
        /// Whether the reply ended before it did: its JSON is cut too.
        cut: bool,
    },
}

/// Turns the pieces of an answer into those of its calls' JSON. A text comes as it is written; any other value once it
/// is whole, for what it is depends on all of it.
#[derive(Debug)]
pub struct CallDeltas {
    tools: Tools,
    name: String,
    /// The parameters that have come.
    parameters: Vec<String>,
    value: Open,
}

/// The value that is being written.
#[derive(Debug)]
enum Open {
    None,
    /// A text, passed on.
    Text,
    /// It is what it comes as.
    Any,
    /// It is not known yet what it reads as.
    Held(Argument),
    /// Of a parameter that has a value already.
    Repeated,
}

impl CallDeltas {
    /// For calls of these tools.
    pub fn new(tools: Tools) -> Self {
        Self { tools, name: String::new(), parameters: Vec::new(), value: Open::None }
    }

    /// Takes the next piece of the answer. A call that is cut before it has a name never begins.
    pub fn push(&mut self, piece: &CallPiece) -> Vec<CallDelta> {
        match piece {
            CallPiece::Text(_) | CallPiece::Markup(_) | CallPiece::Stray(_) => Vec::new(),
            CallPiece::Name(name) => {
                self.parameters.clear();
                self.name.clone_from(name);
                vec![CallDelta::Begin { name: name.clone() }]
            }
            CallPiece::Parameter(name) => self.begin_value(name).into_iter().collect(),
            CallPiece::Value(text) => self.value(text, ValueForm::Plain),
            CallPiece::Quoted { text, .. } => self.value(text, ValueForm::Quoted),
            CallPiece::Json(json) => self.value(json, ValueForm::Json),
            CallPiece::End(call) => self.end(call),
        }
    }

    /// More of the value that is being written.
    fn value(&mut self, text: &str, form: ValueForm) -> Vec<CallDelta> {
        let json = match (&mut self.value, form) {
            (Open::Text, _) => escaped(text),
            (Open::Any, ValueForm::Json) => {
                self.value = Open::None;
                text.to_owned()
            }
            (Open::Any, ValueForm::Plain | ValueForm::Quoted) => {
                self.value = Open::Text;
                format!("\"{}", escaped(text))
            }
            (Open::Held(held), form) => {
                held.value.push_str(text);
                held.form = form;
                String::new()
            }
            (Open::None | Open::Repeated, _) => String::new(),
        };
        arguments(json).into_iter().collect()
    }

    fn end(&mut self, call: &Call) -> Vec<CallDelta> {
        if call.name.is_empty() {
            return Vec::new();
        }
        let mut deltas = Vec::new();
        if call.cut || call.broken {
            self.value = Open::None;
        } else {
            let mut json = self.end_value();
            json.push_str(if self.parameters.is_empty() { "{}" } else { "}" });
            deltas.push(CallDelta::Arguments(json));
        }
        let TypedCall { misfits, cut, .. } = TypedCall::new(call, &self.tools);
        deltas.push(CallDelta::End { misfits, cut });
        deltas
    }

    fn begin_value(&mut self, name: &str) -> Option<CallDelta> {
        let mut json = self.end_value();
        if self.parameters.iter().any(|parameter| parameter == name) {
            self.value = Open::Repeated;
        } else {
            json.push(if self.parameters.is_empty() { '{' } else { ',' });
            json.push_str(&format!("{}:", Value::from(name)));
            self.value = match expected(&self.tools, &self.name, name) {
                Expected::Text => {
                    json.push('"');
                    Open::Text
                }
                Expected::Any => Open::Any,
                Expected::Typed => Open::Held(Argument::plain(name, "")),
            };
            self.parameters.push(name.to_owned());
        }
        arguments(json)
    }

    /// The rest of the value that was being written.
    fn end_value(&mut self) -> String {
        match mem::replace(&mut self.value, Open::None) {
            Open::Text => "\"".into(),
            // Between its tags nothing stands.
            Open::Any => "\"\"".into(),
            Open::Held(argument) => value_of(&self.tools, &self.name, &argument).to_string(),
            Open::None | Open::Repeated => String::new(),
        }
    }
}

/// More of the arguments, if it is any.
fn arguments(json: String) -> Option<CallDelta> {
    (!json.is_empty()).then_some(CallDelta::Arguments(json))
}

/// A piece of a text as JSON has it between quotes.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;
    use crate::parser::CallParser;
    use crate::testing::chunks;

    fn tools() -> Tools {
        let properties = json!({
            "text": {"type": "string"}, "count": {"type": "integer"}, "list": {"type": "array"},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        });
        let parameters = json!({"type": "object", "properties": properties});
        let function = json!({"name": "f", "parameters": parameters});
        Tools::parse(&json!([{"type": "function", "function": function}]).to_string()).unwrap()
    }

    /// The calls in an answer that comes in these pieces: name, arguments, whether it is cut, misfits.
    fn read(answer: &[String]) -> Vec<(String, String, bool, usize)> {
        let (mut parser, mut deltas) = (CallParser::default(), CallDeltas::new(tools()));
        let mut pieces: Vec<CallPiece> = answer.iter().flat_map(|text| parser.push(text)).collect();
        pieces.extend(parser.finish());
        let mut calls = Vec::new();
        for piece in pieces {
            for delta in deltas.push(&piece) {
                match delta {
                    CallDelta::Begin { name } => calls.push((name, String::new(), true, 0)),
                    CallDelta::Arguments(json) => calls.last_mut().unwrap().1.push_str(&json),
                    CallDelta::End { misfits, cut } => {
                        let call = calls.last_mut().unwrap();
                        (call.2, call.3) = (cut, misfits.len());
                    }
                }
            }
        }
        calls
    }

    fn call(arguments: &[(&str, &str)]) -> String {
        let arguments: String = arguments
            .iter()
            .map(|(name, value)| format!("<parameter={name}>\n{value}\n</parameter>\n"))
            .collect();
        format!("<tool_call>\n<function=f>\n{arguments}</function>\n</tool_call>")
    }

    #[test]
    fn arguments_are_json_by_the_schema() {
        for (arguments, json, misfits) in [
            (&[][..], "{}", 0),
            (&[("text", "5")], r#"{"text":"5"}"#, 0),
            (&[("text", "say \"hi\"\n\\n é\u{1}")], r#"{"text":"say \"hi\"\n\\n é\u0001"}"#, 0),
            (&[("count", "5"), ("text", "a")], r#"{"count":5,"text":"a"}"#, 0),
            (&[("list", "[1, 2"), ("maybe", "null")], r#"{"list":"[1, 2","maybe":null}"#, 1),
            (&[("text", "a"), ("text", "b"), ("count", "1")], r#"{"text":"a","count":1}"#, 1),
            (&[("other \"x\"", "a")], r#"{"other \"x\"":"a"}"#, 0),
            (&[("other <x", "a")], r"{}", 1),
        ] {
            let found = read(&[call(arguments)]);
            assert_eq!(found, [("f".into(), json.into(), false, misfits)], "{arguments:?}");
        }
    }

    #[test]
    fn a_cut_call_is_the_beginning_of_json() {
        for (answer, json) in [
            ("<tool_call>\n<function=f>\n", ""),
            ("<tool_call>\n<function=f>\n<parameter=text>\nab", r#"{"text":"ab"#),
            ("<tool_call>\n<function=f>\n<parameter=count>\n12", r#"{"count":"#),
            (
                "<tool_call>\n<function=f>\n<parameter=count>\n12\n</parameter>\n<parameter=te",
                r#"{"count":12"#,
            ),
        ] {
            let found = read(&[answer.to_owned()]);
            assert!(found[0].1.starts_with(json) || json.starts_with(&found[0].1), "{found:?}");
            assert!(found[0].2, "{answer}");
        }
        assert_eq!(read(&["<tool_call>\n<func".to_owned()]), []);
    }

    proptest! {
        /// However an answer is cut into pieces, the JSON of its calls is that of the whole calls.
        #[test]
        fn pieces_make_up_what_the_whole_is(
            arguments in prop::collection::vec(
                (prop::sample::select(vec!["text", "count", "list", "maybe", "other"]),
                 "[a1 \"\\\\\n<>/{}\\[\\],é🦀]{0,12}|true|</parameter>|<parameter=text>"), 0..5),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            let pairs: Vec<(&str, &str)> =
                arguments.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let answer = format!("So.\n\n{0}\n{0}", call(&pairs));
            let mut parser = CallParser::default();
            let mut whole = parser.push(&answer);
            whole.extend(parser.finish());
            let expected: Vec<_> = whole
                .iter()
                .filter_map(|piece| match piece {
                    CallPiece::End(call) => Some(TypedCall::new(call, &tools())),
                    _ => None,
                })
                .map(|call| (call.name, json!(call.arguments).to_string(), call.cut, call.misfits.len()))
                .collect();
            let found = read(&chunks(&answer, &cuts));
            for ((name, json, cut, misfits), expected) in found.iter().zip(&expected) {
                prop_assert_eq!((name, cut, misfits), (&expected.0, &expected.2, &expected.3));
                if !cut {
                    prop_assert_eq!(json, &expected.1);
                    serde_json::from_str::<Map<String, Value>>(json).unwrap();
                }
            }
            prop_assert_eq!(found.len(), expected.len());
        }

        /// The same of calls in JSON, whichever key comes first, and at each place the beginning of the whole.
        #[test]
        fn pieces_of_json_make_up_what_the_whole_is(
            arguments in prop::collection::vec(
                (prop::sample::select(vec!["text", "count", "list", "maybe", "other"]),
                 prop::sample::select(vec![
                    "5", "true", "null", "\"5\"", "\"a \\\"b\\\" \\u00e9\\ud83e\\udd80\"", "[1, {\"b\": [\"]\"]}]",
                    "\"</tool_call>\"", "\"x\ny\"", "\"\"", "{}", "-1.5e3", "\"[1]\"",
                 ])), 0..5),
            name_first in any::<bool>(),
            as_text in any::<bool>(),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            let pairs: Vec<String> =
                arguments.iter().map(|(name, value)| format!("{}: {value}", json!(name))).collect();
            let object = format!("{{{}}}", pairs.join(", "));
            let object = if as_text { json!(object).to_string() } else { object };
            let object = match name_first {
                true => format!("{{\"name\": \"f\", \"arguments\": {object}}}"),
                false => format!("{{\"arguments\": {object}, \"name\": \"f\"}}"),
            };
            let answer = format!("<tool_call>\n{object}\n</tool_call>");
            let mut parser = CallParser::default();
            let mut pieces = parser.push(&answer);
            pieces.extend(parser.finish());
            let Some(CallPiece::End(whole)) = pieces.last() else { panic!("{pieces:?}") };
            let whole = TypedCall::new(whole, &tools());
            let json = json!(whole.arguments).to_string();
            let expected = [("f".to_owned(), json.clone(), false, whole.misfits.len())];
            prop_assert_eq!(read(&chunks(&answer, &cuts)), expected, "{}", answer);
            let end = answer.floor_char_boundary(cuts.first().unwrap_or(&0) % answer.len());
            if let Some((_, begun, ..)) = read(&[answer[..end].to_owned()]).first() {
                prop_assert!(json.starts_with(begun), "{begun} of {json}");
            }
        }
    }

    #[test]
    fn a_broken_call_is_the_beginning_of_json() {
        let answer = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"text\": \"a\", \"list\": oops <";
        assert_eq!(read(&[answer.to_owned()]), [("f".into(), r#"{"text":"a","list":"#.into(), true, 1)]);
        let closed = format!("{answer}/b>}}\n</tool_call>");
        assert_eq!(read(&[closed]), [("f".into(), r#"{"text":"a","list":"#.into(), false, 1)]);
    }
}
