//! The tools that a request offers, and which of them may or must be called.

use foretoken_calls::{Tools, ToolsError};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::fields::invalid;

/// The most tools, and the most bytes of all of them.
const MOST_TOOLS: usize = 128;
const MOST_BYTES: usize = 1 << 20;

/// That arguments are not held to the schema while they are written, though the request asks for it.
pub(crate) const NOT_STRICT: &str = "strict-not-enforced";

/// Which tools the model may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// None, as if there were none.
    None,
    /// Whichever it wants to.
    Auto,
    /// It must call one.
    Forced,
}

/// Tools as the engine gets them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Offer {
    pub(crate) tools: Tools,
    /// Whether the reply ends behind its first call.
    pub(crate) one_call: bool,
    pub(crate) warnings: Vec<&'static str>,
}

/// Checks tools in OpenAI's form.
pub(crate) fn offer(tools: Vec<Value>, choice: Choice, one_call: bool) -> Result<Offer, ApiError> {
    if choice == Choice::None {
        return Ok(Offer::default());
    }
    if choice == Choice::Forced {
        let hint = "It is not offered yet; \"auto\" and \"none\" are.".into();
        return Err(ApiError::Unsupported { field: "tool_choice".into(), hint });
    }
    if tools.len() > MOST_TOOLS {
        return Err(invalid("tools", format!("there are {}, and {MOST_TOOLS} at most", tools.len())));
    }
    let bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
    if bytes > MOST_BYTES {
        return Err(invalid("tools", format!("they are {bytes} bytes long, and {MOST_BYTES} at most")));
    }
    let is_strict = |tool: &Value| tool["function"]["strict"] == true;
    let warnings = if tools.iter().any(is_strict) { vec![NOT_STRICT] } else { Vec::new() };
    let tools = Tools::new(tools).map_err(|error| refused(&error))?;
    Ok(Offer { tools, one_call, warnings })
}

/// A function as OpenAI's chat completions have it.
pub(crate) fn function(name: &Value, description: &Value, parameters: &Value) -> Value {
    let fields = [("name", name), ("description", description), ("parameters", parameters)];
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    let function: Value = given.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    json!({"type": "function", "function": function})
}

fn refused(error: &ToolsError) -> ApiError {
    invalid("tools", format!("{error}. {}", error.hint().trim_end_matches('.')))
}
