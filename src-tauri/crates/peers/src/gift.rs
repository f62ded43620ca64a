//! Layers of a model that a Mac gives to one that lends itself: one file each, put together from bytes of the model's
//! own files as they are sent.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;

use crate::error::PeerError;
use crate::files::Sha256;

/// Bytes that are read at a time.
const PIECE: usize = 1024 * 1024;

/// The config of a model, which goes with its layers.
pub(crate) const CONFIG: &str = "config.json";
/// The most bytes of a config, and the most files of a gift.
const LONGEST_CONFIG: u64 = 4 << 20;
const MOST_FILES: usize = 1025;

/// A model, as two Macs speak of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelId {
    /// The name of its folder.
    pub name: String,
    /// A digest of its layers: two models of one name may differ.
    pub digest: Sha256,
}

/// What a Mac is to have of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gift {
    /// The model.
    pub model: ModelId,
    /// Its files.
    pub files: Vec<GiftFile>,
}

/// A file that is put together as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct GiftFile {
    /// Its name: `config.json`, or that of a layer, as `layer-00017.safetensors`.
    pub name: String,
    /// What it begins with.
    pub header: String,
    /// Whether the length of that goes before it, as eight bytes.
    pub length_first: bool,
    /// What follows, in order.
    pub pieces: Vec<GiftPiece>,
}

/// Bytes of a file of this Mac.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct GiftPiece {
    /// The file.
    pub file: PathBuf,
    /// Where they begin.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// A file as it is announced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announced {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

impl Gift {
    pub(crate) fn announced(&self) -> Vec<Announced> {
        let announced = |file: &GiftFile| Announced { name: file.name.clone(), bytes: file.bytes() };
        self.files.iter().map(announced).collect()
    }
}

impl GiftFile {
    /// Its size.
    pub fn bytes(&self) -> u64 {
        let pieces: u64 = self.pieces.iter().map(|piece| piece.bytes).sum();
        self.prefix().len() as u64 + self.header.len() as u64 + pieces
    }

    fn prefix(&self) -> Vec<u8> {
        let length = self.length_first.then(|| (self.header.len() as u64).to_le_bytes());
        length.into_iter().flatten().collect()
    }

    /// Reads all of it, and sends what comes from byte `from` on, until nobody takes it. The hash of the whole. Waits
    /// for the disk.
    pub(crate) fn read(&self, from: u64, to: &Sender<Vec<u8>>) -> Result<[u8; 32], PeerError> {
        let (mut hash, mut done) = (Context::new(&SHA256), 0_u64);
        let mut pass = |bytes: &[u8]| {
            hash.update(bytes);
            let skipped = from.saturating_sub(done).min(bytes.len() as u64) as usize;
            done += bytes.len() as u64;
            let rest = bytes.get(skipped..).unwrap_or_default();
            rest.is_empty() || to.blocking_send(rest.to_vec()).is_ok()
        };
        let mut goes_on = pass(&[self.prefix(), self.header.clone().into_bytes()].concat());
        let mut buffer = vec![0; PIECE];
        for GiftPiece { file, offset, bytes } in &self.pieces {
            let unreadable = |source| PeerError::Unreadable { path: file.clone(), source };
            let mut left = opened_at(file, *offset).map_err(unreadable)?.take(*bytes);
            while goes_on && left.limit() > 0 {
                let length = left.read(&mut buffer).map_err(unreadable)?;
                if length == 0 {
                    return Err(unreadable(io::ErrorKind::UnexpectedEof.into()));
                }
                goes_on = pass(buffer.get(..length).unwrap_or_default());
            }
        }
        let mut sum = [0; 32];
        sum.copy_from_slice(hash.finish().as_ref());
        Ok(sum)
    }
}

fn opened_at(path: &Path, offset: u64) -> io::Result<File> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    Ok(file)
}

/// Whether these can be files of a gift: all have names of such, each once, and sizes that add up.
pub(crate) fn are_of_a_gift(files: &[Announced]) -> bool {
    let names: std::collections::BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let is_one = |file: &Announced| match file.name.as_str() {
        CONFIG => (1..=LONGEST_CONFIG).contains(&file.bytes),
        name => file.bytes > 0 && is_of_layer(name),
    };
    let sum = files.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.bytes));
    (1..=MOST_FILES).contains(&files.len())
        && names.len() == files.len()
        && files.iter().all(is_one)
        && sum.is_some_and(|sum| sum < u64::MAX / 4)
}

/// Whether a name is `layer-` and five digits.
fn is_of_layer(name: &str) -> bool {
    let digits = name.strip_prefix("layer-").and_then(|rest| rest.strip_suffix(".safetensors"));
    digits.is_some_and(|digits| digits.len() == 5 && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(name: &str, bytes: u64) -> Announced {
        Announced { name: name.into(), bytes }
    }

    #[test]
    fn only_a_config_and_layers_are_given_each_once() {
        let layer = "layer-00017.safetensors";
        assert!(are_of_a_gift(&[announced(CONFIG, 9), announced(layer, 1 << 40)]));
        for name in [
            "",
            "../config.json",
            "/etc/passwd",
            ".config.json",
            "layer-1.safetensors",
            "layer-0001x.safetensors",
            "layer-00001.safetensors.part",
            "layer-../../.safetensors",
            "kept.json",
            "tokenizer.json",
        ] {
            assert!(!are_of_a_gift(&[announced(name, 1)]), "{name}");
        }
        assert!(!are_of_a_gift(&[]));
        assert!(!are_of_a_gift(&[announced(layer, 1), announced(layer, 1)]));
        assert!(!are_of_a_gift(&[announced(layer, 0)]) && !are_of_a_gift(&[announced(CONFIG, 1 << 30)]));
        assert!(!are_of_a_gift(&[announced(layer, u64::MAX), announced(CONFIG, 9)]));
    }

    #[test]
    fn a_file_is_its_header_and_bytes_of_others_from_any_place_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model");
        std::fs::write(&file, "0123456789").unwrap();
        let piece = |offset, bytes| GiftPiece { file: file.clone(), offset, bytes };
        let pieces = vec![piece(7, 2), piece(0, 3)];
        let gift = GiftFile { name: "a".into(), header: "{}".into(), length_first: true, pieces };
        let whole = b"\x02\0\0\0\0\0\0\0{}78012";
        assert_eq!(gift.bytes(), whole.len() as u64);
        for from in 0..=whole.len() {
            let (sender, mut pieces) = tokio::sync::mpsc::channel(9);
            let sum = gift.read(from as u64, &sender).unwrap();
            drop(sender);
            assert_eq!(ring::digest::digest(&SHA256, whole).as_ref(), sum);
            let mut sent = Vec::new();
            while let Some(piece) = pieces.blocking_recv() {
                sent.extend(piece);
            }
            assert_eq!(sent, whole[from..], "{from}");
        }
        std::fs::write(&file, "01").unwrap();
        let (sender, _pieces) = tokio::sync::mpsc::channel(9);
        assert!(matches!(gift.read(0, &sender), Err(PeerError::Unreadable { .. })));
    }
}
