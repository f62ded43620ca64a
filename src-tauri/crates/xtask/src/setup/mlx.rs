//! MLX, so that nobody has to compile it: its library and, for Macs, its Metal kernels from the Python wheel that
//! MLX's own users run, mlx-c built from the sources inside mlx-sys, and bindings. Cargo is given them in place of the
//! results of mlx-sys's build script, which takes Xcode with Metal's compiler, half an hour, and what it fetches
//! without a hash.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::Value;

use super::bindings;
use super::python::{self, Pins};
use super::xcode;
use crate::error::{Error, Result};
use crate::prepared::{Folder, write};
use crate::process;
use crate::workspace::Workspace;

/// What the programs are built with, of what there is for this system.
const VARIABLE: &str = "FORETOKEN_MLX";
/// Beside the linker that reads it, so that it stays when the build folder goes.
const FOLDER: &str = ".cargo/mlx-folder";
/// What tells cargo to leave out mlx-sys's build script.
const CONFIG: &str = ".cargo/native.toml";
const FORMAT: &str = include_str!("../../native/format.h");
const SYMBOLS: &str = include_str!("../../native/x86_symbols.cpp");
/// Files of mlx-c are compiled in so many pieces at a time: nearly all that a file costs are MLX's headers.
const PIECES: usize = 4;

/// A build of MLX, and what is built on it.
#[derive(Debug, Clone, Copy)]
struct Build {
    triple: &'static str,
    /// Of the unpacked wheel, in the folder of what is compiled natively.
    folder: &'static str,
    title: &'static str,
    /// The file in `pins`, and the package in it that has the library.
    pins: &'static str,
    package: &'static str,
    /// The wheel's platform, where pip must not choose it: pip would choose by the system, not by what the system runs.
    platform: Option<&'static str>,
    /// Arguments for the compiler.
    compiler: &'static [&'static str],
    /// What programs are linked with.
    libraries: &'static [&'static str],
    /// Whether mlx-c lacks what it has on Arm.
    x86: bool,
}

const LINUX: Build = Build {
    triple: "x86_64-unknown-linux-gnu",
    folder: "mlx",
    title: "Linux",
    pins: "mlx-cpu",
    package: "mlx",
    platform: None,
    compiler: &[],
    libraries: &["static=x86_symbols", "static=mlxc", "dylib=mlx", "dylib=stdc++"],
    x86: true,
};

const LINUX_CUDA: Build = Build { title: "Linux with CUDA", pins: "mlx-cuda", ..LINUX };

/// For every Mac.
const MACOS: Build = Build {
    triple: super::tools::MACOS,
    folder: "mlx-14",
    title: "macOS 14",
    pins: "mlx-metal",
    package: "mlx-metal",
    platform: Some("macosx_14_0_arm64"),
    compiler: &["-mmacosx-version-min=14.0"],
    libraries: &[
        "static=mlxc",
        "dylib=mlx",
        "dylib=c++",
        "dylib=objc",
        "framework=Foundation",
        "framework=Metal",
        "framework=Accelerate",
        "framework=QuartzCore",
    ],
    x86: false,
};

/// With kernels for M5's matrix units. In spite of the wheel's name it runs from macOS 26.2 on.
const MACOS_26: Build =
    Build { folder: "mlx-26", title: "macOS 26.2", platform: Some("macosx_26_0_arm64"), ..MACOS };
pub(crate) const MACOS_26_FLOOR: [u32; 2] = [26, 2];

/// Prepares MLX and tells cargo where it is.
pub(super) fn prepare(workspace: &Workspace) -> Result<()> {
    match chosen(workspace)? {
        Some(build) => build.prepare(workspace),
        None => compiled_by_mlx_sys(workspace),
    }
}

