//! One string of bytes as the metadata of a model, for the fuzzer and for the test that replays its corpus.

use std::collections::BTreeMap;

use super::{FileHeader, Metadata};

/// Between config, index and the headers of the trunk's file and the MTP head's.
const SEPARATOR: &[u8] = b"\n----\n";

/// Takes an input apart. Absent parts are absent files.
pub(crate) fn metadata(mut bytes: &[u8]) -> Metadata {
    let mut parts = Vec::new();
    while let Some(end) = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
        parts.push(&bytes[..end]);
        bytes = &bytes[end + SEPARATOR.len()..];
    }
    parts.push(bytes);
    let mut parts = parts.into_iter();
    let texts: BTreeMap<String, Vec<u8>> = ["config.json", "model.safetensors.index.json"]
        .into_iter()
        .zip(parts.by_ref())
        .map(|(path, text)| (path.into(), text.to_vec()))
        .collect();
    let files =
        ["model.safetensors", "mtp.safetensors"].into_iter().zip(parts).map(|(path, header)| FileHeader {
            path: path.into(),
            bytes: None,
            // A `{` begins a header that needs its length; anything else is the beginning of a file as it is.
            head: match header.first() {
                Some(b'{') => [&(header.len() as u64).to_le_bytes(), header].concat(),
                _ => header.to_vec(),
            },
        });
    let files = files.collect();
    Metadata { folder: "fuzz".into(), texts, files }
}
