//! Servers on the person's list, with real programs: what switches them on, what they may do then, and that nothing of
//! them runs that the person has not agreed to.

mod offers;
mod sign_in;

use std::fs;
use std::future::{Future, pending};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use foretoken_protocol::{
    AppEvent, NamedValue, PermittedTool, PermittedTools, ServerForm, ServerInfo, ServerQuestion,
    ServerStatus, ServerTransport, ServerWants, ToolFolder, ToolGrant,
};
use foretoken_test_mcp::{Fault, program};
use foretoken_tools::{OfferedTool, Outcome, ResultPart, ServerError};
use serde_json::{Value, json};
use tauri::ipc::Channel;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{sleep, timeout};

use super::consent::Question;
use super::secrets::tests::Fake;
use super::surroundings::Surroundings;
use super::*;
use crate::settings::SettingsFile;
use crate::testing::TIMEOUT;

/// Until a call is with its server.
const A_WHILE: Duration = Duration::from_millis(500);

/// A list of servers in a folder of its own, which is the person's home too.
struct Place {
    folder: TempDir,
    keychain: Fake,
    store: ChatStore,
    toolbox: Arc<Toolbox>,
    events: UnboundedReceiver<ToolsStateSeen>,
}

/// What the page was told of servers.
type ToolsStateSeen = Vec<ServerInfo>;

fn place() -> Place {
    with(Fake::default())
}

fn with(keychain: Fake) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let store = ChatStore::open(folder.path().join("chats.sqlite")).unwrap();
    let events = Arc::<AppEvents>::default();
    let file = Arc::new(SettingsFile::open(folder.path().join("settings.json")).unwrap());
    let settings = Arc::new(AppSettings::new(file, Arc::clone(&events)));
    let person = [("HOME", folder.path().to_str().unwrap()), ("PATH", "/usr/bin:/bin"), ("HF_TOKEN", "hf_x")];
    let person = person.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let toolbox = Toolbox::within(
        store.clone(),
        settings,
        Arc::clone(&events),
        folder.path().join("tools"),
        Surroundings::of(person.into()),
        Box::new(keychain.clone()),
    );
    let (told, heard) = unbounded_channel();
    events.subscribe(
        "settings",
        Channel::new(move |body| {
            let tauri::ipc::InvokeResponseBody::Json(json) = body else { panic!("messages are JSON") };
            if let AppEvent::Tools { tools } = serde_json::from_str(&json).unwrap() {
                let _ = told.send(tools.servers);
            }
            Ok(())
        }),
    );
    Place { folder, keychain, store, toolbox: Arc::new(toolbox), events: heard }
}

impl Place {
    /// Where a server writes what it did. Its path is in no other command line.
    fn log(&self, slug: &str) -> PathBuf {
        self.folder.path().join(format!("{slug}.log"))
    }

    fn form(&self, name: &str, arguments: &[&str]) -> ServerForm {
        let log = self.log(name).to_str().unwrap().to_owned();
        let fixed = ["--log".to_owned(), log];
        ServerForm {
            slug: None,
            name: name.into(),
            transport: ServerTransport::Program {
                command: program().to_str().unwrap().into(),
                arguments: fixed.into_iter().chain(arguments.iter().map(ToString::to_string)).collect(),
                environment: Vec::new(),
                folder: None,
            },
            values: Vec::new(),
        }
    }

    async fn put(&self, form: ServerForm) -> String {
        in_time(self.toolbox.put(form)).await.unwrap()
    }

    /// Switches a server on or off; the person says yes.
    async fn enable(&self, slug: &str, enabled: bool) -> bool {
        in_time(self.toolbox.enable_if(slug, enabled, async |_| true)).await.unwrap()
    }

    /// A server that is on.
    async fn on(&self, name: &str, arguments: &[&str]) -> String {
        let slug = self.put(self.form(name, arguments)).await;
        assert!(self.enable(&slug, true).await);
        slug
    }

    async fn server(&self, slug: &str) -> ServerInfo {
        let state = self.toolbox.state().await;
        state.servers.into_iter().find(|server| server.slug == slug).unwrap()
    }

