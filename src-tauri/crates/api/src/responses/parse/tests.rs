use foretoken_protocol::{
    CallRule, ChatMessage, Content, ContentPart, PartialReply, PictureDetail, ToolCall,
};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(fields: Value) -> Result<ResponseRequest, ApiError> {
    let mut body = json!({"model": "m", "input": "Hi"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    parse(body.to_string().as_bytes(), &HeaderMap::new())
}

fn chat(fields: Value) -> (ChatInput, Asked) {
    let asked = read(fields).unwrap().asked;
    let Input::Chat(chat) = asked.ask.input.clone() else { panic!("{asked:?}") };
    (chat, asked)
}

/// The field that a refusal is about, and its code.
fn refused(fields: Value) -> (String, &'static str) {
    let error = read(fields.clone()).expect_err(&fields.to_string());
    (error.field().unwrap_or_default().to_owned(), error.kind_and_code().1)
}

#[test]
fn a_text_and_items_become_turns() {
    let (short, _) = chat(json!({"instructions": "Be brief."}));
    assert_eq!(short.messages, [ChatMessage::system("Be brief."), ChatMessage::user("Hi")]);
    let (long, asked) = chat(json!({"instructions": "Be brief.", "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Use tools."}]},
        {"role": "user", "content": "Look."},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "a", "namespace": "files", "name": "read", "arguments": "{\"path\":\"x\"}"},
        {"type": "custom_tool_call", "call_id": "b", "namespace": "edit", "name": "patch", "input": "*** Begin"},
        {"type": "web_search_call", "id": "ws_1"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": "done"},
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "text"}]},
    ]}));
    let texts: Vec<_> = long.messages.iter().map(ChatMessage::content).collect();
    assert_eq!(texts, ["Be brief.\n\nUse tools.", "Look.", "I look.", "text", "done"]);
    let ChatMessage::Assistant { reasoning_content, tool_calls, .. } = &long.messages[2] else { panic!() };
    assert_eq!(reasoning_content.as_deref(), Some("Hm"));
    let calls: Vec<(&str, Value)> = tool_calls
        .iter()
        .map(|ToolCall::Function { function }| (function.name.as_str(), json!(function.arguments)))
        .collect();
    assert_eq!(
        calls,
        [("files__read", json!({"path": "x"})), ("edit__patch", json!({"input": "*** Begin"}))]
    );
    assert_eq!(asked.ignored, ["input:web_search_call"]);
    let (resumed, _) = chat(json!({"input": [
        {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hel"}]}));
    let reply = PartialReply { answer: "Hel".into(), thought_through: true, ..PartialReply::default() };
    assert_eq!(resumed.resume, Some(reply));
}

#[test]
fn thinking_that_was_hidden_here_is_read_again() {
    let item = |hidden: String| {
        json!([
        {"role": "user", "content": "Hi"}, {"type": "reasoning", "summary": [], "encrypted_content": hidden},
        {"role": "assistant", "content": "Ho"}, {"role": "user", "content": "So?"}])
    };
    let thinking = |hidden: String| {
        let (chat, _) = chat(json!({"input": item(hidden)}));
        let ChatMessage::Assistant { reasoning_content, .. } = &chat.messages[1] else { panic!() };
        reasoning_content.clone()
    };
    assert_eq!(thinking(items::hidden("Hm ü")), Some("Hm ü".into()));
    assert_eq!(thinking("gAAAA of somebody else".into()), None);
}

#[test]
fn tools_of_all_kinds_are_offered_or_left_out() {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tools = json!([
        {"type": "function", "name": "f", "description": "Finds.", "parameters": parameters, "strict": true},
        {"type": "namespace", "name": "files", "description": "Files.", "tools": [
            {"type": "function", "name": "read", "parameters": parameters}]},
        {"type": "custom", "name": "apply_patch", "description": "Patches.",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"x\""}},
        {"type": "web_search"}, {"type": "local_shell"},
    ]);
    let request = read(json!({"tools": tools, "parallel_tool_calls": false})).unwrap();
    let offered: Vec<&str> = request.asked.ask.tools.names().collect();
    assert_eq!(offered, ["f", "files__read", "apply_patch"]);
    assert_eq!(request.asked.ignored, ["tools:web_search", "tools:local_shell"]);
    let Input::Chat(chat) = &request.asked.ask.input else { panic!() };
    assert!(chat.one_call);
    assert_eq!(chat.tools[0]["function"]["strict"], true);
    assert_eq!(chat.tools[2]["function"]["parameters"]["required"], json!(["input"]));
    assert!(chat.tools[2]["function"]["description"].as_str().unwrap().contains("start: \"x\""));
    let names = &request.echo.names;
    assert!(names.customs.has("apply_patch") && !names.customs.has("f"));
    assert_eq!(names.get("files__read").unwrap().namespace.as_deref(), Some("files"));
    assert_eq!(request.echo.fields["tools"], tools);
    for (choice, calls) in [
        (json!("required"), CallRule::Required),
        (json!({"type": "function", "name": "f"}), CallRule::Named("f".into())),
        (json!({"type": "function", "name": "read"}), CallRule::Named("files__read".into())),
        (json!({"type": "custom", "name": "apply_patch"}), CallRule::Named("apply_patch".into())),
    ] {
        let asked = read(json!({"tools": tools, "tool_choice": choice})).unwrap().asked;
        assert_eq!(asked.ask.settings.constraint.calls, calls);
    }
    let allowed = json!({"type": "allowed_tools", "mode": "required", "tools": [
        {"type": "function", "name": "read"}, {"type": "mcp", "server_label": "x"},
    ]});
    let asked = read(json!({"tools": tools, "tool_choice": allowed})).unwrap().asked.ask;
    assert_eq!(asked.tools.names().collect::<Vec<_>>(), ["files__read"]);
    assert_eq!(asked.settings.constraint.calls, CallRule::Required);
    let group = |name: &str| json!({"type": "namespace", "name": name, "tools": [{"type": "function", "name": "read"}]});
    let two = json!({"tools": [group("a"), group("b")], "tool_choice": {"type": "function", "name": "read"}});
    assert_eq!(refused(two), ("tool_choice".to_owned(), "invalid_value"));
}

#[test]
fn settings_are_honoured_and_what_does_not_count_is_named() {
    let request = read(json!({
        "temperature": 0.5, "top_p": 0.9, "max_output_tokens": 7, "stream": true, "store": false, "user": "x",
        "reasoning": {"effort": "none", "summary": "auto"}, "top_logprobs": 2, "metadata": {"a": "b"},
        "include": ["message.output_text.logprobs", "reasoning.encrypted_content", "web_search_call.results"],
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}, "verbosity": "low"},
        "foretoken": {"speculation": 2, "priority": "background"}, "truncation": null,
    }))
    .unwrap();
    let ResponseRequest { asked, echo } = request;
    let settings = asked.ask.settings;
    assert_eq!((settings.temperature, settings.top_p, settings.max_tokens), (Some(0.5), Some(0.9), Some(7)));
    assert!(settings.thinking == Some(false) && settings.drafting.is_some() && settings.in_background);
    assert_eq!(settings.constraint.format, Some(Format::JsonSchema(json!({"type": "object"}))));
    assert!(asked.stream && echo.logprobs && echo.hidden_thinking && asked.ask.logprobs == Some(2));
    assert_eq!(
        asked.ignored,
        ["store", "user", "metadata", "text.verbosity", "include:web_search_call.results"]
    );
    assert_eq!(echo.fields["metadata"], json!({"a": "b"}));
    assert_eq!(read(json!({"top_logprobs": 2})).unwrap().asked.ignored, ["top_logprobs"]);
    let Input::Chat(chat) = read(json!({"reasoning": {"effort": "low"}})).unwrap().asked.ask.input else {
        panic!()
    };
    assert_eq!(chat.template.reasoning_effort.as_deref(), Some("low"));
}

#[test]
fn what_would_need_a_memory_and_what_is_wrong_is_refused_by_name() {
    for (fields, field) in [
        (json!({"previous_response_id": "resp_1"}), "previous_response_id"),
        (json!({"conversation": "conv_1"}), "conversation"),
        (json!({"prompt": {"id": "pmpt_1"}}), "prompt"),
        (json!({"background": true}), "background"),
        (json!({"input": [{"type": "item_reference", "id": "x"}]}), "input[0].type"),
    ] {
        assert_eq!(refused(fields.clone()), (field.to_owned(), "not_stored"), "{fields}");
    }
    for (fields, field) in [
        (json!({"input": null}), "input"),
        (json!({"input": 5}), "input"),
        (json!({"input": []}), "input"),
        (json!({"input": ["x"]}), "input[0]"),
        (json!({"input": [{"role": "tool", "content": "x"}]}), "input[0].role"),
        (
            json!({"input": [{"role": "user", "content": "x"}, {"type": "function_call", "name": "f"}]}),
            "input[1].call_id",
        ),
        (
            json!({"input": [{"type": "function_call_output", "call_id": "a", "output": "x"}]}),
            "input[0].call_id",
        ),
        (json!({"tools": [{"name": "f"}]}), "tools[0].type"),
        (json!({"tools": [{"type": "function"}]}), "tools[0].name"),
        (json!({"tool_choice": "required"}), "tool_choice"),
        (json!({"text": {"format": {"type": "json_schema"}}}), "text.format.schema"),
        (json!({"reasoning": {"effort": "huge"}}), "reasoning.effort"),
        (json!({"max_output_tokens": 0}), "max_output_tokens"),
        (json!({"foretoken": {"priority": "high"}}), "foretoken.priority"),
    ] {
        assert_eq!(refused(fields.clone()), (field.to_owned(), "invalid_value"), "{fields}");
    }
    let image = json!({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]});
    assert_eq!(refused(image), ("input[0].content[0]".to_owned(), "image_url_not_supported"));
    assert!(read(json!({"background": false, "previous_response_id": null})).is_ok());
}

