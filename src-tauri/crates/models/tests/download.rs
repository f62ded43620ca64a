//! Downloads from a real server that misbehaves in all the ways a network can.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::*;
use foretoken_models::{
    DownloadProgress, Intent, Library, LibraryError, ModelState, Outcome, Phase, Token, discard, download,
};
use foretoken_test_hub::{Fault, Stage, TestHub, Trouble};
use tokio::sync::watch;

const MODEL: &str = "org/model";

/// A Hub with a model of three shards, a client and an empty library.
async fn set_up() -> (TestHub, Files, TestLibrary) {
    let files = model(3, 900_000);
    (TestHub::start([repo(MODEL, &files)]).await.unwrap(), files, test_library())
}

/// Fetches, expects success, and compares all bytes.
async fn succeeds(hub: &TestHub, files: &Files, library: &Library) {
    let outcome = pull(&client(hub), library, MODEL).await.unwrap();
    let Outcome::Complete { path, .. } = outcome else { panic!("{outcome:?}") };
    assert_is(&path, files);
    assert!(!downloads(library).join("org--model").exists(), "the partial state stayed");
}

#[tokio::test]
async fn a_model_arrives_whole_and_only_with_its_own_files() {
    let (hub, files, test) = set_up().await;
    succeeds(&hub, &files, &test.library).await;
    let models = test.library.models().unwrap();
    assert_eq!(models.len(), 1);
    assert_eq!((models[0].name.as_str(), &models[0].state), ("org--model", &ModelState::Raw));
    assert_eq!(models[0].source.as_ref().unwrap().repo, id(MODEL));
    let requests = hub.seen().len();
    succeeds(&hub, &files, &test.library).await;
    assert_eq!(hub.seen().len(), requests + 1, "a model that is there is not fetched again");
}

#[tokio::test]
async fn the_demo_model_arrives_whole() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../resources/demo-model/checkpoint");
    let hub =
        TestHub::start([foretoken_test_hub::Repo::folder("demo/model", &folder).unwrap()]).await.unwrap();
    let test = test_library();
    pull(&client(&hub), &test.library, "demo/model").await.unwrap();
    let mut found = read_folder(&test.library.folder(&id("demo/model")));
    found.remove("foretoken-library.json").unwrap();
    assert_eq!(found, read_folder(&folder));
}

#[tokio::test]
async fn a_large_file_comes_in_parallel_ranges_and_the_hub_is_asked_for_the_way_once() {
    let files = model(1, 4_000_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let test = test_library();
    succeeds(&hub, &files, &test.library).await;
    let seen = hub.seen();
    let content: Vec<_> = seen.iter().filter(|seen| seen.content).collect();
    // A busy machine may need a request twice; each part has its own all the same.
    let ranges: std::collections::BTreeSet<_> = content.iter().map(|seen| seen.range.clone()).collect();
    assert!(ranges.len() >= 16 && !ranges.contains(&None), "{ranges:?}");
    let asked = seen.iter().filter(|seen| !seen.content && seen.path.contains(".safetensors")).count();
    assert!(asked < 16, "{asked} requests for the way");
}

#[tokio::test]
async fn passing_troubles_are_repeated_until_all_is_right() {
    let troubles = [
        (Stage::Api, Trouble::Status(503, None)),
        (Stage::Resolve, Trouble::Status(500, None)),
        (Stage::Resolve, Trouble::Status(429, None)),
        (Stage::Content, Trouble::Status(502, None)),
        (Stage::Content, Trouble::Status(403, None)),
        (Stage::Content, Trouble::Cut(100_000)),
        (Stage::Content, Trouble::Cut(0)),
        (Stage::Content, Trouble::Short(1000)),
        (Stage::Content, Trouble::OtherRange),
        (Stage::Content, Trouble::IgnoreRange),
        (Stage::Content, Trouble::Corrupt),
        (Stage::Content, Trouble::Silence),
        (Stage::Resolve, Trouble::Corrupt),
        (Stage::Resolve, Trouble::Cut(5)),
        (Stage::Resolve, Trouble::Short(5)),
    ];
    for (stage, trouble) in troubles {
        let (hub, files, test) = set_up().await;
        println!("{stage:?} {trouble:?}");
        hub.fail(Fault::new(stage, trouble).times(3));
        succeeds(&hub, &files, &test.library).await;
    }
}

#[tokio::test]
async fn a_connection_that_is_always_cut_still_gets_there() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Cut(50_000)));
    succeeds(&hub, &files, &test.library).await;
}