    async fn offered(&self, slug: &str, tool: &str) -> OfferedTool {
        let (offer, errors) = in_time(self.toolbox.offer(&[slug.to_owned()])).await;
        assert_eq!(errors, []);
        offer.find(&format!("{slug}__{tool}")).unwrap().clone()
    }

    async fn call(&self, tool: &OfferedTool, with: Value) -> Result<Outcome, ToolboxError> {
        let arguments = with.as_object().cloned().unwrap();
        in_time(self.toolbox.call(tool, arguments, None, pending())).await
    }

    /// Allows a tool everywhere, as it is.
    async fn permit(&self, tool: &OfferedTool) {
        let (server, fingerprint) = (tool.server.clone().unwrap(), tool.server_fingerprint.clone());
        let permitted =
            PermittedTool { tool: tool.definition.name.clone(), fingerprint: tool.fingerprint.clone() };
        let permitted = PermittedTools::One { tool: permitted };
        let permit = move |store: &mut Store| store.permit_tools(&server, &fingerprint, &permitted, None);
        self.store.call(permit).await.unwrap();
    }

    /// What the person has allowed of a tool, with the server as it is now.
    async fn allowed(&self, tool: &OfferedTool) -> Option<ToolGrant> {
        let slug = tool.server.clone().unwrap();
        let now = in_time(self.toolbox.server_fingerprint(&slug)).await?;
        let (name, fingerprint) = (tool.definition.name.clone(), tool.fingerprint.clone());
        self.store.call(move |store| store.allowed(0, &slug, &now, &name, &fingerprint)).await.unwrap()
    }

    /// Processes that have the log in their command line, other than those that are dead and only not reaped yet.
    fn running(&self, name: &str) -> usize {
        self.processes(name).len()
    }

    fn processes(&self, name: &str) -> Vec<String> {
        let found = Command::new("pgrep").arg("-f").arg(self.log(name)).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        let status = |id: &str| Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap().stdout;
        let is_alive = |id: &&str| !matches!(status(id).trim_ascii_start(), [] | [b'Z', ..]);
        found.lines().filter(is_alive).map(str::to_owned).collect()
    }

    /// All that is stored of servers, as text.
    async fn stored(&self) -> String {
        format!("{:?}", self.store.call(|store| store.tool_servers()).await.unwrap())
    }
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    timeout(TIMEOUT, work).await.expect("it ends in time")
}

fn text(outcome: &Outcome) -> &str {
    let [ResultPart::Text { text }] = &outcome.parts[..] else { panic!("{outcome:?}") };
    text
}

fn value(name: &str, value: Option<&str>) -> NamedValue {
    NamedValue { name: name.into(), value: value.map(str::to_owned) }
}

#[tokio::test]
async fn a_server_is_off_until_the_person_agrees_to_all_that_it_runs() {
    let mut place = place();
    let slug = place.put(place.form("My files", &["--flag"])).await;
    assert_eq!(slug, "my-files");
    assert!(!place.server(&slug).await.enabled);
    assert!(!place.events.recv().await.unwrap()[0].enabled);
    assert_eq!(place.toolbox.server_fingerprint(&slug).await, None);
    let error = place.toolbox.start(slug.clone()).await.unwrap_err();
    assert_eq!(error.code, "server_off");

    let mut shown = None;
    let refuses = async |question: Question| {
        shown = Some(question);
        false
    };
    assert!(!place.toolbox.enable_if(&slug, true, refuses).await.unwrap());
    let shown = format!("{shown:?}");
    let log = place.log("My files");
    for part in [program().to_str().unwrap(), "1. --log", log.to_str().unwrap(), "3. --flag"] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(!place.server(&slug).await.enabled, "the person has said no");

    assert!(place.enable(&slug, true).await);
    assert!(place.server(&slug).await.enabled);
    let asked_again = async |_| panic!("the person has agreed to it already");
    assert!(place.toolbox.enable_if(&slug, true, asked_again).await.unwrap());
    assert_eq!(place.running("My files"), 0, "nothing has used it yet");
}

