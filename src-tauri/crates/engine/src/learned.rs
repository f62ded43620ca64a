//! What was learned about a model's drafts, kept in a file from one run to the next.
//!
//! There is one file a model. It names the machine and the program that measured it, and what it holds counts for
//! those alone. Nothing depends on it: a file that is missing, damaged or about something else is as good as none.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use foretoken_protocol::{KvPrecision, MacLayers, ModelInfo};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::decode::PolicyState;
use crate::{machine, mlx};

/// The least time between two writes, but for the last one.
const WRITE_INTERVAL: Duration = Duration::from_secs(5);
/// What a file without damage may have.
const MAX_BYTES: u64 = 64 * 1024;

/// What figures are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    /// The engine's version, which also decides that of MLX.
    version: String,
    chip: Option<String>,
    device: String,
    model: ModelKey,
}

/// Tells models apart: those with the same config, the same tensors and the same form of
/// keys and values take the same time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ModelKey {
    architecture: String,
    format: String,
    parameters: u64,
    weight_bytes: u64,
    /// CRC-32 of `config.json`.
    config: u32,
    #[serde(default)]
    kv_precision: KvPrecision,
    /// Of the draft model beside it, the bytes of its weights and the CRC-32 of its `config.json`.
    #[serde(default)]
    draft_model: Option<(u64, u32)>,
    /// The Macs that compute it together, whose steps take another time.
    #[serde(default)]
    macs: Vec<MacLayers>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored<T> {
    origin: Origin,
    drafts: T,
}

/// Why a file does not count.
#[derive(Debug, Error)]
enum Unusable {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is no such file: {0}")]
    Form(#[from] serde_json::Error),
    #[error("it is {0} bytes long")]
    TooLong(u64),
    #[error("it is about another machine, version or model")]
    Origin,
    #[error("its figures are missing or out of range")]
    Range,
}

/// The file of a loaded model.
#[derive(Debug)]
pub(crate) struct Learned {
    path: PathBuf,
    origin: Origin,
    /// What the file holds as far as this engine knows, and when it was written.
    kept: Option<PolicyState>,
    written: Option<Instant>,
    /// When the file was changed that it read or wrote last.
    changed: Option<SystemTime>,
}

impl Learned {
    /// The file of a model in the folder `dir`.
    pub(crate) fn of(dir: &Path, info: &ModelInfo) -> Self {
        let config_of = |model: &str| {
            crc32fast::hash(&fs::read(Path::new(model).join("config.json")).unwrap_or_default())
        };
        let draft_model = info.draft_model.as_ref().map(|draft| (draft.weight_bytes, config_of(&draft.path)));
        let model = ModelKey {
            architecture: info.architecture.clone(),
            format: info.format.clone(),
            parameters: info.parameters,
            weight_bytes: info.weight_bytes,
            config: config_of(&info.path),
            kv_precision: info.kv_precision,
            draft_model,
            macs: info.macs.clone(),
        };
        let beside = draft_model.map(|(bytes, config)| format!("-{config:08x}-{bytes}")).unwrap_or_default();
        let spread = match serde_json::to_vec(&model.macs) {
            Ok(macs) if !model.macs.is_empty() => format!("-{:08x}", crc32fast::hash(&macs)),
            _ => String::new(),
        };
        let name = format!("drafts-{:08x}-{}{beside}{spread}.json", model.config, model.weight_bytes);
        let origin = Origin {
            version: env!("CARGO_PKG_VERSION").into(),
            chip: machine::chip(),
            device: mlx::device().name().into(),
            model,
        };
        Self { path: dir.join(name), origin, kept: None, written: None, changed: None }
    }

    /// What another process has learned since, such as a benchmark.
    pub(crate) fn renewed(&mut self) -> Option<PolicyState> {
        if self.time_of_change() == self.changed { None } else { self.read() }
    }

    fn time_of_change(&self) -> Option<SystemTime> {
        fs::metadata(&self.path).and_then(|metadata| metadata.modified()).ok()
    }

    /// What was learned before, if that counts here.
    pub(crate) fn read(&mut self) -> Option<PolicyState> {
        self.changed = self.time_of_change();
        match self.try_read() {
            Ok(state) => {
                self.kept = Some(state.clone());
                Some(state)
            }
            Err(Unusable::Io(error)) if error.kind() == io::ErrorKind::NotFound => None,
            Err(problem) => {
                tracing::info!("{} is ignored: {problem}", self.path.display());
                None
            }
        }
    }

    fn try_read(&self) -> Result<PolicyState, Unusable> {
        let length = fs::metadata(&self.path)?.len();
        if length > MAX_BYTES {
            return Err(Unusable::TooLong(length));
        }
        let stored: Stored<serde_json::Value> = serde_json::from_slice(&fs::read(&self.path)?)?;
        if stored.origin != self.origin {
            return Err(Unusable::Origin);
        }
        let state: PolicyState = serde_json::from_value(stored.drafts)?;
        if state.is_measured() && state.is_possible() { Ok(state) } else { Err(Unusable::Range) }
    }

    /// Writes what was learned since, unless that was done a moment ago.
    pub(crate) fn keep(&mut self, state: &PolicyState) {
        if self.written.is_none_or(|at| at.elapsed() >= WRITE_INTERVAL) {
            self.keep_now(state);
        }
    }

    /// Writes what was learned since. Where that fails, the next run learns it again.
    pub(crate) fn keep_now(&mut self, state: &PolicyState) {
        if self.kept.as_ref() == Some(state) {
            return;
        }
        self.written = Some(Instant::now());
        match self.write(state) {
            Ok(()) => (self.kept, self.changed) = (Some(state.clone()), self.time_of_change()),
            Err(error) => tracing::warn!("{} cannot be written: {error}", self.path.display()),
        }
    }

    /// Replaces the file as a whole: whoever reads or writes it meanwhile sees one version of it or another.
    fn write(&self, state: &PolicyState) -> io::Result<()> {
        let stored = Stored { origin: self.origin.clone(), drafts: state };
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir)?;
        }
        let unfinished = self.path.with_extension(format!("{}.part", std::process::id()));
        let written = fs::File::create(&unfinished)
            .and_then(|mut file| file.write_all(&serde_json::to_vec(&stored)?))
            .and_then(|()| fs::rename(&unfinished, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }
}
