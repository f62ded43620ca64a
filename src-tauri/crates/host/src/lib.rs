//! The host of the engine: starts the engine program, keeps it alive, loads models into it and asks it for replies.
//!
//! [`Engine`] is what others speak to; its [`Supervisor`] runs beside it and owns the process. [`Tool`] runs the same
//! program for one command at a time, [`Decoders`] for pictures. Neither windows nor weights are known here.

mod activity;
mod command;
mod decoders;
mod engine;
mod layers;
mod limits;
mod lines;
mod process;
mod program;
pub mod progress;
mod reports;
mod rings;
mod scratch;
mod supervisor;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod tool;
mod watchdog;

pub use activity::Activity;
pub use command::{InputFor, Model, Prompt, SettingsFor};
pub use decoders::{DECODING_LIMIT, DecodeError, Decoders, Sight};
pub use engine::{Engine, Generation};
pub use layers::Layers;
pub use limits::allow_open_files;
pub use program::EngineProgram;
pub use progress::{Begun, ProgressReceiver, ReplyProgress};
pub use reports::closed;
pub use rings::{Forming, Ring, Rings};
pub use supervisor::Supervisor;
pub use tool::{ENGINE_DIED, ENGINE_REFUSED, KV_IN_8_BITS, Tool};
pub use watchdog::Timeouts;
