//! The app as others get it. One list says which files belong to it; a system's layout says where each of them lies.

mod debian;
mod list;

use clap::Args;

use self::list::Contents;
use crate::error::Result;
use crate::prepared::step;
use crate::process;
use crate::setup;
use crate::workspace::Workspace;

/// What to bundle.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Options {
    /// Bundle the programs of the development profile.
    #[arg(long)]
    debug: bool,
}

/// Builds the programs and bundles them.
pub(crate) fn run(workspace: &Workspace, options: Options) -> Result<()> {
    setup::bundle(workspace)?;
    let profile = if options.debug { "debug" } else { "release" };
    let mut build = workspace.cargo();
    build.args(["build", "--locked", "--workspace", "--bins"]);
    if !options.debug {
        build.arg("--release");
    }
    process::show(&mut build)?;
    make(workspace, profile)
}

/// Bundles the programs that were built in a profile.
pub(crate) fn make(workspace: &Workspace, profile: &str) -> Result<()> {
    let contents = Contents::locate(workspace, profile)?;
    let package = debian::path(workspace, &contents);
    step(&format!("{}", package.display()), false, || debian::make(workspace, &contents, &package))
}