#[tokio::test]
async fn what_changes_while_the_person_reads_is_not_agreed_to() {
    let place = place();
    let slug = place.put(place.form("files", &[])).await;
    let changed = ServerForm { slug: Some(slug.clone()), ..place.form("files", &["--evil"]) };
    let toolbox = Arc::clone(&place.toolbox);
    let asking = async |_| {
        toolbox.put(changed).await.unwrap();
        // Whoever asks meanwhile is asked nothing.
        let second = async |_| panic!("two dialogs at once");
        assert!(!toolbox.enable_if("files", true, second).await.unwrap());
        true
    };
    let error = in_time(place.toolbox.enable_if(&slug, true, asking)).await.unwrap_err();
    assert_eq!(error.code, "server_not_agreed");
    assert!(!place.server(&slug).await.enabled);
}

#[tokio::test]
async fn an_offer_starts_servers_pins_their_tools_and_calls_them() {
    let place = place();
    let slug = place.on("files", &[]).await;
    let sources = ["nobody", "calculator", "files", "files"].map(str::to_owned);
    let (offer, errors) = in_time(place.toolbox.offer(&sources)).await;
    assert_eq!(errors, []);
    assert_eq!(offer.sources, ["calculator", "files"]);
    let add = offer.find("files__add").unwrap();
    assert_eq!(add.server_fingerprint, place.toolbox.server_fingerprint(&slug).await.unwrap());
    assert_eq!(text(&place.call(add, json!({"a": 2, "b": 3})).await.unwrap()), "5");
    let sum = place.call(offer.find("calculator").unwrap(), json!({"expression": "2 + 3"})).await.unwrap();
    assert_eq!((text(&sum), sum.failed), ("5", false));

    let server = place.server(&slug).await;
    assert_eq!(server.status, ServerStatus::Running);
    assert_eq!(server.program.as_deref(), program().to_str());
    assert_eq!(server.tools.len(), 8);
    assert_eq!(server.tools[0].description, "Adds two integers.");
    assert_eq!(server.tools[0].claims.reads_only, Some(true));
    let pins = place.store.call(|store| store.tool_pins("files")).await.unwrap();
    let add_pin = pins.iter().find(|pin| pin.tool == "add").unwrap();
    assert_eq!(add_pin.fingerprint, add.fingerprint);

    // It works in a folder of its own, and knows nothing of the app's environment.
    let told = place.call(&place.offered(&slug, "environment").await, json!({})).await.unwrap();
    assert!(text(&told).contains("/tools/files\"") && !text(&told).contains("HF_TOKEN"), "{told:?}");
    assert_eq!(place.running("files"), 1);
    in_time(place.toolbox.close()).await;
    assert_eq!(place.running("files"), 0);
    let error = place.call(add, json!({"a": 2, "b": 3})).await.unwrap_err();
    assert!(matches!(error, ToolboxError::Server(ServerError::Stopped)), "the app ends: {error}");
    assert_eq!(place.running("files"), 0);
}

#[tokio::test]
async fn a_server_that_runs_something_else_is_off_and_what_was_allowed_of_it_does_not_hold() {
    let place = place();
    let slug = place.on("files", &[]).await;
    let add = place.offered(&slug, "add").await;
    place.permit(&add).await;
    assert!(place.allowed(&add).await.is_some());

    let renamed = ServerForm { slug: Some(slug.clone()), name: "Notes".into(), ..place.form("files", &[]) };
    assert_eq!(place.put(renamed).await, slug);
    let server = place.server(&slug).await;
    assert_eq!((server.name.as_str(), server.enabled), ("Notes", true));
    assert_eq!((server.status, place.running("files")), (ServerStatus::Running, 1), "a name changes nothing");
    assert!(place.allowed(&add).await.is_some());

    let changed =
        ServerForm { slug: Some(slug.clone()), ..place.form("files", &["--fault", "junk_on_stdout"]) };
    place.put(changed).await;
    assert!(!place.server(&slug).await.enabled);
    assert_eq!(place.running("files"), 0, "it is stopped");
    assert_eq!(place.allowed(&add).await, None);
    let error = place.call(&add, json!({"a": 1, "b": 1})).await.unwrap_err();
    assert!(matches!(error, ToolboxError::Off { .. }), "{error}");
    let (offer, errors) = place.toolbox.offer(std::slice::from_ref(&slug)).await;
    assert!(offer.sources.is_empty() && offer.is_empty() && errors.is_empty());

    assert!(place.enable(&slug, true).await);
    assert_eq!(place.allowed(&add).await, None, "it was allowed of another");
    let error = place.call(&add, json!({"a": 1, "b": 1})).await.unwrap_err();
    assert!(matches!(error, ToolboxError::OtherServer { .. }), "{error}");
    assert_eq!(place.running("files"), 0);
}

