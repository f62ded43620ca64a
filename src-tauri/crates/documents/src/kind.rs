//! The kinds of documents.

use std::fmt;

/// A kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Pages as they are printed.
    Pdf,
    /// Word's `.docx`.
    Word,
    /// Excel's `.xlsx` and `.xlsm`.
    Excel,
    /// Excel's `.xlsb`.
    BinaryExcel,
    /// Excel's `.xls`.
    OldExcel,
    /// PowerPoint's `.pptx`.
    Slides,
    /// LibreOffice's `.odt`, `.ods` and `.odp`.
    OpenDocument,
    /// A book in ePub.
    Book,
    /// A page of the web.
    Html,
    /// Rich text.
    Rtf,
    /// An archive in which no document has been found yet.
    Archive,
    /// A file of older office programs, in which no document has been found yet.
    Compound,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pdf => "PDF",
            Self::Word => "Word document",
            Self::Excel | Self::BinaryExcel | Self::OldExcel => "Excel workbook",
            Self::Slides => "PowerPoint presentation",
            Self::OpenDocument => "OpenDocument file",
            Self::Book => "ePub book",
            Self::Html => "web page",
            Self::Rtf => "RTF document",
            Self::Archive => "archive",
            Self::Compound => "office document",
        })
    }
}
