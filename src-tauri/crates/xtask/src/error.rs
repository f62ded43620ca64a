//! What can go wrong, with the command or the file that it went wrong with.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

pub(crate) type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot start `{line}`: {source}{hint}")]
    Start { line: String, hint: &'static str, source: io::Error },
    #[error("`{line}` failed ({status}){output}")]
    Failed { line: String, status: ExitStatus, output: String },
    #[error("`{line}` printed something unexpected: {why}")]
    Output { line: String, why: String },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("system packages are missing; install them and try again:\n  {command}")]
    Packages { command: String },
    #[error("python3 is {found}, and the tests need Python 3.11 or later; on a Mac: brew install python")]
    Python { found: String },
    #[error("{variable} is {value:?}; use one of: {allowed}")]
    Variable { variable: &'static str, value: String, allowed: &'static str },
    #[error("MLX can be prepared on x86-64 Linux and on Apple silicon, not on {system} on {architecture}")]
    System { system: &'static str, architecture: &'static str },
    #[error("cannot generate bindings for {}: {why}", headers.display())]
    Bindings { headers: PathBuf, why: String },
    #[error("{} pins MLX {pinned}, and the engine is built with {wanted}: renew it with the command at its top", file.display())]
    Pins { file: PathBuf, pinned: String, wanted: String },
    #[error("{what} arrived with the SHA-256 {found} instead of {expected}; do not use it")]
    Hash { what: String, expected: &'static str, found: String },
    #[error("{} is not what the dependencies say: run `cargo xtask notices` and commit it", path.display())]
    Outdated { path: PathBuf },
    #[error("{package} has the licence {licence:?}, which is not among those that .cargo/deny.toml allows")]
    Licence { package: String, licence: String },
    #[error("the licence of {package} cannot be told: {why}")]
    NoLicence { package: String, why: String },
    #[error("the npm package {package} is not installed: run `npm ci` in ui/")]
    NotInstalled { package: String },
    #[error("mistake {name:?} cannot be made or tested: change it to what {} holds now", path.display())]
    Mutant { name: &'static str, path: PathBuf },
    #[error("{} is no model folder: it has no config.json; give --model the folder of a checkpoint", path.display())]
    NoModel { path: PathBuf },
    #[error(
        "it computes on {device} and Foretoken on {ours}, which is no comparison; on Linux set FORETOKEN_MLX=cpu"
    )]
    Device { device: String, ours: String },
    #[error("the tests miss: {names}")]
    Missed { names: String },
    #[error("the sources use what they may not, see src-tauri/crates/xtask/src/layers.rs:{violations}")]
    Layers { violations: String },
    #[error("the app is not as it should be:\n{faults}")]
    Bundle { faults: String },
    #[error("{why}")]
    Release { why: String },
    #[error("comments and prose are wider than {width} columns:{lines}")]
    Widths { width: usize, lines: String },
    #[error("{title}: {source}")]
    Check { title: &'static str, source: Box<Error> },
}

impl Error {
    /// For `map_err`: the file or folder that an operation failed on.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
