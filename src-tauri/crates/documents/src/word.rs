//! Word's documents: paragraphs by their styles, lists by their numbering, tables, links, and behind the text the notes
//! and comments that it refers to. What was deleted while changes were tracked, and what is hidden, is left out.

mod numbering;
mod styles;

use std::collections::BTreeMap;

use self::numbering::Numbering;
use self::styles::Styles;
use crate::archive::{Archive, Relation};
use crate::error::DocumentError;
use crate::kind::Kind;
use crate::markdown::{Block, Markdown};
use crate::xml::{Element, Node, Xml};

const KIND: Kind = Kind::Word;

pub(crate) fn text(bytes: &[u8]) -> Result<String, DocumentError> {
    let mut archive = Archive::open(bytes, KIND)?;
    let main = archive.relations("")?.into_values().find(|relation| relation.kind == "officeDocument");
    let main = main.map_or_else(|| "word/document.xml".to_owned(), |relation| relation.target);
    let relations = archive.relations(&main)?;
    let mut other = |kind: &str| -> Result<(String, BTreeMap<String, Relation>), DocumentError> {
        let Some(part) = relations.values().find(|relation| relation.kind == kind) else {
            return Ok(Default::default());
        };
        Ok((archive.text(&part.target)?.unwrap_or_default(), archive.relations(&part.target)?))
    };
    let styles = Styles::read(&other("styles")?.0)?;
    let mut numbering = Numbering::read(&other("numbering")?.0)?;
    let notes = [("footnotes", ""), ("endnotes", "e"), ("comments", "c")];
    let notes: Vec<_> =
        notes.iter().map(|(part, mark)| Ok((other(part)?, *mark))).collect::<Result<_, _>>()?;
    let document = archive.needed(&main)?;
    let mut body = Body::new(&styles, &mut numbering, &relations);
    body.read(&document)?;
    let mut markdown = body.story.markdown;
    for ((part, relations), mark) in &notes {
        let mut body = Body::new(&styles, &mut numbering, relations);
        body.mark = Some(mark);
        body.read(part)?;
        for (id, note) in body.notes {
            markdown.raw(&format!("[^{mark}{id}]: {note}"));
        }
    }
    Ok(markdown.finish())
}

/// What is known of the paragraph that is being read.
#[derive(Default)]
struct Paragraph {
    style: Option<String>,
    level: Option<usize>,
    list: Option<String>,
    depth: Option<usize>,
}

/// Paragraphs that follow each other: those of the document, or of a text box.
#[derive(Default)]
struct Story {
    markdown: Markdown,
    paragraph: Paragraph,
    /// Whether the run that is being read is hidden.
    hidden: bool,
    /// The links that are open: where in the line each began, and where it leads.
    links: Vec<(usize, Option<String>)>,
    /// The texts of the boxes that are anchored in the paragraph.
    boxes: Vec<String>,
}

/// A part of the document on its way to Markdown.
struct Body<'a> {
    styles: &'a Styles,
    numbering: &'a mut Numbering,
    relations: &'a BTreeMap<String, Relation>,
    story: Story,
    /// The stories around the text box that is being read.
    outside: Vec<Story>,
    /// What stands before the numbers of notes, in a part that holds them.
    mark: Option<&'a str>,
    notes: Vec<(String, String)>,
}

impl<'a> Body<'a> {
    fn new(
        styles: &'a Styles,
        numbering: &'a mut Numbering,
        relations: &'a BTreeMap<String, Relation>,
    ) -> Self {
        let (story, outside) = (Story::default(), Vec::new());
        Self { styles, numbering, relations, story, outside, mark: None, notes: Vec::new() }
    }

