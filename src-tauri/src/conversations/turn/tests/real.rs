//! A model that chooses: the demo model with the real engine, which was taught to call tools.

use std::time::Duration;

use foretoken_protocol::{GenerationSettings, ReplyStats};
use tokio::time::sleep;

use super::*;
use crate::testing::{Running, running};

/// The rounds of a reply, as far as the model has written in them.
fn stats(message: &Message) -> Vec<ReplyStats> {
    message.steps.iter().map(|step| step.stats.clone().unwrap()).collect()
}

/// Tokens of a round's prompt that were read for it.
fn read(stats: &ReplyStats) -> u32 {
    stats.prompt_tokens - stats.cached_tokens
}

#[tokio::test]
async fn a_round_reads_only_what_the_calls_before_it_gave() {
    let Running { app, .. } = &running().await;
    let settings = GenerationSettings { max_tokens: 120, ..app.settings.current().generation };
    app.settings.set_generation(settings).await.unwrap();
    let (chat, _, mut events) = ask(app, &["calculator"], "What is 4821 * 37?".into()).await;
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.status, ENDED, "{message:?}");
    assert_eq!(message.steps.len(), 2, "{message:?}");
    let call = details(app, first_call(&message)).await;
    assert_eq!((call.tool.as_str(), call.state), ("calculator", CallState::Done));
    assert_eq!(call.result_for_model.as_deref(), Some("178377"));
    assert!(message.text.contains("178377"), "the model has read it: {}", message.text);
    let [first, second] = &stats(&message)[..] else { panic!("two rounds") };
    assert!(second.prompt_tokens > first.prompt_tokens + first.emitted, "{second:?}");
    // The result of six digits, and what the template writes around it.
    assert!((1..=32).contains(&read(second)), "{} of {}", read(second), second.prompt_tokens);
    assert!(first.positions[0].accepted > 0, "the syntax of a call is guessed: {first:?}");

    // The template writes a turn otherwise once it was answered. That is read while nobody asks, however slow this
    // machine is.
    let mut read_for_each = Vec::new();
    for (pause, sum) in [(1, "77 + 1234"), (2, "300 - 45"), (4, "812 * 3"), (8, "99 + 999"), (16, "500 - 7")]
    {
        sleep(Duration::from_secs(pause)).await;
        let (channel, mut events) = page();
        let question = format!("What is {sum}?");
        app.conversations.ask(Destination::Chat(chat), question.as_str().into(), channel).await.unwrap();
        let (_, message) = rest(&mut events).await;
        assert_eq!(message.steps[0].calls[0].state, CallState::Done, "{message:?}");
        read_for_each = stats(&message).iter().map(read).collect();
        if read_for_each[0] <= 48 {
            break;
        }
    }
    assert!(read_for_each.iter().all(|read| *read <= 48), "{read_for_each:?}");
}
