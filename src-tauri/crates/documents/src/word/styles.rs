//! Word's styles, as far as they make headings and lists.

use std::collections::BTreeMap;

use crate::error::DocumentError;
use crate::kind::Kind;
use crate::xml::{Node, Xml};

/// How many styles one may be based on in a row.
const LONGEST_CHAIN: usize = 32;

/// What a style makes of a paragraph.
#[derive(Debug, Default, Clone)]
pub(super) struct Style {
    based_on: Option<String>,
    /// The level of a heading, from 1.
    pub(super) level: Option<usize>,
    pub(super) list: Option<String>,
    pub(super) depth: Option<usize>,
}

/// Styles by their ids.
#[derive(Debug, Default)]
pub(super) struct Styles(BTreeMap<String, Style>);

impl Styles {
    pub(super) fn read(text: &str) -> Result<Self, DocumentError> {
        let mut styles = BTreeMap::new();
        let mut xml = Xml::new(text, Kind::Word);
        let (mut id, mut style) = (None, Style::default());
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => match element.name() {
                    "style" => (id, style) = (element.attribute("styleId"), Style::default()),
                    // Names are the same in every language, ids are not.
                    "name" => {
                        style.level = style.level.or(element.attribute("val").and_then(|name| level(&name)))
                    }
                    "basedOn" => style.based_on = element.attribute("val"),
                    "outlineLvl" => {
                        let level = element.number("val").filter(|level| *level < 9);
                        style.level = style.level.or(level.map(|level| level + 1));
                    }
                    "numId" => style.list = element.attribute("val"),
                    "ilvl" => style.depth = element.number("val"),
                    _ => {}
                },
                Node::Close(end) if end.name() == "style" => {
                    if let Some(id) = id.take() {
                        styles.insert(id, std::mem::take(&mut style));
                    }
                }
                _ => {}
            }
        }
        Ok(Self(styles))
    }

    /// A style, with what it takes from those that it is based on.
    pub(super) fn get(&self, id: &str) -> Style {
        let Some(mut style) = self.0.get(id).cloned() else { return Style::default() };
        for _ in 0..LONGEST_CHAIN {
            let Some(below) = style.based_on.as_ref().and_then(|id| self.0.get(id)) else { break };
            style.level = style.level.or(below.level);
            style.list = style.list.or_else(|| below.list.clone());
            style.depth = style.depth.or(below.depth);
            style.based_on.clone_from(&below.based_on);
        }
        style
    }
}

fn level(name: &str) -> Option<usize> {
    match name.to_lowercase().strip_prefix("heading ") {
        Some(level) => level.parse().ok(),
        None => name.eq_ignore_ascii_case("title").then_some(1),
    }
}
