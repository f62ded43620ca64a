//! Documents as programs write them, hostile ones, and what is read of both.

mod archives;
mod book;
mod damage;
mod excel;
mod html;
mod open_document;
mod rtf;
mod samples;
mod slides;
mod word;

use std::io::{Cursor, Write};

use foretoken_documents::{DocumentText, read};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive of parts, by their names.
fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A part that refers to others: their numbers, kinds and names. A name with a colon lies outside.
fn relations(others: &[(&str, &str, &str)]) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">",
    );
    for (id, kind, target) in others {
        let mode = if target.contains(':') { " TargetMode=\"External\"" } else { "" };
        xml += &format!(
            "<Relationship Id=\"{id}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}\" \
             Target=\"{target}\"{mode}/>"
        );
    }
    xml + "</Relationships>"
}

fn whole(bytes: &[u8]) -> DocumentText {
    read(bytes, "file").unwrap()
}

/// The text of a document of which all is read.
fn text(bytes: &[u8]) -> String {
    let DocumentText { text, notes } = whole(bytes);
    assert_eq!(notes, Vec::<String>::new());
    text
}

/// The code of what is wrong with a document.
fn code(bytes: &[u8]) -> &'static str {
    read(bytes, "file").unwrap_err().code()
}
