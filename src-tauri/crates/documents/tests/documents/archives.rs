//! Archives that mean harm, or are not whole.

use std::io::{Cursor, Write};

use foretoken_documents::read;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{archive, code, text};

/// A document with this many bytes of blanks in its text.
fn blanks(megabytes: usize) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"<document><p><t>").unwrap();
    for _ in 0..megabytes {
        zip.write_all(&[b' '; 1 << 20]).unwrap();
    }
    zip.write_all(b"</t></p></document>").unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn what_unpacks_to_hundreds_of_times_its_size_is_refused_while_it_is_unpacked() {
    let bomb = blanks(9);
    assert!(bomb.len() < 30_000, "{} bytes", bomb.len());
    assert_eq!(code(&bomb), "document_inflated");
    // The same where the archive says that it is small: the length is at this place in its directory and before it.
    let mut lying = bomb.clone();
    let length =
        u32::try_from(9 * (1 << 20) + "<document><p><t></t></p></document>".len()).unwrap().to_le_bytes();
    let places: Vec<usize> =
        lying.windows(4).enumerate().filter(|(_, four)| *four == length).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        lying[at..at + 4].copy_from_slice(&100_u32.to_le_bytes());
    }
    assert!(["document_inflated", "document_damaged"].contains(&code(&lying)));
    assert_eq!(code(&blanks(7)), "document_empty", "this much is honest");
}

#[test]
fn a_workbook_is_not_opened_before_all_that_it_unpacks_to_is_counted() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("xl/workbook.xml", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"<workbook/>").unwrap();
    zip.start_file("xl/sharedStrings.xml", SimpleFileOptions::default()).unwrap();
    for _ in 0..9 {
        zip.write_all(&[b'a'; 1 << 20]).unwrap();
    }
    assert_eq!(code(&zip.finish().unwrap().into_inner()), "document_inflated");
}

#[test]
fn entities_that_a_document_declares_are_never_expanded() {
    let mut declared =
        String::from("<!DOCTYPE d [<!ENTITY a0 \"ha\"><!ENTITY file SYSTEM \"file:///etc/passwd\">");
    for level in 1..40 {
        declared += &format!("<!ENTITY a{level} \"{}\">", format!("&a{};", level - 1).repeat(10));
    }
    let body = format!("{declared}]><document><p><t>x&a39;&file;&lt;&amp;y</t></p></document>");
    assert_eq!(text(&archive(&[("word/document.xml", &body)])), "x<&y");
}

#[test]
fn a_name_that_leads_out_of_the_archive_leads_nowhere() {
    let folder = std::env::current_dir().unwrap();
    for target in ["../../../../../../etc/passwd", "/etc/passwd", "..\\..\\etc\\passwd", "file:///etc/passwd"]
    {
        let container = format!("<container><rootfile full-path=\"{target}\"/></container>");
        let bytes = archive(&[("mimetype", "application/epub+zip"), ("META-INF/container.xml", &container)]);
        let error = read(&bytes, "a.epub").unwrap_err();
        assert_eq!(error.code(), "document_damaged");
        assert!(error.to_string().ends_with("passwd is missing."), "{error}");
    }
    // Parts with such names are parts like others, and nothing is written.
    let bytes =
        archive(&[("../outside.txt", "x"), ("word/document.xml", "<document><p><t>in</t></p></document>")]);
    assert_eq!(text(&bytes), "in");
    assert!(!folder.join("../outside.txt").exists());
}

#[test]
fn documents_of_older_and_other_programs_are_named() {
    let pages = archive(&[("Index/Document.iwa", "x"), ("preview.jpg", "x")]);
    assert_eq!(
        read(&pages, "a.pages").unwrap_err().to_string(),
        "This is a document of Pages, Numbers or Keynote, which cannot be read here."
    );
    let compound = |stream: &str| {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        file.create_stream(stream).unwrap().write_all(&[0; 5000]).unwrap();
        file.into_inner().into_inner()
    };
    assert_eq!(code(&compound("/EncryptedPackage")), "document_locked");
    assert!(
        read(&compound("/WordDocument"), "a.doc")
            .unwrap_err()
            .to_string()
            .contains("Word 2003 or older (.doc)")
    );
    assert_eq!(code(&compound("/PowerPoint Document")), "document_format");
    assert_eq!(code(&compound("/Workbook")), "document_damaged");
}

#[test]
fn elements_within_elements_without_end_are_refused() {
    let body = format!("<document>{}", "<p>".repeat(100_000));
    assert_eq!(code(&archive(&[("word/document.xml", &body)])), "document_damaged");
}
