//! Bytes of a page as text: by a byte order mark, by what the server says, by what the page says, else as UTF-8.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How far from the beginning a page says in which encoding it is, in bytes.
const DECLARED_WITHIN: usize = 1024;

/// The text of these bytes, of which the server says that they are in `charset`. What is no character becomes U+FFFD.
pub(super) fn decoded(bytes: &[u8], charset: Option<&str>, is_html: bool) -> String {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let told = marked
        .or_else(|| charset.and_then(|label| Encoding::for_label(label.as_bytes())))
        .or_else(|| is_html.then(|| declared(bytes)).flatten());
    let encoding = told.unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        // Old pages that say nothing are mostly in this one.
        Err(_) => WINDOWS_1252,
    });
    encoding.decode(bytes).0.into_owned()
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..DECLARED_WITHIN).unwrap_or(bytes)).to_ascii_lowercase();
    let label = ["charset=", "encoding="].iter().find_map(|name| {
        let (_, rest) = head.split_once(name)?;
        let rest = rest.trim_start_matches(['"', '\'', ' ']);
        rest.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c))).next()
    })?;
    // A page that can be read here says so in ASCII, and is then not in UTF-16.
    Encoding::for_label(label.as_bytes()).map(Encoding::output_encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_comes_before_the_server_and_the_server_before_the_page() {
        let page = "<meta charset=\"windows-1251\">\u{e4}";
        assert!(decoded("\u{feff}ä".as_bytes(), Some("latin1"), true).ends_with('ä'));
        assert!(decoded(page.as_bytes(), Some("utf-8"), true).ends_with('ä'));
        assert!(decoded(b"<meta charset=windows-1251>\xff", None, true).ends_with('я'));
        assert!(decoded(b"charset=windows-1251 \xc3\xa4", None, false).ends_with('ä'));
        assert_eq!(decoded(b"\x82\xa0", Some("Shift_JIS"), false), "あ");
    }

    #[test]
    fn a_label_that_nobody_knows_is_passed_over() {
        assert!(decoded("<meta charset=utf-8>ä".as_bytes(), Some("klingon"), true).ends_with('ä'));
        assert!(decoded("<meta charset=klingon>ä".as_bytes(), None, true).ends_with('ä'));
        assert_eq!(decoded(b"caf\xe9", None, true), "café");
        assert_eq!(decoded(b"a\xff\xfeb", Some("utf-8"), true), "a\u{fffd}\u{fffd}b");
    }
}
