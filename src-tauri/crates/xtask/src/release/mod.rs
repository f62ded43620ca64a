//! A release, from its version to the files that are published. What has to run on a Mac is started from
//! `.github/workflows/release.yml`; what it needs and has not been given is left out, and said.

mod apple;
mod archive;
mod cask;
mod changelog;
mod cut;
mod files;
mod names;
mod updates;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use self::apple::Notary;
use self::files::{Release, image_name};
use self::names::Names;
use crate::bundle::{self, Identity};
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// What to do for a release.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Options {
    /// The version to release, three numbers: sets it in Cargo.toml, Cargo.lock and the changelog.
    #[arg(required = true)]
    version: Option<String>,
    #[command(subcommand)]
    step: Option<Step>,
}

/// A step of the release workflow.
#[derive(Debug, Subcommand)]
enum Step {
    /// Say which version this is, and whether it can be published; with a tag, refuse one of another version
    Check {
        /// The tag, as `v1.2.3`.
        tag: Option<String>,
    },
    /// Sign target/bundle/Foretoken.app, and have Apple look at it; on a Mac
    Sign,
    /// Make the disk image of the signed app, in target/bundle/release; on a Mac
    Image,
    /// Make all other files of the release beside the image
    Files,
}

pub(crate) fn run(workspace: &Workspace, options: Options) -> Result<()> {
    let names = Names::read(workspace)?;
    match (options.version, options.step) {
        (Some(version), _) => {
            let commands = cut::cut(workspace, &version, &jiff::Timestamp::now().strftime("%F").to_string())?;
            println!("This is {version} now. Look at `git diff`, then publish it:\n\n{commands}");
            Ok(())
        }
        (None, Some(Step::Check { tag })) => check(workspace, &names, tag.as_deref()),
        (None, Some(Step::Sign)) => sign(workspace, &names),
        (None, Some(Step::Image)) => image(workspace, &names),
        (None, Some(Step::Files)) => files(workspace, &names),
        (None, None) => unreachable!("clap asks for one of them"),
    }
}

/// Prints what the workflow goes by, a line each, as `name=value`.
fn check(workspace: &Workspace, names: &Names, tag: Option<&str>) -> Result<()> {
    let version = workspace.version()?;
    let changelog = read(&workspace.root().join(cut::CHANGELOG))?;
    if let Some(why) = tag.and_then(|tag| tag_fault(tag, &version, &changelog)) {
        return Err(Error::Release { why });
    }
    if let Some(why) = names.fault() {
        return Err(Error::Release { why });
    }
    let missing = names.missing();
    if !missing.is_empty() {
        eprintln!("Nothing is published: src-tauri/release.toml has no {}", missing.join(", "));
    }
    println!("version={version}\npublish={}\ntap={}", missing.is_empty() && tag.is_some(), names.tap);
    Ok(())
}

/// Why a tag cannot be that of this version.
fn tag_fault(tag: &str, version: &str, changelog: &str) -> Option<String> {
    if tag != cut::tag(version) {
        return Some(format!("the tag {tag} is not that of version {version}"));
    }
    let section = changelog::section(changelog, version).unwrap_or_default();
    section.is_empty().then(|| format!("{} does not tell of {version}", cut::CHANGELOG))
}

fn app(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bundle/Foretoken.app")
}

fn folder(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target().join("bundle/release");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    Ok(folder)
}

/// Signs the app, and staples Apple's ticket to it if it can be had.
fn sign(workspace: &Workspace, names: &Names) -> Result<()> {
    let (app, identity) = (app(workspace), Identity::of(&names.identity));
    bundle::sign(workspace, &app, &identity)?;
    apple::verify(workspace, &app).iter_mut().try_for_each(process::show)?;
    let Some(notary) = notary(&identity)? else {
        return told("signed for this machine alone, as release.toml names no identity");
    };
    let (mut pack, packed) = apple::pack(workspace, &app);
    process::show(&mut pack)?;
    notary.notarise(workspace, &packed, &app)?;
    apple::assess(workspace, &app, None).iter_mut().try_for_each(process::show)
}

