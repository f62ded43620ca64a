//! What the Hub says about models that are not fetched.

mod common;

use common::*;
use foretoken_models::{
    Catalogue, CatalogueSource, Gate, Hub, HubOptions, LibraryError, NoToken, SearchQuery,
};
use foretoken_test_hub::{Fault, Repo, Stage, TestHub, Trouble};
use std::sync::Arc;

const MODEL: &str = "org/model";

#[tokio::test]
async fn a_search_finds_names_and_tags() {
    let empty = || Repo::new("Org/Qwen3.5-4B-mtp", [("config.json", "{}")]);
    let other = Repo::new("org/llama", [("config.json", "{}")]).tags(&["mlx"]).gated("x");
    let hub = TestHub::start([empty().tags(&["mlx", "qwen3_5"]), other]).await.unwrap();
    let client = client(&hub);
    let find = async |words: &str, tags: &[&str]| {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        client.search(&SearchQuery { words: words.into(), tags, limit: Some(5) }).await.unwrap()
    };
    let found = find("qwen3.5", &["mlx", "qwen3_5"]).await;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].repo.as_str(), found[0].gate), ("Org/Qwen3.5-4B-mtp", Gate::Open));
    assert_eq!(find("", &["mlx"]).await.len(), 2);
    assert_eq!(find("llama", &["mlx"]).await[0].gate, Gate::Manual);
    assert!(find("qwen", &["gguf"]).await.is_empty());
}

