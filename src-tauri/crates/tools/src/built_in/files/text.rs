//! Text out of the bytes of a file, and back: UTF-8 and UTF-16, by its mark or by how it looks.

/// How a text is kept in its file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Encoding {
    form: Form,
    /// Whether a byte order mark comes first.
    marked: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Utf8,
    Utf16Little,
    Utf16Big,
}

/// A text and how it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) encoding: Encoding,
    /// Whether all of it was text; what was not stands as U+FFFD.
    pub(super) whole: bool,
}

const UTF8_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
const LITTLE_MARK: &[u8] = &[0xff, 0xfe];
const BIG_MARK: &[u8] = &[0xfe, 0xff];

/// Reads the text of a file; `None` where it is none.
pub(super) fn decoded(bytes: &[u8]) -> Option<Text> {
    if let Some(rest) = bytes.strip_prefix(UTF8_MARK) {
        return utf8(rest, true);
    }
    for (mark, form) in [(LITTLE_MARK, Form::Utf16Little), (BIG_MARK, Form::Utf16Big)] {
        if let Some(rest) = bytes.strip_prefix(mark) {
            return utf16(rest, Encoding { form, marked: true });
        }
    }
    let form = if bytes.contains(&0) { unmarked(bytes)? } else { return utf8(bytes, false) };
    utf16(bytes, Encoding { form, marked: false }).filter(|text| text.whole)
}

impl Text {
    /// Whether every line ends as on Windows.
    pub(super) fn is_crlf(&self) -> bool {
        has_only_crlf(&self.text)
    }
}

/// Whether every line ends as on Windows, and there is one that ends.
pub(super) fn has_only_crlf(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && ends == text.matches("\r\n").count()
}

impl Encoding {
    /// The bytes of a file that keeps `text` so.
    pub(super) fn encoded(self, text: &str) -> Vec<u8> {
        let (mark, bytes) = match self.form {
            Form::Utf8 => (UTF8_MARK, text.as_bytes().to_vec()),
            Form::Utf16Little => (LITTLE_MARK, text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Form::Utf16Big => (BIG_MARK, text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        };
        if self.marked { [mark, &bytes].concat() } else { bytes }
    }
}

fn utf8(bytes: &[u8], marked: bool) -> Option<Text> {
    let encoding = Encoding { form: Form::Utf8, marked };
    let text = String::from_utf8_lossy(bytes);
    let whole = str::from_utf8(bytes).is_ok();
    if !whole {
        let (mut strange, mut all) = (0, 0);
        for chunk in bytes.utf8_chunks() {
            let controls = chunk.valid().bytes().filter(|byte| is_strange(*byte)).count();
            strange += chunk.invalid().len() + controls;
            all += chunk.valid().len() + chunk.invalid().len();
        }
        // Letters with accents in an older encoding are fewer than this.
        if strange * 8 > all {
            return None;
        }
    }
    (!bytes.contains(&0)).then(|| Text { text: text.into_owned(), encoding, whole })
}

fn is_strange(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0xc | 0x1b)
}

fn utf16(bytes: &[u8], encoding: Encoding) -> Option<Text> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| match encoding.form {
        Form::Utf16Big => u16::from_be_bytes(*pair),
        _ => u16::from_le_bytes(*pair),
    });
    let mut whole = rest.is_empty();
    let text: String = char::decode_utf16(units)
        .map(|unit| {
            unit.unwrap_or_else(|_| {
                whole = false;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    // UTF-32 has the same mark, and so may anything.
    (!text.contains('\0')).then_some(Text { text, encoding, whole })
}

/// Which UTF-16 this looks like: most of its characters have one byte that is zero, always the same of the two.
fn unmarked(bytes: &[u8]) -> Option<Form> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let zeros = |at: usize| pairs.iter().filter(|pair| pair[at] == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let most = pairs.len() / 2;
    match (rest.is_empty(), first, second) {
        (true, 0, _) if second > most => Some(Form::Utf16Little),
        (true, _, 0) if first > most => Some(Form::Utf16Big),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encodings() -> impl Strategy<Value = Encoding> {
        let form = prop_oneof![Just(Form::Utf8), Just(Form::Utf16Little), Just(Form::Utf16Big)];
        (form, any::<bool>()).prop_map(|(form, marked)| Encoding { form, marked })
    }

    #[test]
    fn texts_are_read_in_each_encoding() {
        for form in [Form::Utf8, Form::Utf16Little, Form::Utf16Big] {
            for marked in [false, true] {
                let encoding = Encoding { form, marked };
                let text = decoded(&encoding.encoded("Grüße\r\n")).unwrap();
                assert_eq!(text, Text { text: "Grüße\r\n".into(), encoding, whole: true });
            }
        }
        assert_eq!(decoded(b"").unwrap().text, "");
        assert_eq!(decoded(UTF8_MARK).unwrap().text, "");
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_text_where_they_are_few() {
        let latin = decoded(b"Gr\xfc\xdfe aus einem alten Programm, das so schreibt.").unwrap();
        assert_eq!((latin.whole, latin.text.matches('\u{fffd}').count()), (false, 2));
        assert_eq!(decoded(&(128..=255).collect::<Vec<u8>>()), None);
        assert_eq!(decoded(b"\x01\x02\x03\xff\xfe text"), None);
        let half = decoded(b"\xff\xfea\0\x00\xd8b\0").unwrap();
        assert_eq!((half.text.as_str(), half.whole), ("a\u{fffd}b", false));
    }

    #[test]
    fn what_has_zeros_is_no_text() {
        for bytes in [&b"a\0b"[..], b"\0\0\0\0", b"\xff\xfe\0\0a\0\0\0", b"text and \0 more", b"\0a\0", b"\0"]
        {
            assert_eq!(decoded(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn whole_texts_are_written_back_byte_for_byte(bytes in any::<Vec<u8>>()) {
            if let Some(Text { text, encoding, whole: true }) = decoded(&bytes) {
                prop_assert_eq!(encoding.encoded(&text), bytes);
            }
        }

        #[test]
        fn marked_texts_are_read_back(text in "[^\0]*", encoding in encodings()) {
            let encoding = Encoding { marked: true, ..encoding };
            let read = decoded(&encoding.encoded(&text)).unwrap();
            prop_assert_eq!(read, Text { text, encoding, whole: true });
        }
    }
}
