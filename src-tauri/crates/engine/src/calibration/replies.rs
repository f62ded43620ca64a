//! What the model itself answers to the program's prompts: text of its own kind, thinking included.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use foretoken_protocol::{AcceptanceRule, Drafting, FinishReason, GenerationSettings, Sampling};

use super::prompts::{Prompt, prompts};
use super::renderer::message_end;
use super::{Document, Source, Texts, digest};
use crate::error::EngineError;
use crate::session::{Calls, Progress, ReplyId, ReplyRequest, Session};
use crate::text::TextError;

/// Prompts of the program, of which each is answered.
pub const REPLY_PROMPTS: usize = 96;
/// Replies that are written at a time.
pub const REPLY_ROWS: usize = 8;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Replies that are finished.
    pub replies: usize,
    /// Replies in all.
    pub of: usize,
    /// Tokens of all replies so far.
    pub tokens: usize,
}

/// Has the model answer the program's prompts, each with `max_tokens` tokens at most, drawn at temperature 1 from the
/// 20 likeliest. Returns each prompt with its reply. The same seed gives the same replies.
///
/// `observe` is told after each step how far it is, and can end it. There must be no other replies in the making.
/// Prompts with tools are left out where the model's template knows none.
pub fn own_replies(
    session: &mut Session,
    seed: u64,
    max_tokens: u32,
    observe: &mut dyn FnMut(Written) -> ControlFlow<()>,
) -> Result<Texts, EngineError> {
    let requests = requests(session, seed, max_tokens)?;
    Ok(Texts::of_replies(write(session, requests, observe)?, seed, max_tokens))
}

impl Texts {
    /// Replies with their prompts, as [`own_replies`] has had them written.
    pub fn of_replies(documents: Vec<Document>, seed: u64, max_tokens: u32) -> Self {
        let all: Vec<u32> = documents.iter().flat_map(|document| &document.ids).copied().collect();
        let sha256 = digest::digits(&digest::of_tokens(&all));
        Self { source: Source::Replies { seed, max_tokens }, sha256, documents }
    }
}

/// Has all requests answered; the prompts with their replies, in the order of the requests.
fn write(
    session: &mut Session,
    requests: Vec<ReplyRequest>,
    observe: &mut dyn FnMut(Written) -> ControlFlow<()>,
) -> Result<Vec<Document>, EngineError> {
    let (mut documents, mut begun) = (BTreeMap::new(), BTreeMap::new());
    let mut written = Written { replies: 0, of: requests.len(), tokens: 0 };
    let end = message_end(session.tokenizer());
    let mut waiting = (0..).zip(requests);
    loop {
        let free = REPLY_ROWS - begun.len();
        for (id, request) in waiting.by_ref().take(free) {
            let prompt = request.prompt.ids.clone();
            if let Err(error) = session.submit(id, request) {
                give_up(session, &begun);
                return Err(error);
            }
            begun.insert(id, prompt);
        }
        if begun.is_empty() {
            break;
        }
        for (id, progress) in session.pump() {
            match progress {
                Progress::Tokens { tokens, .. } => written.tokens += tokens.len(),
                Progress::Finished(reply) => {
                    let mut ids = begun.remove(&id).unwrap_or_default();
                    ids.extend(&reply.ids);
                    ids.extend(end.filter(|_| reply.reason == FinishReason::Stop));
                    documents.insert(id, Document { ids, place: id as usize + 1 });
                    written.replies += 1;
                }
                Progress::Failed(error) => {
                    begun.remove(&id);
                    give_up(session, &begun);
                    return Err(error);
                }
                Progress::Waiting { .. }
                | Progress::Reading { .. }
                | Progress::Looking(_)
                | Progress::Rest(_) => {}
            }
        }
        if observe(written).is_break() {
            give_up(session, &begun);
            return Err(EngineError::Cancelled);
        }
    }
    Ok(documents.into_values().collect())
}

/// What is to be asked, in the order of the prompts.
fn requests(session: &Session, seed: u64, max_tokens: u32) -> Result<Vec<ReplyRequest>, EngineError> {
    let mut requests = Vec::new();
    for (number, Prompt { thinking, tools, messages, .. }) in (0..).zip(prompts()?) {
        let sampling = Sampling {
            temperature: 1.0,
            top_k: 20,
            // The same text on a machine whose rounding depends on how much it does at a time.
            acceptance: AcceptanceRule::Strict,
            seed: Some(seed.wrapping_add(number)),
            ..Sampling::default()
        };
        let settings = GenerationSettings {
            sampling,
            drafting: Drafting::default(),
            max_tokens,
            thinking: thinking.into(),
            stop: Vec::new(),
        };
        match session.chat_prompt_with_tools(&messages, &tools, thinking) {
            Ok(prompt) => {
                let calls = if tools.is_empty() { Calls::None } else { Calls::Any };
                requests.push(ReplyRequest { calls, ..ReplyRequest::new(prompt, settings) });
            }
            Err(EngineError::Text(TextError::TemplateWithoutTools | TextError::TemplateWithOtherCalls)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(requests)
}

fn give_up(session: &mut Session, begun: &BTreeMap<ReplyId, Vec<u32>>) {
    let ids: Vec<ReplyId> = begun.keys().copied().collect();
    session.cancel(&ids);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::demo;

    fn session() -> Session {
        Session::load(demo(), &mut |_, _| ControlFlow::Continue(())).unwrap()
    }

    #[test]
    fn replies_follow_their_prompts_and_their_seed() {
        // More than are written at a time, some with tools.
        const PROMPTS: std::ops::Range<usize> = 25..35;
        const MOST: u32 = 8;
        let mut session = session();
        let mut steps = Vec::new();
        let mut documents = |seed| {
            let mut requests = requests(&session, seed, MOST).unwrap();
            assert_eq!(requests.len(), REPLY_PROMPTS);
            let requests = requests.drain(PROMPTS).collect();
            let documents = write(&mut session, requests, &mut |written| {
                steps.push(written);
                ControlFlow::Continue(())
            });
            assert!(session.is_idle());
            documents.unwrap()
        };
        let written = documents(7);
        assert_eq!(written, documents(7));
        assert_ne!(written, documents(8));
        assert_eq!(written.len(), PROMPTS.len());
        let end = message_end(session.tokenizer()).unwrap();
        let mut all = 0;
        for (prompt, document) in prompts().unwrap()[PROMPTS].iter().zip(&written) {
            let asked = session.chat_prompt_with_tools(&prompt.messages, &prompt.tools, prompt.thinking);
            let reply = document.ids.strip_prefix(&asked.unwrap().ids[..]).expect("the prompt comes first");
            let own = reply.len() - usize::from(reply.last() == Some(&end));
            assert!(!reply[..own].contains(&end));
            assert!(own == MOST as usize || own < reply.len(), "{own} tokens and no end");
            all += own;
        }
        let last = steps.iter().find(|written| written.replies == PROMPTS.len()).unwrap();
        assert_eq!(*last, Written { replies: PROMPTS.len(), of: PROMPTS.len(), tokens: all });
    }

    #[test]
    fn whoever_observes_can_end_it_and_nothing_goes_on() {
        let mut session = session();
        let result = own_replies(&mut session, 1, 50, &mut |written| {
            if written.tokens > 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(result, Err(EngineError::Cancelled)));
        assert!(session.is_idle());
        assert!(session.pump().is_empty());
    }
}
