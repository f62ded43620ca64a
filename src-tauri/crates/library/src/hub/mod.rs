//! The Hugging Face Hub's HTTP protocol.
//!
//! `hf-hub` serves for the cache's layout only ([`crate::find_models`]): its client neither reads ranges across
//! restarts, nor hashes, nor heeds `Retry-After`, and it reads a token from the disk by itself.

mod api;
mod client;
mod id;
mod retry;

pub use api::{ContentHash, Gate, ModelInfo, RepoFile, SearchHit, SearchQuery};
pub(crate) use client::{Asked, Document, Source};
pub use client::{Hub, HubOptions, NoToken, Token, TokenSource};
pub use id::{Commit, RepoId};
pub use retry::RetryPolicy;
pub(crate) use retry::{Failure, Retry};
