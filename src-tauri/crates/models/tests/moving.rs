//! A move of the library that is killed. Whatever the moment, the library is whole in one of the two places, and the
//! next start removes what is in the other.

mod common;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::*;
use foretoken_models::{Library, LibraryError, Location};
use foretoken_test_hub::TestHub;

/// The folder with the app's settings and the places of the library, for [`mover`].
const HOME: &str = "FORETOKEN_TEST_HOME";
const TARGET: &str = "FORETOKEN_TEST_TARGET";
/// The moment at which [`mover`] waits for its end.
const HALT: &str = "FORETOKEN_TEST_HALT";
const KILLS: usize = 20;

/// An app's folders with a library that has a model.
struct App {
    home: tempfile::TempDir,
    files: Files,
}

impl App {
    async fn new() -> Self {
        let files = model(3, 5_000_000);
        let hub = TestHub::start([repo("org/model", &files)]).await.unwrap();
        let app = Self { home: tempfile::tempdir().unwrap(), files };
        pull(&client(&hub), &app.location().open().unwrap(), "org/model").await.unwrap();
        app
    }

    fn location(&self) -> Location {
        location(self.home.path())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn start_to_move(&self, target: &Path, halt: &str) -> Child {
        Command::new(env::current_exe().unwrap())
            .args(["--exact", "mover", "--ignored", "--nocapture"])
            .env(HOME, self.home.path())
            .env(TARGET, target)
            .env(HALT, halt)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// What the app does when it starts. The library must be whole and alone afterwards.
    fn restart(&self, places: &[PathBuf]) -> Library {
        let library = self.location().open().unwrap();
        library.settle_move().unwrap();
        assert_is(&library.root().join("org--model"), &self.files);
        assert_eq!(library.moved_from(), None);
        let left: Vec<_> = read_folder(&library.root().join(".foretoken")).into_keys().collect();
        assert_eq!(left, ["library.json"]);
        for place in places.iter().filter(|place| *place != library.root()) {
            assert!(
                !place.exists(),
                "{} is left, the library is in {}",
                place.display(),
                library.root().display()
            );
        }
        library
    }
}

fn location(home: &Path) -> Location {
    Location::new(&home.join("config"), &home.join("data"))
}

/// The process that is killed.
#[test]
#[ignore = "the other tests start it as a process of its own"]
fn mover() {
    let variable = |name| PathBuf::from(env::var_os(name).expect("the other tests set it"));
    let halt = |moment: &str| {
        if env::var_os(HALT).is_some_and(|wanted| wanted == moment) {
            println!("\nat {moment}");
            std::thread::sleep(Duration::MAX);
        }
    };
    let location = location(&variable(HOME));
    let progress = |done, _| {
        if done > 0 {
            halt("copying");
        }
        true
    };
    let moved = location.open().unwrap().move_to(&variable(TARGET), progress, |new| {
        halt("copied");
        location.choose(new)?;
        halt("switched");
        Ok(())
    });
    assert!(moved.unwrap().is_some());
}

#[tokio::test]
async fn a_move_that_is_killed_leaves_one_library_and_can_be_asked_for_again() {
    for (moment, moved) in [("copying", false), ("copied", false), ("switched", true)] {
        let app = App::new().await;
        let (old, target) = (app.at("data/models"), app.at("disk"));
        let mut child = app.start_to_move(&target, moment);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let halted = lines.map(Result::unwrap).any(|line| line == format!("at {moment}"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(halted, "it ended before {moment}");
        assert!(old.exists() && target.exists());
        let library = app.location().open().unwrap();
        assert_eq!(library.root() == target, moved, "{moment}");
        assert_eq!(library.moved_from(), moved.then(|| old.clone()), "{moment}");
        if !moved {
            // Without a start in between.
            let again = library.move_to(&target, |_, _| true, |new| app.location().choose(new)).unwrap();
            assert_eq!(again.unwrap().root(), target);
        }
        assert_eq!(app.restart(&[old, target.clone()]).root(), target);
    }
}

#[tokio::test]
async fn a_move_that_is_killed_at_any_moment_leaves_one_library() {
    let mut random = random();
    let app = App::new().await;
    let places = [app.at("data/models"), app.at("disk")];
    let begun = Instant::now();
    assert!(app.start_to_move(&places[1], "").wait().unwrap().success());
    let whole = begun.elapsed();
    let (mut kills, mut moved) = (0, 0);
    while kills < KILLS {
        let from = app.restart(&places).root().to_owned();
        let target = places.iter().find(|place| **place != from).unwrap();
        let mut child = app.start_to_move(target, "");
        std::thread::sleep(whole.mul_f64(random.f64()));
        child.kill().unwrap();
        if !child.wait().unwrap().success() {
            kills += 1;
            moved += usize::from(app.location().folder() == *target);
        }
    }
    println!("{moved} of {KILLS} kills came after the switch");
    app.restart(&places);
}

#[tokio::test]
async fn only_what_a_move_has_left_is_removed() {
    let app = App::new().await;
    let library = app.location().open().unwrap();
    let (old, target) = (library.root().to_owned(), app.at("disk"));
    let refused = |_: &Library| Err(LibraryError::Offline { path: PathBuf::from("nowhere") });
    library.move_to(&target, |_, _| true, refused).unwrap_err();
    let note = fs::read(target.join(".foretoken/move.json")).unwrap();
    // The disk goes away, and another one with a library and a move of its own is there in its place.
    let away = app.at("away");
    fs::rename(&target, &away).unwrap();
    fs::create_dir(&target).unwrap();
    let other = Library::create(&target).unwrap();
    fs::write(
        target.join(".foretoken/move.json"),
        String::from_utf8(note).unwrap().replace("\"id\": ", "\"id\": 1"),
    )
    .unwrap();
    let before = read_folder(&target);
    library.settle_move().unwrap();
    assert_eq!(read_folder(&target), before);
    assert!(other.check_online().is_ok());
    // The copy that comes back is a library like any other; it removes nothing of the old one.
    let copy = Library::open(&away).unwrap();
    copy.settle_move().unwrap();
    assert_is(&old.join("org--model"), &app.files);
    assert_is(&away.join("org--model"), &app.files);
}

#[tokio::test]
async fn what_others_have_put_there_stays() {
    let app = App::new().await;
    let library = app.location().open().unwrap();
    let (old, target) = (library.root().to_owned(), app.at("disk"));
    let refused = |_: &Library| Err(LibraryError::Offline { path: PathBuf::from("nowhere") });
    library.move_to(&target, |_, _| true, refused).unwrap_err();
    fs::write(target.join("letter.txt"), "mine").unwrap();
    fs::create_dir(target.join("org--model/notes")).unwrap();
    fs::write(target.join("org--model/notes/letter.txt"), "mine too").unwrap();
    library.settle_move().unwrap();
    let left = read_folder(&target);
    let names: Vec<&String> = left.keys().collect();
    assert_eq!(names, ["letter.txt", "org--model/notes/letter.txt"]);
    assert_is(&old.join("org--model"), &app.files);

    // And in the old place, after the last look at what is there.
    let target = app.at("other disk");
    let switch = |new: &Library| {
        fs::write(old.join("letter.txt"), "mine").unwrap();
        app.location().choose(new)
    };
    let moved = library.move_to(&target, |_, _| true, switch).unwrap().unwrap();
    assert_is(&moved.root().join("org--model"), &app.files);
    assert_eq!(read_folder(&old).len(), 1);
}

/// A disk that is a copy of another shows the same library in two places.
#[tokio::test]
async fn a_library_never_removes_itself_under_another_name() {
    let app = App::new().await;
    let library = app.location().open().unwrap();
    let target = app.at("disk");
    let refused = |_: &Library| Err(LibraryError::Offline { path: PathBuf::from("nowhere") });
    library.move_to(&target, |_, _| true, refused).unwrap_err();
    let old = library.root().to_owned();
    fs::rename(&old, app.at("away")).unwrap();
    fs::rename(&target, app.at("alias")).unwrap();
    // In the place that the copy came from there is now another copy of it.
    let copied = std::process::Command::new("cp").arg("-r").args([app.at("alias"), old.clone()]).status();
    assert!(copied.unwrap().success());
    Library::open(&app.at("alias")).unwrap().settle_move().unwrap();
    assert_is(&old.join("org--model"), &app.files);
    assert_is(&app.at("alias/org--model"), &app.files);
}
