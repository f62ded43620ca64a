//! What the engine says about model folders, asked once for each state of their files.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_host::{ENGINE_REFUSED, KV_IN_8_BITS, Tool};
use foretoken_protocol::{ErrorReport, KvPrecision, MtpState, Sight};
use serde::{Deserialize, Serialize};

use super::fit;
use super::fit::Need;
use crate::blocking::blocking;
use crate::json_file;

/// What the engine says that a folder holds, from its config and the headers of its files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "holds", rename_all = "snake_case")]
pub(super) enum Found {
    Model(Facts),
    DraftModel(DraftFacts),
}

impl Found {
    /// The model; a draft model, which cannot be chatted with, is refused.
    pub(super) fn model(self) -> Result<Facts, ErrorReport> {
        match self {
            Self::Model(facts) => Ok(facts),
            Self::DraftModel(draft) => Err(no_model(&draft)),
        }
    }
}

/// A model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// Parameters in all.
    pub(super) parameters: u64,
    /// Parameters that take part in one token.
    #[serde(default)]
    pub(super) active_parameters: Option<u64>,
    /// Data type or quantization.
    pub(super) format: String,
    /// The MTP head.
    pub(super) mtp: MtpState,
    /// What a short chat with a small picture takes; `None` for a model that sees none.
    #[serde(default)]
    pub(super) seeing: Option<u64>,
    /// Width of the residual stream.
    pub(super) hidden_size: usize,
    /// Tokens that it knows.
    pub(super) vocab_size: usize,
    /// Of all kinds.
    pub(super) layers: usize,
    /// Its tensors, in bytes.
    pub(super) weight_bytes: u64,
    /// What it takes to run at each of [`fit::CONTEXTS`], up to the longest that it knows.
    pub(super) needs: Vec<Need>,
    /// What it takes at these contexts with keys and values in 8 bits; empty where the model cannot keep them so,
    /// `None` where the engine could not be asked.
    #[serde(default)]
    pub(super) needs_in_8_bits: Option<Vec<Need>>,
}

impl Facts {
    /// What it takes to run at a context, or at the longest that it knows.
    pub(super) fn at(&self, context: u32, kv_precision: KvPrecision) -> Need {
        let needs = match (kv_precision, &self.needs_in_8_bits) {
            (KvPrecision::Eight, Some(needs)) if !needs.is_empty() => needs,
            (KvPrecision::Full | KvPrecision::Eight, _) => &self.needs,
        };
        let long_enough = needs.iter().find(|need| need.context >= context);
        long_enough.or(needs.last()).copied().unwrap_or(Need { context, bytes: self.weight_bytes })
    }

    /// The longest context that it is known to run at, in tokens.
    pub(super) fn longest(&self) -> u32 {
        self.needs.last().map_or(0, |need| need.context)
    }

    /// Whether it sees pictures on a machine that has so many bytes for models, `beside` of them taken.
    pub(super) fn sight(&self, beside: u64, available: u64) -> Sight {
        sight(self.seeing.map(|need| need.saturating_add(beside)), available)
    }

    /// What it takes to run at all.
    pub(super) fn least(&self) -> u64 {
        self.at(0, KvPrecision::Full).bytes
    }
}

/// Whether a model that takes `seeing` bytes to see sees on a machine that has `available` for models; `None` is one
/// that does not see.
pub(super) fn sight(seeing: Option<u64>, available: u64) -> Sight {
    match seeing {
        None => Sight::None,
        Some(need) if need <= available => Sight::Sees,
        Some(_) => Sight::NoMemory,
    }
}

/// The engine's words.
#[derive(Debug, Deserialize)]
struct Inspection {
    parameters: u64,
    #[serde(default)]
    active_parameters: Option<u64>,
    format: String,
    linear_attention_layers: usize,
    full_attention_layers: usize,
    hidden_size: usize,
    vocab_size: usize,
    mtp: MtpState,
    memory: Memory,
}

/// A draft model, in the engine's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DraftFacts {
    /// Its kind, as `DFlashDraftModel`.
    pub(super) architecture: String,
    /// Its own parameters, without what it borrows.
    pub(super) parameters: u64,
    /// Data type or quantization.
    pub(super) format: String,
    /// Its tensors, in bytes.
    pub(super) weight_bytes: u64,
    /// Tokens that it guesses at once at most.
    pub(super) most_guesses: u32,
    /// The model that it was made for.
    pub(super) draft_for: TargetNeeds,
}

