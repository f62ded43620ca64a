//! Two apps on one machine, as two Macs: they pair, one lends itself, and a model is spread over both.

use std::future::Future;
use std::net::TcpListener;
use std::sync::Arc;

use foretoken_host::testing::{demo_model, process_of};
use foretoken_host::{Prompt, ReplyProgress};
use foretoken_protocol::{
    ChatMessage, Drafting, EngineState, Event, GenerationSettings, LendingSettings, MacPairing, MacState,
    OtherMacs, Sampling, SpreadOutlook, Thinking,
};
use tokio::time::{sleep, timeout};

use super::pairing::whole_address;
use super::*;
use crate::app::App;
use crate::testing::{Running, TIMEOUT, running};

/// An app that knows the demo model alone, as it is started by the shell.
async fn mac() -> Running {
    mac_with(vec![Shelved { folder: demo_model(), bytes: 1 }]).await
}

/// An app whose models for others are these.
async fn mac_with(models: Vec<Shelved>) -> Running {
    let running = running().await;
    tokio::spawn(Arc::clone(&running.app.macs).run(move || models.clone()));
    running
}

async fn wait(app: &App, what: &str, is_so: impl Fn(&OtherMacs) -> bool) -> OtherMacs {
    within(what, async {
        loop {
            let shown = app.macs.shown();
            if is_so(&shown) {
                return shown;
            }
            sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await
}

async fn within<T>(what: &str, done: impl Future<Output = T>) -> T {
    timeout(TIMEOUT, done).await.unwrap_or_else(|_| panic!("waited in vain until {what}"))
}

async fn wait_for_engine(app: &App, what: &str, is_so: impl Fn(&EngineState) -> bool) {
    let mut state = app.engine.watch();
    within(what, state.wait_for(is_so)).await.unwrap();
}

fn lending() -> LendingSettings {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    LendingSettings { on: true, port, only_on_power: false, ..LendingSettings::default() }
}

fn digits(shown: &OtherMacs) -> Option<String> {
    match &shown.pairing {
        Some(MacPairing::Compare { digits, .. }) => Some(digits.clone()),
        _ => None,
    }
}

fn is_paired(shown: &OtherMacs) -> bool {
    matches!(shown.pairing, Some(MacPairing::Paired { .. }))
}

fn has_failed(code: &str) -> impl Fn(&OtherMacs) -> bool {
    move |shown| matches!(&shown.pairing, Some(MacPairing::Failed { error }) if error.code == code)
}

/// Lends `studio` to `laptop`.
async fn pair(laptop: &App, studio: &App) {
    let lending = lending();
    studio.macs.set_lending(lending.clone()).await.unwrap();
    studio.macs.open_for_pairing().unwrap();
    laptop.macs.pair_with(&format!("127.0.0.1:{}", lending.port)).unwrap();
    let there = wait(studio, "it is asked", |shown| digits(shown).is_some()).await;
    let here = wait(laptop, "both show digits", |shown| digits(shown).is_some()).await;
    assert_eq!(digits(&here), digits(&there));
    studio.macs.answer_pairing(true).unwrap();
    laptop.macs.answer_pairing(true).unwrap();
    wait(laptop, "they are paired", is_paired).await;
    wait(studio, "it knows", is_paired).await;
}

async fn answer(app: &App) -> String {
    let settings = GenerationSettings {
        sampling: Sampling { temperature: 0.0, ..Sampling::default() },
        drafting: Drafting::Auto,
        max_tokens: 24,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    let mut reply =
        app.engine.generate(Prompt::new(vec![ChatMessage::user("Tell me about the sea.")], settings));
    let mut text = String::new();
    let written = async {
        loop {
            match reply.progress.recv().await.unwrap() {
                ReplyProgress::Event(Event::Tokens { tokens, .. }) => {
                    text.extend(tokens.into_iter().map(|token| token.text));
                }
                ReplyProgress::Event(Event::Finished { .. }) => return,
                ReplyProgress::Event(Event::Failed { error, .. }) | ReplyProgress::Interrupted(error) => {
                    panic!("{error}")
                }
                _ => {}
            }
        }
    };
    within("a reply is written", written).await;
    text
}

fn is_lost(state: &EngineState) -> bool {
    matches!(state, EngineState::Failed { error, model: Some(_) } if error.code == "mac_lost")
}

#[tokio::test(flavor = "multi_thread")]
async fn two_macs_pair_compute_together_and_part() {
    // The one that lends itself has not got the model.
    let (laptop, studio) = (mac().await, mac_with(Vec::new()).await);
    let (laptop, studio) = (&*laptop.app, (&*studio.app, &studio));
    let (studio, engine_there) = (studio.0, &studio.1.engine);
    let alone = answer(laptop).await;
    assert_eq!(studio.macs.shown().lending.address, None, "nothing listens before somebody wants it");
    pair(laptop, studio).await;
    let told = wait(laptop, "it answers", |shown| {
        matches!(shown.paired[..], [PairedMac { state: MacState::Here { models: 0, .. }, lends: true, .. }])
    })
    .await;
    let key = told.paired[0].key.clone();
    assert!(studio.macs.shown().paired[0].borrows);
    laptop.macs.test_link(&key).await.unwrap();
    assert!(laptop.macs.shown().paired[0].link.unwrap().sent_per_second > 0.0);

    let path = demo_model().to_string_lossy().into_owned();
    let outlook = laptop.models.spread_outlook(&path).await.unwrap();
    let SpreadOutlook::Fits { spreading, left_out } = outlook else { panic!("{outlook:?}") };
    assert!(left_out.is_empty() && spreading.tokens_per_second > 0.0);
    assert_eq!(spreading.parts.iter().map(|part| part.layers).sum::<u32>(), 8);
    let refused = laptop.models.load_spread(&path, Some(vec![8, 8])).await.unwrap_err();
    assert_eq!(refused.code, "macs_do_not_fit");

    // Its owner may say no.
    let terms = studio.settings.current().lending;
    studio.macs.set_lending(LendingSettings { keep_gigabytes: None, ..terms.clone() }).await.unwrap();
    let lacking = laptop.models.spread_outlook(&path).await.unwrap();
    assert!(matches!(lacking, SpreadOutlook::Lacking { macs } if macs.len() == 1));
    studio.macs.set_lending(terms).await.unwrap();

    let info = laptop.models.load_spread(&path, Some(vec![3, 5])).await.unwrap();
    assert_eq!(info.macs.iter().map(|mac| mac.layers).collect::<Vec<_>>(), [3, 5]);
    assert_eq!(laptop.macs.shown().spread[0].parts.len(), 2);
    let lent = studio.macs.shown().lending.in_use.unwrap();
    assert_eq!(lent.model, "checkpoint");
    let stored = wait(studio, "its owner sees what is kept", |shown| {
        shown.lending.stored.iter().any(|stored| stored.in_use && stored.layers == 5)
    })
    .await;
    let stored = stored.lending.stored[0].id.clone();
    assert_eq!(studio.macs.remove_layers(stored.clone()).await.unwrap_err().code, "store_in_use");
    assert_eq!(laptop.macs.shown().giving, None);
    assert!(process_of(engine_there).is_some(), "its worker runs");
    assert!(
        matches!(studio.engine.state(), EngineState::Ready { in_memory: false, .. }),
        "an idle model makes way"
    );
    assert_eq!(answer(laptop).await, alone);
    assert_eq!(laptop.engine.ring().macs.len(), 2);

    // Its owner comes first.
    assert_eq!(answer(studio).await, alone);
    wait(studio, "the loan has ended", |shown| shown.lending.in_use.is_none()).await;
    wait_for_engine(laptop, "it is told", is_lost).await;
    laptop.engine.load_again();
    wait_for_engine(laptop, "it is formed again", |state| matches!(state, EngineState::Ready { .. })).await;
    assert_eq!(answer(laptop).await, alone);

    laptop.macs.forget(&key).await.unwrap();
    wait_for_engine(laptop, "what ran with it ends", is_lost).await;
    wait(studio, "the loan has ended", |shown| shown.lending.in_use.is_none()).await;
    wait(studio, "they are free", |shown| shown.lending.stored.iter().all(|stored| !stored.in_use)).await;
    studio.macs.remove_layers(stored).await.unwrap();
    assert!(studio.macs.shown().lending.stored.is_empty());
    assert!(laptop.macs.shown().spread.is_empty() && laptop.macs.shown().paired.is_empty());
    assert!(laptop.models.load(&path).await.unwrap().macs.is_empty());
    assert_eq!(answer(laptop).await, alone);
    assert!(matches!(laptop.models.spread_outlook(&path).await, Ok(SpreadOutlook::Nobody)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_is_refused_declined_and_given_up() {
    let (laptop, studio) = (mac().await, mac().await);
    let (laptop, studio) = (&*laptop.app, &*studio.app);
    assert_eq!(studio.macs.open_for_pairing().unwrap_err().code, "mac_not_lending");
    let lending = lending();
    studio.macs.set_lending(lending.clone()).await.unwrap();
    let address = format!("127.0.0.1:{}", lending.port);
    laptop.macs.pair_with(&address).unwrap();
    wait(laptop, "nobody has opened it", has_failed("pairing_closed")).await;
    studio.macs.open_for_pairing().unwrap();
    laptop.macs.pair_with(&address).unwrap();
    wait(laptop, "both show digits", |shown| digits(shown).is_some()).await;
    wait(studio, "both show digits", |shown| digits(shown).is_some()).await;
    studio.macs.answer_pairing(false).unwrap();
    laptop.macs.answer_pairing(true).unwrap();
    wait(laptop, "it is declined", has_failed("pairing_declined_there")).await;
    wait(studio, "it has declined", has_failed("pairing_declined")).await;
    assert!(studio.macs.shown().lending.open_until.is_some(), "another may try");
    laptop.macs.pair_with(&address).unwrap();
    wait(studio, "digits once more", |shown| digits(shown).is_some()).await;
    laptop.macs.close_pairing();
    assert_eq!(laptop.macs.shown().pairing, None);
    assert!(laptop.macs.answer_pairing(true).is_err());
    studio.macs.answer_pairing(true).unwrap();
    wait(studio, "the other has gone", |shown| matches!(shown.pairing, Some(MacPairing::Failed { .. })))
        .await;
    assert!(laptop.macs.shown().paired.is_empty() && studio.macs.shown().paired.is_empty());
    studio.macs.set_lending(LendingSettings { on: false, ..lending }).await.unwrap();
    laptop.macs.pair_with(&address).unwrap();
    wait(laptop, "nothing listens", has_failed("peer_unreachable")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_paired_outlives_the_app_and_a_port_in_use_is_told() {
    let (laptop, studio) = (mac().await, mac().await);
    pair(&laptop.app, &studio.app).await;
    let kept = laptop.app.macs.shown();
    let again = Kept::open(Box::new(crate::keychain::MACS_KEY), &laptop.folder.path().join("data"));
    let key: PublicKey = kept.paired[0].key.parse().unwrap();
    again.set_spread("/models/a", Some(Vec::new()));
    again.moved(Path::new("/models"), Path::new("/disk"));
    assert_eq!(again.spread().into_keys().collect::<Vec<_>>(), ["/disk/a"]);
    assert!(again.peers().book().peers.contains_key(&key));
    assert_eq!(again.address(&key), kept.paired[0].address);
    let data = studio.folder.path().join("data");
    std::fs::write(data.join("macs.json"), "{").unwrap();
    let damaged = Kept::open(Box::new(crate::keychain::MACS_KEY), &data);
    assert!(damaged.peers().book().peers.is_empty() && data.join("macs.damaged.json").exists());
    let taken = studio.app.settings.current().lending.port;
    laptop.app.macs.set_lending(LendingSettings { port: taken, ..lending() }).await.unwrap();
    let told = laptop.app.macs.shown().lending;
    assert_eq!((told.address, told.error.unwrap().code), (None, "peer_listen".into()));
    assert_eq!(
        laptop.app.macs.set_lending(LendingSettings { port: 80, ..lending() }).await.unwrap_err().code,
        "mac_port_invalid"
    );
}

#[test]
fn addresses_get_the_usual_port() {
    for (typed, meant) in [
        ("studio.local", "studio.local:7421"),
        (" studio:9000 ", "studio:9000"),
        ("10.0.0.2", "10.0.0.2:7421"),
        ("fe80::1%5", "[fe80::1%5]:7421"),
        ("::1", "[::1]:7421"),
        ("[fe80::1]:9000", "[fe80::1]:9000"),
    ] {
        assert_eq!(whole_address(typed).unwrap(), meant, "{typed}");
    }
    for wrong in ["", ":7421", "studio:", "studio:0", "studio:70000", "a b", "http://studio", "studio/x"] {
        assert!(whole_address(wrong).is_err(), "{wrong}");
    }
}
