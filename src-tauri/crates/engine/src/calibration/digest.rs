//! SHA-256 of files and tokens: the same in every version of the program and on every machine.

use std::fmt::Write;

use ring::digest::{Context, SHA256, digest};

/// The SHA-256 of bytes, in hexadecimal digits.
pub(super) fn of_bytes(bytes: &[u8]) -> String {
    digits(digest(&SHA256, bytes).as_ref())
}

/// The SHA-256 of tokens, 4 bytes each.
pub(super) fn of_tokens(ids: &[u32]) -> [u8; 32] {
    let mut hash = Context::new(&SHA256);
    ids.iter().for_each(|id| hash.update(&id.to_le_bytes()));
    let mut bytes = [0; 32];
    bytes.copy_from_slice(hash.finish().as_ref());
    bytes
}

/// Bytes in hexadecimal digits.
pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
