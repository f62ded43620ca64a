//! What tells the weights of one checkpoint from those of another without reading them all.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::CheckpointError;
use super::metadata::Metadata;

/// Places in a tensor file that are looked at, evenly apart from its beginning to its end.
const PLACES: u64 = 16;
/// Bytes that are read at each.
const PIECE: u64 = 4096;

impl Metadata {
    /// A CRC-32 of the config, the tensors' names, shapes and types, and samples of their values: weights that were
    /// trained or quantized otherwise have another one.
    pub fn fingerprint(&self) -> Result<u32, CheckpointError> {
        let mut hasher = crc32fast::Hasher::new();
        self.texts.get("config.json").into_iter().for_each(|config| hasher.update(config));
        for file in &self.files {
            let path = self.place(&file.path);
            hasher.update(&file.head);
            add_samples(&path, &mut hasher).map_err(|source| CheckpointError::Io { path, source })?;
        }
        Ok(hasher.finalize())
    }
}

fn add_samples(path: &Path, hasher: &mut crc32fast::Hasher) -> io::Result<()> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let last = bytes.saturating_sub(PIECE);
    hasher.update(&bytes.to_le_bytes());
    let mut piece = Vec::with_capacity(PIECE as usize);
    for place in 1..=PLACES {
        piece.clear();
        file.seek(SeekFrom::Start(last * place / PLACES))?;
        Read::by_ref(&mut file).take(PIECE).read_to_end(&mut piece)?;
        hasher.update(&piece);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::checkpoint::Files;

    fn fingerprint(values: &[u8]) -> u32 {
        let folder = tempfile::tempdir().unwrap();
        let header = format!(
            r#"{{"a":{{"dtype":"U8","shape":[{}],"data_offsets":[0,{}]}}}}"#,
            values.len(),
            values.len()
        );
        let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), values].concat();
        fs::write(folder.path().join("model.safetensors"), bytes).unwrap();
        fs::write(folder.path().join("config.json"), "{}").unwrap();
        let metadata = Metadata::read(folder.path(), Files::Whole).unwrap();
        metadata.fingerprint().unwrap()
    }

    #[test]
    fn other_values_of_the_same_shapes_are_told_apart() {
        let trained: Vec<u8> = (0..200_000_u32).map(|value| (value % 251) as u8).collect();
        let further: Vec<u8> = trained.iter().map(|value| value.wrapping_add(1)).collect();
        assert_eq!(fingerprint(&trained), fingerprint(&trained));
        assert_ne!(fingerprint(&trained), fingerprint(&further));
        let mut end = trained.clone();
        *end.last_mut().unwrap() += 1;
        assert_ne!(fingerprint(&trained), fingerprint(&end));
        assert_ne!(fingerprint(&[]), fingerprint(&[0]));
    }
}
