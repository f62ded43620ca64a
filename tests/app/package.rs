//! The Debian package: installed, started where neither checkout nor build folder is, asked a question, replaced by a
//! newer one from within, and removed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use foretoken_tests::programs::built;

use crate::palette::go_to;
use crate::support::releases::Releases;
use crate::support::sandbox::Sandbox;

const PACKAGE: &str = "foretoken";
/// Says that what is installed is of a test, which may have been killed before it removed it.
const MARK: &str = "/run/foretoken-package-test";

/// Runs a command in a mount namespace in which these folders are empty: `sh`, the folders, `--`, the command.
const WITHOUT: &str = r#"
while [ "$1" != -- ]; do mount -t tmpfs tmpfs "$1" || exit 125; shift; done
shift; cd /; exec "$@""#;

/// The package while it is installed.
struct Installed {
    package: PathBuf,
    files: Vec<PathBuf>,
    checkout: [PathBuf; 2],
}

impl Installed {
    /// Installs the package; `None` where that cannot be, which is said.
    fn install() -> Option<Self> {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the checkout");
        let package = checkout.join("target/bundle").join(concat!(
            "foretoken_",
            env!("CARGO_PKG_VERSION"),
            "_amd64.deb"
        ));
        let skipped = if fs::metadata("/proc/self").expect("this process is there").uid() != 0 {
            Some("only root installs packages")
        } else if !run("unshare", &["--mount", "true"]).status.success() {
            Some("no namespace can be made here, in which the checkout is hidden")
        } else if run("dpkg-query", &["-W", PACKAGE]).status.success() && !Path::new(MARK).exists() {
            Some("the package is installed already, by somebody who may use it")
        } else {
            None
        };
        if let Some(why) = skipped {
            eprintln!("SKIPPED: {why}");
            return None;
        }
        assert!(package.is_file(), "{} is missing: run `cargo xtask bundle --debug`", package.display());
        fs::write(MARK, "").expect("root may write there");
        succeeded(run("dpkg", &["--install", package.to_str().expect("a plain path")]));
        let files = succeeded(run("dpkg-query", &["-L", PACKAGE]));
        let files = files.lines().map(PathBuf::from).filter(|file| file.is_file()).collect();
        let build =
            built("foretoken").ancestors().nth(2).expect("programs lie in a profile's folder").to_owned();
        Some(Self { package, files, checkout: [checkout.to_owned(), build] })
    }

    /// A command that sees neither the checkout nor the build folder.
    fn hidden(&self, command: &[&str]) -> Vec<String> {
        // What is in the checkout is hidden with it.
        let [checkout, build] = &self.checkout;
        let folders = [checkout, build].into_iter().take(if build.starts_with(checkout) { 1 } else { 2 });
        let folders = folders.map(|folder| folder.to_str().expect("a plain path"));
        let begin = ["unshare", "--mount", "sh", "-c", WITHOUT, "sh"];
        begin
            .into_iter()
            .chain(folders)
            .chain(["--"])
            .chain(command.iter().copied())
            .map(str::to_owned)
            .collect()
    }

    /// The same package, as one of another version.
    fn newer(&self, version: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a folder");
        let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
        let (root, package) = (text(&folder.path().join("root")), text(&folder.path().join("newer.deb")));
        succeeded(run("dpkg-deb", &["--raw-extract", &text(&self.package), &root]));
        // Smaller, for the sake of time.
        for program in ["foretoken", "foretoken-engine", "foretoken-server", "foretoken-models"] {
            succeeded(run("strip", &["--strip-debug", &format!("{root}/usr/bin/{program}")]));
        }
        let control = Path::new(&root).join("DEBIAN/control");
        let told = fs::read_to_string(&control).expect("a package says what it is");
        let newer = told.replace(env!("CARGO_PKG_VERSION"), version);
        assert_ne!(told, newer);
        fs::write(&control, newer).expect("it is the test's own");
        succeeded(run("dpkg-deb", &["--root-owner-group", "-Zgzip", "-z1", "--build", &root, &package]));
        fs::read(package).expect("it was just made")
    }

