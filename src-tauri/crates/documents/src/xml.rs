//! XML, element by element: names without their prefixes, text with its references resolved. What a document type
//! declares is not: no entity but the known ones is ever expanded.

use std::borrow::Cow;

use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesEnd, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::{DocumentError, within};
use crate::kind::Kind;
use crate::limits::DEEPEST;

/// What comes next. Each element that opens closes, also an empty one.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    Open(Element<'a>),
    Close(End<'a>),
    Text(Cow<'a, str>),
}

/// The beginning of an element.
#[derive(Debug)]
pub(crate) struct Element<'a>(BytesStart<'a>);

impl Element<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of an attribute with this name, whatever its prefix is.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.find(|prefixed, local| !prefixed && local == name)
            .or_else(|| self.find(|_, local| local == name))
    }

    /// The number of a reference to another part: an `id` with a prefix.
    pub(crate) fn relation(&self) -> Option<String> {
        self.find(|prefixed, local| prefixed && matches!(local, "id" | "embed" | "dm"))
    }

    /// The value of an attribute as a number.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Whether a property is on: there, and not said to be off.
    pub(crate) fn is_on(&self) -> bool {
        !self.attribute("val").is_some_and(|value| matches!(value.as_str(), "0" | "false" | "off"))
    }

    fn find(&self, is: impl Fn(bool, &str) -> bool) -> Option<String> {
        self.0.attributes().flatten().find_map(|attribute| {
            let (local, prefix) = attribute.key.decompose();
            is(prefix.is_some(), local.into_inner()).then(|| {
                let value = attribute.normalized_value_with(XmlVersion::Implicit1_0, 1, resolve_html5_entity);
                value.map(Cow::into_owned).unwrap_or_else(|_| attribute.value.into_owned())
            })
        })
    }
}

/// The end of an element.
#[derive(Debug)]
pub(crate) struct End<'a>(BytesEnd<'a>);

impl End<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }
}

/// A reader of XML.
pub(crate) struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    kind: Kind,
    depth: usize,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(text: &'a str, kind: Kind) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, kind, depth: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Node<'a>>, DocumentError> {
        loop {
            let event = self.reader.read_event().map_err(|error| self.damaged(&error.to_string()))?;
            return Ok(Some(match event {
                Event::Start(element) => {
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        return Err(DocumentError::Deep { kind: self.kind });
                    }
                    Node::Open(Element(element))
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    Node::Close(End(end))
                }
                Event::Text(text) => Node::Text(text.xml10_content()),
                Event::CData(text) => Node::Text(text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let character = reference.resolve_char_ref().ok().flatten();
                    let name = reference.into_inner();
                    match (character, resolve_html5_entity(&name)) {
                        (Some(character), _) => Node::Text(Cow::Owned(character.to_string())),
                        (None, Some(text)) => Node::Text(Cow::Borrowed(text)),
                        (None, None) => continue,
                    }
                }
                Event::Eof if self.depth > 0 => return Err(self.damaged("it ends early")),
                Event::Eof => return Ok(None),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {
                    continue;
                }
            }));
        }
    }

    /// Passes over what is in the element that has just opened, and over its end.
    pub(crate) fn skip(&mut self) -> Result<(), DocumentError> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside && self.next()?.is_some() {}
        Ok(())
    }

    /// The text of the element that has just opened.
    pub(crate) fn content(&mut self) -> Result<String, DocumentError> {
        let outside = self.depth.saturating_sub(1);
        let mut content = String::new();
        while self.depth > outside {
            match self.next()? {
                Some(Node::Text(text)) => content += &text,
                Some(_) => {}
                None => break,
            }
        }
        Ok(content.trim().to_owned())
    }

    fn damaged(&self, detail: &str) -> DocumentError {
        DocumentError::Damaged { kind: self.kind, detail: within(detail) }
    }
}
