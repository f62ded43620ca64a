//! Which engine program this machine runs. A bundle has one for each flavour of MLX: built for macOS 14, and for the
//! matrix units that newer systems let programs use. Which of them computes rightly is found out once for each version
//! of the program and of the system.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sysinfo::System;
use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::time::timeout;

/// Its name, which it has beside every program that starts it.
const ENGINE: &str = "foretoken-engine";
/// The flavours, and the first macOS that each of them runs on; the better one first.
const FLAVOURS: [(&str, [u32; 2]); 2] = [("26", [26, 2]), ("14", [14, 0])];
/// Where it is kept which of them computes.
const CHOSEN: &str = "program.json";
/// How long one of them may take to compute a few products.
const PATIENCE: Duration = Duration::from_secs(10);

/// The engine program of this machine. Clones share what was found out.
#[derive(Debug, Clone)]
pub struct EngineProgram {
    /// The best first; never empty.
    candidates: Arc<[PathBuf]>,
    /// The version of the system.
    system: Arc<str>,
    /// Where the choice is kept.
    kept: Arc<Path>,
    chosen: Arc<OnceCell<PathBuf>>,
}

impl EngineProgram {
    /// The one that lies beside the program that runs. `state_dir` keeps what was found out.
    pub fn beside_this(state_dir: &Path) -> io::Result<Self> {
        // Through links: the folder of a link has no engine.
        let program = std::env::current_exe()?.canonicalize()?;
        let folder = program.parent().unwrap_or(&program);
        let system = System::os_version().unwrap_or_default();
        Ok(Self {
            candidates: candidates(folder, &system).into(),
            system: system.into(),
            kept: state_dir.join(CHOSEN).into(),
            chosen: Arc::default(),
        })
    }

    /// Where it is. Whoever asks first may wait for seconds until it is found out, after an update of the app or the
    /// system.
    pub async fn path(&self) -> &Path {
        self.chosen.get_or_init(|| choose(&self.candidates, &self.system, &self.kept, computes)).await
    }
}

impl From<PathBuf> for EngineProgram {
    /// One that there is no choice about.
    fn from(program: PathBuf) -> Self {
        let chosen = Arc::new(OnceCell::new_with(Some(program.clone())));
        Self { candidates: [program].into(), system: "".into(), kept: Path::new("").into(), chosen }
    }
}

/// The programs of `folder` that `system`, a version of macOS, runs, the best first. Never empty: one that is missing
/// is told of when it is started.
fn candidates(folder: &Path, system: &str) -> Vec<PathBuf> {
    let plain = folder.join(format!("{ENGINE}{EXE_SUFFIX}"));
    let mut version: Vec<u32> = system.split('.').map_while(|part| part.parse().ok()).collect();
    // Programs that are built with an older SDK are told 16 of macOS 26.
    if let Some(major @ 16..=25) = version.first_mut() {
        *major += 10;
    }
    let flavours = FLAVOURS.iter().filter(|(_, first)| version.as_slice() >= first.as_slice());
    let mut found: Vec<PathBuf> = flavours
        .map(|(flavour, _)| folder.join(format!("{ENGINE}-{flavour}")))
        .filter(|program| program.is_file())
        .collect();
    if found.is_empty() || plain.is_file() {
        found = vec![plain];
    }
    found
}

/// The first that `computes`; the last, where none does: it says itself what is wrong. Nothing is tried where there is
/// no choice, or where it was made before; what could not be found out is tried again at the next start.
async fn choose(
    candidates: &[PathBuf],
    system: &str,
    kept: &Path,
    computes: impl AsyncFn(&Path) -> Option<bool>,
) -> PathBuf {
    let [others @ .., last] = candidates else { return PathBuf::new() };
    if others.is_empty() {
        return last.clone();
    }
    let of = json!({ "version": env!("CARGO_PKG_VERSION"), "system": system, "programs": candidates });
    let before = fs::read(kept).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    if let Some(before) = before
        && before["of"] == of
        && let Some(chosen) = candidates.iter().find(|program| before["chosen"] == json!(program))
    {
        return chosen.clone();
    }
    let (mut chosen, mut is_known) = (last, true);
    for program in others {
        let computes = computes(program).await;
        is_known &= computes.is_some();
        if computes == Some(true) {
            chosen = program;
            break;
        }
    }
    if !is_known {
        return chosen.clone();
    }
    let write = || {
        fs::create_dir_all(kept.parent().unwrap_or(kept))?;
        fs::write(kept, json!({ "of": of, "chosen": chosen }).to_string())
    };
    if let Err(error) = write() {
        tracing::warn!("which engine computes here is not kept: {error}");
    }
    chosen.clone()
}

/// Forgets which program computes: the one that was chosen does not.
pub(crate) fn forget(state_dir: &Path) {
    // Most have no choice to forget.
    let _ = fs::remove_file(state_dir.join(CHOSEN));
}

