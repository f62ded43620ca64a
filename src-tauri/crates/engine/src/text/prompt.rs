use foretoken_protocol::{ChatMessage, Part, PartialReply};

use super::{ChatTemplate, ReplyStart, TextError};

/// The token that the templates of the family begin every message with.
pub const MESSAGE_START: &str = "<|im_start|>";

/// What the model is given to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The text, special tokens written out.
    pub text: String,
    /// Where what the model writes begins.
    pub start: ReplyStart,
}

/// What the template has written of the reply's thinking block.
enum Block {
    None,
    Open,
    Closed,
}

/// Renders a chat up to where the reply begins, or to the end of a reply that is to be continued.
pub fn render_prompt(
    template: &ChatTemplate,
    messages: &[ChatMessage],
    resume: Option<&PartialReply>,
    thinking: bool,
) -> Result<Prompt, TextError> {
    let mut text = template.render(messages, thinking)?;
    let nothing = PartialReply::default();
    let written = resume.unwrap_or(&nothing);
    let mut block = block_at_end(&text);
    // The model opens the block itself where the template does not. Where the template has closed it, thinking
    // was switched off since, and what was thought is left out.
    if matches!(block, Block::None) && !written.thinking.is_empty() {
        text.push_str("<think>\n");
        block = Block::Open;
    }
    let start = if matches!(block, Block::Open) {
        text.push_str(&written.thinking);
        if written.answer.is_empty() && !written.thought_through {
            ReplyStart { part: Part::Thinking, resumed: !written.thinking.is_empty() }
        } else {
            text.push_str("\n</think>\n\n");
            ReplyStart { part: Part::Answer, resumed: !written.answer.is_empty() }
        }
    } else {
        ReplyStart { part: Part::Answer, resumed: !written.answer.is_empty() }
    };
    text.push_str(&written.answer);
    Ok(Prompt { text, start })
}

/// Only the end is looked at: a message may write about the tags.
fn block_at_end(prompt: &str) -> Block {
    let prompt = prompt.trim_end();
    if prompt.ends_with("<think>") {
        Block::Open
    } else if prompt.ends_with("</think>") {
        Block::Closed
    } else {
        Block::None
    }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::Role;

    use super::super::testing::demo;
    use super::*;

    const QUESTION: &str = "<|im_start|>user\nHi <think><|im_end|>\n<|im_start|>assistant\n";

    fn prompt(template: &ChatTemplate, resume: Option<(&str, &str)>, thinking: bool) -> (String, Part, bool) {
        let messages = [ChatMessage { role: Role::User, content: "Hi <think>".into() }];
        let resume = resume.map(|(thinking, answer)| PartialReply {
            thinking: thinking.into(),
            answer: answer.into(),
            thought_through: false,
        });
        let prompt = render_prompt(template, &messages, resume.as_ref(), thinking).unwrap();
        let reply = prompt.text.strip_prefix(QUESTION).unwrap().to_owned();
        (reply, prompt.start.part, prompt.start.resumed)
    }

    fn expected(text: &str, part: Part, resumed: bool) -> (String, Part, bool) {
        (text.to_owned(), part, resumed)
    }

    #[test]
    fn a_new_reply_starts_where_the_template_ends() {
        let demo = ChatTemplate::load(demo()).unwrap();
        assert_eq!(prompt(&demo, None, true), expected("<think>\n", Part::Thinking, false));
        assert_eq!(prompt(&demo, None, false), expected("<think>\n\n</think>\n\n", Part::Answer, false));
        let empty = Some(("", ""));
        assert_eq!(prompt(&demo, empty, true), prompt(&demo, None, true));
        assert_eq!(prompt(&demo, empty, false), prompt(&demo, None, false));
    }

    #[test]
    fn a_resumed_reply_is_appended_as_it_was_written() {
        let demo = ChatTemplate::load(demo()).unwrap();
        let thought = Some(("One.\n\nTw", ""));
        assert_eq!(prompt(&demo, thought, true), expected("<think>\nOne.\n\nTw", Part::Thinking, true));
        let both = Some(("One.", "Yes,"));
        let written = "<think>\nOne.\n</think>\n\nYes,";
        assert_eq!(prompt(&demo, both, true), expected(written, Part::Answer, true));
        let answer = Some(("", "Yes,"));
        assert_eq!(prompt(&demo, answer, true), expected("<think>\n\n</think>\n\nYes,", Part::Answer, true));
        assert_eq!(prompt(&demo, answer, false), expected("<think>\n\n</think>\n\nYes,", Part::Answer, true));
        assert_eq!(prompt(&demo, both, false), expected("<think>\n\n</think>\n\nYes,", Part::Answer, true));
        assert_eq!(prompt(&demo, thought, false), expected("<think>\n\n</think>\n\n", Part::Answer, false));
    }

    #[test]
    fn thinking_that_is_over_is_closed_before_the_answer() {
        let demo = ChatTemplate::load(demo()).unwrap();
        let messages = [ChatMessage { role: Role::User, content: "Hi".into() }];
        let ended = |thinking: &str, switch: bool| {
            let resume =
                PartialReply { thinking: thinking.into(), answer: String::new(), thought_through: true };
            let prompt = render_prompt(&demo, &messages, Some(&resume), switch).unwrap();
            let reply = prompt.text.rsplit_once("assistant\n").unwrap().1.to_owned();
            (reply, prompt.start)
        };
        let start = ReplyStart { part: Part::Answer, resumed: false };
        assert_eq!(ended("One.", true), ("<think>\nOne.\n</think>\n\n".to_owned(), start));
        assert_eq!(ended("", true), ("<think>\n\n</think>\n\n".to_owned(), start));
        assert_eq!(ended("One.", false), ("<think>\n\n</think>\n\n".to_owned(), start));
    }

    #[test]
    fn a_template_without_blocks_leaves_them_to_the_model() {
        let dir = tempfile::tempdir().unwrap();
        let source = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
                      <|im_start|>assistant\n\n";
        std::fs::write(dir.path().join("chat_template.jinja"), source).unwrap();
        let plain = ChatTemplate::load(dir.path()).unwrap();
        assert_eq!(prompt(&plain, None, true), expected("", Part::Answer, false));
        assert_eq!(prompt(&plain, Some(("", "Yes,")), true), expected("Yes,", Part::Answer, true));
        let written = "<think>\nOne.\n</think>\n\nYes,";
        assert_eq!(prompt(&plain, Some(("One.", "Yes,")), true), expected(written, Part::Answer, true));
        assert_eq!(prompt(&plain, Some(("One.", "")), true), expected("<think>\nOne.", Part::Thinking, true));
    }
}
