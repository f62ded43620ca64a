//! What a request for a response asks for.

#[cfg(test)]
mod tests;

use axum::http::HeaderMap;
use foretoken_protocol::{ChatInput, Format, Input, MAX_TOP_LOGPROBS};
use serde_json::{Map, Value};

use super::items;
use super::tools::{self, Names};
use crate::answer::Asked;
use crate::ask::{Ask, AskedSettings};
use crate::error::ApiError;
use crate::fields::Fields;
use crate::pictures::Pictures;
use crate::redacted::redacted;
use crate::settings::AskedThinking;
use crate::tools::Offer;
use crate::turns::{Conversation, Turns};
use crate::{format, settings};

redacted!(Echo, Conversed);

/// What a response says again of its request.
const SAID_AGAIN: [&str; 10] = [
    "instructions",
    "max_output_tokens",
    "metadata",
    "parallel_tool_calls",
    "reasoning",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_p",
];

/// A request for a response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResponseRequest {
    pub(crate) asked: Asked,
    pub(crate) echo: Echo,
}

/// What the answer needs of its request.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Echo {
    /// Fields that a response says again.
    pub(crate) fields: Map<String, Value>,
    pub(crate) names: Names,
    /// How likely each token was.
    pub(crate) logprobs: bool,
    /// The thinking as a text that only this server reads, too.
    pub(crate) hidden_thinking: bool,
}

/// The chat of a request, and what comes with it.
pub(crate) struct Conversed {
    pub(crate) chat: ChatInput,
    pub(crate) pictures: Pictures,
    pub(crate) offer: Offer,
    pub(crate) names: Names,
    pub(crate) format: Option<Format>,
    pub(crate) warnings: Vec<&'static str>,
}

/// Reads a request.
pub(crate) fn parse(body: &[u8], headers: &HeaderMap) -> Result<ResponseRequest, ApiError> {
    let mut fields = Fields::of_body(body)?;
    let said_again: Map<String, Value> =
        SAID_AGAIN.iter().filter_map(|&name| Some((name.to_owned(), fields.get(name)?.clone()))).collect();
    let model = fields.required_string("model")?;
    for name in ["previous_response_id", "conversation", "prompt"] {
        if fields.take(name).is_some() {
            return Err(ApiError::NotStored { field: Some(name.into()) });
        }
    }
    if fields.boolean("background")?.unwrap_or(false) {
        return Err(ApiError::NotStored { field: Some("background".into()) });
    }
    let mut ignored = Vec::new();
    let Conversed { mut chat, pictures, offer, names, format, warnings } = input(&mut fields, &mut ignored)?;
    let (logprobs, hidden_thinking) = included(&mut fields, &mut ignored)?;
    let AskedThinking { on, template } = effort(&mut fields, &mut ignored)?;
    chat.template = template;
    let mut settings = AskedSettings {
        temperature: fields.number("temperature", 0.0..=5.0)?,
        top_p: settings::top_p(&mut fields)?,
        max_tokens: settings::max_tokens(&mut fields, &["max_output_tokens"])?,
        thinking: on,
        ..AskedSettings::default()
    };
    (settings.constraint.format, settings.constraint.calls) = (format, offer.calls);
    settings.constraint.inputs = names.customs.inputs.clone();
    let only_in_tags = names.customs.only_in_tags.clone();
    let stream = fields.boolean("stream")?.unwrap_or(false);
    let form = if settings.constraint.format.is_some() { "text.format" } else { format::GRAMMAR };
    if settings::own(&mut fields, headers, &mut settings, &mut ignored)? {
        ignored.push(settings::TRACE.into());
    }
    ignored.splice(0..0, fields.left());
    format::yield_to_calls(&mut settings.constraint, form, &mut ignored);
    let (input, tools) = (Input::Chat(chat), offer.tools);
    let ask = Ask { model, input, pictures, tools, settings, logprobs, choices: 1 };
    let echo = Echo { fields: said_again, names, logprobs: logprobs.is_some(), hidden_thinking };
    Ok(ResponseRequest { asked: Asked { ask, stream, ignored, only_in_tags, warnings }, echo })
}

/// The chat, the tools and the form of a request, which the count of its tokens needs too.
pub(crate) fn input(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<Conversed, ApiError> {
    let mut turns = Turns::default();
    if let Some(instructions) = fields.string("instructions")? {
        turns.system(instructions);
    }
    let given = fields.take("input").ok_or_else(|| fields.refuse("input", "it is missing"))?;
    items::read(&mut turns, given, ignored)?;
    let Conversation { messages, pictures, resume, warnings } = turns.finish("input")?;
    let (offer, names) = tools::read(fields, ignored)?;
    let mut format = None;
    if let Some(mut text) = fields.object("text")? {
        format = text.object("format")?.map_or(Ok(None), format::read)?;
        ignored.extend(text.left());
    }
    let tools = offer.tools.list().to_vec();
    let mut chat = ChatInput { messages, resume, tools, one_call: offer.one_call, ..ChatInput::default() };
    format::tell(&mut chat, format.as_ref());
    Ok(Conversed { chat, pictures, offer, names, format, warnings })
}

/// How the model is to think.
pub(crate) fn effort(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<AskedThinking, ApiError> {
    let Some(mut reasoning) = fields.object("reasoning")? else { return Ok(AskedThinking::default()) };
    let asked = AskedThinking::of_effort(&mut reasoning, "effort")?;
    // All of the thinking is told as its summary.
    reasoning.take("summary");
    ignored.extend(reasoning.left());
    Ok(asked)
}

/// How many log-probabilities are told of each token, and whether the thinking is hidden in the answer, too.
fn included(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<(Option<u32>, bool), ApiError> {
    let top = fields.integer("top_logprobs", 0..=i64::from(MAX_TOP_LOGPROBS))?;
    let (mut logprobs, mut hidden) = (false, false);
    for wanted in fields.array("include")?.unwrap_or_default() {
        match wanted.as_str() {
            Some("message.output_text.logprobs") => logprobs = true,
            Some("reasoning.encrypted_content") => hidden = true,
            other => ignored.push(format!("include:{}", other.unwrap_or("?"))),
        }
    }
    if top.is_some() && !logprobs {
        ignored.push("top_logprobs".into());
    }
    Ok((logprobs.then(|| top.unwrap_or(0) as u32), hidden))
}
