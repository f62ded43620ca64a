//! Python packages, each set in a folder of its own. Nothing is installed into the system's Python.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::prepared::Folder;
use crate::process;
use crate::workspace::Workspace;

/// The packages of a file in `pins`, each with its version and the hashes of its files.
#[derive(Debug)]
pub(super) struct Pins {
    file: PathBuf,
    /// What the file says: another text is another set.
    pub(super) text: String,
}

impl Pins {
    pub(super) fn read(workspace: &Workspace, name: &str) -> Result<Self> {
        let file = workspace.pins().join(name).with_extension("txt");
        let text = fs::read_to_string(&file).map_err(Error::file(&file))?;
        Ok(Self { file, text })
    }

    /// The same, if its `package` is of the release `wanted`.
    pub(super) fn of_release(workspace: &Workspace, name: &str, package: &str, wanted: &str) -> Result<Self> {
        let pins = Self::read(workspace, name)?;
        match pins.version(package) {
            Some(pinned) if pinned == wanted => Ok(pins),
            pinned => {
                let pinned = pinned.unwrap_or("no").to_owned();
                Err(Error::Pins { file: pins.file, pinned, wanted: wanted.to_owned() })
            }
        }
    }

    /// The version of a package.
    fn version(&self, package: &str) -> Option<&str> {
        let mut lines = self.text.lines();
        lines.find_map(|line| line.strip_prefix(package)?.strip_prefix("==")?.split([' ', '\\']).next())
    }
}

/// A Python with a pip of its own: the system's may have none. Made on the first call.
pub(super) fn interpreter(workspace: &Workspace) -> Result<PathBuf> {
    let version = process::read(workspace.command("python3").arg("--version"))?;
    let environment = Folder::new(workspace.tools(), "python", &version);
    if !environment.is_ready() {
        environment.fill(|partial| {
            process::log(workspace.command("python3").args(["-m", "venv"]).arg(partial), &workspace.log())
        })?;
    }
    Ok(environment.path().join("bin/python"))
}

/// What the packages of the tests were chosen for. A Mac's own Python is older.
const OLDEST: [u32; 2] = [3, 11];

/// What the system's Python says of its version, which must be recent enough for the packages of the tests.
pub(super) fn version(workspace: &Workspace) -> Result<String> {
    let version = process::read(workspace.command("python3").arg("--version"))?;
    if is_recent(&version) { Ok(version) } else { Err(Error::Python { found: version.trim().to_owned() }) }
}

/// Whether `python3 --version` tells of [`OLDEST`] or later.
fn is_recent(version: &str) -> bool {
    let number = version.trim().trim_start_matches("Python ").split('.');
    number.map_while(|part| part.parse().ok()).take(2).collect::<Vec<u32>>().as_slice() >= OLDEST.as_slice()
}

/// Installs packages into a folder. A file without one of its hashes is refused. The pins name what each of them needs,
/// so that pip has nothing to choose, and a newer release of one cannot be in its way.
pub(super) fn install(workspace: &Workspace, pins: &Pins, folder: &Path) -> Result<()> {
    install_for(workspace, pins, None, folder)
}

/// Installs packages for a platform that pip need not run on; for that which it runs on if there is none.
pub(super) fn install_for(
    workspace: &Workspace,
    pins: &Pins,
    platform: Option<&str>,
    folder: &Path,
) -> Result<()> {
    let quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"];
    let mut pip = workspace.command(interpreter(workspace)?);
    // What a test imports is compiled then, and most of it never is.
    pip.args(["-m", "pip", "install", "--no-compile"]).args(quiet).arg("--target").arg(folder);
    if let Some(platform) = platform {
        // No Python loads them, so that of the system may be older than they ask for.
        pip.args([
            "--platform",
            platform,
            "--python-version",
            "3.12",
            "--implementation",
            "py",
            "--abi",
            "none",
        ]);
    }
    pip.args(["--no-deps", "--require-hashes", "--requirement"]).arg(&pins.file);
    process::log(&mut pip, &workspace.log())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned_by_its_hashes() {
        let workspace = Workspace::locate();
        for name in ["clients", "mlx-cpu", "mlx-cuda", "mlx-metal", "mlx-vlm", "reference", "zig"] {
            let pins = Pins::read(&workspace, name).unwrap();
            // A package begins a line; its hashes follow on lines of their own.
            let (mut last, mut hashes) = (String::new(), 0);
            for line in pins.text.lines().filter(|line| !line.starts_with('#')) {
                if let Some(hash) = line.trim_start().strip_prefix("--hash=sha256:") {
                    assert_eq!(hash.trim_end_matches(" \\").len(), 64, "{name}: {line}");
                    hashes += 1;
                } else {
                    assert!(line.contains("==") && line.ends_with('\\'), "{name}: {line}");
                    assert!(last.is_empty() || hashes > 0, "{name}: {last} has no hash");
                    (last, hashes) = (line.to_owned(), 0);
                }
            }
            assert!(hashes > 0, "{name}: {last} has no hash");
        }
    }

    #[test]
    fn a_file_that_is_not_the_pinned_one_is_refused() {
        let workspace = Workspace::locate();
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder.path().join("owl-1.0-py3-none-any.whl");
        fs::write(&wheel, "not the one").unwrap();
        let file = folder.path().join("pins.txt");
        let text = format!("{} --hash=sha256:{}\n", wheel.display(), "0".repeat(64));
        fs::write(&file, &text).unwrap();
        fs::create_dir_all(workspace.tools()).unwrap();
        let refused = install(&workspace, &Pins { file, text }, &folder.path().join("installed"));
        let why = refused.unwrap_err().to_string();
        assert!(why.contains("DO NOT MATCH THE HASHES"), "{why}");
    }

    #[test]
    fn an_old_python_is_refused_before_pip_is() {
        for (version, recent) in
            [("Python 3.11.2\n", true), ("Python 3.14.0rc1", true), ("Python 3.9.6\n", false), ("", false)]
        {
            assert_eq!(is_recent(version), recent, "{version}");
        }
    }

    #[test]
    fn the_version_is_that_of_the_package_itself() {
        let text = "mlx-lm==1.0 \\\nmlx==0.32.2 \\\n    --hash=sha256:0\nmlx-metal==9 ; x".to_owned();
        let pins = Pins { file: PathBuf::new(), text };
        assert_eq!(pins.version("mlx"), Some("0.32.2"));
        assert_eq!(pins.version("numpy"), None);
    }
}
