//! The answer to a request for a chat completion, whole or as the events of a stream.

#[cfg(test)]
mod tests;

use foretoken_protocol::{ApiDialect, TokenLogprob, TokenLogprobs, TokenText};
use serde_json::{Value, json};

use crate::answer::{self, Meta};
use crate::content::{Call, Content, Gathered};
use crate::custom::{Customs, InputText};
use crate::error::ApiError;
use crate::figures::{figures, foretoken, timings};
use crate::redacted::redacted;
use crate::replies::{End, EndReason, Progress, Step};
use crate::router::random_name;
use crate::stream::data;

redacted!(Choice);

/// What an answer is to tell besides its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The use of tokens at the end of a stream.
    pub(crate) include_usage: bool,
    /// Of each token in a stream whether it was drafted.
    pub(crate) trace: bool,
    /// How likely each token was.
    pub(crate) logprobs: bool,
}

/// Writes an answer.
#[derive(Debug)]
pub(crate) struct Writer {
    id: String,
    meta: Meta,
    options: Options,
    customs: Customs,
    choices: Vec<Choice>,
}

/// One of the replies to a request.
#[derive(Default)]
struct Choice {
    reply: Gathered,
    logprobs: Vec<TokenLogprobs>,
    /// Its calls; the last may still be written.
    calls: Vec<WrittenCall>,
    end: Option<End>,
}

/// A call as it is told.
#[derive(Debug)]
struct WrittenCall {
    id: String,
    /// Where the tool takes a text: what reads it.
    input: Option<InputText>,
}

impl Writer {
    /// For so many replies.
    pub(crate) fn new(meta: Meta, options: Options, customs: Customs, choices: usize) -> Self {
        let choices = std::iter::repeat_with(Choice::default).take(choices).collect();
        Self { id: random_name("chatcmpl-"), meta, options, customs, choices }
    }

    /// A step has written something: an event for each stretch of one kind.
    fn step(&mut self, index: usize, step: Step, out: &mut String) {
        let Step { contents, tokens, logprobs } = step;
        let mut events = self.contents(index, &contents);
        let tells_chances = self.options.logprobs && !logprobs.is_empty();
        if events.is_empty() && (tells_chances || self.options.trace) {
            // Where a token came from and how likely it was is told of one without text, too.
            events.push(self.chunk(index, json!({"content": ""}), None));
        }
        if let Some(event) = events.last_mut() {
            if self.options.trace {
                let traced = |token: &TokenText| json!([token.text, token.draft_position]);
                let tokens: Vec<Value> = tokens.iter().map(traced).collect();
                event["foretoken"] = json!({"tokens": tokens});
            }
            if tells_chances {
                event["choices"][0]["logprobs"] = chances(&logprobs);
            }
        }
        events.iter().for_each(|event| data(out, event));
        if let Some(choice) = self.choices.get_mut(index) {
            choice.logprobs.extend(logprobs);
        }
    }

    /// The events of more content.
    fn contents(&mut self, index: usize, contents: &[Content]) -> Vec<Value> {
        let mut events = Vec::new();
        for content in contents {
            let Some(choice) = self.choices.get_mut(index) else { continue };
            choice.reply.add(content);
            let delta = match content {
                Content::Thinking(text) => json!({"reasoning_content": text, "reasoning": text}),
                Content::Answer(text) => json!({"content": text}),
                Content::Call { name } => {
                    let (at, id) = (choice.calls.len(), random_name("call_"));
                    let input = self.customs.has(name).then(InputText::default);
                    let mut call =
                        call(&id, name, if input.is_some() { Said::Input("") } else { Said::Arguments("") });
                    call["index"] = at.into();
                    choice.calls.push(WrittenCall { id, input });
                    json!({"tool_calls": [call]})
                }
                // Neither id nor name come again: some clients would take them for those of another call.
                Content::Arguments(json) => {
                    let at = choice.calls.len().saturating_sub(1);
                    match choice.calls.last_mut().and_then(|call| call.input.as_mut()) {
                        None => json!({"tool_calls": [{"index": at, "function": {"arguments": json}}]}),
                        Some(input) => match input.push(json) {
                            more if more.is_empty() => continue,
                            more => json!({"tool_calls": [{"index": at, "custom": {"input": more}}]}),
                        },
                    }
                }
                Content::CallEnd { .. } => continue,
            };
            events.push(self.chunk(index, delta, None));
        }
        events
    }

    fn finished(&mut self, index: usize, end: End, out: &mut String) {
        self.contents(index, &end.contents).iter().for_each(|event| data(out, event));
        let mut event = self.chunk(index, json!({}), Some(&end.reason));
        let Some(choice) = self.choices.get_mut(index) else { return };
        if !self.options.include_usage {
            event["timings"] = timings(&end.stats);
            event["foretoken"] = foretoken(&end, &choice.reply);
        }
        choice.end = Some(end);
        data(out, &event);
    }

