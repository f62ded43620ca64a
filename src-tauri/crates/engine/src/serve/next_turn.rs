//! What a person's chat will be read from when it goes on: the template drops the thinking of turns that were answered,
//! so that every next turn reads the last answer again. It is read while the person reads it too.

use std::thread;

use foretoken_protocol::{ChatInput, FinishReason, Input, Part, Priority, RequestId, TokenText};

use super::{InboxMessage, Server};
use crate::machine;

/// A chat that is being answered.
pub(super) struct Turn {
    chat: ChatInput,
    thinking: bool,
    /// What the person sees of the answer.
    answer: String,
    /// Whose what is read of it is, where that is kept on disk.
    remember: Option<u64>,
}

impl Turn {
    /// That of a request for a reply, where a person will go on with it.
    pub(super) fn of(
        input: &Input,
        priority: Priority,
        thinking: bool,
        remember: Option<u64>,
    ) -> Option<Self> {
        match input {
            Input::Chat(chat) if priority == Priority::Interactive && chat.resume.is_none() => {
                Some(Self { chat: chat.clone(), thinking, answer: String::new(), remember })
            }
            _ => None,
        }
    }
}

impl Server {
    /// Takes note of what was written of a reply.
    pub(super) fn answered(&mut self, id: RequestId, tokens: &[TokenText]) {
        if let Some(turn) = self.turns.get_mut(&id) {
            let answer = tokens.iter().filter(|token| token.part == Part::Answer);
            answer.for_each(|token| turn.answer += &token.text);
        }
    }

    /// Has a thread find out what the next prompt of a chat will begin with, if this machine can spare the energy to
    /// read it.
    pub(super) fn prepare_next_turn(&mut self, id: RequestId, reason: FinishReason) {
        let Some(Turn { chat, thinking, answer, remember }) = self.turns.remove(&id) else { return };
        // After a call the turn goes on, as the template has it now.
        let calls = !chat.tools.is_empty() && answer.contains(foretoken_calls::CALL);
        let is_answered =
            reason != FinishReason::Cancelled && !answer.is_empty() && !calls && !self.inbox.closed;
        let Some(session) = self.session.as_ref().filter(|_| is_answered) else { return };
        let Some(start) = session.message_start() else { return };
        let (prompter, found) = (session.prompter().clone(), self.found.clone());
        let generation = self.generation;
        // Without the thread the next turn takes a little longer.
        let _ = thread::Builder::new().name("next turn".into()).spawn(move || {
            if machine::may_spend_energy()
                && let Ok(Some(prompt)) = prompter.next_turn(&chat, &answer, thinking, start)
            {
                let _ = found.send(InboxMessage::NextTurn(generation, prompt, remember));
            }
        });
    }
}
