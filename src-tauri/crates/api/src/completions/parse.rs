//! What a request for a completion asks for.

#[cfg(test)]
mod tests;

use axum::http::HeaderMap;
use foretoken_calls::Tools;
use foretoken_protocol::Input;
use serde_json::Value;

use super::write::Options;
use crate::answer::Asked;
use crate::ask::{Ask, MOST_CHOICES};
use crate::error::ApiError;
use crate::fields::{Fields, kind};
use crate::pictures::Pictures;
use crate::settings;

/// How long a completion is where the request does not say, as OpenAI has it.
const DEFAULT_TOKENS: u32 = 16;
/// The most likely tokens that can be asked for.
const MOST_LOGPROBS: i64 = 5;

/// A request for a completion.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CompletionRequest {
    pub(crate) asked: Asked,
    pub(crate) options: Options,
}

/// Reads a request.
pub(crate) fn parse(body: &[u8], headers: &HeaderMap) -> Result<CompletionRequest, ApiError> {
    let mut fields = Fields::of_body(body)?;
    let model = fields.required_string("model")?;
    let suffix = fields.string("suffix")?.filter(|suffix| !suffix.is_empty());
    let input = match (prompt(&mut fields)?, suffix) {
        (Input::Ids { .. }, Some(_)) => {
            return Err(fields.refuse("suffix", "it needs a prompt that is a text"));
        }
        (Input::Text { text, .. }, suffix) => Input::Text { text, suffix },
        (input, None) => input,
        (_, Some(_)) => return Err(fields.refuse("suffix", "it needs a prompt")),
    };
    if fields.take("echo").is_some_and(|value| value != false) {
        let hint = "Send the prompt yourself.".into();
        return Err(ApiError::Unsupported { field: "echo".into(), hint });
    }
    if fields.integer("best_of", 0..=i64::MAX)?.is_some_and(|best_of| best_of > 1) {
        return Err(ApiError::Unsupported { field: "best_of".into(), hint: "Send n.".into() });
    }
    let says_how_long = fields.has("max_tokens") || fields.has("max_completion_tokens");
    let mut settings = settings::read(&mut fields)?;
    settings.constraint.logit_bias = settings::logit_bias(&mut fields)?;
    if !says_how_long {
        settings.max_tokens = Some(DEFAULT_TOKENS);
    }
    let choices = fields.integer("n", 1..=i64::from(MOST_CHOICES))?.map_or(1, |count| count as u8);
    let logprobs = fields.integer("logprobs", 0..=MOST_LOGPROBS)?.map(|count| count as u32);
    let stream = fields.boolean("stream")?.unwrap_or(false);
    let mut ignored = Vec::new();
    let mut include_usage = false;
    if let Some(mut options) = fields.object("stream_options")? {
        include_usage = options.boolean("include_usage")?.unwrap_or(false);
    }
    if settings::own(&mut fields, headers, &mut settings, &mut ignored)? {
        ignored.push(settings::TRACE.into());
    }
    ignored.splice(0..0, fields.left());
    let (pictures, tools) = (Pictures::default(), Tools::default());
    let ask = Ask { model, input, pictures, tools, settings, logprobs, choices };
    let options = Options { include_usage, logprobs: logprobs.is_some() };
    Ok(CompletionRequest {
        asked: Asked { ask, stream, ignored, only_in_tags: Vec::new(), warnings: Vec::new() },
        options,
    })
}

/// One prompt: a text, or the ids of its tokens; either may be the only element of a list.
fn prompt(fields: &mut Fields) -> Result<Input, ApiError> {
    let mut value = fields.take("prompt").ok_or_else(|| fields.refuse("prompt", "it is missing"))?;
    if let Value::Array(values) = &mut value
        && values.len() == 1
        && !values[0].is_number()
    {
        value = values.remove(0);
    }
    match value {
        Value::String(text) => Ok(Input::Text { text, suffix: None }),
        Value::Array(values) if values.iter().any(|value| !value.is_number()) => {
            Err(fields.refuse("prompt", "it has several prompts, and one is answered at a time"))
        }
        Value::Array(values) => {
            let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
            let ids: Option<Vec<u32>> = values.iter().map(id).collect();
            let ids = ids.ok_or_else(|| fields.refuse("prompt", "it has a number that is no token"))?;
            Ok(Input::Ids { ids })
        }
        other => Err(fields.refuse("prompt", format!("it is {}, not a text or tokens", kind(&other)))),
    }
}
