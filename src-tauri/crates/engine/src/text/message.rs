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
        /// The calls behind the text; `null` reads as none.
        #[serde(default, deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
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
    /// Other values are read as their JSON, a text as an object in JSON, which is OpenAI's form, and `null` as none.
    #[serde(default, deserialize_with = "texts")]
    pub arguments: Map<String, Value>,
}

fn null_is_empty<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let arguments = match Value::deserialize(deserializer)? {
        Value::Null => Map::new(),
        Value::Object(arguments) => arguments,
        Value::String(json) => serde_json::from_str(&json).map_err(|error| {
            D::Error::custom(format!("the arguments {json:?} are no JSON object: {error}"))
        })?,
        other => return Err(D::Error::custom(format!("the arguments {other} are no JSON object"))),
    };
    let text = |value: Value| if value.is_string() { value } else { value.to_string().into() };
    Ok(arguments.into_iter().map(|(name, value)| (name, text(value))).collect())
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
    fn arguments_become_texts() {
        let read = |arguments: Value| {
            let call = json!({"type": "function", "function": {"name": "f", "arguments": arguments}});
            from_value::<Message>(json!({"role": "assistant", "tool_calls": [call]}))
        };
        let typed = json!({"b": 3, "a": "3", "c": [1, "é"], "d": null, "e": true, "f": {"x": 1.5}});
        let texts =
            json!({"b": "3", "a": "3", "c": "[1,\"é\"]", "d": "null", "e": "true", "f": "{\"x\":1.5}"});
        for (arguments, is) in [
            (typed.clone(), &texts),
            (typed.to_string().into(), &texts),
            (texts.clone(), &texts),
            (json!("{}"), &json!({})),
            (json!(null), &json!({})),
        ] {
            let read = json!(read(arguments).unwrap());
            assert_eq!(read["tool_calls"][0]["function"]["arguments"].to_string(), is.to_string());
        }
        for (arguments, told) in [
            (json!("3"), "the arguments \"3\" are no JSON object: invalid type: integer `3`"),
            (
                json!("{\"a\": "),
                "the arguments \"{\\\"a\\\": \" are no JSON object: EOF while parsing a value",
            ),
            (json!([1]), "the arguments [1] are no JSON object"),
        ] {
            let error = read(arguments).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn what_is_null_is_absent() {
        let null =
            json!({"role": "assistant", "content": null, "reasoning_content": null, "tool_calls": null});
        let absent: Message = from_value(json!({"role": "assistant"})).unwrap();
        assert_eq!(from_value::<Message>(null).unwrap(), absent);
    }

    #[test]
    fn other_roles_and_a_question_without_text_are_refused() {
        for (message, told) in [
            (json!({"role": "robot", "content": "x"}), "unknown variant `robot`"),
            (json!({"role": "user"}), "missing field `content`"),
        ] {
            let error = from_value::<Message>(message).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }
}
