//! What a request for a chat completion asks for. A field is honoured, ignored and named, or refused: never dropped
//! without a word where it would change the answer.

mod messages;
#[cfg(test)]
mod tests;

use axum::http::HeaderMap;
use foretoken_protocol::{AcceptanceRule, Drafting, MAX_BLOCK_DEPTH, MAX_DEPTH, MAX_TOP_LOGPROBS};
use serde_json::Value;

use self::messages::Messages;
use crate::ask::{Ask, AskedSettings, MOST_CHOICES};
use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};

/// The most stop texts.
const MOST_STOPS: usize = 16;
/// What a request may say of speculation in headers, for programs that can only add those.
const SPECULATION: &str = "foretoken-speculation";
const ACCEPTANCE: &str = "foretoken-acceptance";

/// Fields that would change the answer and are not there yet, and a hint for whoever sends them.
const NOT_YET: [(&str, &str); 6] = [
    ("functions", "Tools are not offered yet."),
    ("function_call", "Tools are not offered yet."),
    ("tools", "Tools are not offered yet."),
    ("logit_bias", "It is not offered yet."),
    ("web_search_options", "Nothing is fetched from the network."),
    ("audio", "The model reads and writes text only."),
];

/// A request for a chat completion.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChatRequest {
    pub(crate) ask: Ask,
    /// Whether the answer comes as it is written.
    pub(crate) stream: bool,
    /// Whether a stream ends with the use of tokens.
    pub(crate) include_usage: bool,
    /// Whether a stream tells of each token whether it was drafted.
    pub(crate) trace: bool,
    /// Fields that do not count.
    pub(crate) ignored: Vec<String>,
    /// What was done that the program may not expect, a word each.
    pub(crate) warnings: Vec<&'static str>,
}

/// Reads a request.
pub(crate) fn parse(body: &[u8], headers: &HeaderMap) -> Result<ChatRequest, ApiError> {
    let mut fields = Fields::of_body(body)?;
    let model = fields.string("model")?.ok_or_else(|| fields.refuse("model", "it is missing"))?;
    let given = fields.array("messages")?.ok_or_else(|| fields.refuse("messages", "it is missing"))?;
    let Messages { messages, resume, warnings } = messages::read(given)?;
    refuse_what_is_missing(&mut fields)?;
    let mut settings = settings(&mut fields)?;
    let choices = fields.integer("n", 1..=i64::from(MOST_CHOICES))?.map_or(1, |count| count as u8);
    let logprobs = logprobs(&mut fields)?;
    let stream = fields.boolean("stream")?.unwrap_or(false);
    let mut stream_options = fields.object("stream_options")?;
    let include_usage = match &mut stream_options {
        Some(options) => options.boolean("include_usage")?.unwrap_or(false),
        None => false,
    };
    let mut ignored = Vec::new();
    settings.thinking = thinking(&mut fields, &mut ignored)?;
    let trace = own(&mut fields, headers, &mut settings, &mut ignored)?;
    ignored.splice(0..0, fields.left());
    let ask = Ask { model, messages, resume, settings, logprobs, choices };
    Ok(ChatRequest { ask, stream, include_usage, trace, ignored, warnings })
}

/// Refuses what would change the answer and is not there.
fn refuse_what_is_missing(fields: &mut Fields) -> Result<(), ApiError> {
    let unsupported =
        |field: &str, hint: &str| Err(ApiError::Unsupported { field: field.into(), hint: hint.into() });
    for (name, hint) in NOT_YET {
        let says_nothing = |value: &Value| match (name, value) {
            ("tools", Value::Array(tools)) => tools.is_empty(),
            ("logit_bias", Value::Object(bias)) => bias.is_empty(),
            _ => false,
        };
        if fields.take(name).is_some_and(|value| !says_nothing(&value)) {
            return unsupported(name, hint);
        }
    }
    if fields.take("tool_choice").is_some_and(|choice| choice != "none" && choice != "auto") {
        return unsupported("tool_choice", "Tools are not offered yet.");
    }
    // Without tools it says nothing.
    fields.take("parallel_tool_calls");
    if let Some(mut format) = fields.object("response_format")? {
        match format.string("type")?.as_deref() {
            Some("text") => {}
            Some("json_object" | "json_schema") => {
                return unsupported("response_format", "Structured output is not offered yet.");
            }
            _ => return Err(format.refuse("type", "it is not text, json_object or json_schema")),
        }
    }
    if fields.array("modalities")?.is_some_and(|kinds| kinds != ["text"]) {
        return unsupported("modalities", "The model writes text only.");
    }
    Ok(())
}

