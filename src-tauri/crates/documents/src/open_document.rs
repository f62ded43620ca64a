//! LibreOffice's texts, sheets and presentations.

use crate::archive::Archive;
use crate::error::DocumentError;
use crate::kind::Kind;
use crate::limits::MOST_COLUMNS;
use crate::markdown::{Block, Markdown};
use crate::sheet::Sheet;
use crate::xml::{Element, Node, Xml};

const KIND: Kind = Kind::OpenDocument;
/// How many blanks one element stands for at most.
const MOST_BLANKS: usize = 1024;

/// The text of a document, and what was left out of it.
pub(crate) fn text(bytes: &[u8]) -> Result<(String, Vec<String>), DocumentError> {
    let mut archive = Archive::open(bytes, KIND)?;
    let manifest = archive.text("META-INF/manifest.xml")?.unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err(DocumentError::Locked { kind: KIND });
    }
    let content = archive.needed("content.xml")?;
    let mut body = Body::default();
    body.read(&content)?;
    let mut markdown = body.markdown;
    for (number, note) in body.notes {
        markdown.raw(&format!("[^{number}]: {note}"));
    }
    Ok((markdown.finish(), body.left_out))
}

/// A document on its way to Markdown.
#[derive(Default)]
struct Body {
    markdown: Markdown,
    /// The text around a note or a comment that is being read.
    outside: Vec<Markdown>,
    notes: Vec<(String, String)>,
    left_out: Vec<String>,
    is_workbook: bool,
    slides: usize,
    /// The level of the heading that is open.
    heading: Option<usize>,
    /// How many lists are open.
    lists: usize,
    /// Whether an item has begun of which nothing has been written.
    is_item: bool,
    links: Vec<(usize, String)>,
}

