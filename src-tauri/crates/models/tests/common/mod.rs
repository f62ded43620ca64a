//! What the tests of the library share: a Hub, a model on it, and what must hold at any moment.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use foretoken_models::{
    DownloadOptions, DownloadProgress, Hub, HubOptions, Intent, Library, LibraryError, ModelState, NoToken,
    Outcome, RepoId, RetryPolicy, TokenSource, download,
};
use foretoken_test_hub::{Repo, TestHub};
use tokio::sync::watch;

pub type Files = BTreeMap<String, Vec<u8>>;

/// A safetensors file of about `bytes` bytes of noise.
pub fn shard(bytes: usize, seed: u64) -> Vec<u8> {
    let header = format!(
        r#"{{"__metadata__":{{"format":"pt"}},"mtp.fc.weight":{{"dtype":"U8","shape":[{bytes}],"data_offsets":[0,{bytes}]}}}}"#
    );
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.into_bytes());
    let start = file.len();
    file.resize(start + bytes, 0);
    fastrand::Rng::with_seed(seed).fill(&mut file[start..]);
    file
}

/// A model of some shards with `bytes` bytes each, and files that nobody wants.
pub fn model(shards: usize, bytes: usize) -> Files {
    let mut files = Files::new();
    files.insert("config.json".into(), br#"{"model_type":"qwen3_5"}"#.to_vec());
    files.insert("tokenizer.json".into(), shard(300_000, 99));
    files.insert("merges.txt".into(), Vec::new());
    files.insert("README.md".into(), b"# A model\n".to_vec());
    files.insert("pytorch_model.bin".into(), vec![1; 1000]);
    files.insert("../run.py".into(), b"import os".to_vec());
    let mut map = serde_json::Map::new();
    for index in 0..shards {
        let name = format!("model-{:05}-of-{shards:05}.safetensors", index + 1);
        map.insert(format!("layer{index}"), name.clone().into());
        files.insert(name, shard(bytes, index as u64));
    }
    let index = serde_json::json!({"metadata": {}, "weight_map": map});
    files.insert("model.safetensors.index.json".into(), index.to_string().into_bytes());
    files
}

/// Those of a model's files that a download fetches.
pub fn wanted(files: &Files) -> Files {
    let unwanted = |name: &str| name.ends_with(".bin") || name.ends_with(".py");
    files
        .iter()
        .filter(|(name, _)| !unwanted(name))
        .map(|(name, data)| (name.clone(), data.clone()))
        .collect()
}

pub fn repo(id: &str, files: &Files) -> Repo {
    Repo::new(id, files.iter().map(|(name, data)| (name.clone(), data.clone())))
}

pub fn id(text: &str) -> RepoId {
    text.parse().unwrap()
}

/// A client that fails after few and short waits.
pub fn client(hub: &TestHub) -> Hub {
    client_with(hub, Arc::new(NoToken))
}

pub fn client_with(hub: &TestHub, tokens: Arc<dyn TokenSource>) -> Hub {
    let retry = RetryPolicy {
        attempts: 5,
        base_delay: Duration::from_millis(5),
        max_delay: Duration::from_millis(50),
        longest_asked_wait: Duration::from_secs(5),
    };
    let options = HubOptions {
        endpoint: hub.endpoint().to_owned(),
        idle_timeout: Duration::from_secs(5),
        retry,
        ..HubOptions::default()
    };
    Hub::new(options, tokens).unwrap()
}

/// Small segments and frequent checkpoints, so that small files are fetched as large ones are.
pub fn options() -> DownloadOptions {
    DownloadOptions { connections: 4, segment_bytes: 256 << 10, checkpoint: Duration::from_millis(100) }
}

pub struct TestLibrary {
    pub folder: tempfile::TempDir,
    pub library: Library,
}

/// An empty library.
pub fn test_library() -> TestLibrary {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::create(&folder.path().join("models")).unwrap();
    TestLibrary { folder, library }
}

/// Fetches `main` without anybody stopping it.
pub async fn pull(hub: &Hub, library: &Library, repo: &str) -> Result<Outcome, LibraryError> {
    let (_intent, wanted) = watch::channel(Intent::Run);
    let progress = watch::Sender::new(DownloadProgress::default());
    download(hub, library, &id(repo), "main", &options(), wanted, &progress).await
}

/// The same in a process of its own, with many small requests and journals.
pub fn pull_apart(hub: &TestHub, library: &Library) -> Child {
    Command::new(env!("CARGO_BIN_EXE_foretoken-models"))
        .args(["--library".as_ref(), library.root().as_os_str()])
        .args([
            "pull",
            "org/model",
            "--connections",
            "4",
            "--segment-bytes",
            "500000",
            "--checkpoint-ms",
            "50",
        ])
        .env("HF_ENDPOINT", hub.endpoint())
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("HF_TOKEN")
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Random numbers that a failed run can be repeated with.
pub fn random() -> fastrand::Rng {
    let seed = std::env::var("FORETOKEN_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("FORETOKEN_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}

/// All files below a folder with their content.
pub fn read_folder(folder: &Path) -> Files {
    fn walk(root: &Path, folder: &Path, files: &mut Files) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                walk(root, &entry.path(), files);
            } else {
                let name = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                // A link to nothing reads as nothing.
                files.insert(name, fs::read(entry.path()).unwrap_or_default());
            }
        }
    }
    let mut files = Files::new();
    walk(folder, folder, &mut files);
    files
}

