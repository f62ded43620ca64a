//! A response, whole or as the events of a stream.

#[cfg(test)]
mod tests;

use foretoken_protocol::{ApiDialect, ApiStage, TokenLogprobs};
use serde_json::{Map, Value, json};

use super::items::hidden;
use super::parse::Echo;
use crate::answer::{self, Meta};
use crate::chat::chances;
use crate::content::{Content, Gathered};
use crate::custom::InputText;
use crate::error::ApiError;
use crate::figures::{foretoken, timings};
use crate::redacted::redacted;
use crate::replies::{End, EndReason, Progress};
use crate::router::random_name;
use crate::stream::named;

redacted!(Kind);

/// In how many silences the response is said to be in progress: some programs count events alone.
const SILENCES: u32 = 3;

/// Writes a response.
#[derive(Debug)]
pub(crate) struct Writer {
    id: String,
    meta: Meta,
    echo: Echo,
    reply: Gathered,
    items: Vec<Item>,
    /// Whether the last of them is being written.
    open: bool,
    /// The number of the next event.
    sequence: u64,
    silences: u32,
    /// What an item is called that ends.
    ending: &'static str,
    end: Option<End>,
}

/// A part of the output.
#[derive(Debug)]
struct Item {
    id: String,
    kind: Kind,
    /// Whether it has all that the model wants to say there.
    status: &'static str,
}

enum Kind {
    Reasoning {
        text: String,
    },
    Message {
        text: String,
        logprobs: Vec<Value>,
    },
    /// A call that the model did not bring to its end, which is none.
    Cut,
    /// `input`: where the tool takes a text, what of it is written.
    Call {
        call_id: String,
        name: String,
        arguments: String,
        input: Option<(InputText, String)>,
    },
}

impl Item {
    fn new(begin: &str, kind: Kind) -> Self {
        Self { id: random_name(begin), kind, status: "in_progress" }
    }

    fn reasoning() -> Self {
        Self::new("rs_", Kind::Reasoning { text: String::new() })
    }

    fn message() -> Self {
        Self::new("msg_", Kind::Message { text: String::new(), logprobs: Vec::new() })
    }

    fn is_reasoning(&self) -> bool {
        matches!(self.kind, Kind::Reasoning { .. })
    }

    fn is_message(&self) -> bool {
        matches!(self.kind, Kind::Message { .. })
    }
}

impl Writer {
    pub(crate) fn new(meta: Meta, echo: Echo) -> Self {
        Self {
            id: random_name("resp_"),
            meta,
            echo,
            reply: Gathered::default(),
            items: Vec::new(),
            open: false,
            sequence: 0,
            silences: 0,
            ending: "completed",
            end: None,
        }
    }

    /// An event with its number.
    fn event(&mut self, kind: &str, fields: Value, out: &mut String) {
        let kind = format!("response.{kind}");
        let mut event = Map::from_iter([
            ("type".to_owned(), kind.as_str().into()),
            ("sequence_number".to_owned(), self.sequence.into()),
        ]);
        if let Value::Object(fields) = fields {
            event.extend(fields);
        }
        self.sequence += 1;
        self.silences = 0;
        named(out, &kind, &event.into());
    }

    /// An event of the item that is being written.
    fn of_item(&mut self, kind: &str, fields: Value, out: &mut String) {
        let Some(item) = self.items.last() else { return };
        let mut event = json!({"item_id": item.id, "output_index": self.items.len() - 1});
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        self.event(kind, event, out);
    }

    /// The response as it stands.
    fn response(&self, status: &str) -> Value {
        let mut response = self.meta.head(&self.id, "response");
        response.shift_remove("created");
        response.insert("created_at".into(), self.meta.created.into());
        let fields = json!({
            "status": status, "error": null, "incomplete_details": null, "instructions": null,
            "max_output_tokens": null, "metadata": {}, "output": [], "parallel_tool_calls": true,
            "previous_response_id": null, "reasoning": {"effort": null, "summary": null}, "store": false,
            "temperature": null, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [],
            "top_p": null, "truncation": "disabled", "usage": null, "user": null,
        });
        if let Value::Object(fields) = fields {
            response.extend(fields);
        }
        response.extend(self.echo.fields.clone());
        response.into()
    }

    /// That there is a response, once.
    fn start(&mut self, out: &mut String) {
        if self.sequence == 0 {
            for kind in ["created", "in_progress"] {
                let response = self.response("in_progress");
                self.event(kind, json!({"response": response}), out);
            }
        }
    }