/// Who notarises what an identity has signed; `None` where nobody has. A developer's app that Apple has not seen would
/// be refused on every other Mac.
fn notary(identity: &Identity) -> Result<Option<Notary>> {
    match (identity, Notary::of_environment()) {
        (Identity::AdHoc, _) => Ok(None),
        (Identity::Developer(_), Some(notary)) => Ok(Some(notary)),
        (Identity::Developer(name), None) => {
            Err(Error::Release { why: format!("there is no key to notarise with what {name} signs") })
        }
    }
}

fn image(workspace: &Workspace, names: &Names) -> Result<()> {
    let (app, identity) = (app(workspace), Identity::of(&names.identity));
    let image = folder(workspace)?.join(image_name(&workspace.version()?));
    apple::image(workspace, &app, &image, &identity)?.iter_mut().try_for_each(process::show)?;
    let staged = image.with_extension("folder");
    fs::remove_dir_all(&staged).map_err(Error::file(&staged))?;
    match notary(&identity)? {
        Some(notary) => {
            notary.notarise(workspace, &image, &image)?;
            apple::assess(workspace, &app, Some(&image)).iter_mut().try_for_each(process::show)?;
        }
        None => told("the image is not notarised either")?,
    }
    bundle::say_size(&image)
}

fn files(workspace: &Workspace, names: &Names) -> Result<()> {
    let (version, folder) = (workspace.version()?, folder(workspace)?);
    let changelog = read(&workspace.root().join(cut::CHANGELOG))?;
    let changelog = match changelog::section(&changelog, &version) {
        Some(_) => changelog,
        // A trial of what is not a release yet has what will be its section.
        None => changelog.replacen("## [Unreleased]", &format!("## [{version}]"), 1),
    };
    let key = updates::key()?;
    let release = Release {
        version: &version,
        changelog: &changelog,
        app: &app(workspace),
        folder: &folder,
        time: time(workspace)?,
        names,
        key: key.as_ref(),
    };
    for what in release.make()? {
        told(&format!("left out: {what}"))?;
    }
    print!("{}", read(&folder.join("SHA256SUMS"))?);
    Ok(())
}

/// When a release was made: when its last commit was, so that others can make the same.
fn time(workspace: &Workspace) -> Result<u64> {
    let told = match env::var("SOURCE_DATE_EPOCH") {
        Ok(told) => told,
        Err(_) => process::read(workspace.command("git").args(["log", "-1", "--format=%ct"]))?,
    };
    told.trim().parse().map_err(|error| Error::Release { why: format!("{told:?} is no time: {error}") })
}

/// Says what is not as in a published release, where a reader of the workflow sees it.
fn told(what: &str) -> Result<()> {
    println!("{}{what}", if env::var_os("GITHUB_ACTIONS").is_some() { "::warning::" } else { "" });
    Ok(())
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(Error::file(file))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn a_version_is_not_taken_for_a_step_and_one_of_both_must_be_there() {
        let parsed = |arguments: &[&str]| Line::try_parse_from([&["x"], arguments].concat());
        assert_eq!(parsed(&["1.2.3"]).unwrap().options.version.as_deref(), Some("1.2.3"));
        let check = parsed(&["check", "v1.2.3"]).unwrap().options;
        assert!(matches!(check.step, Some(Step::Check { tag: Some(_) })) && check.version.is_none());
        assert!(parsed(&[]).is_err());
    }

    #[test]
    fn a_tag_is_that_of_the_version_and_the_changelog_tells_of_it() {
        let changes = "## [1.2.3] - 2026-03-04\n\n- New.\n";
        assert_eq!(tag_fault("v1.2.3", "1.2.3", changes), None);
        assert!(tag_fault("v1.2.4", "1.2.3", changes).unwrap().contains("not that of version 1.2.3"));
        assert!(tag_fault("v1.2.3", "1.2.3", "## [1.2.3]\n").unwrap().contains("does not tell of 1.2.3"));
    }
}
