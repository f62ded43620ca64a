//! Tests of the model library with files of its own and the real engine program, without an app around it: moving the
//! library, conversions, measurements, downloads, deletion, and the verdicts whether models fit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use foretoken_host::Model;
use foretoken_host::testing::{demo_model, engine_program, process_of};
use foretoken_models::{HubOptions, Library, LibraryError, Location, RepoId};
use foretoken_protocol::{
    BenchmarkPlan, ConversionChoice, EngineState, EvidenceText, Hold, JobId, JobKind, JobStage, KvPrecision,
    LibrarySnapshot, LocalDraftModel, LocalModel, LocalState, MachineName, ModelInfo, ModelOrigin, MtpState,
    OfferedSize, QualityOffer, RemoteFilter, RemoteModel, Sampling, TextChoice, TextKind, Weights,
};
use foretoken_test_hub::{Fault, Repo, Stage, TestHub, Trouble};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use super::jobs::Step;
use super::testing::{SHORT_MEASUREMENT, write_draft_model};
use super::{Dependencies, ModelLibrary, evidence};
use crate::benchmarks::History;
use crate::places::Places;
use crate::settings::SettingsFile;

const TIMEOUT: Duration = Duration::from_secs(120);

/// A library with its own files and the real engine, and without an app around it.
struct Running {
    library: Arc<ModelLibrary>,
    settings: Arc<SettingsFile>,
    moves: mpsc::UnboundedReceiver<(PathBuf, PathBuf)>,
    engine: watch::Sender<EngineState>,
    /// How many replies are being written: none.
    _replies: watch::Sender<usize>,
    folder: TempDir,
}

