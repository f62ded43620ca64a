//! How a reply is to be written, as the fields of a request say it.

use axum::http::HeaderMap;
use foretoken_protocol::{AcceptanceRule, Drafting, MAX_BLOCK_DEPTH, MAX_DEPTH, TemplateOptions};
use serde_json::Value;

use crate::ask::AskedSettings;
use crate::error::ApiError;
use crate::fields::{Fields, invalid, kind};
use crate::format;

/// The most stop texts.
const MOST_STOPS: usize = 16;
/// The most tokens with a bias.
const MOST_BIASED: usize = 1024;
/// What a request may say of speculation in headers, for programs that can only add those.
const SPECULATION: &str = "foretoken-speculation";
const ACCEPTANCE: &str = "foretoken-acceptance";
const THINKING_BUDGET: &str = "foretoken-thinking-budget";
const PRIORITY: &str = "foretoken-priority";

/// What asks of each token whether it was drafted, for dialects that have no place to tell it.
pub(crate) const TRACE: &str = "foretoken.trace";

/// What OpenAI's dialects have in common.
pub(crate) fn read(fields: &mut Fields) -> Result<AskedSettings, ApiError> {
    let penalty = -2.0..=2.0;
    let repetition = fields.number("repetition_penalty", 0.01..=10.0)?;
    let repeat = fields.number("repeat_penalty", 0.01..=10.0)?;
    Ok(AskedSettings {
        temperature: fields.number("temperature", 0.0..=5.0)?,
        top_p: top_p(fields)?,
        top_k: top_k(fields)?,
        min_p: fields.number("min_p", 0.0..=1.0)?,
        xtc_probability: fields.number("xtc_probability", 0.0..=1.0)?,
        xtc_threshold: fields.number("xtc_threshold", 0.0..=0.5)?,
        repetition_penalty: repetition.or(repeat),
        presence_penalty: fields.number("presence_penalty", penalty.clone())?,
        frequency_penalty: fields.number("frequency_penalty", penalty)?,
        seed: seed(fields)?,
        stop: stops(fields, "stop")?,
        max_tokens: max_tokens(fields, &["max_completion_tokens", "max_tokens"])?,
        ..AskedSettings::default()
    })
}

/// The part of the likeliest tokens that is kept.
pub(crate) fn top_p(fields: &mut Fields) -> Result<Option<f32>, ApiError> {
    match fields.number("top_p", 0.0..=1.0)? {
        Some(0.0) => Err(fields.refuse("top_p", "it is 0, which keeps no token")),
        top_p => Ok(top_p),
    }
}

/// How many of the likeliest tokens are kept; -1 and 0 are all.
pub(crate) fn top_k(fields: &mut Fields) -> Result<Option<u32>, ApiError> {
    let count = fields.integer("top_k", -1..=i64::MAX)?;
    Ok(count.map(|count| u32::try_from(count.max(0)).unwrap_or(u32::MAX)))
}

