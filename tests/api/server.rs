//! The server under test.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use foretoken_models::Library;
use foretoken_tests::fixtures::{demo_draft_model, demo_model};
use foretoken_tests::programs::built;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The engine that does as it is told.
pub(crate) const SCRIPTED: &str = "scripted-engine";
/// The real one.
pub(crate) const REAL: &str = "foretoken-engine";
/// Where a server logs that is to; in its home.
const LOG: &str = "log";
/// Where it puts temporary files; in its home.
pub(crate) const TEMPORARY: &str = "tmp";

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    pub(crate) port: u16,
    /// What it calls its model when it has started.
    pub(crate) model: String,
    /// Its home folder.
    pub(crate) home: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// In front of the engine that does as it is told.
    pub(crate) fn scripted(arguments: &[&str]) -> Self {
        Self::start(SCRIPTED, arguments, false)
    }

    /// In front of the real engine with the demo model.
    pub(crate) fn real(arguments: &[&str]) -> Self {
        Self::start(REAL, arguments, false)
    }

    /// In front of the real engine with the model in a folder.
    pub(crate) fn real_with(model: &Path, arguments: &[&str]) -> Self {
        let model = model.to_string_lossy();
        let arguments = [&["--model", &*model], arguments].concat();
        Self::start_in(tempfile::tempdir().unwrap(), REAL, &arguments, false)
    }

    /// In front of the engine that does as it is told, with a library of the models that are called so; the first is
    /// loaded. One that is called `dflash` is a draft model.
    pub(crate) fn with_library(names: &[&str], arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("models");
        Library::create(&root).unwrap();
        for name in names {
            let folder = root.join(name);
            fs::create_dir(&folder).unwrap();
            let from = if *name == "dflash" { demo_draft_model() } else { demo_model() };
            for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
                let to = folder.join(file.file_name());
                fs::hard_link(file.path(), &to).or_else(|_| fs::copy(file.path(), &to).map(drop)).unwrap();
            }
        }
        let root = root.to_string_lossy().into_owned();
        let arguments = [&["--no-token", "--models", &root, "--model", names[0]], arguments].concat();
        Self::start_in(home, SCRIPTED, &arguments, false)
    }

    /// In front of either, and it logs all that it can into a file.
    pub(crate) fn logging(engine: &str, arguments: &[&str]) -> Self {
        Self::start(engine, arguments, true)
    }

    /// What has been logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home.path().join(LOG)).unwrap()
    }

    fn start(engine: &str, arguments: &[&str], logs: bool) -> Self {
        let home = tempfile::tempdir().unwrap();
        let model = demo_model().to_string_lossy().into_owned();
        let arguments = [&["--model", &*model], arguments].concat();
        Self::start_in(home, engine, &arguments, logs)
    }

    fn start_in(home: TempDir, engine: &str, arguments: &[&str], logs: bool) -> Self {
        // A program finds its engine beside itself.
        let place = |name: &str, as_name: &str| {
            let place = home.path().join(as_name);
            fs::hard_link(built(name), &place).or_else(|_| fs::copy(built(name), &place).map(drop)).unwrap();
            place
        };
        let server = place("foretoken-server", "foretoken-server");
        place(engine, "foretoken-engine");
        let temporary = home.path().join(TEMPORARY);
        fs::create_dir_all(&temporary).unwrap();
        let mut command = command(&server, home.path());
        command.env("TMPDIR", temporary);
        if logs {
            let log = File::create(home.path().join(LOG)).unwrap();
            command.env("FORETOKEN_LOG", "trace").stderr(log);
        }
        let mut process =
            command.args(["--port", "0"]).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let started = lines.map_while(Result::ok).find_map(|line| {
            let (model, after) = line.split_once(" answers at http://localhost:")?;
            Some((after.strip_suffix("/v1")?.parse().ok()?, model.to_owned()))
        });
        let (port, model) = started.expect("the server says where it listens");
        Self { process, port, model, home }
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Asks it to end, and waits until it has; says whether it ended well.
    pub(crate) fn end(&mut self) -> bool {
        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.process.wait().unwrap().success()
    }
}

/// The program, with a home of its own.
pub(crate) fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env_remove("FORETOKEN_API_TOKEN")
        .env_remove("FORETOKEN_LOG");
    command
}

/// The body of a request whose question is a script for the engine.
pub(crate) fn scripted(script: &Value) -> Value {
    json!({"model": "default", "messages": [{"role": "user", "content": script.to_string()}]})
}

/// `body` with more fields.
pub(crate) fn with(mut body: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    body.as_object_mut().unwrap().extend(fields);
    body
}
