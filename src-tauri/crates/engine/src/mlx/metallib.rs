//! Where Metal's kernels lie in a bundle. MLX itself looks beside its library, and at last where it was built: on the
//! machine of whoever built it a missing file goes unnoticed.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use super::error::install_handler;
use super::{MlxError, Result};

/// The name of the engine program, behind which a bundle adds the flavour of MLX that it runs with: `-14`, `-26`.
const PROGRAM: &str = "foretoken-engine-";

/// Names the kernels of this program's flavour to MLX, which then looks nowhere else; a program without a flavour names
/// none. To be called before the first operation.
pub fn prepare() -> Result<()> {
    let Some(metallib) = named() else { return Ok(()) };
    install_handler();
    let path = CString::new(metallib.into_os_string().into_encoded_bytes())
        .map_err(|error| MlxError::new("set_metallib_path", error.to_string()))?;
    // SAFETY: the path is a C string, which MLX copies.
    match unsafe { mlx_sys::mlx_metal_set_metallib_path(path.as_ptr()) } {
        0 => Ok(()),
        _ => Err(MlxError::last("set_metallib_path")),
    }
}

/// The kernels of this program's flavour; `None` for a program without one.
pub fn named() -> Option<PathBuf> {
    // On macOS the path is as the program was started, through links.
    of_flavour(&std::env::current_exe().and_then(|program| program.canonicalize()).ok()?)
}

/// `Contents/MacOS/foretoken-engine-14` computes with `Contents/Resources/mlx-14/mlx.metallib`.
fn of_flavour(program: &Path) -> Option<PathBuf> {
    let flavour = program.file_name()?.to_str()?.strip_prefix(PROGRAM)?;
    let contents = program.parent()?.parent()?;
    Some(contents.join("Resources").join(format!("mlx-{flavour}")).join("mlx.metallib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_a_bundle_has_the_kernels_of_its_flavour() {
        let contents = Path::new("/Applications/Fore token ü.app/Contents");
        for flavour in ["14", "26"] {
            let program = contents.join("MacOS").join(format!("foretoken-engine-{flavour}"));
            let metallib = contents.join("Resources").join(format!("mlx-{flavour}/mlx.metallib"));
            assert_eq!(of_flavour(&program), Some(metallib));
        }
        assert_eq!(of_flavour(Path::new("/checkout/target/debug/foretoken-engine")), None);
        assert_eq!(of_flavour(Path::new("foretoken-engine-14")), None);
    }

    #[test]
    fn a_test_has_no_flavour() {
        assert_eq!(named(), None);
        assert_eq!(prepare(), Ok(()));
    }
}
