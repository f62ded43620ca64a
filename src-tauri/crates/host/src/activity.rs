//! What engine processes have done, as the supervisor counts it.

use foretoken_protocol::Counters;

/// What engine processes have done, for reports, and what the last one does now.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Activity {
    /// How many were started.
    pub starts: u64,
    /// What the last one counted since it loaded its model.
    pub counters: Counters,
    /// Tokens that are written a second now, all replies together; 0 while nothing is written.
    pub tokens_per_second: f64,
}
