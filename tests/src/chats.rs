//! Chats as templates write them, of ordinary tokens of the small random model.

use crate::rng::Rng;

/// Begins every message.
pub const START: u32 = 1000;
const END: u32 = 1001;
const USER: u32 = 1002;
const ASSISTANT: u32 = 1003;
const THINK: u32 = 1004;

/// What a template does to a reply when the chat goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// Replies stay as they were written.
    Keeps,
    /// The reply is asked to begin with a thought, and earlier replies are written out without the mark of one, so what
    /// follows a question is another text than was read and written then.
    DropsThoughts,
}

/// Messages: a system prompt, then questions and replies in turn, the last a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    template: Template,
    messages: Vec<Vec<u32>>,
}

impl Chat {
    /// A first question under a system prompt.
    pub fn new(template: Template, system: Vec<u32>, question: Vec<u32>) -> Self {
        Self { template, messages: vec![system, question] }
    }

    /// Goes on with a reply and the next question.
    pub fn goes_on(&mut self, reply: &[u32], question: Vec<u32>) {
        self.messages.extend([reply.to_vec(), question]);
    }

    /// Asks another question in the place of one, and forgets what followed it. Returns how many tokens of the prompt
    /// stay the same: all before the question.
    pub fn edits(&mut self, rng: &mut Rng, question: Vec<u32>) -> usize {
        let which = 1 + 2 * rng.below(self.messages.len() / 2);
        self.messages.truncate(which);
        let before: usize = (0..which).map(|i| self.message(i).len()).sum();
        self.messages.push(question);
        before
    }

    /// What the model reads, and where messages begin in it.
    pub fn prompt(&self) -> (Vec<u32>, Vec<usize>) {
        let mut tokens: Vec<u32> = (0..self.messages.len()).flat_map(|i| self.message(i)).collect();
        tokens.extend([START, ASSISTANT]);
        if self.template == Template::DropsThoughts {
            tokens.push(THINK);
        }
        let message_starts = (0..tokens.len()).filter(|&position| tokens[position] == START).collect();
        (tokens, message_starts)
    }

    /// Tokens before the reply's beginning.
    pub fn question_end(&self) -> usize {
        (0..self.messages.len()).map(|i| self.message(i).len()).sum()
    }

    fn message(&self, which: usize) -> Vec<u32> {
        let role = [USER, ASSISTANT][usize::from(which > 0 && which.is_multiple_of(2))];
        [&[START, role], self.messages[which].as_slice(), &[END]].concat()
    }
}
