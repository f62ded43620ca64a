//! What a file is that is no text, by how it begins.

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// With its article.
    pub(super) told: &'static str,
    /// Whether the app reads it where it is attached to a message.
    pub(super) document: bool,
}

const UNKNOWN: Kind = Kind { told: "a binary file", document: false };

/// Beginnings of documents, of which some are text to the eye.
const DOCUMENTS: [(&[u8], &str); 3] = [
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document"),
];

/// Beginnings of other files.
const OTHERS: [(&[u8], &str); 26] = [
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"II*\0", "a picture"),
    (b"MM\0*", "a picture"),
    (b"BM", "a picture"),
    (b"8BPS", "a picture"),
    (b"ID3", "a sound"),
    (b"fLaC", "a sound"),
    (b"OggS", "a sound or a film"),
    (b"RIFF", "a picture, a sound or a film"),
    (b"\x1aE\xdf\xa3", "a film"),
    (b"\x1f\x8b", "a compressed file"),
    (b"BZh", "a compressed file"),
    (b"\xfd7zXZ", "a compressed file"),
    (b"\x28\xb5\x2f\xfd", "a compressed file"),
    (b"7z\xbc\xaf", "an archive"),
    (b"Rar!", "an archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\0asm", "a program"),
    (b"SQLite format 3\0", "a database"),
    (b"bplist", "a binary property list"),
    (b"GGUF", "a model's weights"),
];

/// The document that this is, though it may look like a text.
pub(super) fn document(bytes: &[u8]) -> Option<Kind> {
    let is_there = |(beginning, _): &&(&[u8], &str)| bytes.starts_with(beginning);
    let (_, told) = DOCUMENTS.iter().find(is_there)?;
    Some(Kind { told, document: true })
}

/// What a file of this name is that holds no text.
pub(super) fn kind(bytes: &[u8], name: &str) -> Kind {
    if let Some(document) = document(bytes) {
        return document;
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return archive(name);
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return Kind { told: "a picture, a sound or a film", document: false };
    }
    let told = OTHERS.iter().find(|(beginning, _)| bytes.starts_with(beginning)).map(|(_, told)| *told);
    told.map_or(UNKNOWN, |told| Kind { told, document: false })
}

/// What an archive of this name is.
fn archive(name: &str) -> Kind {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let told = match ending.as_str() {
        "docx" | "docm" => "a Word document",
        "xlsx" | "xlsm" | "xlsb" => "an Excel workbook",
        "pptx" | "pptm" => "a PowerPoint presentation",
        "odt" | "ods" | "odp" => "an OpenDocument file",
        "epub" => "an ePub book",
        _ => return Kind { told: "an archive", document: false },
    };
    Kind { told, document: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_how_they_begin() {
        for (bytes, name, told, document) in [
            (&b"%PDF-1.7\n"[..], "a.txt", "a PDF document", true),
            (b"PK\x03\x04\x14\0", "a.DOCX", "a Word document", true),
            (b"PK\x03\x04\x14\0", "a.zip", "an archive", false),
            (b"\x89PNG\r\n\x1a\n", "a", "a picture", false),
            (b"\0\0\0\x18ftypheic", "a.heic", "a picture, a sound or a film", false),
            (b"\0\x01\x02", "a.bin", "a binary file", false),
            (b"", "a", "a binary file", false),
        ] {
            assert_eq!(kind(bytes, name), Kind { told, document });
        }
    }
}
