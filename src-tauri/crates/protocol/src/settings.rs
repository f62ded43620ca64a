//! The settings of one reply: sampling, draft depth, rule of acceptance, limits and stop texts; and the precision of a
//! model's KV cache.

use std::hash::{BuildHasher, RandomState};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use specta::Type;

/// The deepest chain of drafts that can be asked for.
pub const MAX_DEPTH: u8 = 8;
/// The longest reply, thinking included, until the person chooses another: what Qwen recommends for most questions. The
/// model's context may end one earlier.
pub const DEFAULT_MAX_TOKENS: u32 = 32_768;
/// The longest chain of drafts that a draft model's block can be asked for.
pub const MAX_BLOCK_DEPTH: u8 = 15;
/// The highest [`Sampling::temperature`].
pub const MAX_TEMPERATURE: f32 = 100.0;
/// The highest [`Sampling::top_k`]. One that is larger than a model's vocabulary keeps all.
pub const MAX_TOP_K: u32 = u32::MAX;
/// The highest [`Sampling::xtc_threshold`]: at most one token is above a higher one, and that one stays.
pub const MAX_XTC_THRESHOLD: f32 = 0.5;

/// Who drafts how many tokens per step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Drafting {
    /// None: plain decoding, one token per pass.
    Off,
    /// The MTP head, the draft model or look-up, as many as pay on this machine, by measurement; may be none.
    #[default]
    Auto,
    /// The MTP head, as many as pay; may be none.
    Mtp,
    /// The MTP head, always this many, 1 to [`MAX_DEPTH`].
    Fixed {
        /// Drafts per step.
        depth: u8,
    },
    /// The draft model (DFlash) that was loaded with the model.
    Dflash {
        /// Drafts per step, 1 to [`MAX_BLOCK_DEPTH`], as far as a block has places; as many as pay where it says
        /// nothing.
        #[serde(default)]
        depth: Option<u8>,
    },
    /// Look-up: what followed the last tokens earlier in the text, as many as pay.
    Lookup,
}

impl Drafting {
    /// Whether nobody but the MTP head may draft.
    pub fn needs_head(self) -> bool {
        matches!(self, Self::Mtp | Self::Fixed { .. })
    }

    /// Whether nobody but the draft model may draft.
    pub fn needs_draft_model(self) -> bool {
        matches!(self, Self::Dflash { .. })
    }

    /// Whether drafts may come from the text that is there already.
    pub fn looks_up(self) -> bool {
        matches!(self, Self::Auto | Self::Lookup)
    }
}

/// When a draft of a drawn token stays. Either way every token is as likely as the model makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum AcceptanceRule {
    /// Where the model, drawing by the same seed, draws the same token: the text is that of plain decoding.
    #[default]
    Coupled,
    /// The same, and short passes are padded where a device would round otherwise in them.
    Strict,
    /// With probability min(1, p / q), p by the model and q by the head. More stay; the text depends on the drafts.
    Rejection,
}

/// In which form a model keeps what its attention remembers of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum KvPrecision {
    /// As it is computed.
    #[default]
    Full,
    /// Each number in 8 bits, with a scale and an offset for every 64 of them: about half the memory of 16 bits, and a
    /// text that may differ.
    Eight,
}

