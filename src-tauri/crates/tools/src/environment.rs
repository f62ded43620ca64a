//! What a server's program gets of the person's environment, and where it is found. An app that was opened from Finder
//! has four system folders to look in, and its own environment may hold what is nobody's business.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use foretoken_protocol::ErrorReport;
use ring::rand::{SecureRandom, SystemRandom};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

use crate::configuration::Secret;

/// How long the person's shell may take to tell its `PATH`.
pub const SHELL_TIME: Duration = Duration::from_secs(3);
/// The variables that a server's program gets beside those that begin with `LC_`.
const KEPT: [&str; 7] = ["HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "SHELL", "PATH"];
/// Folders in which people's programs are, though not all of their shells know.
const USUAL_FOLDERS: [&str; 2] = ["/opt/homebrew/bin", "/usr/local/bin"];
/// The same, below the home folder.
const USUAL_FOLDER_AT_HOME: &str = ".local/bin";
/// The most that a shell may write, greetings included, in bytes.
const MOST_WRITTEN: usize = 1 << 20;
/// How long a shell that was killed may take to be gone.
const KILL_GRACE: Duration = Duration::from_secs(1);

/// The whole environment of a server's program: what says who the `person` is, where they are and which language they
/// read, this `path` in place of theirs where it is known, and what the server's entry names. Nothing else of `person`
/// gets through, which may be this app's own environment.
pub fn for_server(
    person: &BTreeMap<String, String>,
    path: Option<&OsStr>,
    named: &BTreeMap<String, Secret>,
) -> BTreeMap<OsString, OsString> {
    let kept = person.iter().filter(|(name, _)| KEPT.contains(&name.as_str()) || name.starts_with("LC_"));
    let mut environment: BTreeMap<OsString, OsString> =
        kept.map(|(name, value)| (name.into(), value.into())).collect();
    environment.extend(path.map(|path| ("PATH".into(), path.into())));
    environment.extend(named.iter().map(|(name, value)| (name.into(), value.reveal().into())));
    environment
}

/// Asks the person's login shell for its `PATH` and adds the usual folders. `None` if it does not tell within that
/// time. What it started is gone at the end, and at once if the future is dropped.
pub async fn login_path(
    shell: &Path,
    person: &BTreeMap<String, String>,
    within: Duration,
) -> Option<OsString> {
    let told = timeout(within, told_path(shell, person)).await.ok()??;
    Some(with_usual_folders(&told, person.get("HOME").map(Path::new)))
}

/// A `PATH` with the folders behind it in which people's programs are, where they are missing; for the one of this app,
/// too, where no shell tells a better one.
pub fn with_usual_folders(path: &OsStr, home: Option<&Path>) -> OsString {
    let mut folders: Vec<PathBuf> =
        std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    let at_home = home.filter(|home| home.is_absolute()).map(|home| home.join(USUAL_FOLDER_AT_HOME));
    for folder in USUAL_FOLDERS.iter().map(PathBuf::from).chain(at_home) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    // Only a home folder with a colon in its path cannot be joined.
    std::env::join_paths(folders).unwrap_or_else(|_| path.into())
}

async fn told_path(shell: &Path, person: &BTreeMap<String, String>) -> Option<OsString> {
    let marker = random_marker()?;
    let (first, second) = marker.split_at(marker.len() / 2);
    // The marker is whole only in what is printed: a shell that repeats its commands does not print it.
    let print = format!("printf '%s%s%s%s%s' '{first}' '{second}' \"$PATH\" '{first}' '{second}'");
    let mut child = Command::new(shell)
        .arg("-lc")
        .arg(print)
        .env_clear()
        .envs(for_server(person, None, &BTreeMap::new()))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let group = Group(i32::try_from(child.id()?).ok().and_then(Pid::from_raw));
    let told = between(child.stdout.take()?, marker.as_bytes()).await;
    // Before the shell is waited for: its number could be another's afterwards.
    drop(group);
    let _ = timeout(KILL_GRACE, child.wait()).await;
    told.filter(|path| !path.is_empty()).map(OsString::from_vec)
}

/// What comes between two markers. It is not waited for the end: what a start-up file started may keep that open.
async fn between(mut written: impl AsyncRead + Unpin, marker: &[u8]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let find = |bytes: &[u8]| bytes.windows(marker.len()).position(|window| window == marker);
    while all.len() < MOST_WRITTEN {
        if written.read_buf(&mut all).await.ok()? == 0 {
            return None;
        }
        if let Some(first) = find(&all) {
            let told = &all[first + marker.len()..];
            if let Some(end) = find(told) {
                return Some(told[..end].to_vec());
            }
        }
    }
    None
}

fn random_marker() -> Option<String> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A process group; dropping it kills what is in it.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Why a server's program cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// It is in none of the folders.
    #[error("The program {command:?} was not found {}.", looked(looked_in))]
    NotFound {
        /// What was looked for.
        command: String,
        /// Where.
        looked_in: Vec<PathBuf>,
    },
    /// There is nothing at its absolute path.
    #[error("There is no program at {path:?}.")]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// It is there, but is a folder or may not be run.
    #[error("{path:?} is not a program that you may run.")]
    NotExecutable {
        /// Its path.
        path: PathBuf,
    },
    /// It depends on the folder that the app was started in.
    #[error("The program {command:?} is named from some folder, but not from the root on.")]
    Relative {
        /// What was asked for.
        command: String,
    },
    /// The folder that it is to start in is not there.
    #[error("The folder {folder:?}, in which it starts, is not there.")]
    FolderMissing {
        /// The folder.
        folder: PathBuf,
    },
}

