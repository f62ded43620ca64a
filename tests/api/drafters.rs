//! Requests that name who drafts, with the real engine.

use std::process::Stdio;

use foretoken_tests::fixtures::{demo_draft_model, demo_model, fixture};
use foretoken_tests::programs::built;
use serde_json::{Value, json};

use crate::client::{chat, get};
use crate::server::{Server, command};

fn asked(speculation: &Value) -> Value {
    json!({
        "model": "default", "messages": [{"role": "user", "content": "Tell me about the sea."}], "max_tokens": 40,
        "seed": 5, "temperature": 0.8, "reasoning_effort": "none", "foretoken": {"speculation": speculation},
    })
}

#[test]
fn a_draft_model_is_loaded_beside_the_model_and_drafts_for_whoever_names_it() {
    let draft_model = demo_draft_model();
    let server = Server::real(&["--no-token", "--draft-model", draft_model.to_str().unwrap()]);
    let entry = &get(server.port, "/v1/models").json()["data"][0]["foretoken"];
    assert_eq!(entry["draft_model"], "dflash", "{entry}");
    let answer = |speculation: Value| chat(server.port, &asked(&speculation)).json();
    let text = |answer: &Value| answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    let plain = answer(json!("off"));
    let dflash = answer(json!({"drafter": "dflash", "depth": 7}));
    assert_eq!(text(&dflash), text(&plain));
    let drafted = |answer: &Value| {
        let positions = answer["foretoken"]["positions"].as_array().unwrap().clone();
        positions.iter().map(|position| position["drafted"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert!(drafted(&plain).is_empty() && drafted(&dflash).len() == 7, "{dflash}");
    let by_draft_model = |answer: &Value| answer["foretoken"]["by_draft_model"]["drafted"].as_u64();
    assert_eq!(by_draft_model(&dflash), Some(drafted(&dflash).iter().sum()), "{dflash}");
    assert_eq!(by_draft_model(&answer(json!({"drafter": "mtp", "depth": 2}))), None);
}

#[test]
fn a_drafter_that_is_not_loaded_is_refused_and_those_that_are_there_are_named() {
    let server = Server::real(&["--no-token"]);
    for stream in [false, true] {
        let mut body = asked(&json!({"drafter": "dflash"}));
        body["stream"] = stream.into();
        let mut refused = chat(server.port, &body);
        assert_eq!((refused.status, refused.header("x-should-retry")), (400, Some("false")));
        let error = refused.json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["param"]),
            (&json!("invalid_value"), &json!("foretoken.speculation"))
        );
        let said = error["message"].as_str().unwrap();
        assert!(
            said.contains("no draft model is loaded") && said.contains("\"mtp\" and \"lookup\""),
            "{said}"
        );
    }
    assert_eq!(chat(server.port, &asked(&json!({"drafter": "mtp"}))).status, 200);
    assert_eq!(chat(server.port, &asked(&json!("auto"))).status, 200);
}

#[test]
fn a_draft_model_that_does_not_belong_to_the_model_is_no_good() {
    let home = tempfile::tempdir().unwrap();
    let start = |model: &std::path::Path, draft: &std::path::Path| {
        let mut server = command(&built("foretoken-server"), home.path());
        server.args(["--port", "0", "--no-token", "--model"]).arg(model).arg("--draft-model").arg(draft);
        let output = server.stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = start(&fixture("tiny-dense"), &demo_draft_model());
    assert!(said.contains("dflash") && said.contains("cannot be used"), "{said}");
    let said = start(&demo_model(), &demo_model());
    assert!(said.contains("is not a draft model"), "{said}");
    let said = start(&demo_model(), home.path());
    assert!(said.contains("config.json is missing"), "{said}");
}

#[test]
fn a_draft_model_of_the_library_is_named_as_models_are_and_answers_nobody() {
    let server = Server::with_library(&["first", "second", "dflash"], &["--draft-model", "dflash"]);
    let listed = || get(server.port, "/v1/models").json()["data"].as_array().unwrap().clone();
    let ids: Vec<_> = listed().iter().map(|model| model["id"].clone()).collect();
    assert_eq!(ids, ["first", "second"]);
    assert_eq!(listed()[0]["foretoken"]["draft_model"], "dflash");
    let ask = |model: &str| {
        let mut body = asked(&json!({"drafter": "dflash"}));
        body["model"] = model.into();
        chat(server.port, &body).status
    };
    assert_eq!([ask("default"), ask("dflash"), ask("second"), ask("first")], [200, 404, 400, 200]);
}
