//! What the demo model answers to questions of its corpus.

use std::ops::ControlFlow;

use foretoken_engine::session::{ReplyRequest, Session};
use foretoken_protocol::{ChatMessage, Drafting, GenerationSettings, Sampling, Thinking};

use crate::fixtures::demo_model;

/// Questions with the demo model's replies to them, at temperature 1 by this seed: as many as it takes to have so many
/// tokens, or all.
pub fn demo_replies(questions: &mut impl Iterator<Item = String>, seed: u64, tokens: usize) -> Vec<Vec<u32>> {
    let mut session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let mut texts: Vec<Vec<u32>> = Vec::new();
    while texts.iter().map(Vec::len).sum::<usize>() < tokens {
        let Some(question) = questions.next() else { break };
        let prompt = session.chat_prompt(&[ChatMessage::user(question)], None, false).unwrap();
        let settings = GenerationSettings {
            sampling: Sampling { temperature: 1.0, seed: Some(seed), ..Sampling::default() },
            drafting: Drafting::Fixed { depth: 2 },
            max_tokens: 100,
            thinking: Thinking::Off,
            stop: Vec::new(),
        };
        let mut ids = prompt.ids.clone();
        let request = ReplyRequest::new(prompt, settings);
        ids.extend(session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap().ids);
        texts.push(ids);
    }
    texts
}
