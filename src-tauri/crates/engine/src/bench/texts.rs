//! What is decoded: the answers to a few questions of each kind, as people ask them.

use foretoken_protocol::{ChatMessage, TextKind};

use crate::error::EngineError;
use crate::session::Session;

/// A story, a letter and an explanation.
const PROSE: [&str; 3] = [
    "Tell me a story about an owl and a bell.",
    "Write a letter to my landlord: the heating in the bedroom has been broken for two weeks.",
    "Explain why the sky is blue and the evening sky is red.",
];

/// A function, a test and a change to a file. The answer to the last one repeats most of its question.
const CODE: [&str; 3] = [
    "Write a Python function that returns the longest run of equal characters in a string. Code alone.",
    "Write a pytest test for a function `slug(title)` that joins the words of a title with hyphens. Code alone.",
    "Rename `Order` to `Basket` and `add` to `put` in this file. Answer with the whole changed file alone.\n\n\
     ```python\n\
     class Order:\n    \
         def __init__(self) -> None:\n        \
             self.items: dict[str, int] = {}\n\n    \
         def add(self, name: str, count: int = 1) -> None:\n        \
             self.items[name] = self.items.get(name, 0) + count\n\n    \
         def count(self) -> int:\n        \
             return sum(self.items.values())\n\
     ```",
];

/// What decoding continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Questions {
    /// Those of each of these kinds of text.
    Kinds(Vec<TextKind>),
    /// This one.
    One(String),
}

impl Default for Questions {
    fn default() -> Self {
        Self::Kinds(vec![TextKind::Prose, TextKind::Code])
    }
}

/// A kind of text, and the prompts that decoding continues for it.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) kind: TextKind,
    pub(super) prompts: Vec<Vec<u32>>,
}

impl Text {
    pub(super) fn first_prompt(&self) -> Self {
        Self { kind: self.kind, prompts: self.prompts[..1].to_vec() }
    }
}

impl Questions {
    /// As the model reads them.
    pub(super) fn texts(&self, session: &Session) -> Result<Vec<Text>, EngineError> {
        let text = |kind, questions: &[&str]| {
            let prompts = questions.iter().map(|&question| {
                let question = ChatMessage::user(question);
                Ok(session.chat_prompt(&[question], None, false)?.ids)
            });
            Ok(Text { kind, prompts: prompts.collect::<Result<_, EngineError>>()? })
        };
        match self {
            Self::One(question) => Ok(vec![text(TextKind::Any, &[question])?]),
            Self::Kinds(kinds) => kinds.iter().map(|&kind| text(kind, questions_of(kind))).collect(),
        }
    }
}

fn questions_of(kind: TextKind) -> &'static [&'static str] {
    match kind {
        TextKind::Prose => &PROSE,
        TextKind::Code => &CODE,
        TextKind::Any => &PROSE[..1],
    }
}