/// What a model must be like that a draft model guesses for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TargetNeeds {
    /// Width of its residual stream.
    pub(super) hidden_size: usize,
    /// Tokens that it knows.
    pub(super) vocab_size: usize,
    /// Its layers, as far as the draft model says.
    pub(super) layers: Option<usize>,
    /// Its layers whose outputs are read, counted from 0.
    pub(super) layers_read: Vec<usize>,
}

/// What the engine prints of a folder.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Told {
    /// First: a model says nothing of what it was made for.
    DraftModel(DraftFacts),
    Model(Inspection),
}

/// What a model takes in memory, in bytes.
#[derive(Debug, Deserialize)]
struct Memory {
    weights: u64,
    /// All of it at `context`: keys and values of the trunk and of the MTP head, states, what is computed in passing.
    total: u64,
    /// In tokens; never more than the model knows.
    context: u32,
    /// Of a model that sees.
    #[serde(default)]
    vision: Option<Vision>,
}

/// Memory of a model that sees, in the engine's words.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Vision {
    /// All of it, with a small picture in the prompt.
    least_total: u64,
}

/// Asks the engine about folders and keeps the answers.
#[derive(Debug)]
pub(super) struct Inspector {
    tool: Tool,
    file: PathBuf,
    known: Mutex<BTreeMap<PathBuf, Known>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    /// What the files were like.
    stamp: u64,
    answer: Result<Found, ErrorReport>,
}

impl Known {
    /// Whether all of the answer comes from the engine, so that it would answer the same again. Otherwise something
    /// kept the engine from answering, which may pass.
    fn is_whole(&self) -> bool {
        match &self.answer {
            Ok(Found::Model(facts)) => facts.needs_in_8_bits.is_some(),
            Ok(Found::DraftModel(_)) => true,
            Err(error) => error.code == ENGINE_REFUSED,
        }
    }
}

impl Inspector {
    /// Keeps what it learns in `file`, over restarts.
    pub(super) fn new(tool: Tool, file: PathBuf) -> Self {
        let known = json_file::read(&file).unwrap_or_default();
        Self { tool, file, known: Mutex::new(known) }
    }

    /// What is known of a folder, whether its files have changed since or not.
    pub(super) fn known(&self, folder: &Path) -> Option<Result<Found, ErrorReport>> {
        Some(self.lock().get(folder)?.answer.clone())
    }

    /// Whether what is known of a folder is all that the engine says about its files as they are now.
    pub(super) async fn is_current(&self, folder: &Path) -> bool {
        let stamp = self.stamp(folder).await;
        self.lock().get(folder).is_some_and(|known| known.stamp == stamp && known.is_whole())
    }

    /// Asks about a folder.
    pub(super) async fn inspect(&self, folder: &Path) -> Result<Found, ErrorReport> {
        let stamp = self.stamp(folder).await;
        let answer = self.ask(&[folder.as_os_str()]).await;
        self.lock().insert(folder.to_owned(), Known { stamp, answer: answer.clone() });
        answer
    }

    /// Asks about a model whose tensor files were cut after their headers. The answer is not kept.
    pub(super) async fn inspect_headers(&self, folder: &Path) -> Result<Facts, ErrorReport> {
        self.ask(&[folder.as_os_str(), "--headers-only".as_ref()]).await?.model()
    }

    /// Writes down what is known of these folders and forgets the rest. Blocks on the disk.
    pub(super) fn keep(&self, folders: &[PathBuf]) {
        let mut known = self.lock();
        known.retain(|folder, _| folders.contains(folder));
        if let Err(error) = json_file::write(&self.file, &*known) {
            tracing::warn!("{} cannot be written: {error}", self.file.display());
        }
    }

