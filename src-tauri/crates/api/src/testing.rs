//! Replies for the tests of those who write answers.

use foretoken_calls::Tools;
use foretoken_protocol::{
    Part, PartStats, PositionStats, ReplyStats, TokenLogprob, TokenLogprobs, TokenText,
};
use serde_json::{Value, json};

use crate::answer::{Meta, Writer};
use crate::content::Reader;
use crate::replies::{End, EndReason, Progress, PromptSize, Step};

pub(crate) const SIZE: PromptSize = PromptSize { tokens: 9, cached: 4 };

/// A call of the tool of [`tools`].
pub(crate) const CALL: &str = "<tool_call>\n<function=f>\n<parameter=text>\na\n</parameter>\n<parameter=count>\n5\n\
                               </parameter>\n</function>\n</tool_call>";

pub(crate) fn meta() -> Meta {
    Meta { request: "req_1".into(), created: 9, model: "m".into(), fingerprint: "f".into() }
}

pub(crate) fn stats() -> ReplyStats {
    ReplyStats {
        prompt_tokens: 9,
        cached_tokens: 4,
        emitted: 3,
        steps: 2,
        tokens_per_pass: 1.5,
        tokens_per_second: 50.0,
        prefill_seconds: 0.5,
        decode_seconds: 0.06,
        seed: 7,
        positions: vec![PositionStats { drafted: 2, accepted: 1 }, PositionStats { drafted: 1, accepted: 1 }],
        thinking: PartStats { emitted: 1, ..PartStats::default() },
        ..ReplyStats::default()
    }
}

pub(crate) fn tools() -> Tools {
    let properties = json!({"text": {"type": "string"}, "count": {"type": "integer"}});
    let function = json!({"name": "f", "parameters": {"type": "object", "properties": properties}});
    Tools::new(vec![json!({"type": "function", "function": function})]).unwrap()
}

pub(crate) fn token(part: Part, text: &str) -> TokenText {
    TokenText { text: text.into(), part, draft_position: None }
}

pub(crate) fn logprobs(text: &str) -> TokenLogprobs {
    let token = TokenLogprob { id: 1, text: text.into(), bytes: text.into(), logprob: -0.5 };
    TokenLogprobs { token: token.clone(), top: vec![token] }
}

/// What happens to a reply that is written in these steps.
pub(crate) fn happens(tools: &Tools, steps: &[Vec<TokenText>], reason: EndReason) -> Vec<Progress> {
    let mut reader = Reader::new(tools);
    let mut all = vec![Progress::Begun(SIZE)];
    all.extend(steps.iter().map(|tokens| {
        let contents = reader.tokens(tokens);
        Progress::Step(Step { contents, tokens: tokens.clone(), logprobs: Vec::new() })
    }));
    let (contents, stats) = (reader.finish(), Box::new(stats()));
    let warnings = reader.warnings().to_vec();
    all.push(Progress::End(End { contents, reason, stats, warnings, queue_ms: 3 }));
    all
}

/// All that a stream says, and the whole answer.
pub(crate) fn written(mut writer: impl Writer, happens: Vec<Progress>) -> (String, Value) {
    let mut out = String::new();
    writer.begin(&mut out);
    happens.into_iter().for_each(|progress| writer.progress(0, progress, &mut out));
    writer.end(&mut out);
    (out, writer.whole())
}

/// The events of a stream: their names, if they have one, and data; `[DONE]` is a string.
pub(crate) fn events(stream: &str) -> Vec<(Option<&str>, Value)> {
    stream
        .split_terminator("\n\n")
        .map(|event| {
            let (name, data) = match event.split_once('\n') {
                Some((name, data)) => (name.strip_prefix("event: "), data),
                None => (None, event),
            };
            let data = data.strip_prefix("data: ").unwrap_or_else(|| panic!("{event:?}"));
            (name, serde_json::from_str(data).unwrap_or_else(|_| data.into()))
        })
        .collect()
}
