//! Two Macs that know each other, on one machine: paired by people who compare six digits, one computes for the other.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Output, Stdio};

use foretoken_tests::fixtures::demo_model;
use foretoken_tests::programs::built;
use tempfile::TempDir;

const QUESTION: &str = "Tell me about the sea.";

/// A program that talks to a person at its standard error and input.
struct Talk {
    process: Child,
    said: BufReader<ChildStderr>,
    told: ChildStdin,
}

impl Talk {
    fn start<S: AsRef<OsStr>>(arguments: &[S]) -> Self {
        let mut process = Command::new(built("foretoken-engine"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(process.stderr.take().unwrap());
        let told = process.stdin.take().unwrap();
        Self { process, said, told }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line
    }

    /// The digits of its question.
    fn digits(&mut self) -> String {
        let mut question = String::new();
        while !question.ends_with("[y/N] ") {
            let mut byte = [0];
            self.said.read_exact(&mut byte).unwrap_or_else(|error| panic!("{error}: {question}"));
            question.push(byte[0].into());
        }
        let digits: String = question.chars().filter(char::is_ascii_digit).collect();
        digits.chars().rev().take(6).collect::<String>().chars().rev().collect()
    }

    fn answer(&mut self, answer: &str) {
        writeln!(self.told, "{answer}").unwrap();
    }

    fn end(mut self) -> (bool, String) {
        drop(self.told);
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        (self.process.wait().unwrap().success(), said)
    }
}

/// A Mac that lends itself. It goes with this.
struct Studio {
    talk: Talk,
    address: String,
    _models: TempDir,
}

impl Studio {
    fn start(macs: &Path, models: Option<&Path>, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        if let Some(model) = models {
            symlink(model, folder.path().join("checkpoint")).unwrap();
        }
        let arguments = [
            &["worker", "--listen", "127.0.0.1:0", "--models", folder.path().to_str().unwrap()],
            &["--macs", macs.to_str().unwrap()][..],
            more,
        ];
        let mut talk = Talk::start(&arguments.concat());
        let line = talk.line();
        let address = line.split(" at ").nth(1).unwrap_or_else(|| panic!("{line}"));
        let address = address.split(". ").next().unwrap().to_owned();
        Self { talk, address, _models: folder }
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        self.talk.process.kill().unwrap();
        self.talk.process.wait().unwrap();
    }
}

fn engine<S: AsRef<OsStr>>(arguments: &[S]) -> Output {
    Command::new(built("foretoken-engine")).args(arguments).output().unwrap()
}

fn printed<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let output = engine(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let output = engine(arguments);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// Where two Macs keep what they know, once their owners have compared the digits.
struct Paired {
    folder: TempDir,
    /// What the lending one is called.
    name: String,
}

impl Paired {
    fn macs(&self, which: &str) -> PathBuf {
        self.folder.path().join(which)
    }

    /// Pairs a Mac that is open for it. `answers`: what the two people say.
    fn attempt(folder: TempDir, answers: [&str; 2]) -> (Self, bool) {
        let mut paired = Self { folder, name: String::new() };
        let [studio, laptop] = ["studio", "laptop"].map(|which| paired.macs(which));
        let mut studio = Studio::start(&studio, None, &["--pair"]);
        studio.talk.line();
        let macs = laptop.to_str().unwrap();
        let mut laptop = Talk::start(&["peers", "--macs", macs, "pair", &studio.address]);
        assert_eq!(studio.talk.digits(), laptop.digits());
        studio.talk.answer(answers[0]);
        laptop.answer(answers[1]);
        let (done, said) = laptop.end();
        if done {
            assert!(said.contains("could reconstruct the texts"), "{said}");
            assert!(studio.talk.line().starts_with("Paired with "));
        }
        let list = printed(&["peers", "--macs", macs, "list"]);
        assert_eq!(list.lines().count(), usize::from(done), "{list}");
        paired.name = list.split(": lends itself").next().unwrap_or_default().to_owned();
        (paired, done)
    }

    fn new() -> Self {
        let (paired, done) = Self::attempt(tempfile::tempdir().unwrap(), ["y", "y"]);
        assert!(done);
        paired
    }

    /// The lending Mac, started again; the other one knows where. `model`: what it has under the demo model's name.
    fn studio(&self, model: Option<&Path>, more: &[&str]) -> Studio {
        let studio = Studio::start(&self.macs("studio"), model, more);
        let book = self.macs("laptop").join("macs.json");
        let mut kept: serde_json::Value = serde_json::from_slice(&fs::read(&book).unwrap()).unwrap();
        kept["addresses"].as_object_mut().unwrap().values_mut().for_each(|address| {
            *address = studio.address.clone().into();
        });
        fs::write(book, kept.to_string()).unwrap();
        studio
    }

    /// What has a model of the first Mac computed by the other one too. `layers`: how many each gets.
    fn over(&self, macs: &Path, layers: &[&str]) -> Vec<String> {
        let over = ["--hosts", &self.name, "--macs", macs.to_str().unwrap()];
        let all = asked(&demo_model(), 40).into_iter();
        all.chain(over.iter().chain(layers).map(|word| (*word).to_owned())).collect()
    }
}

/// What has a reply written.
fn asked(model: &Path, tokens: u32) -> Vec<String> {
    let tokens = tokens.to_string();
    let words =
        ["generate", "--model", model.to_str().unwrap(), "--prompt", QUESTION, "--max-tokens", &tokens];
    let sampling = ["--temperature", "0.7", "--seed", "5"];
    words.into_iter().chain(sampling).map(str::to_owned).collect()
}

const TWO_PARTS: [&str; 2] = ["--layers", "5,3"];

#[test]
fn a_paired_mac_computes_for_another_and_the_text_is_the_same() {
    let paired = Paired::new();
    let macs = paired.macs("laptop");
    let studio = paired.studio(Some(&demo_model()), &[]);
    let demo = demo_model();
    let expected = printed(&asked(&demo, 40));
    assert_eq!(printed(&paired.over(&macs, &TWO_PARTS)), expected);
    // As many layers as is best.
    assert_eq!(printed(&paired.over(&macs, &[])), expected);
    let peers = |words: &[&str]| {
        let all = ["peers", "--macs", macs.to_str().unwrap()];
        printed(&[&all[..], words].concat())
    };
    let told = peers(&["test", &paired.name, "--megabytes", "4"]);
    assert!(told.contains("checkpoint (") && told.contains("There and back in"), "{told}");
    let to = paired.folder.path().join("copied");
    peers(&["copy", &paired.name, "checkpoint", "--to", to.to_str().unwrap()]);
    for file in fs::read_dir(demo_model()).unwrap().map(Result::unwrap).filter(|file| file.path().is_file()) {
        let copied = to.join("checkpoint").join(file.file_name());
        assert!(fs::read(&copied).unwrap() == fs::read(file.path()).unwrap(), "{}", copied.display());
    }
    // What a step takes there, as it was calculated and as it is measured, and what goes over the ring, which is
    // counted.
    let short =
        ["--decoding-only", "--runs", "1", "--gen-tokens", "12", "--prompt-tokens", "20", "--texts", "prose"];
    let measured = ["bench", "--json", "--depths", "0,1", "--hosts", &paired.name, "--in-flight", "2"];
    let model = ["--model", demo.to_str().unwrap(), "--macs", macs.to_str().unwrap()];
    let report = printed(&[&measured[..], &TWO_PARTS, &short, &model].concat());
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let ring = &report["ring"];
    assert_eq!((&ring["macs"][0]["layers"], &ring["macs"][1]["layers"]), (&5.into(), &3.into()), "{ring}");
    assert_eq!(ring["macs"][1]["name"], paired.name.as_str());
    // A header, how everybody fared, and a hidden state; a frame now and then that rows are forgotten with.
    let messages = ring["messages_per_step"].as_f64().unwrap();
    assert!((3.0..3.5).contains(&messages), "{ring}");
    let positive = |value: &serde_json::Value| value.as_f64().is_some_and(|value| value > 0.0);
    assert!(positive(&ring["step_ms"]) && positive(&ring["calculated"]["step_ms"]), "{ring}");
    assert_eq!(ring["calculated"]["bytes_per_second"].as_array().map(Vec::len), Some(2));
    // A private key is its owner's alone.
    let key = fs::metadata(macs.join("key.pem")).unwrap().permissions();
    assert_eq!(key.mode() & 0o777, 0o600);
    // One that goes away is named.
    let mut long = paired.over(&macs, &[&TWO_PARTS[..], &["--json"]].concat());
    long.iter_mut().filter(|word| *word == "40").for_each(|word| *word = "4000".into());
    let mut talk = Talk::start(&long);
    let mut words = BufReader::new(talk.process.stdout.take().unwrap());
    let mut line = String::new();
    words.read_line(&mut line).unwrap();
    assert!(line.contains("token"), "{line}");
    drop(studio);
    words.read_to_string(&mut line).unwrap();
    let (done, said) = talk.end();
    assert!(!done && said.contains(&format!("{} has ended", paired.name)), "{said}");
    // Whoever is forgotten is not asked.
    peers(&["forget", &paired.name]);
    let unknown = refused(&paired.over(&macs, &[]));
    assert!(unknown.contains("No paired Mac that lends itself"), "{unknown}");
}

#[test]
fn a_mac_without_the_model_is_given_its_layers_alone() {
    let paired = Paired::new();
    let macs = paired.macs("laptop");
    let over = |layers: &[&str]| {
        let output = engine(&paired.over(&macs, layers));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).unwrap(), said.contains("gets its layers"))
    };
    let expected = printed(&asked(&demo_model(), 40));
    let studio = paired.studio(None, &["--keep", "1"]);
    assert_eq!(over(&TWO_PARTS), (expected.clone(), true));
    assert_eq!(over(&TWO_PARTS), (expected.clone(), false), "nothing is given twice");
    let kept = paired.macs("studio").join("layers");
    let kept = fs::read_dir(kept).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let names = || {
        let files =
            fs::read_dir(&kept[0]).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = files.filter(|name| name != "kept.json").collect();
        names.sort();
        names
    };
    let layer = |number| format!("layer-0000{number}.safetensors");
    let config = || "config.json".to_owned();
    assert_eq!((kept.len(), names()), (1, vec![config(), layer(5), layer(6), layer(7)]));
    // Only what is missing for another split.
    assert_eq!(over(&["--layers", "4,4"]), (expected.clone(), true));
    assert_eq!(names(), [config(), layer(4), layer(5), layer(6), layer(7)]);
    // As many layers as is best.
    assert_eq!(over(&[]).0, expected);
    // What is damaged there is named, and nothing is computed.
    let file = kept[0].join(layer(7));
    let mut bytes = fs::read(&file).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].iter_mut().for_each(|byte| *byte ^= 1);
    fs::write(&file, bytes).unwrap();
    let said = refused(&paired.over(&macs, &TWO_PARTS));
    assert!(said.contains("Layer 7 there is that of another model"), "{said}");
    drop(studio);
    // A Mac that has another model under the name gets the layers of this one.
    fs::remove_file(file).unwrap();
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("config.json"), "{}").unwrap();
    let _studio = paired.studio(Some(other.path()), &["--keep", "1"]);
    assert_eq!(over(&TWO_PARTS), (expected, true));
}

