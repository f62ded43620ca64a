//! Checkpoints of the reference values, fetched from a Hub over a bad connection: what arrives loads in the engine and
//! gives what it must.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use foretoken_engine::mlx;
use foretoken_models::{
    DownloadOptions, DownloadProgress, Hub, HubOptions, Intent, Library, NoToken, Outcome, RepoId,
    RetryPolicy, disk_use, download,
};
use foretoken_test_hub::{Fault, Repo, Stage, TestHub, Trouble};
use foretoken_tests::agreement::{greedy_text_agrees, logits_agree};
use foretoken_tests::fixtures::{fixture, load};
use foretoken_tests::oracle::Cases;
use foretoken_tests::programs::built;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::watch;

const REPO: &str = "oracle/model";
/// A model that was split has this many files with tensors.
const FILES: usize = 3;

/// A model in a library that goes with it.
struct Fetched {
    path: PathBuf,
    _library: TempDir,
}

/// Serves the model in a folder and fetches it: a part over a slow connection, up to a pause, and the rest over one
/// that is cut and flips bits.
#[tokio::main(flavor = "current_thread")]
async fn fetch(model: &Path) -> Fetched {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::create(&folder.path().join("models")).unwrap();
    let server = TestHub::start([Repo::folder(REPO, model).unwrap()]).await.unwrap();
    let retry = RetryPolicy { base_delay: Duration::from_millis(5), ..RetryPolicy::default() };
    let options = HubOptions { endpoint: server.endpoint().to_owned(), retry, ..HubOptions::default() };
    let hub = Hub::new(options, Arc::new(NoToken)).unwrap();

    let bytes = disk_use(model);
    server.fail(Fault::new(Stage::Content, Trouble::Slow(bytes as usize / 20)));
    assert_eq!(run(&hub, &library, Some(bytes / 4)).await, Outcome::Paused);
    server.heal();
    server.fail(Fault::new(Stage::Content, Trouble::Cut(30_000)).times(8));
    server.fail(Fault::new(Stage::Content, Trouble::Corrupt).times(1));
    let Outcome::Complete { path, .. } = run(&hub, &library, None).await else { panic!("it did not end") };

    for entry in fs::read_dir(model).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        assert!(fs::read(path.join(&name)).unwrap() == fs::read(entry.path()).unwrap(), "{name:?} differs");
    }
    Fetched { path, _library: folder }
}

/// Runs the download to its end, or until so many bytes have arrived.
async fn run(hub: &Hub, library: &Library, pause_at: Option<u64>) -> Outcome {
    let repo: RepoId = REPO.parse().unwrap();
    let options =
        DownloadOptions { connections: 4, segment_bytes: 100_000, checkpoint: Duration::from_millis(100) };
    let (intent, wanted) = watch::channel(Intent::Run);
    let (telling, mut progress) = watch::channel(DownloadProgress::default());
    let running = download(hub, library, &repo, "main", &options, wanted, &telling);
    let pausing = async {
        if let Some(bytes) = pause_at {
            progress.wait_for(|progress| progress.bytes_done >= bytes).await.unwrap();
            intent.send_replace(Intent::Pause);
        }
        // Without anybody who could stop it, a download pauses.
        intent
    };
    let (outcome, _intent) = tokio::join!(running, pausing);
    outcome.unwrap()
}

/// Copies a model with its tensors in several files and an index, as large models are published.
fn split(model: &Path, out: &Path) {
    fs::copy(model.join("config.json"), out.join("config.json")).unwrap();
    let tensors = mlx::load_safetensors(&model.join("model.safetensors")).unwrap();
    let tensors: BTreeMap<_, _> = tensors.into_iter().collect();
    let names: Vec<&String> = tensors.keys().collect();
    let mut files = serde_json::Map::new();
    for (names, number) in names.chunks(names.len().div_ceil(FILES)).zip(1..) {
        let file = format!("model-{number:05}-of-{FILES:05}.safetensors");
        files.extend(names.iter().map(|&name| (name.clone(), json!(file))));
        mlx::save_safetensors(&out.join(file), names.iter().map(|&name| (name.as_str(), &tensors[name])))
            .unwrap();
    }
    let index = json!({ "metadata": {}, "weight_map": files });
    fs::write(out.join("model.safetensors.index.json"), index.to_string()).unwrap();
}

fn shards(model: &Path) -> usize {
    let names = fs::read_dir(model).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".safetensors")).count()
}

#[test]
fn a_raw_model_with_experts_arrives_and_gives_its_reference_values() {
    let cases = Cases::of("layouts");
    let model = cases.checkpoint("tiny-moe-q36");
    assert_eq!(shards(&model), FILES);
    let fetched = load(&fetch(&model).path);
    assert!(fetched.mtp.is_some());
    let goldens = cases.goldens("tiny-moe-q36");
    logits_agree(&fetched, &goldens, "raw, fetched");
    greedy_text_agrees(&fetched, &goldens, "raw, fetched");
}

#[test]
fn a_converted_model_in_several_files_arrives_and_gives_its_reference_values() {
    let cases = Cases::of("quantizations");
    let model = tempfile::tempdir().unwrap();
    split(&cases.checkpoint("moe-affine-4-64"), model.path());
    assert_eq!(shards(model.path()), FILES);
    let fetched = load(&fetch(model.path()).path);
    assert!(fetched.mtp.is_some());
    let goldens = cases.goldens("moe-affine-4-64");
    logits_agree(&fetched, &goldens, "converted, fetched");
    greedy_text_agrees(&fetched, &goldens, "converted, fetched");
}

#[test]
fn a_fetched_model_answers_through_the_program_as_the_original_does() {
    let model = fixture("tiny-dense");
    let fetched = fetch(&model);
    let reply = |folder: &Path| {
        let arguments = [
            "generate",
            "--temperature",
            "0",
            "--prompt",
            "Tell me a story.",
            "--max-tokens",
            "24",
            "--model",
        ];
        let output = Command::new(built("foretoken-engine")).args(arguments).arg(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let expected = reply(&model);
    assert!(!expected.is_empty());
    assert_eq!(reply(&fetched.path), expected);
}
