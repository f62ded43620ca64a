//! What a request for a message asks for.

#[cfg(test)]
mod tests;

use axum::http::HeaderMap;
use foretoken_protocol::{ChatInput, Input, TemplateOptions};
use serde_json::{Map, Value};

use crate::answer::Asked;
use crate::ask::{Ask, AskedSettings};
use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};
use crate::parts::{self, Said};
use crate::pictures::Pictures;
use crate::redacted::redacted;
use crate::tools::{self, Choice, Offer, function};
use crate::turns::{Answer, Conversation, EarlierCall, Turns};
use crate::{format, settings};

/// A line with which one program begins its instructions. It changes with each request, so that nothing behind it could
/// be remembered.
const BILLING: &str = "x-anthropic-billing-header:";

/// What begins a chat that the server is to keep, and goes on with one.
pub(super) const THREAD: &str = "thread";

redacted!(Conversed);

/// A request for a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MessagesRequest {
    pub(crate) asked: Asked,
    /// Whether the thinking is not to be told.
    pub(crate) hides_thinking: bool,
}

/// The chat of a request, and what comes with it.
pub(crate) struct Conversed {
    pub(crate) chat: ChatInput,
    pub(crate) pictures: Pictures,
    pub(crate) offer: Offer,
    pub(crate) warnings: Vec<&'static str>,
}

/// Reads a request.
pub(crate) fn parse(body: &[u8], headers: &HeaderMap) -> Result<MessagesRequest, ApiError> {
    let mut fields = Fields::of_body(body)?;
    let model = fields.required_string("model")?;
    let mut ignored = Vec::new();
    let Conversed { mut chat, pictures, offer, warnings } = input(&mut fields, &mut ignored)?;
    let mut settings = AskedSettings {
        temperature: fields.number("temperature", 0.0..=5.0)?,
        top_p: settings::top_p(&mut fields)?,
        top_k: settings::top_k(&mut fields)?,
        stop: settings::stops(&mut fields, "stop_sequences")?,
        max_tokens: settings::max_tokens(&mut fields, &["max_tokens"])?,
        ..AskedSettings::default()
    };
    let hides_thinking = thinking(&mut fields, &mut settings, &mut chat.template, &mut ignored)?;
    settings.constraint.calls = offer.calls;
    format::tell(&mut chat, settings.constraint.format.as_ref());
    let form = if settings.constraint.format.is_some() { "output_config.format" } else { format::GRAMMAR };
    let stream = fields.boolean("stream")?.unwrap_or(false);
    if settings::own(&mut fields, headers, &mut settings, &mut ignored)? {
        ignored.push(settings::TRACE.into());
    }
    ignored.splice(0..0, fields.left());
    format::yield_to_calls(&mut settings.constraint, form, &mut ignored);
    let (input, tools) = (Input::Chat(chat), offer.tools);
    let ask = Ask { model, input, pictures, tools, settings, logprobs: None, choices: 1 };
    Ok(MessagesRequest {
        asked: Asked { ask, stream, ignored, only_in_tags: Vec::new(), warnings },
        hides_thinking,
    })
}

