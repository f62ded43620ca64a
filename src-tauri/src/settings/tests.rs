//! Tests of the settings and their file: damaged, incomplete and unreadable files, the order of writes, and the
//! sampling that is kept for each model.

use foretoken_protocol::{AcceptanceRule, ErrorReport};

use super::reading::FileContent;
use super::*;

const WARM: Sampling = Sampling {
    temperature: 0.7,
    top_p: 0.9,
    top_k: 20,
    min_p: 0.0,
    xtc_probability: 0.0,
    xtc_threshold: 0.1,
    repetition_penalty: 1.0,
    presence_penalty: 0.0,
    frequency_penalty: 0.0,
    acceptance: AcceptanceRule::Coupled,
    seed: None,
};

fn greedy() -> Sampling {
    Sampling::default()
}

#[test]
fn what_was_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/settings.json");
    let file = SettingsFile::open(path.clone()).unwrap();
    assert_eq!(file.current(), Settings::default());
    file.update(|settings| settings.select_model(Some("/models/a".into()), WARM)).wait().unwrap();
    file.update(|settings| settings.generation.max_tokens = 7).wait().unwrap();
    file.update(|settings| settings.kv_precision = KvPrecision::Eight).wait().unwrap();

    let again = SettingsFile::open(path).unwrap().current();
    assert_eq!(again, file.current());
    assert_eq!(again.generation.max_tokens, 7);
    assert_eq!(again.generation.sampling, WARM);
    assert_eq!((again.model_folders, again.kv_precision), (vec!["/models/a".to_owned()], KvPrecision::Eight));
}

#[test]
fn a_damaged_file_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "{\"generation\": 3").unwrap();
    let file = SettingsFile::open(path.clone()).unwrap();
    assert_eq!(file.current(), Settings::default());
    assert!(!path.exists());
    assert_eq!(
        std::fs::read_to_string(folder.path().join("settings.json.broken")).unwrap(),
        "{\"generation\": 3"
    );
}

#[test]
fn a_file_that_lacks_an_entry_takes_its_default() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "{\"model_folders\": [\"/models/a\"]}").unwrap();
    let settings = SettingsFile::open(path).unwrap().current();
    assert_eq!(settings, Settings { model_folders: vec!["/models/a".into()], ..Settings::default() });
}

#[test]
fn a_limit_that_an_older_version_has_kept_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let mut kept = serde_json::to_value(Settings::default()).unwrap();
    kept["generation"]["max_tokens"] = 1024.into();
    std::fs::write(&path, kept.to_string()).unwrap();
    assert_eq!(SettingsFile::open(path).unwrap().current().generation.max_tokens, 1024);
}

#[test]
fn settings_that_cannot_be_written_hold_and_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let file = SettingsFile::open(folder.path().join("file/settings.json")).unwrap();
    let error = file.update(|settings| settings.generation.max_tokens = 7).wait().unwrap_err();
    assert!(error.to_string().contains("settings.json"), "{error}");
    assert_eq!(file.current().generation.max_tokens, 7);
}

#[test]
fn models_are_followed_when_the_library_moves() {
    let mut settings = Settings::default();
    settings.select_model(Some("/elsewhere/b".into()), greedy());
    settings.select_model(Some("/library/a".into()), greedy());
    settings.set_generation(GenerationSettings { sampling: WARM, ..settings.generation.clone() });
    settings.move_models(Path::new("/library"), Path::new("/disk/models"));
    assert_eq!(settings.model_folders, ["/elsewhere/b", "/disk/models/a"]);
    assert_eq!(settings.selected_model.as_deref(), Some("/disk/models/a"));
    assert_eq!(settings.sampling.keys().collect::<Vec<_>>(), ["/disk/models/a"]);
}

#[test]
fn a_model_brings_its_sampling_until_the_person_chooses_one_for_it() {
    let mut settings = Settings::default();
    settings.select_model(None, WARM);
    assert_eq!(settings.generation.sampling, WARM);

    settings.set_generation(GenerationSettings { max_tokens: 9, ..settings.generation.clone() });
    settings.select_model(Some("/models/a".into()), greedy());
    assert_eq!(settings.generation.sampling, greedy());
    let chosen = Sampling { temperature: 1.5, ..greedy() };
    settings.set_generation(GenerationSettings { sampling: chosen, ..settings.generation.clone() });

    settings.select_model(None, WARM);
    assert_eq!(settings.generation.sampling, WARM, "only the token budget was changed while it was chosen");
    settings.select_model(Some("/models/a".into()), greedy());
    assert_eq!(settings.generation.sampling, chosen);
    assert_eq!(settings.generation.max_tokens, 9);
    assert_eq!(settings.model_folders, ["/models/a"]);
}

/// A folder in its place is a file that cannot be read, whoever reads.
#[test]
fn a_file_that_cannot_be_read_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::create_dir(&path).unwrap();
    let file = SettingsFile::open(path.clone()).unwrap();
    let error = file.update(|settings| settings.generation.max_tokens = 7).wait().unwrap_err();
    assert_eq!(ErrorReport::from(error).code, "settings_not_read");
    assert_eq!(file.current().generation.max_tokens, 7, "it holds as long as the app runs");
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [path]);
}

