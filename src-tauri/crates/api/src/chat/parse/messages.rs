//! The messages of a chat completion.

use serde_json::Value;

use crate::custom;
use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};
use crate::parts;
use crate::turns::{Answer, Conversation, EarlierCall, Turns};

/// That a message had the name of who wrote it, which templates have no place for.
const NAME: &str = "name-left-out";

/// Reads the messages of a request.
pub(super) fn read(values: Vec<Value>, ignored: &mut Vec<String>) -> Result<Conversation, ApiError> {
    let mut turns = Turns::default();
    // What the last user message has that cannot be read: there it would be the question.
    let mut unread = None;
    for (index, value) in values.into_iter().enumerate() {
        let mut fields = Fields::at(&format!("messages[{index}]"), value)?;
        let role = fields.required_string("role")?;
        if fields.take("name").is_some() {
            turns.warn(NAME);
        }
        let place = fields.name("content");
        let content = fields.take("content");
        let is_missing = content.is_none();
        let content = parts::read(&place, content, "")?;
        content.left_out(&mut turns, ignored);
        match role.as_str() {
            "assistant" => {
                let text = content.text(&mut turns);
                answer(&mut turns, &mut fields, text)?;
            }
            _ if is_missing => return Err(invalid(&place, "it is missing")),
            "system" | "developer" => {
                let text = content.text(&mut turns);
                turns.system(text);
            }
            "user" => {
                unread = content.unread();
                let content = content.content(&mut turns);
                turns.user(content);
            }
            "tool" => {
                let id = fields.required_string("tool_call_id")?;
                let content = content.content(&mut turns);
                turns.result(&fields.name("tool_call_id"), &id, content)?;
            }
            "function" => {
                let hint = "Send a message of the role tool.".into();
                return Err(ApiError::Unsupported { field: fields.name("role"), hint });
            }
            other => {
                let reason = format!("it is {other:?}, not system, developer, user, assistant or tool");
                return Err(fields.refuse("role", reason));
            }
        }
    }
    unread.map_or(Ok(()), Err)?;
    turns.finish("messages")
}

fn answer(turns: &mut Turns, fields: &mut Fields, text: String) -> Result<(), ApiError> {
    if fields.take("function_call").is_some() {
        let hint = "Send tool_calls.".into();
        return Err(ApiError::Unsupported { field: fields.name("function_call"), hint });
    }
    let thinking = match fields.string("reasoning_content")? {
        Some(thinking) => thinking,
        None => fields.string("reasoning")?.unwrap_or_default(),
    };
    let mut calls = Vec::new();
    for (index, value) in fields.array("tool_calls")?.unwrap_or_default().into_iter().enumerate() {
        calls.push(call(turns, &format!("{}[{index}]", fields.name("tool_calls")), value)?);
    }
    turns.answer(Answer { text, thinking, calls });
    Ok(())
}

fn call(turns: &mut Turns, place: &str, value: Value) -> Result<EarlierCall, ApiError> {
    let mut fields = Fields::at(place, value)?;
    let id = fields.required_string("id")?;
    if let Some(mut custom) = fields.object("custom")? {
        let name = custom.required_string("name")?;
        let arguments = custom::arguments(custom.string("input")?.unwrap_or_default());
        return Ok(EarlierCall { id, name, arguments });
    }
    let mut function =
        fields.object("function")?.ok_or_else(|| fields.refuse("function", "it is missing"))?;
    let name = function.required_string("name")?;
    let arguments = match function.take("arguments") {
        None => serde_json::Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(Value::String(json)) => turns.arguments(&json),
        Some(other) => {
            return Err(function.refuse("arguments", format!("it is {}, not JSON in a string", kind(&other))));
        }
    };
    Ok(EarlierCall { id, name, arguments })
}
