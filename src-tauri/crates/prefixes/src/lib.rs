//! The disk tier of the prefix cache: what models have read of chats, in files that outlast the engine. It knows names,
//! sizes and owners; what a file holds is the engine's.
//!
//! Token sequences form a tree, as in memory: a *stretch* is the tokens between two places, and its file holds their
//! keys and values; a *state* stands at the end of a stretch and holds what cannot be cut. A prompt goes on at a state,
//! for which all stretches before it are needed. States have owners, the chats that they were read for; stretches are
//! shared, and go with the last state that needs them.

/// The name of the folder of the files in that of the engine.
pub const FOLDER: &str = "prefixes";

mod file;
mod key;
mod store;
#[cfg(test)]
mod tests;
mod writer;

pub use file::{Body, ReadError};
pub use key::Key;
pub use store::{Found, Owner, PrefixFiles, Quota};
