//! A new release: version, lock file and changelog, for a person to look at, commit and tag.

use std::fs;

use semver::Version;
use toml_edit::{DocumentMut, value};

use super::changelog;
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// Where the changelog is.
pub(super) const CHANGELOG: &str = ".github/CHANGELOG.md";
const MANIFEST: &str = "Cargo.toml";

/// The tag of a version.
pub(super) fn tag(version: &str) -> String {
    format!("v{version}")
}

/// Makes this checkout that of a release, on a day as `2026-11-26`, and returns the commands that publish it. Nothing
/// is changed if anything speaks against it.
pub(super) fn cut(workspace: &Workspace, version: &str, day: &str) -> Result<String> {
    let refused = |why: String| Error::Release { why };
    let wanted =
        Version::parse(version).map_err(|error| refused(format!("{version} is no version: {error}")))?;
    if !wanted.pre.is_empty() || !wanted.build.is_empty() {
        return Err(refused(format!("{version} is more than three numbers")));
    }
    let git = |arguments: &[&str]| process::read(workspace.command("git").args(arguments));
    let changed = git(&["status", "--porcelain"])?;
    if !changed.is_empty() {
        return Err(refused(format!("there are changes that are not committed:\n{}", changed.trim_end())));
    }
    let tag = tag(version);
    if !git(&["tag", "--list", &tag])?.is_empty() {
        return Err(refused(format!("there is a tag {tag} already")));
    }
    let manifest = workspace.root().join(MANIFEST);
    let text = fs::read_to_string(&manifest).map_err(Error::file(&manifest))?;
    let mut document: DocumentMut =
        text.parse().map_err(|error| refused(format!("{}: {error}", manifest.display())))?;
    let written = &mut document["workspace"]["package"]["version"];
    let last = written.as_str().and_then(|version| Version::parse(version).ok());
    if last.is_none_or(|last| wanted <= last) {
        return Err(refused(format!("{version} is not higher than {}", written.to_string().trim())));
    }
    *written = value(version);
    let changelog = workspace.root().join(CHANGELOG);
    let changes = fs::read_to_string(&changelog).map_err(Error::file(&changelog))?;
    let changes = changelog::cut(&changes, version, day)
        .ok_or_else(|| refused(format!("{CHANGELOG} tells of nothing that is unreleased")))?;

    fs::write(&manifest, document.to_string()).map_err(Error::file(&manifest))?;
    fs::write(&changelog, &changes).map_err(Error::file(&changelog))?;
    // The versions of the workspace's own packages, and of no other.
    process::read(workspace.cargo().args(["update", "--workspace", "--offline", "--quiet"]))?;
    let notes = workspace.target().join("release-notes.md");
    fs::create_dir_all(workspace.target()).map_err(Error::file(&notes))?;
    let section = changelog::section(&changes, version).unwrap_or_default();
    fs::write(&notes, format!("Foretoken {version}\n\n{section}\n")).map_err(Error::file(&notes))?;
    Ok(format!(
        "git commit --all --message 'Foretoken {version}'\n\
         git tag --annotate {tag} --cleanup whitespace --file target/release-notes.md\n\
         git push --atomic origin HEAD {tag}"
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const CHANGES: &str = "# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [0.1.0] - 2026-01-02\n\n- Old.\n";

    /// A checkout of a workspace with one package.
    fn checkout(root: &Path) -> Workspace {
        let put = |name: &str, text: &str| {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        put(
            MANIFEST,
            "[workspace]\nmembers = [\"app\"]\n\n[workspace.package]\nversion = \"0.1.0\" # All.\n",
        );
        put(
            "app/Cargo.toml",
            "[package]\nname = \"foretoken\"\nversion.workspace = true\nedition = \"2024\"\n",
        );
        put("app/src/lib.rs", "");
        put(".gitignore", "/target/\n");
        put(CHANGELOG, CHANGES);
        let workspace = Workspace::at(root);
        process::read(workspace.cargo().args(["generate-lockfile", "--offline", "--quiet"])).unwrap();
        git(&workspace, &["init", "--quiet"]);
        commit(&workspace);
        workspace
    }

    fn git(workspace: &Workspace, arguments: &[&str]) -> String {
        let own = ["-c", "user.name=Somebody", "-c", "user.email=somebody@localhost"];
        process::read(workspace.command("git").args(own).args(arguments)).unwrap()
    }

    fn commit(workspace: &Workspace) {
        git(workspace, &["add", "--all"]);
        git(workspace, &["commit", "--quiet", "--message", "All"]);
    }

    #[test]
    fn a_release_has_one_version_everywhere() {
        let place = tempfile::tempdir().unwrap();
        let workspace = checkout(place.path());
        let commands = cut(&workspace, "0.2.0", "2026-03-04").unwrap();
        let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
        assert!(read(MANIFEST).contains("\nversion = \"0.2.0\""), "{}", read(MANIFEST));
        assert!(read("Cargo.lock").contains("name = \"foretoken\"\nversion = \"0.2.0\""));
        assert!(read(CHANGELOG).contains("## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n- New.\n"));
        assert_eq!(workspace.version().unwrap(), "0.2.0");
        assert_eq!(read("target/release-notes.md"), "Foretoken 0.2.0\n\n- New.\n");
        assert!(commands.contains("git tag --annotate v0.2.0 "), "{commands}");
        // The commands are for a person.
        assert_eq!(git(&workspace, &["tag"]), "");
    }

    #[test]
    fn what_speaks_against_a_release_is_told_and_nothing_is_changed() {
        let place = tempfile::tempdir().unwrap();
        let workspace = checkout(place.path());
        let refused = |version: &str| cut(&workspace, version, "2026-03-04").unwrap_err().to_string();
        assert!(refused("0.1.0").contains("not higher than"), "{}", refused("0.1.0"));
        assert!(refused("0.0.9").contains("not higher than"));
        assert!(refused("v0.2.0").contains("is no version"));
        assert!(refused("0.2.0-beta.1").contains("more than three numbers"));
        git(&workspace, &["tag", "v0.3.0"]);
        assert!(refused("0.3.0").contains("a tag v0.3.0 already"));
        assert_eq!(git(&workspace, &["status", "--porcelain"]), "", "nothing was changed");

        let changelog = place.path().join(CHANGELOG);
        fs::write(&changelog, CHANGES.replace("- New.", "### Added")).unwrap();
        assert!(refused("0.2.0").contains("not committed:\n M .github/CHANGELOG.md"), "{}", refused("0.2.0"));
        commit(&workspace);
        assert!(refused("0.2.0").contains("nothing that is unreleased"));
    }
}
