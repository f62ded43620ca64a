//! The arguments of tools that are part of the app: how the model is told of them, and whether a call's are such.

use serde_json::{Map, Value, json};

/// An argument of a tool. All are texts.
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) required: bool,
}

/// The JSON Schema of these arguments.
pub(super) fn schema(arguments: &[Argument]) -> Map<String, Value> {
    let properties: Map<String, Value> = arguments
        .iter()
        .map(|argument| {
            (argument.name.to_owned(), json!({ "type": "string", "description": argument.description }))
        })
        .collect();
    let required: Vec<&str> =
        arguments.iter().filter(|argument| argument.required).map(|argument| argument.name).collect();
    let schema = [
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
        ("required", json!(required)),
        ("additionalProperties", json!(false)),
    ];
    schema.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Whether what came is what is known; if not, one line on what was expected and what came.
pub(super) fn check(known: &[Argument], came: &Map<String, Value>) -> Result<(), String> {
    if let Some(key) = came.keys().find(|key| known.iter().all(|argument| argument.name != *key)) {
        let names: Vec<String> = known.iter().map(|argument| format!("\"{}\"", argument.name)).collect();
        let key: String = key.chars().take(60).filter(|character| !character.is_control()).collect();
        return Err(format!(
            "Expected {}, but \"{key}\" came, which is no argument here.",
            names.join(" or ")
        ));
    }
    for Argument { name, required, .. } in known {
        match came.get(*name) {
            Some(Value::String(_)) => {}
            None if !required => {}
            None => return Err(format!("Expected \"{name}\", a string, but it did not come.")),
            Some(other) => {
                return Err(format!("Expected \"{name}\" to be a string, but {} came.", kind(other)));
            }
        }
    }
    Ok(())
}

/// What a JSON value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