    fn chunk(&self, index: usize, delta: Value, ended: Option<&EndReason>) -> Value {
        let choice = json!({
            "index": index, "delta": delta, "logprobs": null, "finish_reason": ended.map(reason),
        });
        let mut event = self.meta.head(&self.id, "chat.completion.chunk");
        event.insert("choices".into(), json!([choice]));
        if self.options.include_usage {
            event.insert("usage".into(), Value::Null);
        }
        event.into()
    }

    fn figures(&self) -> [(String, Value); 3] {
        figures(self.choices.iter().filter_map(|choice| Some((choice.end.as_ref()?, &choice.reply))))
    }
}

impl answer::Writer for Writer {
    const DIALECT: ApiDialect = ApiDialect::Chat;

    fn begin(&mut self, out: &mut String) {
        for index in 0..self.choices.len() {
            data(out, &self.chunk(index, json!({"role": "assistant", "content": ""}), None));
        }
    }

    fn progress(&mut self, index: usize, progress: Progress, out: &mut String) {
        match progress {
            Progress::Begun(_) => {}
            Progress::Step(step) => self.step(index, step, out),
            Progress::End(end) => self.finished(index, end, out),
        }
    }

    fn end(&mut self, out: &mut String) {
        if self.options.include_usage {
            let mut event = self.meta.head(&self.id, "chat.completion.chunk");
            event.insert("choices".into(), json!([]));
            event.extend(self.figures());
            data(out, &event.into());
        }
        out.push_str("data: [DONE]\n\n");
    }

    fn fail(&mut self, error: &ApiError, out: &mut String) {
        data(out, &error_body(error));
    }

    fn whole(&mut self) -> Value {
        let written = self.choices.iter().enumerate().map(|(index, choice)| {
            json!({
                "index": index,
                "message": message(choice),
                "logprobs": self.options.logprobs.then(|| chances(&choice.logprobs)),
                "finish_reason": choice.end.as_ref().map(|end| reason(&end.reason)),
            })
        });
        let mut answer = self.meta.head(&self.id, "chat.completion");
        answer.insert("choices".into(), written.collect());
        answer.extend(self.figures());
        answer.into()
    }
}

fn message(choice: &Choice) -> Value {
    let (thinking, text) = (choice.reply.thinking(), choice.reply.text());
    let written = choice.reply.calls().zip(&choice.calls);
    let calls: Vec<Value> = written
        .map(|(Call { name, arguments }, WrittenCall { id, input })| match input {
            None => call(id, name, Said::Arguments(arguments)),
            Some(_) => call(id, name, Said::Input(&InputText::default().push(arguments))),
        })
        .collect();
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({"role": "assistant", "content": content, "refusal": null});
    if !thinking.is_empty() {
        message["reasoning_content"] = thinking.as_str().into();
        message["reasoning"] = thinking.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

/// What a tool is called with: JSON, or a text.
enum Said<'a> {
    Arguments(&'a str),
    Input(&'a str),
}

fn call(id: &str, name: &str, said: Said<'_>) -> Value {
    match said {
        Said::Arguments(json) => {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": json}})
        }
        Said::Input(text) => json!({"id": id, "type": "custom", "custom": {"name": name, "input": text}}),
    }
}

/// Why there is no answer.
pub(crate) fn error_body(error: &ApiError) -> Value {
    let (kind, code) = error.kind_and_code();
    json!({"error": {"message": error.to_string(), "type": kind, "param": error.field(), "code": code}})
}

fn reason(reason: &EndReason) -> &'static str {
    match reason {
        EndReason::Length | EndReason::ContextFull => "length",
        EndReason::Calls => "tool_calls",
        EndReason::Done | EndReason::StopText(_) => "stop",
    }
}

/// How likely tokens were, as chat completions tell it.
pub(crate) fn chances(logprobs: &[TokenLogprobs]) -> Value {
    let content: Vec<Value> = logprobs
        .iter()
        .map(|TokenLogprobs { token, top }| {
            let mut entry = chance(token);
            entry["top_logprobs"] = top.iter().map(chance).collect();
            entry
        })
        .collect();
    json!({"content": content, "refusal": null})
}

fn chance(token: &TokenLogprob) -> Value {
    let TokenLogprob { text, bytes, logprob, .. } = token;
    json!({"token": text, "logprob": finite(f64::from(*logprob)), "bytes": bytes})
}

/// A number that JSON can say; a chance of nothing at all is OpenAI's -9999.
pub(crate) fn finite(logprob: f64) -> f64 {
    if logprob.is_finite() { logprob } else { -9999.0 }
}
