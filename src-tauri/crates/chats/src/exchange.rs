//! Chats in files: what Foretoken writes and reads back, and what other programs have written.

mod adopt;
mod beside;
mod chatgpt;
mod export;
mod foretoken;
mod import;
mod importer;
mod incoming;
mod lm_studio;
mod markdown;
mod metadata;
mod names;
mod outgoing;
mod record;
mod staging;
mod steps;
mod whole;

pub use import::import;
pub use incoming::{Look, SeenPicture};
pub use whole::WholeFile;
