//! Pictures for models.
mod pixels;
pub use pixels::{Pixels, PixelsError};
