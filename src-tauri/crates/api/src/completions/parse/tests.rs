use serde_json::json;

use super::*;

fn read(fields: Value) -> Result<CompletionRequest, ApiError> {
    let mut body = json!({"model": "m", "prompt": "Once"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    parse(body.to_string().as_bytes(), &HeaderMap::new())
}

fn input(fields: Value) -> Input {
    read(fields).unwrap().asked.ask.input
}

#[test]
fn a_prompt_is_a_text_or_tokens() {
    let text = |text: &str, suffix: Option<&str>| Input::Text {
        text: text.into(),
        suffix: suffix.map(str::to_owned),
    };
    assert_eq!(input(json!({})), text("Once", None));
    assert_eq!(input(json!({"prompt": ["Once"]})), text("Once", None));
    assert_eq!(input(json!({"suffix": " end"})), text("Once", Some(" end")));
    assert_eq!(input(json!({"suffix": ""})), text("Once", None));
    assert_eq!(input(json!({"prompt": [5, 6]})), Input::Ids { ids: vec![5, 6] });
    assert_eq!(input(json!({"prompt": [[5]]})), Input::Ids { ids: vec![5] });
    assert_eq!(input(json!({"prompt": [5]})), Input::Ids { ids: vec![5] });
}

#[test]
fn settings_are_those_of_chats_with_a_shorter_limit() {
    let asked = read(json!({"temperature": 0.5, "logprobs": 2, "n": 2, "user": "me"})).unwrap().asked;
    assert_eq!((asked.ask.settings.max_tokens, asked.ask.settings.temperature), (Some(16), Some(0.5)));
    assert_eq!((asked.ask.logprobs, asked.ask.choices, asked.ignored), (Some(2), 2, vec!["user".to_owned()]));
    assert_eq!(read(json!({"max_tokens": -1})).unwrap().asked.ask.settings.max_tokens, None);
    assert_eq!(read(json!({"max_tokens": 5})).unwrap().asked.ask.settings.max_tokens, Some(5));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    for (fields, field) in [
        (json!({"prompt": null}), "prompt"),
        (json!({"prompt": 5}), "prompt"),
        (json!({"prompt": ["a", "b"]}), "prompt"),
        (json!({"prompt": [-5]}), "prompt"),
        (json!({"prompt": [5], "suffix": "a"}), "suffix"),
        (json!({"echo": true}), "echo"),
        (json!({"best_of": 2}), "best_of"),
        (json!({"logprobs": 6}), "logprobs"),
    ] {
        assert_eq!(read(fields.clone()).unwrap_err().field(), Some(field), "{fields}");
    }
    assert!(read(json!({"echo": false, "best_of": 1, "logit_bias": {}})).is_ok());
}