/// The chat and the tools of a request, which the count of its tokens needs too.
pub(crate) fn input(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<Conversed, ApiError> {
    // Newer programs send no more than what is new, unless they are told that nothing is kept.
    if fields.has(THREAD) {
        return Err(ApiError::NotStored { field: Some(THREAD.into()) });
    }
    let mut turns = Turns::default();
    if let Some(text) = instructions(&mut turns, fields.take("system"), ignored)? {
        turns.system(text);
    }
    let mut unread = None;
    for (index, value) in fields.required_array("messages")?.into_iter().enumerate() {
        let mut message = Fields::at(&format!("messages[{index}]"), value)?;
        let role = message.required_string("role")?;
        let place = message.name("content");
        let content = message.take("content").ok_or_else(|| message.refuse("content", "it is missing"))?;
        match role.as_str() {
            "assistant" => assistant(&mut turns, &place, content, ignored)?,
            "user" => unread = user(&mut turns, &place, content, ignored)?,
            "system" => {
                let said = parts::read(&place, Some(content), "\n")?;
                said.left_out(&mut turns, ignored);
                let text = said.text(&mut turns);
                turns.system(text);
            }
            other => return Err(message.refuse("role", format!("it is {other:?}, not user or assistant"))),
        }
    }
    unread.map_or(Ok(()), Err)?;
    let Conversation { messages, pictures, resume, warnings } = turns.finish("messages")?;
    let offer = offered(fields, ignored)?;
    let tools = offer.tools.list().to_vec();
    let chat = ChatInput { messages, resume, tools, one_call: offer.one_call, ..ChatInput::default() };
    Ok(Conversed { chat, pictures, offer, warnings })
}

/// The instructions, without the line that changes each time.
fn instructions(
    turns: &mut Turns,
    system: Option<Value>,
    ignored: &mut Vec<String>,
) -> Result<Option<String>, ApiError> {
    let texts = match system {
        None => return Ok(None),
        Some(Value::Array(blocks)) => {
            let mut texts = Vec::new();
            for (index, block) in blocks.into_iter().enumerate() {
                let said = parts::part(&format!("system[{index}]"), block)?;
                said.left_out(turns, ignored);
                texts.push(said.text(turns));
            }
            texts
        }
        other => vec![parts::read("system", other, "")?.text(turns)],
    };
    let mut kept = Vec::new();
    for text in texts {
        let without = match text.strip_prefix(BILLING) {
            Some(line) => {
                ignored.push("system:x-anthropic-billing-header".into());
                line.split_once('\n').map_or("", |(_, rest)| rest).to_owned()
            }
            None => text,
        };
        if !without.is_empty() {
            kept.push(without);
        }
    }
    Ok((!kept.is_empty()).then(|| kept.join("\n")))
}

/// Text, thinking and calls of an earlier answer.
fn assistant(
    turns: &mut Turns,
    place: &str,
    content: Value,
    ignored: &mut Vec<String>,
) -> Result<(), ApiError> {
    let Value::Array(blocks) = content else {
        let text = parts::read(place, Some(content), "")?.text(turns);
        turns.answer(Answer { text, ..Answer::default() });
        return Ok(());
    };
    let mut answer = Answer::default();
    let mut said = Said::default();
    for (index, block) in blocks.into_iter().enumerate() {
        let place = format!("{place}[{index}]");
        let mut fields = Fields::at(&place, block.clone())?;
        match fields.required_string("type")?.as_str() {
            "thinking" => answer.thinking.push_str(&fields.string("thinking")?.unwrap_or_default()),
            "redacted_thinking" => {}
            "tool_use" => {
                let (id, name) = (fields.required_string("id")?, fields.required_string("name")?);
                let arguments = match fields.take("input") {
                    None => Map::new(),
                    Some(Value::Object(input)) => input,
                    Some(other) => {
                        return Err(fields.refuse("input", format!("it is {}, not an object", kind(&other))));
                    }
                };
                answer.calls.push(EarlierCall { id, name, arguments });
            }
            // Those of the provider's own tools, which nobody runs here, among them.
            _ => said.add(parts::part(&place, block)?, "\n"),
        }
    }
    said.left_out(turns, ignored);
    answer.text = said.text(turns);
    turns.answer(answer);
    Ok(())
}

/// Text, pictures and results of calls; says what of the question would have to be seen and cannot be.
fn user(
    turns: &mut Turns,
    place: &str,
    content: Value,
    ignored: &mut Vec<String>,
) -> Result<Option<ApiError>, ApiError> {
    let Value::Array(blocks) = content else {
        let content = parts::read(place, Some(content), "")?.content(turns);
        turns.user(content);
        return Ok(None);
    };
    let (mut said, mut has_results) = (Said::default(), false);
    for (index, block) in blocks.into_iter().enumerate() {
        let place = format!("{place}[{index}]");
        if block["type"] == "tool_result" {
            has_results = true;
            let mut fields = Fields::at(&place, block)?;
            let id = fields.required_string("tool_use_id")?;
            let failed = fields.boolean("is_error")?.unwrap_or(false);
            let mut result = if failed { Said::plain("Error: ".into()) } else { Said::default() };
            result.add(parts::read(&fields.name("content"), fields.take("content"), "\n")?, "");
            result.left_out(turns, ignored);
            let result = result.content(turns);
            turns.result(&fields.name("tool_use_id"), &id, result)?;
        } else {
            said.add(parts::part(&place, block)?, "\n");
        }
    }
    said.left_out(turns, ignored);
    let unread = said.unread();
    if !said.is_nothing() || !has_results {
        let content = said.content(turns);
        turns.user(content);
    }
    Ok(unread)
}

/// The tools that this server can offer: those that the provider would run itself are left out.
fn offered(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<Offer, ApiError> {
    let mut functions = Vec::new();
    for (index, tool) in fields.array("tools")?.unwrap_or_default().into_iter().enumerate() {
        let place = format!("tools[{index}]");
        match &tool["type"] {
            Value::Null => {}
            Value::String(kind) if kind == "custom" => {}
            Value::String(kind) => {
                ignored.push(format!("tools:{kind}"));
                continue;
            }
            other => return Err(invalid(&format!("{place}.type"), format!("it is {}", kind(other)))),
        }
        functions.push(function(&tool["name"], &tool["description"], &tool["input_schema"], &tool["strict"]));
    }
    let mut one_call = false;
    let choice = match fields.object("tool_choice")? {
        None => Choice::Auto,
        Some(mut choice) => {
            one_call = choice.boolean("disable_parallel_tool_use")?.unwrap_or(false);
            match choice.required_string("type")?.as_str() {
                "auto" => Choice::Auto,
                "none" => Choice::None,
                "any" => Choice::Required,
                "tool" => Choice::Named(choice.required_string("name")?),
                other => {
                    let reason = format!("it is {other:?}, not auto, any, tool or none");
                    return Err(choice.refuse("type", reason));
                }
            }
        }
    };
    tools::offer(functions, choice, one_call, ignored)
}

/// Whether the model is to think and how much, the form of its answer, and whether the thinking is kept to itself.
pub(crate) fn thinking(
    fields: &mut Fields,
    settings: &mut AskedSettings,
    template: &mut TemplateOptions,
    ignored: &mut Vec<String>,
) -> Result<bool, ApiError> {
    if let Some(mut output) = fields.object("output_config")? {
        settings.constraint.format = output.object("format")?.map_or(Ok(None), format::read)?;
        // Whoever asks for an effort wants thinking.
        template.reasoning_effort = output.string("effort")?;
        settings.thinking = template.reasoning_effort.is_some().then_some(true);
        ignored.extend(output.left());
    }
    let Some(mut thinking) = fields.object("thinking")? else { return Ok(false) };
    settings.thinking = match thinking.required_string("type")?.as_str() {
        "enabled" => {
            let budget = thinking.integer("budget_tokens", 0..=i64::MAX)?;
            settings.constraint.thinking_budget =
                budget.map(|budget| u32::try_from(budget).unwrap_or(u32::MAX));
            Some(true)
        }
        "adaptive" => Some(true),
        "disabled" => Some(false),
        other => {
            let reason = format!("it is {other:?}, not enabled, adaptive or disabled");
            return Err(thinking.refuse("type", reason));
        }
    };
    let hides = thinking.string("display")?.is_some_and(|display| display == "omitted");
    ignored.extend(thinking.left());
    Ok(hides)
}