#[tokio::test]
async fn a_program_that_is_found_elsewhere_is_not_the_one_that_was_agreed_to() {
    let place = place();
    let bin = place.folder.path().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(program(), bin.join("foretoken-owl")).unwrap();
    let mut form = place.form("files", &[]);
    let ServerTransport::Program { command, .. } = &mut form.transport else { unreachable!() };
    *command = "foretoken-owl".into();
    let slug = place.put(form).await;
    assert!(place.enable(&slug, true).await);
    let add = place.offered(&slug, "add").await;
    assert_eq!(place.server(&slug).await.program.as_deref(), bin.join("foretoken-owl").to_str());
    place.toolbox.stop_all().await.unwrap();

    // Somebody else's program has the name now.
    let mut moved = place;
    let toolbox = Arc::get_mut(&mut moved.toolbox).unwrap();
    let other = moved.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(program(), other.join("foretoken-owl")).unwrap();
    let home = moved.folder.path().to_str().unwrap().to_owned();
    let person = [("HOME", home.as_str()), ("PATH", other.to_str().unwrap())];
    let person = person.map(|(name, value)| (name.to_owned(), value.to_owned()));
    toolbox.surroundings = Surroundings::of(person.into());
    assert_eq!(moved.toolbox.server_fingerprint(&slug).await, None);
    let error = moved.call(&add, json!({"a": 1, "b": 1})).await.unwrap_err();
    assert!(matches!(error, ToolboxError::NotAgreed { .. }), "{error}");
    assert_eq!(moved.running("files"), 0);
    assert!(!moved.server(&slug).await.enabled, "the person sees that it is off");
}

#[tokio::test]
async fn a_call_after_the_server_was_switched_off_is_refused_and_one_that_runs_ends() {
    let place = place();
    let slug = place.on("files", &[]).await;
    let (slow, append) = (place.offered(&slug, "slow").await, place.offered(&slug, "append").await);
    let switched_off = async {
        sleep(A_WHILE).await;
        place.enable(&slug, false).await
    };
    let (ended, is_on) = tokio::join!(place.call(&slow, json!({"seconds": 60})), switched_off);
    assert!(matches!(ended, Err(ToolboxError::Server(ServerError::Stopped))), "{ended:?}");
    assert!(!is_on);
    assert_eq!(place.running("files"), 0);
    let refused = place.call(&append, json!({"text": "x"})).await.unwrap_err();
    assert!(matches!(&refused, ToolboxError::Off { name } if name == "files"), "{refused}");
    assert_eq!(place.running("files"), 0);

    place.toolbox.remove(slug.clone()).await.unwrap();
    let gone = place.call(&append, json!({"text": "x"})).await.unwrap_err();
    assert!(matches!(gone, ToolboxError::Server(ServerError::NotConfigured { .. })), "{gone}");
    assert!(place.toolbox.state().await.servers.is_empty());
    assert!(!place.folder.path().join("tools/files").exists(), "nothing was in its folder");
}

#[tokio::test]
async fn stopping_all_leaves_no_process_and_no_permission() {
    let place = place();
    let (one, two) = (place.on("one", &[]).await, place.on("two", &["--fault", "grandchild"]).await);
    let slow = place.offered(&one, "slow").await;
    let add = place.offered(&two, "add").await;
    place.permit(&add).await;
    assert_eq!(place.toolbox.state().await.permissions.len(), 1);
    let stopped = async {
        sleep(A_WHILE).await;
        in_time(place.toolbox.stop_all()).await
    };
    let (ended, stopped) = tokio::join!(place.call(&slow, json!({"seconds": 60})), stopped);
    assert!(matches!(ended, Err(ToolboxError::Server(ServerError::Stopped))), "{ended:?}");
    stopped.unwrap();
    assert_eq!((place.running("one"), place.running("two")), (0, 0));
    let state = place.toolbox.state().await;
    assert_eq!(state.permissions, []);
    assert!(state.servers.iter().all(|server| server.enabled && server.status == ServerStatus::Stopped));
    assert_eq!(place.allowed(&add).await, None);
}