    async fn ask(&self, what: &[&OsStr]) -> Result<Found, ErrorReport> {
        let [shortest, ..] = fit::CONTEXTS;
        let told = match self.ask_at(what, shortest).await? {
            Told::DraftModel(draft) => return Ok(Found::DraftModel(draft)),
            Told::Model(told) => told,
        };
        let needs = self.needs(what, &told.memory).await?;
        let in_8_bits = [what, &KV_IN_8_BITS.map(OsStr::new)].concat();
        let needs_in_8_bits = match self.needs_in_8_bits(&in_8_bits).await {
            Ok(needs) => Some(needs),
            // Not every size of heads can be kept so, and whoever chooses it is told then.
            Err(error) if error.code == ENGINE_REFUSED => Some(Vec::new()),
            Err(error) => {
                tracing::warn!("what keys and values take in 8 bits is not known: {error}");
                None
            }
        };
        Ok(Found::Model(Facts {
            parameters: told.parameters,
            active_parameters: told.active_parameters,
            format: told.format,
            hidden_size: told.hidden_size,
            vocab_size: told.vocab_size,
            layers: told.linear_attention_layers + told.full_attention_layers,
            mtp: told.mtp,
            seeing: told.memory.vision.map(|vision| vision.least_total),
            weight_bytes: told.memory.weights,
            needs,
            needs_in_8_bits,
        }))
    }

    async fn needs_in_8_bits(&self, what: &[&OsStr]) -> Result<Vec<Need>, ErrorReport> {
        let [shortest, ..] = fit::CONTEXTS;
        let shortest = self.ask_model_at(what, shortest).await?;
        self.needs(what, &shortest.memory).await
    }

    /// What a model takes at each context, which does not grow evenly with it. `shortest`: at the first of them.
    async fn needs(&self, what: &[&OsStr], shortest: &Memory) -> Result<Vec<Need>, ErrorReport> {
        let [_, longer @ ..] = fit::CONTEXTS;
        let need = |memory: &Memory| Need { context: memory.context, bytes: memory.total };
        let mut needs = vec![need(shortest)];
        for context in longer {
            let longer = need(&self.ask_model_at(what, context).await?.memory);
            if needs.last() == Some(&longer) {
                // The model knows no longer one.
                break;
            }
            needs.push(longer);
        }
        Ok(needs)
    }

    async fn ask_model_at(&self, what: &[&OsStr], context: u32) -> Result<Inspection, ErrorReport> {
        match self.ask_at(what, context).await? {
            Told::Model(told) => Ok(told),
            Told::DraftModel(draft) => Err(no_model(&draft)),
        }
    }

    async fn ask_at(&self, what: &[&OsStr], context: u32) -> Result<Told, ErrorReport> {
        let context = OsString::from(context.to_string());
        let arguments = ["inspect".as_ref(), "--json".as_ref(), "--context".as_ref(), context.as_os_str()];
        let arguments = arguments.into_iter().chain(what.iter().copied());
        let output = self.tool.output(arguments).await?;
        serde_json::from_str(&output).map_err(|error| ErrorReport {
            code: "engine_unreadable".into(),
            message: format!("The engine described the model in words that cannot be read: {error}."),
            hint: "Install Foretoken again.".into(),
        })
    }