impl CommandError {
    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "server_command_not_found",
            Self::Missing { .. } => "server_command_missing",
            Self::NotExecutable { .. } => "server_command_not_executable",
            Self::Relative { .. } => "server_command_relative",
            Self::FolderMissing { .. } => "server_folder_missing",
        }
    }

    /// What people can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotFound { command, .. } => match command.as_str() {
                "npx" | "npm" | "node" => {
                    "It is part of Node.js, which is probably not installed; install that."
                }
                "uvx" | "uv" => "It is part of uv, which is probably not installed; install that.",
                "bunx" | "bun" => "It is part of Bun, which is probably not installed; install that.",
                "deno" => "It is part of Deno, which is probably not installed; install that.",
                "docker" => "Docker is probably not installed; install it and start it.",
                "python" => "Python is probably not installed, or is called python3.",
                spaced if spaced.trim().contains(char::is_whitespace) => {
                    "Write the program alone, and its arguments apart from it."
                }
                _ => "It is probably not installed; install it, or write its whole path if it is elsewhere.",
            },
            Self::Missing { .. } => {
                "It was probably moved or removed; install it again, or write its new path."
            }
            Self::NotExecutable { .. } => "Name the program itself, and see to it that you may run it.",
            Self::Relative { .. } => "Write its name alone, or its whole path from \"/\" on.",
            Self::FolderMissing { .. } => "Make the folder, or choose another.",
        }
    }
}

impl From<&CommandError> for ErrorReport {
    fn from(error: &CommandError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

fn looked(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        return "because there is no folder to look in".into();
    }
    let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!("in {}", folders.join(", "))
}

/// The absolute path of the program that a command names: itself, or the first of that name in the folders of `path`
/// that may be run. No shell is asked, `~` means nothing, and folders that are not absolute are passed over. The
/// `folder` that it is to start in must be there.
pub fn resolve(command: &str, path: &OsStr, folder: Option<&Path>) -> Result<PathBuf, CommandError> {
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(CommandError::FolderMissing { folder: folder.into() });
    }
    if Path::new(command).is_absolute() {
        return match look(Path::new(command)) {
            Found::Program => Ok(command.into()),
            Found::Other => Err(CommandError::NotExecutable { path: command.into() }),
            Found::Nothing => Err(CommandError::Missing { path: command.into() }),
        };
    }
    if command.contains('/') {
        return Err(CommandError::Relative { command: command.into() });
    }
    let looked_in: Vec<PathBuf> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    let mut other = None;
    // An empty name, and "..", are the folders themselves.
    for program in looked_in.iter().map(|folder| folder.join(command)) {
        match look(&program) {
            Found::Program => return Ok(program),
            Found::Other if program.is_file() => other = other.or(Some(program)),
            Found::Other | Found::Nothing => {}
        }
    }
    Err(match other {
        Some(path) => CommandError::NotExecutable { path },
        None => CommandError::NotFound { command: command.into(), looked_in },
    })
}

enum Found {
    Program,
    Other,
    Nothing,
}

