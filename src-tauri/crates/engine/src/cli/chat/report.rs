//! What a chat says of itself: the model, how replies are written, and the numbers.

use foretoken_engine::session::Reply;
use foretoken_protocol::{
    AcceptanceRule, Drafting, FinishReason, LiveStats, ModelInfo, MtpState, PositionStats, ReplyStats,
    Sampling,
};

use super::conversation::Conversation;
use crate::cli::summary::summary;

/// What a person sees first.
pub(super) fn greeting(info: &ModelInfo) -> String {
    let head = match info.mtp {
        MtpState::Present { .. } => "with MTP head",
        _ => "without MTP head",
    };
    let mut lines = vec![format!(
        "{} ({}, {}, {head}), {} tokens of context",
        info.name, info.architecture, info.format, info.context_length
    )];
    lines.extend(info.notes.iter().map(ToString::to_string).chain(info.without_draft_model()));
    lines.push("Ask something. /help lists commands, Ctrl-C stops a reply, Ctrl-D leaves.\n".into());
    lines.join("\n")
}

/// The numbers while a reply is written; `None` before there are any.
pub(super) fn live(stats: &LiveStats) -> Option<String> {
    let LiveStats { tokens_per_second, tokens_per_pass, acceptance, .. } = *stats;
    let share = acceptance.map(|share| format!("{:.0} % of drafts accepted, ", 100.0 * share));
    (tokens_per_second > 0.0).then(|| {
        format!("{}{tokens_per_second:.1} tokens/s, {tokens_per_pass:.2} per pass", share.unwrap_or_default())
    })
}

/// The line below a reply. `is_kept`: whether question and answer are part of the chat.
pub(super) fn status(reply: &Reply, max_tokens: u32, is_kept: bool) -> String {
    let end = match reply.reason {
        FinishReason::Cancelled => "Stopped. ".to_owned(),
        FinishReason::Length if reply.stats.emitted >= max_tokens => {
            format!("Ended at {max_tokens} tokens (--max-tokens). ")
        }
        FinishReason::Length => "The model's context is full; /new begins a new chat. ".into(),
        FinishReason::Stop | FinishReason::Error => String::new(),
    };
    let (drafted, accepted) = drafts(&reply.stats.positions);
    let share =
        percent(accepted, drafted).map_or_else(String::new, |share| format!("; {share} of drafts accepted"));
    let lost = if is_kept { "" } else { "There is no answer, so the chat goes on without the question. " };
    format!("{end}{lost}{}{share}", summary(&reply.stats))
}

pub(super) fn drafting(conversation: &Conversation) -> String {
    let drafting = conversation.settings.drafting;
    match drafting {
        Drafting::Auto if conversation.session.model().draft.is_some() => {
            "MTP is on auto: the head, the draft model or the text so far drafts, as many per pass as pay."
                .into()
        }
        Drafting::Dflash { depth: None } => "The draft model drafts, as many tokens per pass as pay.".into(),
        Drafting::Dflash { depth: Some(depth) } => format!("The draft model drafts {depth} tokens per pass."),
        Drafting::Auto if conversation.session.model().mtp.is_none() => {
            "This model has no MTP head; drafts come from the text so far, as many per pass as pay.".into()
        }
        Drafting::Off => "MTP is off: one token per pass.".into(),
        Drafting::Auto | Drafting::Mtp => {
            "MTP is on auto: as many drafts per pass as pay on this machine.".into()
        }
        Drafting::Lookup => "Drafts are looked up in the text: what followed the last words earlier.".into(),
        Drafting::Fixed { depth: 1 } => "MTP drafts 1 token per pass.".into(),
        Drafting::Fixed { depth } => format!("MTP drafts {depth} tokens per pass."),
    }
}

pub(super) fn thinking(conversation: &Conversation) -> String {
    match (conversation.session.info.thinking, conversation.settings.thinking.is_on()) {
        (false, _) => "This model's template has no switch for thinking.".into(),
        (true, true) => "The model may think before it answers.".into(),
        (true, false) => "The model answers without thinking.".into(),
    }
}