/// How the next token is drawn. Temperature 0 is greedy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct Sampling {
    /// 0 is greedy; otherwise logits are divided by it before the filters. At most [`MAX_TEMPERATURE`].
    pub temperature: f32,
    /// Keeps the smallest set of most likely tokens whose mass reaches this; 1 keeps all.
    pub top_p: f32,
    /// Keeps the k most likely tokens; 0 keeps all.
    pub top_k: u32,
    /// Keeps tokens at least this likely relative to the most likely one; 0 keeps all.
    pub min_p: f32,
    /// How often the top choices are excluded (XTC), from 0 to 1; 0 is off.
    pub xtc_probability: f32,
    /// Of the tokens likelier than this, XTC leaves the least likely one; from 0 to [`MAX_XTC_THRESHOLD`].
    pub xtc_threshold: f32,
    /// Divides positive and multiplies negative logits of tokens that the prompt or the reply has; 1 is off.
    pub repetition_penalty: f32,
    /// Subtracted once from the logit of every token that the reply has; 0 is off.
    pub presence_penalty: f32,
    /// Subtracted from a token's logit for each time that the reply has it; 0 is off.
    pub frequency_penalty: f32,
    /// When a draft stays.
    pub acceptance: AcceptanceRule,
    /// Same seed, same prompt, same settings: same text. `None` picks one and reports it.
    pub seed: Option<u64>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: 0.0,
            top_p: 1.0,
            top_k: 0,
            min_p: 0.0,
            xtc_probability: 0.0,
            xtc_threshold: 0.1,
            repetition_penalty: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            acceptance: AcceptanceRule::default(),
            seed: None,
        }
    }
}

impl Sampling {
    /// Picks a seed where none was chosen: one that survives a trip through JavaScript's numbers.
    pub fn random_seed() -> u64 {
        const BITS: u32 = 53;
        // The standard library seeds its hashers from the system's randomness.
        RandomState::new().hash_one(()) >> (u64::BITS - BITS)
    }
}

/// Who comes first where several wait. Nobody waits for ever: see the engine's scheduler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// A person looks on.
    #[default]
    Interactive,
    /// A program waits.
    Normal,
    /// Nobody waits.
    Background,
}

/// What stop texts are looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopScope {
    /// All that the model writes, its thinking and its tags included.
    #[default]
    All,
    /// The answer alone.
    Answer,
}

/// How much the model may think before it answers. It matters to models whose template has a thinking switch.
///
/// A budget is the most that a model may think: what it thinks by itself can be cut, and not made longer. So `Long`
/// asks for something only where the template knows of an effort, and is `Normal` elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Type)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Thinking {
    /// Not at all: the template switches it off.
    Off,
    /// A low effort where the template knows of that; elsewhere at most [`BRIEF_THINKING`] tokens, and a quarter of
    /// what the reply has room for.
    Brief,
    /// As much as it does by itself.
    #[default]
    Normal,
    /// A high effort where the template knows of that; elsewhere as much as it does by itself.
    Long,
    /// At most so many tokens.
    Tokens {
        /// Behind so many the thinking is ended, and the answer begins.
        tokens: u32,
    },
}

/// The most tokens of [`Thinking::Brief`].
pub const BRIEF_THINKING: u32 = 1024;

impl Thinking {
    /// Whether the model may think at all.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }

    /// The effort that a template is asked for which knows of that, in OpenAI's words.
    pub fn effort(self) -> Option<&'static str> {
        match self {
            Self::Brief => Some("low"),
            Self::Long => Some("high"),
            Self::Off | Self::Normal | Self::Tokens { .. } => None,
        }
    }

    /// The most tokens of thinking in a reply that has room for `room` tokens. `knows_effort`: whether the template has
    /// been asked for an [`effort`](Self::effort).
    pub fn budget(self, knows_effort: bool, room: u32) -> Option<u32> {
        match self {
            Self::Brief if !knows_effort => Some(BRIEF_THINKING.min(room / 4)),
            Self::Tokens { tokens } => Some(tokens),
            // Where the template has no switch, the thinking is closed as soon as it begins.
            Self::Off => Some(0),
            Self::Brief | Self::Normal | Self::Long => None,
        }
    }
}

impl From<bool> for Thinking {
    /// As a switch has it.
    fn from(on: bool) -> Self {
        if on { Self::Normal } else { Self::Off }
    }
}