/// The build that this machine takes; none where mlx-sys is to make its own.
fn chosen(workspace: &Workspace) -> Result<Option<Build>> {
    let asked = env::var(VARIABLE).ok();
    let unknown =
        |allowed| Error::Variable { variable: VARIABLE, value: asked.clone().unwrap_or_default(), allowed };
    match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") => match asked.as_deref() {
            None | Some("cpu") => Ok(Some(LINUX)),
            Some("cuda") => Ok(Some(LINUX_CUDA)),
            Some(_) => Err(unknown("cpu, cuda")),
        },
        ("macos", "aarch64") => match asked.as_deref() {
            None | Some("wheel") => {
                let version = process::read(workspace.command("sw_vers").arg("-productVersion"))?;
                Ok(Some(for_macos(&version)))
            }
            Some("source") => Ok(None),
            Some(_) => Err(unknown("wheel, source")),
        },
        (system, architecture) => Err(Error::System { system, architecture }),
    }
}

/// The build for a version of macOS.
fn for_macos(version: &str) -> Build {
    let version: Vec<u32> = version.trim().split('.').map_while(|part| part.parse().ok()).collect();
    if version.as_slice() >= MACOS_26_FLOOR.as_slice() { MACOS_26 } else { MACOS }
}

/// Takes back what stands in for the build script of mlx-sys, and checks what that needs.
fn compiled_by_mlx_sys(workspace: &Workspace) -> Result<()> {
    for file in [FOLDER, CONFIG] {
        let file = workspace.root().join(file);
        if file.exists() {
            fs::remove_file(&file).map_err(Error::file(&file))?;
        }
    }
    xcode::to_compile_mlx(workspace)
}

impl Build {
    fn prepare(self, workspace: &Workspace) -> Result<()> {
        if self.triple == MACOS.triple {
            xcode::command_line_tools(workspace)?;
        }
        let sources = Sources::locate(workspace)?;
        let mlx = self.wheel(workspace, &sources)?;
        let library = self.mlx_c(workspace, &sources, &mlx)?;

        let generated = bindings_folder(workspace, &sources);
        generated.prepare("mlx-c bindings", |partial| {
            let file = partial.join("bindings.rs");
            fs::write(&file, bindings::generate(&sources.mlx_c, self.x86)?).map_err(Error::file(&file))
        })?;

        let lib = mlx.join("lib");
        write(&workspace.root().join(FOLDER), &lib.display().to_string())?;
        let config = workspace.root().join(CONFIG);
        write(&config, &self.cargo_config(&lib, &library, &generated.path())).map(drop)
    }

    /// The folder with MLX's headers and library.
    fn wheel(self, workspace: &Workspace, sources: &Sources) -> Result<PathBuf> {
        let version = &sources.mlx_version;
        let pins = Pins::of_release(workspace, self.pins, self.package, version)?;
        let wheel = Folder::new(native(workspace), self.folder, (&pins.text, self.platform));
        wheel.prepare(&format!("MLX {version} for {}", self.title), |partial| {
            python::install_for(workspace, &pins, self.platform, partial)
        })?;
        Ok(wheel.path().join("mlx"))
    }