/// How tokens are drawn, by the names that set it.
pub(super) fn sampling(sampling: &Sampling) -> String {
    let Sampling {
        temperature,
        top_p,
        top_k,
        min_p,
        xtc_probability,
        xtc_threshold,
        repetition_penalty,
        presence_penalty,
        frequency_penalty,
        acceptance,
        seed,
    } = sampling;
    let acceptance = match acceptance {
        AcceptanceRule::Coupled => "coupled",
        AcceptanceRule::Strict => "strict",
        AcceptanceRule::Rejection => "rejection",
    };
    let greedy = if *temperature == 0.0 { " (greedy)" } else { "" };
    table(&[
        ("temperature", format!("{temperature}{greedy}")),
        ("top-p", top_p.to_string()),
        ("top-k", top_k.to_string()),
        ("min-p", min_p.to_string()),
        ("xtc-probability", xtc_probability.to_string()),
        ("xtc-threshold", xtc_threshold.to_string()),
        ("repetition-penalty", repetition_penalty.to_string()),
        ("presence-penalty", presence_penalty.to_string()),
        ("frequency-penalty", frequency_penalty.to_string()),
        ("acceptance", acceptance.into()),
        ("seed", seed.map_or_else(|| "another one for each reply".into(), |seed| seed.to_string())),
    ])
}

/// The numbers of the last reply and of the chat.
pub(super) fn stats(conversation: &Conversation) -> String {
    let Some(last) = conversation.replies.last() else {
        return format!("{}\nNothing has been asked yet.", drafting(conversation));
    };
    let mut rows = vec![
        ("last reply", speed(last)),
        ("drafts", positions(last)),
        ("first token", format!("after {:.3} s", last.time_to_first_token_seconds)),
        ("prompt", format!("{} tokens, {} of them cached", last.prompt_tokens, last.cached_tokens)),
        ("memory", format!("{} MB at most", last.peak_memory_bytes / 1_000_000)),
        ("seed", last.seed.to_string()),
    ];
    if let Some(note) = &last.drafting_note {
        rows.insert(2, ("", note.to_string()));
    }
    let all = || conversation.replies.iter();
    let (drafted, accepted) = all().fold((0, 0), |(drafted, accepted), stats| {
        let (more_drafted, more_accepted) = drafts(&stats.positions);
        (drafted + more_drafted, accepted + more_accepted)
    });
    let share = percent(accepted, drafted)
        .map_or_else(|| "no drafts".into(), |share| format!("{share} of drafts accepted"));
    let emitted: u32 = all().map(|stats| stats.emitted).sum();
    let count = conversation.questions();
    let questions = if count == 1 { "1 question".into() } else { format!("{count} questions") };
    rows.push(("chat", format!("{questions} answered, {emitted} tokens, {share}")));
    table(&rows)
}

fn speed(stats: &ReplyStats) -> String {
    format!(
        "{} tokens, {:.1} tokens/s, {:.2} per pass",
        stats.emitted, stats.tokens_per_second, stats.tokens_per_pass
    )
}

fn positions(stats: &ReplyStats) -> String {
    if stats.positions.is_empty() {
        return "no drafts".into();
    }
    let at = |(index, position): (usize, &PositionStats)| {
        let PositionStats { drafted, accepted } = *position;
        let share = percent(accepted, drafted).map_or_else(String::new, |share| format!(" ({share})"));
        format!("at position {}: {accepted} of {drafted}{share}", index + 1)
    };
    stats.positions.iter().enumerate().map(at).collect::<Vec<_>>().join("; ")
}

/// Drafts and those that were accepted, at all positions.
fn drafts(positions: &[PositionStats]) -> (u32, u32) {
    positions.iter().fold((0, 0), |(drafted, accepted), position| {
        (drafted + position.drafted, accepted + position.accepted)
    })
}

fn percent(part: u32, whole: u32) -> Option<String> {
    (whole > 0).then(|| format!("{:.0} %", 100.0 * f64::from(part) / f64::from(whole)))
}

fn table(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:width$}  {value}")).collect();
    lines.join("\n")
}
