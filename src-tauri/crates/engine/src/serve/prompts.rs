//! Makes prompts from the inputs of `Generate` requests, each on a thread of its own, so that rendering and tokenizing
//! a long chat holds up no reply that is being decoded. The prompts are handed over in the order of the requests.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use foretoken_protocol::{GenerationSettings, Priority, RequestId, StopScope};

use super::next_turn::Turn;
use crate::constrain::Constraint;
use crate::error::EngineError;
use crate::session::Calls;
use crate::text::TokenPrompt;

/// A request for a reply, without its input.
pub(super) struct Asked {
    pub(super) id: RequestId,
    pub(super) settings: GenerationSettings,
    pub(super) logprobs: Option<u32>,
    pub(super) stop_scope: StopScope,
    pub(super) calls: Calls,
    pub(super) priority: Priority,
    pub(super) remember: Option<u64>,
    pub(super) at: Instant,
    /// Where a person will go on with it.
    pub(super) turn: Option<Turn>,
}

/// What a reply is written behind, and what binds it.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) prompt: TokenPrompt,
    pub(super) constraint: Option<Constraint>,
    /// Tools that must be called, and whose schemas cannot be enforced.
    pub(super) unbound_tools: Vec<String>,
    /// What is predicted of the reply.
    pub(super) prediction: Option<Arc<[u32]>>,
}

/// What became of an input.
pub(super) type Prepared = Result<Made, EngineError>;

/// The stack of a thread that makes a prompt: grammars are compiled rule within rule.
const STACK: usize = 32 << 20;

/// Names a prompt that is being prepared. Other than a request's name it never comes again, so that a prompt which
/// comes too late is nobody else's.
pub(super) type Ticket = u64;

/// Requests whose prompts are being made, in the order in which they came. One that is ready waits for those before it.
#[derive(Default)]
pub(super) struct Preparing {
    queue: VecDeque<Entry>,
    tickets: Ticket,
}

struct Entry {
    ticket: Ticket,
    asked: Asked,
    prompt: Option<Prepared>,
}

impl Preparing {
    /// Makes a prompt on a thread of its own: a long chat or a large grammar takes seconds, for which no reply should
    /// stand still. `make` is told whether the model thinks first; `send` gets what it made, for [`Self::ready`].
    pub(super) fn begin(
        &mut self,
        asked: Asked,
        make: impl FnOnce(bool) -> Prepared + Send + 'static,
        send: impl FnOnce(Ticket, Prepared) + Send + 'static,
    ) -> io::Result<()> {
        let (ticket, thinking) = (self.tickets, asked.settings.thinking.is_on());
        thread::Builder::new().name("prompt".into()).stack_size(STACK).spawn(move || {
            // Whoever waits for the answer must have one.
            send(
                ticket,
                catch_unwind(AssertUnwindSafe(|| make(thinking))).unwrap_or_else(|_| Err(not_prepared())),
            );
        })?;
        self.push(asked);
        Ok(())
    }

    fn push(&mut self, asked: Asked) -> Ticket {
        let ticket = self.tickets;
        self.tickets += 1;
        self.queue.push_back(Entry { ticket, asked, prompt: None });
        ticket
    }

    /// A prompt has been made. That of a request which was cancelled is dropped.
    pub(super) fn ready(&mut self, ticket: Ticket, prompt: Prepared) {
        if let Some(entry) = self.queue.iter_mut().find(|entry| entry.ticket == ticket) {
            entry.prompt = Some(prompt);
        }
    }

    /// Takes the first request if its prompt has been made.
    pub(super) fn take_ready(&mut self) -> Option<(Asked, Prepared)> {
        let entry = self.queue.pop_front_if(|entry| entry.prompt.is_some())?;
        Some((entry.asked, entry.prompt?))
    }

    /// Drops requests, and names those that there were.
    pub(super) fn cancel(&mut self, ids: &[RequestId]) -> Vec<RequestId> {
        let (gone, kept): (VecDeque<Entry>, _) =
            std::mem::take(&mut self.queue).into_iter().partition(|entry| ids.contains(&entry.asked.id));
        self.queue = kept;
        gone.iter().map(|entry| entry.asked.id).collect()
    }

    /// The requests, in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = RequestId> {
        self.queue.iter().map(|entry| entry.asked.id)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// Why a request has no prompt where nothing says more.
pub(super) fn not_prepared() -> EngineError {
    EngineError::Request {
        code: "not_prepared",
        message: "The chat could not be read.".into(),
        hint: "Shorten the question or its files and ask again.",
    }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{Drafting, Sampling, Thinking};

    use super::*;

    fn asked(id: RequestId) -> Asked {
        let settings = GenerationSettings {
            sampling: Sampling::default(),
            drafting: Drafting::Off,
            max_tokens: 1,
            thinking: Thinking::Off,
            stop: Vec::new(),
        };
        let (stop_scope, calls) = (StopScope::All, Calls::None);
        Asked {
            id,
            settings,
            logprobs: None,
            stop_scope,
            calls,
            priority: Priority::default(),
            remember: None,
            at: Instant::now(),
            turn: None,
        }
    }

    fn prompt(token: u32) -> Prepared {
        let prompt = TokenPrompt::plain(vec![token]);
        Ok(Made { prompt, constraint: None, unbound_tools: Vec::new(), prediction: None })
    }

    fn taken(preparing: &mut Preparing) -> Vec<(RequestId, u32)> {
        let next = || preparing.take_ready().map(|(asked, prompt)| (asked.id, prompt.unwrap().prompt.ids[0]));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn requests_leave_in_the_order_in_which_they_came() {
        let mut preparing = Preparing::default();
        let tickets: Vec<Ticket> = [5, 3, 9, 4].map(|id| preparing.push(asked(id))).into();
        preparing.ready(tickets[2], prompt(2));
        preparing.ready(tickets[1], prompt(1));
        assert_eq!(taken(&mut preparing), []);
        preparing.ready(tickets[0], prompt(0));
        assert_eq!(taken(&mut preparing), [(5, 0), (3, 1), (9, 2)]);
        preparing.ready(tickets[3], prompt(3));
        assert_eq!(taken(&mut preparing), [(4, 3)]);
        assert!(preparing.is_empty());
    }

    #[test]
    fn what_is_cancelled_holds_nobody_up_and_its_prompt_is_nobodys() {
        let mut preparing = Preparing::default();
        let first = preparing.push(asked(1));
        let second = preparing.push(asked(2));
        preparing.ready(second, prompt(22));
        assert_eq!(preparing.cancel(&[7, 1]), [1]);
        assert_eq!(taken(&mut preparing), [(2, 22)]);
        let again = preparing.push(asked(1));
        preparing.ready(first, prompt(11));
        assert_eq!(taken(&mut preparing), []);
        preparing.ready(again, prompt(12));
        assert_eq!(taken(&mut preparing), [(1, 12)]);
    }
}