#[tokio::test]
async fn what_is_allowed_in_a_temporary_chat_goes_too() {
    let place = place();
    let slug = place.on("files", &["--fault", Fault::ChangesTools.as_argument()]).await;
    let (add, fail) = (place.offered(&slug, "add").await, place.offered(&slug, "fail").await);
    let path = place.folder.path().join("temporary");
    let chat = place.store.begin_temporary(path, "A chat".into(), |_| {}).await.unwrap();
    for tool in [&add, &fail] {
        let (server, fingerprint) = (slug.clone(), tool.server_fingerprint.clone());
        let permitted =
            PermittedTool { tool: tool.definition.name.clone(), fingerprint: tool.fingerprint.clone() };
        let permit = move |store: &mut Store| {
            store.permit_tools(&server, &fingerprint, &PermittedTools::One { tool: permitted }, Some(chat))
        };
        place.store.call_for(chat, permit).await.unwrap();
    }
    let given = async || place.store.call_for(chat, |store| store.tool_permissions()).await.unwrap().len();
    let of_one = async {
        while given().await == 2 {
            place.toolbox.server_fingerprint(&slug).await;
            sleep(Duration::from_millis(20)).await;
        }
    };
    in_time(of_one).await;
    assert_eq!(given().await, 1, "the other tool is as it was");
    in_time(place.toolbox.stop_all()).await.unwrap();
    assert_eq!(given().await, 0);
}

#[tokio::test]
async fn a_stopped_call_ends_and_the_next_one_is_answered() {
    let place = place();
    let slug = place.on("files", &[]).await;
    let (slow, add) = (place.offered(&slug, "slow").await, place.offered(&slug, "add").await);
    let arguments = json!({"seconds": 60}).as_object().cloned().unwrap();
    let stop = sleep(Duration::from_millis(100));
    let ended = in_time(place.toolbox.call(&slow, arguments, None, stop)).await;
    assert!(matches!(ended, Err(ToolboxError::Server(ServerError::Stopped))), "{ended:?}");
    assert_eq!(text(&place.call(&add, json!({"a": 2, "b": 3})).await.unwrap()), "5");
    in_time(place.toolbox.close()).await;
}

#[tokio::test]
async fn a_tool_that_has_become_another_is_not_called_on_what_was_allowed_before() {
    let place = place();
    let slug = place.on("files", &["--fault", Fault::ChangesTools.as_argument()]).await;
    let add = place.offered(&slug, "add").await;
    place.permit(&add).await;
    // It says so a while after it was first asked.
    let changed = async {
        loop {
            match place.call(&add, json!({"a": 1, "b": 1})).await {
                Ok(_) => sleep(Duration::from_millis(20)).await,
                Err(error) => return error,
            }
        }
    };
    let error = in_time(changed).await;
    assert!(matches!(&error, ToolboxError::OtherTool { tool } if tool == "files__add"), "{error}");
    assert_eq!(place.allowed(&add).await, None);
    assert_eq!(place.toolbox.state().await.permissions, []);
    // Whom the person allows it, it answers.
    assert_eq!(text(&place.call(&add, json!({"a": 1, "b": 1})).await.unwrap()), "2");
    let again = place.offered(&slug, "add").await;
    assert_ne!(again.fingerprint, add.fingerprint);
    in_time(place.toolbox.close()).await;
}

#[tokio::test]
async fn what_was_allowed_of_a_changed_tool_is_gone_before_it_is_looked_up() {
    let place = place();
    let slug = place.on("files", &["--fault", Fault::ChangesTools.as_argument()]).await;
    let add = place.offered(&slug, "add").await;
    place.permit(&add).await;
    let gone = async {
        while place.allowed(&add).await.is_some() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    in_time(gone).await;
    in_time(place.toolbox.close()).await;
}

#[tokio::test]
async fn of_several_servers_the_one_that_fails_is_named_and_the_others_are_offered() {
    let place = place();
    place.on("good", &[]).await;
    place.on("Broken one", &["--fault", Fault::DiesAtStart.as_argument()]).await;
    let off = place.put(place.form("off", &[])).await;
    let sources = ["good".to_owned(), "broken-one".to_owned(), off, "current_date".to_owned()];
    let (offer, errors) = in_time(place.toolbox.offer(&sources)).await;
    assert_eq!(offer.sources, ["broken-one", "current_date", "good"]);
    assert_eq!((offer.tools.len(), offer.tools[0].name.as_str()), (9, "current_date"));
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.starts_with("Broken one: "), "{errors:?}");
    let server = place.server("broken-one").await;
    assert!(matches!(server.status, ServerStatus::Failed { .. }), "{server:?}");
    assert!(!place.toolbox.errors("broken-one").is_empty());
    in_time(place.toolbox.close()).await;
}

