//! Some layers of a model, for a machine that has no more of it: what tells whether it has the right ones, and the
//! files in which it gets them, one a layer.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use safetensors::Dtype;
use safetensors::tensor::{Metadata as Tensors, TensorInfo};
use serde::{Deserialize, Serialize};

use super::CheckpointError;
use super::config::Config;
use super::index::Index;
use super::kinds::{FloatType, NormEncoding};
use super::layout::Layout;
use super::metadata::{Files, Metadata};
use super::plan::{Source, TensorPlan};

/// Places of a layer that are looked at, evenly apart from its first byte to its last.
const PLACES: u64 = 64;
/// Bytes that are read at each.
const PIECE: u64 = 4096;
/// The header of a tensor file is filled up to a multiple of this.
const ALIGNMENT: usize = 8;

/// Which layers of which model a machine has, as whoever has all of it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The layers.
    pub layers: Range<usize>,
    /// A CRC-32 of what the config says of layers.
    pub config: u32,
    /// For each of the layers, a CRC-32 of its tensors' names, shapes and types, and of samples of their values.
    pub fingerprints: Vec<u32>,
    /// What the model computes in: its embedding tells, which is not with the layers.
    pub compute: FloatType,
    /// How its norms are stored.
    pub norms: NormEncoding,
}

/// How layers differ from those that are meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// What the config says of them.
    #[error("The config.json there is that of another model")]
    Config,
    /// A tensor of this layer.
    #[error("Layer {0} there is that of another model")]
    Layer(usize),
}

/// A file that has one layer of a model and nothing else: its header, and then bytes of the model's own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartFile {
    /// Its name, as `layer-00017.safetensors`.
    pub name: String,
    /// What it begins with.
    pub header: String,
    /// Whether the length of that goes before it, as eight bytes.
    pub length_first: bool,
    /// What follows, in order.
    pub pieces: Vec<PartPiece>,
}

/// Bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartPiece {
    /// The file.
    pub file: PathBuf,
    /// Where they begin.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

impl Part {
    /// All layers of a model whose plan this is.
    pub fn all(config: &Config, layout: &Layout) -> Result<Self, CheckpointError> {
        Self::of(config, layout, 0..config.layers.len())
    }

    fn of(config: &Config, layout: &Layout, layers: Range<usize>) -> Result<Self, CheckpointError> {
        let fingerprints =
            layers.clone().map(|layer| fingerprint(layout, layer)).collect::<Result<_, _>>()?;
        let (compute, norms) = (layout.compute, layout.trunk_norms);
        Ok(Self { layers, config: config_fingerprint(config), fingerprints, compute, norms })
    }

    /// Some of these layers.
    pub fn only(&self, layers: Range<usize>) -> Self {
        let begin = self.layers.start;
        let of_it = |layer: usize| self.fingerprints.get(layer.checked_sub(begin)?).copied();
        Self { fingerprints: layers.clone().filter_map(of_it).collect(), layers, ..self.clone() }
    }

