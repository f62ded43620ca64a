//! How fast models are on this machine: measured by the engine program, kept in a history, and shown side by side.

mod comparison;
mod export;
mod history;
mod measurement;

use std::sync::Arc;

use foretoken_protocol::ErrorReport;

use crate::app::App;
use crate::blocking::blocking;
pub(crate) use history::History;
pub(crate) use measurement::{Sizes, measure};

impl App {
    /// Does something with the history where it holds up nothing else: it waits for the disk.
    pub(crate) async fn with_benchmarks<T: Send + 'static>(
        &self,
        work: impl FnOnce(&History) -> Result<T, ErrorReport> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        let history = Arc::clone(&self.benchmarks);
        blocking(move || work(&history)).await
    }
}
