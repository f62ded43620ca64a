//! Which engine program this machine runs. A bundle has one for each flavour of MLX: built for macOS 14, and for the
//! matrix units that newer systems let programs use. Which of them computes rightly is found out once for each version
//! of the program and of the system.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sysinfo::System;

/// Its name, which it has beside every program that starts it.
const ENGINE: &str = "foretoken-engine";
/// The flavours, and the first macOS that each of them runs on; the better one first.
const FLAVOURS: [(&str, [u32; 2]); 2] = [("26", [26, 2]), ("14", [14, 0])];
/// Where it is kept which of them computes.
const CHOSEN: &str = "program.json";
/// How long one of them may take to compute a few products.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(5);

/// The engine program, which lies beside the program that runs. `state_dir` keeps what was found out.
pub fn engine_program(state_dir: &Path) -> io::Result<PathBuf> {
    // Through links: the folder of a link has no engine.
    let program = std::env::current_exe()?.canonicalize()?;
    let folder = program.parent().unwrap_or(&program);
    let system = System::os_version().unwrap_or_default();
    Ok(choose(&candidates(folder, &system), &system, &state_dir.join(CHOSEN), computes))
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
fn choose(
    candidates: &[PathBuf],
    system: &str,
    kept: &Path,
    computes: impl Fn(&Path) -> Option<bool>,
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
    let mut is_known = true;
    let mut is_good = |program: &&PathBuf| {
        let computes = computes(program);
        is_known &= computes.is_some();
        computes == Some(true)
    };
    let chosen = others.iter().find(&mut is_good).unwrap_or(last);
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
fn computes(program: &Path) -> Option<bool> {
    let started = Command::new(program)
        .arg("check")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut process = match started {
        Ok(process) => process,
        Err(error) => {
            tracing::warn!("{} cannot be run: {error}", program.display());
            return None;
        }
    };
    let from = Instant::now();
    let ended = loop {
        match process.try_wait() {
            Ok(None) if from.elapsed() < PATIENCE => thread::sleep(LOOK),
            Ok(ended) => break ended,
            Err(_) => break None,
        }
    };
    if ended.is_none() {
        let _ = process.kill();
        let _ = process.wait();
    }
    let computes = ended.map(|status| status.success());
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

    #[test]
    fn the_choice_is_made_once_for_each_version_and_system() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("state").join(CHOSEN);
        let two = [folder.path().join("new"), folder.path().join("old")];
        let tried = Cell::new(0);
        let choose = |system: &str, new_computes: Option<bool>| {
            let chosen = choose(&two, system, &kept, |program| {
                tried.set(tried.get() + 1);
                assert_eq!(program, two[0], "the last is taken without a trial");
                new_computes
            });
            two.iter().position(|program| *program == chosen).unwrap()
        };
        assert_eq!(choose("26.2", Some(true)), 0);
        assert_eq!((choose("26.2", Some(false)), tried.get()), (0, 1), "it was made before");
        assert_eq!((choose("26.3", Some(false)), tried.get()), (1, 2), "of an update of the system");
        assert_eq!((choose("26.3", Some(true)), tried.get()), (1, 2));
        fs::write(&kept, "{").unwrap();
        assert_eq!((choose("26.3", Some(true)), tried.get()), (0, 3), "what is damaged is made anew");
        // A machine that is slow today may not be tomorrow.
        assert_eq!((choose("27.0", None), choose("27.0", Some(true)), tried.get()), (1, 0, 5));
        forget(&folder.path().join("state"));
        assert_eq!((choose("27.0", Some(false)), tried.get()), (1, 6), "it failed at work");
        let alone = &two[1..];
        assert_eq!(super::choose(alone, "26.2", &kept, |_| panic!("there is no choice")), two[1]);
    }

    #[test]
    fn a_program_computes_that_says_so_itself() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(computes(&built(folder.path())), Some(true), "the real one, on this machine");
        // Under the name that it has in a bundle, through a link, from a folder with a space.
        let bundle = folder.path().join("Fore token.app");
        fs::create_dir(&bundle).unwrap();
        let link = bundle.join("foretoken-engine-14");
        symlink(folder.path().join("foretoken-engine"), &link).unwrap();
        assert_eq!(computes(&link), Some(true));
        let program = folder.path().join("program");
        assert_eq!(computes(&program), None, "it is not there");
        script(&program, "exit 1");
        assert_eq!(computes(&program), Some(false));
        script(&program, "kill -SEGV $$");
        assert_eq!(computes(&program), Some(false));
        script(&program, "test \"$1\" = check");
        assert_eq!(computes(&program), Some(true));
    }
}
