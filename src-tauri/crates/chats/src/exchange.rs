//! Chats in files: what Foretoken writes and reads back, and what other programs have written.

mod chatgpt;
mod export;
mod foretoken;
mod import;
mod importer;
mod lm_studio;
mod record;
mod staging;
mod whole;

pub use import::import;
pub use whole::WholeFile;
