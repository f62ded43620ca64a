//! The prompts that the program brings along, written for it, in ten languages; many with a worked example of a reply.

use foretoken_calls::Tools;
use foretoken_protocol::ChatMessage;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use super::CalibrationError;

/// The file, as it is compiled in.
pub(super) const FILE: &str = include_str!("prompts.json");

/// What a model is asked.
#[derive(Debug, Deserialize)]
pub(super) struct Prompt {
    /// Whether the model may think before it answers.
    pub(super) thinking: bool,
    /// What it may call.
    #[serde(default, deserialize_with = "checked")]
    pub(super) tools: Tools,
    /// What was said, ending with what is to be answered.
    pub(super) messages: Vec<ChatMessage>,
    /// What a model could go on with, to a finished reply; none for most prompts.
    #[serde(default)]
    pub(super) example: Vec<ChatMessage>,
}

/// All prompts, in the order of the file.
pub(super) fn prompts() -> Result<Vec<Prompt>, CalibrationError> {
    serde_json::from_str(FILE).map_err(CalibrationError::Prompts)
}

fn checked<'de, D: Deserializer<'de>>(tools: D) -> Result<Tools, D::Error> {
    Tools::new(Vec::<Value>::deserialize(tools)?).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn count<'a>(values: &'a [Value], key: &str) -> BTreeMap<&'a str, usize> {
        let mut counts = BTreeMap::new();
        values.iter().for_each(|value| *counts.entry(value[key].as_str().unwrap()).or_default() += 1);
        counts
    }

    #[test]
    fn the_prompts_are_of_all_kinds_and_languages_and_half_of_them_with_thinking() {
        let values: Vec<Value> = serde_json::from_str(FILE).unwrap();
        let kinds = count(&values, "kind");
        let known = ["chat", "code", "json", "math", "summary", "table", "tool"];
        assert_eq!(kinds.keys().copied().collect::<Vec<_>>(), known);
        assert!(kinds.values().all(|&count| count >= 5), "{kinds:?}");
        let languages = count(&values, "language");
        let known = ["ar", "de", "en", "es", "fr", "ja", "ko", "pt", "ru", "zh"];
        assert_eq!(languages.keys().copied().collect::<Vec<_>>(), known);
        assert!(languages.values().all(|&count| count >= 5), "{languages:?}");
        let prompts = prompts().unwrap();
        assert_eq!(prompts.len(), 96);
        assert_eq!(prompts.iter().filter(|prompt| prompt.thinking).count(), 48);
        let examples: Vec<&Prompt> = prompts.iter().filter(|prompt| !prompt.example.is_empty()).collect();
        assert!(examples.len() >= 40, "{}", examples.len());
        for language in known {
            let has_one = |value: &&Value| value["language"] == language && value["example"].is_array();
            assert!(values.iter().any(|value| has_one(&value)), "{language} has no worked example");
        }
        let asked: BTreeSet<_> = prompts.iter().map(|prompt| format!("{:?}", prompt.messages)).collect();
        assert_eq!(asked.len(), prompts.len(), "a question comes twice");
    }

    #[test]
    fn examples_think_where_their_prompt_says_so_and_call_only_what_there_is() {
        for Prompt { thinking, tools, messages, example } in prompts().unwrap() {
            assert!(matches!(messages.last(), Some(ChatMessage::User { .. })), "{messages:?}");
            for message in &example {
                match message {
                    ChatMessage::Assistant { reasoning_content, tool_calls, .. } => {
                        assert_eq!(reasoning_content.is_some(), thinking, "{message:?}");
                        for call in tool_calls {
                            let call = serde_json::to_value(call).unwrap();
                            let (name, arguments) =
                                (&call["function"]["name"], &call["function"]["arguments"]);
                            let schema = tools.parameters(name.as_str().unwrap()).expect("the tool is known");
                            let given = arguments.as_object().unwrap();
                            assert!(
                                given.keys().all(|key| schema["properties"].get(key).is_some()),
                                "{call}"
                            );
                            let required = schema["required"].as_array().unwrap();
                            assert!(
                                required.iter().all(|key| given.contains_key(key.as_str().unwrap())),
                                "{call}"
                            );
                        }
                    }
                    ChatMessage::Tool { .. } => assert!(!tools.is_empty()),
                    other => panic!("{other:?} is no part of a reply"),
                }
            }
            if let Some(last) = example.last() {
                let ends = matches!(last, ChatMessage::Assistant { tool_calls, .. } if tool_calls.is_empty());
                assert!(ends && !last.content().is_empty(), "the reply is not finished: {last:?}");
            }
        }
    }
}
