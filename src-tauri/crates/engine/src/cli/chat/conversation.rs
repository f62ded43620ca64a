//! A chat with a loaded model: its messages, how replies are written, and what the last one took.

use std::ops::ControlFlow;

use foretoken_engine::EngineError;
use foretoken_engine::session::{Progress, Reply, ReplyRequest, Session, invalid_setting};
use foretoken_protocol::{ChatMessage, Drafting, GenerationSettings, Part, ReplyStats, TokenText};

use super::command::Change;

/// A chat in progress.
pub(super) struct Conversation {
    pub(super) session: Session,
    pub(super) settings: GenerationSettings,
    messages: Vec<ChatMessage>,
    /// What the replies took, those included that were not kept.
    pub(super) replies: Vec<ReplyStats>,
}

/// Why replies cannot be written like this, and what to do.
pub(super) fn invalid(settings: &GenerationSettings) -> Option<String> {
    invalid_setting(settings).map(|problem| format!("{problem} Correct the setting and try again."))
}

impl Conversation {
    pub(super) fn new(session: Session, settings: GenerationSettings) -> Self {
        Self { session, settings, messages: Vec::new(), replies: Vec::new() }
    }

    /// Asks the next question of the chat. The reply becomes part of the chat as far as it was written; a question
    /// without an answer is forgotten. `observe` may end it early.
    pub(super) fn ask(
        &mut self,
        question: &str,
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Reply, EngineError> {
        self.messages.push(ChatMessage::user(question));
        let mut answer = String::new();
        let reply = self.reply(&mut |progress| {
            answer.extend(
                texts(progress).filter(|text| text.part == Part::Answer).map(|text| text.text.as_str()),
            );
            observe(progress)
        });
        if answer.trim().is_empty() {
            self.messages.pop();
        } else {
            self.messages.push(ChatMessage::assistant(answer));
        }
        self.replies.extend(reply.as_ref().ok().map(|reply| reply.stats.clone()));
        reply
    }

    fn reply(&mut self, observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<Reply, EngineError> {
        let prompt = self.session.chat_prompt(&self.messages, None, self.settings.thinking.is_on())?;
        self.session.reply(ReplyRequest::new(prompt, self.settings.clone()), observe)
    }

    /// Questions that have an answer.
    pub(super) fn questions(&self) -> usize {
        self.messages.len() / 2
    }

    /// Begins anew, with the same settings.
    pub(super) fn forget(&mut self) {
        self.messages.clear();
        self.replies.clear();
    }

    /// Drafts so far from the next reply on, or says why that cannot be.
    pub(super) fn set_drafting(&mut self, drafting: Drafting) -> Result<(), String> {
        if self.session.model().mtp.is_none() && drafting.needs_head() {
            return Err(
                "This model has no MTP head to draft with. /mtp auto drafts from the text so far.".into()
            );
        }
        if self.session.model().draft.is_none() && drafting.needs_draft_model() {
            return Err("No draft model is loaded. Begin the chat with --draft-model and its folder.".into());
        }
        self.settings.drafting = drafting;
        Ok(())
    }

    /// Draws like this from the next reply on; with an error nothing changes.
    pub(super) fn change_sampling(&mut self, changes: &[Change]) -> Result<(), String> {
        let mut settings = self.settings.clone();
        for change in changes {
            settings.sampling = change.applied_to(settings.sampling, self.session.info.defaults)?;
        }
        match invalid(&settings) {
            Some(problem) => Err(problem),
            None => {
                self.settings = settings;
                Ok(())
            }
        }
    }
}

/// The text that came with some progress.
pub(super) fn texts(progress: &Progress) -> impl Iterator<Item = &TokenText> {
    let (tokens, rest) = match progress {
        Progress::Tokens { tokens, .. } => (&tokens[..], &[][..]),
        Progress::Rest(rest) => (&[][..], &rest[..]),
        _ => (&[][..], &[][..]),
    };
    tokens.iter().flat_map(|token| &token.text).chain(rest)
}
