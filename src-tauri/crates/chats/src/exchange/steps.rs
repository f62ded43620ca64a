//! The steps of replies as they stand in a file: all of them but what holds here alone, which are the tokens, whose
//! text nobody could compare, and the permissions behind the calls.

use foretoken_protocol::{
    CallDecision, CallId, CallState, MessageStatus, ReplyCall, ReplyStats, ReplyStep, StepIds,
};
use serde::{Deserialize, Serialize};

use crate::calls;

/// A step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StepRecord {
    thinking: String,
    text: String,
    status: MessageStatus,
    pub(super) stats: Option<ReplyStats>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallRecord>,
    /// In no file: the model would read what the person cannot.
    #[serde(skip)]
    ids: Option<StepIds>,
}

/// A call. It has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CallRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    tool: String,
    arguments_written: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments_sent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<CallDecision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at: Option<u64>,
    #[serde(flatten)]
    state: CallState,
    /// The JSON as a text, so that it comes back as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result_for_model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_out: Option<u32>,
}

impl StepRecord {
    /// Finds what contradicts itself, and says so in words.
    pub(super) fn check(&self) -> Result<(), String> {
        for (before, call) in self.calls.iter().enumerate() {
            for time in [call.asked_at, call.started_at, call.ended_at].into_iter().flatten() {
                i64::try_from(time).map_err(|_| format!("{time} is no time"))?;
            }
            let result = call.result.as_deref().map(serde_json::from_str::<serde::de::IgnoredAny>);
            if let Some(Err(error)) = result {
                return Err(format!("the result of call {} is not JSON: {error}", before + 1));
            }
        }
        Ok(())
    }

    /// About how much there is to write, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let of_call = |call: &CallRecord| {
            call.arguments_written.len()
                + length(&call.arguments_sent)
                + length(&call.result)
                + length(&call.result_for_model)
        };
        self.text.len() + self.thinking.len() + self.calls.iter().map(of_call).sum::<usize>()
    }

    /// The step as it stands in the database as number `ordinal` of a message, which its calls are told of there.
    pub(super) fn step(&self, ordinal: u32) -> ReplyStep {
        let call = |(number, call): (u32, &CallRecord)| ReplyCall {
            id: CallId { message: 0, step: ordinal, ordinal: number },
            server: call.server.clone(),
            tool: call.tool.clone(),
            arguments_written: call.arguments_written.clone(),
            arguments_sent: call.arguments_sent.clone(),
            decision: call.decision,
            grant: None,
            asked_at: call.asked_at,
            started_at: call.started_at,
            ended_at: call.ended_at,
            state: call.state.clone(),
            may_leak: false,
            result: call.result.clone(),
            result_for_model: call.result_for_model.clone(),
            left_out: call.left_out,
            seen: None,
        };
        ReplyStep {
            ordinal,
            thinking: self.thinking.clone(),
            text: self.text.clone(),
            ids: self.ids.clone(),
            stats: self.stats.clone(),
            status: self.status,
            calls: (0..).zip(&self.calls).map(call).collect(),
        }
    }
}

impl From<ReplyStep> for StepRecord {
    fn from(step: ReplyStep) -> Self {
        let status = match step.status {
            MessageStatus::Streaming => MessageStatus::Interrupted,
            ended => ended,
        };
        Self {
            thinking: step.thinking,
            text: step.text,
            status,
            stats: step.stats,
            calls: step.calls.into_iter().map(CallRecord::from).collect(),
            ids: step.ids,
        }
    }
}

impl From<ReplyCall> for CallRecord {
    fn from(call: ReplyCall) -> Self {
        Self {
            state: calls::ended(&call.state),
            server: call.server,
            tool: call.tool,
            arguments_written: call.arguments_written,
            arguments_sent: call.arguments_sent,
            decision: call.decision,
            asked_at: call.asked_at,
            started_at: call.started_at,
            ended_at: call.ended_at,
            result: call.result,
            result_for_model: call.result_for_model,
            left_out: call.left_out,
        }
    }
}
