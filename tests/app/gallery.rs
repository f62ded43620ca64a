//! Pictures of every screen and state, light and dark: the page as it is built, with a scripted shell, pinned fonts and
//! a clock that stands still (`ui/gallery`). What a picture showed when it was kept, it shows today.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::picture::Picture;
use crate::support::sandbox::{Sandbox, free_port};
use crate::support::visual_check::{
    Size, Theme, axe_looks, come_to_rest, every_look, faults, load_axe, outside,
};
use crate::support::window::Window;

/// How much a channel may differ from the picture that is kept, and in how many pixels it may differ more. Of letters,
/// whose edges are soft, one line that moves is more; of surfaces, one that has the colour of another role.
const BOUNDS: [(u8, usize); 2] = [(40, 150), (8, 2500)];
/// The pictures that are kept have at most so many bytes together.
const MOST_BYTES: u64 = 11_000_000;
/// Keeps what is drawn where this variable is set.
const KEEP: &str = "FORETOKEN_GALLERY_KEEP";
/// Draws only states whose names begin so.
const ONLY: &str = "FORETOKEN_GALLERY_ONLY";

/// The windows of the app.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Pane {
    Main,
    Settings,
    Quick,
    Chat,
}

impl Pane {
    /// The size of the picture that is kept, as the window opens; the smallest and a large one.
    fn sizes(self) -> [Size; 3] {
        match self {
            Self::Main => [(1100, 760), (760, 520), (1600, 1000)],
            Self::Settings => [(880, 680), (720, 520), (1100, 760)],
            Self::Chat => [(820, 720), (480, 420), (1100, 760)],
            // It is as high as what it shows.
            Self::Quick => [(640, 560); 3],
        }
    }
}

/// What can be drawn.
#[derive(Debug, Deserialize)]
struct State {
    name: String,
    window: Pane,
}

