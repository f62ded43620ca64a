//! The statistics of a reply in one line.

use foretoken_protocol::ReplyStats;

/// Tokens, speed, accepted drafts by position, and the time to the first token.
pub(super) fn summary(stats: &ReplyStats) -> String {
    let positions: Vec<String> = stats
        .positions
        .iter()
        .map(|position| format!("{} of {}", position.accepted, position.drafted))
        .collect();
    let accepted =
        if positions.is_empty() { "no drafts".into() } else { format!("accepted {}", positions.join(", ")) };
    format!(
        "{} tokens, {:.1} tokens/s, {:.2} per pass, {accepted}; first token after {:.3} s",
        stats.emitted, stats.tokens_per_second, stats.tokens_per_pass, stats.time_to_first_token_seconds
    )
}
