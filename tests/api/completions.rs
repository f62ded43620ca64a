//! Completions of texts, with an engine that does as it is told.

use serde_json::{Value, json};

use crate::client::{Answer, send};
use crate::server::Server;

fn complete(port: u16, body: &Value) -> Answer {
    send(port, "POST", "/v1/completions", &[], &body.to_string())
}

#[test]
fn a_text_is_gone_on_with() {
    let server = Server::scripted(&["--no-token"]);
    let script = json!({"say": ["Once", " more"]}).to_string();
    let body = json!({"model": "default", "prompt": script, "logprobs": 1});
    let whole = complete(server.port, &body).json();
    assert_eq!(
        (&whole["object"], &whole["choices"][0]["text"]),
        (&json!("text_completion"), &json!("Once more"))
    );
    assert_eq!(whole["choices"][0]["logprobs"]["tokens"], json!(["Once", " more"]));
    let mut asked = body;
    asked["stream"] = json!(true);
    let events = complete(server.port, &asked).events();
    let text: String = events.iter().filter_map(|event| event["choices"][0]["text"].as_str()).collect();
    assert_eq!((text.as_str(), events.last().unwrap()), ("Once more", &json!("[DONE]")));
    let ids = complete(server.port, &json!({"model": "default", "prompt": [5, 6]})).json();
    assert_eq!(ids["choices"][0]["text"], "[5, 6]");
    let mut refused = complete(server.port, &json!({"model": "default", "prompt": "a", "echo": true}));
    assert_eq!((refused.status, refused.json()["error"]["param"].clone()), (400, json!("echo")));
}
