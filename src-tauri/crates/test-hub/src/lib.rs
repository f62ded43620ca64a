//! The Hugging Face Hub's protocol on two loopback ports, and whatever can go wrong with it.
//!
//! Repositories live in memory. Small files come from the Hub's own port, LFS files by a redirect to the content
//! server's port, as with the real Hub, so that nothing meant for one host can slip to the other unnoticed.

mod fault;
mod proxy;
mod repo;
mod server;

pub use fault::{Fault, Stage, Trouble};
pub use proxy::TestProxy;
pub use repo::Repo;
pub use server::{Seen, TestHub};
