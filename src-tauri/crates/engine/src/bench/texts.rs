//! What is decoded: the answers to a few questions of each kind, as people ask them.

use foretoken_protocol::{ChatMessage, TextKind};

use crate::decode::{HeadInput, PromptPicture};
use crate::error::EngineError;
use crate::session::{Session, TokenPrompt};

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
    /// This one. With pictures it is decoded twice: the MTP head reads their features, and then placeholders.
    One(Box<ChatMessage>),
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
    pub(super) prompts: Vec<Prompt>,
    /// What the MTP head reads of pictures, where there are some.
    pub(super) head_input: Option<HeadInput>,
}

/// Tokens and the pictures among them.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    pub(super) ids: Vec<u32>,
    pub(super) pictures: Vec<PromptPicture>,
}

impl Prompt {
    pub(super) fn plain(ids: Vec<u32>) -> Self {
        Self { ids, pictures: Vec::new() }
    }
}

impl Text {
    pub(super) fn first_prompt(&self) -> Self {
        Self { prompts: self.prompts[..1].to_vec(), ..*self }
    }
}

impl Questions {
    /// As the model reads them.
    pub(super) fn texts(&self, session: &mut Session) -> Result<Vec<Text>, EngineError> {
        let mut prompt = |question: ChatMessage| -> Result<Prompt, EngineError> {
            let TokenPrompt { ids, pictures, .. } = session.chat_prompt(&[question], None, false)?;
            Ok(Prompt { ids, pictures: session.look_up(pictures)? })
        };
        match self {
            Self::One(question) => {
                let prompt = prompt((**question).clone())?;
                let ways: &[HeadInput] = match prompt.pictures.is_empty() {
                    true => {
                        return Ok(vec![Text {
                            kind: TextKind::Any,
                            prompts: vec![prompt],
                            head_input: None,
                        }]);
                    }
                    false => &[HeadInput::Features, HeadInput::Placeholders],
                };
                Ok(ways.iter().map(|&way| seen_by_the_head(&prompt, way)).collect())
            }
            Self::Kinds(kinds) => {
                let text = |&kind| {
                    let questions = questions_of(kind).iter().map(|&question| ChatMessage::user(question));
                    let prompts = questions.map(&mut prompt).collect::<Result<_, EngineError>>()?;
                    Ok(Text { kind, prompts, head_input: None })
                };
                kinds.iter().map(text).collect()
            }
        }
    }
}

/// The prompt with pictures of which the MTP head reads so much.
fn seen_by_the_head(prompt: &Prompt, head_input: HeadInput) -> Text {
    let mut prompt = prompt.clone();
    for picture in &mut prompt.pictures {
        picture.head_input = head_input;
        // What is stored of one way is not what the other would have stored.
        picture.key ^= u32::from(head_input == HeadInput::Placeholders) << 31;
    }
    Text { kind: TextKind::Any, prompts: vec![prompt], head_input: Some(head_input) }
}

fn questions_of(kind: TextKind) -> &'static [&'static str] {
    match kind {
        TextKind::Prose => &PROSE,
        TextKind::Code => &CODE,
        TextKind::Any => &PROSE[..1],
    }
}
