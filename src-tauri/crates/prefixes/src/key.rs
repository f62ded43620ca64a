//! Names of places in the tree.

use std::fmt;

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

/// The name of a place: a hash of the model and of all tokens before it, cut where they are cut.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// The place before the first token, for whatever `model` says of the model and how it computes.
    pub fn root(model: &str) -> Self {
        Self::of(&[b"model", model.as_bytes()])
    }

    /// The place behind these tokens, which come next.
    pub fn then(&self, tokens: &[u32]) -> Self {
        let bytes: Vec<u8> = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
        Self::of(&[self.0.as_bytes(), &bytes])
    }

    /// The key that a file's name begins with.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_key = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_key.then(|| Self(text.into()))
    }

    fn of(parts: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        parts.iter().for_each(|part| context.update(part));
        Self(context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
