//! The app and the engine killed over and over, at any moment of a reply.

use std::thread::sleep;
use std::time::{Duration, Instant};

use foretoken_tests::rng::Rng;

use crate::support::endless_model::{keeps, open_endless_model};
use crate::support::sandbox::Sandbox;
use crate::support::window::Window;

/// What was shown so long before the app died must be there again; what the engine's death interrupts, all of it.
const A_SECOND: Duration = Duration::from_secs(1);

#[test]
fn deaths_in_mid_reply_lose_no_more_than_the_last_second() {
    die(8);
}

#[test]
#[ignore = "takes minutes; see tests/README.md"]
fn fifty_deaths_in_mid_reply_lose_no_more_than_the_last_second() {
    die(50);
}

/// Kills the app and the engine in turn, so many times in all.
fn die(deaths: usize) {
    let sandbox = Sandbox::new(1280, 2400);
    let mut rng = Rng::new(11);
    let mut window = open(&sandbox);
    open_endless_model(&window, &sandbox);
    let mut kept: Vec<(String, String)> = Vec::new();
    for death in 1..=deaths {
        let question = format!("What did owl {death} say to the bell?");
        // In turn: an engine that dies again and again is not started any more until somebody asks for it.
        let program = ["foretoken", "foretoken-engine"][death % 2];
        window.click("new-chat");
        window.wait_until("a new chat is open", || !window.is_shown("message-user"));
        window.ask(&question);
        let seen = watch(&window, Duration::from_millis(rng.below(3000) as u64));
        let end = Instant::now();
        sandbox.kill(program);
        let must_stay = if program == "foretoken" {
            drop(window);
            window = open(&sandbox);
            window.click_one("chat", &question);
            window.wait_until("the chat is shown", || window.is_shown("message-user"));
            seen.iter().rfind(|(at, _)| end.duration_since(*at) > A_SECOND)
        } else {
            window.wait_for_end();
            seen.last()
        };
        assert_eq!(window.text("message-user"), question);
        assert!(window.is_shown("reply-error"), "death {death}, of {program}: the page says what happened");
        let text = window.text("answer");
        if let Some((_, shown)) = must_stay {
            assert!(
                keeps(&text, shown),
                "death {death}, of {program}: what was shown is kept:\n{shown}\nbecame\n{text}"
            );
        }
        kept.push((question, text));
    }
    for (question, text) in &kept {
        window.click_one("chat", question);
        window.wait_until("the chat is shown", || window.text("message-user") == *question);
        assert_eq!(window.text("answer"), *text, "later deaths change nothing: {question}");
    }
}

/// Opens the app, high enough for all chats to be in view.
fn open(sandbox: &Sandbox) -> Window<'_> {
    let window = sandbox.open();
    window.resize(1200, 2300);
    window
}

/// VisualCheck at the reply for so long after its first words: what stood there, and when.
fn watch(window: &Window<'_>, time: Duration) -> Vec<(Instant, String)> {
    window.wait_for_text(0);
    let begin = Instant::now();
    let mut seen = Vec::new();
    while begin.elapsed() < time {
        // The moment before looking: what stands there was there then, or came later.
        let at = Instant::now();
        seen.push((at, window.text("answer")));
        sleep(Duration::from_millis(20));
    }
    seen
}
