//! Word's lists: what stands before their items.

use std::collections::BTreeMap;

use crate::error::DocumentError;
use crate::kind::Kind;
use crate::xml::{Node, Xml};

/// How deep lists go.
const DEEPEST: usize = 9;

/// A level of a list.
#[derive(Debug, Default, Clone)]
struct Level {
    numbered: bool,
    /// No mark stands before its items.
    bare: bool,
    start: usize,
}

/// The lists of a document, and how far they have been counted.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    kinds: BTreeMap<String, [Level; DEEPEST]>,
    /// The kind of each list, by the list's id.
    lists: BTreeMap<String, String>,
    counted: BTreeMap<String, [Option<usize>; DEEPEST]>,
}

impl Numbering {
    pub(super) fn read(text: &str) -> Result<Self, DocumentError> {
        let mut numbering = Self::default();
        let mut xml = Xml::new(text, Kind::Word);
        let (mut kind, mut list, mut at) = (String::new(), String::new(), 0);
        while let Some(node) = xml.next()? {
            let Node::Open(element) = node else { continue };
            let value = element.attribute("val").unwrap_or_default();
            let id = |name| element.attribute(name).unwrap_or_default();
            let levels = numbering.kinds.get_mut(&kind).and_then(|levels| levels.get_mut(at));
            match (element.name(), levels) {
                ("abstractNum", _) => {
                    kind = id("abstractNumId");
                    numbering.kinds.insert(kind.clone(), Default::default());
                }
                ("num", _) => list = id("numId"),
                ("abstractNumId", _) => {
                    numbering.lists.insert(list.clone(), value);
                }
                ("lvl", _) => at = element.number("ilvl").unwrap_or(0),
                // What single lists change stands behind all kinds, and is not read.
                ("lvlOverride", _) => at = DEEPEST,
                ("start", Some(level)) => level.start = value.parse().unwrap_or(1),
                ("numFmt", Some(level)) => {
                    level.bare = value == "none";
                    level.numbered = !matches!(value.as_str(), "bullet" | "none");
                }
                _ => {}
            }
        }
        Ok(numbering)
    }

    /// What stands before the next item of a list; none where nothing does.
    pub(super) fn next(&mut self, list: &str, depth: usize) -> Option<String> {
        let depth = depth.min(DEEPEST - 1);
        let kind = self.lists.get(list).cloned().unwrap_or_default();
        let level = self.kinds.get(&kind).and_then(|levels| levels.get(depth)).cloned().unwrap_or_default();
        if level.bare {
            return None;
        }
        if !level.numbered {
            return Some("-".to_owned());
        }
        let counted = self.counted.entry(list.to_owned()).or_default();
        counted.iter_mut().skip(depth + 1).for_each(|below| *below = None);
        let number = counted.get(depth).copied().flatten().map_or(level.start, |last| last + 1);
        if let Some(last) = counted.get_mut(depth) {
            *last = Some(number);
        }
        Some(format!("{number}."))
    }
}