    fn item(&self, item: &Item) -> Value {
        let Item { id, kind, status } = item;
        match kind {
            Kind::Cut => Value::Null,
            Kind::Reasoning { text } => {
                let (summary, content) = if text.is_empty() {
                    (json!([]), json!([]))
                } else {
                    (json!([{"type": "summary_text", "text": text}]), json!([reasoning_text(text)]))
                };
                let mut item = json!({
                    "id": id, "type": "reasoning", "summary": summary, "content": content, "status": status,
                });
                if self.echo.hidden_thinking && *status != "in_progress" {
                    item["encrypted_content"] = hidden(text).into();
                }
                item
            }
            Kind::Message { text, logprobs } => {
                let is_new = *status == "in_progress" && text.is_empty();
                let content = if is_new { json!([]) } else { json!([output_text(text, logprobs)]) };
                json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content})
            }
            Kind::Call { call_id, name, arguments, input } => {
                let known = self.echo.names.get(name);
                let own = known.map_or(name, |known| &known.name);
                let mut item = match input {
                    Some((_, input)) => json!({
                        "id": id, "type": "custom_tool_call", "status": status, "call_id": call_id, "name": own,
                        "input": input,
                    }),
                    None => json!({
                        "id": id, "type": "function_call", "status": status, "call_id": call_id, "name": own,
                        "arguments": arguments,
                    }),
                };
                if let Some(namespace) = known.and_then(|known| known.namespace.as_ref()) {
                    item["namespace"] = namespace.as_str().into();
                }
                item
            }
        }
    }

    fn contents(&mut self, contents: &[Content], logprobs: &[TokenLogprobs], out: &mut String) {
        let mut chances = match (self.echo.logprobs, chances(logprobs)["content"].take()) {
            (true, Value::Array(chances)) => chances,
            _ => Vec::new(),
        };
        for content in contents {
            self.reply.add(content);
            match content {
                Content::Thinking(text) => {
                    self.open(Item::is_reasoning, Item::reasoning, out);
                    self.thinking(text, out);
                }
                Content::Answer(text) => {
                    self.open(Item::is_message, Item::message, out);
                    self.text(text, std::mem::take(&mut chances), out);
                }
                Content::Call { name } => {
                    self.close(out);
                    let is_custom = self.echo.names.customs.has(name);
                    let kind = Kind::Call {
                        call_id: random_name("call_"),
                        name: name.clone(),
                        arguments: String::new(),
                        input: is_custom.then(Default::default),
                    };
                    let begin = if is_custom { "ctc_" } else { "fc_" };
                    self.open(|_| false, || Item::new(begin, kind), out);
                }
                Content::Arguments(json) => self.arguments(json, out),
                Content::CallEnd { cut: None, .. } => self.close(out),
                Content::CallEnd { cut: Some(written), .. } => {
                    // Half a call is none: its events have no end, and what there is of it is text.
                    self.open = false;
                    if let Some(item) = self.items.last_mut() {
                        item.kind = Kind::Cut;
                    }
                    self.open(Item::is_message, Item::message, out);
                    self.text(written, Vec::new(), out);
                }
            }
        }
    }

    /// Begins an item, unless one of its kind is being written.
    fn open(&mut self, is_same: impl Fn(&Item) -> bool, new: impl FnOnce() -> Item, out: &mut String) {
        if self.open && self.items.last().is_some_and(is_same) {
            return;
        }
        self.close(out);
        self.items.push(new());
        self.open = true;
        let Some(item) = self.items.last() else { return };
        let added = json!({"output_index": self.items.len() - 1, "item": self.item(item)});
        let (is_reasoning, is_message) = (item.is_reasoning(), item.is_message());
        self.event("output_item.added", added, out);
        if is_reasoning {
            // Programs that gather a response put the deltas into the part that was added before.
            let part = reasoning_text("");
            self.of_item("content_part.added", json!({"content_index": 0, "part": part}), out);
            let part = json!({"type": "summary_text", "text": ""});
            self.of_item("reasoning_summary_part.added", json!({"summary_index": 0, "part": part}), out);
        } else if is_message {
            let part = output_text("", &[]);
            self.of_item("content_part.added", json!({"content_index": 0, "part": part}), out);
        }
    }

    fn thinking(&mut self, more: &str, out: &mut String) {
        if let Some(Item { kind: Kind::Reasoning { text }, .. }) = self.items.last_mut() {
            text.push_str(more);
        }
        self.of_item("reasoning_text.delta", json!({"content_index": 0, "delta": more}), out);
        self.of_item("reasoning_summary_text.delta", json!({"summary_index": 0, "delta": more}), out);
    }

    fn text(&mut self, more: &str, chances: Vec<Value>, out: &mut String) {
        let delta = json!({"content_index": 0, "delta": more, "logprobs": chances});
        if let Some(Item { kind: Kind::Message { text, logprobs }, .. }) = self.items.last_mut() {
            text.push_str(more);
            logprobs.extend(chances);
        }
        self.of_item("output_text.delta", delta, out);
    }

    fn arguments(&mut self, json: &str, out: &mut String) {
        let Some(Item { kind: Kind::Call { arguments, input, .. }, .. }) = self.items.last_mut() else {
            return;
        };
        arguments.push_str(json);
        match input {
            Some((reader, input)) => {
                let more = reader.push(json);
                input.push_str(&more);
                if !more.is_empty() {
                    self.of_item("custom_tool_call_input.delta", json!({"delta": more}), out);
                }
            }
            None => self.of_item("function_call_arguments.delta", json!({"delta": json}), out),
        }
    }

    /// Ends the item that is being written: all of it is told once more, and programs count on that.
    fn close(&mut self, out: &mut String) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let ending = self.ending;
        let Some(item) = self.items.last_mut() else { return };
        item.status = ending;
        let Some(item) = self.items.last() else { return };
        let done: Vec<(&str, Value)> = match &item.kind {
            Kind::Reasoning { text } => vec![
                ("reasoning_text.done", json!({"content_index": 0, "text": text})),
                ("content_part.done", json!({"content_index": 0, "part": reasoning_text(text)})),
                ("reasoning_summary_text.done", json!({"summary_index": 0, "text": text})),
                (
                    "reasoning_summary_part.done",
                    json!({"summary_index": 0, "part": {"type": "summary_text", "text": text}}),
                ),
            ],
            Kind::Message { text, logprobs } => vec![
                ("output_text.done", json!({"content_index": 0, "text": text, "logprobs": logprobs})),
                ("content_part.done", json!({"content_index": 0, "part": output_text(text, logprobs)})),
            ],
            Kind::Cut => Vec::new(),
            Kind::Call { input: Some((_, input)), .. } => {
                vec![("custom_tool_call_input.done", json!({"input": input}))]
            }
            Kind::Call { arguments, name, .. } => {
                let own = self.echo.names.get(name).map_or(name, |known| &known.name);
                vec![("function_call_arguments.done", json!({"name": own, "arguments": arguments}))]
            }
        };
        let whole = json!({"output_index": self.items.len() - 1, "item": self.item(item)});
        for (kind, fields) in done {
            self.of_item(kind, fields, out);
        }
        self.event("output_item.done", whole, out);
    }

    /// All items as they stand.
    fn output(&self) -> Value {
        let whole = self.items.iter().filter(|item| !matches!(item.kind, Kind::Cut));
        whole.map(|item| self.item(item)).collect()
    }

    /// The response once it has ended, and how.
    fn ended(&self) -> (Value, &'static str) {
        let status = self.ending;
        let mut response = self.response(status);
        response["output"] = self.output();
        if status == "incomplete" {
            response["incomplete_details"] = json!({"reason": "max_output_tokens"});
        }
        if let Some(end) = &self.end {
            response["usage"] = usage(end);
            response["timings"] = timings(&end.stats);
            response["foretoken"] = foretoken(end, &self.reply);
        }
        (response, status)
    }
}

