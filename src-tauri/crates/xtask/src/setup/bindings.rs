//! Rust declarations of mlx-c, as the build script of mlx-sys makes them.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// Declarations that mlx-c's headers only have on Arm.
pub(super) const X86_SYMBOLS: &str = include_str!("../../native/x86_symbols.rs");

/// The text of `bindings.rs`, for a processor that is an x86 or not.
pub(super) fn generate(mlx_c: &Path, x86: bool) -> Result<String> {
    let headers = mlx_c.join("mlx/c");
    let failed = |why: String| Error::Bindings { headers: headers.clone(), why };
    let mut files = Vec::new();
    for entry in fs::read_dir(&headers).map_err(Error::file(&headers))? {
        files.push(entry.map_err(Error::file(&headers))?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "h"));
    files.sort();
    let builder = bindgen::Builder::default()
        .rust_target("1.73.0".parse().map_err(|error| failed(format!("{error:?}")))?)
        .formatter(bindgen::Formatter::None)
        .headers(files.iter().map(|file| file.to_string_lossy()))
        .clang_arg(format!("-I{}", mlx_c.display()))
        // mlx-sys leaves them out too: rustc has its own idea of them.
        .blocklist_function("malloc")
        .blocklist_function("realloc");
    let bindings = builder.generate().map_err(|error| failed(error.to_string()))?;
    Ok(format!("{bindings}{}", if x86 { X86_SYMBOLS } else { "" }))
}
