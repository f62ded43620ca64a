//! What other programs send, with the real engine. `recorded/` has their requests.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

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
    let server = Server::real(&["--no-token"]);
    let mut read = bodies.iter().map(|body| {
        // All tools would take the engine some seconds more, and show no more.
        let tools = &body["tools"].as_array().unwrap()[..6];
        let fields = json!({"model": "default", "max_tokens": 8, "stream": false, "tools": tools});
        let body = with(body.clone(), fields);
        let mut answer = send(server.port, "POST", "/v1/messages?beta=true", &[], &body.to_string());
        assert!(answer.header("foretoken-ignored").unwrap().contains("system:x-anthropic-billing-header"));
        let usage = answer.json()["usage"].clone();
        let tokens = |name: &str| usage[name].as_u64().unwrap();
        (tokens("input_tokens"), tokens("cache_read_input_tokens"))
    });
    let ((first, cached), (new, again)) = (read.next().unwrap(), read.next().unwrap());
    assert!(cached == 0 && first > 1000, "{first} tokens, {cached} of them cached");
    assert!(20 * again >= 19 * first, "{again} of {first} tokens are not read again, {new} are");
}