    /// The folder with `libmlxc.a` and, where mlx-c needs it, `libx86_symbols.a`.
    fn mlx_c(self, workspace: &Workspace, sources: &Sources, mlx: &Path) -> Result<PathBuf> {
        let compiler = process::read(workspace.command("c++").arg("--version"))?;
        let inputs = (mlx, &sources.mlx_c, compiler, FORMAT, SYMBOLS, self.compiler);
        let library = Folder::new(native(workspace), "mlx-c", inputs);
        library.prepare(&format!("mlx-c for MLX {}", sources.mlx_version), |partial| {
            let native = workspace.root().join("src-tauri/crates/xtask/native");
            let compile = |source: &Path| {
                let object = source.with_extension("o");
                let mut command = workspace.command("c++");
                command.args(["-std=c++20", "-O2", "-fPIC"]).args(self.compiler);
                command.arg("-include").arg(native.join("format.h"));
                command.arg("-I").arg(&sources.mlx_c).arg("-isystem").arg(mlx.join("include"));
                process::log(command.arg("-c").arg(source).arg("-o").arg(&object), &workspace.log())?;
                Ok(object)
            };
            let archive = |name: &str, objects: Vec<PathBuf>| {
                let mut command = workspace.command("ar");
                process::log(command.arg("crs").arg(partial.join(name)).args(&objects), &workspace.log())?;
                objects.iter().try_for_each(|object| fs::remove_file(object).map_err(Error::file(object)))
            };
            let pieces = sources.pieces(partial)?;
            let objects: Result<Vec<_>> = thread::scope(|scope| {
                let threads: Vec<_> = pieces.iter().map(|piece| scope.spawn(|| compile(piece))).collect();
                threads.into_iter().map(|thread| thread.join().expect("compiling panics nowhere")).collect()
            });
            archive("libmlxc.a", objects?)?;
            if self.x86 {
                let symbols = partial.join("x86_symbols.cpp");
                fs::write(&symbols, SYMBOLS).map_err(Error::file(&symbols))?;
                archive("libx86_symbols.a", vec![compile(&symbols)?])?;
            }
            Ok(())
        })?;
        Ok(library.path())
    }

    /// Replaces the build script of mlx-sys by its results.
    fn cargo_config(self, mlx: &Path, mlx_c: &Path, bindings: &Path) -> String {
        // A JSON string is a TOML string.
        let string = |text: String| Value::from(text).to_string();
        let search = |folder: &Path| string(format!("native={}", folder.display()));
        format!(
            "# Written by `cargo xtask setup`: stands in for the build script of mlx-sys.\n\
             [target.{}.mlx]\n\
             rustc-link-search = [{}, {}]\n\
             rustc-link-lib = {}\n\
             rustc-env = {{ OUT_DIR = {} }}\n",
            self.triple,
            search(mlx_c),
            search(mlx),
            Value::from(self.libraries),
            string(bindings.display().to_string()),
        )
    }
}

/// Cargo settings for a check of the macOS side on another system: mlx-sys with these bindings, and no library behind
/// them.
#[cfg(target_os = "linux")]
pub(crate) fn macos_settings(workspace: &Workspace) -> Result<[String; 2]> {
    let bindings = bindings_folder(workspace, &Sources::locate(workspace)?).path();
    let table = format!("target.{}.mlx", MACOS.triple);
    let out_dir = Value::from(bindings.display().to_string());
    Ok([format!("{table}.rustc-link-lib=[\"dylib=mlx\"]"), format!("{table}.rustc-env.OUT_DIR={out_dir}")])
}

/// The unpacked wheels of MLX for Macs: that for all of them, and that for newer systems.
pub(crate) fn macos_wheels(workspace: &Workspace) -> Result<[PathBuf; 2]> {
    let sources = Sources::locate(workspace)?;
    let folder =
        |build: Build| Ok(build.wheel(workspace, &sources)?.parent().map(PathBuf::from).unwrap_or_default());
    Ok([folder(MACOS)?, folder(MACOS_26)?])
}