#[tokio::test]
async fn many_random_troubles_leave_a_whole_model_or_a_state_to_go_on_from() {
    let mut random = random();
    let (hub, files, test) = set_up().await;
    for _ in 0..60 {
        let trouble = match random.u8(0..7) {
            0 => Trouble::Status(500, None),
            1 => Trouble::Status(429, None),
            2 => Trouble::Cut(random.usize(0..300_000)),
            3 => Trouble::Corrupt,
            4 => Trouble::Short(random.usize(1..5000)),
            5 => Trouble::OtherRange,
            _ => Trouble::IgnoreRange,
        };
        let stage = if random.bool() { Stage::Content } else { Stage::Resolve };
        hub.fail(Fault::new(stage, trouble).after(random.usize(0..4)).times(random.usize(1..3)));
        let _ = pull(&client(&hub), &test.library, MODEL).await;
        if assert_sound(&test.library, MODEL, &files) {
            test.library.delete("org--model").unwrap();
            test.library.empty_trash().unwrap();
        }
    }
    hub.heal();
    succeeds(&hub, &files, &test.library).await;
}

#[tokio::test]
async fn a_wait_that_the_server_asks_for_is_kept() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Api, Trouble::Status(429, Some(1))).times(1));
    let begun = Instant::now();
    succeeds(&hub, &files, &test.library).await;
    assert!(begun.elapsed() >= Duration::from_secs(1));
    hub.fail(Fault::new(Stage::Api, Trouble::Status(429, Some(100_000))));
    test.library.delete("org--model").unwrap();
    let error = pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
    assert!(matches!(error, LibraryError::Busy { seconds: 100_000, .. }), "{error}");
}

#[tokio::test]
async fn bytes_that_are_always_wrong_never_count_and_are_fetched_again_later() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Corrupt).path("00002-of"));
    let error = pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
    assert!(matches!(&error, LibraryError::Corrupt { path, .. } if path.contains("00002")), "{error}");
    assert!(!assert_sound(&test.library, MODEL, &files));
    hub.heal();
    succeeds(&hub, &files, &test.library).await;
}

#[tokio::test]
async fn another_content_for_the_same_commit_is_refused() {
    for path in ["config.json", "00001-of"] {
        let (hub, files, test) = set_up().await;
        hub.fail(Fault::new(Stage::Resolve, Trouble::Etag("0".repeat(40))).path(path));
        let error = pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
        assert!(matches!(error, LibraryError::Changed { .. }), "{error}");
        assert!(!assert_sound(&test.library, MODEL, &files));
    }
}

#[tokio::test]
async fn a_revision_that_moves_on_does_not_mix_with_the_one_that_was_begun() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Status(500, None)).path("00003-of"));
    pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
    hub.heal();
    let mut newer = model(3, 900_000);
    newer.insert("model-00001-of-00003.safetensors".into(), shard(900_000, 77));
    newer.insert("config.json".into(), b"{}".to_vec());
    hub.put(repo(MODEL, &files).commit(newer.clone()));
    succeeds(&hub, &files, &test.library).await;
    // Asked again, main is the newer one; the older one waits in the trash.
    succeeds(&hub, &newer, &test.library).await;
    assert_eq!(test.library.models().unwrap().len(), 1);
}

