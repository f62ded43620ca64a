//! Lets other programs use the loaded model: a local HTTP server in OpenAI's dialect.
//!
//! A request passes `guard` before its body is read, becomes an `Ask`, waits in `admission` until fewer requests are
//! with the engine, and is written by it beside all others (`replies`). Each dialect is two pure halves: `parse` makes
//! the request, `write` the answer. Windows and weights are not known here.

mod admission;
mod answer;
mod api;
mod ask;
mod body;
mod chat;
mod completions;
mod content;
mod count;
mod counted;
mod custom;
mod error;
mod fields;
mod figures;
mod format;
mod guard;
mod live;
mod messages;
mod metrics;
mod models;
mod parts;
mod pictures;
mod port_holder;
mod program;
mod redacted;
mod replies;
mod responses;
mod retries;
mod router;
mod server;
mod settings;
mod signing;
mod status;
mod stream;
#[cfg(test)]
mod testing;
mod token;
mod tools;
mod turns;

pub use api::{Api, Limits};
pub use guard::Access;
pub use live::Live;
pub use models::{Models, NotLoaded, Offered, Tuned, names_model, offered};
pub use port_holder::port_holder;
pub use server::{Reach, Server, network_name};
pub use signing::Signer;
pub use token::Token;