#[test]
fn pictures_keep_their_places_also_in_outputs() {
    let image = |data: &str| json!({"type": "input_image", "image_url": format!("data:image/png;base64,{data}"), "detail": "low"});
    let text = json!({"type": "input_text", "text": "See"});
    let request = read(json!({"input": [
        {"role": "user", "content": "Look."},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": [image("QQ=="), text]},
        {"role": "user", "content": [text, image("Qg==")]},
    ]}));
    let ask = request.unwrap().asked.ask;
    let Input::Chat(chat) = ask.input else { panic!("it is a chat") };
    let see = || ContentPart::Text { text: "See".into() };
    let picture = |number: &str| ContentPart::Image { pixels: number.into() };
    let content = |parts: [ContentPart; 2]| Content::Parts(parts.into());
    assert_eq!(chat.messages[2], ChatMessage::Tool { content: content([picture("0"), see()]) });
    assert_eq!(chat.messages[3], ChatMessage::User { content: content([see(), picture("1")]) });
    let expected = [
        ("input[2].output[0]", "QQ==", PictureDetail::Low, false),
        ("input[3].content[1]", "Qg==", PictureDetail::Low, true),
    ];
    assert_eq!(ask.pictures.told(), expected);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(5)),
        Just(json!("a")),
        Just(json!("message")),
        Just(json!("function")),
        Just(json!("namespace")),
        Just(json!("reasoning")),
        Just(json!("{\"a\":1}")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop::sample::select(
            &[
                "type",
                "role",
                "content",
                "name",
                "call_id",
                "arguments",
                "tools",
                "summary",
                "text",
                "format",
                "output",
                "effort",
            ][..],
        );
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..4).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_body_is_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes, &HeaderMap::new());
    }

    #[test]
    fn no_value_is_too_odd(
        name in prop::sample::select(&[
            "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text",
            "include", "top_logprobs", "max_output_tokens", "stream", "foretoken", "background",
        ][..]),
        value in value(),
    ) {
        let _ = read(json!({name: value}));
    }
}
