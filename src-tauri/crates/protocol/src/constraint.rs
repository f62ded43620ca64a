//! What binds a reply beyond the words that ask for it: its form, calls that it must make, a limit to its thinking, and
//! what is added to the model's logits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What binds a reply; nothing by default. Tools whose function says `"strict": true` bind their calls by themselves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Constraint {
    /// What the answer must be, from its first token to its last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Whether it must call tools.
    #[serde(skip_serializing_if = "CallRule::is_free")]
    pub calls: CallRule,
    /// Tools that take one text, by name, and what that text must be wherever they are called.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Format>,
    /// The most tokens of thinking; behind so many the block is closed and the answer begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<u32>,
    /// Tokens, and what is added to the logits of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logit_bias: Vec<(u32, f32)>,
}

impl Constraint {
    /// Whether it binds nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What an answer or an input must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// JSON that a JSON Schema allows.
    JsonSchema(Value),
    /// A text that a regular expression matches as a whole, in the syntax of Rust's `regex`.
    Regex(String),
    /// A text of a grammar, in llguidance's variant of Lark.
    Lark(String),
}

/// Whether tools must be called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRule {
    /// As the model likes.
    #[default]
    Free,
    /// At least one.
    Required,
    /// This one, once.
    Named(String),
}

impl CallRule {
    /// Whether it binds nothing.
    pub fn is_free(&self) -> bool {
        *self == Self::Free
    }
}
