//! The texts of people in messages and tools that are JSON values: all strings and keys but the words of the form
//! itself, which are keys that are plain names, and roles.

use foretoken_calls::is_name;
use serde_json::Value;

/// Adds them in order.
pub(super) fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(entries) => {
            for (key, value) in entries.iter().filter(|(key, value)| !is_role(key, value)) {
                if !is_name(key) {
                    found.push(key);
                }
                texts(value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The value with other texts in their place.
pub(super) fn with_texts(value: &Value, other: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => other(text).into(),
        Value::Array(values) => values.iter().map(|value| with_texts(value, other)).collect(),
        Value::Object(entries) => {
            let changed = |(key, value): (&String, &Value)| {
                let value = if is_role(key, value) { value.clone() } else { with_texts(value, other) };
                (if is_name(key) { key.clone() } else { other(key) }, value)
            };
            entries.iter().map(changed).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn is_role(key: &str, value: &Value) -> bool {
    key == "role" && value.as_str().is_some_and(is_name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_and_keys_at_any_depth_are_found_and_replaced() {
        let value =
            json!({"z": ["a", 1, {"<b>": null, "role": "<c>"}], "role": "user", "y z": "role", "x": true});
        let mut found = Vec::new();
        texts(&value, &mut found);
        assert_eq!(found, ["a", "<b>", "<c>", "y z", "role"]);
        let twice = with_texts(&value, &|text| text.repeat(2));
        let expected =
            r#"{"z":["aa",1,{"<b><b>":null,"role":"<c><c>"}],"role":"user","y zy z":"rolerole","x":true}"#;
        assert_eq!(twice.to_string(), expected);
    }
}
