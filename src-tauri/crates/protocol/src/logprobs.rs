//! Log-probabilities, in nats, of an emitted token and of the likeliest tokens in its place.

use serde::{Deserialize, Serialize};

/// The most alternatives that can be asked for with a token.
pub const MAX_TOP_LOGPROBS: u32 = 20;

/// A token and its chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The token.
    pub id: u32,
    /// What it reads by itself; a character may need several tokens.
    pub text: String,
    /// The bytes of it, which with those of its neighbours make up characters.
    #[serde(default)]
    pub bytes: Vec<u8>,
    /// Natural logarithm of its probability by the model's own distribution, before penalties, temperature and filters.
    pub logprob: f32,
}

/// What the model thought of a token that it emitted, the stop token left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprobs {
    /// The token.
    #[serde(flatten)]
    pub token: TokenLogprob,
    /// As many of the most likely tokens in its place as were asked for, the likeliest first.
    pub top: Vec<TokenLogprob>,
}
