//! MLX on Linux. The build script of mlx-sys only works on macOS, so cargo is given its results instead: MLX from
//! its Python wheel, mlx-c built from the sources inside mlx-sys, and bindings.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::bindings;
use super::python::{self, Pins};
use crate::error::{Error, Result};
use crate::prepared::{Folder, write};
use crate::process;
use crate::workspace::Workspace;

const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// Beside the linker that reads it, so that it stays when the build folder goes.
const FOLDER: &str = ".cargo/mlx-folder";
const FORMAT: &str = include_str!("../../native/format.h");
const SYMBOLS: &str = include_str!("../../native/x86_symbols.cpp");

/// Prepares MLX and tells cargo where it is.
pub(super) fn prepare(workspace: &Workspace) -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Error::Architecture(env::consts::ARCH));
    }
    let sources = Sources::locate(workspace)?;
    let native = native(workspace);

    let version = &sources.mlx_version;
    let pins = Pins::of_mlx(workspace, backend()?, version)?;
    let wheel = Folder::new(native.clone(), "mlx", &pins.text);
    wheel
        .prepare(&format!("MLX {version} for Linux"), |partial| python::install(workspace, &pins, partial))?;
    let mlx = wheel.path().join("mlx");

    let compiler = process::read(workspace.command("c++").arg("--version"))?;
    let library = Folder::new(native.clone(), "mlx-c", (&mlx, &sources.mlx_c, compiler, FORMAT, SYMBOLS));
    library.prepare(&format!("mlx-c for MLX {version}"), |partial| {
        build_mlx_c(workspace, &sources.mlx_c, &mlx, partial)
    })?;

    let generated = bindings_folder(workspace, &sources);
    generated.prepare("mlx-c bindings", |partial| {
        let file = partial.join("bindings.rs");
        fs::write(&file, bindings::generate(&sources.mlx_c)?).map_err(Error::file(&file))
    })?;

    let lib = mlx.join("lib");
    write(&workspace.root().join(FOLDER), &lib.display().to_string())?;
    let config = workspace.root().join(".cargo/native.toml");
    write(&config, &cargo_config(&lib, &library.path(), &generated.path())).map(drop)
}

/// Cargo settings for a check of the macOS side: mlx-sys with these bindings, and no library behind them.
pub(crate) fn macos_settings(workspace: &Workspace) -> Result<[String; 2]> {
    let bindings = bindings_folder(workspace, &Sources::locate(workspace)?).path();
    let table = format!("target.{}.mlx", super::tools::MACOS);
    let out_dir = Value::from(bindings.display().to_string());
    Ok([format!("{table}.rustc-link-lib=[\"dylib=mlx\"]"), format!("{table}.rustc-env.OUT_DIR={out_dir}")])
}

/// The MLX release that the engine is built with.
#[cfg(test)]
pub(super) fn version(workspace: &Workspace) -> Result<String> {
    Ok(Sources::locate(workspace)?.mlx_version)
}

fn native(workspace: &Workspace) -> PathBuf {
    workspace.target().join("native")
}

fn bindings_folder(workspace: &Workspace, sources: &Sources) -> Folder {
    Folder::new(native(workspace), "bindings", (&sources.mlx_c, bindings::X86_SYMBOLS))
}

/// The file in `pins` with MLX and its compute backend.
fn backend() -> Result<&'static str> {
    const VARIABLE: &str = "FORETOKEN_MLX";
    match env::var(VARIABLE).as_deref() {
        Err(env::VarError::NotPresent) | Ok("cpu") => Ok("mlx-cpu"),
        Ok("cuda") => Ok("mlx-cuda"),
        other => Err(Error::Variable {
            variable: VARIABLE,
            value: other.unwrap_or_default().into(),
            allowed: "cpu, cuda",
        }),
    }
}

/// mlx-c inside the mlx-sys that Cargo.lock names, and the MLX release that it is made for.
struct Sources {
    mlx_c: PathBuf,
    mlx_version: String,
}

impl Sources {
    fn locate(workspace: &Workspace) -> Result<Self> {
        let metadata = workspace.metadata()?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let manifest = packages
            .filter(|package| package["name"] == "mlx-sys")
            .find_map(|package| package["manifest_path"].as_str())
            .ok_or_else(|| unexpected("no package mlx-sys"))?;
        let mlx_c = Path::new(manifest).with_file_name("src").join("mlx-c");
        let file = mlx_c.join("CMakeLists.txt");
        let text = fs::read_to_string(&file).map_err(Error::file(&file))?;
        let mlx_version =
            mlx_version(&text).ok_or_else(|| unexpected("no MLX release in mlx-c's CMakeLists.txt"))?;
        Ok(Self { mlx_version: mlx_version.to_owned(), mlx_c })
    }
}

fn unexpected(why: &str) -> Error {
    Error::Output { line: "cargo metadata".into(), why: why.into() }
}

