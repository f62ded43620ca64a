//! The tools that a request offers, and which of them may or must be called.

use foretoken_calls::{Tools, ToolsError};
use foretoken_protocol::CallRule;
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::fields::{Fields, invalid};
use crate::redacted::redacted;

redacted!(Offer);

/// The most tools, and the most bytes of all of them.
const MOST_TOOLS: usize = 128;
const MOST_BYTES: usize = 1 << 20;

/// Which tools the model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// None, as if there were none.
    None,
    /// Whichever it wants to.
    Auto,
    /// It must call one.
    Required,
    /// It must call this one.
    Named(String),
    /// Only these, and whether it must.
    Allowed {
        /// Their names.
        names: Vec<String>,
        /// Whether it must call one of them.
        required: bool,
    },
}

/// Tools as the engine gets them.
#[derive(Default, PartialEq)]
pub(crate) struct Offer {
    pub(crate) tools: Tools,
    /// Whether the reply ends behind its first call.
    pub(crate) one_call: bool,
    /// Whether they must be called.
    pub(crate) calls: CallRule,
}

/// Which tools may or must be called, as OpenAI's dialects say it: a word, or an object that names one.
pub(crate) fn choice(fields: &mut Fields) -> Result<Choice, ApiError> {
    match fields.take("tool_choice") {
        None => Ok(Choice::Auto),
        Some(Value::String(word)) => match word.as_str() {
            "auto" => Ok(Choice::Auto),
            "none" => Ok(Choice::None),
            "required" => Ok(Choice::Required),
            _ => Err(fields.refuse("tool_choice", format!("it is {word:?}, not none, auto or required"))),
        },
        Some(value) => {
            let mut choice = Fields::at(&fields.name("tool_choice"), value)?;
            let kind = choice.required_string("type")?;
            if kind == "allowed_tools" {
                // The dialects differ in whether what is allowed is an object of its own.
                return allowed(choice.object("allowed_tools")?.unwrap_or(choice));
            }
            if kind != "function" && kind != "custom" {
                let hint = "Name a function, or leave the choice to the model.".into();
                return Err(ApiError::Unsupported { field: format!("tool_choice ({kind})"), hint });
            }
            let named = match choice.object("function")? {
                Some(function) => Some(function),
                None => choice.object("custom")?,
            };
            let mut named = named.unwrap_or(choice);
            Ok(Choice::Named(named.required_string("name")?))
        }
    }
}

/// The tools that may be called, of all that there are.
fn allowed(mut allowed: Fields) -> Result<Choice, ApiError> {
    let required = match allowed.required_string("mode")?.as_str() {
        "auto" => false,
        "required" => true,
        other => return Err(allowed.refuse("mode", format!("it is {other:?}, not auto or required"))),
    };
    let mut names = Vec::new();
    for (index, tool) in allowed.required_array("tools")?.into_iter().enumerate() {
        let mut tool = Fields::at(&format!("{}[{index}]", allowed.name("tools")), tool)?;
        let kind = tool.required_string("type")?;
        // Others are run by the provider, and are none of those that are offered.
        if kind == "function" || kind == "custom" {
            names.push(tool.object(&kind)?.unwrap_or(tool).required_string("name")?);
        }
    }
    Ok(Choice::Allowed { names, required })
}

/// Checks tools in OpenAI's form. Those of which a model cannot be told are left out, and named in `ignored`.
pub(crate) fn offer(
    tools: Vec<Value>,
    choice: Choice,
    one_call: bool,
    ignored: &mut Vec<String>,
) -> Result<Offer, ApiError> {
    if choice == Choice::None {
        return Ok(Offer::default());
    }
    if tools.len() > MOST_TOOLS {
        return Err(invalid("tools", format!("there are {}, and {MOST_TOOLS} at most", tools.len())));
    }
    let bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
    if bytes > MOST_BYTES {
        return Err(invalid("tools", format!("they are {bytes} bytes long, and {MOST_BYTES} at most")));
    }
    let (tools, left_out) = Tools::usable(tools).map_err(|error| refused(&error))?;
    let left_out: Vec<&str> = left_out.iter().filter_map(ToolsError::tool).collect();
    ignored.extend(left_out.iter().map(|name| format!("tools:{}", in_header(name))));
    let (tools, choice) = match choice {
        Choice::Allowed { names, required } => {
            let is_unknown =
                |name: &&String| tools.parameters(name).is_none() && !left_out.contains(&name.as_str());
            if let Some(name) = names.iter().find(is_unknown) {
                return Err(invalid("tool_choice", format!("there is no tool {name:?}")));
            }
            (tools.only(&names), if required { Choice::Required } else { Choice::Auto })
        }
        choice => (tools, choice),
    };
    let calls = match choice {
        Choice::None | Choice::Auto | Choice::Allowed { .. } => CallRule::Free,
        Choice::Required | Choice::Named(_) if tools.is_empty() => {
            return Err(invalid("tool_choice", "a tool must be called, but there are none"));
        }
        Choice::Required => CallRule::Required,
        Choice::Named(name) if tools.parameters(&name).is_some() => CallRule::Named(name),
        Choice::Named(name) => return Err(invalid("tool_choice", format!("there is no tool {name:?}"))),
    };
    Ok(Offer { tools, one_call, calls })
}

/// A name as a header can have it.
fn in_header(name: &str) -> String {
    const LONGEST: usize = 48;
    name.chars().map(|c| if c.is_ascii_graphic() && c != ',' { c } else { '?' }).take(LONGEST).collect()
}

/// A function as OpenAI's chat completions have it.
pub(crate) fn function(name: &Value, description: &Value, parameters: &Value, strict: &Value) -> Value {
    let fields =
        [("name", name), ("description", description), ("parameters", parameters), ("strict", strict)];
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    let function: Value = given.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    json!({"type": "function", "function": function})
}

fn refused(error: &ToolsError) -> ApiError {
    invalid("tools", format!("{error}. {}", error.hint().trim_end_matches('.')))
}
