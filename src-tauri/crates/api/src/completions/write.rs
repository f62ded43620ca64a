//! A completion, whole or as the events of a stream.

#[cfg(test)]
mod tests;

use foretoken_protocol::{ApiDialect, TokenLogprobs};
use serde_json::{Map, Value, json};

use crate::answer::{self, Meta};
use crate::chat::{error_body, finite};
use crate::content::{Content, Gathered};
use crate::error::ApiError;
use crate::figures::{figures, foretoken, timings};
use crate::redacted::redacted;
use crate::replies::{End, EndReason, Progress};
use crate::router::random_name;
use crate::stream::data;

redacted!(Choice);

/// What an answer is to tell besides its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The use of tokens at the end of a stream.
    pub(crate) include_usage: bool,
    /// How likely each token was.
    pub(crate) logprobs: bool,
}

/// Writes a completion.
#[derive(Debug)]
pub(crate) struct Writer {
    id: String,
    meta: Meta,
    options: Options,
    choices: Vec<Choice>,
}

#[derive(Default)]
struct Choice {
    reply: Gathered,
    /// Characters of its text.
    length: usize,
    logprobs: Vec<TokenLogprobs>,
    end: Option<End>,
}

impl Writer {
    /// For so many replies.
    pub(crate) fn new(meta: Meta, options: Options, choices: usize) -> Self {
        let choices = std::iter::repeat_with(Choice::default).take(choices).collect();
        Self { id: random_name("cmpl-"), meta, options, choices }
    }

    fn add(&mut self, index: usize, contents: &[Content], logprobs: Vec<TokenLogprobs>, out: &mut String) {
        let Some(choice) = self.choices.get_mut(index) else { return };
        let mut added = Gathered::default();
        for content in contents {
            added.add(content);
            choice.reply.add(content);
        }
        let (text, before) = (added.text(), choice.length);
        choice.length += text.chars().count();
        if text.is_empty() && (logprobs.is_empty() || !self.options.logprobs) {
            return;
        }
        let chances = self.options.logprobs.then(|| chances(&logprobs, before));
        choice.logprobs.extend(logprobs);
        data(out, &self.chunk(index, &text, chances, None));
    }

    fn chunk(&self, index: usize, text: &str, chances: Option<Value>, ended: Option<&EndReason>) -> Value {
        let mut event = self.meta.head(&self.id, "text_completion");
        event.insert("choices".into(), json!([choice(index, text, chances, ended)]));
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
    const DIALECT: ApiDialect = ApiDialect::Completions;

    fn begin(&mut self, _out: &mut String) {}

    fn progress(&mut self, index: usize, progress: Progress, out: &mut String) {
        match progress {
            Progress::Begun(_) => {}
            Progress::Step(step) => self.add(index, &step.contents, step.logprobs, out),
            Progress::End(end) => {
                self.add(index, &end.contents, Vec::new(), out);
                let mut event = self.chunk(index, "", None, Some(&end.reason));
                let Some(choice) = self.choices.get_mut(index) else { return };
                if !self.options.include_usage {
                    event["timings"] = timings(&end.stats);
                    event["foretoken"] = foretoken(&end, &choice.reply);
                }
                choice.end = Some(end);
                data(out, &event);
            }
        }
    }

    fn end(&mut self, out: &mut String) {
        if self.options.include_usage {
            let mut event = self.meta.head(&self.id, "text_completion");
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
        let written = self.choices.iter().enumerate().map(|(index, one)| {
            let chances = self.options.logprobs.then(|| chances(&one.logprobs, 0));
            choice(index, &one.reply.text(), chances, one.end.as_ref().map(|end| &end.reason))
        });
        let mut answer = self.meta.head(&self.id, "text_completion");
        answer.insert("choices".into(), written.collect());
        answer.extend(self.figures());
        answer.into()
    }
}

fn choice(index: usize, text: &str, chances: Option<Value>, ended: Option<&EndReason>) -> Value {
    let reason = ended.map(|reason| match reason {
        EndReason::Length | EndReason::ContextFull => "length",
        EndReason::Done | EndReason::Calls | EndReason::StopText(_) => "stop",
    });
    json!({"index": index, "text": text, "logprobs": chances, "finish_reason": reason})
}

/// How likely tokens were, in the form of the older dialect: lists that run beside each other. `offset`: characters of
/// text before them.
fn chances(logprobs: &[TokenLogprobs], mut offset: usize) -> Value {
    let mut offsets = Vec::with_capacity(logprobs.len());
    for TokenLogprobs { token, .. } in logprobs {
        offsets.push(offset);
        offset += token.text.chars().count();
    }
    let top = |one: &TokenLogprobs| -> Value {
        let entries = one.top.iter().map(|top| (top.text.clone(), finite(f64::from(top.logprob)).into()));
        entries.collect::<Map<_, _>>().into()
    };
    json!({
        "tokens": logprobs.iter().map(|one| &one.token.text).collect::<Vec<_>>(),
        "token_logprobs": logprobs.iter().map(|one| finite(f64::from(one.token.logprob))).collect::<Vec<_>>(),
        "top_logprobs": logprobs.iter().map(top).collect::<Vec<_>>(),
        "text_offset": offsets,
    })
}
