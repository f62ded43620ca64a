//! Pictures of every screen and state at every size, light and dark.

use crate::error::Result;
use crate::process;
use crate::setup;
use crate::workspace::Workspace;

/// The test that draws them; what the variables mean stands there.
const TEST: &str = "binary(app) & test(gallery::every_state)";

/// Draws the states whose names begin with `only`, and compares them with the pictures that are kept, or keeps them.
pub(crate) fn draw(workspace: &Workspace, keep: bool, only: Option<&str>) -> Result<()> {
    setup::everything(workspace)?;
    let mut nextest = workspace.cargo();
    nextest.args(["nextest", "run", "--locked", "-p", "foretoken-tests", "--test", "app"]).args([
        "--no-capture",
        "-E",
        TEST,
    ]);
    nextest.env("FORETOKEN_EVERY_LOOK", "1");
    if keep {
        nextest.env("FORETOKEN_GALLERY_KEEP", "1");
    }
    if let Some(only) = only {
        nextest.env("FORETOKEN_GALLERY_ONLY", only);
    }
    process::show(&mut nextest)
}