fn settings(fields: &mut Fields) -> Result<AskedSettings, ApiError> {
    let penalty = -2.0..=2.0;
    let repetition = fields.number("repetition_penalty", 0.01..=10.0)?;
    let repeat = fields.number("repeat_penalty", 0.01..=10.0)?;
    let top_p = fields.number("top_p", 0.0..=1.0)?;
    if top_p == Some(0.0) {
        return Err(fields.refuse("top_p", "it is 0, which keeps no token"));
    }
    Ok(AskedSettings {
        temperature: fields.number("temperature", 0.0..=5.0)?,
        top_p,
        top_k: fields
            .integer("top_k", -1..=i64::MAX)?
            .map(|count| u32::try_from(count.max(0)).unwrap_or(u32::MAX)),
        min_p: fields.number("min_p", 0.0..=1.0)?,
        xtc_probability: fields.number("xtc_probability", 0.0..=1.0)?,
        xtc_threshold: fields.number("xtc_threshold", 0.0..=0.5)?,
        repetition_penalty: repetition.or(repeat),
        presence_penalty: fields.number("presence_penalty", penalty.clone())?,
        frequency_penalty: fields.number("frequency_penalty", penalty)?,
        seed: seed(fields)?,
        stop: stop(fields)?,
        max_tokens: max_tokens(fields)?,
        ..AskedSettings::default()
    })
}

/// How long a reply may be, by the newer field or else the older one.
fn max_tokens(fields: &mut Fields) -> Result<Option<u32>, ApiError> {
    let mut most = None;
    for name in ["max_completion_tokens", "max_tokens"] {
        match fields.integer(name, -1..=i64::MAX)? {
            // Some editors say -1 where they set no limit.
            None | Some(-1) => {}
            Some(0) => return Err(fields.refuse(name, "it is 0, and a reply has at least one token")),
            Some(count) => {
                most.get_or_insert(u32::try_from(count).unwrap_or(u32::MAX));
            }
        }
    }
    Ok(most)
}

/// Any whole number, as 64 bits.
fn seed(fields: &mut Fields) -> Result<Option<u64>, ApiError> {
    let Some(value) = fields.take("seed") else { return Ok(None) };
    let seed = value.as_u64().or_else(|| value.as_i64().map(i64::cast_unsigned));
    seed.map(Some).ok_or_else(|| fields.refuse("seed", "it is no whole number of 64 bits"))
}

fn stop(fields: &mut Fields) -> Result<Vec<String>, ApiError> {
    let texts = match fields.take("stop") {
        None => return Ok(Vec::new()),
        Some(Value::Array(texts)) => texts,
        Some(text) => vec![text],
    };
    if texts.len() > MOST_STOPS {
        return Err(fields.refuse("stop", format!("it has {} texts, and {MOST_STOPS} at most", texts.len())));
    }
    let text = |value| match value {
        Value::String(text) if text.is_empty() => Err(fields.refuse("stop", "it has an empty text")),
        Value::String(text) => Ok(text),
        other => Err(fields.refuse("stop", format!("it has {}, not a string", kind(&other)))),
    };
    texts.into_iter().map(text).collect()
}

fn logprobs(fields: &mut Fields) -> Result<Option<u32>, ApiError> {
    let wanted = fields.boolean("logprobs")?.unwrap_or(false);
    let top = fields.integer("top_logprobs", 0..=i64::from(MAX_TOP_LOGPROBS))?;
    if top.is_some() && !wanted {
        return Err(fields.refuse("top_logprobs", "it needs logprobs to be true"));
    }
    Ok(wanted.then(|| top.unwrap_or(0) as u32))
}

