//! A message, whole or as the events of a stream.

#[cfg(test)]
mod tests;

use foretoken_protocol::{ApiDialect, ApiStage};
use serde_json::{Value, json};

use super::parse::THREAD;
use crate::answer::{self, Meta};
use crate::content::{Block, Content, Gathered};
use crate::error::ApiError;
use crate::figures::foretoken;
use crate::replies::{End, EndReason, Progress, PromptSize};
use crate::router::random_name;
use crate::signing::Signer;
use crate::stream::named;

/// Writes a message.
#[derive(Debug)]
pub(crate) struct Writer {
    id: String,
    meta: Meta,
    hides_thinking: bool,
    signer: Signer,
    size: PromptSize,
    reply: Gathered,
    /// The ids of its calls.
    calls: Vec<String>,
    /// The block that is being written, and how many there were before it.
    open: Open,
    blocks: usize,
    end: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    None,
    Thinking,
    Text,
    Call,
}

impl Writer {
    pub(crate) fn new(meta: Meta, hides_thinking: bool, signer: Signer) -> Self {
        Self {
            id: random_name("msg_"),
            meta,
            hides_thinking,
            signer,
            size: PromptSize::default(),
            reply: Gathered::default(),
            calls: Vec::new(),
            open: Open::None,
            blocks: 0,
            end: None,
        }
    }

    fn contents(&mut self, contents: &[Content], out: &mut String) {
        for content in contents {
            self.reply.add(content);
            match content {
                Content::Thinking(text) => {
                    self.open(
                        Open::Thinking,
                        || json!({"type": "thinking", "thinking": "", "signature": ""}),
                        out,
                    );
                    if !self.hides_thinking {
                        self.delta(&json!({"type": "thinking_delta", "thinking": text}), out);
                    }
                }
                Content::Answer(text) => {
                    self.open(Open::Text, || json!({"type": "text", "text": ""}), out);
                    self.delta(&json!({"type": "text_delta", "text": text}), out);
                }
                Content::Call { name } => {
                    let id = random_name("toolu_");
                    self.calls.push(id.clone());
                    self.close(out);
                    self.open(
                        Open::Call,
                        || json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                        out,
                    );
                }
                Content::Arguments(json) => {
                    self.delta(&json!({"type": "input_json_delta", "partial_json": json}), out);
                }
                Content::CallEnd { .. } => self.close(out),
            }
        }
    }

    /// Begins a block, unless one of its kind is being written.
    fn open(&mut self, kind: Open, block: impl FnOnce() -> Value, out: &mut String) {
        if self.open == kind {
            return;
        }
        self.close(out);
        self.open = kind;
        let event = json!({"type": "content_block_start", "index": self.blocks, "content_block": block()});
        named(out, "content_block_start", &event);
    }

    fn delta(&self, delta: &Value, out: &mut String) {
        let event = json!({"type": "content_block_delta", "index": self.blocks, "delta": delta});
        named(out, "content_block_delta", &event);
    }

    fn close(&mut self, out: &mut String) {
        if self.open == Open::None {
            return;
        }
        if self.open == Open::Thinking {
            // Programs drop thinking that has no signature.
            let thinking = self.reply.blocks().iter().rev().find_map(Block::thinking);
            let signature = self.signer.sign(thinking.unwrap_or_default());
            self.delta(&json!({"type": "signature_delta", "signature": signature}), out);
        }
        named(out, "content_block_stop", &json!({"type": "content_block_stop", "index": self.blocks}));
        self.open = Open::None;
        self.blocks += 1;
    }

    fn message(&self, content: Vec<Value>, reason: Option<&EndReason>, usage: Value) -> Value {
        let stop =
            reason.and_then(|reason| if let EndReason::StopText(text) = reason { Some(text) } else { None });
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.meta.model, "content": content,
            "stop_reason": reason.map(stop_reason), "stop_sequence": stop, "usage": usage,
        })
    }

    /// Tokens, in Anthropic's sense: what was found read already is none of the input.
    fn usage(&self, written: u32) -> Value {
        json!({
            "input_tokens": self.size.tokens.saturating_sub(self.size.cached),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self.size.cached,
            "output_tokens": written,
        })
    }
}

impl answer::Writer for Writer {
    const DIALECT: ApiDialect = ApiDialect::Messages;

    /// The first event tells how much was found read already, which is not known yet.
    fn begin(&mut self, _out: &mut String) {}

    fn progress(&mut self, _index: usize, progress: Progress, out: &mut String) {
        match progress {
            Progress::Begun(size) => {
                self.size = size;
                let message = self.message(Vec::new(), None, self.usage(0));
                named(out, "message_start", &json!({"type": "message_start", "message": message}));
                named(out, "ping", &json!({"type": "ping"}));
            }
            Progress::Step(step) => self.contents(&step.contents, out),
            Progress::End(end) => {
                self.contents(&end.contents, out);
                self.close(out);
                self.end = Some(end);
            }
        }
    }

    fn end(&mut self, out: &mut String) {
        let Some(end) = &self.end else { return };
        let stop = if let EndReason::StopText(text) = &end.reason { Some(text) } else { None };
        let event = json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(&end.reason), "stop_sequence": stop},
            "usage": self.usage(end.stats.emitted),
            "foretoken": foretoken(end, &self.reply),
        });
        named(out, "message_delta", &event);
        named(out, "message_stop", &json!({"type": "message_stop"}));
    }

    fn fail(&mut self, error: &ApiError, out: &mut String) {
        named(out, "error", &error_body(error, &self.meta.request));
    }

    fn keep_alive(&mut self, _stage: ApiStage, out: &mut String) {
        named(out, "ping", &json!({"type": "ping"}));
    }

    fn whole(&mut self) -> Value {
        let mut ids = self.calls.iter();
        let content: Vec<Value> = self
            .reply
            .blocks()
            .iter()
            .map(|block| match block {
                Block::Thinking(text) => {
                    let told = if self.hides_thinking { "" } else { text.as_str() };
                    json!({"type": "thinking", "thinking": told, "signature": self.signer.sign(text)})
                }
                Block::Text(text) => json!({"type": "text", "text": text}),
                Block::Call(call) => {
                    let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
                    json!({"type": "tool_use", "id": ids.next(), "name": call.name, "input": input})
                }
            })
            .collect();
        let written = self.end.as_ref().map_or(0, |end| end.stats.emitted);
        let reason = self.end.as_ref().map(|end| &end.reason);
        let mut message = self.message(content, reason, self.usage(written));
        if let Some(end) = &self.end {
            message["foretoken"] = foretoken(end, &self.reply);
        }
        message
    }
}

fn stop_reason(reason: &EndReason) -> &'static str {
    match reason {
        EndReason::Done => "end_turn",
        EndReason::Calls => "tool_use",
        EndReason::StopText(_) => "stop_sequence",
        EndReason::Length => "max_tokens",
        EndReason::ContextFull => "model_context_window_exceeded",
    }
}

/// Why there is no answer to the request of this name.
pub(crate) fn error_body(error: &ApiError, request: &str) -> Value {
    let mut body = error_of(error);
    body["request_id"] = request.into();
    body
}

fn error_of(error: &ApiError) -> Value {
    let mut body = json!({"type": "error", "error": {"type": kind(error), "message": error.to_string()}});
    if error.field() == Some(THREAD) {
        // By this a program knows that it is to send the whole chat each time.
        let details = json!({"error_code": "thread_unsupported_request", "unsupported": [THREAD]});
        body["error"]["details"] = details;
    }
    body
}

/// The kind of an error, as Anthropic names it.
fn kind(error: &ApiError) -> &'static str {
    match error.status().as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
