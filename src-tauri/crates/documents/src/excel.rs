//! Excel's workbooks: sheet after sheet, with the values that were last computed, as they are shown. Macros are not
//! looked at.

mod format;

use std::fmt::Display;
use std::io::Cursor;

use calamine::{
    Data, DataRef, Range, Reader, Sheet as Listed, SheetType, SheetVisible, Xls, XlsError, Xlsb, XlsbError,
    Xlsx, XlsxError,
};

use self::format::{Format, number};
use crate::archive::Archive;
use crate::error::{DocumentError, within};
use crate::kind::Kind;
use crate::sheet::Sheet;

/// The text of a workbook, and what was left out of it.
type Text = (String, Vec<String>);

/// Reads an `.xlsx` cell by cell: a sheet may say that it is as large as Excel allows.
pub(crate) fn text(bytes: &[u8]) -> Result<Text, DocumentError> {
    let kind = Kind::Excel;
    // What reads the sheets inflates them by itself.
    Archive::open(bytes, kind)?.check()?;
    let failed = |error: XlsxError| match error {
        XlsxError::Password => DocumentError::Locked { kind },
        error => damaged(kind, &error),
    };
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(failed)?;
    let sheets = book.sheets_metadata().to_vec();
    let mut text = Joined::default();
    for listed in tables(&sheets) {
        let mut sheet = Sheet::new(&listed.name, listed.visible != SheetVisible::Visible);
        let mut cells = match book.worksheet_cells_reader(&listed.name) {
            Ok(cells) => cells,
            // The workbook names a sheet that is not there, as some programs leave behind.
            Err(XlsxError::WorksheetNotFound(_) | XlsxError::FileNotFound(_)) => continue,
            Err(error) => return Err(failed(error)),
        };
        let formats =
            cells.styles().iter().map(|style| Format::of(style.number_format.as_ref())).collect::<Vec<_>>();
        let mut has_blank = false;
        while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(failed)? {
            let (row, column) = cell.get_position();
            has_blank |= matches!(cell.get_value(), DataRef::Empty);
            let format = formats.get(style).copied().unwrap_or_default();
            sheet.cell(row, column, read(cell.get_value(), format, sheet.is_full(row)));
        }
        drop(cells);
        if has_blank {
            sheet.not_computed(not_computed(&mut book, &listed.name));
        }
        text.add(sheet);
    }
    Ok(text.0)
}

/// How many cells of a sheet have a formula and no result, as programs that do not compute write them. The reader
/// tells either of formulas or of styles, so that this is a pass of its own; what is wrong with formulas ends it.
fn not_computed(book: &mut Xlsx<Cursor<&[u8]>>, name: &str) -> usize {
    let Ok(mut cells) = book.worksheet_cells_reader(name) else { return 0 };
    let cells = std::iter::from_fn(|| cells.next_cell_with_formula_metadata().ok().flatten());
    cells.filter(|cell| cell.formula.is_some() && matches!(cell.value, DataRef::Empty)).count()
}

/// Reads an `.xlsb` cell by cell, like an `.xlsx`.
pub(crate) fn binary_text(bytes: &[u8]) -> Result<Text, DocumentError> {
    let kind = Kind::BinaryExcel;
    Archive::open(bytes, kind)?.check()?;
    let failed = |error: XlsbError| match error {
        XlsbError::Password => DocumentError::Locked { kind },
        error => damaged(kind, &error),
    };
    let mut book = Xlsb::new(Cursor::new(bytes)).map_err(failed)?;
    let sheets = book.sheets_metadata().to_vec();
    let mut text = Joined::default();
    for listed in tables(&sheets) {
        let mut sheet = Sheet::new(&listed.name, listed.visible != SheetVisible::Visible);
        let mut cells = match book.worksheet_cells_reader(&listed.name) {
            Ok(cells) => cells,
            Err(XlsbError::WorksheetNotFound(_) | XlsbError::FileNotFound(_)) => continue,
            Err(error) => return Err(failed(error)),
        };
        while let Some(cell) = cells.next_cell().map_err(failed)? {
            let (row, column) = cell.get_position();
            sheet.cell(row, column, read(cell.get_value(), Format::default(), sheet.is_full(row)));
        }
        text.add(sheet);
    }
    Ok(text.0)
}

/// Reads an `.xls`: sheets as a whole, which have at most 65,536 rows of 256 columns.
pub(crate) fn old_text(bytes: &[u8]) -> Result<Text, DocumentError> {
    let kind = Kind::OldExcel;
    let failed = |error: XlsError| match error {
        XlsError::Password => DocumentError::Locked { kind },
        error => damaged(kind, &error),
    };
    let mut book = Xls::new(Cursor::new(bytes)).map_err(failed)?;
    let sheets = book.sheets_metadata().to_vec();
    let mut text = Joined::default();
    for listed in tables(&sheets) {
        let range: Range<Data> = book.worksheet_range(&listed.name).map_err(failed)?;
        let mut sheet = Sheet::new(&listed.name, listed.visible != SheetVisible::Visible);
        let (top, left) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            let (row, column) = (top.saturating_add(row as u32), left.saturating_add(column as u32));
            sheet.cell(row, column, shown(value, Format::default()));
        }
        text.add(sheet);
    }
    Ok(text.0)
}

/// Sheets with cells: no diagrams, no macros.
fn tables(sheets: &[Listed]) -> impl Iterator<Item = &Listed> {
    sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet)
}

fn damaged(kind: Kind, error: &dyn Display) -> DocumentError {
    DocumentError::Damaged { kind, detail: within(&error.to_string()) }
}

/// Sheets one below the other.
#[derive(Default)]
struct Joined(Text);

impl Joined {
    fn add(&mut self, sheet: Sheet) {
        let (text, notes) = sheet.finish();
        let Self((joined, all)) = self;
        if !joined.is_empty() {
            *joined += "\n\n";
        }
        *joined += &text;
        all.extend(notes);
    }
}

/// The value of a cell as it is shown, or a mark where its row is only counted.
fn read(value: &DataRef<'_>, format: Format, is_counted: bool) -> String {
    match value {
        DataRef::Empty => String::new(),
        _ if is_counted => "…".to_owned(),
        DataRef::SharedString(text) => (*text).to_owned(),
        value => shown(&Data::from(value.clone()), format),
    }
}

/// A value as it is shown.
fn shown(value: &Data, format: Format) -> String {
    match value {
        Data::Int(value) => number(*value as f64, format),
        Data::Float(value) => number(*value, format),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(value) => value.to_string().to_uppercase(),
        Data::DateTime(time) => format::time(*time, format),
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
    }
}
