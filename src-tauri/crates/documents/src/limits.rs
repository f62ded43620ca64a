//! How much of a document is read.

/// The largest file, in bytes; most of one is not text.
pub const LARGEST_FILE: u64 = 64 << 20;
/// The most bytes that the parts of an archive have together once they are inflated.
pub(crate) const MOST_INFLATED: u64 = 512 << 20;
/// How many times its size a part that is longer than [`FREE_RATIO`] may inflate to: XML seldom reaches a fifth.
pub(crate) const MOST_RATIO: u64 = 300;
/// Up to this length a part may inflate as it likes, in bytes.
pub(crate) const FREE_RATIO: u64 = 8 << 20;
/// How deep elements may lie within each other.
pub(crate) const DEEPEST: usize = 4096;
/// How many rows of a sheet are read, those without content not counted.
pub(crate) const MOST_ROWS: usize = 20_000;
/// How many columns of a sheet are read.
pub(crate) const MOST_COLUMNS: usize = 256;
/// After how much text a sheet is not read on, in bytes: no message takes as much.
pub(crate) const ENOUGH: usize = 16 << 20;
