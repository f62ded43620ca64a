//! The items that a response is written behind, and the turns that they make up.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::tools::flat;
use crate::custom;
use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};
use crate::parts;
use crate::turns::{Answer, EarlierCall, Turns};

/// What begins thinking that this server has hidden.
const HIDDEN: &str = "ft1.";

/// Thinking as a text that only this server reads.
pub(super) fn hidden(thinking: &str) -> String {
    format!("{HIDDEN}{}", STANDARD.encode(thinking))
}

fn shown(hidden: &str) -> Option<String> {
    let bytes = STANDARD.decode(hidden.strip_prefix(HIDDEN)?).ok()?;
    String::from_utf8(bytes).ok()
}

/// Reads the input: a text, or items.
pub(super) fn read(turns: &mut Turns, input: Value, ignored: &mut Vec<String>) -> Result<(), ApiError> {
    let items = match input {
        Value::String(text) => {
            turns.user(text.into());
            return Ok(());
        }
        Value::Array(items) => items,
        other => return Err(invalid("input", format!("it is {}, not a string or items", kind(&other)))),
    };
    let mut unread = None;
    for (index, item) in items.into_iter().enumerate() {
        let mut fields = Fields::at(&format!("input[{index}]"), item)?;
        match fields.string("type")?.as_deref() {
            None | Some("message") => unread = message(turns, &mut fields, unread, ignored)?,
            Some("reasoning") => {
                let thinking = thinking(&mut fields)?;
                turns.answer(Answer { thinking, ..Answer::default() });
            }
            Some("function_call") => {
                let namespace = fields.string("namespace")?;
                let name = flat(namespace.as_deref(), &fields.required_string("name")?);
                let arguments = match fields.take("arguments") {
                    None => Map::new(),
                    Some(Value::String(json)) => turns.arguments(&json),
                    Some(Value::Object(arguments)) => arguments,
                    Some(other) => {
                        let reason = format!("it is {}, not JSON in a string", kind(&other));
                        return Err(fields.refuse("arguments", reason));
                    }
                };
                call(turns, &mut fields, name, arguments)?;
            }
            Some("custom_tool_call") => {
                let namespace = fields.string("namespace")?;
                let name = flat(namespace.as_deref(), &fields.required_string("name")?);
                let input = fields.string("input")?.unwrap_or_default();
                call(turns, &mut fields, name, custom::arguments(input))?;
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let id = fields.required_string("call_id")?;
                let output = parts::read(&fields.name("output"), fields.take("output"), "\n")?;
                output.left_out(turns, ignored);
                let output = output.content(turns);
                turns.result(&fields.name("call_id"), &id, output)?;
            }
            Some("item_reference") => return Err(ApiError::NotStored { field: Some(fields.name("type")) }),
            // Of tools that the provider runs, and of times to come.
            Some(other) => ignored.push(format!("input:{other}")),
        }
    }
    unread.map_or(Ok(()), Err)
}

fn call(
    turns: &mut Turns,
    fields: &mut Fields,
    name: String,
    arguments: Map<String, Value>,
) -> Result<(), ApiError> {
    let id = fields.required_string("call_id")?;
    turns.answer(Answer { calls: vec![EarlierCall { id, name, arguments }], ..Answer::default() });
    Ok(())
}

/// Says what of the last question would have to be seen and cannot be.
fn message(
    turns: &mut Turns,
    fields: &mut Fields,
    unread: Option<ApiError>,
    ignored: &mut Vec<String>,
) -> Result<Option<ApiError>, ApiError> {
    let role = fields.required_string("role")?;
    let place = fields.name("content");
    let content = parts::read(&place, fields.take("content"), "")?;
    content.left_out(turns, ignored);
    match role.as_str() {
        "system" | "developer" => {
            let text = content.text(turns);
            turns.system(text);
        }
        "user" => {
            let unread = content.unread();
            let content = content.content(turns);
            turns.user(content);
            return Ok(unread);
        }
        "assistant" => {
            let text = content.text(turns);
            turns.answer(Answer { text, ..Answer::default() });
        }
        other => {
            let reason = format!("it is {other:?}, not system, developer, user or assistant");
            return Err(fields.refuse("role", reason));
        }
    }
    Ok(unread)
}

/// The thinking of an earlier answer: told, summed up, or hidden by this server.
fn thinking(fields: &mut Fields) -> Result<String, ApiError> {
    for name in ["content", "summary"] {
        let parts = fields.array(name)?.unwrap_or_default();
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        if !texts.is_empty() {
            return Ok(texts.join("\n"));
        }
    }
    Ok(fields.string("encrypted_content")?.and_then(|text| shown(&text)).unwrap_or_default())
}
