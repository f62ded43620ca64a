//! What Apple and its tools do with a release: notarise and staple it, make the disk image, and say whether another Mac
//! would open it. Runs on a Mac alone; what is asked of the tools and how their answers are read is tested anywhere.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bundle::{IDENTIFIER, Identity};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// The variables with the key of App Store Connect: a file, its name, and the team's.
const KEY: [&str; 3] = ["APPLE_API_KEY", "APPLE_API_KEY_ID", "APPLE_API_ISSUER"];

/// A key that notarises.
#[derive(Debug)]
pub(super) struct Notary {
    arguments: Vec<String>,
}

impl Notary {
    /// The key of the environment; `None` where it is not all there.
    pub(super) fn of_environment() -> Option<Self> {
        let [key, id, issuer] = KEY.map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
        let arguments = ["--key", &key?, "--key-id", &id?, "--issuer", &issuer?].map(str::to_owned);
        Some(Self { arguments: arguments.into() })
    }

    /// Has Apple look at a file, and staples its ticket to what was in it. A warning is an error.
    pub(super) fn notarise(&self, workspace: &Workspace, file: &Path, staple: &Path) -> Result<()> {
        let submit = ["submit", "--wait", "--output-format", "json"];
        let mut command = self.tool(workspace, &submit);
        let told = process::read(command.arg(file))?;
        let id = answer(&told, "id")?;
        // What Apple found is told in the log alone, of what it accepts too.
        let log = process::read(&mut self.tool(workspace, &["log", &id]))?;
        let found = issues(&told, &log)?;
        if !found.is_empty() {
            let why = format!("Apple does not take {}:\n{}", file.display(), found.join("\n"));
            return Err(Error::Release { why });
        }
        for verb in ["staple", "validate"] {
            let mut command = workspace.command("xcrun");
            process::show(command.args(["stapler", verb]).arg(staple))?;
        }
        Ok(())
    }

    fn tool(&self, workspace: &Workspace, arguments: &[&str]) -> Command {
        let mut command = workspace.command("xcrun");
        command.arg("notarytool").args(arguments).args(&self.arguments);
        command
    }
}

/// A field of what `notarytool` answers.
fn answer(told: &str, field: &str) -> Result<String> {
    let value: Value = serde_json::from_str(told)
        .map_err(|error| Error::Output { line: "notarytool".into(), why: error.to_string() })?;
    value[field]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| Error::Output { line: "notarytool".into(), why: format!("no {field} in {told}") })
}

/// What Apple finds wrong, by its answer to a submission and its log of that.
fn issues(told: &str, log: &str) -> Result<Vec<String>> {
    let status = answer(told, "status")?;
    let mut found = Vec::new();
    if status != "Accepted" {
        found.push(format!("its status is {status}"));
    }
    let log: Value = serde_json::from_str(log)
        .map_err(|error| Error::Output { line: "notarytool log".into(), why: error.to_string() })?;
    for issue in log["issues"].as_array().into_iter().flatten() {
        let text = |field: &str| issue[field].as_str().unwrap_or_default().to_owned();
        found.push(format!("{}: {}: {}", text("severity"), text("path"), text("message")));
    }
    Ok(found)
}

/// The commands that make a disk image of an app, with a link to drag it to.
pub(super) fn image(
    workspace: &Workspace,
    app: &Path,
    image: &Path,
    identity: &Identity,
) -> Result<Vec<Command>> {
    let folder = image.with_extension("folder");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Error::file(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let link = folder.join("Applications");
    std::os::unix::fs::symlink("/Applications", &link).map_err(Error::file(&link))?;
    let mut copy = workspace.command("ditto");
    copy.arg(app).arg(folder.join(app.file_name().unwrap_or_default()));
    let mut make = workspace.command("hdiutil");
    make.args(["create", "-ov", "-volname", "Foretoken", "-fs", "HFS+", "-format", "ULMO", "-srcfolder"]);
    make.arg(&folder).arg(image);
    let mut commands = vec![copy, make];
    if let Identity::Developer(name) = identity {
        let mut sign = workspace.command("codesign");
        sign.args(["--force", "--timestamp", "--sign", name, "--identifier", &format!("{IDENTIFIER}.image")]);
        sign.arg(image);
        commands.push(sign);
    }
    Ok(commands)
}

/// The command that packs an app for Apple to look at.
pub(super) fn pack(workspace: &Workspace, app: &Path) -> (Command, PathBuf) {
    let packed = app.with_extension("zip");
    let mut pack = workspace.command("ditto");
    pack.args(["-c", "-k", "--keepParent"]).arg(app).arg(&packed);
    (pack, packed)
}

/// The commands that say whether the signatures are as macOS wants them.
pub(super) fn verify(workspace: &Workspace, app: &Path) -> Vec<Command> {
    let mut verify = workspace.command("codesign");
    verify.args(["--verify", "--deep", "--strict", "-vv"]).arg(app);
    vec![verify]
}

/// The commands that say whether another Mac would open a notarised app, and a notarised image.
pub(super) fn assess(workspace: &Workspace, app: &Path, image: Option<&Path>) -> Vec<Command> {
    let mut distribution = workspace.command("syspolicy_check");
    distribution.arg("distribution").arg(app);
    let mut execute = workspace.command("spctl");
    execute.args(["-a", "-t", "exec", "-vv"]).arg(app);
    let mut commands = vec![distribution, execute];
    if let Some(image) = image {
        let mut open = workspace.command("spctl");
        open.args(["-a", "-t", "open", "--context", "context:primary-signature", "-vv"]).arg(image);
        commands.push(open);
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_apple_does_not_take_and_what_it_only_warns_of_are_told() {
        let told = r#"{"id": "2efe2717", "status": "Accepted", "message": "Processing complete"}"#;
        assert_eq!(answer(told, "id").unwrap(), "2efe2717");
        assert_eq!(issues(told, r#"{"status": "Accepted", "issues": null}"#).unwrap(), Vec::<String>::new());
        let log =
            r#"{"issues": [{"severity": "warning", "path": "F.app/Contents/MacOS/x", "message": "old"}]}"#;
        assert_eq!(issues(told, log).unwrap(), ["warning: F.app/Contents/MacOS/x: old"]);
        let invalid = told.replace("Accepted", "Invalid");
        assert_eq!(issues(&invalid, r#"{"issues": []}"#).unwrap(), ["its status is Invalid"]);
        assert!(answer("{}", "id").is_err() && issues(told, "no log").is_err());
    }

    #[test]
    fn the_image_is_packed_densely_and_signed_by_who_signed_the_app() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("Foretoken_1.2.3_aarch64.dmg");
        let lines = |identity: &str| {
            let commands = image(&Workspace::locate(), Path::new("/F.app"), &file, &Identity::of(identity));
            commands.unwrap().iter().map(process::line).collect::<Vec<_>>()
        };
        let (here, others) = (lines(""), lines("Somebody"));
        assert_eq!(here.len(), 2);
        assert!(here[0].starts_with("ditto /F.app ") && here[1].contains(" -format ULMO "), "{here:?}");
        assert!(others[2].contains("--timestamp --sign Somebody --identifier dev.foretoken.Foretoken.image"));
        // The second call began with an empty folder.
        let link = place.path().join("Foretoken_1.2.3_aarch64.folder/Applications");
        assert_eq!(fs::read_link(link).unwrap(), Path::new("/Applications"));
    }
}
