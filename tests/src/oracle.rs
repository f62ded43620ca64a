//! Checkpoints in every layout, and what they must give, made by `oracle/cases.py` when the tests run.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use foretoken_engine::mlx::{self, Array};
use serde::Deserialize;

use crate::goldens::Goldens;

/// What the script is made of; another text, other cases.
const SCRIPTS: [&str; 5] = ["cases.py", "make_checkpoint.py", "prompts.py", "reference.py", "variants.py"];

/// One checkpoint.
#[derive(Debug, Deserialize)]
struct Case {
    checkpoint: PathBuf,
    values: PathBuf,
    head: bool,
    raw: Option<PathBuf>,
}

/// A group of checkpoints.
#[derive(Debug)]
pub struct Cases {
    folder: PathBuf,
    cases: BTreeMap<String, Case>,
}

impl Cases {
    /// Makes a group (`layouts`, `heads` or `quantizations`), unless the same scripts made it before. Other processes
    /// that ask for the same group wait.
    pub fn of(group: &str) -> Self {
        let python = reference_python();
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle");
        let mut inputs = DefaultHasher::new();
        for file in SCRIPTS.iter().map(|name| scripts.join(name)).chain([python.clone()]) {
            fs::read(file).unwrap().hash(&mut inputs);
        }
        let parent = temporary().join("oracle").join(group);
        fs::create_dir_all(&parent).unwrap();
        let lock = File::create(parent.join("lock")).unwrap();
        lock.lock().unwrap();
        let folder = parent.join(format!("{:016x}", inputs.finish()));
        if !folder.exists() {
            make(group, &parent, &folder);
        }
        let cases = fs::read(folder.join("cases.json")).unwrap();
        Self { cases: serde_json::from_slice(&cases).unwrap(), folder }
    }

    /// The names of all cases, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.cases.keys().map(String::as_str)
    }

    /// The folder of a checkpoint.
    pub fn checkpoint(&self, name: &str) -> PathBuf {
        self.folder.join(&self.case(name).checkpoint)
    }

    /// What a checkpoint must give.
    pub fn goldens(&self, name: &str) -> Goldens {
        Goldens::read(&self.folder.join(&self.case(name).values))
    }

    /// Whether a checkpoint has an MTP head.
    pub fn has_head(&self, name: &str) -> bool {
        self.case(name).head
    }

    /// The raw checkpoint that a converted one was made from.
    pub fn raw(&self, name: &str) -> PathBuf {
        let raw = self.case(name).raw.as_ref();
        self.folder.join(raw.unwrap_or_else(|| panic!("{name} was not converted from a raw checkpoint")))
    }

    fn case(&self, name: &str) -> &Case {
        self.cases.get(name).unwrap_or_else(|| panic!("cases.py makes no {name}"))
    }
}

/// Writes one of the random checkpoints of `make_checkpoint.py`, without a tokenizer.
pub fn write_random(preset: &str, out: &Path) {
    write_preset(preset, out, &["--no-tokenizer"]);
}

/// Writes a preset of `make_checkpoint.py` with these options.
pub fn write_preset(preset: &str, out: &Path, options: &[&str]) {
    let out = out.display().to_string();
    let options = options.iter().map(|option| option.to_string());
    run("make_checkpoint.py", [preset.to_owned(), out].into_iter().chain(options));
}

/// Writes a random checkpoint with a vision tower that answers to its input.
pub fn write_vision(preset: &str, out: &Path, options: &[&str]) {
    let out = out.display().to_string();
    let options = options.iter().map(|option| option.to_string());
    run("make_vision_checkpoint.py", [preset.to_owned(), out].into_iter().chain(options));
}

/// Logits of mlx-lm for `ids`, f32 `[T, V]`, by the names given to model folders.
pub fn mlx_lm_logits(ids: &[u32], models: &[(String, PathBuf)]) -> HashMap<String, Array> {
    let dir = tempfile::tempdir().unwrap();
    let (list, out) = (dir.path().join("ids.json"), dir.path().join("logits.safetensors"));
    fs::write(&list, serde_json::to_vec(ids).unwrap()).unwrap();
    let models = models.iter().map(|(name, folder)| format!("{name}={}", folder.display()));
    let arguments = [list.display().to_string(), out.display().to_string()].into_iter().chain(models);
    run("mlx_lm_logits.py", arguments);
    let logits = mlx::load_safetensors(&out).unwrap();
    // The file goes when this returns.
    mlx::eval(logits.values()).unwrap();
    logits
}

/// The Python with mlx-lm that the set-up prepares.
fn reference_python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in a checkout");
    let python = root.join("target/tools/bin/reference-python");
    assert!(python.is_file(), "{} is missing: run `cargo xtask setup`", python.display());
    python
}

/// Where cargo lets tests leave files.
fn temporary() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.ancestors().nth(3).expect("tests lie three folders below cargo's target folder").join("tmp")
}

/// Fills a folder beside the final one, and renames it when it is whole. Removes what older scripts made.
fn make(group: &str, parent: &Path, folder: &Path) {
    for entry in fs::read_dir(parent).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        }
    }
    let partial = parent.join("partial");
    run("cases.py", [group.to_owned(), partial.display().to_string()]);
    fs::rename(partial, folder).unwrap();
}

/// What one of the scripts, which must succeed, writes to the standard output when it is given this on its input.
pub fn ask(script: &str, question: &str) -> String {
    let mut command = command(script);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{script}: {error}"));
    // A script that ends early says why.
    let _ = child.stdin.take().expect("it is piped").write_all(question.as_bytes());
    answer(script, child.wait_with_output())
}

/// Runs one of the scripts, which must succeed.
fn run(script: &str, arguments: impl IntoIterator<Item = String>) {
    answer(script, command(script).args(arguments).stdin(Stdio::null()).output());
}

fn command(script: &str) -> Command {
    let mut command = Command::new(reference_python());
    command.arg("-B").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle").join(script));
    command
}

fn answer(script: &str, output: io::Result<Output>) -> String {
    let output = output.unwrap_or_else(|error| panic!("{script}: {error}"));
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
