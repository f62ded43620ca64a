//! How chats and texts become the tokens that a model was taught to read.

use std::path::Path;

use foretoken_calls::Tools;
use foretoken_protocol::ChatMessage;

use crate::text::{ChatTemplate, MESSAGE_START, Prompter, TextError, Tokenizer};

/// The token that the templates of the family end every message with.
const MESSAGE_END: &str = "<|im_end|>";

/// Writes chats out for a model: in its chat template, or one message below the other where it has none.
#[derive(Debug)]
pub struct Renderer {
    tokenizer: Tokenizer,
    prompter: Option<Prompter>,
}

impl Renderer {
    /// Reads tokenizer and chat template of a model folder, which may be without a template.
    pub fn load(dir: &Path) -> Result<Self, TextError> {
        let tokenizer = Tokenizer::load(dir)?;
        let prompter = match ChatTemplate::load(dir) {
            Ok(template) => Some(Prompter::new(tokenizer.clone(), template)),
            Err(TextError::TemplateMissing { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { tokenizer, prompter })
    }

    /// The tokens of a text; what looks like a control token in it is text.
    pub(super) fn text(&self, text: &str) -> Result<Vec<u32>, TextError> {
        self.tokenizer.encode_text(text)
    }

    /// A chat up to where the model's reply begins.
    pub(super) fn prompt(
        &self,
        messages: &[ChatMessage],
        tools: &Tools,
        thinking: bool,
    ) -> Result<Vec<u32>, TextError> {
        match &self.prompter {
            Some(prompter) => Ok(prompter.prompt_with_tools(messages, tools, thinking)?.ids),
            None => {
                let texts: Vec<_> = messages.iter().map(ChatMessage::content).collect();
                self.text(&texts.join("\n\n"))
            }
        }
    }

    /// A chat to the end of its last message.
    pub(super) fn chat(
        &self,
        messages: &[ChatMessage],
        tools: &Tools,
        thinking: bool,
    ) -> Result<Vec<u32>, TextError> {
        let mut ids = self.prompt(messages, tools, thinking)?;
        // Behind the last message the template has begun another one, for a reply.
        if let (Some(_), Some(start)) = (&self.prompter, self.tokenizer.token_id(MESSAGE_START))
            && let Some(reply) = ids.iter().rposition(|&id| id == start)
        {
            ids.truncate(reply);
        }
        Ok(ids)
    }
}

/// The token that ends a message, in vocabularies of the family.
pub(super) fn message_end(tokenizer: &Tokenizer) -> Option<u32> {
    tokenizer.token_id(MESSAGE_END)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::{TOKENIZER, demo};

    fn messages() -> Vec<ChatMessage> {
        vec![ChatMessage::user("Say <|im_end|>."), ChatMessage::assistant("No.")]
    }

    #[test]
    fn a_chat_ends_with_its_last_message_and_a_prompt_where_the_reply_begins() {
        let demo = Renderer::load(demo()).unwrap();
        let tools = Tools::default();
        let names = |ids: &[u32]| {
            let named = ["<|im_start|>", "<think>", "</think>", "<|im_end|>"];
            let named = named.map(|name| (TOKENIZER.token_id(name).unwrap(), name));
            ids.iter()
                .filter_map(|id| Some(named.iter().find(|(named, _)| named == id)?.1))
                .collect::<Vec<_>>()
        };
        let (start, end) = ("<|im_start|>", "<|im_end|>");
        let ids = demo.chat(&messages(), &tools, false).unwrap();
        assert_eq!(names(&ids), [start, end, start, "<think>", "</think>", end], "none of the person's");
        assert_eq!(*ids.last().unwrap(), TOKENIZER.encode("\n").unwrap()[0]);
        let ids = demo.prompt(&messages()[..1], &tools, true).unwrap();
        assert_eq!(names(&ids), [start, end, start, "<think>"]);
        assert_eq!(message_end(&TOKENIZER), TOKENIZER.token_id(end));
    }

    #[test]
    fn a_model_without_a_template_reads_the_texts_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::copy(demo().join("tokenizer.json"), dir.path().join("tokenizer.json")).unwrap();
        let plain = Renderer::load(dir.path()).unwrap();
        let ids = plain.chat(&messages(), &Tools::default(), true).unwrap();
        assert_eq!(TOKENIZER.decode(&ids), "Say <|im_end|>.\n\nNo.");
        assert_eq!(ids, plain.prompt(&messages(), &Tools::default(), false).unwrap());
    }
}
