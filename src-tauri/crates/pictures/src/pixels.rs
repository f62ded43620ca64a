//! The file that a model's pixels come in: 8 bytes that name it, width and height as little-endian `u32`, the first 8
//! bytes of the pixels' SHA-256, then 3 bytes a pixel, row after row.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ring::digest::{Context, Digest, SHA256, digest};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::{PictureError, PixelsError};
use crate::files;
use crate::size::{FACTOR, LARGEST_AREA};

/// The file's name in the folder that [`prepare`](crate::prepare()) writes to.
pub const PIXELS_FILE: &str = "pixels.rgb";
const MAGIC: &[u8; 8] = b"FTKNRGB1";
const HEADER: usize = 24;

/// What a model sees of a picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels from left to right, a multiple of [`FACTOR`].
    pub width: u32,
    /// Pixels from top to bottom, a multiple of [`FACTOR`].
    pub height: u32,
    /// Red, green and blue, row after row.
    pub rgb: Vec<u8>,
    /// The SHA-256 of `rgb`.
    pub digest: [u8; 32],
}

impl fmt::Debug for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, height, .. } = self;
        f.debug_struct("Pixels").field("width", width).field("height", height).finish_non_exhaustive()
    }
}

impl Pixels {
    /// The pixels of a picture of this width and height, of which there are three bytes each.
    pub fn new(width: u32, height: u32, rgb: Vec<u8>) -> Self {
        let digest = sha256(&rgb);
        Self { width, height, rgb, digest }
    }

    /// Writes [`PIXELS_FILE`] into a folder, whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<(), PictureError> {
        let [width, height] = [self.width, self.height].map(u32::to_le_bytes);
        files::write(folder, PIXELS_FILE, &[MAGIC, &width, &height, &self.digest[..8], &self.rgb])
    }

    /// Reads the pixels at `path`. Whatever else may be there is refused with bounded time and memory.
    pub fn read(path: &Path) -> Result<Self, PixelsError> {
        let Opened { mut file, width, height, expected } = Opened::open(path)?;
        let mut rgb = vec![0; 3 * width as usize * height as usize];
        file.read_exact(&mut rgb).map_err(|error| fault(path, &error))?;
        let pixels = Self::new(width, height, rgb);
        match pixels.digest[..8] == expected {
            true => Ok(pixels),
            false => Err(PixelsError::Digest { path: path.to_owned() }),
        }
    }
}

/// A [`PIXELS_FILE`] that has been looked through. A chat may show hundreds of pictures, so pixels are in memory only
/// while they are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PixelsFile {
    /// Where it is.
    pub path: PathBuf,
    /// Pixels from left to right, a multiple of [`FACTOR`].
    pub width: u32,
    /// Pixels from top to bottom, a multiple of [`FACTOR`].
    pub height: u32,
    /// The SHA-256 of the pixels.
    pub digest: [u8; 32],
}

impl PixelsFile {
    /// Looks through the file at `path`: refuses what [`Pixels::read`] does.
    pub fn open(path: &Path) -> Result<Self, PixelsError> {
        let Opened { mut file, width, height, expected } = Opened::open(path)?;
        let (mut context, mut buffer) = (Context::new(&SHA256), [0; 1 << 16]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => context.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(fault(path, &error)),
            }
        }
        let (path, digest) = (path.to_owned(), bytes(context.finish()));
        match digest[..8] == expected {
            true => Ok(Self { path, width, height, digest }),
            false => Err(PixelsError::Digest { path }),
        }
    }

    /// Reads the pixels. Others than those that were looked through are refused.
    pub fn read(&self) -> Result<Pixels, PixelsError> {
        let pixels = Pixels::read(&self.path)?;
        match (pixels.width, pixels.height, pixels.digest) == (self.width, self.height, self.digest) {
            true => Ok(pixels),
            false => Err(PixelsError::Digest { path: self.path.clone() }),
        }
    }
}

/// A file whose header is read and whose length is right.
struct Opened {
    file: File,
    width: u32,
    height: u32,
    /// The beginning of the digest that the header tells.
    expected: [u8; 8],
}

impl Opened {
    fn open(path: &Path) -> Result<Self, PixelsError> {
        let io = |error| fault(path, &error);
        let path = || path.to_owned();
        // No link is followed, and a pipe that nobody writes to is not waited for.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path()).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if !metadata.is_file() {
            return Err(PixelsError::NotAFile { path: path() });
        }
        let found = metadata.len();
        let mut header = [0; HEADER];
        file.read_exact(&mut header).map_err(|_| PixelsError::Magic { path: path() })?;
        let [magic, sides, expected] = *header.as_chunks::<8>().0 else {
            return Err(PixelsError::Magic { path: path() });
        };
        if magic != *MAGIC {
            return Err(PixelsError::Magic { path: path() });
        }
        let sides = u64::from_le_bytes(sides);
        let (width, height) = (sides as u32, (sides >> 32) as u32);
        let area = u64::from(width) * u64::from(height);
        let is_side = |side: u32| side > 0 && side.is_multiple_of(FACTOR);
        if !is_side(width) || !is_side(height) || area > u64::from(LARGEST_AREA) {
            return Err(PixelsError::Sides { path: path(), width, height });
        }
        let length = HEADER as u64 + 3 * area;
        if found != length {
            return Err(PixelsError::Length { path: path(), expected: length, found });
        }
        Ok(Self { file, width, height, expected })
    }
}

