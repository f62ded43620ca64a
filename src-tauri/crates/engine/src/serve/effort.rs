//! How much a model is to think: its template is asked where it knows of an effort, or else the thinking has a budget.

use foretoken_protocol::{GenerationSettings, Input, Part, Thinking};

use crate::text::TokenPrompt;

/// What was asked of a reply's thinking.
pub(super) struct Effort {
    thinking: Thinking,
    /// Whether the template was asked for an effort.
    told: bool,
    max_tokens: u32,
    /// The tokens that the model can read and write in all.
    context: u32,
}

impl Effort {
    /// Asks the template of a model that can read `context` tokens for the effort, if it `knows` of that and nobody has
    /// asked it for another one.
    pub(super) fn ask(input: &mut Input, settings: &GenerationSettings, knows: bool, context: u32) -> Self {
        if let (Input::Chat(chat), true) = (input, knows) {
            let effort = &mut chat.template.reasoning_effort;
            *effort = effort.take().or(settings.thinking.effort().map(str::to_owned));
        }
        Self { thinking: settings.thinking, told: knows, max_tokens: settings.max_tokens, context }
    }

    /// The most tokens of thinking behind `prompt`; `None` where it does not begin with any, or as many as it takes.
    pub(super) fn budget(&self, prompt: &TokenPrompt) -> Option<u32> {
        if prompt.start.part != Part::Thinking {
            return None;
        }
        let room = self.context.saturating_sub(prompt.ids.len() as u32).min(self.max_tokens);
        self.thinking.budget(self.told, room)
    }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{ChatInput, ChatMessage, Drafting, Sampling, TemplateOptions};

    use super::*;
    use crate::text::{PLAIN_TEXT, ReplyStart};

    fn settings(thinking: Thinking) -> GenerationSettings {
        let (sampling, drafting) = (Sampling::default(), Drafting::Off);
        GenerationSettings { sampling, drafting, max_tokens: 800, thinking, stop: Vec::new() }
    }

    fn chat(effort: Option<&str>) -> Input {
        let template = TemplateOptions { reasoning_effort: effort.map(str::to_owned), ..Default::default() };
        Input::Chat(ChatInput { messages: vec![ChatMessage::user("Hi")], template, ..ChatInput::default() })
    }

    fn effort_of(input: &Input) -> Option<&str> {
        let Input::Chat(chat) = input else { return None };
        chat.template.reasoning_effort.as_deref()
    }

    #[test]
    fn a_template_that_knows_of_an_effort_is_told_and_others_have_a_budget() {
        let thinks = TokenPrompt {
            start: ReplyStart { part: Part::Thinking, resumed: false },
            ..TokenPrompt::plain(vec![1; 100])
        };
        let answers = TokenPrompt { start: PLAIN_TEXT, ..thinks.clone() };
        for (knows, thinking, own, told, budget) in [
            (false, Thinking::Brief, None, None, Some(200)),
            (true, Thinking::Brief, None, Some("low"), None),
            (true, Thinking::Brief, Some("max"), Some("max"), None),
            (true, Thinking::Long, None, Some("high"), None),
            (false, Thinking::Long, None, None, None),
            (true, Thinking::Normal, None, None, None),
            (false, Thinking::Off, None, None, Some(0)),
            (true, Thinking::Tokens { tokens: 5000 }, None, None, Some(5000)),
        ] {
            let mut input = chat(own);
            let effort = Effort::ask(&mut input, &settings(thinking), knows, 4096);
            assert_eq!((effort_of(&input), effort.budget(&thinks)), (told, budget), "{thinking:?} {knows}");
            assert_eq!(effort.budget(&answers), None);
        }
        let mut input = chat(None);
        let effort = Effort::ask(&mut input, &settings(Thinking::Brief), false, 180);
        assert_eq!(effort.budget(&thinks), Some(20), "the answer has room too");
    }
}
