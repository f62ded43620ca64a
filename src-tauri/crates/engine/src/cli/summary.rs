//! The statistics of a reply in one line.

use foretoken_protocol::{PositionStats, ReplyStats};

/// Tokens, speed, accepted drafts by position, those of them from the text, and the time to the first token.
pub(super) fn summary(stats: &ReplyStats) -> String {
    let positions: Vec<String> = stats
        .positions
        .iter()
        .map(|position| format!("{} of {}", position.accepted, position.drafted))
        .collect();
    let accepted =
        if positions.is_empty() { "no drafts".into() } else { format!("accepted {}", positions.join(", ")) };
    let looked_up = match stats.looked_up {
        PositionStats { drafted: 0, .. } => String::new(),
        PositionStats { drafted, accepted } => format!(", looked up {accepted} of {drafted}"),
    };
    format!(
        "{} tokens, {:.1} tokens/s, {:.2} per pass, {accepted}{looked_up}; first token after {:.3} s",
        stats.emitted, stats.tokens_per_second, stats.tokens_per_pass, stats.time_to_first_token_seconds
    )
}
