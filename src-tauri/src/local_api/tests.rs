use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use foretoken_host::testing::{ENDLESS_QUESTION, demo_model, endless};
use foretoken_protocol::{
    ApiAlias, ApiOutcome, EngineState, KvPrecision, LocalApiSettings, LocalApiState, Tuning,
};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::LocalApi;
use super::token::TokenStore;
use crate::app::App;
use crate::keychain::{KeychainError, SecretStore};
use crate::testing::{Running, TIMEOUT, page, running, some_text, write};

/// Settings without a token, as no test may touch the keychain of whoever runs it.
fn on_at(port: u16) -> LocalApiSettings {
    LocalApiSettings { on: true, port, needs_token: false, ..LocalApiSettings::default() }
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// An app whose requests are counted.
async fn counting() -> Running {
    let running = running().await;
    let local_api = Arc::clone(&running.app.local_api);
    tokio::spawn(async move { local_api.count_requests().await });
    running
}

/// A system without a keychain.
#[derive(Debug)]
struct NoKeychain;

impl SecretStore for NoKeychain {
    fn read(&self) -> Result<Option<String>, KeychainError> {
        Err(KeychainError::Unavailable)
    }

    fn write(&self, _secret: &str) -> Result<(), KeychainError> {
        Err(KeychainError::Unavailable)
    }

    fn remove(&self) -> Result<(), KeychainError> {
        Err(KeychainError::Unavailable)
    }
}

/// Sends a request; what comes back is still to be read.
fn send(port: u16, method: &str, path: &str, body: &str) -> TcpStream {
    send_with(port, method, path, "none", body)
}

/// The same with a token.
fn send_with(port: u16, method: &str, path: &str, token: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\nUser-Agent: curl/8.9\r\nx-api-key: {token}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    stream
}

/// The whole answer.
async fn rest(mut stream: TcpStream) -> String {
    let read = tokio::task::spawn_blocking(move || {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    });
    timeout(TIMEOUT, read).await.unwrap().unwrap().unwrap()
}

fn state(local_api: &LocalApi) -> LocalApiState {
    local_api.shown().state
}

async fn wait_for_requests(app: &App, count: usize) {
    let mut replies = app.conversations.replies.watch();
    timeout(TIMEOUT, replies.wait_for(|&now| now == count)).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_let_in_while_it_is_on_and_count_as_replies() {
    let running = counting().await;
    let (app, port) = (&running.app, free_port());
    assert_eq!(state(&app.local_api), LocalApiState::Off);
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    app.local_api.change(on_at(port)).await.unwrap();
    assert_eq!(state(&app.local_api), LocalApiState::On { port });
    assert_eq!(app.local_api.shown().model.as_deref(), Some("Demo-model"));
    let models = rest(send(port, "GET", "/v1/models", "")).await;
    assert!(models.contains(r#""id":"Demo-model""#), "{models}");

    write(app, 4096, endless()).await;
    let body = json!({
        "model": "default", "messages": [{"role": "user", "content": ENDLESS_QUESTION}],
        "stream": true, "max_tokens": 4096,
    });
    let first = send(port, "POST", "/v1/chat/completions", &body.to_string());
    wait_for_requests(app, 1).await;
    assert!(app.conversations.replies.has_requests());
    assert!(app.conversations.replies.lease_engine().is_none(), "a comparison waits");
    let request = app.local_api.shown().requests.live[0].clone();
    assert_eq!((request.program.as_str(), request.model.as_str()), ("curl", "Demo-model"));
    app.local_api.stop(&request.id).unwrap();
    let answer = rest(first).await;
    assert!(answer.contains("cancelled") && !answer.contains("[DONE]"), "{answer}");
    wait_for_requests(app, 0).await;
    assert_eq!(app.local_api.shown().requests.ended[0].outcome, ApiOutcome::Stopped);
    assert_eq!(app.local_api.stop(&request.id).unwrap_err().code, "api_request_gone");

    let second = send(port, "POST", "/v1/chat/completions", &body.to_string());
    wait_for_requests(app, 1).await;
    app.local_api.change(LocalApiSettings { on: false, ..on_at(port) }).await.unwrap();
    assert_eq!(state(&app.local_api), LocalApiState::Off);
    assert!(rest(second).await.contains("cancelled"), "its requests end with it");
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    wait_for_requests(app, 0).await;
    app.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn models_tell_what_was_measured_of_them() {
    let Running { app, folder, .. } = running().await;
    let (own, port) = (folder.path().join("data/models/org--Little"), free_port());
    fs::create_dir_all(&own).unwrap();
    for file in fs::read_dir(demo_model()).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), own.join(file.file_name())).unwrap();
    }
    app.models.library.start();
    app.local_api.change(on_at(port)).await.unwrap();
    let listed = async |expected: &str| {
        let told = async {
            while !rest(send(port, "GET", "/v1/models", "")).await.contains(expected) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(TIMEOUT, told).await.unwrap_or_else(|_| panic!("{expected} is not told"));
    };
    listed("Little").await;
    let tuning = Tuning {
        tokens_per_second: vec![10.0, 14.0, 12.0],
        best_depth: 1,
        kv_precision: KvPrecision::Full,
        draft_vocabulary: None,
        strained: false,
        measured_at: 1,
    };
    app.models.library.note_tuning(&own, tuning);
    listed(r#""tuned_depth":1,"speed_up":1.4"#).await;
    app.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_token_ends_what_runs_and_the_one_before_lets_nobody_in() {
    let running = running().await;
    let (app, port) = (&running.app, free_port());
    let (engine, models) = (Arc::clone(&app.engine), Arc::clone(&app.models));
    let (settings, events) = (Arc::clone(&app.settings), Arc::clone(&app.events));
    let file = app.places.api_token.clone();
    let tokens = Arc::new(TokenStore::new(Box::new(NoKeychain), file.clone()));
    let replies = Arc::clone(&app.conversations.replies);
    let local_api =
        LocalApi { tokens, ..LocalApi::new(engine, models, settings, events, replies, file.clone()) };
    local_api.change(LocalApiSettings { needs_token: true, ..on_at(port) }).await.unwrap();
    let token = || fs::read_to_string(&file).unwrap().trim().to_owned();
    let first = token();
    write(app, 4096, endless()).await;
    let body = json!({
        "model": "default", "messages": [{"role": "user", "content": ENDLESS_QUESTION}],
        "stream": true, "max_tokens": 4096,
    });
    let stream = send_with(port, "POST", "/v1/chat/completions", &first, &body.to_string());
    let is_writing = || {
        let live = local_api.shown().requests.live;
        live.first().is_some_and(|request| request.written.tokens > 0)
    };
    let written = async {
        while !is_writing() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TIMEOUT, written).await.unwrap();
    local_api.renew_token().await.unwrap();
    let answer = rest(stream).await;
    assert!(answer.contains("cancelled") && !answer.contains("[DONE]"), "{answer}");
    assert_eq!(local_api.shown().requests.ended[0].outcome, ApiOutcome::Stopped);
    assert_ne!(token(), first);
    let status = |answer: String| answer.split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status(rest(send_with(port, "GET", "/v1/models", &first, "")).await), "401");
    assert_eq!(status(rest(send_with(port, "GET", "/v1/models", &token(), "")).await), "200");
    local_api.close().await;
    app.engine.shut_down();
}

#[tokio::test]
async fn a_port_that_is_taken_is_said_and_the_next_free_one_helps() {
    let running = running().await;
    let app = &running.app;
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    app.local_api.change(on_at(port)).await.unwrap();
    let LocalApiState::PortInUse { port: at, holder, free } = state(&app.local_api) else {
        panic!("{:?}", state(&app.local_api));
    };
    assert_eq!((at, holder.unwrap().pid), (port, std::process::id()));
    app.local_api.take_free_port().await.unwrap();
    let next = app.settings.current().local_api.port;
    assert!(next > port && free.is_some_and(|free| free > port), "{port} {free:?} {next}");
    assert_eq!(state(&app.local_api), LocalApiState::On { port: next });
    assert_eq!(app.local_api.change(on_at(0)).await.unwrap_err().code, "api_port_invalid");
    assert_eq!(state(&app.local_api), LocalApiState::On { port: next }, "nothing has changed");
    app.local_api.close().await;
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, next)).is_err());
    app.engine.shut_down();
}

/// A request for an answer that does not end, by a model that is called so.
fn ask(port: u16, model: &str, fields: &serde_json::Value) -> TcpStream {
    let mut body = json!({"model": model, "messages": [{"role": "user", "content": ENDLESS_QUESTION}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    send(port, "POST", "/v1/chat/completions", &body.to_string())
}

/// An app that the person has left with the demo model, and a second model that programs may have loaded: `other`. Both
/// write without end.
async fn lending() -> (Running, u16) {
    let running = counting().await;
    let (app, port) = (&running.app, free_port());
    let other = running.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    for file in fs::read_dir(demo_model()).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), other.join(file.file_name())).unwrap();
    }
    for model in [&other, &demo_model()] {
        app.models.load(model.to_str().unwrap()).await.unwrap();
        write(app, 4096, endless()).await;
    }
    app.local_api.change(LocalApiSettings { may_load: true, ..on_at(port) }).await.unwrap();
    let local_api = Arc::clone(&app.local_api);
    tokio::spawn(async move { local_api.follow_returns().await });
    (running, port)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_of_the_persons_keeps_programs_from_having_another_model_loaded() {
    let (running, port) = lending().await;
    let app = &running.app;
    let short = json!({"max_tokens": 4});
    let refused = rest(ask(port, "other", &short)).await;
    assert!(refused.contains("model_busy"), "the person is there: {refused}");
    app.models.leave(true);
    let (channel, mut events) = page();
    let chat = app.conversations.open_chat();
    let sent = app.conversations.ask(chat, ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut events).await;
    let refused = rest(ask(port, "other", &short)).await;
    assert!(refused.contains("model_busy"), "{refused}");
    let beside = rest(ask(port, "default", &short)).await;
    assert!(beside.contains(r#""model":"Demo-model""#), "the person's own model answers beside it: {beside}");
    app.conversations.stop(sent.messages[1].message.id).await.unwrap();
    crate::testing::rest(&mut events).await;
    let answered = rest(ask(port, "other", &short)).await;
    assert!(answered.contains(r#""model":"other""#), "{answered}");
    app.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread")]
async fn coming_back_ends_what_another_model_writes_for_a_program() {
    let (running, port) = lending().await;
    let app = &running.app;
    app.models.leave(true);
    let stream = ask(port, "other", &json!({"max_tokens": 4096, "stream": true}));
    let mut engine = app.engine.watch();
    let is_other = |state: &EngineState| matches!(state, EngineState::Ready { model, .. } if model.path.ends_with("other"));
    timeout(TIMEOUT, engine.wait_for(is_other)).await.unwrap().unwrap();
    while app.local_api.shown().requests.live.iter().all(|request| request.written.tokens == 0) {
        sleep(Duration::from_millis(10)).await;
    }
    assert!(app.models.is_lent());
    app.models.leave(false);
    let answer = rest(stream).await;
    assert!(answer.contains("cancelled") && !answer.contains("[DONE]"), "{answer}");
    let is_own = |state: &EngineState| matches!(state, EngineState::Ready { model, .. } if !model.path.ends_with("other"));
    timeout(TIMEOUT, engine.wait_for(is_own)).await.unwrap().unwrap();
    let short = rest(ask(port, "default", &json!({"max_tokens": 4}))).await;
    assert!(short.contains(r#""model":"Demo-model""#), "{short}");
    app.engine.shut_down();
}

#[tokio::test]
async fn a_name_is_there_once_and_is_no_models() {
    let running = running().await;
    let app = &running.app;
    let named = |names: &[&str]| LocalApiSettings {
        aliases: names.iter().map(|name| ApiAlias { name: (*name).into(), model: None }).collect(),
        ..LocalApiSettings::default()
    };
    let saved = || app.settings.current().local_api.aliases.len();
    for (names, code) in [
        (&["gpt-*", "o3", "GPT-*"][..], "api_alias_twice"),
        (&["demo-MODEL"], "api_alias_of_model"),
        (&["Demo model"], "api_alias_of_model"),
        (&["Default"], "api_alias_of_model"),
    ] {
        let before = saved();
        let error = app.local_api.change(named(names)).await.unwrap_err();
        assert_eq!((error.code.as_str(), saved()), (code, before), "{names:?}");
        assert!(error.message.contains(names.last().unwrap()), "{error}");
    }
    app.local_api.change(named(&["gpt-*", "gpt-5", "demo-*"])).await.unwrap();
    assert_eq!(saved(), 3);

    // A model came that is called like a name on the list.
    app.settings.file.update(|all| all.local_api = named(&["demo-model"])).written().await.unwrap();
    app.local_api.change(named(&["demo-model", "o3"])).await.unwrap();
    app.local_api.change(named(&[])).await.unwrap();
    assert_eq!(app.local_api.change(named(&["demo-model"])).await.unwrap_err().code, "api_alias_of_model");
    app.engine.shut_down();
}
