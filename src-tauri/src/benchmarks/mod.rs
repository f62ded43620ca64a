//! How fast models are on this machine: measured by the engine program, kept in a history, and shown side by side.

mod export;
mod history;
mod measurement;

pub(crate) use history::History;
pub(crate) use measurement::{Sizes, measure};
