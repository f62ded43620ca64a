use foretoken_protocol::{
    CallRule, ChatMessage, Content, ContentPart, Format, FunctionCall, PictureDetail, ToolCall,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(fields: Value) -> Result<MessagesRequest, ApiError> {
    let mut body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    parse(body.to_string().as_bytes(), &HeaderMap::new())
}

fn chat(fields: Value) -> (ChatInput, Asked) {
    let asked = read(fields).unwrap().asked;
    let Input::Chat(chat) = asked.ask.input.clone() else { panic!("{asked:?}") };
    (chat, asked)
}

fn refused(fields: Value) -> String {
    read(fields.clone()).expect_err(&fields.to_string()).field().unwrap_or_default().to_owned()
}

#[test]
fn blocks_become_turns() {
    let (chat, asked) = chat(json!({
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm", "signature": "x"}, {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"b": 1}},
                {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "two"}], "is_error": true},
                {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
                {"type": "text", "text": "And?"},
            ]},
            {"role": "system", "content": "Now."},
        ],
    }));
    let call = |name: &str, arguments: Value| ToolCall::Function {
        function: FunctionCall { name: name.into(), arguments: arguments.as_object().unwrap().clone() },
    };
    let expected = [
        ChatMessage::system("Be brief."),
        ChatMessage::user("A\nB"),
        ChatMessage::Assistant {
            content: "I look.".into(),
            reasoning_content: Some("Hm".into()),
            tool_calls: vec![call("f", json!({"b": 1})), call("g", json!({}))],
        },
        ChatMessage::Tool { content: "one".into() },
        ChatMessage::Tool { content: "Error: two".into() },
        ChatMessage::user("And?\n\n<system-note>\nNow.\n</system-note>"),
    ];
    assert_eq!(chat.messages, expected);
    assert_eq!((asked.ignored, asked.warnings), (Vec::<String>::new(), Vec::new()));
}

#[test]
fn settings_are_honoured() {
    let request = read(json!({
        "temperature": 0.5, "top_p": 0.9, "top_k": 5, "stop_sequences": ["END"], "stream": true, "metadata": {"a": 1},
        "thinking": {"type": "enabled", "budget_tokens": 9, "display": "omitted"}, "foretoken": {"speculation": 2, "trace": true},
    }));
    let MessagesRequest { asked, hides_thinking } = request.unwrap();
    let settings = asked.ask.settings;
    assert_eq!((settings.temperature, settings.top_p, settings.top_k), (Some(0.5), Some(0.9), Some(5)));
    assert_eq!(
        (settings.stop, settings.max_tokens, settings.thinking),
        (vec!["END".into()], Some(9), Some(true))
    );
    assert!(asked.stream && hides_thinking && settings.drafting.is_some());
    assert_eq!(asked.ignored, ["metadata", "foretoken.trace"]);
    let thinking = |value: Value| read(json!({"thinking": value})).unwrap().asked.ask.settings.thinking;
    assert_eq!(thinking(json!({"type": "disabled"})), Some(false));
    assert_eq!(thinking(json!({"type": "adaptive"})), Some(true));
    assert_eq!(thinking(json!(null)), None);
}

#[test]
fn a_line_that_changes_each_time_is_taken_out_of_the_front_of_instructions_alone() {
    let billing = "x-anthropic-billing-header: cc_version=2; cch=1a2b;";
    for system in [
        json!([{"type": "text", "text": billing}, {"type": "text", "text": "Be brief."}]),
        json!(format!("{billing}\nBe brief.")),
    ] {
        let (chat, asked) = chat(json!({"system": system}));
        assert_eq!(chat.messages[0], ChatMessage::system("Be brief."));
        assert_eq!(asked.ignored, ["system:x-anthropic-billing-header"]);
    }
    let quoted = format!("Never write {billing}");
    let (chat, _) = chat(json!({"system": quoted, "messages": [{"role": "user", "content": billing}]}));
    assert_eq!(chat.messages, [ChatMessage::system(quoted), ChatMessage::user(billing)]);
}

