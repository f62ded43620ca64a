//! What other programs send, with the real engine. `recorded/` has their requests.

use std::fs;
use std::path::Path;

use foretoken_tests::fixtures::demo_model;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::send;
use crate::server::{Server, with};

/// An agent begins each request with a line that changes, and sends its tools and all that was said again with each. Of
/// that nothing is read a second time.
#[test]
fn the_second_round_of_an_agent_reads_only_what_is_new() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("api/recorded/claude_code.json");
    let text = fs::read_to_string(file).unwrap();
    let recorded: Value =
        serde_json::from_str(&text.replace("$SCRIPT", "What does a.txt say?").replace("$CALL", "toolu_1"))
            .unwrap();
    let bodies = recorded["bodies"].as_array().unwrap();
    let system = |index: usize| bodies[index]["system"][0]["text"].as_str().unwrap();
    assert!(system(0).starts_with("x-anthropic-billing-header:") && system(0) != system(1));
    let model = for_long_prompts();
    let server = Server::real_with(model.path(), &["--no-token"]);
    let mut read = bodies.iter().map(|body| {
        let tools = with_those_of_servers(&body["tools"], 25);
        let fields = json!({"model": "default", "max_tokens": 8, "stream": false, "tools": tools});
        let body = with(body.clone(), fields);
        let mut answer = send(server.port, "POST", "/v1/messages?beta=true", &[], &body.to_string());
        assert!(answer.header("foretoken-ignored").unwrap().contains("system:x-anthropic-billing-header"));
        let usage = answer.json()["usage"].clone();
        let tokens = |name: &str| usage[name].as_u64().unwrap();
        (tokens("input_tokens"), tokens("cache_read_input_tokens"))
    });
    let ((first, cached), (new, again)) = (read.next().unwrap(), read.next().unwrap());
    assert!(cached == 0 && first > 4000, "{first} tokens, {cached} of them cached");
    assert!(20 * again >= 19 * first, "{again} of {first} tokens are not read again, {new} are");
}

/// As many tools as such programs send once people have connected servers of theirs: those that were recorded, and
/// again by names that such servers give them.
fn with_those_of_servers(recorded: &Value, count: usize) -> Vec<Value> {
    let recorded = recorded.as_array().unwrap();
    let servers = ["", "mcp__files__", "mcp__web__"].into_iter();
    let all = servers.flat_map(|server| {
        recorded.iter().map(move |tool| {
            let name = format!("{server}{}", tool["name"].as_str().unwrap());
            with(tool.clone(), json!({"name": name}))
        })
    });
    let tools: Vec<Value> = all.take(count).collect();
    assert_eq!(tools.len(), count);
    tools
}

/// A small model that reads as much as agents send, though it was not made for that: what it says makes no difference.
fn for_long_prompts() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(demo_model()).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let config = folder.path().join("config.json");
    let mut read: Value = serde_json::from_slice(&fs::read(&config).unwrap()).unwrap();
    let text = if read.get("text_config").is_some() { &mut read["text_config"] } else { &mut read };
    text["max_position_embeddings"] = 32_768.into();
    fs::remove_file(&config).unwrap();
    fs::write(&config, read.to_string()).unwrap();
    folder
}
