//! The messages of a chat in which tools are called, as a chat template of the family gets them.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Instructions that hold for the whole chat.
    System {
        /// Its text.
        content: String,
    },
    /// What the person writes.
    User {
        /// Its text.
        content: String,
    },
    /// What the model writes.
    Assistant {
        /// Its text, without thinking and calls; `null` reads as none.
        #[serde(default, deserialize_with = "null_is_empty")]
        content: String,
        /// The model's thinking, if the template is to have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        /// The calls behind the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a call; results stand in the order of the calls.
    Tool {
        /// Its text.
        content: String,
    },
}

/// A call in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolCall {
    /// The only kind.
    Function {
        /// What is called.
        function: FunctionCall,
    },
}

/// A tool, and what it is called with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The tool.
    pub name: String,
    /// The values as the model wrote them, texts, in its order: every template of the family prints those as they are.
    #[serde(default, deserialize_with = "texts")]
    pub arguments: Map<String, Value>,
}

fn null_is_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let arguments = Map::deserialize(deserializer)?;
    match arguments.iter().find(|(_, value)| !value.is_string()) {
        Some((name, value)) => Err(D::Error::custom(format!(
            "argument \"{name}\" is {value}, not the text that the model wrote"
        ))),
        None => Ok(arguments),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn plain_messages_are_role_and_content() {
        for role in ["system", "user", "assistant", "tool"] {
            let message = json!({"role": role, "content": "Hi"});
            let read: Message = from_value(message.clone()).unwrap();
            assert_eq!(json!(read).to_string(), message.to_string(), "and in this order");
        }
    }

    #[test]
    fn calls_are_read_in_the_form_of_openai() {
        let function = json!({"name": "f", "arguments": {"b": "1", "a": "x"}});
        let message = json!({
            "role": "assistant", "content": null, "reasoning_content": "Hm.",
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        });
        let read: Message = from_value(message).unwrap();
        assert_eq!(
            json!(read).to_string(),
            "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"Hm.\",\"tool_calls\":[\
             {\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"b\":\"1\",\"a\":\"x\"}}}]}"
        );
    }

    #[test]
    fn what_a_template_could_not_print_as_written_is_refused() {
        let with = |arguments: Value| {
            let call = json!({"type": "function", "function": {"name": "f", "arguments": arguments}});
            json!({"role": "assistant", "tool_calls": [call]})
        };
        for (message, told) in [
            (json!({"role": "robot", "content": "x"}), "unknown variant `robot`"),
            (json!({"role": "user"}), "missing field `content`"),
            (with(json!("{}")), "invalid type: string \"{}\", expected a map"),
            (with(json!({"a": 1})), "argument \"a\" is 1, not the text that the model wrote"),
        ] {
            let error = from_value::<Message>(message).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }
}
