//! A place to run the app in: a screen, a home folder and a message bus of its own. Everything that runs there ends
//! with it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use foretoken_tests::programs::built;
use tempfile::TempDir;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, MapState};
use x11rb::rust_connection::RustConnection;

use crate::support::webdriver::WebDriver;
use crate::support::window::Window;

/// How long a process may take to be started.
const TIMEOUT: Duration = Duration::from_secs(240);

pub(crate) struct Sandbox {
    home: TempDir,
    screen: Child,
    display: String,
    app: PathBuf,
    variables: Vec<(String, String)>,
    keychain: bool,
}

/// Processors draw here, and no page lives long enough for the compiler that optimises most.
const WITHOUT_GPU: [(&str, &str); 4] = [
    ("LIBGL_ALWAYS_SOFTWARE", "1"),
    ("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1"),
    ("LP_NUM_THREADS", "0"),
    ("JSC_useFTLJIT", "0"),
];

/// What a page draws that its own fonts do not have must not depend on what else is installed.
const FONTS: &str = r#"<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts/truetype/dejavu</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"#;

/// Runs a program in a session with an unlocked keychain. The daemon ends with the session's bus.
const WITH_KEYCHAIN: &str =
    "printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec \"$@\"";

impl Sandbox {
    /// A screen of this size, and an empty home.
    pub(crate) fn new(width: u32, height: u32) -> Self {
        // Without `-noreset` it begins anew when the last program leaves it, and refuses those that come meanwhile.
        let mut screen = Command::new("Xvfb")
            .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp"])
            .args(["-screen", "0", &format!("{width}x{height}x24")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed (Debian package xvfb)");
        let mut display = String::new();
        let output = screen.stdout.take().expect("its output is a pipe");
        BufReader::new(output).read_line(&mut display).expect("Xvfb names its display");
        let home = tempfile::tempdir().expect("a folder for the home");
        fs::DirBuilder::new().mode(0o700).create(home.path().join("run")).expect("a folder for sockets");
        let display = format!(":{}", display.trim());
        Self { home, screen, display, app: built("foretoken"), variables: Vec::new(), keychain: false }
    }

    /// Lets the app that is opened here have this program of the workspace as its engine, which it finds beside itself.
    pub(crate) fn use_engine(&mut self, engine: &str) {
        let folder = self.home().join("app");
        fs::create_dir(&folder).expect("the home takes a folder");
        symlink(built(engine), folder.join("foretoken-engine")).expect("the home takes a link");
        // By a symbolic link it would find the engine that was built beside it.
        let built = std::mem::replace(&mut self.app, folder.join("foretoken"));
        if fs::hard_link(&built, &self.app).is_err() {
            fs::copy(&built, &self.app).expect("the home takes the app");
        }
    }

    /// Gives the app that is opened here a variable.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Has what the desktop would start for an address write that down. Returns where: a line for each.
    pub(crate) fn watch_browser(&mut self) -> PathBuf {
        let (opened, programs) = (self.home().join("opened"), self.home().join("programs"));
        fs::create_dir(&programs).expect("the home takes a folder");
        let browser = programs.join("xdg-open");
        let script = format!("#!/bin/sh\necho \"$1\" >> {}\n", opened.display());
        fs::write(&browser, script).expect("the home takes a file");
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("it may be run");
        let path = std::env::var("PATH").unwrap_or_default();
        self.set("PATH", &format!("{}:{path}", programs.display()));
        opened
    }

    /// Gives the app that is opened here a keychain of its own. False where none is installed, which is said.
    pub(crate) fn add_keychain(&mut self) -> bool {
        self.keychain = Command::new("gnome-keyring-daemon").arg("--version").output().is_ok();
        if !self.keychain {
            eprintln!("SKIPPED: there is no gnome-keyring-daemon (Debian package gnome-keyring)");
        }
        self.keychain
    }

    /// A folder for files of the test.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Where the app keeps its data.
    pub(crate) fn data(&self) -> PathBuf {
        self.home().join(".local/share/dev.foretoken.Foretoken")
    }

    /// Where the app keeps its settings.
    pub(crate) fn settings(&self) -> PathBuf {
        self.home().join(".config/dev.foretoken.Foretoken")
    }

    /// The name of the screen.
    pub(crate) fn display(&self) -> &str {
        &self.display
    }

    /// Opens the app and waits until its model is ready.
    pub(crate) fn open(&self) -> Window<'_> {
        self.open_program(&self.app)
    }

    /// The same, by a program that runs the app.
    pub(crate) fn open_program(&self, program: &Path) -> Window<'_> {
        let variables = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let (bus, port) = self.start_driver(variables.chain([("TAURI_WEBVIEW_AUTOMATION", "true")]));
        Window::open(self, bus, WebDriver::connect(port, Some(program)))
    }

