//! The power fails: what was written but not forced to the disk is lost.

mod common;

use std::fs::{self, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use common::*;
use foretoken_models::Library;
use foretoken_test_hub::{Fault, Stage, TestHub, Trouble};

const MODEL: &str = "org/model";
/// A file system writes its own blocks, whatever a program wrote of them.
const BLOCK: u64 = 4096;

/// A Hub that sends slowly enough for the power to fail on the way.
async fn slow_hub(files: &Files) -> TestHub {
    let hub = TestHub::start([repo(MODEL, files)]).await.unwrap();
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(600_000)));
    hub
}

/// Ends a download at a random moment after its journal says that something has arrived.
async fn end_somewhere(mut child: Child, library: &Library, random: &mut fastrand::Rng) {
    let begun = Instant::now();
    while states(library).iter().all(|state| state.done.is_empty()) && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing arrives");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(random.u64(0..600))).await;
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What the journal says of a file.
struct State {
    path: PathBuf,
    done: Vec<Range<u64>>,
}

fn states(library: &Library) -> Vec<State> {
    let folder = downloads(library).join("org--model");
    let Ok(journal) = fs::read(folder.join("journal.json")) else { return Vec::new() };
    let journal: serde_json::Value = serde_json::from_slice(&journal).unwrap();
    let state = |state: &serde_json::Value| State {
        path: folder.join("files").join(state["path"].as_str().unwrap()),
        done: serde_json::from_value::<Vec<(u64, u64)>>(state["done"].clone())
            .unwrap()
            .into_iter()
            .map(|(start, end)| start..end)
            .collect(),
    };
    journal["files"].as_array().unwrap().iter().map(state).collect()
}

/// Makes of a file what a disk may make of it: all that the journal does not vouch for is old, new, or nothing.
fn lose(state: &State, random: &mut fastrand::Rng) {
    let Ok(length) = fs::metadata(&state.path).map(|found| found.len()) else { return };
    let end = state.done.last().map_or(0, |last| last.end);
    if end == 0 && random.bool() {
        return fs::remove_file(&state.path).unwrap();
    }
    let file = OpenOptions::new().write(true).open(&state.path).unwrap();
    for start in (0..length).step_by(BLOCK as usize) {
        let block = start..length.min(start + BLOCK);
        let vouched = |byte: &u64| state.done.iter().any(|range| range.contains(byte));
        let noise = random.bool();
        if random.bool() {
            continue;
        }
        // Blocks at the edge of what is vouched for are lost in part.
        let lost: Vec<u64> = block.filter(|byte| !vouched(byte)).collect();
        for part in lost.chunk_by(|a, b| a + 1 == *b) {
            let mut bytes = vec![0; part.len()];
            if noise {
                random.fill(&mut bytes);
            }
            file.write_all_at(&bytes, part[0]).unwrap();
        }
    }
    if random.bool() {
        file.set_len(random.u64(end..=length)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_journal_does_not_vouch_for_may_be_lost() {
    let mut random = random();
    let files = model(3, 2_000_000);
    let hub = slow_hub(&files).await;
    for _ in 0..6 {
        let test = test_library();
        for _ in 0..3 {
            end_somewhere(pull_apart(&hub, &test.library), &test.library, &mut random).await;
            states(&test.library).iter().for_each(|state| lose(state, &mut random));
            let journal = downloads(&test.library).join("org--model/journal.json");
            if journal.exists() {
                fs::write(journal.with_extension("json.new"), "{\"version\":").unwrap();
            }
            assert_sound(&test.library, MODEL, &files);
        }
        hub.heal();
        assert!(pull_apart(&hub, &test.library).wait().unwrap().success());
        assert!(assert_sound(&test.library, MODEL, &files));
        let left: Vec<_> = read_folder(&test.library.root().join(".foretoken")).into_keys().collect();
        assert_eq!(left, ["library.json"], "something is left over");
        hub.fail(Fault::new(Stage::Content, Trouble::Slow(600_000)));
    }
}

/// A file system in a file. What the file holds is what a disk would hold.
struct Disk {
    folder: tempfile::TempDir,
    mounted: bool,
}

impl Disk {
    fn new() -> Option<Self> {
        let disk = Self { folder: tempfile::tempdir().unwrap(), mounted: false };
        let image = fs::File::create(disk.image()).unwrap();
        image.set_len(96 << 20).unwrap();
        fs::create_dir(disk.root()).unwrap();
        let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(disk.image()).output();
        let disk = made.is_ok_and(|made| made.status.success()).then_some(disk)?.mount();
        if disk.is_none() {
            let why = if cfg!(target_os = "linux") {
                "only root can mount a file system"
            } else {
                "it needs ext4, which writes nothing that it was not told to"
            };
            skipped("a real loss of power", why);
        }
        disk
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// The file system writes nothing of its own accord for minutes, only what it is told to.
    fn mount(mut self) -> Option<Self> {
        let mut command = Command::new("mount");
        command.args(["-t", "ext4", "-o", "loop,commit=300"]).arg(self.image()).arg(self.root());
        self.mounted = command.output().is_ok_and(|output| output.status.success());
        self.mounted.then_some(self)
    }

    /// The disk as it is found when the power comes back.
    fn after_power_loss(&self) -> Self {
        let found = Self { folder: tempfile::tempdir().unwrap(), mounted: false };
        fs::copy(self.image(), found.image()).unwrap();
        fs::create_dir(found.root()).unwrap();
        found.mount().expect("a file system survives a loss of power")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg(self.root()).status();
        }
    }
}

fn library_on(disk: &Disk) -> Library {
    Library::create(&disk.root().join("models")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_disk_holds_after_a_loss_of_power_is_sound() {
    let Some(mut disk) = Disk::new() else { return };
    let mut random = random();
    let files = model(3, 2_000_000);
    let hub = slow_hub(&files).await;
    library_on(&disk);
    sync(&disk.root());
    let mut kept = 0;
    for _ in 0..8 {
        let library = library_on(&disk);
        end_somewhere(pull_apart(&hub, &library), &library, &mut random).await;
        disk = disk.after_power_loss();
        let library = Library::open(&disk.root().join("models")).unwrap();
        if assert_sound(&library, MODEL, &files) {
            library.remove("org--model").unwrap();
            sync(&disk.root());
            continue;
        }
        kept += states(&library).iter().map(|state| state.done.len()).sum::<usize>();
    }
    assert!(kept > 0, "nothing was ever forced to the disk");
    hub.heal();
    let library = library_on(&disk);
    assert!(pull_apart(&hub, &library).wait().unwrap().success());
    disk = disk.after_power_loss();
    assert!(assert_sound(&library_on(&disk), MODEL, &files), "a model that was complete is lost");
}

fn sync(folder: &Path) {
    assert!(Command::new("sync").arg("--file-system").arg(folder).status().unwrap().success());
}