impl Body {
    fn read(&mut self, text: &str) -> Result<(), DocumentError> {
        let mut xml = Xml::new(text, KIND);
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => self.open(&element, &mut xml)?,
                Node::Close(end) => self.close(end.name()),
                Node::Text(text) => self.markdown.flowing(&text),
            }
        }
        Ok(())
    }

    fn open(&mut self, element: &Element<'_>, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        let count = |name| element.number(name).unwrap_or(1);
        match element.name() {
            "tracked-changes" | "forms" | "automatic-styles" | "font-face-decls" | "scripts"
            | "sequence-decls" | "settings" | "event-listeners" | "object" | "database-ranges"
            | "variable-decls" | "shapes" => {
                xml.skip()?;
            }
            "spreadsheet" => self.is_workbook = true,
            "table" if self.is_workbook => self.sheet(element, xml)?,
            "table" => self.markdown.open_table(),
            "table-cell" => self.markdown.open_cell(1, 1),
            // Over which another cell goes.
            "covered-table-cell" => {
                for _ in 0..count("number-columns-repeated").min(MOST_COLUMNS) {
                    self.markdown.open_cell(1, 1);
                }
            }
            "page" => {
                self.slides += 1;
                let name = element.attribute("name").filter(|name| !name.starts_with("page"));
                let name = name.map_or_else(String::new, |name| format!(": {name}"));
                self.markdown.raw(&format!("## Slide {}{name}", self.slides));
            }
            "notes" => {
                self.markdown.end(Block::Paragraph);
                self.outside.push(std::mem::take(&mut self.markdown));
            }
            "page-number" | "page-thumbnail" => xml.skip()?,
            "note" => self.notes.push((element.attribute("id").unwrap_or_default(), String::new())),
            "note-citation" => {
                let number = xml.content()?;
                self.markdown.text(&format!("[^{number}]"));
                if let Some((id, _)) = self.notes.last_mut() {
                    *id = number;
                }
            }
            "note-body" => self.outside.push(std::mem::take(&mut self.markdown)),
            "annotation" => self.annotation(xml)?,
            "list" => self.lists += 1,
            "list-item" => self.is_item = true,
            "s" => self.markdown.text(&" ".repeat(count("c").min(MOST_BLANKS))),
            "tab" => self.markdown.text("\t"),
            "line-break" => self.markdown.text("\n"),
            "a" => {
                self.links.push((self.markdown.line_length(), element.attribute("href").unwrap_or_default()))
            }
            "h" => {
                self.markdown.end(Block::Paragraph);
                self.heading = Some(count("outline-level"));
            }
            "p" => self.end(),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" | "h" => self.end(),
            "a" => {
                if let Some((start, address)) = self.links.pop() {
                    self.markdown.link(start, &address);
                }
            }
            "list" => self.lists = self.lists.saturating_sub(1),
            "list-item" => self.is_item = false,
            "table-cell" | "covered-table-cell" => self.markdown.close_cell(),
            "table-row" => self.markdown.close_row(),
            "table" => self.markdown.close_table(),
            "note-body" => {
                let note = self.inside();
                if let Some((_, text)) = self.notes.last_mut() {
                    *text = note.replace("\n\n", "\n");
                }
            }
            "notes" => {
                let notes = self.inside();
                if !notes.is_empty() {
                    self.markdown.raw(&format!("Notes: {notes}"));
                }
            }
            _ => {}
        }
    }

    /// Ends the line as what it is.
    fn end(&mut self) {
        let block = match self.heading.take() {
            Some(level) => Block::Heading(level),
            None if self.is_item && !self.markdown.is_blank() => {
                self.is_item = false;
                Block::Item(self.lists.saturating_sub(1), "-".to_owned())
            }
            None => Block::Paragraph,
        };
        self.markdown.end(block);
    }

    /// What has been read since the text outside was put aside, which is gone on with.
    fn inside(&mut self) -> String {
        let outside = self.outside.pop().unwrap_or_default();
        std::mem::replace(&mut self.markdown, outside).finish()
    }

    /// A comment, in the line that it stands in.
    fn annotation(&mut self, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        let (mut author, mut text, mut depth) = (String::new(), String::new(), 1);
        while depth > 0 {
            match xml.next()? {
                Some(Node::Open(element)) => match element.name() {
                    "creator" => author = format!(" by {}", xml.content()?),
                    "date" | "date-string" | "creator-initials" | "sender-initials" => xml.skip()?,
                    _ => depth += 1,
                },
                Some(Node::Close(_)) => depth -= 1,
                Some(Node::Text(words)) => text += &words,
                None => break,
            }
        }
        self.markdown.text(&format!("[Comment{author}: {}]", text.trim()));
        Ok(())
    }

    /// A sheet, up to its end.
    fn sheet(&mut self, table: &Element<'_>, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        let mut sheet = Sheet::new(&table.attribute("name").unwrap_or_default(), false);
        let (mut row, mut rows, mut column, mut depth) = (0_usize, 1, 0_usize, 1);
        let mut cells: Vec<(usize, String)> = Vec::new();
        while depth > 0 {
            match xml.next()? {
                Some(Node::Open(element)) => match element.name() {
                    "table" => depth += 1,
                    "table-row" => {
                        (rows, column) = (element.number("number-rows-repeated").unwrap_or(1), 0);
                        cells.clear();
                    }
                    "table-cell" | "covered-table-cell" => {
                        let columns = element.number("number-columns-repeated").unwrap_or(1);
                        let text = cell(xml)?;
                        if !text.is_empty() {
                            let repeated = column..column.saturating_add(columns.min(MOST_COLUMNS + 1));
                            cells.extend(repeated.map(|column| (column, text.clone())));
                        }
                        column = column.saturating_add(columns);
                    }
                    "shapes" | "forms" | "table-source" => xml.skip()?,
                    _ => {}
                },
                Some(Node::Close(end)) => match end.name() {
                    "table" => depth -= 1,
                    "table-row" => {
                        sheet.repeated(row, rows, &cells);
                        row = row.saturating_add(rows);
                    }
                    _ => {}
                },
                Some(Node::Text(_)) => {}
                None => break,
            }
        }
        let (text, left_out) = sheet.finish();
        self.markdown.raw(&text);
        self.left_out.extend(left_out);
        Ok(())
    }
}

/// What a cell shows, whose beginning has just been read.
fn cell(xml: &mut Xml<'_>) -> Result<String, DocumentError> {
    let (mut text, mut depth) = (String::new(), 1);
    while depth > 0 {
        match xml.next()? {
            Some(Node::Open(element)) => match element.name() {
                "annotation" | "frame" | "shapes" | "custom-shape" => xml.skip()?,
                name => {
                    match name {
                        "p" if !text.is_empty() => text.push('\n'),
                        "s" | "tab" => text.push(' '),
                        "line-break" => text.push('\n'),
                        _ => {}
                    }
                    depth += 1;
                }
            },
            Some(Node::Close(_)) => depth -= 1,
            Some(Node::Text(words)) => text += &words,
            None => break,
        }
    }
    Ok(text.trim().to_owned())
}