#[tokio::test]
async fn hostile_names_are_refused_before_anything_is_written() {
    let hostile = [
        "/etc/model.safetensors",
        "../model.safetensors",
        "a/../../model.safetensors",
        "a\\..\\model.safetensors",
        "C:\\model.safetensors",
        "nul.json",
        "a/COM1.safetensors",
        "x\ny.json",
        "Config.json",
        "config.json/model.safetensors",
        "foretoken-library.json",
        "model.json.",
    ];
    for name in hostile {
        let mut files = model(1, 1000);
        files.insert(name.into(), shard(10, 1));
        // A name that ends in a dot has no ending that is wanted.
        let refused = !name.ends_with('.');
        let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
        let test = test_library();
        let result = pull(&client(&hub), &test.library, MODEL).await;
        match result {
            Err(LibraryError::FileName { path, .. }) => {
                assert!(
                    path == name || name.eq_ignore_ascii_case(&path) || name.starts_with(&path),
                    "{path}"
                );
                assert!(hub.seen().len() == 1 && bytes_left(&test.library) == 0, "{name:?} was written");
            }
            other => assert!(!refused, "{name:?}: {other:?}"),
        }
        assert_eq!(fs::read_dir(test.folder.path()).unwrap().count(), 1, "{name:?} escaped");
    }
}

#[tokio::test]
async fn a_repository_without_a_model_is_refused() {
    let hub = TestHub::start([foretoken_test_hub::Repo::new(MODEL, [("config.json", "{}")])]).await.unwrap();
    let test = test_library();
    let error = pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
    assert!(matches!(error, LibraryError::NotAModel { .. }), "{error}");
    let error = pull(&client(&hub), &test.library, "org/none").await.unwrap_err();
    assert!(matches!(error, LibraryError::NoRepo { .. }), "{error}");
    assert_eq!(bytes_left(&test.library), 0);
}

#[tokio::test]
async fn a_gated_model_says_what_is_missing_and_the_token_goes_only_to_the_hub() {
    let files = model(2, 500_000);
    let hub = TestHub::start([repo(MODEL, &files).gated("hf_right")]).await.unwrap();
    let test = test_library();
    let error = pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
    assert!(matches!(error, LibraryError::Gated { with_token: false, .. }), "{error}");
    let wrong = client_with(&hub, Arc::new(Token::new("hf_wrong").unwrap()));
    let error = pull(&wrong, &test.library, MODEL).await.unwrap_err();
    assert!(matches!(error, LibraryError::Gated { with_token: true, .. }), "{error}");
    let right = client_with(&hub, Arc::new(Token::new("hf_right\n").unwrap()));
    pull(&right, &test.library, MODEL).await.unwrap();
    assert_is(&test.library.folder(&id(MODEL)), &files);
    let seen = hub.seen();
    let content: Vec<_> = seen.iter().filter(|seen| seen.content).collect();
    assert!(!content.is_empty() && content.iter().all(|seen| seen.authorization.is_none()));
    assert!(seen.iter().any(|seen| seen.authorization.as_deref() == Some("Bearer hf_right")));
    assert!(!format!("{right:?} {:?}", Token::new("hf_right")).contains("hf_right"));
    let on_disk = read_folder(test.folder.path());
    assert!(
        on_disk.values().all(|data| !data.windows(8).any(|text| text == b"hf_right")),
        "the token is on the disk"
    );
}

/// Runs a download until `bytes` have arrived, then says `wish`.
async fn interrupt(
    hub: &TestHub,
    library: &Library,
    bytes: u64,
    wish: Intent,
) -> (Outcome, DownloadProgress) {
    let (intent, wanted) = watch::channel(Intent::Run);
    let (telling, mut progress) = watch::channel(DownloadProgress::default());
    let (client, repo, options) = (client(hub), id(MODEL), options());
    let running = download(&client, library, &repo, "main", &options, wanted, &telling);
    let wishing = async {
        progress.wait_for(|progress| progress.bytes_done >= bytes).await.unwrap();
        intent.send_replace(wish);
    };
    let (outcome, ()) = tokio::join!(running, wishing);
    (outcome.unwrap(), progress.borrow().clone())
}

