//! Pages of the web and chapters of books: what a reader sees of them, as Markdown. Scripts, styles and what is hidden
//! is left out.

use dom_query::{Document, NodeRef};

use crate::error::DocumentError;
use crate::kind::Kind;
use crate::markdown::{Block, Markdown};
use crate::xml::{Node, Xml};

/// The text of a page under its title, whatever is wrong with it: it is read as a browser does.
pub(crate) fn text(source: &str) -> String {
    let (text, title) = lenient(source);
    let has_heading = text.starts_with("# ") || text.contains("\n# ");
    if has_heading || title.is_empty() { text } else { format!("# {title}\n\n{text}").trim_end().to_owned() }
}

/// The text of a chapter in XHTML, in which an element may end where it begins. One that is none is read as HTML. Its
/// title is often that of the book.
pub(crate) fn chapter(source: &str, kind: Kind) -> String {
    strict(source, kind).unwrap_or_else(|_| lenient(source).0)
}

/// The text of a page, and its title.
fn lenient(source: &str) -> (String, String) {
    let document = Document::from(source);
    let mut page = Page::default();
    let mut node = document.root();
    loop {
        let opened = match node.node_name() {
            Some(name) => page.open(&name, &|attribute| node.attr(attribute).map(|value| value.to_string())),
            None if node.is_text() => {
                page.text(&node.text());
                false
            }
            // The document itself.
            None => node.parent().is_none(),
        };
        if opened && let Some(child) = node.first_child() {
            node = child;
            continue;
        }
        if opened {
            close(&mut page, &node);
        }
        // Not by calls within calls: elements may lie as deep as the file is long.
        node = loop {
            if let Some(next) = node.next_sibling() {
                break next;
            }
            match node.parent() {
                Some(parent) => node = parent,
                None => return page.finish(),
            }
            close(&mut page, &node);
        };
    }
}

fn close(page: &mut Page, node: &NodeRef<'_>) {
    if let Some(name) = node.node_name() {
        page.close(&name);
    }
}

fn strict(source: &str, kind: Kind) -> Result<String, DocumentError> {
    let (mut page, mut xml) = (Page::default(), Xml::new(source, kind));
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => {
                if !page.open(element.name(), &|name| element.attribute(name)) {
                    xml.skip()?;
                }
            }
            Node::Close(end) => page.close(end.name()),
            Node::Text(text) => page.text(&text),
        }
    }
    Ok(page.finish().0)
}

/// A page on its way to Markdown.
#[derive(Default)]
struct Page {
    markdown: Markdown,
    title: String,
    in_title: bool,
    /// The level of the heading that is open.
    heading: Option<usize>,
    /// The lists that are open: the number of the next item, where they have numbers.
    lists: Vec<Option<usize>>,
    /// What stands before the item that has begun.
    marker: Option<String>,
    /// How many elements are open in which line breaks stay.
    verbatim: usize,
    /// Where in the line the links that are open began, and where they lead.
    links: Vec<(usize, String)>,
}

impl Page {
    /// Enters an element; false where what is in it is not shown, and it is not closed then.
    fn open(&mut self, name: &str, attribute: &dyn Fn(&str) -> Option<String>) -> bool {
        let hidden = attribute("hidden").is_some()
            || attribute("style").is_some_and(|style| {
                let style: String = style.to_lowercase().split_whitespace().collect();
                style.contains("display:none") || style.contains("visibility:hidden")
            });
        if hidden || is_unseen(name) {
            return false;
        }
        if is_block(name) {
            self.end();
        }
        let number = |name| attribute(name).and_then(|value| value.trim().parse().ok());
        match name {
            "title" => self.in_title = true,
            "br" => self.markdown.text("\n"),
            "img" | "image" => {
                let words = attribute("alt").unwrap_or_default();
                if !words.trim().is_empty() {
                    self.markdown.flowing(&format!("[Picture: {}]", words.trim()));
                }
            }
            "a" => self.links.push((self.markdown.line_length(), attribute("href").unwrap_or_default())),
            "sup" => self.markdown.text("^"),
            "ul" | "menu" => self.lists.push(None),
            "ol" => self.lists.push(Some(number("start").unwrap_or(1))),
            "li" => {
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(next)) => {
                        *next = next.saturating_add(1);
                        format!("{}.", next.saturating_sub(1))
                    }
                    _ => "-".to_owned(),
                });
            }
            "pre" => self.verbatim += 1,
            "table" => self.markdown.open_table(),
            "td" | "th" => {
                self.markdown.open_cell(number("colspan").unwrap_or(1), number("rowspan").unwrap_or(1))
            }
            _ => self.heading = level(name).or(self.heading),
        }
        true
    }

    fn close(&mut self, name: &str) {
        match name {
            "title" => self.in_title = false,
            "a" => {
                if let Some((start, address)) = self.links.pop() {
                    self.markdown.link(start, &address);
                }
            }
            "pre" => {
                self.markdown.end(Block::Code);
                self.verbatim = self.verbatim.saturating_sub(1);
            }
            _ if is_block(name) => self.end(),
            _ => {}
        }
        match name {
            "ul" | "menu" | "ol" => drop(self.lists.pop()),
            "li" => self.marker = None,
            "td" | "th" => self.markdown.close_cell(),
            "tr" => self.markdown.close_row(),
            "table" => self.markdown.close_table(),
            _ if level(name).is_some() => self.heading = None,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title += text;
        } else if self.verbatim > 0 {
            self.markdown.text(text);
        } else {
            self.markdown.flowing(text);
        }
    }

    /// Ends the line as what it is.
    fn end(&mut self) {
        if self.markdown.is_blank() {
            return self.markdown.end(Block::Paragraph);
        }
        // What a link began with is in the line that ends.
        self.links.iter_mut().for_each(|(start, _)| *start = 0);
        let block = match (self.heading, self.marker.take()) {
            (Some(level), _) => Block::Heading(level),
            (None, Some(marker)) => Block::Item(self.lists.len().saturating_sub(1), marker),
            (None, None) if self.verbatim > 0 => Block::Code,
            (None, None) => Block::Paragraph,
        };
        self.markdown.end(block);
    }

    /// The text and the title.
    fn finish(mut self) -> (String, String) {
        self.end();
        (self.markdown.finish(), self.title.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

fn level(name: &str) -> Option<usize> {
    name.strip_prefix('h')?.parse().ok().filter(|level| (1..=6).contains(level))
}

/// Whether a browser shows nothing of an element, or a control that has no use here.
fn is_unseen(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "template"
            | "noscript"
            | "svg"
            | "iframe"
            | "object"
            | "canvas"
            | "audio"
            | "video"
            | "annotation"
            | "annotation-xml"
            | "rp"
            | "button"
            | "select"
            | "textarea"
            | "datalist"
    )
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "head"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    ) || level(name).is_some()
}
