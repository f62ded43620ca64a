//! The parts of a document that is a ZIP archive. Nothing of it is ever written: parts are read by their names, within
//! limits that count what comes out, whatever the archive says of itself.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::encoding;
use crate::error::{DocumentError, within};
use crate::kind::Kind;
use crate::limits::{FREE_RATIO, MOST_INFLATED, MOST_RATIO};
use crate::xml::{Node, Xml};

/// How much is inflated before the limits are looked at again, in bytes.
const STEP: u64 = 64 << 10;

/// An archive and what may still be inflated of it.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    kind: Kind,
    left: u64,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(bytes: &'a [u8], kind: Kind) -> Result<Self, DocumentError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(kind, &error))?;
        Ok(Self { zip, kind, left: MOST_INFLATED })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.zip.file_names().filter_map(|name| name.ok().map(std::borrow::Cow::into_owned))
    }

    /// A part, or none where the archive has none of this name.
    pub(crate) fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, DocumentError> {
        let Some(index) = self.zip.index_for_name(name) else { return Ok(None) };
        let mut bytes = Vec::new();
        self.inflate(index, |step| bytes.extend_from_slice(step))?;
        Ok(Some(bytes))
    }

    /// A part as text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, DocumentError> {
        Ok(self.bytes(name)?.map(|bytes| encoding::text(&bytes)))
    }

    /// A part that the document cannot be without.
    pub(crate) fn needed(&mut self, name: &str) -> Result<String, DocumentError> {
        let kind = self.kind;
        let missing = || DocumentError::Damaged { kind, detail: format!("{name} is missing") };
        self.text(name)?.ok_or_else(missing)
    }

    /// Inflates everything to nowhere, for those who read it by other means: they read then no more than was counted.
    pub(crate) fn check(&mut self) -> Result<(), DocumentError> {
        (0..self.zip.len()).try_for_each(|index| self.inflate(index, |_| ()))
    }

    fn inflate(&mut self, index: usize, mut keep: impl FnMut(&[u8])) -> Result<(), DocumentError> {
        let kind = self.kind;
        let mut entry = self.zip.by_index(index).map_err(|error| broken(kind, &error))?;
        let most = FREE_RATIO.max(entry.compressed_size().saturating_mul(MOST_RATIO));
        let mut inflated = 0;
        let mut step = Vec::new();
        loop {
            step.clear();
            let read = entry.by_ref().take(STEP).read_to_end(&mut step);
            let read =
                read.map_err(|error| DocumentError::Damaged { kind, detail: within(&error.to_string()) })?;
            if read == 0 {
                return Ok(());
            }
            inflated += read as u64;
            self.left = self.left.saturating_sub(read as u64);
            if self.left == 0 || inflated > most {
                return Err(DocumentError::Inflated { kind });
            }
            keep(&step);
        }
    }

    /// What a part refers to: by the number of the reference, the kind of it and the name of the other part, or an
    /// address outside of the document.
    pub(crate) fn relations(&mut self, part: &str) -> Result<BTreeMap<String, Relation>, DocumentError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = if folder.is_empty() {
            format!("_rels/{file}.rels")
        } else {
            format!("{folder}/_rels/{file}.rels")
        };
        let mut relations = BTreeMap::new();
        let Some(text) = self.text(&name)? else { return Ok(relations) };
        let mut xml = Xml::new(&text, self.kind);
        while let Some(node) = xml.next()? {
            let Node::Open(element) = node else { continue };
            let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target")) else {
                continue;
            };
            let kind = element.attribute("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let outside = element.attribute("TargetMode").is_some_and(|mode| mode == "External");
            let target = if outside { target } else { resolve(part, &target) };
            relations.insert(id, Relation { kind, target, outside });
        }
        Ok(relations)
    }
}

/// What a part refers to.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    pub(crate) kind: String,
    pub(crate) target: String,
    pub(crate) outside: bool,
}

/// The name of the part that the address `target` leads to from the part `from`. It never leaves the archive.
pub(crate) fn resolve(from: &str, target: &str) -> String {
    part(from, target.split(['#', '?']).next().unwrap_or_default())
}

/// The name of the part with this path from the part `from`. It never leaves the archive.
pub(crate) fn part(from: &str, path: &str) -> String {
    let target = path.replace('\\', "/");
    let mut path: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        path.extend(from.rsplit_once('/').map(|(folder, _)| folder.split('/')).into_iter().flatten());
    }
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}

fn broken(kind: Kind, error: &ZipError) -> DocumentError {
    match error {
        // What the crate says of a part that is encrypted, whether or not it can decrypt it.
        ZipError::UnsupportedArchive(words) if words.contains("assword") => DocumentError::Locked { kind },
        ZipError::InvalidPassword => DocumentError::Locked { kind },
        error => DocumentError::Damaged { kind, detail: within(&error.to_string()) },
    }
}