/// How long a reply may be, by the first of these fields that says so.
pub(crate) fn max_tokens(fields: &mut Fields, names: &[&str]) -> Result<Option<u32>, ApiError> {
    let mut most = None;
    for &name in names {
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

/// The texts at which an answer ends: one, or a list.
pub(crate) fn stops(fields: &mut Fields, name: &str) -> Result<Vec<String>, ApiError> {
    let texts = match fields.take(name) {
        None => return Ok(Vec::new()),
        Some(Value::Array(texts)) => texts,
        Some(text) => vec![text],
    };
    if texts.len() > MOST_STOPS {
        return Err(fields.refuse(name, format!("it has {} texts, and {MOST_STOPS} at most", texts.len())));
    }
    let text = |value| match value {
        Value::String(text) if text.is_empty() => Err(fields.refuse(name, "it has an empty text")),
        Value::String(text) => Ok(text),
        other => Err(fields.refuse(name, format!("it has {}, not a string", kind(&other)))),
    };
    texts.into_iter().map(text).collect()
}

/// What a request says of thinking.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AskedThinking {
    /// Whether the model is to think.
    pub(crate) on: Option<bool>,
    /// What its template is asked for beside that.
    pub(crate) template: TemplateOptions,
}

impl AskedThinking {
    /// An effort: whether to think at all, and how much where the template knows of that.
    pub(crate) fn of_effort(fields: &mut Fields, name: &str) -> Result<Self, ApiError> {
        let effort = fields.string(name)?;
        let on = match effort.as_deref() {
            None => None,
            Some("none" | "minimal") => Some(false),
            Some("low" | "medium" | "high" | "xhigh" | "max") => Some(true),
            Some(other) => {
                let reason = format!("it is {other:?}, not none, minimal, low, medium, high, xhigh or max");
                return Err(fields.refuse(name, reason));
            }
        };
        let reasoning_effort = effort.filter(|_| on == Some(true));
        Ok(Self { on, template: TemplateOptions { reasoning_effort, ..TemplateOptions::default() } })
    }
}

/// What is added to the logits of tokens: an object of their ids, each with a number.
pub(crate) fn logit_bias(fields: &mut Fields) -> Result<Vec<(u32, f32)>, ApiError> {
    let bias = match fields.take("logit_bias") {
        None => return Ok(Vec::new()),
        Some(Value::Object(bias)) => bias,
        Some(other) => {
            return Err(fields.refuse("logit_bias", format!("it is {}, not an object", kind(&other))));
        }
    };
    if bias.len() > MOST_BIASED {
        return Err(
            fields.refuse("logit_bias", format!("it has {} tokens, and {MOST_BIASED} at most", bias.len()))
        );
    }
    let entry = |(token, number): (String, Value)| {
        let id = token
            .parse()
            .map_err(|_| fields.refuse("logit_bias", format!("{token:?} is no id of a token")))?;
        match number.as_f64() {
            Some(number) if (-100.0..=100.0).contains(&number) => Ok((id, number as f32)),
            _ => Err(fields.refuse("logit_bias", format!("that of {token} is no number from -100 to 100"))),
        }
    };
    bias.into_iter().map(entry).collect()
}

/// How the model is to think: what says outright whether it is counts more than an effort.
pub(crate) fn thinking(fields: &mut Fields, ignored: &mut Vec<String>) -> Result<AskedThinking, ApiError> {
    let mut asked = AskedThinking::of_effort(fields, "reasoning_effort")?;
    let mut outright = fields.boolean("enable_thinking")?;
    if let Some(mut template) = fields.object("chat_template_kwargs")? {
        outright = template.boolean("enable_thinking")?.or(outright);
        asked.template.preserve_thinking = template.boolean("preserve_thinking")?;
        let effort = AskedThinking::of_effort(&mut template, "reasoning_effort")?;
        asked.on = effort.on.or(asked.on);
        asked.template.reasoning_effort =
            effort.template.reasoning_effort.or(asked.template.reasoning_effort);
        ignored.extend(template.left());
    }
    Ok(AskedThinking { on: outright.or(asked.on), ..asked })
}

/// What only this server knows, in the object `foretoken` or else in headers. Says whether tokens are traced.
pub(crate) fn own(
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
    if let Some(value) = header(THINKING_BUDGET) {
        let budget = value.parse::<u64>();
        let budget = budget.map_err(|_| invalid(THINKING_BUDGET, "it is no whole number from 0 on"))?;
        settings.constraint.thinking_budget = Some(u32::try_from(budget).unwrap_or(u32::MAX));
    }
    if let Some(value) = header(PRIORITY) {
        settings.in_background = background(PRIORITY, &value)?;
    }
    let Some(mut own) = fields.object("foretoken")? else { return Ok(false) };
    if let Some(value) = own.take("speculation") {
        let field = own.name("speculation");
        settings.names_drafter = value.is_object().then(|| field.clone());
        settings.drafting = Some(drafting(&field, value)?);
    }
    if let Some(value) = own.string("acceptance")? {
        settings.acceptance = Some(acceptance(&own.name("acceptance"), &value)?);
    }
    if let Some(budget) = own.integer("thinking_budget", 0..=i64::MAX)? {
        settings.constraint.thinking_budget = Some(u32::try_from(budget).unwrap_or(u32::MAX));
    }
    if let Some(grammar) = own.object("grammar")? {
        if settings.constraint.format.is_some() {
            return Err(own.refuse("grammar", "the answer has another form already"));
        }
        settings.constraint.format = Some(format::grammar(grammar)?);
    }
    if let Some(value) = own.string("priority")? {
        settings.in_background = background(&own.name("priority"), &value)?;
    }
    settings.remember = own.boolean("remember")?.unwrap_or(false);
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

/// Whether other programs come first.
fn background(field: &str, value: &str) -> Result<bool, ApiError> {
    match value {
        "normal" => Ok(false),
        "background" => Ok(true),
        other => Err(invalid(field, format!("it is {other:?}, not normal or background"))),
    }
}

fn acceptance(field: &str, value: &str) -> Result<AcceptanceRule, ApiError> {
    match value {
        "coupled" => Ok(AcceptanceRule::Coupled),
        "strict" => Ok(AcceptanceRule::Strict),
        "rejection" => Ok(AcceptanceRule::Rejection),
        _ => Err(invalid(field, "it is not \"coupled\", \"strict\" or \"rejection\"")),
    }
}