/// A model's folder holds what the Hub has, and our record, and nothing else.
pub fn assert_is(path: &Path, files: &Files) {
    let mut found = read_folder(path);
    assert!(found.remove("foretoken-library.json").is_some(), "no record");
    let wanted = wanted(files);
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    for (name, data) in &wanted {
        assert!(found[name] == *data, "{name} differs");
    }
}

/// What must hold at any moment: the model is whole, or what the journal says is on the disk is there and right.
/// True if the model is whole.
pub fn assert_sound(library: &Library, repo: &str, files: &Files) -> bool {
    let repo = id(repo);
    let whole = library.folder(&repo);
    if whole.exists() {
        assert_is(&whole, files);
        return true;
    }
    let partial = downloads(library).join(repo.folder_name());
    if let Ok(journal) = fs::read(partial.join("journal.json")) {
        let journal: serde_json::Value =
            serde_json::from_slice(&journal).expect("a journal is never half written");
        for state in journal["files"].as_array().unwrap() {
            let name = state["path"].as_str().unwrap();
            let ranges = state["done"].as_array().unwrap();
            let found = fs::read(partial.join("files").join(name)).unwrap_or_default();
            for range in ranges {
                let at = |place: usize| range[place].as_u64().unwrap() as usize;
                assert!(found[at(0)..at(1)] == files[name][at(0)..at(1)], "{name} {range}");
            }
            if state["verified"].as_bool().unwrap() {
                assert!(found == files[name], "{name} is said to be verified");
            }
        }
    }
    for model in library.models().unwrap() {
        assert!(matches!(model.state, ModelState::Partial { .. }), "{model:?}");
    }
    false
}

pub fn downloads(library: &Library) -> PathBuf {
    library.root().join(".foretoken/downloads")
}

/// Bytes of model data anywhere in the library.
pub fn bytes_left(library: &Library) -> u64 {
    let ours = |name: &String| name.ends_with("library.json") || name.ends_with("queue.json");
    let files = read_folder(library.root());
    files.iter().filter(|(name, _)| !ours(name)).map(|(_, data)| data.len() as u64).sum()
}

/// Says in the log of the tests that something was not tested, and why.
pub fn skipped(what: &str, why: &str) {
    eprintln!("SKIPPED: {what} was NOT tested: {why}");
}