/// Whether the model is to think: what says so outright counts more than an effort.
fn thinking(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<Option<bool>, ApiError> {
    let effort = match fields.string("reasoning_effort")?.as_deref() {
        None => None,
        Some("none" | "minimal") => Some(false),
        Some("low" | "medium" | "high" | "xhigh") => Some(true),
        Some(other) => {
            let reason = format!("it is {other:?}, not none, minimal, low, medium, high or xhigh");
            return Err(fields.refuse("reasoning_effort", reason));
        }
    };
    let mut outright = fields.boolean("enable_thinking")?;
    if let Some(mut template) = fields.object("chat_template_kwargs")? {
        outright = template.boolean("enable_thinking")?.or(outright);
        ignored.extend(template.left());
    }
    Ok(outright.or(effort))
}

/// What only this server knows, in the object `foretoken` or else in headers. Says whether tokens are traced.
fn own(
    fields: &mut Fields,
    headers: &HeaderMap,
    settings: &mut AskedSettings,
    ignored: &mut Vec<String>,
) -> Result<bool, ApiError> {
    let header = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    if let Some(value) = header(SPECULATION) {
        let number = value.parse::<u64>().map(Value::from).ok();
        settings.drafting = Some(drafting(SPECULATION, number.unwrap_or_else(|| value.into()))?);
    }
    if let Some(value) = header(ACCEPTANCE) {
        settings.acceptance = Some(acceptance(ACCEPTANCE, &value)?);
    }
    let Some(mut own) = fields.object("foretoken")? else { return Ok(false) };
    if let Some(value) = own.take("speculation") {
        settings.drafting = Some(drafting(&own.name("speculation"), value)?);
    }
    if let Some(value) = own.string("acceptance")? {
        settings.acceptance = Some(acceptance(&own.name("acceptance"), &value)?);
    }
    for name in ["thinking_budget", "priority"] {
        if own.take(name).is_some() {
            return Err(ApiError::Unsupported {
                field: own.name(name),
                hint: "It is not offered yet.".into(),
            });
        }
    }
    let trace = own.boolean("trace")?.unwrap_or(false);
    ignored.extend(own.left());
    Ok(trace)
}

/// Who drafts, and how far.
fn drafting(field: &str, value: Value) -> Result<Drafting, ApiError> {
    let depth_of = |depth: i64| Drafting::Fixed { depth: depth as u8 };
    match &value {
        Value::String(word) if word == "auto" => return Ok(Drafting::Auto),
        Value::String(word) if word == "off" => return Ok(Drafting::Off),
        Value::Number(depth) => {
            if let Some(depth) = depth.as_i64().filter(|depth| (1..=i64::from(MAX_DEPTH)).contains(depth)) {
                return Ok(depth_of(depth));
            }
        }
        Value::Object(_) => {
            let mut fields = Fields::at(field, value)?;
            let drafter = fields.string("drafter")?;
            return match drafter.as_deref() {
                Some("mtp") => {
                    let depth = fields.integer("depth", 1..=i64::from(MAX_DEPTH))?;
                    Ok(depth.map_or(Drafting::Mtp, depth_of))
                }
                Some("dflash") => {
                    let depth = fields.integer("depth", 1..=i64::from(MAX_BLOCK_DEPTH))?;
                    Ok(Drafting::Dflash { depth: depth.map(|depth| depth as u8) })
                }
                Some("lookup") if fields.take("depth").is_none() => Ok(Drafting::Lookup),
                Some("lookup") => Err(fields.refuse("depth", "look-up finds out by itself")),
                _ => Err(fields.refuse("drafter", "it is not \"mtp\", \"dflash\" or \"lookup\"")),
            };
        }
        _ => {}
    }
    Err(invalid(field, format!("it is not \"auto\", \"off\", 1 to {MAX_DEPTH}, or an object with a drafter")))
}

fn acceptance(field: &str, value: &str) -> Result<AcceptanceRule, ApiError> {
    match value {
        "coupled" => Ok(AcceptanceRule::Coupled),
        "rejection" => Ok(AcceptanceRule::Rejection),
        _ => Err(invalid(field, "it is not \"coupled\" or \"rejection\"")),
    }
}