#[tokio::test]
async fn values_are_in_the_keychain_alone_and_reach_the_server() {
    let place = place();
    let slug = place.on("files", &[]).await;
    assert_eq!(place.keychain.asked.load(Ordering::Relaxed), 0, "it has no values");
    let form = |values: &[NamedValue]| ServerForm {
        slug: Some(slug.clone()),
        values: values.to_vec(),
        ..place.form("files", &[])
    };
    let kept = || place.keychain.secret.lock().unwrap().clone();
    place.put(form(&[value("TOKEN", Some("hunter2")), value("MODE", Some("fast"))])).await;
    assert_eq!(kept().unwrap(), r#"{"files":{"MODE":"fast","TOKEN":"hunter2"}}"#);
    assert!(!place.server(&slug).await.enabled, "it gets more than before");
    assert!(place.enable(&slug, true).await);
    let environment = place.offered(&slug, "environment").await;
    let told = place.call(&environment, json!({})).await.unwrap();
    assert!(text(&told).contains("\"TOKEN\"") && text(&told).contains("\"MODE\""), "{told:?}");

    place.put(form(&[value("TOKEN", None), value("MODE", None)])).await;
    assert!(place.server(&slug).await.enabled, "nothing has changed");
    place.put(form(&[value("TOKEN", None), value("MODE", Some("slow"))])).await;
    assert!(!place.server(&slug).await.enabled, "a program may do something else by it");
    place.put(form(&[value("TOKEN", None)])).await;
    assert_eq!(kept().unwrap(), r#"{"files":{"TOKEN":"hunter2"}}"#);
    let shown = format!("{}{:?}", place.stored().await, place.toolbox.state().await);
    assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");

    place.toolbox.remove(slug.clone()).await.unwrap();
    assert_eq!(kept(), None);
    place.put(ServerForm { slug: None, ..form(&[value("TOKEN", None)]) }).await;
    assert_eq!(kept(), None, "another server of this name has none of it");
}

#[tokio::test]
async fn a_new_value_of_a_header_needs_no_new_yes() {
    let place = place();
    let form = |slug: Option<&str>, value: &str| ServerForm {
        slug: slug.map(str::to_owned),
        name: "web".into(),
        transport: ServerTransport::Http { address: "http://127.0.0.1:1/mcp".into(), headers: Vec::new() },
        values: vec![self::value("Authorization", Some(value))],
    };
    let slug = place.put(form(None, "Bearer one")).await;
    assert!(place.enable(&slug, true).await);
    place.put(form(Some(&slug), "Bearer two")).await;
    assert!(place.server(&slug).await.enabled);
    let (_, errors) = in_time(place.toolbox.offer(std::slice::from_ref(&slug))).await;
    assert!(errors.len() == 1 && !format!("{errors:?}").contains("Bearer"), "{errors:?}");
    in_time(place.toolbox.close()).await;
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_and_changes_nothing() {
    let place = with(Fake { is_missing: true, ..Fake::default() });
    let slug = place.put(place.form("files", &[])).await;
    let before = place.stored().await;
    let changed = |transport: ServerTransport, values: Vec<NamedValue>| ServerForm {
        slug: Some(slug.clone()),
        name: "files".into(),
        transport,
        values,
    };
    let http = |address: &str| ServerTransport::Http { address: address.into(), headers: Vec::new() };
    let fine = place.form("files", &[]).transport;
    for (form, code) in [
        (changed(http("http://example.org"), Vec::new()), "server_address_unencrypted"),
        (changed(http("https://example.org"), vec![value("X-Key", Some("a\nb"))]), "server_header_value"),
        (changed(fine.clone(), vec![value("A", None), value("A", None)]), "server_named_twice"),
        (changed(fine.clone(), vec![value("A", Some("1"))]), "keychain_unavailable"),
        (ServerForm { slug: Some("none".into()), ..place.form("none", &[]) }, "server_not_configured"),
        (ServerForm { name: "\u{202e}".into(), ..place.form("x", &[]) }, "server_name"),
    ] {
        assert_eq!(place.toolbox.put(form).await.unwrap_err().code, code);
        assert_eq!(place.stored().await, before);
    }
    let missing = place.form("missing", &[]);
    let ServerTransport::Program { arguments, .. } = missing.transport.clone() else { unreachable!() };
    let transport = ServerTransport::Program {
        command: "foretoken-no-such".into(),
        arguments,
        environment: Vec::new(),
        folder: None,
    };
    let slug = place.put(ServerForm { transport, ..missing }).await;
    let asked = async |_| panic!("there is nothing to agree to");
    let error = place.toolbox.enable_if(&slug, true, asked).await.unwrap_err();
    assert_eq!(error.code, "server_command_not_found");
    assert_eq!(place.server(&slug).await.program, None);
}

#[tokio::test]
async fn servers_of_another_program_come_in_off_with_their_values_in_the_keychain() {
    let place = place();
    let settings = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    let list = place.folder.path().join(settings).join("Claude/claude_desktop_config.json");
    assert_eq!(place.toolbox.files().await, []);
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    let written = json!({ "mcpServers": {
        "GitHub": { "command": "npx", "args": ["-y", "server-github"], "env": { "GITHUB_TOKEN": "hunter2" } },
        "Web": { "url": "https://example.org/mcp", "headers": { "Authorization": "Bearer hunter2" } },
        "Old": { "type": "sse", "url": "https://example.org/sse" },
        "Plain": { "command": "uvx", "args": ["server-time"] },
    }});
    fs::write(&list, written.to_string()).unwrap();
    let files = place.toolbox.files().await;
    assert_eq!((files.len(), files[0].program.as_str()), (1, "Claude Desktop"));

    let other = place.folder.path().join("other.json");
    fs::copy(&list, &other).unwrap();
    let error = place.toolbox.import_file(other.to_str().unwrap().into()).await.unwrap_err();
    assert_eq!(error.code, "server_file_other");

    let imported = place.toolbox.import_file(files[0].path.clone()).await.unwrap();
    assert_eq!(imported.added, ["github", "web", "plain"]);
    assert_eq!((imported.left_out.len(), imported.left_out[0].name.as_str()), (1, "Old"));
    let state = place.toolbox.state().await;
    assert!(state.servers.len() == 3 && state.servers.iter().all(|server| !server.enabled));
    let shown = format!("{}{:?}", place.stored().await, state);
    assert!(shown.contains("GITHUB_TOKEN") && !shown.contains("hunter2"), "{shown}");
    let kept = place.keychain.secret.lock().unwrap().clone().unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let expected = json!({
        "github": { "GITHUB_TOKEN": "hunter2" },
        "web": { "Authorization": "Bearer hunter2" },
    });
    assert_eq!(kept, expected);
    assert_eq!(fs::read_to_string(&list).unwrap(), written.to_string());

    let again = place.toolbox.import_file(files[0].path.clone()).await.unwrap();
    assert_eq!((again.added.len(), again.left_out.len()), (0, 4), "they are there already");
}

#[tokio::test]
async fn without_a_keychain_servers_with_values_are_left_out() {
    let place = with(Fake { is_missing: true, ..Fake::default() });
    let list = json!({ "mcpServers": {
        "GitHub": { "command": "npx", "env": { "GITHUB_TOKEN": "hunter2" } },
        "Plain": { "command": "uvx" },
    }});
    let imported = place.toolbox.import(list.to_string()).await.unwrap();
    assert_eq!(imported.added, ["plain"]);
    assert_eq!(imported.left_out[0].error.code, "keychain_unavailable");
    assert_eq!(place.toolbox.import("{".into()).await.unwrap_err().code, "server_file_not_json");
}

#[tokio::test]
async fn folders_have_names_of_their_own_and_no_disk_is_given_away() {
    let place = place();
    let folders = ["a/Notes", "b/notes"].map(|folder| place.folder.path().join(folder));
    for folder in &folders {
        place.toolbox.add_folder(folder.clone()).await.unwrap();
    }
    let named = |folders: Vec<ToolFolder>| folders.into_iter().map(|folder| folder.name).collect::<Vec<_>>();
    assert_eq!(named(place.toolbox.state().await.folders), ["Notes", "notes 2"]);
    let refused = |error: ErrorReport| error.code;
    for too_much in ["/".into(), place.folder.path().to_owned()] {
        assert_eq!(refused(place.toolbox.add_folder(too_much).await.unwrap_err()), "tool_folder");
    }
    assert_eq!(refused(place.toolbox.add_folder(folders[0].clone()).await.unwrap_err()), "tool_folder_taken");
    place.toolbox.remove_folder("Notes").await.unwrap();
    assert_eq!(named(place.toolbox.state().await.folders), ["notes 2"]);
    let own = place.toolbox.state().await.built_in;
    let sources: Vec<_> = own.iter().map(|source| source.id.as_str()).collect();
    assert_eq!(
        sources,
        ["calculator", "current_date", "read_page", "search_web", "read_files", "write_files"]
    );
    assert!(own[0].tools[0].listed.starts_with(r#"{"type":"function","function":{"name":"calculator","#));
}

#[tokio::test]
async fn what_a_server_asks_stands_until_the_person_answers_or_the_call_is_over() {
    let place = place();
    let slug = place.on("files", &[]).await;
    let ask = place.offered(&slug, "ask").await;
    let toolbox = Arc::clone(&place.toolbox);
    tokio::spawn(async move { toolbox.follow().await });
    let asked = async || loop {
        if let Some(question) = place.toolbox.state().await.questions.pop() {
            return question;
        }
        sleep(Duration::from_millis(10)).await;
    };
    let answering = async {
        let ServerQuestion { id, server, wants, .. } = asked().await;
        assert_eq!(server, "files");
        let ServerWants::Form { fields } = wants else { panic!("it wants a form") };
        assert_eq!(fields[0].name, "name");
        let accept = |values: &str| ServerAnswer::Accept { values: Some(values.into()) };
        let wrong = place.toolbox.answer(id, accept(r#"{"name": 7}"#)).await.unwrap_err();
        assert_eq!(wrong.code, "server_form_misfilled");
        assert_eq!(place.toolbox.answer(id, accept(r#"{"name": "Ada"}"#)).await, Ok(None));
        let again = place.toolbox.answer(id, ServerAnswer::Decline).await.unwrap_err();
        assert_eq!(again.code, "server_question_gone");
    };
    let (greeted, ()) = tokio::join!(place.call(&ask, json!({})), answering);
    assert!(text(&greeted.unwrap()).contains("Ada"));
    assert_eq!(place.toolbox.state().await.questions, []);

    let stop = async {
        asked().await;
    };
    let stopped = in_time(place.toolbox.call(&ask, serde_json::Map::new(), None, stop)).await;
    assert!(matches!(stopped, Err(ToolboxError::Server(ServerError::Stopped))), "{stopped:?}");
    let none = async {
        while !place.toolbox.state().await.questions.is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    in_time(none).await;
    in_time(place.toolbox.close()).await;
}

#[tokio::test]
async fn the_page_hears_how_servers_are() {
    let mut place = place();
    let slug = place.on("files", &[]).await;
    let toolbox = Arc::clone(&place.toolbox);
    tokio::spawn(async move { toolbox.follow().await });
    place.toolbox.start(slug.clone()).await.unwrap();
    async fn until(place: &mut Place, wanted: fn(&ServerStatus) -> bool) {
        let heard = async {
            while !place.events.recv().await.unwrap().first().is_some_and(|server| wanted(&server.status)) {}
        };
        in_time(heard).await;
    }
    until(&mut place, |status| *status == ServerStatus::Running).await;
    let killed = Command::new("kill").arg("-KILL").args(place.processes("files")).status().unwrap();
    assert!(killed.success());
    until(&mut place, |status| matches!(status, ServerStatus::Failed { .. })).await;
    // Nobody asks for it by anything that the page did.
    place.toolbox.start(slug).await.unwrap();
    until(&mut place, |status| *status == ServerStatus::Running).await;
    in_time(place.toolbox.close()).await;
}
