//! What a program asks the model for, whatever dialect it speaks.

use foretoken_calls::Tools;
use foretoken_protocol::{AcceptanceRule, Constraint, Drafting, GenerationSettings, Input, Thinking};

use crate::pictures::Pictures;
use crate::redacted::redacted;

redacted!(Ask, AskedSettings);

/// A request for replies.
#[derive(Clone, PartialEq)]
pub(crate) struct Ask {
    /// The model, as the program names it.
    pub(crate) model: String,
    /// What the replies are written behind.
    pub(crate) input: Input,
    /// The pictures in that, until it is known which model is shown them.
    pub(crate) pictures: Pictures,
    /// The tools that they may call.
    pub(crate) tools: Tools,
    /// How to write the replies, as far as the program says.
    pub(crate) settings: AskedSettings,
    /// Tell how likely each token was, and this many most likely ones in its place.
    pub(crate) logprobs: Option<u32>,
    /// How many replies, 1 to [`MOST_CHOICES`].
    pub(crate) choices: u8,
}

impl Ask {
    /// Whether each reply may call one tool only.
    pub(crate) fn one_call(&self) -> bool {
        matches!(&self.input, Input::Chat(chat) if chat.one_call)
    }
}

/// The most replies to one request.
pub(crate) const MOST_CHOICES: u8 = 4;

/// The settings that a request names. What is `None` is as the model or the person who owns the machine has it.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct AskedSettings {
    pub(crate) temperature: Option<f32>,
    pub(crate) top_p: Option<f32>,
    pub(crate) top_k: Option<u32>,
    pub(crate) min_p: Option<f32>,
    pub(crate) xtc_probability: Option<f32>,
    pub(crate) xtc_threshold: Option<f32>,
    pub(crate) repetition_penalty: Option<f32>,
    pub(crate) presence_penalty: Option<f32>,
    pub(crate) frequency_penalty: Option<f32>,
    pub(crate) seed: Option<u64>,
    /// The texts at which the answer ends; the thinking and its tags may have them.
    pub(crate) stop: Vec<String>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) thinking: Option<bool>,
    pub(crate) drafting: Option<Drafting>,
    /// The field that names who is to draft, where one does: whoever names a drafter wants to hear that it is not
    /// there.
    pub(crate) names_drafter: Option<String>,
    pub(crate) acceptance: Option<AcceptanceRule>,
    /// Whether other programs come first; people always do.
    pub(crate) in_background: bool,
    /// Whether what is read for it may be kept on disk.
    pub(crate) remember: bool,
    /// What binds the replies.
    pub(crate) constraint: Constraint,
    /// What the program predicts of the replies.
    pub(crate) prediction: Option<String>,
}

impl AskedSettings {
    /// `settings` with what is asked for. Stop texts are the request's alone.
    pub(crate) fn applied_to(&self, settings: GenerationSettings) -> GenerationSettings {
        let GenerationSettings { mut sampling, drafting, max_tokens, thinking, stop: _ } = settings;
        fn set<T: Copy>(setting: &mut T, asked: Option<T>) {
            *setting = asked.unwrap_or(*setting);
        }
        set(&mut sampling.temperature, self.temperature);
        set(&mut sampling.top_p, self.top_p);
        set(&mut sampling.top_k, self.top_k);
        set(&mut sampling.min_p, self.min_p);
        set(&mut sampling.xtc_probability, self.xtc_probability);
        set(&mut sampling.xtc_threshold, self.xtc_threshold);
        set(&mut sampling.repetition_penalty, self.repetition_penalty);
        set(&mut sampling.presence_penalty, self.presence_penalty);
        set(&mut sampling.frequency_penalty, self.frequency_penalty);
        set(&mut sampling.acceptance, self.acceptance);
        sampling.seed = self.seed;
        GenerationSettings {
            sampling,
            drafting: self.drafting.unwrap_or(drafting),
            max_tokens: self.max_tokens.unwrap_or(max_tokens),
            thinking: self.thinking.map_or(thinking, Thinking::from),
            stop: self.stop.clone(),
        }
    }
}
