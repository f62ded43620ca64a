//! The Hugging Face Hub's HTTP protocol.

mod api;
mod client;
mod id;
mod retry;

pub use api::{ContentHash, Gate, ModelInfo, RepoFile, SearchHit, SearchQuery};
pub(crate) use client::{Asked, Source};
pub use client::{Hub, HubOptions, NoToken, Token, TokenSource};
pub use id::{Commit, RepoId};
pub use retry::RetryPolicy;
pub(crate) use retry::{Failure, Retry};
