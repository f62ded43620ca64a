//! Books in ePub: chapter after chapter, in the order in which they are read, with the titles of the table of contents
//! where a chapter has none of its own.

use std::collections::BTreeMap;

use crate::archive::{self, Archive};
use crate::encoding;
use crate::error::DocumentError;
use crate::html;
use crate::kind::Kind;
use crate::markdown::Markdown;
use crate::xml::{Node, Xml};

const KIND: Kind = Kind::Book;

/// The text of a book, and which of its chapters are missing.
pub(crate) fn text(bytes: &[u8]) -> Result<(String, Vec<String>), DocumentError> {
    let mut archive = Archive::open(bytes, KIND)?;
    let container = archive.needed("META-INF/container.xml")?;
    let package = first(&container, "rootfile", "full-path")?.unwrap_or_default();
    let package = archive::part("", &package);
    let book = Package::read(&archive.needed(&package)?, &package)?;
    let locked = match archive.text("META-INF/encryption.xml")? {
        Some(encryption) => all(&encryption, "CipherReference", "URI")?,
        None => Vec::new(),
    };
    let mut titles = BTreeMap::new();
    for contents in &book.contents {
        if let Some(text) = archive.text(contents)? {
            // Without titles it is still a book.
            let _ = read_titles(&text, contents, &mut titles);
        }
    }
    let (mut markdown, mut notes) = (Markdown::default(), Vec::new());
    if !book.title.is_empty() {
        markdown.raw(&format!("# {}", book.title));
    }
    if !book.authors.is_empty() {
        markdown.raw(&format!("By {}", book.authors.join(", ")));
    }
    for part in book.spine.iter().filter(|part| !book.contents.contains(part)) {
        // Fonts are often scrambled; a chapter is only where a shop protects it.
        if locked.iter().any(|name| resolve("", name) == *part) {
            return Err(DocumentError::Locked { kind: KIND });
        }
        let Some(chapter) = archive.bytes(part)? else {
            let note = format!("The chapter “{part}” is missing from the file.");
            markdown.raw(&format!("[{note}]"));
            notes.push(note);
            continue;
        };
        let chapter = html::chapter(&encoding::text(&chapter), KIND);
        match titles.get(part) {
            Some(title) if !chapter.starts_with('#') && !chapter.is_empty() => {
                markdown.raw(&format!("## {title}"))
            }
            _ => {}
        }
        markdown.raw(&chapter);
    }
    Ok((markdown.finish(), notes))
}

/// What a book says of itself.
#[derive(Default)]
struct Package {
    title: String,
    authors: Vec<String>,
    /// The names of its chapters' parts.
    spine: Vec<String>,
    /// Those of its tables of contents.
    contents: Vec<String>,
}

impl Package {
    fn read(text: &str, name: &str) -> Result<Self, DocumentError> {
        let (mut package, mut parts) = (Self::default(), BTreeMap::new());
        let mut xml = Xml::new(text, KIND);
        while let Some(node) = xml.next()? {
            let Node::Open(element) = node else { continue };
            match element.name() {
                "title" if package.title.is_empty() => package.title = xml.content()?,
                "creator" => package.authors.push(xml.content()?),
                "item" => {
                    let (Some(id), Some(target)) = (element.attribute("id"), element.attribute("href"))
                    else {
                        continue;
                    };
                    let part = resolve(name, &target);
                    let is_contents =
                        element.attribute("media-type").is_some_and(|kind| kind.contains("ncx"))
                            || element.attribute("properties").is_some_and(|words| words.contains("nav"));
                    if is_contents {
                        package.contents.push(part.clone());
                    }
                    parts.insert(id, part);
                }
                "itemref" => {
                    // One that is not listed is missing.
                    let part = element.attribute("idref").map(|id| parts.get(&id).cloned().unwrap_or(id));
                    package.spine.extend(part);
                }
                _ => {}
            }
        }
        package.authors.retain(|author| !author.is_empty());
        Ok(package)
    }
}

/// Reads a table of contents, of either kind: the first title that leads to a part is that of the chapter.
fn read_titles(text: &str, name: &str, titles: &mut BTreeMap<String, String>) -> Result<(), DocumentError> {
    let (mut xml, mut label) = (Xml::new(text, KIND), String::new());
    while let Some(node) = xml.next()? {
        let Node::Open(element) = node else { continue };
        let target = match element.name() {
            "text" => {
                label = xml.content()?;
                continue;
            }
            "content" => element.attribute("src"),
            "a" => {
                let target = element.attribute("href");
                label = xml.content()?;
                target
            }
            _ => continue,
        };
        if let Some(target) = target.filter(|_| !label.is_empty()) {
            titles.entry(resolve(name, &target)).or_insert_with(|| label.clone());
        }
    }
    Ok(())
}

/// An attribute of the first element of a name.
fn first(text: &str, name: &str, attribute: &str) -> Result<Option<String>, DocumentError> {
    Ok(all(text, name, attribute)?.into_iter().next())
}

/// An attribute of all elements of a name.
fn all(text: &str, name: &str, attribute: &str) -> Result<Vec<String>, DocumentError> {
    let (mut found, mut xml) = (Vec::new(), Xml::new(text, KIND));
    while let Some(node) = xml.next()? {
        if let Node::Open(element) = node
            && element.name() == name
        {
            found.extend(element.attribute(attribute));
        }
    }
    Ok(found)
}

/// The name of the part that an address leads to from the part `from`: escaped signs belong to the name.
fn resolve(from: &str, address: &str) -> String {
    let path = address.split(['#', '?']).next().unwrap_or_default();
    archive::part(from, &percent_encoding::percent_decode_str(path).decode_utf8_lossy())
}