fn look(program: &Path) -> Found {
    match program.metadata() {
        Ok(metadata) if metadata.is_file() && access(program, Access::EXEC_OK).is_ok() => Found::Program,
        Ok(_) => Found::Other,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Found::Other,
        Err(_) => Found::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::Instant;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;

    fn strings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect()
    }

    /// Writes a script; without rights to run it where `mode` has none.
    fn script(folder: &Path, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_server_gets_what_its_entry_names_and_nothing_else_of_the_app() {
        let person = strings(&[
            ("HOME", "/h"),
            ("PATH", "/usr/bin"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("LANGUAGE", "de"),
            ("HF_TOKEN", "hunter2"),
            ("DYLD_INSERT_LIBRARIES", "/x"),
            ("LANG", "de_DE.UTF-8"),
        ]);
        let named = BTreeMap::from([("KEY".into(), Secret::new("a=b")), ("LANG".into(), Secret::new("C"))]);
        let environment = for_server(&person, Some(OsStr::new("/opt/bin")), &named);
        let expected =
            [("HOME", "/h"), ("KEY", "a=b"), ("LANG", "C"), ("LC_ALL", "de_DE.UTF-8"), ("PATH", "/opt/bin")];
        assert_eq!(environment, expected.map(|(name, value)| (name.into(), value.into())).into());
        assert_eq!(for_server(&person, None, &BTreeMap::new())[OsStr::new("PATH")], "/usr/bin");
        let own = BTreeMap::from([("PATH".into(), Secret::new("/own"))]);
        assert_eq!(for_server(&person, Some(OsStr::new("/opt/bin")), &own)[OsStr::new("PATH")], "/own");
    }

    #[test]
    fn usual_folders_are_added_behind_the_others_and_only_once() {
        let with = |path: &str, home: Option<&str>| with_usual_folders(OsStr::new(path), home.map(Path::new));
        assert_eq!(with("/usr/bin", Some("/h")), "/usr/bin:/opt/homebrew/bin:/usr/local/bin:/h/.local/bin");
        assert_eq!(with("/usr/local/bin:/b", None), "/usr/local/bin:/b:/opt/homebrew/bin");
        assert_eq!(with("::.:b", Some("h")), "/opt/homebrew/bin:/usr/local/bin");
        assert_eq!(with("/a", Some("/h:i")), "/a");
        let once = with("/a", Some("/h"));
        assert_eq!(with_usual_folders(&once, Some(Path::new("/h"))), once);
    }

    #[tokio::test]
    async fn a_login_shell_tells_its_path_beside_its_greetings() {
        let home = TempDir::new().unwrap();
        let home_text = home.path().to_str().unwrap();
        let sh = "echo 'Welcome $PATH'; set -v\nPATH=\"/my tools/bin$HF_TOKEN:$PATH:/ü\"\n";
        fs::write(home.path().join(".profile"), sh).unwrap();
        fs::write(home.path().join(".zprofile"), sh).unwrap();
        let fish = home.path().join(".config/fish");
        fs::create_dir_all(&fish).unwrap();
        let text = "echo 'Welcome $PATH'\nset PATH \"/my tools/bin$HF_TOKEN\" $PATH /ü\n";
        fs::write(fish.join("config.fish"), text).unwrap();
        let person = strings(&[("HOME", home_text), ("PATH", "/usr/bin:/bin"), ("HF_TOKEN", "hunter2")]);
        let shells = ["/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh", "/usr/bin/fish"].map(Path::new);
        for shell in shells.into_iter().filter(|shell| shell.exists()) {
            let path = login_path(shell, &person, Duration::from_secs(20)).await.unwrap();
            let path = path.to_str().unwrap();
            assert!(path.contains("/my tools/bin:"), "{shell:?}: {path}");
            assert!(path.contains(":/ü:"), "{shell:?}: {path}");
            assert!(path.ends_with(&format!(":{home_text}/.local/bin")), "{shell:?}: {path}");
            assert!(!path.contains("hunter2") && !path.contains("Welcome"), "{shell:?}: {path}");
        }
    }

    #[tokio::test]
    async fn what_a_shell_starts_is_not_waited_for_and_ends_with_it() {
        let folder = TempDir::new().unwrap();
        let mark = folder.path().join("alive");
        let shell = script(
            folder.path(),
            "shell",
            0o755,
            &format!(
                "(trap '' TERM HUP; sleep 1; echo >'{}') &\nPATH=/x:$PATH; eval \"$2\"; sleep 100",
                mark.display()
            ),
        );
        let begin = Instant::now();
        let path = login_path(&shell, &strings(&[("PATH", "/usr/bin:/bin")]), Duration::from_secs(20)).await;
        assert!(path.unwrap().to_str().unwrap().starts_with("/x:/usr/bin:/bin:"));
        assert!(begin.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert!(!mark.exists());
    }

    #[tokio::test]
    async fn a_shell_that_does_not_tell_is_given_up() {
        let folder = TempDir::new().unwrap();
        let mark = folder.path().join("alive");
        let person = strings(&[("PATH", "/usr/bin:/bin")]);
        for (name, text) in [
            ("hangs", format!("sleep 1; echo >'{}'; eval \"$2\"", mark.display())),
            ("floods", "exec yes".into()),
            ("fails", "exit 1".into()),
            ("repeats", "echo \"$2\"".into()),
            ("empties", "PATH=; eval \"$2\"".into()),
            ("reads", "cat; exit 0".into()),
        ] {
            let shell = script(folder.path(), name, 0o755, &text);
            let begin = Instant::now();
            let within = Duration::from_millis(if name == "hangs" { 200 } else { 20_000 });
            assert_eq!(login_path(&shell, &person, within).await, None, "{name}");
            assert!(begin.elapsed() < Duration::from_secs(10), "{name}");
        }
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert!(!mark.exists());
        assert_eq!(login_path(Path::new("/no/shell"), &person, SHELL_TIME).await, None);
    }

    #[tokio::test]
    async fn markers_are_found_in_whatever_pieces_they_come() {
        let text: &[u8] = b"ab<m>/x:<m/\xffy<m>cd<m>";
        for size in 1..text.len() {
            let mut written: Box<dyn AsyncRead + Unpin> = Box::new(tokio::io::empty());
            for piece in text.chunks(size) {
                written = Box::new(written.chain(piece));
            }
            assert_eq!(between(written, b"<m>").await.as_deref(), Some(&b"/x:<m/\xffy"[..]));
        }
        assert_eq!(between(&b"<m>/x"[..], b"<m>").await, None);
    }

    #[test]
    fn the_first_program_of_a_name_that_may_be_run_is_taken() {
        let folders = [(); 4].map(|()| TempDir::new().unwrap());
        let [a, b, c, d] = folders.each_ref().map(TempDir::path);
        fs::create_dir(a.join("tool")).unwrap();
        script(b, "tool", 0o644, "");
        let third = script(c, "tool", 0o755, "");
        script(d, "tool", 0o755, "");
        symlink(&third, a.join("link")).unwrap();
        let path = std::env::join_paths([a, Path::new(""), Path::new("relative"), b, c, d]).unwrap();
        assert_eq!(resolve("tool", &path, None), Ok(third.clone()));
        // Some programs ask by which name they were started.
        assert_eq!(resolve("link", &path, Some(b)), Ok(a.join("link")));
        assert_eq!(resolve(third.to_str().unwrap(), OsStr::new(""), None), Ok(third));
    }

    #[test]
    fn what_cannot_be_started_is_named_with_where_it_was_looked_for() {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        let plain = script(folder, "plain", 0o644, "");
        let path = std::env::join_paths([folder, Path::new("/no/such"), Path::new("x")]).unwrap();
        let place = folder.display();
        for (command, told, hint) in [
            ("npx", format!("The program \"npx\" was not found in {place}, /no/such."), "Node.js"),
            ("uvx", format!("The program \"uvx\" was not found in {place}, /no/such."), "uv"),
            (
                "npx -y a",
                format!("The program \"npx -y a\" was not found in {place}, /no/such."),
                "arguments",
            ),
            ("", format!("The program \"\" was not found in {place}, /no/such."), "installed"),
            ("..", format!("The program \"..\" was not found in {place}, /no/such."), "installed"),
            ("a\0", format!("The program \"a\\0\" was not found in {place}, /no/such."), "installed"),
            ("plain", format!("{plain:?} is not a program that you may run."), "run it"),
            ("/", "\"/\" is not a program that you may run.".into(), "run it"),
            ("/no/such", "There is no program at \"/no/such\".".into(), "moved"),
            (
                "./plain",
                "The program \"./plain\" is named from some folder, but not from the root on.".into(),
                "path",
            ),
            (
                "~/plain",
                "The program \"~/plain\" is named from some folder, but not from the root on.".into(),
                "path",
            ),
        ] {
            let error = resolve(command, &path, None).unwrap_err();
            assert_eq!(error.to_string(), told);
            assert!(error.hint().contains(hint) && error.hint().ends_with('.'), "{}", error.hint());
            assert!(error.code().starts_with("server_"));
        }
        let error = resolve("npx", OsStr::new("x"), None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "The program \"npx\" was not found because there is no folder to look in."
        );
        let error = resolve("sh", OsStr::new("/bin"), Some(&plain)).unwrap_err();
        assert_eq!(error, CommandError::FolderMissing { folder: plain });
    }

    proptest! {
        #[test]
        fn no_other_variable_gets_through(
            person in prop::collection::btree_map("[A-Z_]{1,6}|HOME|LC_[A-Z]|PATH|HF_TOKEN", ".{0,3}", 0..12),
            named in prop::collection::btree_map("[A-Z_]{1,6}|LANG", ".{0,3}", 0..4),
        ) {
            let named = named.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
            for (name, value) in for_server(&person, None, &named) {
                let name = name.to_str().unwrap();
                match named.get(name) {
                    Some(secret) => prop_assert_eq!(value.to_str().unwrap(), secret.reveal()),
                    None => {
                        prop_assert!(KEPT.contains(&name) || name.starts_with("LC_"));
                        prop_assert_eq!(value.to_str().unwrap(), &person[name]);
                    }
                }
            }
        }
    }
}
