//! Signing the app: who signs what, in which order, and what a signature must say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::app::{self, IDENTIFIER};
use super::list::Entry;
use super::macho;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// Who signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Nobody: the signature only says what the code is, and the app is for the machine that it was built on.
    AdHoc,
    /// A developer whom Apple knows, by the name of their certificate.
    Developer(String),
}

/// What signatures must have beside hashes that are right.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demands {
    /// The hardened runtime, in which programs load only libraries of the same team, and somebody who signed.
    pub(super) is_hardened: bool,
    /// A time that somebody else has signed, too.
    pub(super) is_timestamped: bool,
}

impl Identity {
    /// The developer of this name; nobody where it is empty.
    pub(crate) fn of(name: &str) -> Self {
        if name.is_empty() { Self::AdHoc } else { Self::Developer(name.to_owned()) }
    }

    /// What this identity's signatures must have.
    pub(super) fn demands(&self) -> Demands {
        let is_developer = matches!(self, Self::Developer(_));
        Demands { is_hardened: is_developer, is_timestamped: is_developer }
    }

    /// What `codesign` is told of it.
    pub(super) fn arguments(&self) -> Vec<&str> {
        match self {
            Self::AdHoc => vec!["--force", "--sign", "-"],
            Self::Developer(name) => {
                vec!["--force", "--timestamp", "--options", "runtime", "--sign", name]
            }
        }
    }
}

/// The commands that sign an app, from the inside out: a signature covers what is in it.
pub(super) fn commands(
    workspace: &Workspace,
    app: &Path,
    entries: &[Entry],
    identity: &Identity,
) -> Vec<Command> {
    let sign = |file: &Path| {
        let mut command = workspace.command("codesign");
        command.args(identity.arguments()).args(["--identifier", &identifier(file)]);
        command.arg(place(app, file));
        command
    };
    app::signed(entries).into_iter().map(sign).collect()
}

/// Where a signed part of the app is; the app itself has no name in it.
pub(super) fn place(app: &Path, file: &Path) -> PathBuf {
    if file.as_os_str().is_empty() { app.to_owned() } else { app.join(file) }
}

/// The name that a part of the app is signed by.
pub(super) fn identifier(file: &Path) -> String {
    let Some(name) = file.file_stem().and_then(|name| name.to_str()) else { return IDENTIFIER.into() };
    format!("{IDENTIFIER}.{}", name.trim_start_matches("foretoken-"))
}

/// What the signatures in an app lack.
pub(super) fn faults(app: &Path, entries: &[Entry], demands: Demands) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for part in app::signed(entries) {
        let file = if part.as_os_str().is_empty() { Path::new(app::MAIN) } else { part };
        let path = app.join(file);
        let bytes = fs::read(&path).map_err(Error::file(&path))?;
        let mut add = |what: String| faults.push(format!("{}: {what}", file.display()));
        let signature = macho::read(&bytes).ok().and_then(|facts| facts.signature).unwrap_or_default();
        let Some(directory) = &signature.directory else {
            add("it is not signed".into());
            continue;
        };
        if directory.identifier != identifier(part) {
            add(format!("it is signed as {}, and not as {}", directory.identifier, identifier(part)));
        }
        if demands.is_hardened && !directory.is_hardened {
            add("it is signed without the hardened runtime".into());
        }
        if demands.is_hardened && !signature.has_certificates {
            add("nobody has signed it".into());
        }
        if demands.is_timestamped && !signature.has_timestamp {
            add("its signature has no secure timestamp".into());
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::super::signature::tests::signed;
    use super::*;
    use crate::process;

    fn entries(files: &[&str]) -> Vec<Entry> {
        files.iter().map(|file| Entry { to: file.into(), from: "/nowhere".into() }).collect()
    }

    const FILES: [&str; 5] = [
        "Contents/MacOS/foretoken",
        "Contents/Resources/icon.icns",
        "Contents/MacOS/foretoken-engine-14",
        "Contents/Frameworks/mlx-14/libmlx.dylib",
        "Contents/MacOS/foretoken-server",
    ];

    #[test]
    fn libraries_are_signed_first_and_the_app_with_all_that_is_in_it_last() {
        let workspace = Workspace::locate();
        let log = |identity: &Identity| {
            let commands = commands(&workspace, Path::new("/F.app"), &entries(&FILES), identity);
            commands.iter().map(process::line).collect::<Vec<_>>()
        };
        let name = "Developer ID Application: Somebody (ABCDE12345)";
        let sign = format!("codesign --force --timestamp --options runtime --sign '{name}' --identifier");
        let id = "dev.foretoken.Foretoken";
        let expected = [
            format!("{sign} {id}.libmlx /F.app/Contents/Frameworks/mlx-14/libmlx.dylib"),
            format!("{sign} {id}.engine-14 /F.app/Contents/MacOS/foretoken-engine-14"),
            format!("{sign} {id}.server /F.app/Contents/MacOS/foretoken-server"),
            format!("{sign} {id} /F.app"),
        ];
        assert_eq!(log(&Identity::of(name)), expected);
        let here = log(&Identity::of(""));
        assert_eq!(here[3], format!("codesign --force --sign - --identifier {id} /F.app"));
        // What is in an app is never signed along with it: each part has an identifier and flags of its own.
        assert!(here.len() == 4 && here.iter().chain(&expected).all(|line| !line.contains("--deep")));
    }

    #[test]
    fn a_signature_that_others_would_refuse_is_told() {
        let place = tempfile::tempdir().unwrap();
        let app = place.path();
        for file in FILES {
            fs::create_dir_all(app.join(file).parent().unwrap()).unwrap();
            let id = if file == app::MAIN { Path::new("") } else { Path::new(file) };
            fs::write(app.join(file), signed("", &identifier(id), [[0; 32]; 3])).unwrap();
        }
        let found = |demands| faults(app, &entries(&FILES), demands).unwrap();
        let here = Identity::AdHoc.demands();
        assert_eq!(found(here), Vec::<String>::new());
        // The stand-ins ask for the runtime, and nobody has signed them.
        let others = found(Identity::of("Somebody").demands());
        assert_eq!(others.len(), 2 * 4, "{others:#?}");
        assert!(others[0].ends_with("libmlx.dylib: nobody has signed it"), "{others:#?}");
        assert!(others[1].ends_with("its signature has no secure timestamp"), "{others:#?}");
        fs::write(app.join(FILES[4]), signed("", "foretoken-server", [[0; 32]; 3])).unwrap();
        assert!(found(here)[0].contains("signed as foretoken-server, and not as"), "{:?}", found(here));
        fs::write(app.join(FILES[4]), b"#!/bin/sh").unwrap();
        assert!(found(here)[0].contains("it is not signed"), "{:?}", found(here));
    }
}