impl<'de> Deserialize<'de> for Thinking {
    /// Older versions kept a switch.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Mode {
            Off,
            Brief,
            Normal,
            Long,
            Tokens,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Switch(bool),
            Choice {
                mode: Mode,
                #[serde(default)]
                tokens: Option<u32>,
            },
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Switch(on) => on.into(),
            Written::Choice { mode: Mode::Off, .. } => Self::Off,
            Written::Choice { mode: Mode::Brief, .. } => Self::Brief,
            Written::Choice { mode: Mode::Normal, .. } => Self::Normal,
            Written::Choice { mode: Mode::Long, .. } => Self::Long,
            Written::Choice { mode: Mode::Tokens, tokens } => {
                Self::Tokens { tokens: tokens.ok_or_else(|| D::Error::missing_field("tokens"))? }
            }
        })
    }
}

/// Everything that shapes one reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct GenerationSettings {
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// How many are drafted ahead.
    pub drafting: Drafting,
    /// The reply ends after this many tokens.
    pub max_tokens: u32,
    /// How much the model may think before it answers.
    pub thinking: Thinking,
    /// Texts that end the reply where they would appear; they are not part of it.
    pub stop: Vec<String>,
}

/// A change of [`GenerationSettings`]. What is `None` stays as it is, whatever became of it meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct GenerationChange {
    /// See [`GenerationSettings::sampling`].
    pub sampling: Option<Sampling>,
    /// See [`GenerationSettings::drafting`].
    pub drafting: Option<Drafting>,
    /// See [`GenerationSettings::max_tokens`].
    pub max_tokens: Option<u32>,
    /// See [`GenerationSettings::thinking`].
    pub thinking: Option<Thinking>,
    /// See [`GenerationSettings::stop`].
    pub stop: Option<Vec<String>>,
}

impl GenerationChange {
    /// The settings with the change.
    pub fn applied_to(self, settings: GenerationSettings) -> GenerationSettings {
        GenerationSettings {
            sampling: self.sampling.unwrap_or(settings.sampling),
            drafting: self.drafting.unwrap_or(settings.drafting),
            max_tokens: self.max_tokens.unwrap_or(settings.max_tokens),
            thinking: self.thinking.unwrap_or(settings.thinking),
            stop: self.stop.unwrap_or(settings.stop),
        }
    }
}

impl From<GenerationSettings> for GenerationChange {
    /// Changes everything.
    fn from(
        GenerationSettings { sampling, drafting, max_tokens, thinking, stop }: GenerationSettings,
    ) -> Self {
        Self {
            sampling: Some(sampling),
            drafting: Some(drafting),
            max_tokens: Some(max_tokens),
            thinking: Some(thinking),
            stop: Some(stop),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_switch_of_older_versions_keeps_its_meaning() {
        for (written, thinking) in [
            (json!(true), Thinking::Normal),
            (json!(false), Thinking::Off),
            (json!({"mode": "off"}), Thinking::Off),
            (json!({"mode": "brief"}), Thinking::Brief),
            (json!({"mode": "normal"}), Thinking::Normal),
            (json!({"mode": "long"}), Thinking::Long),
            (json!({"mode": "tokens", "tokens": 70}), Thinking::Tokens { tokens: 70 }),
        ] {
            assert_eq!(from_value::<Thinking>(written.clone()).unwrap(), thinking);
            assert!(written.is_boolean() || json!(thinking) == written, "{written}");
        }
        for wrong in [json!({"mode": "tokens"}), json!({"mode": "huge"}), json!("off"), json!(7)] {
            assert!(from_value::<Thinking>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer_and_is_needed_only_where_no_effort_is_known() {
        for (thinking, knows_effort, room, budget) in [
            (Thinking::Brief, false, 32_768, Some(1024)),
            (Thinking::Brief, false, 400, Some(100)),
            (Thinking::Brief, true, 400, None),
            (Thinking::Normal, false, 400, None),
            (Thinking::Long, false, 400, None),
            (Thinking::Long, true, 400, None),
            (Thinking::Tokens { tokens: 9 }, true, 4, Some(9)),
            (Thinking::Off, false, 400, Some(0)),
        ] {
            assert_eq!(thinking.budget(knows_effort, room), budget, "{thinking:?} {knows_effort} {room}");
        }
    }
}