/// The unpacked wheel of the MLX that the engine is built with.
pub(crate) fn wheel(workspace: &Workspace) -> Result<PathBuf> {
    let file = workspace.root().join(FOLDER);
    let lib = fs::read_to_string(&file).map_err(Error::file(&file))?;
    Ok(Path::new(&lib).ancestors().nth(2).unwrap_or(Path::new(&lib)).to_owned())
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

/// mlx-c inside the mlx-sys that Cargo.lock names, and the MLX release that it is made for.
struct Sources {
    mlx_c: PathBuf,
    mlx_version: String,
    /// Its C++ files.
    files: Vec<PathBuf>,
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
        let files: Vec<_> = source_files(&text).map(|file| mlx_c.join(file)).collect();
        if files.is_empty() {
            return Err(unexpected("no source files in mlx-c's CMakeLists.txt"));
        }
        Ok(Self { mlx_version: mlx_version.to_owned(), files, mlx_c })
    }

    /// Writes files into `folder` that each hold several of these.
    fn pieces(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let pieces = self.files.chunks(self.files.len().div_ceil(PIECES)).enumerate();
        pieces
            .map(|(index, files)| {
                let piece = folder.join(format!("mlxc_{index}.cpp"));
                let text: String =
                    files.iter().map(|file| format!("#include \"{}\"\n", file.display())).collect();
                fs::write(&piece, text).map_err(Error::file(&piece)).map(|()| piece)
            })
            .collect()
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

/// The files in lines such as `${CMAKE_CURRENT_LIST_DIR}/mlx/c/array.cpp`.
fn source_files(cmake_lists: &str) -> impl Iterator<Item = &str> {
    let files = cmake_lists.lines().filter_map(|line| line.trim().strip_prefix("${CMAKE_CURRENT_LIST_DIR}/"));
    files.map(|file| file.trim_end_matches(')')).filter(|file| file.ends_with(".cpp"))
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
    fn a_mac_gets_the_build_that_it_runs() {
        for (version, build) in [
            ("14.0\n", MACOS),
            ("15.7.1\n", MACOS),
            ("26.1\n", MACOS),
            ("26.2\n", MACOS_26),
            ("26.10\n", MACOS_26),
            ("27.0\n", MACOS_26),
        ] {
            assert_eq!(for_macos(version).platform, build.platform, "{version}");
        }
    }

    #[test]
    fn everything_for_macos_runs_on_the_same_release() {
        let config = fs::read_to_string(Workspace::locate().root().join(".cargo/config.toml")).unwrap();
        assert!(config.contains("MACOSX_DEPLOYMENT_TARGET = \"14.0\""), "{config}");
        assert_eq!(MACOS.compiler, ["-mmacosx-version-min=14.0"]);
    }

    #[test]
    fn the_files_of_mlx_c_are_those_that_its_own_build_compiles() {
        let sources = Sources::locate(&Workspace::locate()).unwrap();
        let mut files = sources.files.clone();
        files.sort();
        let mut all: Vec<_> =
            fs::read_dir(sources.mlx_c.join("mlx/c")).unwrap().map(|file| file.unwrap().path()).collect();
        all.retain(|file| file.extension().is_some_and(|extension| extension == "cpp"));
        all.sort();
        assert_eq!(files, all);
        let folder = tempfile::tempdir().unwrap();
        let pieces = sources.pieces(folder.path()).unwrap();
        let text: String = pieces.iter().map(|piece| fs::read_to_string(piece).unwrap()).collect();
        assert!(pieces.len() <= PIECES && files.iter().all(|file| text.contains(&*file.to_string_lossy())));
        let lines = "set(mlxc-src\n    ${CMAKE_CURRENT_LIST_DIR}/mlx/c/a.cpp\n    # ${CMAKE_CURRENT_LIST_DIR}/mlx/c/b.cpp\n    \
                     ${CMAKE_CURRENT_LIST_DIR}/mlx/c/c.cpp)";
        assert_eq!(source_files(lines).collect::<Vec<_>>(), ["mlx/c/a.cpp", "mlx/c/c.cpp"]);
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
        write(&file, &LINUX.cargo_config(path, Path::new("/c"), Path::new("/b"))).unwrap();
        let key = format!("target.{}.mlx.rustc-link-search", LINUX.triple);
        let get = ["-Zunstable-options", "config", "get", "--format", "json-value", &key, "--config"];
        let mut cargo = Workspace::locate().cargo();
        let text = process::read(cargo.env("RUSTC_BOOTSTRAP", "1").current_dir(&folder).args(get).arg(&file));
        let value: Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert_eq!(value, serde_json::json!(["native=/c", "native=/a \"quoted\" folder"]));
    }
}