#[test]
fn what_binds_the_answer_is_passed_on() {
    let schema = json!({"type": "object"});
    let tools = json!([{"name": "f", "input_schema": {"type": "object"}, "strict": true}]);
    let (asked_for, asked) = chat(json!({
        "output_config": {"format": {"type": "json_schema", "schema": schema}, "effort": "max"},
        "thinking": {"type": "enabled", "budget_tokens": 700},
        "tools": tools,
    }));
    let constraint = asked.ask.settings.constraint;
    assert_eq!(constraint.format, Some(Format::JsonSchema(schema)));
    assert_eq!((constraint.thinking_budget, constraint.calls), (Some(700), CallRule::Free));
    assert!(asked_for.messages[0].content().contains("JSON Schema"));
    assert_eq!(asked_for.tools[0]["function"]["strict"], true);
    assert_eq!(asked_for.template.reasoning_effort.as_deref(), Some("max"));
    let named = read(json!({"tools": tools, "tool_choice": {"type": "tool", "name": "f"}})).unwrap();
    assert_eq!(named.asked.ask.settings.constraint.calls, CallRule::Named("f".into()));
    let any = read(json!({"tools": tools, "tool_choice": {"type": "any"}})).unwrap();
    assert_eq!(any.asked.ask.settings.constraint.calls, CallRule::Required);
    assert!(read(json!({"tools": tools, "tool_choice": {"type": "tool", "name": "g"}})).is_err());
    assert!(read(json!({"tool_choice": {"type": "any"}})).is_err());
}

#[test]
fn tools_of_the_provider_are_left_out_and_named() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let (chat, asked) = chat(json!({
        "tools": [
            {"name": "f", "description": "Finds.", "input_schema": schema, "cache_control": {"type": "ephemeral"}},
            {"type": "custom", "name": "g", "input_schema": {"type": "object"}, "strict": true},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
    }));
    let function = json!({"name": "f", "description": "Finds.", "parameters": schema});
    assert_eq!((chat.tools.len(), &chat.tools[0]["function"]), (2, &function));
    assert!(chat.one_call);
    assert_eq!((asked.ignored, asked.warnings), (vec!["tools:web_search_20250305".into()], vec![]));
    assert!(
        read(json!({"tools": [{"name": "f"}], "tool_choice": {"type": "none"}}))
            .unwrap()
            .asked
            .ask
            .tools
            .is_empty()
    );
}

#[test]
fn one_odd_tool_is_left_out_and_named() {
    let with = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}});
    let (chat, asked) = chat(json!({"tools": [
        {"type": "bash_20250124", "name": "bash"},
        {"name": "mcp__x__list", "input_schema": with("$filter")},
        {"name": "odd", "input_schema": with("a\nb")},
    ]}));
    assert_eq!(chat.tools.len(), 1);
    assert_eq!(asked.ignored, ["tools:bash_20250124", "tools:odd"]);
}

#[test]
fn blocks_of_unknown_types_are_left_out_of_what_was_said_before() {
    let kinds =
        ["server_tool_use", "mcp_tool_use", "mcp_tool_result", "code_execution_tool_result", "compaction"];
    let mut blocks: Vec<Value> =
        kinds.iter().map(|kind| json!({"type": kind, "id": "x", "content": []})).collect();
    blocks.push(json!({"type": "text", "text": "Yes"}));
    blocks.push(json!({"type": "tool_use", "id": "t", "name": "f", "input": {}}));
    let reference = json!({"type": "tool_reference", "tool_name": "g"});
    let found = json!({"type": "search_result", "title": "T"});
    let text = json!({"type": "text", "text": "One"});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": [reference, text, found]});
    let upload = json!({"type": "container_upload", "file_id": "f"});
    let before =
        [json!({"role": "user", "content": [upload, text]}), json!({"role": "assistant", "content": blocks})];
    let with = |last: Value| {
        let mut messages = before.to_vec();
        messages.push(json!({"role": "user", "content": last}));
        json!({"messages": messages})
    };
    let (chat, asked) = chat(with(json!([result])));
    let texts: Vec<_> = chat.messages.iter().map(ChatMessage::content).collect();
    assert_eq!(texts, ["One", "Yes", "One"]);
    let left_out = ["container_upload"].iter().chain(&kinds).chain(&["tool_reference", "search_result"]);
    assert_eq!(asked.ignored, left_out.map(|kind| format!("content:{kind}")).collect::<Vec<_>>());
    // What is to be answered is refused where it has something that would have to be seen.
    let error = read(with(json!([result, upload]))).unwrap_err();
    assert_eq!(error.field(), Some("messages[2].content[1].type"));
    assert!(error.to_string().contains("container_upload"), "{error}");
}

