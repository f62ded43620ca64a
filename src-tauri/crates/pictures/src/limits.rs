//! What a picture may claim before it is decoded.

/// The largest file that is read, in bytes.
pub const LARGEST_FILE: u64 = 32 << 20;
/// The most pixels of a side.
pub(crate) const LARGEST_SIDE: u32 = 1 << 15;
/// The most pixels of a picture.
pub(crate) const LARGEST_AREA: u64 = 100_000_000;
/// The most bytes that a decoder takes, what it returns included.
pub(crate) const MEMORY: u64 = 512 << 20;
