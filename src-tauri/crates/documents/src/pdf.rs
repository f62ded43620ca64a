//! PDFs: the text of one page after another, each under its number where there are several.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use pdf_extract::{
    ConvertToFmt, Document, Error, MediaBox, OutputDev, OutputError, PlainTextOutput, Transform, output_doc,
};

use crate::error::{DocumentError, within};
use crate::kind::Kind;

const KIND: Kind = Kind::Pdf;

pub(crate) fn text(bytes: &[u8]) -> Result<String, DocumentError> {
    let written = Written::default();
    let mut pages = Pages { written: written.clone(), text: PlainTextOutput::new(written.clone()) };
    Document::load_mem(bytes)
        .and_then(|mut document| {
            // Many can be opened by everyone, and only say what may be done with them.
            if document.is_encrypted() {
                document.decrypt("")?;
            }
            Ok(document)
        })
        .map_err(OutputError::PdfError)
        .and_then(|document| output_doc(&document, &mut pages))
        .map_err(|error| match &error {
            OutputError::PdfError(Error::Decryption(_) | Error::InvalidPassword) => {
                DocumentError::Locked { kind: KIND }
            }
            error => DocumentError::Damaged { kind: KIND, detail: within(&error.to_string()) },
        })?;
    let pages = written.0.take();
    if let [(_, text)] = pages.as_slice() {
        return Ok(text.clone());
    }
    let pages = pages.iter().filter(|(_, text)| !text.trim().is_empty());
    Ok(pages.map(|(number, text)| format!("[Page {number}]\n\n{}\n\n", text.trim_matches('\n'))).collect())
}

/// Pages by their numbers, as they are written.
#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<(u32, String)>>>);

impl fmt::Write for Written {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some((_, page)) = self.0.borrow_mut().last_mut() {
            page.push_str(text);
        }
        Ok(())
    }
}

impl ConvertToFmt for Written {
    type Writer = Self;

    fn convert(self) -> Self {
        self
    }
}

/// Writes the text of each page by itself.
struct Pages {
    written: Written,
    text: PlainTextOutput<Written>,
}

impl OutputDev for Pages {
    fn begin_page(
        &mut self,
        number: u32,
        media_box: &MediaBox,
        art_box: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.written.0.borrow_mut().push((number, String::new()));
        self.text.begin_page(number, media_box, art_box)
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.text.end_page()
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        spacing: f64,
        font_size: f64,
        character: &str,
    ) -> Result<(), OutputError> {
        self.text.output_character(place, width, spacing, font_size, character)
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.text.begin_word()
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        self.text.end_word()
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.text.end_line()
    }
}