#[tokio::test]
async fn pause_keeps_what_has_arrived_and_the_next_call_fetches_only_the_rest() {
    let (hub, files, test) = set_up().await;
    let size: u64 = wanted(&files).values().map(|data| data.len() as u64).sum();
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(400_000)));
    let (outcome, progress) = interrupt(&hub, &test.library, 900_000, Intent::Pause).await;
    assert_eq!(outcome, Outcome::Paused);
    assert!(
        progress.bytes_done >= 900_000 && progress.bytes_total == size && progress.phase == Phase::Fetching
    );
    assert_eq!(progress.files.iter().map(|file| file.bytes_done).sum::<u64>(), progress.bytes_done);
    assert!(progress.bytes_per_second.is_some() && progress.seconds_left.is_some());
    assert!(!assert_sound(&test.library, MODEL, &files));
    let model = &test.library.models().unwrap()[0];
    assert_eq!(model.state, ModelState::Partial { bytes_done: progress.bytes_done, bytes_total: size });
    hub.heal();
    let before = hub.seen().len();
    succeeds(&hub, &files, &test.library).await;
    let asked_again: u64 = hub.seen()[before..]
        .iter()
        .filter(|seen| seen.content)
        .map(|seen| match seen.range.as_deref().and_then(|range| range["bytes=".len()..].split_once('-')) {
            Some((first, last)) => last.parse::<u64>().unwrap() + 1 - first.parse::<u64>().unwrap(),
            None => size,
        })
        .sum();
    assert!(asked_again <= size - progress.bytes_done, "{asked_again} of {size} again");
    assert!(!hub.seen()[before..].iter().any(|seen| seen.path.contains("/api/")), "the plan was kept");
}

#[tokio::test]
async fn cancel_leaves_no_bytes() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(400_000)));
    let (outcome, _) = interrupt(&hub, &test.library, 500_000, Intent::Cancel).await;
    assert_eq!(outcome, Outcome::Cancelled);
    assert_eq!(bytes_left(&test.library), 0);
    let (outcome, _) = interrupt(&hub, &test.library, 500_000, Intent::Pause).await;
    assert_eq!(outcome, Outcome::Paused);
    discard(&test.library, &id(MODEL)).unwrap();
    assert_eq!(bytes_left(&test.library), 0);
    hub.heal();
    succeeds(&hub, &files, &test.library).await;
}

#[tokio::test]
async fn a_partial_state_that_someone_touched_is_not_trusted() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(400_000)));
    let (outcome, _) = interrupt(&hub, &test.library, 2_000_000, Intent::Pause).await;
    assert_eq!(outcome, Outcome::Paused);
    hub.heal();
    let partial = downloads(&test.library).join("org--model");
    // One file damaged, one removed, one cut: the journal says that all of them are there.
    let path = |name: &str| partial.join("files").join(name);
    let journal = partial.join("journal.json");
    let said = fs::read_to_string(&journal).unwrap().replace("\"verified\": true", "\"verified\": false");
    fs::write(&journal, said).unwrap();
    let mut damaged = fs::read(path("model-00001-of-00003.safetensors")).unwrap();
    damaged[500_000] ^= 1;
    fs::write(path("model-00001-of-00003.safetensors"), damaged).unwrap();
    fs::remove_file(path("config.json")).unwrap();
    fs::write(path("model-00002-of-00003.safetensors"), b"short").unwrap();
    succeeds(&hub, &files, &test.library).await;
}

#[tokio::test]
async fn links_in_a_partial_state_lead_nowhere() {
    let mut files = model(3, 900_000);
    files.insert("deep/mtp.safetensors".into(), shard(900_000, 5));
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("letter.txt"), "mine").unwrap();
    for name in ["config.json", "deep"] {
        let test = test_library();
        hub.fail(Fault::new(Stage::Content, Trouble::Status(500, None)));
        pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
        hub.heal();
        let path = downloads(&test.library).join("org--model/files").join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
            symlink(outside.path(), &path).unwrap();
        } else {
            let _ = fs::remove_file(&path);
            symlink(outside.path().join("letter.txt"), &path).unwrap();
        }
        let error = pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
        assert!(matches!(error, LibraryError::Io { .. }), "{name}: {error}");
        discard(&test.library, &id(MODEL)).unwrap();
        let left = read_folder(outside.path());
        assert_eq!(left, Files::from([("letter.txt".to_owned(), b"mine".to_vec())]), "{name}");
        assert_eq!(bytes_left(&test.library), 0);
        succeeds(&hub, &files, &test.library).await;
    }
}

