//! The text by which a conversion chooses bits: where it comes from, as tokens, and which part of it serves what.
//!
//! Text is built in, the model's own replies to built-in prompts, or a file of the person's. [`Split`] divides it by
//! document into a part to choose by, one that decides which stages stay, and one that nothing but the report reads.

mod digest;
mod error;
mod file;
mod prompts;
mod renderer;
mod replies;
mod split;
mod texts;

pub use error::CalibrationError;
pub use file::{LEAST_TOKENS, MOST_BYTES, from_file};
pub use renderer::Renderer;
pub use replies::{REPLY_PROMPTS, REPLY_ROWS, Written, own_replies};
pub use split::{LONGEST_SEQUENCE, PartTokens, Record, Split, odd, sequences};
pub use texts::{Document, Source, Texts, built_in};
