//! The Hugging Face Hub's HTTP protocol.
//!
//! `hf-hub` serves for the cache's layout only ([`crate::find_models`]). Why not its client too, as of 0.5 and 1.0:
//! - 0.5 does not go on with a file across processes, names no hashes, and does not escape names in addresses.
//! - 1.0 reads ranges, but asks the Hub once more for each of them, and tells neither which range came nor which
//!   content it belongs to; it also brings the whole client of Xet storage with its own threads and connections.
//! - Both compare no hash with what arrived, repeat requests without the wait that `Retry-After` names, and read a
//!   token from the disk by themselves, once, where ours comes from the keychain for each request.

mod api;
mod client;
mod id;
mod retry;
mod source;

pub use api::{ContentHash, Gate, ModelInfo, RepoFile, SearchHit, SearchQuery};
pub(crate) use client::{Asked, Document};
pub use client::{Hub, HubOptions, NoToken, Token, TokenSource};
pub use id::{Commit, RepoId};
pub use retry::RetryPolicy;
pub(crate) use retry::{Failure, Retry};
pub(crate) use source::{ByteStream, Source};
