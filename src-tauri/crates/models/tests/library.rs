//! The library's folder: its list, the trash, another disk, and a disk that is not there.

mod common;

use std::fs;

use common::*;
use foretoken_models::{Library, LibraryError, ModelState};
use foretoken_test_hub::TestHub;

const MODEL: &str = "org/model";

/// A library with one model in it.
async fn filled() -> (TestLibrary, Files) {
    let files = model(2, 200_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let test = test_library();
    pull(&client(&hub), &test.library, MODEL).await.unwrap();
    (test, files)
}

fn state(library: &Library) -> ModelState {
    library.models().unwrap().remove(0).state
}

#[tokio::test]
async fn a_model_is_listed_with_its_size_and_use_and_what_is_wrong_with_it() {
    let (test, files) = filled().await;
    let library = &test.library;
    let listed = &library.models().unwrap()[0];
    let bytes: u64 = wanted(&files).values().map(|data| data.len() as u64).sum();
    assert!(listed.disk_bytes >= bytes && listed.disk_bytes < 2 * bytes, "{}", listed.disk_bytes);
    assert_eq!((listed.last_used_at, &listed.state), (None, &ModelState::Raw));
    library.touch("org--model").unwrap();
    assert!(library.models().unwrap()[0].last_used_at.is_some());
    assert_is(&listed.path, &files);

    let config = listed.path.join("config.json");
    fs::write(&config, br#"{"quantization":{"bits":4}}"#).unwrap();
    assert!(matches!(state(library), ModelState::Broken { reason } if reason.contains("config.json")));
    fs::write(&config, &files["config.json"]).unwrap();
    assert_eq!(state(library), ModelState::Raw);
    let shard = listed.path.join("model-00002-of-00002.safetensors");
    fs::write(&shard, &files["model-00002-of-00002.safetensors"][..1000]).unwrap();
    assert!(matches!(state(library), ModelState::Broken { reason } if reason.contains("00002")));
    fs::remove_file(&shard).unwrap();
    assert!(matches!(state(library), ModelState::Broken { .. }));
    for name in ["none", "", "..", ".foretoken", "org--model/..", "/"] {
        assert!(matches!(library.touch(name), Err(LibraryError::Unknown { .. })), "{name:?}");
        assert!(matches!(library.delete(name), Err(LibraryError::Unknown { .. })), "{name:?}");
    }
}

#[tokio::test]
async fn a_model_that_was_put_there_by_hand_is_listed_too() {
    let (test, files) = filled().await;
    let copied = test.library.root().join("mine");
    fs::create_dir(&copied).unwrap();
    for (name, data) in wanted(&files) {
        fs::write(copied.join(name), data).unwrap();
    }
    fs::create_dir(test.library.root().join("notes")).unwrap();
    let models = test.library.models().unwrap();
    assert_eq!(models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["mine", "org--model"]);
    assert_eq!((&models[0].source, &models[0].state), (&None, &ModelState::Raw));
    fs::rename(&copied, test.library.root().join("org--other")).unwrap();
    let hub = TestHub::start([repo("org/other", &files)]).await.unwrap();
    let error = pull(&client(&hub), &test.library, "org/other").await.unwrap_err();
    assert!(
        matches!(error, LibraryError::NameTaken { .. }),
        "a model of someone else is not replaced: {error}"
    );
}

#[tokio::test]
async fn a_deleted_model_comes_back_until_the_trash_is_emptied() {
    let (test, files) = filled().await;
    let library = &test.library;
    let path = library.root().join("org--model");
    let trashed = library.delete("org--model").unwrap();
    assert!(library.models().unwrap().is_empty() && !path.exists());
    library.restore(&trashed).unwrap();
    assert_is(&path, &files);
    let trashed = library.delete("org--model").unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(library.restore(&trashed), Err(LibraryError::NameTaken { .. })));
    fs::remove_dir(&path).unwrap();
    library.empty_trash().unwrap();
    assert_eq!(bytes_left(library), 0);
    assert!(library.restore(&trashed).is_err());
}

#[tokio::test]
async fn a_library_that_is_not_there_is_offline_and_never_made_again() {
    let (test, _) = filled().await;
    let library = &test.library;
    let away = test.folder.path().join("away");
    let mut models = 0;
    // The folder is gone with its disk; or its mount point stays, empty.
    for mount_point in [false, true] {
        fs::rename(library.root(), &away).unwrap();
        if mount_point {
            fs::create_dir(library.root()).unwrap();
        }
        let before = fs::read_dir(test.folder.path()).unwrap().count();
        let offline = |result: Result<(), LibraryError>| matches!(result, Err(LibraryError::Offline { .. }));
        assert!(offline(Library::open(library.root()).map(drop)));
        assert!(offline(library.models().map(drop)));
        assert!(offline(library.touch("org--model")));
        assert!(offline(library.delete("org--model").map(drop)));
        assert!(offline(library.empty_trash()));
        let hub = TestHub::start([repo(MODEL, &model(1, 10))]).await.unwrap();
        assert!(offline(pull(&client(&hub), library, MODEL).await.map(drop)));
        assert_eq!(fs::read_dir(test.folder.path()).unwrap().count(), before);
        if mount_point {
            fs::remove_dir(library.root()).expect("nothing was written there");
        }
        fs::rename(&away, library.root()).unwrap();
        models = library.models().unwrap().len();
    }
    assert_eq!(models, 1);
}

#[tokio::test]
async fn a_moved_library_is_the_same_and_the_old_one_is_gone() {
    let (test, files) = filled().await;
    let target = test.folder.path().join("elsewhere");
    let (mut last, mut switched) = ((0, 0), false);
    let progress = |done, total| {
        last = (done, total);
        true
    };
    let moved = test
        .library
        .move_to(&target, progress, |new| {
            switched = new.models()?.len() == 1;
            Ok(())
        })
        .unwrap()
        .unwrap();
    assert!(switched && last.0 == last.1 && last.0 > 400_000, "{last:?}");
    assert!(!test.library.root().exists());
    assert_is(&moved.root().join("org--model"), &files);
    assert_eq!(Library::open(&target).unwrap(), moved);
}

#[tokio::test]
async fn a_move_that_does_not_end_leaves_the_old_library_as_it_was() {
    let (test, files) = filled().await;
    let library = &test.library;
    let target = test.folder.path().join("elsewhere");
    let stopped =
        library.move_to(&target, |done, _| done < 100_000, |_| unreachable!("nothing to switch to"));
    assert!(stopped.unwrap().is_none() && !target.exists());
    let refused = library.move_to(
        &target,
        |_, _| true,
        |new| Err(LibraryError::Offline { path: new.root().to_owned() }),
    );
    assert!(refused.is_err());
    assert_is(&library.root().join("org--model"), &files);
    let occupied = test.folder.path().join("occupied");
    fs::create_dir(&occupied).unwrap();
    fs::write(occupied.join("letter.txt"), "mine").unwrap();
    for target in [occupied, library.root().join("inside"), library.root().to_owned()] {
        let error = library.move_to(&target, |_, _| true, |_| Ok(())).unwrap_err();
        assert!(matches!(error, LibraryError::NotEmpty { .. }), "{}: {error}", target.display());
    }
    assert_is(&library.root().join("org--model"), &files);
    assert!(Library::create(&test.folder.path().join("no/such/disk")).is_err());
    assert!(matches!(
        Library::create(&test.folder.path().join("occupied")),
        Err(LibraryError::NotEmpty { .. })
    ));
}
