//! Pictures from a file to what a model reads and what people see. [`prepare()`] is for a process of its own, which a
//! hostile file may end: it decodes. [`Pixels::read`] is for the process that holds the model: it decodes nothing.

mod decode;
mod error;
mod files;
mod foreign;
mod limits;
mod pixels;
mod prepare;
mod resize;
mod size;
mod sniff;
#[cfg(target_os = "macos")]
mod system;
mod view;

pub use error::{PictureError, PixelsError};
pub use foreign::Foreign;
pub use limits::LARGEST_FILE;
pub use pixels::{PIXELS_FILE, Pixels, PixelsFile};
pub use prepare::prepare;
pub use resize::bicubic;
pub use size::{FACTOR, LARGEST_AREA, LEAST_AREA, SizeRule};
pub use sniff::is_picture;
