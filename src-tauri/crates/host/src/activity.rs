//! What engine processes have done, as the supervisor counts it.

use foretoken_protocol::Counters;

/// What engine processes have done, for reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// How many were started.
    pub starts: u64,
    /// What the last one counted since it loaded its model.
    pub counters: Counters,
}