fn fault(path: &Path, error: &io::Error) -> PixelsError {
    match Errno::from_io_error(error) {
        Some(Errno::LOOP) => PixelsError::NotAFile { path: path.to_owned() },
        _ => PixelsError::Io { path: path.to_owned(), detail: error.to_string() },
    }
}

fn sha256(rgb: &[u8]) -> [u8; 32] {
    bytes(digest(&SHA256, rgb))
}

fn bytes(digest: Digest) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest.as_ref());
    out
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn pixels() -> Pixels {
        Pixels::new(64, 32, (0..64 * 32 * 3).map(|n| (n % 251) as u8).collect())
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let pixels = pixels();
        pixels.write(folder.path()).unwrap();
        let path = folder.path().join(PIXELS_FILE);
        let bytes = fs::read(&path).unwrap();
        assert_eq!(&bytes[..16], b"FTKNRGB1\x40\0\0\0\x20\0\0\0");
        assert_eq!((&bytes[16..24], &bytes[24..]), (&pixels.digest[..8], &pixels.rgb[..]));
        assert!(Pixels::read(&path).unwrap() == pixels);
        let file = PixelsFile::open(&path).unwrap();
        assert_eq!((file.width, file.height, file.digest), (64, 32, pixels.digest));
        assert!(file.read().unwrap() == pixels);
        Pixels::new(64, 32, vec![7; 64 * 32 * 3]).write(folder.path()).unwrap();
        assert_eq!(file.read(), Err(PixelsError::Digest { path: path.clone() }));
        // The digest of nothing, as everybody knows it.
        assert_eq!(Pixels::new(0, 0, vec![]).digest[..4], [0xe3, 0xb0, 0xc4, 0x42]);
    }

    #[test]
    fn every_fault_is_named() {
        let folder = tempfile::tempdir().unwrap();
        pixels().write(folder.path()).unwrap();
        let path = folder.path().join(PIXELS_FILE);
        let good = fs::read(&path).unwrap();
        let read = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            fs::write(&path, bytes).unwrap();
            let error = Pixels::read(&path).unwrap_err();
            assert_eq!(PixelsFile::open(&path), Err(error.clone()));
            error
        };
        let sides = |width: u32, height: u32| {
            read(&|bytes| {
                bytes[8..12].copy_from_slice(&width.to_le_bytes());
                bytes[12..16].copy_from_slice(&height.to_le_bytes());
            })
        };
        assert!(matches!(read(&|bytes| bytes[3] ^= 1), PixelsError::Magic { .. }));
        for length in [0, 1, 23] {
            assert!(matches!(read(&|bytes| bytes.truncate(length)), PixelsError::Magic { .. }));
        }
        let (shorter, longer) = (read(&|bytes| bytes.truncate(24)), read(&|bytes| bytes.push(0)));
        assert!(matches!(shorter, PixelsError::Length { expected: 6168, found: 24, .. }), "{shorter}");
        assert!(matches!(longer, PixelsError::Length { expected: 6168, found: 6169, .. }), "{longer}");
        assert!(matches!(sides(32, 32), PixelsError::Length { expected: 3096, .. }));
        for (width, height) in
            [(0, 32), (64, 0), (63, 32), (64, 33), (8192, 4096), (u32::MAX - 31, u32::MAX - 31)]
        {
            assert!(matches!(sides(width, height), PixelsError::Sides { .. }), "{width} × {height}");
        }
        for place in [16, 23, 24, good.len() - 1] {
            assert!(matches!(read(&|bytes| bytes[place] ^= 1), PixelsError::Digest { .. }), "{place}");
        }
    }

    #[test]
    fn only_a_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        pixels().write(folder.path()).unwrap();
        let [link, pipe, missing] = ["link", "pipe", "missing"].map(|name| folder.path().join(name));
        symlink(folder.path().join(PIXELS_FILE), &link).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [&link, &pipe, &folder.path().to_owned()] {
            assert!(matches!(Pixels::read(path), Err(PixelsError::NotAFile { .. })), "{}", path.display());
        }
        assert!(matches!(Pixels::read(&missing), Err(PixelsError::Io { .. })));
    }
}