    fn read(&mut self, text: &str) -> Result<(), DocumentError> {
        let mut xml = Xml::new(text, KIND);
        let mut note: Option<(String, String)> = None;
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => match element.name() {
                    "footnote" | "endnote" | "comment" if self.mark.is_some() => {
                        // Separators are notes with a type.
                        if element.attribute("type").is_some_and(|kind| kind != "normal") {
                            xml.skip()?;
                            continue;
                        }
                        let author = element.attribute("author").filter(|_| element.name() == "comment");
                        let author =
                            author.map_or_else(String::new, |author| format!("Comment by {author}: "));
                        note = Some((element.attribute("id").unwrap_or_default(), author));
                    }
                    // What an older program shows in the place of what stands before it.
                    "Fallback" | "del" | "moveFrom" | "instrText" | "delText" => xml.skip()?,
                    "pPrChange" | "rPrChange" | "tblPrChange" | "trPrChange" | "tcPrChange" => xml.skip()?,
                    "t" => {
                        let content = text_of(&mut xml)?;
                        if !self.story.hidden {
                            self.story.markdown.text(&content);
                        }
                    }
                    _ => self.open(&element),
                },
                Node::Close(end) => match end.name() {
                    "footnote" | "endnote" | "comment" if self.mark.is_some() => {
                        let text = std::mem::take(&mut self.story.markdown).finish();
                        if let Some((id, author)) = note.take().filter(|_| !text.is_empty()) {
                            self.notes.push((id, author + &text.replace("\n\n", "\n")));
                        }
                    }
                    name => self.close(name),
                },
                Node::Text(_) => {}
            }
        }
        self.story.end(Block::Paragraph);
        Ok(())
    }

    fn open(&mut self, element: &Element<'_>) {
        let value = || element.attribute("val");
        let story = &mut self.story;
        let markdown = &mut story.markdown;
        match element.name() {
            "p" => {
                story.end(Block::Paragraph);
                story.paragraph = Paragraph::default();
                story.links.clear();
            }
            "txbxContent" => self.outside.push(std::mem::take(story)),
            "pStyle" => story.paragraph.style = value(),
            "outlineLvl" => {
                story.paragraph.level =
                    element.number("val").filter(|level| *level < 9).map(|level| level + 1)
            }
            "numId" => story.paragraph.list = value(),
            "ilvl" => story.paragraph.depth = element.number("val"),
            "r" => story.hidden = false,
            "vanish" => story.hidden = element.is_on(),
            "tab" | "ptab" if element.attribute("pos").is_none() => markdown.text("\t"),
            "br" | "cr" if element.attribute("type").is_none_or(|kind| kind == "textWrapping") => {
                markdown.text("\n")
            }
            "noBreakHyphen" => markdown.text("-"),
            "sym" => {
                let code = element.attribute("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
                // Fonts of symbols keep theirs where Unicode has none.
                let known =
                    code.and_then(char::from_u32).filter(|sign| !('\u{e000}'..='\u{f8ff}').contains(sign));
                markdown.text(&known.unwrap_or('•').to_string());
            }
            "footnoteReference" => markdown.text(&reference("", element)),
            "endnoteReference" => markdown.text(&reference("e", element)),
            "commentReference" => markdown.text(&reference("c", element)),
            "docPr" => {
                if let Some(words) = element.attribute("descr").filter(|words| !words.trim().is_empty()) {
                    markdown.text(&format!("[Picture: {}]", words.trim()));
                }
            }
            "hyperlink" => {
                let relation = element.relation().and_then(|id| self.relations.get(&id));
                let address =
                    relation.filter(|relation| relation.outside).map(|relation| relation.target.clone());
                story.links.push((markdown.line_length(), address));
            }
            "tbl" => markdown.open_table(),
            "tc" => markdown.open_cell(1, 1),
            "gridSpan" => markdown.widen_cell(element.number("val").unwrap_or(1)),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" => {
                let block = self.block();
                self.story.end(block);
            }
            "txbxContent" => {
                self.story.end(Block::Paragraph);
                let outside = self.outside.pop().unwrap_or_default();
                let inside = std::mem::replace(&mut self.story, outside);
                self.story.boxes.push(inside.markdown.finish());
            }
            "hyperlink" => {
                if let Some((start, Some(address))) = self.story.links.pop() {
                    self.story.markdown.link(start, &address);
                }
            }
            "tc" => self.story.markdown.close_cell(),
            "tr" => self.story.markdown.close_row(),
            "tbl" => self.story.markdown.close_table(),
            _ => {}
        }
    }

    /// What the paragraph is by its own properties or those of its style.
    fn block(&mut self) -> Block {
        let paragraph = std::mem::take(&mut self.story.paragraph);
        let style = paragraph.style.as_ref().map(|id| self.styles.get(id)).unwrap_or_default();
        if let Some(level) = paragraph.level.or(style.level) {
            return Block::Heading(level);
        }
        let depth = paragraph.depth.or(style.depth).unwrap_or(0);
        match paragraph.list.or(style.list) {
            // The list 0 takes a paragraph out of that of its style.
            Some(list) if list != "0" => match self.numbering.next(&list, depth) {
                Some(marker) => Block::Item(depth, marker),
                None => Block::Paragraph,
            },
            _ => Block::Paragraph,
        }
    }
}

impl Story {
    /// Ends the line, which was this. What stands in boxes beside it follows.
    fn end(&mut self, block: Block) {
        self.markdown.end(block);
        for text in std::mem::take(&mut self.boxes) {
            self.markdown.raw(&text);
        }
    }
}

/// The mark of a note in the text.
fn reference(mark: &str, element: &Element<'_>) -> String {
    format!("[^{mark}{}]", element.attribute("id").unwrap_or_default())
}

/// The text of the element that has just opened, with the blanks at its ends.
fn text_of(xml: &mut Xml<'_>) -> Result<String, DocumentError> {
    let mut content = String::new();
    loop {
        match xml.next()? {
            Some(Node::Text(text)) => content += &text,
            Some(Node::Open(_)) => xml.skip()?,
            Some(Node::Close(_)) | None => return Ok(content),
        }
    }
}
