//! One string of bytes as the metadata of a model, for the fuzzer and for the test that replays its corpus, and what
//! holds of every model that can be planned.

use std::path::{Component, Path};

use super::{Config, FileHeader, Index, Layout, Metadata, inspect};

/// Between the parts of an input, which come in this order: config, index, header of the trunk, header of the MTP head,
/// config beside it, header of the file that the config names for a head.
const SEPARATOR: &[u8] = b"\n----\n";
const CONFIG: &str = "config.json";

/// Takes an input apart. Absent parts are absent files.
#[allow(dead_code, reason = "some who check plans have their metadata from a folder")]
pub(crate) fn metadata(mut bytes: &[u8]) -> Metadata {
    let mut parts = Vec::new();
    while let Some(end) = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
        parts.push(&bytes[..end]);
        bytes = &bytes[end + SEPARATOR.len()..];
    }
    parts.push(bytes);
    let named = Metadata::named_head(parts[0]).into_iter().next();
    let places = [
        CONFIG,
        "model.safetensors.index.json",
        "model.safetensors",
        "mtp/weights.safetensors",
        "mtp/config.json",
    ];
    let places = places.map(str::to_owned).into_iter().chain(named);
    let mut metadata = Metadata { folder: "fuzz".into(), texts: Default::default(), files: Vec::new() };
    for (path, part) in places.zip(parts) {
        if path.ends_with(".json") {
            metadata.texts.insert(path, part.to_vec());
            continue;
        }
        // A `{` begins a header that needs its length; anything else is the beginning of a file as it is.
        let head = match part.first() {
            Some(b'{') => [&(part.len() as u64).to_le_bytes(), part].concat(),
            _ => part.to_vec(),
        };
        metadata.files.push(FileHeader { path, bytes: None, head });
    }
    metadata
}

/// Plans a model; whether it can be. What can is sound: it reads within the files of its folder and nowhere else.
pub(crate) fn check(metadata: &Metadata) -> bool {
    if let Some(config) = metadata.texts.get(CONFIG) {
        for place in Metadata::named_head(config) {
            assert!(is_inside(Path::new(&place)), "{place} leads out of the folder");
        }
    }
    let Ok(config) = Config::of(metadata) else { return false };
    let Ok(index) = Index::of(metadata, &config) else { return false };
    let Ok(layout) = Layout::plan(&config, &index) else { return false };
    let beside = index.sidecars.iter().filter_map(|sidecar| sidecar.content.as_ref().ok());
    let files: Vec<_> = index.files.iter().chain(beside.flat_map(|content| &content.index.files)).collect();
    for plan in &layout.tensors {
        for source in &plan.sources {
            let file = files.iter().find(|file| file.path == source.file).expect("a file of the model");
            let inside = file.path.strip_prefix(&metadata.folder).expect("a file inside the folder");
            assert!(is_inside(inside), "{} leads out of the folder", file.path.display());
            let end = source.offset.checked_add(source.bytes).expect("an end");
            assert!(end <= file.bytes, "{} ends behind its file", source.name);
            let is_within = |offset, bytes| offset >= source.offset && offset + bytes <= end;
            assert!(source.runs().take(1000).all(|run| is_within(run.offset, run.bytes)), "{}", source.name);
        }
        let taken: u64 = plan.sources.iter().map(|source| source.taken_bytes()).sum();
        let elements = plan.shape.iter().map(|size| *size as u64).product::<u64>();
        assert_eq!(taken, elements * plan.stored.bitsize() as u64 / 8, "{}", plan.name);
    }
    let inspection = inspect(metadata, None, Default::default()).expect("what can be planned can be told of");
    assert!(!inspection.to_string().is_empty());
    true
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
