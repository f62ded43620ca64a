//! What a request for a chat completion asks for. A field is honoured, ignored and named, or refused: never dropped
//! without a word where it would change the answer.

mod messages;
#[cfg(test)]
mod tests;

use axum::http::HeaderMap;
use foretoken_protocol::{ChatInput, Format, Input, MAX_TOP_LOGPROBS};

use super::write::Options;
use crate::answer::Asked;
use crate::ask::{Ask, MOST_CHOICES};
use crate::custom::Customs;
use crate::error::ApiError;
use crate::fields::Fields;
use crate::parts;
use crate::pictures::Pictures;
use crate::redacted::redacted;
use crate::settings::AskedThinking;
use crate::tools::{self, Offer};
use crate::turns::Conversation;
use crate::{format, settings};

redacted!(Conversed);

/// Fields that would change the answer and are not there, and a hint for whoever sends them.
const NOT_THERE: [(&str, &str); 4] = [
    ("functions", "Send tools."),
    ("function_call", "Send tool_choice."),
    ("web_search_options", "Nothing is fetched from the network."),
    ("audio", "The model reads and writes text only."),
];

/// A request for a chat completion.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChatRequest {
    pub(crate) asked: Asked,
    pub(crate) options: Options,
    pub(crate) customs: Customs,
}

/// The chat of a request, and what comes with it.
pub(crate) struct Conversed {
    pub(crate) chat: ChatInput,
    pub(crate) pictures: Pictures,
    pub(crate) offer: Offer,
    pub(crate) customs: Customs,
    pub(crate) warnings: Vec<&'static str>,
}

/// Reads a request.
pub(crate) fn parse(body: &[u8], headers: &HeaderMap) -> Result<ChatRequest, ApiError> {
    let mut fields = Fields::of_body(body)?;
    let model = fields.required_string("model")?;
    let mut ignored = Vec::new();
    let Conversed { mut chat, pictures, offer, customs, warnings } = input(&mut fields, &mut ignored)?;
    refuse_what_is_missing(&mut fields)?;
    let mut settings = settings::read(&mut fields)?;
    settings.constraint.format = response_format(&mut fields)?;
    settings.constraint.logit_bias = settings::logit_bias(&mut fields)?;
    settings.prediction = prediction(&mut fields)?;
    let choices = fields.integer("n", 1..=i64::from(MOST_CHOICES))?.map_or(1, |count| count as u8);
    let logprobs = logprobs(&mut fields)?;
    let stream = fields.boolean("stream")?.unwrap_or(false);
    let mut stream_options = fields.object("stream_options")?;
    let include_usage = match &mut stream_options {
        Some(options) => options.boolean("include_usage")?.unwrap_or(false),
        None => false,
    };
    let AskedThinking { on, template } = settings::thinking(&mut fields, &mut ignored)?;
    settings.thinking = on;
    let form = if settings.constraint.format.is_some() { "response_format" } else { format::GRAMMAR };
    let trace = settings::own(&mut fields, headers, &mut settings, &mut ignored)?;
    ignored.splice(0..0, fields.left());
    chat.template = template;
    settings.constraint.calls = offer.calls;
    settings.constraint.inputs = customs.inputs.clone();
    let only_in_tags = customs.only_in_tags.clone();
    format::tell(&mut chat, settings.constraint.format.as_ref());
    format::yield_to_calls(&mut settings.constraint, form, &mut ignored);
    let (input, tools) = (Input::Chat(chat), offer.tools);
    let ask = Ask { model, input, pictures, tools, settings, logprobs, choices };
    let options = Options { include_usage, trace, logprobs: logprobs.is_some() };
    Ok(ChatRequest { asked: Asked { ask, stream, ignored, only_in_tags, warnings }, options, customs })
}

/// The chat and the tools of a request, which other routes read too.
pub(crate) fn input(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<Conversed, ApiError> {
    let given = fields.required_array("messages")?;
    let Conversation { messages, pictures, resume, warnings } = messages::read(given, ignored)?;
    let (offer, customs) = offered(fields, ignored)?;
    let tools = offer.tools.list().to_vec();
    let chat = ChatInput { messages, resume, tools, one_call: offer.one_call, ..ChatInput::default() };
    Ok(Conversed { chat, pictures, offer, customs, warnings })
}

/// The tools of a request, in OpenAI's form.
fn offered(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<(Offer, Customs), ApiError> {
    let mut customs = Customs::default();
    let mut tools = fields.array("tools")?.unwrap_or_default();
    for (index, tool) in tools.iter_mut().enumerate().filter(|(_, tool)| tool["type"] == "custom") {
        let mut fields = Fields::at(&format!("tools[{index}]"), tool.take())?;
        let mut custom = fields.object("custom")?.ok_or_else(|| fields.refuse("custom", "it is missing"))?;
        let name = custom.required_string("name")?;
        *tool = customs.add(&name, &mut custom)?;
    }
    let choice = tools::choice(fields)?;
    let parallel = fields.boolean("parallel_tool_calls")?.unwrap_or(true);
    Ok((tools::offer(tools, choice, !parallel, ignored)?, customs))
}

/// The form that the answer must have.
pub(crate) fn response_format(fields: &mut Fields) -> Result<Option<Format>, ApiError> {
    fields.object("response_format")?.map_or(Ok(None), format::read)
}

/// What the program predicts of the answer: the text of a file that is edited, mostly.
fn prediction(fields: &mut Fields) -> Result<Option<String>, ApiError> {
    let Some(mut prediction) = fields.object("prediction")? else { return Ok(None) };
    if prediction.string("type")?.as_deref() != Some("content") {
        return Err(fields.refuse("prediction.type", "it is \"content\""));
    }
    let place = "prediction.content";
    let predicted = parts::read(place, prediction.take("content"), "")?.only_text(place)?;
    Ok(Some(predicted).filter(|text| !text.is_empty()))
}

/// Refuses what would change the answer and is not there.
fn refuse_what_is_missing(fields: &mut Fields) -> Result<(), ApiError> {
    let unsupported =
        |field: &str, hint: &str| Err(ApiError::Unsupported { field: field.into(), hint: hint.into() });
    for (name, hint) in NOT_THERE {
        if fields.take(name).is_some() {
            return unsupported(name, hint);
        }
    }
    if fields.array("modalities")?.is_some_and(|kinds| kinds != ["text"]) {
        return unsupported("modalities", "The model writes text only.");
    }
    Ok(())
}

fn logprobs(fields: &mut Fields) -> Result<Option<u32>, ApiError> {
    let wanted = fields.boolean("logprobs")?.unwrap_or(false);
    let top = fields.integer("top_logprobs", 0..=i64::from(MAX_TOP_LOGPROBS))?;
    if top.is_some() && !wanted {
        return Err(fields.refuse("top_logprobs", "it needs logprobs to be true"));
    }
    Ok(wanted.then(|| top.unwrap_or(0) as u32))
}
