//! How fast models are on this machine: measured by the engine program and kept in a history.

mod export;
mod history;
mod measurement;

pub(crate) use history::History;
pub(crate) use measurement::{Sizes, choose_draft_vocabulary, measure};

#[cfg(test)]
pub(crate) use export::tests::benchmark;
