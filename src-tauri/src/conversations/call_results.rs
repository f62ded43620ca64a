//! What a model reads of its rounds and of the calls in them, and what is kept of what a call gave.

use foretoken_protocol::{
    CallState, ChatMessage, Content, EngineState, FunctionCall, ReplyCall, ReplyStep, ToolCall,
};
use foretoken_tools::configuration::tool_name;
use foretoken_tools::{Outcome, ResultPart, ServerError, for_model};
use serde_json::{Map, Value};

use crate::tools::ToolboxError;

/// Tokens of a result that a model reads at most.
const MOST_TOKENS: usize = 16_384;
/// The part of the context that is left which the results of a round may take, one in so many.
const PART_OF_CONTEXT: usize = 4;
/// Bytes that are kept of a result for people.
const KEPT: usize = 1 << 20;

/// What the model reads of a call that the person wanted no more.
pub(crate) const NOT_BEGUN: &str = "The call was not run: the user stopped the reply.";
const STOPPED: &str = "The user stopped the call while it ran. It may have happened in part.";
const UNKNOWN: &str = "The app ended while the call ran: it may or may not have happened. Do not repeat it without \
                       asking the user.";
/// What the model reads of a call whose tool the chat no longer has.
pub(crate) const NOT_OFFERED: &str = "The call was not run: the tool is no longer offered.";
const NOT_RUN: &str = "The call has not been run.";

/// What a call by this name is to the model that wrote it.
pub(crate) fn model_name(call: &ReplyCall) -> String {
    let of_server = call.server.as_ref().and_then(|slug| tool_name(slug, &call.tool).ok());
    of_server.unwrap_or_else(|| call.tool.clone())
}

/// The rounds of a reply as a model reads them: what it wrote, its calls, and a result for each.
pub(crate) fn messages(steps: &[ReplyStep]) -> Vec<ChatMessage> {
    let mut messages = Vec::new();
    for step in steps {
        // The reply may have ended before the name did.
        let calls: Vec<&ReplyCall> = step.calls.iter().filter(|call| !call.tool.is_empty()).collect();
        if step.text.is_empty() && calls.is_empty() {
            continue;
        }
        let call = |call: &&ReplyCall| ToolCall::Function {
            function: FunctionCall { name: model_name(call), arguments: object(&call.arguments_written) },
        };
        messages.push(ChatMessage::Assistant {
            content: step.text.clone(),
            reasoning_content: (!step.thinking.is_empty()).then(|| step.thinking.clone()),
            tool_calls: calls.iter().map(call).collect(),
        });
        let result = |call: &ReplyCall| ChatMessage::Tool { content: Content::Text(told(call).to_owned()) };
        messages.extend(calls.into_iter().map(result));
    }
    messages
}

/// What the model reads of a call.
fn told(call: &ReplyCall) -> &str {
    let otherwise = match call.state {
        // One whose end could not be stored may have happened, too.
        CallState::Unknown | CallState::Running => UNKNOWN,
        CallState::Stopped if call.started_at.is_some() => STOPPED,
        CallState::Stopped => NOT_BEGUN,
        _ => NOT_RUN,
    };
    call.result_for_model.as_deref().unwrap_or(otherwise)
}

/// How a call has ended, for the store.
#[derive(Debug, PartialEq)]
pub(crate) struct CallResult {
    pub(crate) state: CallState,
    /// The outcome as JSON.
    pub(crate) result: Option<String>,
    pub(crate) for_model: String,
    /// Characters that the model does not get.
    pub(crate) left_out: Option<u32>,
}

/// The tokens that the results of a round may take for the model that is loaded, of whose context so many are `used`.
pub(crate) fn room(engine: &EngineState, used: usize) -> usize {
    match engine {
        EngineState::Ready { model, .. } => {
            ((model.context_length as usize).saturating_sub(used) / PART_OF_CONTEXT).min(MOST_TOKENS)
        }
        _ => MOST_TOKENS / PART_OF_CONTEXT,
    }
}

/// All that a model could read of an outcome.
pub(crate) fn whole(outcome: &Outcome) -> String {
    for_model(outcome, usize::MAX, str::len).text
}

/// What has come of a call, of which the model reads `room` tokens at most, where a token is so many bytes; at least
/// one, where nobody knows. It is told which arguments the person has `changed` it to.
pub(crate) fn of(
    outcome: Result<Outcome, ToolboxError>,
    changed: Option<&str>,
    room: usize,
    bytes_per_token: Option<f64>,
) -> CallResult {
    let note = changed.map(|arguments| format!("The user changed the arguments to {arguments}.\n\n"));
    let note = note.unwrap_or_default();
    match outcome {
        Ok(outcome) => {
            let text = for_model(&outcome, room, |text| {
                (text.len() as f64 / bytes_per_token.unwrap_or(1.0)) as usize
            });
            CallResult {
                state: if outcome.failed { CallState::Failed } else { CallState::Done },
                result: serde_json::to_string(&kept(outcome)).ok(),
                for_model: note + &text.text,
                left_out: (text.left_out > 0).then_some(text.left_out as u32),
            }
        }
        Err(error) => {
            let (state, told) = match &error {
                ToolboxError::Server(ServerError::Stopped) => (CallState::Stopped, STOPPED.to_owned()),
                ToolboxError::Server(ServerError::TimedOut { .. }) => {
                    (CallState::TimedOut, format!("The call took too long. {error}"))
                }
                _ => (CallState::Failed, format!("The call failed. {error}")),
            };
            CallResult { state, result: None, for_model: note + &told, left_out: None }
        }
    }
}

/// An outcome within what is kept of one: of what is too much, its kind and size.
fn kept(outcome: Outcome) -> Outcome {
    let mut left = KEPT;
    let fits = |bytes: usize, left: &mut usize| left.checked_sub(bytes).map(|rest| *left = rest).is_some();
    let mut part = |part: ResultPart| match part {
        ResultPart::Text { mut text } => {
            let end = text.floor_char_boundary(left);
            text.truncate(end);
            left -= end;
            ResultPart::Text { text }
        }
        ResultPart::Picture { media_type, data } if !fits(data.len(), &mut left) => {
            ResultPart::Other { media_type, name: String::new(), bytes: data.len() as u64 * 3 / 4 }
        }
        other => other,
    };
    Outcome { parts: outcome.parts.into_iter().map(&mut part).collect(), ..outcome }
}

/// An object out of JSON that the store has.
pub(crate) fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}