#[test]
fn pictures_keep_their_places_also_in_results() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image =
        |source: Value| json!({"type": "image", "source": source, "cache_control": {"type": "ephemeral"}});
    let base64 = |data: &str| image(json!({"type": "base64", "media_type": "image/png", "data": data}));
    let result = json!({"type": "tool_result", "tool_use_id": "t", "is_error": true,
        "content": [text("One"), text("Two"), base64("QQ=="), text("Three")]});
    let request = |last: Value| {
        read(json!({"messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
            {"role": "user", "content": [result, base64("Qg=="), text("Four"), text("Five"), last]},
        ]}))
    };
    let MessagesRequest { asked, .. } = request(base64("Qw==")).unwrap();
    let Input::Chat(chat) = asked.ask.input else { panic!("it is a chat") };
    let part = |text: &str| ContentPart::Text { text: text.into() };
    let picture = |number: &str| ContentPart::Image { pixels: number.into() };
    let parts = vec![part("Error: One\nTwo"), picture("0"), part("Three")];
    assert_eq!(chat.messages[2], ChatMessage::Tool { content: Content::Parts(parts) });
    let parts = vec![picture("1"), part("Four\nFive"), picture("2")];
    assert_eq!(chat.messages[3], ChatMessage::User { content: Content::Parts(parts) });
    let expected = [
        ("messages[2].content[0].content[2]", "QQ==", PictureDetail::Standard, false),
        ("messages[2].content[1]", "Qg==", PictureDetail::Standard, true),
        ("messages[2].content[4]", "Qw==", PictureDetail::Standard, true),
    ];
    assert_eq!(asked.ask.pictures.told(), expected);
    for source in
        [json!({"type": "url", "url": "https://example.com/a"}), json!({"type": "file", "file_id": "f"})]
    {
        let error = request(image(source)).unwrap_err();
        assert_eq!(error.field(), Some("messages[2].content[4]"));
        assert_eq!(error.kind_and_code().1, "image_url_not_supported");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let message = |role: &str, content: Value| json!({"messages": [{"role": role, "content": content}]});
    for (fields, field) in [
        (json!({"model": null}), "model"),
        (json!({"messages": []}), "messages"),
        (json!({"thread": {"type": "create"}}), "thread"),
        (json!({"thread": {"type": "continue", "previous_message_id": "msg_1"}}), "thread"),
        (message("wizard", json!("a")), "messages[0].role"),
        (message("user", json!(5)), "messages[0].content"),
        (message("user", Value::Null), "messages[0].content"),
        (message("user", json!([{"type": "image", "source": {}}])), "messages[0].content[0].source.type"),
        (
            message("user", json!([{"type": "tool_result", "tool_use_id": "x"}])),
            "messages[0].content[0].tool_use_id",
        ),
        (message("user", json!([{"type": "odd"}])), "messages[0].content[0].type"),
        (json!({"system": 5}), "system"),
        (json!({"top_p": 0}), "top_p"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"stop_sequences": [""]}), "stop_sequences"),
        (json!({"thinking": {"type": "deep"}}), "thinking.type"),
        (json!({"tool_choice": {"type": "any"}}), "tool_choice"),
        (json!({"tool_choice": {"type": "maybe"}}), "tool_choice.type"),
        (json!({"tools": [{"name": "a"}, {"name": "a"}]}), "tools"),
        (json!({"output_config": {"format": {"type": "json_schema"}}}), "output_config.format.schema"),
    ] {
        assert_eq!(refused(fields.clone()), field, "{fields}");
    }
}

proptest! {
    #[test]
    fn no_body_is_too_odd(
        name in prop::sample::select(&["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config",
            "max_tokens", "stop_sequences", "top_p", "top_k", "temperature", "stream", "foretoken"][..]),
        words in prop::collection::vec(prop::sample::select(&["role", "content", "type", "text", "user", "assistant",
            "tool_use", "tool_result", "thinking", "input", "id", "name", ""][..]), 0..6),
        number in any::<i64>(),
    ) {
        let object: Map<String, Value> =
            words.chunks(2).map(|pair| (pair[0].to_owned(), json!(pair.last()))).collect();
        for value in [json!(words), json!(number), json!(object), json!([object]), json!([{"role": "user", "content": [object]}])] {
            let _ = read(json!({name: value}));
        }
    }
}