/// The release in `GIT_TAG v0.32.2`.
fn mlx_version(cmake_lists: &str) -> Option<&str> {
    let (_, rest) = cmake_lists.split_once("GIT_TAG v")?;
    rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().filter(|version| !version.is_empty())
}

/// Leaves `libmlxc.a` and `libx86_symbols.a` in `folder`.
fn build_mlx_c(workspace: &Workspace, mlx_c: &Path, mlx: &Path, folder: &Path) -> Result<()> {
    let log = workspace.log();
    let format = workspace.root().join("src-tauri/crates/xtask/native/format.h");
    let symbols = format.with_file_name("x86_symbols.cpp");
    let build = folder.join("build");
    process::log(
        workspace
            .command("cmake")
            .args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF"])
            .args(["-DMLX_C_USE_SYSTEM_MLX=ON", "-DMLX_C_BUILD_EXAMPLES=OFF"])
            // Nearly all that a file costs are MLX's headers, which several files then share.
            .arg("-DCMAKE_UNITY_BUILD=ON")
            .arg(format!("-DCMAKE_PREFIX_PATH={}", mlx.display()))
            .arg(format!("-DCMAKE_CXX_FLAGS=-include \"{}\"", format.display()))
            .arg("-S")
            .arg(mlx_c)
            .arg("-B")
            .arg(&build),
        &log,
    )?;
    process::log(workspace.command("cmake").arg("--build").arg(&build), &log)?;

    let object = build.join("x86_symbols.o");
    process::log(
        workspace
            .command("c++")
            .args(["-std=c++20", "-O2", "-fPIC", "-include"])
            .arg(&format)
            .arg("-I")
            .arg(mlx_c)
            .arg("-isystem")
            .arg(mlx.join("include"))
            .arg("-c")
            .arg(&symbols)
            .arg("-o")
            .arg(&object),
        &log,
    )?;
    let archive = folder.join("libx86_symbols.a");
    process::log(workspace.command("ar").arg("crs").arg(&archive).arg(&object), &log)?;

    let built = build.join("libmlxc.a");
    fs::rename(&built, folder.join("libmlxc.a")).map_err(Error::file(&built))?;
    fs::remove_dir_all(&build).map_err(Error::file(&build))
}

/// Replaces the build script of mlx-sys by its results.
fn cargo_config(mlx: &Path, mlx_c: &Path, bindings: &Path) -> String {
    // A JSON string is a TOML string.
    let string = |text: String| Value::from(text).to_string();
    let search = |folder: &Path| string(format!("native={}", folder.display()));
    format!(
        "# Written by `cargo xtask setup`: stands in for the build script of mlx-sys, which needs macOS.\n\
         [target.{TRIPLE}.mlx]\n\
         rustc-link-search = [{}, {}]\n\
         rustc-link-lib = [\"static=x86_symbols\", \"static=mlxc\", \"dylib=mlx\", \"dylib=stdc++\"]\n\
         rustc-env = {{ OUT_DIR = {} }}\n",
        search(mlx_c),
        search(mlx),
        string(bindings.display().to_string()),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_mlx_release_is_the_one_that_mlx_c_pins() {
        assert_eq!(mlx_version("  GIT_REPOSITORY \"…\"\n    GIT_TAG v0.32.2)\n"), Some("0.32.2"));
        assert_eq!(mlx_version("GIT_TAG main)"), None);
    }

    #[test]
    fn the_linker_tells_programs_the_folder_once_it_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let linker = folder.path().join("cc-with-mlx");
        fs::copy(Workspace::locate().root().join(".cargo/cc-with-mlx"), &linker).unwrap();
        // Instead of a compiler.
        let cc = folder.path().join("cc");
        fs::write(&cc, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
        fs::set_permissions(&cc, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", folder.path().display(), env::var("PATH").unwrap());
        let told = || {
            let mut command = std::process::Command::new(&linker);
            process::read(command.env("PATH", &path).args(["-o", "x y"])).unwrap()
        };
        assert_eq!(told(), "-o\nx y\n");
        write(&folder.path().join("mlx-folder"), "/a 'quoted' folder").unwrap();
        assert_eq!(told(), "-o\nx y\n-Xlinker\n-rpath\n-Xlinker\n/a 'quoted' folder\n");
    }

    #[test]
    fn cargo_reads_the_generated_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("native.toml");
        let path = Path::new("/a \"quoted\" folder");
        write(&file, &cargo_config(path, Path::new("/c"), Path::new("/b"))).unwrap();
        let key = format!("target.{TRIPLE}.mlx.rustc-link-search");
        let get = ["-Zunstable-options", "config", "get", "--format", "json-value", &key, "--config"];
        let mut cargo = Workspace::locate().cargo();
        let text = process::read(cargo.env("RUSTC_BOOTSTRAP", "1").current_dir(&folder).args(get).arg(&file));
        let value: Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert_eq!(value, serde_json::json!(["native=/c", "native=/a \"quoted\" folder"]));
    }
}