fn reasoning_text(text: &str) -> Value {
    json!({"type": "reasoning_text", "text": text})
}

fn output_text(text: &str, logprobs: &[Value]) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs})
}

fn usage(end: &End) -> Value {
    let stats = &end.stats;
    json!({
        "input_tokens": stats.prompt_tokens,
        "input_tokens_details": {"cached_tokens": stats.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": stats.emitted,
        "output_tokens_details": {"reasoning_tokens": stats.thinking.emitted},
        "total_tokens": stats.prompt_tokens + stats.emitted,
    })
}

impl answer::Writer for Writer {
    const DIALECT: ApiDialect = ApiDialect::Responses;

    fn begin(&mut self, out: &mut String) {
        self.start(out);
    }

    fn progress(&mut self, _index: usize, progress: Progress, out: &mut String) {
        match progress {
            Progress::Begun(_) => {}
            Progress::Step(step) => self.contents(&step.contents, &step.logprobs, out),
            Progress::End(end) => {
                if matches!(end.reason, EndReason::Length | EndReason::ContextFull) {
                    self.ending = "incomplete";
                }
                self.contents(&end.contents, &[], out);
                self.close(out);
                self.end = Some(end);
            }
        }
    }

    fn end(&mut self, out: &mut String) {
        let (response, status) = self.ended();
        self.event(status, json!({"response": response}), out);
    }

    fn fail(&mut self, error: &ApiError, out: &mut String) {
        self.start(out);
        let mut response = self.response("failed");
        let code = error.kind_and_code().1;
        response["error"] = json!({"code": code, "message": error.to_string()});
        self.event("failed", json!({"response": response}), out);
    }

    fn keep_alive(&mut self, _stage: ApiStage, out: &mut String) {
        self.silences += 1;
        if self.silences < SILENCES {
            return out.push_str(": keep-alive\n\n");
        }
        if self.sequence == 0 {
            return self.start(out);
        }
        let mut response = self.response("in_progress");
        // Programs put it in the place of what they have gathered.
        response["output"] = self.output();
        self.event("in_progress", json!({"response": response}), out);
    }

    fn whole(&mut self) -> Value {
        self.ended().0
    }
}