/// In either theme, by turns unless [`every_look`] or a variable above asks for both: the pictures of one size are
/// compared with those that are kept, or kept, and whatever is wrong with a state is said, at that size, at the
/// smallest in light and at a large one in dark ([`Theme::sizes`]). At these, axe looks only where both themes are
/// drawn.
#[test]
fn every_state_looks_as_it_was_kept_and_fits_at_every_size() {
    let server = &Server::start();
    let wrong = thread::scope(|scope| {
        let themes = Theme::BOTH.map(|theme| scope.spawn(move || draw(server, theme)));
        let disguise = scope.spawn(move || draw_in_disguise(server));
        let [light, dark] = themes.map(|theme| theme.join().expect("the theme is drawn"));
        [light, dark, disguise.join().expect("it is drawn")].concat()
    });
    assert!(wrong.is_empty(), "{} things are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Draws every state, or in short runs every fifth, with texts that no language has, from right to left, and returns
/// what is wrong: what is still English, and is no text, and what lies outside.
fn draw_in_disguise(server: &Server) -> Vec<String> {
    let sandbox = Sandbox::new(1800, 1200);
    let window = sandbox.browse("Adwaita");
    let address = server.address();
    let only = std::env::var(ONLY).unwrap_or_default();
    let every = if every_look() || !only.is_empty() { 1 } else { 5 };
    let mut wrong = Vec::new();
    let states = states(&window, &address);
    for State { name, window: pane } in
        states.iter().step_by(every).filter(|state| state.name.starts_with(&only))
    {
        let (width, height) = pane.sizes()[0];
        window.resize(width, height);
        if let Err(fault) = show(&window, &format!("{address}?state={name}&disguise")) {
            wrong.push(format!("{name}: {fault}"));
            continue;
        }
        come_to_rest(&window);
        if every_look() || !only.is_empty() {
            write(
                &drawn_folder().join(format!("{name}-disguise.png")),
                &window.painted(&format!("{name}-disguise")),
            );
        }
        wrong.extend(outside(&window).iter().map(|fault| format!("{name}: {fault}")));
        let said = window.script("return window.undisguised", json!([]));
        if said != json!([]) {
            wrong.push(format!("{name}: not among the texts: {said}"));
        }
    }
    wrong
}

#[test]
fn a_line_that_moves_is_seen() {
    let kept = kept_folder().join("reply-light.png");
    let picture = Picture::read(&fs::read(&kept).expect("the picture of a reply is kept"));
    // From the first line of the reply on, and from the last line of the page on.
    for from in [180, 640] {
        assert!(!is_alike(differences(&picture, &picture.moved_down(from, 24))), "from {from}");
    }
    assert_eq!(differences(&picture, &picture.moved_down(180, 0)), [0, 0]);
}

/// Draws all states in a theme, and returns what is wrong with them.
fn draw(server: &Server, theme: Theme) -> Vec<String> {
    let sandbox = Sandbox::new(1800, 1200);
    let window = sandbox.browse(match theme {
        Theme::Light => "Adwaita",
        Theme::Dark => "Adwaita:dark",
    });
    let theme_name = theme.name();
    let address = server.address();
    let states = states(&window, &address);
    let only = std::env::var(ONLY).unwrap_or_default();
    let mut wrong = Vec::new();
    let all = every_look() || [KEEP, ONLY].iter().any(|variable| std::env::var_os(variable).is_some());
    let is_its_turn = |place: usize| matches!(theme, Theme::Light) == place.is_multiple_of(2);
    let asked = states.iter().enumerate().filter(|(place, _)| all || is_its_turn(*place));
    for (_, State { name, window: pane }) in asked.filter(|(_, state)| state.name.starts_with(&only)) {
        let sizes = pane.sizes();
        let kept @ (width, height) = sizes[0];
        window.resize(width, height);
        if let Err(fault) = show(&window, &format!("{address}?state={name}")) {
            wrong.push(format!("{name}-{theme_name}: {fault}"));
            continue;
        }
        load_axe(&window);
        for (i, (width, height)) in theme.sizes(&sizes).enumerate() {
            window.resize(width, height);
            come_to_rest(&window);
            let picture = format!("{name}-{theme_name}-{width}x{height}");
            let is_kept = (width, height) == kept;
            // Nobody looks at the others where all of them are drawn.
            if is_kept || !only.is_empty() {
                let png = window.painted(&picture);
                write(&drawn_folder().join(format!("{picture}.png")), &png);
                if is_kept {
                    wrong.extend(compare(&format!("{name}-{theme_name}"), &png));
                }
            }
            let axe = is_kept || (all && axe_looks(theme, i));
            let found = if axe { faults(&window) } else { outside(&window) };
            wrong.extend(found.iter().map(|fault| format!("{picture}: {fault}")));
        }
    }
    if only.is_empty() {
        let files = states.iter().map(|state| format!("{}-{theme_name}.png", state.name)).collect();
        wrong.extend(left_over(theme_name, &files));
    }
    wrong
}

/// What can be drawn.
fn states(window: &Window<'_>, address: &str) -> Vec<State> {
    window.driver.go_to(address).expect("the gallery opens");
    window.wait("the gallery says what it has", || {
        serde_json::from_value(window.script("return window.gallery", json!([]))).ok()
    })
}

/// Draws a state, or says why it cannot be drawn.
fn show(window: &Window<'_>, address: &str) -> Result<(), Value> {
    window.driver.go_to(address).expect("the page opens");
    let ready = window.wait("the state is there", || {
        Some(window.script("return window.ready", json!([]))).filter(|ready| *ready != json!(false))
    });
    if ready == json!(true) { Ok(()) } else { Err(ready) }
}

/// What is kept of a theme and of no state, and whether all that is kept is too much for a repository.
fn left_over(theme: &str, states: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut bytes = 0;
    for entry in fs::read_dir(kept_folder()).expect("pictures are kept").flatten() {
        bytes += entry.metadata().expect("a file has a size").len();
        let file = entry.file_name().into_string().expect("pictures have plain names");
        if file.ends_with(&format!("-{theme}.png")) && !states.contains(&file) {
            wrong.push(format!("{file} is of no state"));
        }
    }
    if bytes > MOST_BYTES {
        wrong.push(format!("the pictures have {bytes} bytes, and may have {MOST_BYTES}"));
    }
    wrong
}

/// Says how a picture differs from the one that is kept, or keeps it.
fn compare(name: &str, png: &[u8]) -> Option<String> {
    let path = kept_folder().join(format!("{name}.png"));
    let picture = Picture::read(png);
    let unlike = fs::read(&path).ok().map(|kept| differences(&picture, &Picture::read(&kept)));
    if unlike.is_some_and(is_alike) {
        return None;
    }
    if std::env::var_os(KEEP).is_some() {
        write(&path, &picture.write());
        println!("kept: {}", path.display());
        return None;
    }
    Some(match unlike {
        Some([pixels, surfaces]) => {
            format!(
                "{name}: {pixels} pixels are not as they were, and {surfaces} not quite (`cargo xtask gallery --keep`)"
            )
        }
        None => format!("{name}: no picture is kept (`cargo xtask gallery --keep`)"),
    })
}

/// How many pixels differ by more than each of the bounds allows.
fn differences(picture: &Picture, kept: &Picture) -> [usize; 2] {
    BOUNDS.map(|(tolerance, _)| picture.unlike(kept, tolerance))
}

fn is_alike(unlike: [usize; 2]) -> bool {
    unlike.iter().zip(BOUNDS).all(|(&pixels, (_, most))| pixels <= most)
}

/// Where the pictures are that were looked at.
fn kept_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("gallery")
}

/// Where all pictures are that were drawn last.
fn drawn_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gallery")
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("pictures lie in a folder")).expect("a folder for pictures");
    fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Serves the page with the scripted shell.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/index.html", self.port)
    }

    /// Builds the page and serves it.
    fn start() -> Self {
        let vite = |arguments: &[&str]| {
            let mut command = Command::new("node");
            command
                .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../ui"))
                .args(["node_modules/vite/bin/vite.js"])
                .args(arguments)
                .args(["--config", "gallery/vite.config.ts"])
                .stdin(Stdio::null());
            command
        };
        let built = vite(&["build", "--logLevel", "warn"]).status().expect("Node.js is installed");
        assert!(built.success(), "the gallery was not built");
        let port = free_port();
        let mut preview = vite(&["preview", "--port", &port.to_string()]);
        let process = preview.stdout(Stdio::null()).spawn().expect("the gallery is served");
        let mut server = Self { process, port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = server.process.try_wait().expect("a process tells whether it runs");
            assert_eq!(ended, None, "the gallery is not served");
            thread::sleep(Duration::from_millis(20));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
