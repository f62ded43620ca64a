//! Set-up, run, checks, notices and icons of this repository. Every command prepares what it needs first.

mod bundle;
mod check;
mod compare;
mod error;
mod gallery;
mod icons;
mod layers;
mod licences;
mod macos;
#[cfg(test)]
mod map;
mod mutants;
mod notices;
mod prepared;
mod process;
mod release;
mod run;
mod setup;
mod widths;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about, long_about = None)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Prepare everything that is missing: system packages, MLX, the built page, test tools
    Setup,
    /// Prepare what the app needs, build it and open it; without a display, chat with the demo model in the terminal
    Run,
    /// What one wants every few minutes: format, layers, lints, types, tests of the page and unit tests of Rust
    Check,
    /// Prepare everything, then run every check and every test
    Test,
    /// Type-check and lint the macOS side of the workspace on Linux
    CheckMacos,
    /// Build the app as others get it, in target/bundle: on a Mac Foretoken.app, on Linux a Debian package
    Bundle(bundle::Options),
    /// Sign an app of stand-ins with a certificate of its own, on Linux, and see that mistakes in it are found (5
    /// minutes; the first time 10 more, for the tool that signs)
    CheckSigning,
    /// Make this checkout a release: version, lock file and changelog; prints how to tag it
    Release(release::Options),
    /// Put known mistakes into a copy of the decode engine, one at a time, and see that its tests notice (30 minutes)
    Mutants {
        /// Only those whose names contain this.
        name: Option<String>,
    },
    /// Time the release build of the engine and its peers, mlx-lm and mlx-vlm, by turns on the same checkpoints
    Compare(compare::Options),
    /// Draw every screen and state of the app, light and dark, compare with the kept pictures, and look what does not
    /// fit in a smaller and a larger window
    Gallery {
        /// Keep what is drawn, after a change that is meant; look at it first.
        #[arg(long)]
        keep: bool,
        /// Only states whose names begin with this.
        name: Option<String>,
    },
    /// Write the notices of what others have made and the app carries, from the dependencies as they are now
    Notices,
    /// Draw every icon size from icons/foretoken.svg
    Icons,
}

fn main() -> ExitCode {
    let workspace = Workspace::locate();
    let result = match Arguments::parse().task {
        Task::Setup => setup::everything(&workspace),
        Task::Run => run::run(&workspace),
        Task::Check => check::often(&workspace),
        Task::Test => check::all(&workspace),
        Task::CheckMacos => check::macos(&workspace),
        Task::Bundle(options) => bundle::run(&workspace, options),
        Task::CheckSigning => bundle::check_signing(&workspace),
        Task::Release(options) => release::run(&workspace, options),
        Task::Mutants { name } => mutants::run(&workspace, name.as_deref()),
        Task::Compare(options) => compare::run(&workspace, &options),
        Task::Gallery { keep, name } => gallery::draw(&workspace, keep, name.as_deref()),
        Task::Notices => setup::page_packages(&workspace).and_then(|()| notices::write(&workspace)),
        Task::Icons => icons::draw(&workspace),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error}");
            ExitCode::FAILURE
        }
    }
}