/// Whether `program check` ends well; `None` if it did not end in time, or could not be run.
async fn computes(program: &Path) -> Option<bool> {
    let ending = Command::new(program)
        .arg("check")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .status();
    let ended = timeout(PATIENCE, ending).await;
    let computes = ended.as_ref().ok().and_then(|ended| Some(ended.as_ref().ok()?.success()));
    if computes != Some(true) {
        tracing::warn!("{} does not compute here: {ended:?}", program.display());
    }
    computes
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::testing::engine_program as built;

    fn names(candidates: &[PathBuf]) -> Vec<&str> {
        candidates.iter().map(|program| program.file_name().unwrap().to_str().unwrap()).collect()
    }

    fn script(program: &Path, does: &str) {
        fs::write(program, format!("#!/bin/sh\n{does}\n")).unwrap();
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_system_gets_the_flavours_that_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(names(&candidates(folder.path(), "26.2")), ["foretoken-engine"], "there is no other");
        for flavour in ["14", "26"] {
            fs::write(folder.path().join(format!("foretoken-engine-{flavour}")), "").unwrap();
        }
        let (old, new) = ("foretoken-engine-14", "foretoken-engine-26");
        for (system, found) in [
            ("14.0", &[old][..]),
            ("15.7.1", &[old]),
            ("26.0", &[old]),
            ("26.1", &[old]),
            ("26.2", &[new, old]),
            ("26.10", &[new, old]),
            ("16.2", &[new, old]),
            ("16.1", &[old]),
            ("27.0", &[new, old]),
            ("13.6", &["foretoken-engine"]),
            ("", &["foretoken-engine"]),
        ] {
            assert_eq!(names(&candidates(folder.path(), system)), found, "{system}");
        }
        // Where somebody builds the program, that is the one to run.
        fs::write(folder.path().join("foretoken-engine"), "").unwrap();
        assert_eq!(names(&candidates(folder.path(), "26.2")), ["foretoken-engine"]);
    }

    #[tokio::test]
    async fn the_choice_is_made_once_for_each_version_and_system() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("state").join(CHOSEN);
        let two = [folder.path().join("new"), folder.path().join("old")];
        let tried = Cell::new(0);
        let choose = async |system: &str, new_computes: Option<bool>| {
            let computes = async |program: &Path| {
                tried.set(tried.get() + 1);
                assert_eq!(program, two[0], "the last is taken without a trial");
                new_computes
            };
            let chosen = choose(&two, system, &kept, computes).await;
            two.iter().position(|program| *program == chosen).unwrap()
        };
        assert_eq!(choose("26.2", Some(true)).await, 0);
        assert_eq!((choose("26.2", Some(false)).await, tried.get()), (0, 1), "it was made before");
        assert_eq!((choose("26.3", Some(false)).await, tried.get()), (1, 2), "of an update of the system");
        assert_eq!((choose("26.3", Some(true)).await, tried.get()), (1, 2));
        fs::write(&kept, "{").unwrap();
        assert_eq!((choose("26.3", Some(true)).await, tried.get()), (0, 3), "what is damaged is made anew");
        // A machine that is slow today may not be tomorrow.
        assert_eq!((choose("27.0", None).await, choose("27.0", Some(true)).await, tried.get()), (1, 0, 5));
        forget(&folder.path().join("state"));
        assert_eq!((choose("27.0", Some(false)).await, tried.get()), (1, 6), "it failed at work");
        let alone = &two[1..];
        let untried = async |_: &Path| panic!("there is no choice");
        assert_eq!(super::choose(alone, "26.2", &kept, untried).await, two[1]);
    }

    #[tokio::test]
    async fn a_program_computes_that_says_so_itself() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(computes(&built(folder.path())).await, Some(true), "the real one, on this machine");
        // Under the name that it has in a bundle, through a link, from a folder with a space.
        let bundle = folder.path().join("Fore token.app");
        fs::create_dir(&bundle).unwrap();
        let link = bundle.join("foretoken-engine-14");
        symlink(folder.path().join("foretoken-engine"), &link).unwrap();
        assert_eq!(computes(&link).await, Some(true));
        let program = folder.path().join("program");
        assert_eq!(computes(&program).await, None, "it is not there");
        script(&program, "exit 1");
        assert_eq!(computes(&program).await, Some(false));
        script(&program, "kill -SEGV $$");
        assert_eq!(computes(&program).await, Some(false));
        script(&program, "test \"$1\" = check");
        assert_eq!(computes(&program).await, Some(true));
    }

    #[tokio::test]
    async fn the_first_to_ask_has_it_found_out_and_who_gives_up_leaves_it_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new");
        let tried = folder.path().join("tried");
        script(&new, &format!("echo >> '{}'; sleep \"$(cat '{0}.for')\"", tried.display()));
        fs::write(folder.path().join("tried.for"), "60").unwrap();
        let program = EngineProgram {
            candidates: [new.clone(), folder.path().join("old")].into(),
            system: "26.2".into(),
            kept: folder.path().join("state").join(CHOSEN).into(),
            chosen: Arc::default(),
        };
        let times = || fs::read_to_string(&tried).map_or(0, |lines| lines.lines().count());
        let begun = async {
            while times() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = program.path() => panic!("it takes a minute"),
            () = begun => {}
        }
        fs::write(folder.path().join("tried.for"), "0").unwrap();
        let other = program.clone();
        assert_eq!(tokio::join!(program.path(), other.path()), (&*new, &*new));
        assert_eq!(times(), 2, "once for both");
        let alone = EngineProgram::from(folder.path().join("nothing"));
        assert_eq!(alone.path().await, folder.path().join("nothing"));
    }
}