#[tokio::test]
async fn a_model_is_inspected_without_its_weights() {
    // One shard's header is longer than what is asked for at first.
    let mut files = model(2, 2_000_000);
    let long = format!(r#"{{"__metadata__":{{"x":"{}"}}}}"#, "y".repeat(300_000));
    let mut shard = (long.len() as u64).to_le_bytes().to_vec();
    shard.extend(long.as_bytes());
    files.insert("mtp.safetensors".into(), shard);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let client = client(&hub);
    let info = client.model_info(&id(MODEL), "main").await.unwrap();
    let seen = client.inspect(&info).await.unwrap();
    assert_eq!(seen.config, files["config.json"]);
    assert_eq!(seen.index.as_ref(), Some(&files["model.safetensors.index.json"]));
    assert_eq!(seen.download_bytes, wanted(&files).values().map(|data| data.len() as u64).sum::<u64>());
    assert_eq!(seen.shards.len(), 3);
    for shard in &seen.shards {
        let header = serde_json::from_slice::<serde_json::Value>(&shard.header).unwrap();
        let file = &files[&shard.path];
        assert_eq!((file.len() as u64, &file[8..8 + shard.header.len()]), (shard.size, &shard.header[..]));
        assert!(header.get("__metadata__").is_some());
    }
    let card = info.files.iter().find(|file| file.path == "README.md").unwrap();
    assert_eq!(client.read_file(&info.repo, &info.commit, card).await.unwrap(), b"# A model\n");
    hub.fail(Fault::new(Stage::Resolve, Trouble::Corrupt));
    let error = client.read_file(&info.repo, &info.commit, card).await.unwrap_err();
    assert!(matches!(error, LibraryError::Corrupt { .. }), "{error}");
    hub.heal();
    hub.put(Repo::new("org/bad", [("config.json", b"{}".to_vec()), ("x.safetensors", vec![0xff; 40])]));
    let bad = client.model_info(&id("org/bad"), "main").await.unwrap();
    assert!(matches!(client.inspect(&bad).await, Err(LibraryError::Protocol { .. })));
}

#[tokio::test]
async fn a_revision_that_is_not_there_is_named() {
    let hub = TestHub::start([repo(MODEL, &model(1, 10))]).await.unwrap();
    let error = client(&hub).model_info(&id(MODEL), "v9").await.unwrap_err();
    assert!(matches!(&error, LibraryError::NoEntry { what, .. } if what.contains("v9")), "{error}");
}

#[test]
fn an_address_that_cannot_be_a_hub_is_refused() {
    for endpoint in
        ["", "huggingface.co", "ftp://huggingface.co", "https://user:word@huggingface.co", "file:///etc"]
    {
        let options = HubOptions { endpoint: endpoint.into(), ..HubOptions::default() };
        let error = Hub::new(options, Arc::new(NoToken)).unwrap_err();
        assert!(matches!(error, LibraryError::Endpoint { .. }), "{endpoint}: {error}");
    }
}

/// A Hub with a list of models of this content, and where it is fetched from and kept.
async fn with_list(content: &str) -> (TestHub, CatalogueSource, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let hub = TestHub::start([list_repo(content)]).await.unwrap();
    let url = format!("{}/some/lists/resolve/main/catalogue.json", hub.endpoint());
    let source = CatalogueSource { url, cache: folder.path().join("catalogue.json") };
    (hub, source, folder)
}

fn list_repo(content: &str) -> Repo {
    Repo::new("some/lists", [("catalogue.json", content.to_owned())])
}

fn list_of(day: &str) -> serde_json::Value {
    let mut list = serde_json::to_value(Catalogue::embedded()).unwrap();
    list["updated"] = day.into();
    list
}

#[tokio::test]
async fn a_newer_list_of_models_is_kept_and_not_sent_again() {
    let (hub, source, _folder) = with_list(&list_of("2999-01-01").to_string()).await;
    let client = client(&hub);
    assert_eq!(Catalogue::refresh(&client, &source).await.unwrap().updated, "2999-01-01");
    assert_eq!(Catalogue::load(Some(&source)).updated, "2999-01-01");
    // The second time the server only says that nothing has changed.
    assert_eq!(Catalogue::refresh(&client, &source).await.unwrap().updated, "2999-01-01");
    let seen = hub.seen();
    assert!(seen[0].if_none_match.is_none() && seen[1].if_none_match.is_some(), "{seen:?}");
    hub.put(list_repo(&list_of("2999-01-02").to_string()));
    assert_eq!(Catalogue::refresh(&client, &source).await.unwrap().updated, "2999-01-02");
    assert_eq!(Catalogue::load(Some(&source)).updated, "2999-01-02");
}

#[tokio::test]
async fn a_list_that_is_older_or_cannot_be_used_changes_nothing() {
    let (hub, source, folder) = with_list(&list_of("2999-01-01").to_string()).await;
    let client = client(&hub);
    Catalogue::refresh(&client, &source).await.unwrap();
    let kept = read_folder(folder.path());
    let mut other_version = list_of("2999-12-31");
    other_version["version"] = 2.into();
    let mut two_of_one = list_of("2999-12-31");
    two_of_one["entries"][1] = two_of_one["entries"][0].clone();
    let bad = [list_of("2998-01-01"), other_version, two_of_one, serde_json::json!([])];
    for content in bad.map(|list| list.to_string()).iter().map(String::as_str).chain(["{\"version\": 1", ""])
    {
        hub.put(list_repo(content));
        let list = Catalogue::refresh(&client, &source).await.unwrap();
        assert_eq!(list.updated, "2999-01-01", "{content}");
        assert_eq!(read_folder(folder.path()), kept, "{content}");
    }
}

#[tokio::test]
async fn a_server_without_the_list_or_out_of_reach_leaves_the_one_at_hand() {
    let (hub, source, folder) = with_list(&list_of("2999-01-01").to_string()).await;
    let client = client(&hub);
    let troubles = [Trouble::Status(404, None), Trouble::Status(304, None), Trouble::Status(500, None)];
    for trouble in troubles {
        hub.fail(Fault::new(Stage::Resolve, trouble));
        Catalogue::refresh(&client, &source).await.unwrap_err();
        hub.heal();
    }
    drop(hub);
    let error = Catalogue::refresh(&client, &source).await.unwrap_err();
    assert!(matches!(error, LibraryError::Unreachable { .. }), "{error}");
    assert_eq!(Catalogue::load(Some(&source)), Catalogue::embedded());
    assert!(read_folder(folder.path()).is_empty());
}