    fn run_hidden(&self, command: &[&str]) -> String {
        let words = self.hidden(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        succeeded(run(words[0], &words[1..]))
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let removed = run("dpkg", &["--purge", PACKAGE]);
        let _ = fs::remove_file(MARK);
        if !std::thread::panicking() {
            succeeded(removed);
        }
    }
}

/// Makes a program of a text.
fn executable(path: &Path, text: &str) {
    fs::write(path, text).expect("the home takes a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is the test's own");
}

fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// What a command printed that went well.
fn succeeded(Output { status, stdout, stderr }: Output) -> String {
    assert!(status.success(), "{status}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("it prints text")
}

#[test]
fn the_installed_app_answers_where_no_checkout_is_updates_itself_and_leaves_only_what_is_the_persons() {
    let Some(installed) = Installed::install() else { return };

    let told = installed.run_hidden(&["foretoken-engine", "check"]);
    assert!(told.contains("Products of 1, 3, 9, 33, 64 rows: right"), "{told}");
    for program in ["foretoken-server", "foretoken-models"] {
        assert!(installed.run_hidden(&[program, "--help"]).contains("Usage:"), "{program}");
    }
    for program in ["foretoken", "foretoken-engine", "foretoken-server", "foretoken-models"] {
        let dynamic = succeeded(run("readelf", &["--dynamic", &format!("/usr/bin/{program}")]));
        let paths: Vec<&str> = dynamic.lines().filter(|line| line.contains("RUNPATH")).collect();
        assert!(
            matches!(paths[..], [path] if path.ends_with("[$ORIGIN/../lib/Foretoken/mlx-cpu/mlx/lib]")),
            "{paths:?}"
        );
    }

    let mut sandbox = Sandbox::new(1280, 900);
    let releases = Releases::start();
    sandbox.set("FORETOKEN_UPDATES_ENDPOINT", &releases.endpoint());
    sandbox.set("FORETOKEN_UPDATES_KEY", &releases.key());
    // Whoever asks for rights has them.
    let rights = sandbox.home().join("bin");
    fs::create_dir(&rights).expect("the home takes a folder");
    executable(&rights.join("pkexec"), "#!/bin/sh\nexec \"$@\"\n");
    let path = std::env::var("PATH").expect("programs are found");
    sandbox.set("PATH", &format!("{}:{path}", rights.display()));
    let program = sandbox.home().join("foretoken");
    let quoted: Vec<String> = installed
        .hidden(&["/usr/bin/foretoken"])
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
        .collect();
    executable(&program, &format!("#!/bin/sh\nexec {} \"$@\"\n", quoted.join(" ")));
    let window = sandbox.open_program(&program);
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_for_end();
    assert!(window.text("answer").len() > 40, "{}", window.text("answer"));
    window.picture("installed");
    let is_own = |program: &PathBuf| program.to_string_lossy().contains("foretoken");
    let programs: BTreeSet<PathBuf> = sandbox.programs().into_iter().filter(is_own).collect();
    let expected = ["/usr/bin/foretoken", "/usr/bin/foretoken-engine"].map(PathBuf::from);
    assert_eq!(programs, BTreeSet::from(expected.clone()));
    assert!(sandbox.launch_again(), "another copy of the app shows the window of this one, and ends");

    let before = sandbox.processes_of(&expected);
    releases.publish("9.9.9", &installed.newer("9.9.9"));
    go_to(&window, "check for updates");
    window.wait_until("it is there", || window.text("update-sheet").contains("Foretoken 9.9.9"));
    window.click("update-install");
    let is_new = || {
        let now = sandbox.processes_of(&expected);
        now.len() == 2 && now.is_disjoint(&before) && sandbox.shown_windows() == 1
    };
    // The page that would say so is gone.
    let begun = Instant::now();
    while !is_new() {
        assert!(begun.elapsed() < Duration::from_secs(240), "{:?}", sandbox.programs());
        sleep(Duration::from_millis(50));
    }
    assert_eq!(succeeded(run("dpkg-query", &["-W", "-f", "${Version}", PACKAGE])), "9.9.9");
    sandbox.kill_all();
    drop(window);

    let files = installed.files.clone();
    assert!(files.len() > 20, "{files:?}");
    drop(installed);
    let left: Vec<_> = files.iter().filter(|file| file.exists()).collect();
    assert!(left.is_empty() && !Path::new("/usr/lib/Foretoken").exists(), "{left:?}");
    // The README says where these are.
    let own = [".cache", ".config", ".local/share", ".local/state"].map(|folder| sandbox.home().join(folder));
    let own = own.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let own: BTreeSet<String> = own.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    println!("left in the home: {own:?}");
    let unknown: Vec<_> = own.iter().filter(|name| !LEFT.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// What the app leaves in the folders of a home, and what the libraries that it draws with do.
const LEFT: [&str; 6] = [
    "dev.foretoken.Foretoken",
    "dconf",
    "fontconfig",
    "gstreamer-1.0",
    "mesa_shader_cache",
    "mesa_shader_cache_db",
];
