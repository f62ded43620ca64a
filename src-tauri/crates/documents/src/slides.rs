//! PowerPoint's presentations: slide after slide, each with its title, its text, its tables and its speaker's notes.

use crate::archive::{Archive, Relation};
use crate::error::DocumentError;
use crate::kind::Kind;
use crate::markdown::{Block, Markdown};
use crate::xml::{Element, Node, Xml};

const KIND: Kind = Kind::Slides;

pub(crate) fn text(bytes: &[u8]) -> Result<String, DocumentError> {
    let mut archive = Archive::open(bytes, KIND)?;
    let main = archive.relations("")?.into_values().find(|relation| relation.kind == "officeDocument");
    let main = main.map_or_else(|| "ppt/presentation.xml".to_owned(), |relation| relation.target);
    let slides = archive.relations(&main)?;
    let presentation = archive.needed(&main)?;
    let mut order = Vec::new();
    let mut xml = Xml::new(&presentation, KIND);
    while let Some(node) = xml.next()? {
        if let Node::Open(element) = node
            && element.name() == "sldId"
        {
            order.extend(element.relation().and_then(|id| slides.get(&id)).map(|slide| slide.target.clone()));
        }
    }
    let mut markdown = Markdown::default();
    for (index, part) in order.iter().enumerate() {
        let Some(text) = archive.text(part)? else { continue };
        let relations = archive.relations(part)?;
        let slide =
            Shapes::read(&text, true, |id| relations.get(id).filter(|found| found.outside).map(address))?;
        let hidden = if slide.hidden { " (hidden)" } else { "" };
        let title = if slide.title.is_empty() { String::new() } else { format!(": {}", slide.title) };
        markdown.raw(&format!("## Slide {}{hidden}{title}", index + 1));
        markdown.raw(&slide.body);
        let mut others: Vec<&Relation> = relations.values().collect();
        others.sort_by_key(|relation| (relation.kind == "notesSlide", relation.target.clone()));
        for other in others {
            // What a diagram says is in a part of its own.
            if !matches!(other.kind.as_str(), "diagramData" | "notesSlide") {
                continue;
            }
            let Some(text) = archive.text(&other.target)? else { continue };
            let body = Shapes::read(&text, false, |_| None)?.body;
            if other.kind == "notesSlide" && !body.is_empty() {
                markdown.raw(&format!("Notes: {body}"));
            } else {
                markdown.raw(&body);
            }
        }
    }
    Ok(markdown.finish())
}

fn address(relation: &Relation) -> String {
    relation.target.clone()
}

/// What the shapes of a slide say.
#[derive(Default)]
struct Shapes {
    title: String,
    body: String,
    hidden: bool,
}

impl Shapes {
    /// Reads a slide, or its notes, of which only the text itself is wanted. `address` says where a link leads.
    fn read(
        text: &str,
        is_slide: bool,
        address: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, DocumentError> {
        let (mut shapes, mut markdown, mut title) = (Self::default(), Markdown::default(), String::new());
        let mut xml = Xml::new(text, KIND);
        // What the shape is that is being read, how deep its paragraph lies, whether that has a mark, where it leads.
        let (mut place, mut depth, mut bare, mut link) = (Place::Free, 0, false, None);
        let (mut in_text, mut start) = (false, 0);
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => match element.name() {
                    "sld" => shapes.hidden = element.attribute("show").is_some_and(|show| show == "0"),
                    "Fallback" => xml.skip()?,
                    "sp" | "graphicFrame" | "pic" | "pt" => place = Place::Free,
                    "ph" => place = Place::of(&element),
                    "p" => (depth, bare) = (0, false),
                    "pPr" => depth = element.number("lvl").unwrap_or(0),
                    "buNone" => bare = true,
                    "hlinkClick" => link = element.relation().and_then(|id| address(&id)),
                    "br" => markdown.text("\n"),
                    "tbl" => {
                        place = Place::Free;
                        markdown.open_table();
                    }
                    // One that another goes over is there as well, and empty.
                    "tc" => markdown.open_cell(1, 1),
                    "cNvPr" => {
                        let words =
                            element.attribute("descr").filter(|words| is_slide && !words.trim().is_empty());
                        if let Some(words) = words {
                            markdown.text(&format!("[Picture: {}]", words.trim()));
                            markdown.end(Block::Paragraph);
                        }
                    }
                    "t" => (in_text, start) = (true, markdown.line_length()),
                    _ => {}
                },
                Node::Close(end) => match end.name() {
                    "p" => match place {
                        Place::Title => title = joined(title, &markdown.take_line()),
                        // The number of the page, the date, what stands below all slides.
                        Place::Small => drop(markdown.take_line()),
                        Place::Body if is_slide && !bare => markdown.end(Block::Item(depth, "-".to_owned())),
                        Place::Body | Place::Free => markdown.end(Block::Paragraph),
                    },
                    "t" => {
                        in_text = false;
                        if let Some(address) = link.take() {
                            markdown.link(start, &address);
                        }
                    }
                    "tc" => markdown.close_cell(),
                    "tr" => markdown.close_row(),
                    "tbl" => markdown.close_table(),
                    _ => {}
                },
                Node::Text(text) if in_text => markdown.text(&text),
                Node::Text(_) => {}
            }
        }
        shapes.title = title;
        shapes.body = markdown.finish();
        Ok(shapes)
    }
}

fn joined(mut title: String, line: &str) -> String {
    for word in line.split_whitespace() {
        if !title.is_empty() {
            title.push(' ');
        }
        title += word;
    }
    title
}

/// What a shape is for.
#[derive(Clone, Copy)]
enum Place {
    Title,
    Body,
    Small,
    Free,
}

impl Place {
    fn of(placeholder: &Element<'_>) -> Self {
        match placeholder.attribute("type").as_deref() {
            Some("title" | "ctrTitle") => Self::Title,
            Some("sldNum" | "dt" | "ftr" | "hdr" | "sldImg") => Self::Small,
            Some("subTitle") => Self::Free,
            _ => Self::Body,
        }
    }
}