#[test]
fn a_file_that_can_be_read_a_moment_later_is_read() {
    let mut answers = vec![
        FileContent::Settings(Box::default()),
        FileContent::Unreadable(std::io::Error::other("the disk wakes up")),
        FileContent::Unreadable(std::io::Error::other("the disk sleeps")),
    ];
    let found = file::read_with_retries(|| answers.pop().unwrap());
    assert!(matches!(found, FileContent::Settings(_)));
    assert!(answers.is_empty());
}

#[test]
fn a_value_that_makes_no_sense_is_lost_alone() {
    let mut settings = Settings { reveal_drafts: true, built_in_sampling: Some(WARM), ..Settings::default() };
    settings.select_model(Some("/models/a/b".into()), WARM);
    settings.set_generation(GenerationSettings { sampling: greedy(), ..settings.generation.clone() });
    let mut kept = serde_json::to_value(&settings).unwrap();
    kept["kv_precision"] = "two".into();
    kept["preferences"]["appearance"] = "sepia".into();
    kept["preferences"]["zoom"] = 9000.into();
    kept["preferences"]["open_folds"] =
        serde_json::json!({"time": true, "prompt": "ajar", "of a later version": 1});
    kept["preferences"]["open_projects"] = serde_json::json!([3, "all"]);
    kept["generation"]["max_tokens"] = 12.into();
    kept["generation"]["drafting"] = serde_json::json!({"mode": "oracle", "depth": 3});
    kept["built_in_sampling"]["acceptance"] = "always".into();
    kept["sampling"]["/models/a/b"]["top_p"] = "most".into();
    kept["model_folders"] = serde_json::json!(["/models/a/b", 7, "/models/c"]);
    kept["of a later version"] = 1.into();

    let (read, mut lost) = reading::settings_in(kept.to_string().as_bytes()).unwrap();
    settings.generation.max_tokens = 12;
    settings.model_folders.push("/models/c".into());
    settings.preferences.zoom = 160;
    settings.preferences.open_folds.time = true;
    settings.preferences.open_projects.push(3);
    assert_eq!(read, settings);
    lost.sort();
    assert_eq!(
        lost,
        [
            "built_in_sampling.acceptance",
            "generation.drafting.mode",
            "kv_precision",
            "model_folders[1]",
            "preferences.appearance",
            "preferences.open_folds.prompt",
            "preferences.open_projects[1]",
            "sampling./models/a/b.top_p",
        ]
    );
    assert!(reading::settings_in(b"[]").is_err());
}

/// The order of changes is that of the calls, whoever waits and in which order; whoever waits finds its change on the
/// disk.
#[tokio::test]
async fn changes_hold_at_once_and_are_written_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let file = SettingsFile::open(path.clone()).unwrap();
    let mut writings = Vec::new();
    for tokens in 1..=500 {
        writings.push(file.update(|settings| settings.generation.max_tokens = tokens));
        assert_eq!(file.current().generation.max_tokens, tokens);
    }
    let on_disk = || {
        let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        kept["generation"]["max_tokens"].as_u64().unwrap()
    };
    writings.swap_remove(3).written().await.unwrap();
    assert!(on_disk() >= 4);
    file.flush().written().await.unwrap();
    assert_eq!(on_disk(), 500);
    for tokens in 501..=520 {
        file.update(|settings| settings.generation.max_tokens = tokens).written().await.unwrap();
        assert_eq!(on_disk(), u64::from(tokens));
    }
}

#[test]
fn a_zoom_is_one_of_those_that_there_are() {
    for (asked, taken) in [(0, 80), (100, 100), (116, 110), (u32::MAX, 160)] {
        let preferences = in_bounds(Preferences { zoom: asked, ..Preferences::default() });
        assert_eq!(preferences.zoom, taken);
    }
}

/// Whoever edits the file by hand gets a page that works, and no door that is open wider than the page would open it.
#[test]
fn settings_of_the_local_api_that_cannot_be_are_put_right() {
    let file = serde_json::json!({"local_api": {
        "on": true, "port": 0, "needs_token": false, "network": true, "rows": 200,
        "aliases": [{"name": "*", "model": null}, {"name": "gpt-*", "model": "a/b"},
            {"name": "GPT-*", "model": null}],
        "origins": ["https://example.com", "app://obsidian.md:1", "vscode-webview://*", "*", "https://*", "HTTP://*", "://*",
            "a://*.b", "https://a/b", "null", "://a"],
    }});
    let (read, _) = reading::settings_in(file.to_string().as_bytes()).unwrap();
    let settings = read.local_api;
    assert!(settings.on && settings.needs_token && settings.network);
    assert_eq!((settings.port, settings.rows), (LOCAL_API_PORT, MOST_API_ROWS));
    assert_eq!(settings.aliases, [ApiAlias { name: "gpt-*".into(), model: Some("a/b".into()) }]);
    assert_eq!(settings.origins, ["https://example.com", "app://obsidian.md:1", "vscode-webview://*"]);
    let (read, _) = reading::settings_in(br#"{"local_api": {"needs_token": false, "rows": 0}}"#).unwrap();
    assert_eq!((read.local_api.needs_token, read.local_api.rows), (false, 1));
}