    /// A number that changes with the model's files, and with the engine, which may know more models than before.
    async fn stamp(&self, folder: &Path) -> u64 {
        let (folder, program) = (folder.to_owned(), self.tool.program().await.to_owned());
        blocking(move || stamp(&folder, program)).await
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamp(folder: &Path, program: PathBuf) -> u64 {
    let mut files: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_of_the_model(path))
        .chain([program])
        .filter_map(|path| {
            let found = path.metadata().ok()?;
            Some((path, found.len(), found.modified().ok()?))
        })
        .collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    hasher.finish()
}

fn no_model(draft: &DraftFacts) -> ErrorReport {
    ErrorReport {
        code: ENGINE_REFUSED.into(),
        message: format!(
            "This folder holds a draft model ({}), which guesses ahead for another model.",
            draft.architecture
        ),
        hint: "Choose the folder of the model that it was made for.".into(),
    }
}

/// Whether a file decides what the engine says. The library's own record changes whenever a model is used.
fn is_of_the_model(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name != "foretoken-library.json"
        && path.extension().is_some_and(|kind| kind == "json" || kind == "safetensors")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::models::library::testing::write_draft_model;
    use foretoken_host::testing::{demo_model, engine_program};
    use serde_json::json;

    #[test]
    fn a_model_that_sees_says_so_where_there_is_memory() {
        let facts = |seeing: Option<u64>| -> Facts {
            let known = json!({
                "parameters": 1, "active_parameters": null, "format": "4-bit", "mtp": {"state": "absent"},
                "hidden_size": 64, "vocab_size": 256, "layers": 4, "weight_bytes": 1, "needs": [],
                "needs_in_8_bits": null, "seeing": seeing
            });
            serde_json::from_value(known).unwrap()
        };
        let sight = |seeing, beside| facts(seeing).sight(beside, 750);
        assert_eq!(sight(None, 0), Sight::None);
        assert_eq!([sight(Some(700), 0), sight(Some(700), 50)], [Sight::Sees; 2]);
        assert_eq!([sight(Some(751), 0), sight(Some(700), 51)], [Sight::NoMemory; 2]);
    }

    #[tokio::test]
    async fn an_engine_that_is_killed_has_refused_nothing_and_is_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, fault) = (engine_program(folder.path()), folder.path().join("fault"));
        let program = folder.path().join("engine-with-a-fault");
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *--kv-bits*) [ -e '{}' ] && kill -9 $$ ;; esac\nexec '{}' \"$@\"\n",
            fault.display(),
            engine.display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&fault, "").unwrap();
        let inspector = Inspector::new(Tool::new(program), folder.path().join("facts.json"));
        let facts = inspector.inspect(&demo_model()).await.unwrap().model().unwrap();
        assert_eq!(facts.needs_in_8_bits, None);
        assert!(!inspector.is_current(&demo_model()).await);
        fs::remove_file(&fault).unwrap();
        let facts = inspector.inspect(&demo_model()).await.unwrap().model().unwrap();
        assert!(facts.needs_in_8_bits.is_some_and(|needs| !needs.is_empty()));
        assert!(inspector.is_current(&demo_model()).await);
    }

    #[tokio::test]
    async fn a_draft_model_is_known_for_one_and_is_no_model() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("draft");
        write_draft_model(&model, &[2]);
        let inspector =
            Inspector::new(Tool::new(engine_program(folder.path())), folder.path().join("facts.json"));
        let Found::DraftModel(draft) = inspector.inspect(&model).await.unwrap() else { panic!("a model") };
        assert!(inspector.is_current(&model).await);
        let demo = inspector.inspect(&demo_model()).await.unwrap().model().unwrap();
        let needs = &draft.draft_for;
        assert_eq!((needs.hidden_size, needs.vocab_size), (demo.hidden_size, demo.vocab_size));
        assert_eq!((needs.layers_read.as_slice(), needs.layers), ([2].as_slice(), None));
        assert_eq!(draft.most_guesses, 15);
        let file = fs::metadata(model.join("model.safetensors")).unwrap().len();
        assert!(draft.weight_bytes < file && draft.weight_bytes > file / 2, "{draft:?}, {file}");
        let refused = Found::DraftModel(draft).model().unwrap_err();
        assert_eq!(refused.code, ENGINE_REFUSED, "{refused:?}");
        assert!(refused.message.contains("DFlashDraftModel"), "{refused:?}");
    }

    #[tokio::test]
    async fn a_folder_is_asked_about_again_only_when_its_files_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        fs::create_dir(&model).unwrap();
        for entry in fs::read_dir(demo_model()).unwrap().flatten() {
            fs::copy(entry.path(), model.join(entry.file_name())).unwrap();
        }
        let file = folder.path().join("facts.json");
        let inspector = Inspector::new(Tool::new(engine_program(folder.path())), file.clone());
        assert!(!inspector.is_current(&model).await);
        let facts = inspector.inspect(&model).await.unwrap().model().unwrap();
        assert!(matches!(facts.mtp, MtpState::Present { .. }), "{facts:?}");
        // The demo model knows no longer context than the shortest.
        assert_eq!(facts.needs.len(), 1);
        assert_eq!(facts.at(262_144, KvPrecision::Full), facts.at(100, KvPrecision::Full));
        let [full, eight] = [KvPrecision::Full, KvPrecision::Eight].map(|kv| facts.at(4096, kv));
        assert!(eight.context == full.context && eight.bytes != full.bytes, "{full:?} {eight:?}");
        assert!(facts.least() > facts.weight_bytes);
        inspector.keep(std::slice::from_ref(&model));

        let again = Inspector::new(inspector.tool.clone(), file);
        assert!(again.is_current(&model).await);
        assert_eq!(again.known(&model), Some(Ok(Found::Model(facts))));
        fs::write(model.join("foretoken-library.json"), "{}").unwrap();
        assert!(again.is_current(&model).await, "its use does not change a model");
        fs::remove_file(model.join("model.safetensors")).unwrap();
        assert!(!again.is_current(&model).await);
        assert!(again.inspect(&model).await.is_err());
        again.keep(&[]);
        assert_eq!(again.known(&model), None);
    }
}