impl Running {
    fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = engine_program(folder.path());
        Self::again(folder, program)
    }

    fn again(folder: TempDir, program: PathBuf) -> Self {
        Self::with_hub(folder, program, HubOptions::from_env())
    }

    fn with_hub(folder: TempDir, program: PathBuf, hub: HubOptions) -> Self {
        let at = |name: &str| folder.path().join(name);
        let places = Places {
            api_token: at("config/api-token"),
            settings: at("config/settings.json"),
            chats: at("chats.sqlite"),
            log: at("foretoken.log"),
            location: Location::new(&at("config"), &at("data")),
            data: at("data"),
            cache: at("cache"),
            engine_state: at("engine"),
        };
        let settings = Arc::new(SettingsFile::open(places.settings.clone()).unwrap());
        let (engine, state) = watch::channel(EngineState::Starting);
        let replies = watch::Sender::new(0);
        let dependencies = Dependencies {
            engine_program: program.into(),
            built_in_model: demo_model(),
            hub,
            settings: Arc::clone(&settings),
            replies: replies.subscribe(),
            engine: state,
            benchmarks: Arc::new(History::open(
                at("data/benchmarks.jsonl"),
                MachineName { chip: "M4".into(), ram_bytes: 16 << 30 },
            )),
            measurement: SHORT_MEASUREMENT,
        };
        let (library, moves) = ModelLibrary::new(&places, dependencies);
        let library = Arc::new(library);
        library.start();
        Self { library, settings, moves, engine, _replies: replies, folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits until the library is as it should be.
    async fn wait(&self, what: &str, is_so: impl Fn(&LibrarySnapshot) -> bool) -> LibrarySnapshot {
        let mut told = self.library.watch();
        let reached = timeout(TIMEOUT, told.wait_for(|told| told.as_ref().is_some_and(&is_so))).await;
        match reached {
            Ok(told) => told.unwrap().clone().unwrap(),
            Err(_) => panic!("waited in vain until {what}: {:#?}", self.library.snapshot()),
        }
    }
}

fn copy_demo(to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(demo_model()).unwrap().flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// The draft models that did not come with the app.
fn got(told: &LibrarySnapshot) -> Vec<&LocalDraftModel> {
    told.draft_models.iter().filter(|draft| draft.origin != ModelOrigin::BuiltIn).collect()
}

fn lists(told: &LibrarySnapshot, path: &Path) -> bool {
    told.models.iter().any(|model| Path::new(&model.path) == path && model.state == LocalState::Ready)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_moves_with_its_models_and_what_is_known_of_them() {
    let mut running = Running::begin();
    let old = running.at("data/models");
    copy_demo(&old.join("org--Little"));
    let own = old.join("org--Little");
    running.library.current().await;
    running.wait("the model is listed", |told| lists(told, &own)).await;
    running
        .library
        .used(
            Model {
                folder: own.to_string_lossy().into(),
                kv_precision: KvPrecision::Full,
                draft_model: None,
                layers: None,
            },
            None,
        )
        .await;
    let listed = own.to_string_lossy().into_owned();
    running.settings.update(|settings| settings.add_model(listed)).written().await.unwrap();

    // Something else is on the disk already.
    let disk = running.at("disk");
    fs::create_dir(&disk).unwrap();
    fs::write(disk.join("letter.txt"), "Dear").unwrap();
    running.library.move_to(disk.clone()).await.unwrap();
    let new = disk.join("Foretoken models");
    let moved = new.join("org--Little");
    let told = running
        .wait("the library is moved", |told| {
            lists(told, &moved) && told.jobs.iter().any(|job| matches!(job.stage, JobStage::Done { .. }))
        })
        .await;
    assert_eq!(Path::new(&told.place.path), new);
    let model = told.models.iter().find(|model| model.origin == ModelOrigin::Library).unwrap();
    assert!(model.last_used.is_some(), "{model:?}");
    assert_eq!(running.settings.current().model_folders, [moved.to_string_lossy()]);
    assert_eq!(running.moves.recv().await.unwrap(), (old.clone(), new));
    assert!(!old.exists());
    assert_eq!(fs::read_to_string(disk.join("letter.txt")).unwrap(), "Dear");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_the_last_process_did_not_end_is_ended_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let location = Location::new(&at("config"), &at("data"));
    let library = location.open().unwrap();
    let (old, new) = (library.root().to_owned(), at("disk"));
    copy_demo(&old.join("org--Little"));
    let listed = old.join("org--Little").to_string_lossy().into_owned();
    let settings = SettingsFile::open(at("config/settings.json")).unwrap();
    settings.update(|settings| settings.add_model(listed)).written().await.unwrap();
    let cut_short = library.move_to(
        &new,
        |_, _| true,
        |moved| {
            location.choose(moved)?;
            Err(LibraryError::Offline { path: moved.root().to_owned() })
        },
    );
    cut_short.unwrap_err();
    assert!(old.join("org--Little").exists() && new.join("org--Little").exists());

    let program = engine_program(folder.path());
    let mut running = Running::again(folder, program);
    let moved = timeout(TIMEOUT, running.moves.recv()).await.unwrap().unwrap();
    assert_eq!(moved, (old.clone(), new.clone()));
    assert!(!old.exists());
    let model = new.join("org--Little");
    running.wait("the model is listed", |told| lists(told, &model)).await;
    assert_eq!(running.settings.current().model_folders, [model.to_string_lossy()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_somebody_else_is_converted_into_the_library_and_stays_as_it_is() {
    let running = Running::begin();
    let source = running.at("mine");
    copy_demo(&source);
    let folder = running.library.import(&source).await.unwrap();
    running.wait("the folder is listed", |told| lists(told, &source)).await;
    let choice = ConversionChoice { weights: Weights::Bits { bits: 8 }, keep_raw: false };
    let job = running.library.convert(folder.into(), &choice).await.unwrap();
    running.wait("it is measured", |told| told.jobs.iter().any(|job| job.stage == JobStage::Tuning)).await;
    running.library.cancel_job(job).await.unwrap();
    let made = running.at("data/models/mine-8bit");
    let told = running
        .wait("it is ready", |told| {
            lists(told, &made) && told.jobs.iter().any(|job| matches!(job.stage, JobStage::Done { .. }))
        })
        .await;
    assert!(source.join("model.safetensors").is_file(), "nothing outside the library is removed");
    let model = told.models.iter().find(|model| Path::new(&model.path) == made).unwrap();
    assert_eq!(model.origin, ModelOrigin::Library);
    assert!(model.tuning.is_none(), "the measurement was left out");
    what_a_comparison_found_is_shown_while_the_files_are_the_same(&running, &source, &made).await;

    let refused = running.library.convert(source.clone(), &choice).await.unwrap_err();
    assert_eq!(refused.code, "name_taken");
    running.library.delete(source.clone()).await.unwrap();
    running
        .wait("it is off the list", |told| !told.models.iter().any(|model| Path::new(&model.path) == source))
        .await;
    assert!(source.join("model.safetensors").is_file());
}

/// What was kept of a comparison of a model that was made of `source`, which is one of two of its shape.
async fn what_a_comparison_found_is_shown_while_the_files_are_the_same(
    running: &Running,
    source: &Path,
    made: &Path,
) {
    let original = |told: &LibrarySnapshot| model(told, made)?.original.as_deref().map(PathBuf::from);
    running
        .wait("the name tells, once both folders are read", |told| original(told).as_deref() == Some(source))
        .await;
    let figures = json!({ "mean_nll": 2.0, "mtp_acceptance": 0.5 });
    let found = json!({
        "tokens": 100, "kl": 0.03, "kl_error": null, "kl_p99": 0.3, "same_choice": 0.9, "texts": [0.03],
        "reference": figures, "model": figures,
    });
    let quality = json!({
        "evidence": found, "texts": { "source": { "kind": "built_in" } }, "modules": { "a": { "bits": 8 } },
    });
    let of = evidence::identity(&running.library.library().unwrap(), made, None);
    let kept = json!({ "of": of, "source": { "path": source }, "quality": quality });
    let place = running.library.place_of(made).unwrap().evidence;
    fs::write(&place, kept.to_string()).unwrap();
    let kl = |told: &LibrarySnapshot| model(told, made).and_then(|model| Some(model.evidence.as_ref()?.kl));
    running.library.request_rescan();
    running.wait("what was found is shown", |told| kl(told) == Some(0.03)).await;
    let is_weights = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "safetensors");
    let weights = fs::read_dir(made).unwrap().map(|entry| entry.unwrap().path()).find(is_weights).unwrap();
    sleep(Duration::from_millis(5)).await;
    fs::write(&weights, fs::read(&weights).unwrap()).unwrap();
    running.library.request_rescan();
    running.wait("nothing is known of other files", |told| kl(told).is_none()).await;
}

/// A model in full precision that is measured in minutes, listed, and a text to measure it on.
async fn to_measure(running: &Running) -> (PathBuf, PathBuf) {
    let (source, text) = (running.at("mine"), running.at("notes.md"));
    copy_demo(&source);
    let note = |at: usize| format!("{at}: the owl number {at} saw {} mice under the moon.\n\n", at * at % 97);
    fs::write(&text, (0..240).map(note).collect::<String>()).unwrap();
    running.library.import(&source).await.unwrap();
    running.wait("the folder is listed", |told| lists(told, &source)).await;
    (source, text)
}

fn is_probed(told: &LibrarySnapshot) -> bool {
    told.jobs.iter().any(|job| job.stage == JobStage::Probing)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_measured_of_a_model_goes_on_after_a_restart_and_its_offer_is_kept() {
    let running = Running::begin();
    let program = running.at("foretoken-engine");
    let (source, text) = to_measure(&running).await;
    let chosen = |bytes| ConversionChoice { weights: Weights::Chosen { bytes }, keep_raw: true };
    let refused = running.library.convert(source.clone(), &chosen(1000)).await.unwrap_err();
    assert_eq!(refused.code, "not_offered");
    running.library.probe(source.clone(), Some(text.clone())).await.unwrap();
    let told = running.wait("it is measured", is_probed).await;
    assert_eq!((told.jobs[0].kind, told.jobs[0].repo.as_ref()), (JobKind::Probe, None));
    assert_eq!(told.jobs[0].model.as_deref().map(Path::new), Some(source.as_path()));
    timeout(TIMEOUT, running.library.close()).await.unwrap();
    assert_eq!(process_of(&program), None, "no process is left");

    let Running { folder, .. } = running;
    let running = Running::again(folder, program);
    let told = running.wait("it is measured again", is_probed).await;
    running.library.cancel_job(told.jobs[0].id).await.unwrap();
    running.wait("it is given up", |told| told.jobs.is_empty()).await;
    let measured = running.library.place_of(&source).unwrap().measured;
    assert!(!measured.exists(), "nothing is left of it");

    assert_eq!(running.library.offer(&source).await.unwrap(), None);
    let size = |bytes, bits_per_weight| OfferedSize { bytes, bits_per_weight, expected_kl: 0.5 };
    let (small, close) = (size(1000, 3.26), size(2000, 6.5));
    let offer = QualityOffer { points: vec![small, close], small, balanced: close, close };
    running.library.keep_offer(&source, Some(text.clone()), offer.clone()).await.unwrap();
    let kept = running.library.offer(&source).await.unwrap().unwrap();
    assert_eq!((Path::new(kept.text.as_ref().unwrap()), &kept.offer), (text.as_path(), &offer));
    running.library.probe(source.clone(), None).await.unwrap();
    let told = running.wait("it is measured on another text", is_probed).await;
    let gone = async {
        while running.library.offer(&source).await.unwrap().is_some() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TIMEOUT, gone).await.expect("what the offer rests on is gone, and so is it");
    running.library.cancel_job(told.jobs[0].id).await.unwrap();
    running.wait("it is given up", |told| told.jobs.is_empty()).await;
    running.library.keep_offer(&source, Some(text.clone()), kept.offer).await.unwrap();
    running.library.convert(source.clone(), &chosen(1000)).await.unwrap();
    let told = running.wait("a conversion is listed", |told| told.jobs.len() == 1).await;
    assert_eq!((told.jobs[0].name.as_str(), told.jobs[0].kind), ("mine-3.26bpw", JobKind::Conversion));
    let refused = running.library.convert(source, &chosen(1001)).await.unwrap_err();
    assert_eq!(refused.code, "not_offered");
}

/// From the measurement to the evidence, which takes minutes: with `FORETOKEN_CASES`.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_measured_once_and_converted_to_a_size_that_was_offered() {
    if std::env::var_os("FORETOKEN_CASES").is_none() {
        return;
    }
    let running = Running::begin();
    let (source, text) = to_measure(&running).await;
    running.library.probe(source.clone(), Some(text.clone())).await.unwrap();
    let is_done = |told: &LibrarySnapshot| {
        let ends = |stage: &JobStage| matches!(stage, JobStage::Done { .. } | JobStage::Failed { .. });
        told.jobs.iter().any(|job| job.kind == JobKind::Probe && ends(&job.stage))
    };
    while !is_done(&running.library.snapshot()) {
        sleep(Duration::from_secs(1)).await;
    }
    let kept = running.library.offer(&source).await.unwrap().unwrap();
    assert_eq!(kept.text.as_deref().map(Path::new), Some(text.as_path()));
    assert!(kept.offer.points.contains(&kept.offer.balanced), "{kept:?}");

    let size = kept.offer.balanced;
    let choice = ConversionChoice { weights: Weights::Chosen { bytes: size.bytes }, keep_raw: true };
    let job = running.library.convert(source.clone(), &choice).await.unwrap();
    loop {
        let told = running.library.snapshot();
        match stage(&told, job) {
            Some(JobStage::Probing) => panic!("it was measured before"),
            Some(JobStage::Tuning) => break,
            Some(JobStage::Failed { error }) => panic!("{error}"),
            _ => sleep(Duration::from_millis(200)).await,
        }
    }
    running.library.cancel_job(job).await.unwrap();
    let made = running.at(&format!("data/models/mine-{:.2}bpw", size.bits_per_weight));
    let is_proven = |told: &LibrarySnapshot| model(told, &made).is_some_and(|model| model.evidence.is_some());
    let told = running.wait("it is here", is_proven).await;
    let made = model(&told, &made).unwrap();
    assert_eq!(made.original.as_deref().map(Path::new), Some(source.as_path()));
    let evidence = made.evidence.as_ref().unwrap();
    assert_eq!((evidence.bytes, evidence.text), (Some(size.bytes), EvidenceText::File));
    assert!(evidence.kl > 0.0 && evidence.tokens > 100 && evidence.same_choice > 0.5, "{evidence:?}");
}

/// The stage of a job.
fn stage(told: &LibrarySnapshot, job: JobId) -> Option<&JobStage> {
    told.jobs.iter().find(|one| one.id == job).map(|one| &one.stage)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversion_deletes_its_source_like_a_person_would_and_never_one_in_use() {
    let running = Running::begin();
    let source = running.at("data/models/org--Raw");
    copy_demo(&source);
    running.library.current().await;
    running.wait("the model is listed", |told| lists(told, &source)).await;
    // While the engine loads something, nothing is measured, and each job stays where it is looked at.
    let loading =
        |path: &Path| EngineState::Loading { path: path.to_string_lossy().into_owned(), done: 1, total: 2 };
    let converted = async |bits: u8| {
        let choice = ConversionChoice { weights: Weights::Bits { bits }, keep_raw: false };
        let job = running.library.convert(source.clone(), &choice).await.unwrap();
        let held = |told: &LibrarySnapshot| stage(told, job) == Some(&JobStage::Held { by: Hold::Chat });
        let told = running.wait("it is converted", held).await;
        running.library.cancel_job(job).await.unwrap();
        told.jobs.into_iter().find(|one| one.id == job).unwrap().note
    };

    running.engine.send_replace(loading(&source));
    assert!(converted(8).await.unwrap().contains("kept"), "the person is told");
    assert!(source.join("config.json").is_file(), "what is loaded stays");

    running.engine.send_replace(loading(Path::new("/models/other")));
    let selected = Some(source.to_string_lossy().into_owned());
    running.settings.update(|settings| settings.selected_model = selected).written().await.unwrap();
    assert!(converted(4).await.is_some());
    assert!(source.join("config.json").is_file(), "what is selected stays");
    assert_eq!(running.library.delete(source.clone()).await.unwrap_err().code, "in_use");

    running.settings.update(|settings| settings.selected_model = None).written().await.unwrap();
    assert_eq!(converted(3).await, None);
    assert!(!source.exists());
    let gone = |told: &LibrarySnapshot| told.deleted.iter().any(|model| Path::new(&model.path) == source);
    running.wait("it is among the deleted", gone).await;

    // A process that ended right then finds the step as it was, and does it again.
    let name = "Raw-3bit".to_owned();
    let again = Step::Install { source: source.clone(), name, remove_source: true };
    let job = running.library.add_job("again".into(), again);
    running.wait("it goes on", |told| matches!(stage(told, job), Some(JobStage::Held { .. }))).await;
    assert!(running.at("data/models/Raw-3bit/config.json").is_file());

    running.library.restore(source.clone()).await.unwrap();
    assert!(source.join("config.json").is_file());
    running.wait("it is listed again", |told| lists(told, &source) && told.deleted.is_empty()).await;
}

/// While the engine loads something, nothing is measured.
fn loading() -> EngineState {
    EngineState::Loading { path: "/models/other".into(), done: 1, total: 2 }
}

/// Folders of the same name, and all are asked for at once.
#[tokio::test(flavor = "multi_thread")]
async fn of_conversions_that_would_make_one_model_only_one_is_begun() {
    let running = Running::begin();
    running.engine.send_replace(loading());
    let sources: Vec<PathBuf> = (0..4).map(|number| running.at(&format!("{number}/mine"))).collect();
    for source in &sources {
        copy_demo(source);
        running.library.import(source).await.unwrap();
    }
    running.wait("all are listed", |told| sources.iter().all(|source| lists(told, source))).await;
    let together = Arc::new(Barrier::new(sources.len()));
    let choice = ConversionChoice { weights: Weights::Bits { bits: 8 }, keep_raw: true };
    let ask = |source: &PathBuf| {
        let (library, together, choice) =
            (Arc::clone(&running.library), Arc::clone(&together), choice.clone());
        let (source, runtime) = (source.clone(), Handle::current());
        std::thread::spawn(move || {
            together.wait();
            runtime.block_on(library.convert(source, &choice))
        })
    };
    let asked: Vec<_> = sources.iter().map(ask).collect();
    let answers: Vec<_> = asked.into_iter().map(|thread| thread.join().unwrap()).collect();
    let begun: Vec<JobId> = answers.iter().flatten().copied().collect();
    assert_eq!(begun.len(), 1, "{answers:?}");
    assert!(answers.iter().flat_map(|answer| answer.as_ref().err()).all(|error| error.code == "name_taken"));

    let held = JobStage::Held { by: Hold::Chat };
    let told = running.wait("it is converted", |told| stage(told, begun[0]) == Some(&held)).await;
    assert_eq!(told.jobs.len(), 1);
    let made = running.at("data/models/mine-8bit/model.safetensors");
    let written = || fs::metadata(&made).unwrap().modified().unwrap();
    let before = written();
    for source in sources {
        let refused = running.library.convert(source, &choice).await.unwrap_err();
        assert_eq!(refused.code, "name_taken");
    }
    assert_eq!(written(), before);
}

/// The engine was ended between its last two steps: the folder has its name, and not yet its config.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversion_that_ended_before_its_config_is_gone_on_with() {
    let running = Running::begin();
    running.engine.send_replace(loading());
    let source = running.at("mine");
    copy_demo(&source);
    running.library.import(&source).await.unwrap();
    running.wait("the folder is listed", |told| lists(told, &source)).await;
    let library = Library::open(&running.at("data/models")).unwrap();
    let half = library.conversion_folder("mine-8bit", None).unwrap();
    fs::create_dir(&half).unwrap();
    fs::write(half.join("config.json.next"), "{}").unwrap();
    let journal = "{\"tool\":\"foretoken-engine\",\"file\":\"conversion journal\"}\n";
    fs::write(half.join("journal.jsonl"), journal).unwrap();

    let choice = ConversionChoice { weights: Weights::Bits { bits: 8 }, keep_raw: true };
    let job = running.library.convert(source, &choice).await.unwrap();
    let held = JobStage::Held { by: Hold::Chat };
    running.wait("it is converted", |told| stage(told, job) == Some(&held)).await;
    let made = running.at("data/models/mine-8bit");
    for file in ["config.json", "model.safetensors"] {
        assert!(made.join(file).is_file(), "{file}");
    }
    running.wait("it can be used", |told| lists(told, &made)).await;
    assert!(!half.exists());
}

/// The person converts what they have of a repository, while another copy of it is fetched that was to be converted
/// alike.
#[tokio::test(flavor = "multi_thread")]
async fn a_download_does_not_become_what_another_conversion_makes() {
    let running = Running::begin();
    running.engine.send_replace(loading());
    running.wait("the library is online", |told| told.place.online).await;
    let library = Library::open(&running.at("data/models")).unwrap();
    let repo: RepoId = "org/Raw".parse().unwrap();
    let folder = library.folder(&repo);
    copy_demo(&folder);
    let maker = Step::Convert {
        source: running.at("mine"),
        name: "org--Raw-8bit".into(),
        weights: Weights::Bits { bits: 8 },
        remove_source: false,
    };
    let (first, job) = {
        let jobs = &mut running.library.lock().jobs;
        let conversion = ConversionChoice { weights: Weights::Bits { bits: 8 }, keep_raw: false };
        let download = Step::Download { repo: repo.clone(), revision: "main".into(), conversion };
        let ids = (jobs.add("mine".into(), maker.clone()), jobs.add("Raw".into(), download));
        jobs.set_stage(ids.0, JobStage::Paused);
        jobs.set_stage(ids.1, JobStage::Paused);
        ids
    };
    running.library.downloaded(job, &library, &repo).await;
    let step = |job| running.library.lock().jobs.get(job).unwrap().step.clone();
    assert_eq!(step(job), Step::Tune { path: folder.clone(), alone: false });
    assert_eq!(step(first), maker);
    let note = |told: &LibrarySnapshot| told.jobs.iter().find(|one| one.id == job)?.note.clone();
    let told = running.wait("the person is told", |told| note(told).is_some()).await;
    assert!(note(&told).unwrap().contains("not converted"));
    assert!(folder.join("config.json").is_file(), "what was fetched stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_of_another_library_wait_for_it_and_paused_ones_begin_nowhere() {
    let running = Running::begin();
    running.wait("the library is online", |told| told.place.online).await;
    let job = {
        let mut state = running.library.lock();
        let (repo, revision) = ("org/paused".parse().unwrap(), "main".to_owned());
        let conversion = ConversionChoice { weights: Weights::Bits { bits: 4 }, keep_raw: false };
        let job = state.jobs.add("paused".into(), Step::Download { repo, revision, conversion });
        state.jobs.set_stage(job, JobStage::Paused);
        job
    };
    let queued = async || {
        loop {
            if let Some(queue) = &*running.library.queue.lock().await {
                return queue.items().borrow().len();
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let other = Library::create(&running.at("other")).unwrap();
    running.library.move_to(other.root().to_owned()).await.unwrap();
    let is_there = |told: &LibrarySnapshot| told.place.online && Path::new(&told.place.path) == other.root();
    let told = running.wait("the other library is there", is_there).await;
    assert_eq!(told.jobs, [], "its work is elsewhere");
    assert_eq!(queued().await, 0, "nothing begins in the other library");

    running.library.move_to(running.at("data/models")).await.unwrap();
    let is_back = |told: &LibrarySnapshot| stage(told, job) == Some(&JobStage::Paused);
    running.wait("it is listed again", is_back).await;
    assert_eq!(queued().await, 0, "it waits for the person");
    running.library.cancel_job(job).await.unwrap();
    running.wait("it is gone", |told| told.jobs.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_was_stopped_by_closing_goes_on_at_the_next_start() {
    let running = Running::begin();
    let program = running.at("foretoken-engine");
    running.wait("the demo model is listed", |told| lists(told, &demo_model())).await;
    running.library.tune(demo_model()).await.unwrap();
    running.wait("it is measured", |told| told.jobs.iter().any(|job| job.stage == JobStage::Tuning)).await;
    timeout(TIMEOUT, running.library.close()).await.unwrap();
    assert_eq!(process_of(&program), None, "no process is left");

    let Running { folder, .. } = running;
    let running = Running::again(folder, program);
    let told = running
        .wait("it is measured after all", |told| {
            told.jobs.iter().any(|job| matches!(job.stage, JobStage::Done { .. }))
        })
        .await;
    let model = told.models.iter().find(|model| model.origin == ModelOrigin::BuiltIn).unwrap();
    assert_eq!(model.tuning.as_ref().unwrap().tokens_per_second.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_the_page_shows_is_deleted_or_revealed() {
    let running = Running::begin();
    running.wait("the demo model is listed", |told| lists(told, &demo_model())).await;
    let code = |refused: Result<(), foretoken_protocol::ErrorReport>| refused.unwrap_err().code;
    let (draft, copy) = (demo_model().with_file_name("dflash"), running.at("data/models/org--Little"));
    for built_in in [demo_model(), draft.clone()] {
        assert_eq!(code(running.library.delete(built_in).await), "not_in_library");
    }
    assert_eq!(code(running.library.delete("/etc".into()).await), "unknown_model");
    assert_eq!(code(running.library.shown_folder("/etc").map(drop)), "unknown_model");
    assert_eq!(running.library.shown_folder(demo_model().to_str().unwrap()).unwrap(), demo_model());
    let own = Library::open(&running.at("data/models")).unwrap();
    assert!(running.library.lists(&demo_model()) && running.library.lists(&own.root().join("org--Little")));
    for elsewhere in [own.root().join(".."), own.root().join("a/b"), "/etc".into()] {
        assert!(!running.library.lists(&elsewhere), "{}", elsewhere.display());
    }
    assert_eq!(running.library.shown_folder(own.root().to_str().unwrap()).unwrap(), own.root());

    // What came with the app belongs together, before anybody has looked at it too, and to no copy.
    let draft = draft.to_string_lossy().into_owned();
    assert_eq!(running.library.current_draft_model_of(&demo_model()).await.as_ref(), Some(&draft));
    copy_demo(&copy);
    running.library.current().await;
    let paired = |told: &LibrarySnapshot| {
        let drafts_with = |path: &Path| model(told, path).map(|model| model.draft_model.clone());
        model(told, &copy).is_some_and(|model| model.fit.is_some())
            && drafts_with(&copy) == Some(None)
            && drafts_with(&demo_model()) == Some(Some(draft.clone()))
    };
    let told = running.wait("they are told as a pair", paired).await;
    assert_eq!(told.draft_models[0].made_for.as_deref(), Some("Demo model"));
}

/// A model that takes so much memory answers in the chat.
fn ready(weight_bytes: u64) -> EngineState {
    EngineState::Ready {
        model: Box::new(ModelInfo {
            path: "/models/loaded".into(),
            name: "loaded".into(),
            architecture: "qwen3_5".into(),
            parameters: 1,
            format: "bfloat16".into(),
            weight_bytes,
            mtp: MtpState::Absent,
            context_length: 4096,
            tools: false,
            json_calls: false,
            pictures: Box::default(),
            fingerprint: String::new(),
            thinking: false,
            thinking_effort: false,
            opens_thinking: false,
            defaults: Sampling::default(),
            kv_precision: KvPrecision::Full,
            draft_model: None,
            draft_model_refused: None,
            macs: Vec::new(),
            notes: Vec::new(),
        }),
        device: "cpu".into(),
        in_memory: true,
    }
}

fn held(told: &LibrarySnapshot) -> Option<Hold> {
    told.jobs.iter().find_map(|job| match job.stage {
        JobStage::Held { by } if job.kind == JobKind::Measurement => Some(by),
        _ => None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_measurement_waits_for_the_chat_and_for_memory_and_then_goes_on_by_itself() {
    let running = Running::begin();
    running.wait("the demo model is listed", |told| lists(told, &demo_model())).await;
    let loading = EngineState::Loading { path: "/models/loaded".into(), done: 1, total: 2 };
    running.engine.send_replace(loading.clone());
    let job = running.library.tune(demo_model()).await.unwrap();
    running.wait("it waits for the chat", |told| held(told) == Some(Hold::Chat)).await;

    let all = running.library.machine.ram_bytes;
    running.engine.send_replace(ready(all));
    let told =
        running.wait("it waits for memory", |told| matches!(held(told), Some(Hold::Memory { .. }))).await;
    let Some(Hold::Memory { need_bytes, available_bytes }) = held(&told) else { unreachable!() };
    assert!(need_bytes > all && available_bytes < all, "{need_bytes} of {available_bytes}");
    assert_eq!(running.library.tune(demo_model()).await.unwrap(), job, "it is in the queue already");

    running.engine.send_replace(ready(0));
    let measures = |told: &LibrarySnapshot| told.jobs.iter().any(|job| job.stage == JobStage::Tuning);
    running.wait("it begins", measures).await;
    running.engine.send_replace(loading);
    running.wait("the chat goes first", |told| held(told) == Some(Hold::Chat)).await;
    running.library.pause_job(job).await.unwrap();
    running.engine.send_replace(ready(0));
    running.wait("it is paused", |told| told.jobs.iter().any(|job| job.stage == JobStage::Paused)).await;
    assert_eq!(running.library.tune(demo_model()).await.unwrap(), job, "asking again lets it go on");
    running
        .wait("it is measured", |told| {
            told.models.iter().any(|model| model.origin == ModelOrigin::BuiltIn && model.tuning.is_some())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_benchmark_waits_like_a_measurement_and_ends_in_the_history() {
    let running = Running::begin();
    running.wait("the demo model is listed", |told| lists(told, &demo_model())).await;
    let all = running.library.machine.ram_bytes;
    running.engine.send_replace(ready(all));
    let texts = TextChoice::Code;
    // What it measures with drafts is tested where it is measured.
    let plan = BenchmarkPlan { texts, drafts: false, prompt: true, thorough: false };
    running.settings.update(|settings| settings.kv_precision = KvPrecision::Eight).written().await.unwrap();
    let job = running.library.benchmark(demo_model(), plan).await.unwrap();
    let waits =
        |told: &LibrarySnapshot| matches!(stage(told, job), Some(JobStage::Held { by: Hold::Memory { .. } }));
    running.wait("it waits for memory", waits).await;
    assert_eq!(
        running.library.benchmark(demo_model(), plan).await.unwrap(),
        job,
        "it is in the queue already"
    );
    running.engine.send_replace(ready(0));
    let counted = |told: &LibrarySnapshot| told.jobs.iter().any(|job| job.total == 7 && job.done > 0);
    running.wait("its parts are counted", counted).await;
    let done = |told: &LibrarySnapshot| matches!(stage(told, job), Some(JobStage::Done { .. }));
    let told = running.wait("it is done", done).await;
    assert_eq!(told.jobs[0].kind, JobKind::Benchmark);
    let kept = running.library.benchmarks.all().unwrap().benchmarks;
    assert_eq!((kept.len(), kept[0].model.as_str(), kept[0].texts.len()), (1, "Demo model", 1));
    assert_eq!((kept[0].texts[0].kind, kept[0].texts[0].depths.len()), (TextKind::Code, 1));
    assert_eq!((kept[0].plan, kept[0].prompt_tokens, kept[0].kv_precision), (plan, 512, KvPrecision::Eight));

    let nowhere = running.library.benchmark(running.at("nothing"), plan).await;
    assert_eq!(nowhere.unwrap_err().code, "unknown_model");
    let drafting = BenchmarkPlan { drafts: true, ..plan };
    let job = running.library.benchmark(demo_model(), drafting).await.unwrap();
    running.wait("it begins", |told| told.jobs.iter().any(|one| one.stage == JobStage::Tuning)).await;
    running.library.cancel_job(job).await.unwrap();
    running.wait("it is gone", |told| told.jobs.iter().all(|one| one.id != job)).await;
    assert_eq!(running.library.benchmarks.all().unwrap().benchmarks.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chosen_context_decides_every_verdict_and_is_remembered() {
    let running = Running::begin();
    let need = |model: &LocalModel| model.fit.as_ref().map(|fit| (fit.context, fit.need_bytes));
    let judged = |models: &[RemoteModel]| {
        let fits = models.iter().filter_map(|model| model.fit.as_ref());
        fits.map(|fit| (fit.context, fit.need_bytes)).collect::<Vec<_>>()
    };
    // A model that knows longer contexts than the demo model.
    let own = running.at("data/models/org--Long");
    copy_demo(&own);
    let config = own.join("config.json");
    let text = fs::read_to_string(&config).unwrap();
    let longer = text.replace("\"max_position_embeddings\": 4096", "\"max_position_embeddings\": 262144");
    assert_ne!(text, longer, "the demo model's context is where it was");
    fs::write(&config, longer).unwrap();
    running.library.current().await;
    let of = |told: &LibrarySnapshot| {
        told.models.iter().find(|model| Path::new(&model.path) == own).and_then(need)
    };
    let told = running.wait("it is judged", |told| of(told).is_some()).await;
    assert_eq!(told.context.chosen, 16_384);
    assert_eq!(of(&told).unwrap().0, 16_384);
    let before = judged(&running.library.suggestions(false).await.unwrap());

    running.library.set_context(131_072).await.unwrap();
    let longer = running.wait("it is judged anew", |told| told.context.chosen == 131_072).await;
    let (context, bytes) = of(&longer).unwrap();
    assert_eq!(context, 131_072);
    // Keys and values of the trunk's one layer and of the head, 512 bytes each, and what is computed in passing.
    assert!(bytes >= of(&told).unwrap().1 + 2 * 512 * (131_072 - 16_384));
    let after = judged(&running.library.suggestions(false).await.unwrap());
    assert!(before.iter().zip(&after).all(|(before, after)| after.1 > before.1 && after.0 == 131_072));
    assert_eq!(running.settings.current().fit_context, Some(131_072));
    assert_eq!(running.library.set_context(7).await.unwrap_err().code, "unknown_context");
}

/// Keys and values in 8 bits change the verdicts about what is here, and are told to the page.
#[tokio::test(flavor = "multi_thread")]
async fn verdicts_follow_how_keys_and_values_are_kept() {
    let running = Running::begin();
    let own = running.at("data/models/org--Little");
    copy_demo(&own);
    let need = |told: &LibrarySnapshot| {
        model(told, &own).and_then(|model| model.fit.as_ref()).map(|fit| fit.need_bytes)
    };
    running.library.current().await;
    let full = running.wait("it is judged", |told| need(told).is_some()).await;
    assert_eq!(full.kv_precision, KvPrecision::Full);
    running.settings.update(|settings| settings.kv_precision = KvPrecision::Eight).written().await.unwrap();
    running.library.refresh();
    let eight = running.wait("it is told", |told| told.kv_precision == KvPrecision::Eight).await;
    let facts = running.library.inspector.known(&own).unwrap().unwrap().model().unwrap();
    for (told, kv) in [(full, KvPrecision::Full), (eight, KvPrecision::Eight)] {
        assert_eq!(need(&told), Some(facts.at(16_384, kv).bytes), "{kv:?}");
    }
    assert_ne!(facts.at(16_384, KvPrecision::Full), facts.at(16_384, KvPrecision::Eight));
}

/// A download would wait for as long as the Hub asks.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_looks_at_a_busy_hub_is_told_so_within_seconds() {
    let hub = TestHub::start([Repo::folder("a/Whole", &demo_model()).unwrap()]).await.unwrap();
    hub.fail(Fault::new(Stage::Api, Trouble::Status(429, Some(600))));
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let options = HubOptions { endpoint: hub.endpoint().into(), ..HubOptions::default() };
    let running = Running::with_hub(folder, program, options);
    let soon = Duration::from_secs(20);
    let any = RemoteFilter { text: "whole".into(), ..RemoteFilter::default() };
    let searched = timeout(soon, running.library.search(&any, true)).await;
    let looked = timeout(soon, running.library.model_card("a/Whole")).await;
    for busy in [searched.map(Result::err), looked.map(Result::err)] {
        let busy = busy.expect("nobody waits for the Hub").unwrap();
        assert_eq!(busy.code, "hub_busy");
        assert!(busy.message.contains("600 seconds"), "{busy}");
    }
}

fn model<'a>(told: &'a LibrarySnapshot, path: &Path) -> Option<&'a LocalModel> {
    told.models.iter().find(|model| Path::new(&model.path) == path)
}

/// From the offer beside its model to its deletion.
#[tokio::test(flavor = "multi_thread")]
async fn a_draft_model_is_fetched_for_its_model_counted_checked_again_and_deleted() {
    const REPO: &str = "z-lab/Qwen3.5-4B-DFlash";
    let folder = tempfile::tempdir().unwrap();
    let published = folder.path().join("published");
    write_draft_model(&published, &[1, 3]);
    let hub = TestHub::start([Repo::folder(REPO, &published).unwrap()]).await.unwrap();
    let program = engine_program(folder.path());
    let options = HubOptions { endpoint: hub.endpoint().into(), ..HubOptions::default() };
    let running = Running::with_hub(folder, program, options);
    let (own, draft) =
        (running.at("data/models/Qwen--Qwen3.5-4B-4bit"), running.at("data/models/z-lab--Qwen3.5-4B-DFlash"));
    copy_demo(&own);
    // A conversion keeps the repository that it was made of.
    let source = json!({"endpoint": hub.endpoint(), "repo": "Qwen/Qwen3.5-4B", "commit": "0".repeat(40)});
    let record = json!({"source": source, "added_at": 1, "last_used_at": null, "files": {}});
    fs::write(own.join("foretoken-library.json"), record.to_string()).unwrap();
    running.library.current().await;
    let need = |told: &LibrarySnapshot| model(told, &own).unwrap().fit.as_ref().unwrap().need_bytes;
    let is_judged = |told: &LibrarySnapshot| model(told, &own).is_some_and(|model| model.fit.is_some());
    let before = running.wait("the model is judged", is_judged).await;
    let offer = model(&before, &own).unwrap().draft_model_offer.clone().unwrap();
    assert_eq!((offer.repo.as_str(), offer.download_bytes), (REPO, Some(1_070_000_000)));

    let as_published = ConversionChoice { weights: Weights::Published, keep_raw: true };
    let job = running.library.download(REPO, as_published).await.unwrap();
    let draft_text = draft.to_string_lossy().into_owned();
    let belongs = |told: &LibrarySnapshot| {
        model(told, &own).is_some_and(|model| model.draft_model.as_ref() == Some(&draft_text))
    };
    let told = running
        .wait("it is here", |told| belongs(told) && matches!(stage(told, job), Some(JobStage::Done { .. })))
        .await;
    assert_eq!(model(&told, &own).unwrap().draft_model_offer, None);
    assert!(model(&told, &draft).is_none(), "nobody can chat with it");
    let [here] = got(&told)[..] else { panic!("{:?}", told.draft_models) };
    assert_eq!((&here.path, here.most_guesses), (&draft_text, Some(15)));
    assert_eq!(here.made_for.as_deref(), Some("Qwen3.5-4B"));
    assert_eq!(here.targets, [own.to_string_lossy()]);
    // Two taps of 192, seven square matrices, four norms of the width and two of a head, two bytes each.
    let weights = 2 * (192 * 384 + 7 * 192 * 192 + 4 * 192 + 2 * 32);
    assert_eq!(need(&told), need(&before) + weights);
    assert_eq!(running.library.current_draft_model_of(&own).await, Some(draft_text.clone()));

    // Converted again, of something else.
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/tiny-dense-q4f32");
    for file in ["config.json", "model.safetensors"] {
        fs::copy(other.join(file), own.join(file)).unwrap();
    }
    assert_eq!(running.library.current_draft_model_of(&own).await, None, "it is asked before it is loaded");
    running.library.current().await;
    let told = running.wait("it is checked again", |told| is_judged(told) && !belongs(told)).await;
    assert_eq!(got(&told)[0].targets, [demo_model().to_string_lossy()], "the only one that it fits");
    assert_eq!(model(&told, &own).unwrap().draft_model_offer, None, "it is here");
    copy_demo(&own);
    running.library.current().await;
    running.wait("it belongs again", belongs).await;

    running.library.delete(draft.clone()).await.unwrap();
    let gone = |told: &LibrarySnapshot| got(told).is_empty() && !belongs(told);
    let told = running.wait("it is gone", gone).await;
    assert!(told.deleted.iter().any(|model| model.path == draft_text));
    assert!(model(&told, &own).unwrap().draft_model_offer.is_some());
    running.library.restore(draft).await.unwrap();
    running.wait("it is back", belongs).await;
}