    /// Opens an empty page in WebKit's own browser, which has this GTK theme, and of the system's fonts only DejaVu.
    pub(crate) fn browse(&self, theme: &str) -> Window<'_> {
        let fonts = self.home().join("fonts.conf");
        fs::write(&fonts, FONTS).expect("the home takes a file");
        let fonts = fonts.to_str().expect("temporary folders have plain names");
        let (bus, port) = self.start_driver([("GTK_THEME", theme), ("FONTCONFIG_FILE", fonts)]);
        Window::browse(self, bus, WebDriver::connect(port, None))
    }

    /// Starts a driver with a message bus of its own. Returns that bus and the driver's port.
    fn start_driver<'a>(&self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> (Child, u16) {
        let port = free_port();
        let session: &[&str] = if self.keychain { &["--", "sh", "-c", WITH_KEYCHAIN, "sh"] } else { &["--"] };
        let bus = Command::new("dbus-run-session")
            .args(session)
            .args(["WebKitWebDriver", "--host=127.0.0.1", &format!("--port={port}")])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("XDG_RUNTIME_DIR", self.home().join("run"))
            .env("DISPLAY", &self.display)
            .env("LANG", "C.UTF-8")
            .env("NO_AT_BRIDGE", "1")
            .envs(WITHOUT_GPU)
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(self.log())
            .spawn()
            .expect("dbus-run-session is installed (Debian package dbus)");
        (bus, port)
    }

    /// What the programs say on stderr.
    fn log(&self) -> fs::File {
        let path = self.home().join("stderr.log");
        fs::File::options().create(true).append(true).open(path).expect("a log in the home")
    }

    /// The programs that run on this sandbox.
    pub(crate) fn programs(&self) -> BTreeSet<PathBuf> {
        self.processes().into_iter().filter_map(|id| fs::read_link(format!("/proc/{id}/exe")).ok()).collect()
    }

    /// The processes on this sandbox that run one of these programs, as they are now.
    pub(crate) fn processes_of(&self, programs: &[PathBuf]) -> BTreeSet<u32> {
        let runs =
            |id: &u32| fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|path| programs.contains(&path));
        self.processes().into_iter().filter(runs).collect()
    }

    /// The processes on this sandbox that run a program.
    pub(crate) fn running(&self, program: &str) -> Vec<u32> {
        let path = if program == "foretoken" { self.app.clone() } else { built(program) };
        self.processes_of(&[path]).into_iter().collect()
    }

    /// Starts the app once more, as somebody does who has forgotten that it runs. Whether that start ended by itself.
    pub(crate) fn launch_again(&self) -> bool {
        // It may be another copy of it.
        let is_app = |id: &u32| {
            fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|program| program.ends_with("foretoken"))
        };
        let first = self.processes().into_iter().find(is_app).expect("the app runs");
        let environment = fs::read(format!("/proc/{first}/environ")).expect("a process tells its variables");
        let variables = environment.split(|&byte| byte == 0).filter_map(|variable| {
            let (name, value) = std::str::from_utf8(variable).ok()?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        let mut second = Command::new(&self.app)
            .env_clear()
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(self.log())
            .spawn()
            .expect("the app can be started");
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            if let Ok(Some(status)) = second.try_wait() {
                return status.success();
            }
            sleep(Duration::from_millis(20));
        }
        let _ = second.kill();
        let _ = second.wait();
        false
    }

    /// How many windows of the app are on the screen.
    pub(crate) fn shown_windows(&self) -> usize {
        let (connection, screen) = RustConnection::connect(Some(&self.display)).expect("the screen answers");
        let root = connection.setup().roots[screen].root;
        let tree = connection.query_tree(root).expect("a request").reply().expect("an answer");
        let is_shown = |&window: &u32| {
            let attributes = connection.get_window_attributes(window).ok()?.reply().ok()?;
            let size = connection.get_geometry(window).ok()?.reply().ok()?;
            Some(attributes.map_state == MapState::VIEWABLE && size.width > 100)
        };
        tree.children.iter().filter(|window| is_shown(window).unwrap_or(false)).count()
    }

    /// Kills the one process on this sandbox that runs a program, as a fault would.
    pub(crate) fn kill(&self, program: &str) {
        let running = self.running(program);
        assert_eq!(running.len(), 1, "one process runs {program}: {running:?}");
        signal("-KILL", &running);
    }

    /// Waits for a process of a program that was started with this command, and holds it where it is.
    pub(crate) fn suspend(&self, program: &str, command: &str) -> Suspended {
        let started = Instant::now();
        loop {
            let does = |id: &u32| {
                fs::read(format!("/proc/{id}/cmdline"))
                    .is_ok_and(|line| line.split(|&byte| byte == 0).any(|word| word == command.as_bytes()))
            };
            if let Some(process) = self.running(program).into_iter().find(does) {
                signal("-STOP", &[process]);
                return Suspended { process };
            }
            assert!(started.elapsed() < TIMEOUT, "no {program} {command} was started");
            sleep(Duration::from_millis(1));
        }
    }

    /// The address of the app's message bus.
    pub(crate) fn bus(&self) -> String {
        let app =
            self.running("foretoken").into_iter().find_map(|id| variable(id, "DBUS_SESSION_BUS_ADDRESS"));
        app.expect("the app runs in a session")
    }

    /// Everything that runs here, known by its home.
    fn processes(&self) -> Vec<u32> {
        let home = self.home().to_str().expect("temporary folders have plain names");
        let lives_here = |id: &u32| variable(*id, "HOME").is_some_and(|found| found == home);
        let numbers = fs::read_dir("/proc").expect("Linux lists processes in /proc").flatten();
        numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(lives_here).collect()
    }

    /// Ends everything that runs here.
    pub(crate) fn kill_all(&self) {
        // A process may start another while it is being ended.
        for _ in 0..10 {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            signal("-KILL", &left);
        }
    }
}

/// A process that stands still until it may go on.
pub(crate) struct Suspended {
    process: u32,
}

impl Suspended {
    pub(crate) fn resume(self) {
        signal("-CONT", &[self.process]);
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.kill_all();
        let _ = self.screen.kill();
        let _ = self.screen.wait();
        if std::thread::panicking()
            && let Ok(log) = fs::read_to_string(self.home().join("stderr.log"))
        {
            eprintln!("--- what the programs said ---\n{log}");
        }
    }
}

/// A variable that a process was started with.
fn variable(process: u32, name: &str) -> Option<String> {
    let variables = fs::read(format!("/proc/{process}/environ")).ok()?;
    let mut values = variables.split(|&byte| byte == 0).filter_map(|variable| {
        std::str::from_utf8(variable).ok()?.strip_prefix(name)?.strip_prefix('=').map(str::to_owned)
    });
    values.next()
}

fn signal(name: &str, processes: &[u32]) {
    // One that has ended in the meantime is no failure.
    let ids = processes.iter().map(u32::to_string);
    let _ = Command::new("kill").arg(name).args(ids).stderr(Stdio::null()).status();
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("the port has a number").port()
}
