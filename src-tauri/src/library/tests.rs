use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretoken_library::{Library, Location};
use foretoken_protocol::{ConversionChoice, EngineState, JobStage, LibrarySnapshot, LocalState, ModelOrigin};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::{ModelLibrary, Surroundings};
use crate::places::Places;
use crate::settings::SettingsFile;
use crate::testing::{demo_model, engine_program};

const PATIENCE: Duration = Duration::from_secs(120);

/// A library with its own files and the real engine, and without an app around it.
struct Running {
    library: Arc<ModelLibrary>,
    settings: Arc<SettingsFile>,
    moves: mpsc::UnboundedReceiver<(PathBuf, PathBuf)>,
    _engine: watch::Sender<EngineState>,
    folder: TempDir,
}

impl Running {
    fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = engine_program(folder.path());
        Self::again(folder, program)
    }

    fn again(folder: TempDir, program: PathBuf) -> Self {
        let at = |name: &str| folder.path().join(name);
        let places = Places {
            settings: at("config/settings.json"),
            chats: at("chats.sqlite"),
            log: at("foretoken.log"),
            location: Location::new(&at("config"), &at("data")),
            data: at("data"),
            cache: at("cache"),
            engine_state: at("engine"),
        };
        let settings = Arc::new(SettingsFile::open(places.settings.clone()));
        let (engine, state) = watch::channel(EngineState::Starting);
        let around = Surroundings {
            engine_program: program,
            built_in_model: demo_model(),
            settings: Arc::clone(&settings),
            replies: Arc::default(),
            engine: state,
        };
        let (library, moves) = ModelLibrary::new(&places, around);
        let library = Arc::new(library);
        library.start();
        Self { library, settings, moves, _engine: engine, folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits until the library is as it should be.
    async fn wait(&self, what: &str, is_so: impl Fn(&LibrarySnapshot) -> bool) -> LibrarySnapshot {
        let mut told = self.library.watch();
        let reached = timeout(PATIENCE, told.wait_for(|told| told.as_ref().is_some_and(&is_so))).await;
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
    running.library.used(own.clone()).await;
    let listed = own.to_string_lossy().into_owned();
    running.settings.update(|settings| settings.add_model(listed)).unwrap();

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
async fn a_folder_of_somebody_else_is_converted_into_the_library_and_stays_as_it_is() {
    let running = Running::begin();
    let source = running.at("mine");
    copy_demo(&source);
    let folder = running.library.import(source.to_str().unwrap()).await.unwrap();
    running.wait("the folder is listed", |told| lists(told, &source)).await;
    let choice = ConversionChoice { bits: Some(8), keep_raw: false };
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

    let refused = running.library.convert(source.clone(), &choice).await.unwrap_err();
    assert_eq!(refused.code, "name_taken");
    running.library.delete(source.clone()).await.unwrap();
    running
        .wait("it is off the list", |told| !told.models.iter().any(|model| Path::new(&model.path) == source))
        .await;
    assert!(source.join("model.safetensors").is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_was_stopped_by_closing_goes_on_at_the_next_start() {
    let running = Running::begin();
    let program = running.at("foretoken-engine");
    running.wait("the demo model is listed", |told| lists(told, &demo_model())).await;
    running.library.tune(demo_model()).await.unwrap();
    running.wait("it is measured", |told| told.jobs.iter().any(|job| job.stage == JobStage::Tuning)).await;
    timeout(PATIENCE, running.library.close()).await.unwrap();
    assert_eq!(crate::testing::process_of(&program), None, "no process is left");

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
    assert_eq!(code(running.library.delete(demo_model()).await), "not_in_library");
    assert_eq!(code(running.library.delete("/etc".into()).await), "unknown_model");
    assert_eq!(code(running.library.shown_folder("/etc").map(drop)), "unknown_model");
    assert_eq!(running.library.shown_folder(demo_model().to_str().unwrap()).unwrap(), demo_model());
    let own = Library::open(&running.at("data/models")).unwrap();
    assert_eq!(running.library.shown_folder(own.root().to_str().unwrap()).unwrap(), own.root());
}