    /// What a model of which this is all is known by: 64 hexadecimal digits.
    pub fn digest(&self) -> String {
        let words = std::iter::once(&self.config).chain(&self.fingerprints);
        let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        digest(&SHA256, &bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads a folder that has these layers, whether it has the rest of the model or not: its whole config, and the
    /// plan for these layers, complete. What makes it the folder of another model is said in the inner error.
    pub fn read(&self, dir: &Path) -> Result<Result<(Config, Layout), Difference>, CheckpointError> {
        let metadata = Metadata::read(dir, Files::Whole)?;
        let config = Config::of(&metadata)?;
        if config_fingerprint(&config) != self.config {
            return Ok(Err(Difference::Config));
        }
        let (index, stored) = (Index::of(&metadata, &config)?, (self.compute, self.norms));
        let layout = Layout::plan_part(&config, &index, &self.layers, stored)?;
        let own = Self::of(&config, &layout, self.layers.clone())?;
        for (place, layer) in self.layers.clone().enumerate() {
            if own.fingerprints.get(place) != self.fingerprints.get(place) {
                return Ok(Err(Difference::Layer(layer)));
            }
        }
        Ok(Ok((config, layout)))
    }
}

/// The files for a machine that is to have these layers of the model in a folder alone, whose plan this is: its config,
/// and a file for each layer.
pub fn part_files(
    dir: &Path,
    layout: &Layout,
    layers: Range<usize>,
) -> Result<Vec<PartFile>, CheckpointError> {
    const CONFIG: &str = "config.json";
    let path = dir.join(CONFIG);
    let header = std::fs::read_to_string(&path).map_err(|source| CheckpointError::Io { path, source })?;
    let config = PartFile { name: CONFIG.to_owned(), header, length_first: false, pieces: Vec::new() };
    let files = layers.map(|layer| layer_file(layout, layer));
    std::iter::once(Ok(config)).chain(files).collect()
}

/// The file of one layer.
fn layer_file(layout: &Layout, layer: usize) -> Result<PartFile, CheckpointError> {
    let mut tensors: Vec<(&str, &Source, Dtype)> =
        tensors_of(layout, layer).into_iter().map(|(name, (source, dtype))| (name, source, dtype)).collect();
    // Wide types first: each tensor begins at a multiple of the size of its numbers.
    tensors.sort_by_key(|(_, _, dtype)| std::cmp::Reverse(dtype.bitsize()));
    let (mut header, mut pieces) = (Vec::new(), Vec::<PartPiece>::new());
    let mut end = 0;
    for (name, source, dtype) in tensors {
        let begin = end;
        end += source.bytes;
        let data_offsets = (begin as usize, end as usize);
        header.push((name.to_owned(), TensorInfo { dtype, shape: source.shape.clone(), data_offsets }));
        match pieces.last_mut() {
            Some(last) if last.file == source.file && last.offset + last.bytes == source.offset => {
                last.bytes += source.bytes;
            }
            _ => pieces.push(PartPiece {
                file: source.file.clone(),
                offset: source.offset,
                bytes: source.bytes,
            }),
        }
    }
    let name = format!("layer-{layer:05}.safetensors");
    let unwritten = |reason: String| CheckpointError::HeaderUnreadable { file: PathBuf::from(&name), reason };
    let header = Tensors::new(None::<HashMap<_, _>>, header).map_err(|error| unwritten(error.to_string()))?;
    let mut header = serde_json::to_string(&header).map_err(|error| unwritten(error.to_string()))?;
    header += &" ".repeat(header.len().next_multiple_of(ALIGNMENT) - header.len());
    Ok(PartFile { name, header, length_first: true, pieces })
}

/// The stored tensors of a layer by their names in the files, each once, with its type.
fn tensors_of(layout: &Layout, layer: usize) -> BTreeMap<&str, (&Source, Dtype)> {
    let is_of_it = |plan: &&TensorPlan| plan.layer() == Some(layer);
    let plans = layout.tensors.iter().filter(is_of_it);
    plans
        .flat_map(|plan| plan.sources.iter().map(|source| (source.name.as_str(), (source, plan.stored))))
        .collect()
}

/// Of what the config says of layers.
fn config_fingerprint(config: &Config) -> u32 {
    let Config { architecture, hidden_size, intermediate_size, layers, mlps, moe, attention, .. } = config;
    let Config { linear, rms_norm_eps, quantization, .. } = config;
    let sizes = (architecture, hidden_size, intermediate_size, layers, mlps, moe);
    // Who compares them has the same version of the program.
    crc32fast::hash(format!("{sizes:?} {attention:?} {linear:?} {rms_norm_eps} {quantization:?}").as_bytes())
}

fn fingerprint(layout: &Layout, layer: usize) -> Result<u32, CheckpointError> {
    let mut hasher = crc32fast::Hasher::new();
    let tensors = tensors_of(layout, layer);
    for (name, (source, dtype)) in &tensors {
        hasher.update(format!("{name} {dtype:?} {:?} {}\n", source.shape, source.bytes).as_bytes());
    }
    let all: u64 = tensors.values().map(|(source, _)| source.bytes).sum();
    let last = all.saturating_sub(1);
    // Where the bytes of each tensor begin, if they lay one behind the other.
    let mut places = (0..PLACES).map(|place| last * place / (PLACES - 1)).peekable();
    let mut begin = 0;
    for (source, _) in tensors.values() {
        let mut open = None;
        while let Some(place) = places.next_if(|place| *place < begin + source.bytes) {
            let within = place.saturating_sub(begin);
            let io = |error| CheckpointError::Io { path: source.file.clone(), source: error };
            let file = match &mut open {
                Some(file) => file,
                open => open.insert(File::open(&source.file).map_err(io)?),
            };
            let length = PIECE.min(source.bytes - within);
            add_sample(file, source.offset + within, length, &mut hasher).map_err(io)?;
        }
        begin += source.bytes;
    }
    Ok(hasher.finalize())
}

fn add_sample(file: &mut File, offset: u64, bytes: u64, hasher: &mut crc32fast::Hasher) -> io::Result<()> {
    let mut piece = Vec::with_capacity(bytes as usize);
    file.seek(SeekFrom::Start(offset))?;
    file.take(bytes).read_to_end(&mut piece)?;
    hasher.update(&piece);
    Ok(())
}
