//! Bytes as text: by a byte order mark, by what the file says of itself, else as UTF-8.

use encoding_rs::{Encoding, UTF_8};

/// How far from the beginning a file says in which encoding it is, in bytes.
const DECLARED_WITHIN: usize = 1024;

/// The text of an XML or HTML file. What is no character becomes U+FFFD.
pub(crate) fn text(bytes: &[u8]) -> String {
    let encoding = Encoding::for_bom(bytes).map_or_else(|| declared(bytes), |(encoding, _)| encoding);
    encoding.decode(bytes).0.into_owned()
}

fn declared(bytes: &[u8]) -> &'static Encoding {
    let head = String::from_utf8_lossy(bytes.get(..DECLARED_WITHIN).unwrap_or(bytes)).to_ascii_lowercase();
    let label = ["encoding=", "charset="].iter().find_map(|name| {
        let (_, rest) = head.split_once(name)?;
        let rest = rest.trim_start_matches(['"', '\'']);
        rest.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c))).next()
    });
    // A file that can be read here says so in ASCII, and is then not in UTF-16.
    label.and_then(|label| Encoding::for_label(label.as_bytes())).map_or(UTF_8, Encoding::output_encoding)
}