#[tokio::test]
async fn a_cancel_at_any_moment_leaves_a_whole_model_or_nothing() {
    let mut random = random();
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(4_000_000)));
    for _ in 0..20 {
        let (intent, wanted) = watch::channel(Intent::Run);
        let progress = watch::Sender::new(DownloadProgress::default());
        let (client, repo, options) = (client(&hub), id(MODEL), options());
        let running = download(&client, &test.library, &repo, "main", &options, wanted, &progress);
        let cancelling = async {
            tokio::time::sleep(Duration::from_millis(random.u64(0..600))).await;
            intent.send_replace(Intent::Cancel);
            // The sender stays until the download has ended.
            intent
        };
        let (outcome, _intent) = tokio::join!(running, cancelling);
        match outcome.unwrap() {
            Outcome::Complete { path, .. } => {
                assert_is(&path, &files);
                test.library.delete("org--model").unwrap();
                test.library.empty_trash().unwrap();
            }
            outcome => assert_eq!(outcome, Outcome::Cancelled),
        }
        assert_eq!(bytes_left(&test.library), 0);
        assert!(!downloads(&test.library).join("org--model").exists());
    }
}

#[tokio::test]
async fn a_token_that_the_hub_does_not_know_is_named_as_what_is_wrong() {
    let (hub, _files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Api, Trouble::Status(401, None)));
    let revoked = client_with(&hub, Arc::new(Token::new("hf_revoked").unwrap()));
    let error = pull(&revoked, &test.library, MODEL).await.unwrap_err();
    assert!(matches!(error, LibraryError::BadToken { .. }), "{error}");
    let error = pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
    assert!(matches!(error, LibraryError::NoRepo { .. }), "{error}");
}

#[tokio::test]
async fn a_damaged_journal_begins_anew() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Status(500, None)).path("00003-of"));
    pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
    hub.heal();
    fs::write(downloads(&test.library).join("org--model/journal.json"), b"{\"version\":").unwrap();
    succeeds(&hub, &files, &test.library).await;
}

#[tokio::test]
async fn two_downloads_of_one_model_do_not_meet() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Slow(400_000)));
    let (intent, wanted) = watch::channel(Intent::Run);
    let (telling, mut progress) = watch::channel(DownloadProgress::default());
    let (client, repo, options) = (client(&hub), id(MODEL), options());
    let first = download(&client, &test.library, &repo, "main", &options, wanted, &telling);
    let second = async {
        progress.wait_for(|progress| progress.bytes_done > 0).await.unwrap();
        let error = pull(&client, &test.library, MODEL).await.unwrap_err();
        assert!(matches!(error, LibraryError::InUse { .. }), "{error}");
        assert!(matches!(discard(&test.library, &repo), Err(LibraryError::InUse { .. })));
        hub.heal();
        intent.send_replace(Intent::Pause);
    };
    let (outcome, ()) = tokio::join!(first, second);
    assert_eq!(outcome.unwrap(), Outcome::Paused);
    succeeds(&hub, &files, &test.library).await;
}

#[tokio::test]
async fn a_server_that_is_gone_is_named_and_what_has_arrived_is_kept() {
    let (hub, files, test) = set_up().await;
    hub.fail(Fault::new(Stage::Content, Trouble::Status(500, None)).path("00003-of"));
    pull(&client(&hub), &test.library, MODEL).await.unwrap_err();
    let gone = client(&hub);
    let port = hub.endpoint().rsplit_once(':').unwrap().1.parse().unwrap();
    drop(hub);
    let error = pull(&gone, &test.library, MODEL).await.unwrap_err();
    assert!(matches!(&error, LibraryError::Unreachable { host, .. } if host == "127.0.0.1"), "{error}");
    assert!(!assert_sound(&test.library, MODEL, &files));
    let hub = TestHub::start_at(port, [repo(MODEL, &files)]).await.unwrap();
    succeeds(&hub, &files, &test.library).await;
}