#[test]
fn who_is_not_paired_or_has_another_model_computes_nothing() {
    // One of the two people says no.
    let (paired, done) = Paired::attempt(tempfile::tempdir().unwrap(), ["n", "y"]);
    assert!(!done && paired.name.is_empty());
    let paired = Paired::new();
    let (demo, macs) = (demo_model(), paired.macs("laptop"));
    // Another model under the same name.
    let other = tempfile::tempdir().unwrap();
    for file in fs::read_dir(&demo).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, other.path().join(path.file_name().unwrap())).unwrap();
    }
    let config = other.path().join("config.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("1e-06", "1e-05")).unwrap();
    let studio = paired.studio(Some(other.path()), &[]);
    let said = refused(&paired.over(&macs, &TWO_PARTS));
    assert!(said.contains("keeps no layers of models") && said.contains("--keep"), "{said}");
    // A Mac that was never paired, whatever it claims to know.
    let stranger = paired.macs("stranger");
    printed(&["peers", "--macs", stranger.to_str().unwrap(), "list"]);
    fs::copy(macs.join("macs.json"), stranger.join("macs.json")).unwrap();
    let said = refused(&paired.over(&stranger, &TWO_PARTS));
    assert!(said.contains("does not know this one"), "{said}");
    drop(studio);
    let said = refused(&paired.over(&macs, &TWO_PARTS));
    assert!(said.contains("cannot be reached"), "{said}");
}
