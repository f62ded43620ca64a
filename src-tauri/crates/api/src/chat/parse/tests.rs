use axum::http::HeaderValue;
use foretoken_calls::Tools;
use foretoken_protocol::{
    AcceptanceRule, CallRule, ChatMessage, Content, ContentPart, Drafting, FunctionCall, PartialReply,
    PictureDetail, TemplateOptions, ToolCall,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::ask::AskedSettings;

fn read(fields: Value) -> Result<ChatRequest, ApiError> {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    parse(body.to_string().as_bytes(), &HeaderMap::new())
}

fn settings_of(fields: Value) -> AskedSettings {
    read(fields).unwrap().asked.ask.settings
}

/// The field that a refusal is about, and its code.
fn refused(fields: Value) -> (String, &'static str) {
    let error = read(fields.clone()).expect_err(&fields.to_string());
    (error.field().unwrap_or_default().to_owned(), error.kind_and_code().1)
}

/// The chat of a request, and what is warned of.
fn chat(fields: Value) -> (ChatInput, Vec<&'static str>) {
    let Asked { ask, warnings, .. } = read(fields).unwrap().asked;
    let Input::Chat(chat) = ask.input else { panic!("{:?}", ask.input) };
    (chat, warnings)
}

fn messages(messages: Value) -> (ChatInput, Vec<&'static str>) {
    chat(json!({"messages": messages}))
}

#[test]
fn a_small_request_asks_for_what_the_person_has_chosen() {
    let request =
        read(json!({"temperature": null, "tools": [], "tool_choice": "auto", "modalities": ["text"]}));
    let expected = Asked {
        ask: Ask {
            model: "m".into(),
            input: vec![ChatMessage::user("Hi")].into(),
            pictures: Pictures::default(),
            tools: Tools::default(),
            settings: AskedSettings::default(),
            logprobs: None,
            choices: 1,
        },
        stream: false,
        ignored: Vec::new(),
        only_in_tags: Vec::new(),
        warnings: Vec::new(),
    };
    let (options, customs) = (Options::default(), Customs::default());
    assert_eq!(request.unwrap(), ChatRequest { asked: expected, options, customs });
}

#[test]
fn settings_are_honoured() {
    let all = settings_of(json!({
        "temperature": 0.5, "top_p": 0.9, "top_k": -1, "min_p": 0.1, "presence_penalty": -2, "frequency_penalty": 2,
        "repeat_penalty": 1.1, "xtc_probability": 0.5, "xtc_threshold": 0.2, "seed": -1, "stop": "END",
        "max_tokens": 5, "max_completion_tokens": 7,
    }));
    let expected = AskedSettings {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(0),
        min_p: Some(0.1),
        presence_penalty: Some(-2.0),
        frequency_penalty: Some(2.0),
        repetition_penalty: Some(1.1),
        xtc_probability: Some(0.5),
        xtc_threshold: Some(0.2),
        seed: Some(u64::MAX),
        stop: vec!["END".into()],
        max_tokens: Some(7),
        ..AskedSettings::default()
    };
    assert_eq!(all, expected);
    assert_eq!(settings_of(json!({"max_tokens": -1, "seed": u64::MAX})).max_tokens, None);
    assert_eq!(settings_of(json!({"max_completion_tokens": -1, "max_tokens": 5})).max_tokens, Some(5));
    for large in [1 << 40, u64::MAX] {
        let asked = settings_of(json!({"max_tokens": large, "top_k": large}));
        assert_eq!((asked.max_tokens, asked.top_k), (Some(u32::MAX), Some(u32::MAX)), "{large}");
    }
    assert_eq!(settings_of(json!({"stop": []})).stop, Vec::<String>::new());
    let request = read(json!({
        "stream": true, "stream_options": {"include_usage": true, "include_obfuscation": false}, "n": 4,
        "logprobs": true, "top_logprobs": 20,
    }));
    let request = request.unwrap();
    assert!(request.asked.stream && request.options.include_usage && request.options.logprobs);
    assert_eq!((request.asked.ask.choices, request.asked.ask.logprobs), (4, Some(20)));
    assert_eq!(read(json!({"logprobs": true})).unwrap().asked.ask.logprobs, Some(0));
}

#[test]
fn values_that_cannot_be_are_refused_by_name() {
    for (fields, field) in [
        (json!({"model": null}), "model"),
        (json!({"model": 5}), "model"),
        (json!({"temperature": 5.1}), "temperature"),
        (json!({"temperature": "0"}), "temperature"),
        (json!({"top_p": 0}), "top_p"),
        (json!({"top_k": -2}), "top_k"),
        (json!({"min_p": 2}), "min_p"),
        (json!({"presence_penalty": 3}), "presence_penalty"),
        (json!({"frequency_penalty": -3}), "frequency_penalty"),
        (json!({"repetition_penalty": 0}), "repetition_penalty"),
        (json!({"repeat_penalty": 11}), "repeat_penalty"),
        (json!({"xtc_probability": 2}), "xtc_probability"),
        (json!({"xtc_threshold": 0.6}), "xtc_threshold"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"max_completion_tokens": 0}), "max_completion_tokens"),
        (json!({"max_completion_tokens": 7, "max_tokens": 0}), "max_tokens"),
        (json!({"response_format": {"type": "xml"}}), "response_format.type"),
        (json!({"response_format": {}}), "response_format.type"),
        (json!({"max_completion_tokens": -2}), "max_completion_tokens"),
        (json!({"seed": 1.5}), "seed"),
        (json!({"stop": ""}), "stop"),
        (json!({"stop": ["a", ""]}), "stop"),
        (json!({"stop": [5]}), "stop"),
        (json!({"stop": vec!["a"; 17]}), "stop"),
        (json!({"n": 5}), "n"),
        (json!({"n": 0}), "n"),
        (json!({"logprobs": 5}), "logprobs"),
        (json!({"top_logprobs": 3}), "top_logprobs"),
        (json!({"logprobs": true, "top_logprobs": 21}), "top_logprobs"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"stream_options": {"include_usage": 1}}), "stream_options.include_usage"),
        (json!({"reasoning_effort": "huge"}), "reasoning_effort"),
        (json!({"enable_thinking": "yes"}), "enable_thinking"),
        (json!({"chat_template_kwargs": {"enable_thinking": 1}}), "chat_template_kwargs.enable_thinking"),
        (json!({"foretoken": 5}), "foretoken"),
        (json!({"foretoken": {"trace": 1}}), "foretoken.trace"),
        (json!({"foretoken": {"speculation": 0}}), "foretoken.speculation"),
        (json!({"foretoken": {"speculation": 9}}), "foretoken.speculation"),
        (
            json!({"foretoken": {"speculation": {"drafter": "mtp", "depth": 9}}}),
            "foretoken.speculation.depth",
        ),
        (json!({"foretoken": {"speculation": "fast"}}), "foretoken.speculation"),
        (json!({"foretoken": {"speculation": {"drafter": "x"}}}), "foretoken.speculation.drafter"),
        (
            json!({"foretoken": {"speculation": {"drafter": "dflash", "depth": 16}}}),
            "foretoken.speculation.depth",
        ),
        (
            json!({"foretoken": {"speculation": {"drafter": "lookup", "depth": 2}}}),
            "foretoken.speculation.depth",
        ),
        (json!({"foretoken": {"acceptance": "lax"}}), "foretoken.acceptance"),
        (json!({"messages": null}), "messages"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": [{"role": "system", "content": "a"}]}), "messages"),
        (json!({"messages": [{"role": "assistant", "content": "a"}]}), "messages"),
        (json!({"messages": ["a"]}), "messages[0]"),
        (json!({"messages": [{"role": "wizard", "content": "a"}]}), "messages[0].role"),
        (json!({"messages": [{"content": "a"}]}), "messages[0].role"),
        (json!({"messages": [{"role": "user"}]}), "messages[0].content"),
        (json!({"messages": [{"role": "user", "content": 5}]}), "messages[0].content"),
        (json!({"messages": [{"role": "user", "content": [{"type": "x"}]}]}), "messages[0].content[0].type"),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "text"}]}]}),
            "messages[0].content[0].text",
        ),
        (json!({"tools": [{}]}), "tools"),
        (json!({"tools": {}}), "tools"),
        (json!({"tools": vec![function("f"); 129]}), "tools"),
        (json!({"tools": [function("f"), function("f")]}), "tools"),
        (json!({"tool_choice": "any"}), "tool_choice"),
        (json!({"parallel_tool_calls": 1}), "parallel_tool_calls"),
        (json!({"messages": [{"role": "tool", "content": "a"}]}), "messages[0].tool_call_id"),
        (
            json!({"messages": [{"role": "tool", "tool_call_id": "x", "content": "a"}]}),
            "messages[0].tool_call_id",
        ),
        (
            json!({"messages": [{"role": "assistant", "content": null, "tool_calls": [{}]}]}),
            "messages[0].tool_calls[0].id",
        ),
        (
            json!({"messages": [{"role": "assistant", "tool_calls": [{"id": "a", "function": {}}]}]}),
            "messages[0].tool_calls[0].function.name",
        ),
    ] {
        assert_eq!(refused(fields.clone()), (field.to_owned(), "invalid_value"), "{fields}");
    }
    for body in ["", "[]", "{", "{\"model\": \"m\"}", "5"] {
        assert!(parse(body.as_bytes(), &HeaderMap::new()).is_err(), "{body}");
    }
}

#[test]
fn what_binds_the_answer_is_passed_on_and_the_model_is_told_of_a_schema() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tools = json!([{"type": "function", "function": {"name": "f", "strict": true}},
        {"type": "function", "function": {"name": "g"}}]);
    let bound = |fields: Value| read(fields).unwrap().asked.ask.settings.constraint;
    let format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema}});
    let request = read(json!({"response_format": format})).unwrap();
    assert_eq!(request.asked.ask.settings.constraint.format, Some(Format::JsonSchema(schema)));
    let Input::Chat(chat) = &request.asked.ask.input else { panic!("it is a chat") };
    assert!(chat.messages[0].content().contains("JSON Schema"), "{:?}", chat.messages);
    for (choice, calls) in [
        (json!("auto"), CallRule::Free),
        (json!("none"), CallRule::Free),
        (json!("required"), CallRule::Required),
        (json!({"type": "function", "function": {"name": "g"}}), CallRule::Named("g".into())),
        (json!({"type": "function", "name": "f"}), CallRule::Named("f".into())),
    ] {
        assert_eq!(bound(json!({"tools": tools, "tool_choice": choice})).calls, calls);
    }
    assert_eq!(bound(json!({"logit_bias": {"5": -100, "7": 1.5}})).logit_bias, [(5, -100.0), (7, 1.5)]);
    assert_eq!(bound(json!({"foretoken": {"thinking_budget": 5}})).thinking_budget, Some(5));
    let regex = bound(json!({"foretoken": {"grammar": {"regex": "a+"}}}));
    assert_eq!(regex.format, Some(Format::Regex("a+".into())));
    assert!(bound(json!({"logit_bias": {}, "response_format": {"type": "text"}, "tools": tools})).is_none());
}

#[test]
fn one_odd_tool_is_left_out_and_named() {
    let mut odd = function("odd");
    odd["function"]["parameters"]["properties"] = json!({"a>b": {"type": "string"}});
    let mut filter = function("filter");
    filter["function"]["parameters"]["properties"] = json!({"$filter": {"type": "string"}, "größe": {}});
    let tools = json!([function("f"), odd, function("a b"), filter]);
    let Asked { ask, ignored, .. } = read(json!({"tools": tools, "store": true})).unwrap().asked;
    assert_eq!(ask.tools.names().collect::<Vec<_>>(), ["f", "filter"]);
    assert_eq!(ignored, ["store", "tools:odd", "tools:a?b"]);
    let named = json!({"type": "function", "function": {"name": "odd"}});
    assert_eq!(
        refused(json!({"tools": tools, "tool_choice": named})),
        ("tool_choice".into(), "invalid_value")
    );
}

#[test]
fn of_all_tools_only_those_are_offered_that_are_allowed() {
    let tools = json!([function("f"), function("g"), function("a b"), function("h")]);
    let allowed = |mode: &str, names: &[&str]| {
        let tools: Vec<Value> =
            names.iter().map(|name| json!({"type": "function", "function": {"name": name}})).collect();
        json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}})
    };
    let with = |choice: Value| read(json!({"tools": tools, "tool_choice": choice}));
    for (mode, calls) in [("auto", CallRule::Free), ("required", CallRule::Required)] {
        let ask = with(allowed(mode, &["h", "f", "a b"])).unwrap().asked.ask;
        assert_eq!(ask.tools.names().collect::<Vec<_>>(), ["f", "h"]);
        assert_eq!(ask.settings.constraint.calls, calls);
        let Input::Chat(chat) = ask.input else { panic!("it is a chat") };
        assert_eq!(chat.tools.len(), 2);
    }
    for choice in [
        allowed("any", &["f"]),
        allowed("auto", &["x"]),
        allowed("required", &[]),
        json!({"type": "allowed_tools"}),
    ] {
        assert!(with(choice.clone()).is_err(), "{choice}");
    }
    assert!(with(allowed("auto", &[])).unwrap().asked.ask.tools.is_empty());
}

#[test]
fn what_cannot_bind_the_answer_is_named() {
    let tools = json!([{"type": "function", "function": {"name": "f"}}]);
    for (fields, field) in [
        (json!({"tool_choice": "required"}), "tool_choice"),
        (json!({"tools": tools, "tool_choice": "any"}), "tool_choice"),
        (
            json!({"tools": tools, "tool_choice": {"type": "function", "function": {"name": "g"}}}),
            "tool_choice",
        ),
        (json!({"tools": tools, "tool_choice": {"type": "function"}}), "tool_choice.name"),
        (json!({"response_format": {"type": "json_schema"}}), "response_format.schema"),
        (json!({"response_format": {"type": "xml"}}), "response_format.type"),
        (json!({"logit_bias": {"five": 1}}), "logit_bias"),
        (json!({"logit_bias": {"5": 101}}), "logit_bias"),
        (json!({"logit_bias": [5]}), "logit_bias"),
        (json!({"foretoken": {"thinking_budget": -1}}), "foretoken.thinking_budget"),
        (json!({"foretoken": {"priority": "urgent"}}), "foretoken.priority"),
        (json!({"foretoken": {"grammar": {}}}), "foretoken.grammar.regex"),
        (
            json!({"response_format": {"type": "json_object"}, "foretoken": {"grammar": {"regex": "a"}}}),
            "foretoken.grammar",
        ),
    ] {
        assert_eq!(refused(fields.clone()), (field.to_owned(), "invalid_value"), "{fields}");
    }
}

#[test]
fn what_is_not_there_yet_is_refused_where_it_would_count() {
    for (fields, field) in [
        (json!({"function_call": "auto"}), "function_call"),
        (json!({"functions": [{}]}), "functions"),
        (json!({"modalities": ["text", "audio"]}), "modalities"),
        (json!({"audio": {"voice": "x"}}), "audio"),
        (json!({"web_search_options": {}}), "web_search_options"),
        (json!({"messages": [{"role": "function", "content": "a"}]}), "messages[0].role"),
        (
            json!({"messages": [{"role": "assistant", "content": null, "function_call": {}}]}),
            "messages[0].function_call",
        ),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]}),
            "messages[0].content[0] (audio)",
        ),
    ] {
        assert_eq!(refused(fields.clone()), (field.to_owned(), "unsupported_parameter"), "{fields}");
    }
    assert!(read(json!({"logit_bias": {}, "response_format": {"type": "text"}, "functions": null})).is_ok());
}

#[test]
fn what_does_not_count_is_named() {
    let request = read(json!({
        "user": "me", "store": false, "metadata": null, "colour": 5, "chat_template_kwargs": {"a": 1},
        "foretoken": {"b": 2}, "parallel_tool_calls": true,
    }));
    let ignored = ["user", "store", "colour", "chat_template_kwargs.a", "foretoken.b"];
    assert_eq!(request.unwrap().asked.ignored, ignored);
}

#[test]
fn thinking_is_what_is_said_most_plainly() {
    for (fields, thinking) in [
        (json!({}), None),
        (json!({"reasoning_effort": "none"}), Some(false)),
        (json!({"reasoning_effort": "minimal"}), Some(false)),
        (json!({"reasoning_effort": "low"}), Some(true)),
        (json!({"reasoning_effort": "none", "enable_thinking": true}), Some(true)),
        (json!({"enable_thinking": true, "chat_template_kwargs": {"enable_thinking": false}}), Some(false)),
    ] {
        assert_eq!(settings_of(fields.clone()).thinking, thinking, "{fields}");
    }
}

#[test]
fn what_a_template_is_asked_for_reaches_it() {
    for (fields, preserve_thinking, reasoning_effort) in [
        (json!({}), None, None),
        (json!({"reasoning_effort": "none"}), None, None),
        (json!({"reasoning_effort": "high"}), None, Some("high")),
        (json!({"chat_template_kwargs": {"preserve_thinking": false}}), Some(false), None),
        (
            json!({
                "reasoning_effort": "low",
                "chat_template_kwargs": {"preserve_thinking": true, "reasoning_effort": "max"},
            }),
            Some(true),
            Some("max"),
        ),
    ] {
        let Input::Chat(chat) = read(fields.clone()).unwrap().asked.ask.input else { panic!("{fields}") };
        let reasoning_effort = reasoning_effort.map(str::to_owned);
        assert_eq!(chat.template, TemplateOptions { preserve_thinking, reasoning_effort }, "{fields}");
    }
}

#[test]
fn speculation_is_set_in_the_body_or_by_headers() {
    for (value, drafting) in [
        (json!("auto"), Drafting::Auto),
        (json!("off"), Drafting::Off),
        (json!(3), Drafting::Fixed { depth: 3 }),
        (json!({"drafter": "mtp"}), Drafting::Mtp),
        (json!({"drafter": "mtp", "depth": 8}), Drafting::Fixed { depth: 8 }),
        (json!({"drafter": "dflash"}), Drafting::Dflash { depth: None }),
        (json!({"drafter": "dflash", "depth": 15}), Drafting::Dflash { depth: Some(15) }),
        (json!({"drafter": "lookup"}), Drafting::Lookup),
    ] {
        let asked = settings_of(json!({"foretoken": {"speculation": value, "acceptance": "rejection"}}));
        assert_eq!((asked.drafting, asked.acceptance), (Some(drafting), Some(AcceptanceRule::Rejection)));
    }
    let mut headers = HeaderMap::new();
    headers.insert("foretoken-speculation", HeaderValue::from_static("2"));
    headers.insert("foretoken-acceptance", HeaderValue::from_static("coupled"));
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    let by_header = parse(body.to_string().as_bytes(), &headers).unwrap().asked.ask.settings;
    assert_eq!(by_header.drafting, Some(Drafting::Fixed { depth: 2 }));
    assert_eq!(by_header.acceptance, Some(AcceptanceRule::Coupled));
    let strict = settings_of(json!({"foretoken": {"acceptance": "strict"}}));
    assert_eq!(strict.acceptance, Some(AcceptanceRule::Strict));
    headers.insert("foretoken-thinking-budget", HeaderValue::from_static("700"));
    headers.insert("foretoken-priority", HeaderValue::from_static("background"));
    let by_header = parse(body.to_string().as_bytes(), &headers).unwrap().asked.ask.settings;
    assert_eq!((by_header.constraint.thinking_budget, by_header.in_background), (Some(700), true));
    assert!(!by_header.remember, "it is the app's chats that are kept on disk");
    body["foretoken"] = json!({"thinking_budget": 5, "priority": "normal", "remember": true});
    let by_body = parse(body.to_string().as_bytes(), &headers).unwrap().asked.ask.settings;
    assert!(by_body.remember);
    assert_eq!((by_body.constraint.thinking_budget, by_body.in_background), (Some(5), false));
    body["foretoken"] = json!({"speculation": "off", "trace": true});
    let by_body = parse(body.to_string().as_bytes(), &headers).unwrap();
    let drafting = by_body.asked.ask.settings.drafting;
    assert_eq!((drafting, by_body.options.trace), (Some(Drafting::Off), true));
    for odd in [&b"fast"[..], b"", b"\xff"] {
        headers.insert("foretoken-speculation", HeaderValue::from_bytes(odd).unwrap());
        assert_eq!(
            parse(body.to_string().as_bytes(), &headers).unwrap_err().field(),
            Some("foretoken-speculation")
        );
    }
    for (name, odd) in [("foretoken-thinking-budget", "-1"), ("foretoken-priority", "urgent")] {
        let headers = HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static(odd))]);
        assert_eq!(parse(body.to_string().as_bytes(), &headers).unwrap_err().field(), Some(name));
    }
}

#[test]
fn instructions_are_one_message_at_the_front_or_notes_where_they_stand() {
    let (chat, warnings) = messages(json!([
        {"role": "system", "content": "A"},
        {"role": "developer", "content": [{"type": "text", "text": "B"}, {"type": "input_text", "text": "C"}]},
        {"role": "user", "content": "Hi", "name": "me"},
        {"role": "system", "content": "D"},
        {"role": "assistant", "content": "Yes", "reasoning_content": "Hm", "refusal": null},
        {"role": "system", "content": "E"},
        {"role": "user", "content": "And?"},
    ]));
    let expected = [
        ChatMessage::system("A\n\nBC"),
        ChatMessage::user("Hi\n\n<system-note>\nD\n</system-note>"),
        ChatMessage::Assistant {
            content: "Yes".into(),
            reasoning_content: Some("Hm".into()),
            tool_calls: Vec::new(),
        },
        ChatMessage::user("<system-note>\nE\n</system-note>"),
        ChatMessage::user("And?"),
    ];
    assert_eq!(chat.messages, expected);
    assert_eq!(warnings, ["name-left-out"]);
}

#[test]
fn a_reply_at_the_end_is_gone_on_with() {
    let (chat, _) = messages(json!([
        {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes, ", "reasoning": "Hm"},
    ]));
    let resume = PartialReply { thinking: "Hm".into(), answer: "Yes, ".into(), thought_through: true };
    assert_eq!(chat.resume, Some(resume));
    assert_eq!(chat.messages, [ChatMessage::user("Hi")]);
}

#[test]
fn an_image_of_an_earlier_turn_does_not_end_the_chat() {
    let (chat, warnings) = messages(json!([
        {"role": "user", "content": [{"type": "text", "text": "See "}, {"type": "image_url", "image_url": {}}]},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "And?"},
    ]));
    assert_eq!(chat.messages[0], ChatMessage::user("See [image left out]"));
    assert_eq!(warnings, ["image-left-out"]);
    let (_, warnings) = messages(json!([
        {"role": "user", "content": "Hi", "name": null},
        {"role": "assistant", "content": [{"type": "image_url"}]},
    ]));
    assert_eq!(warnings, ["image-left-out"], "of a reply that is gone on with, too");
}

#[test]
fn pictures_keep_their_places_and_details() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image =
        |url: &str, detail: &str| json!({"type": "image_url", "image_url": {"url": url, "detail": detail}});
    let bare = json!({"type": "image_url", "image_url": {"url": "DATA:;BASE64,Qw"}});
    let request = read(json!({"messages": [
        {"role": "user", "content": [text("A"), text("B"), image("data:image/png;base64,QQ==", "low"), text("C")]},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "1", "content": [image("data:;base64,Qg==", "auto")]},
        {"role": "user", "content": [bare, image("data:a/b;c=d;base64,RA==", "high")]},
        {"role": "system", "content": "Briefly."},
    ]}));
    let Asked { ask, warnings, .. } = request.unwrap().asked;
    let Input::Chat(chat) = ask.input else { panic!("it is a chat") };
    let part = |text: &str| ContentPart::Text { text: text.into() };
    let picture = |number: &str| ContentPart::Image { pixels: number.into() };
    let user = |parts| ChatMessage::User { content: Content::Parts(parts) };
    let note = part("\n\n<system-note>\nBriefly.\n</system-note>");
    assert_eq!(chat.messages[0], user(vec![part("AB"), picture("0"), part("C")]));
    assert_eq!(chat.messages[2], ChatMessage::Tool { content: Content::Parts(vec![picture("1")]) });
    assert_eq!(chat.messages[3], user(vec![picture("2"), picture("3"), note]));
    let expected = [
        ("messages[0].content[2]", "QQ==", PictureDetail::Low, false),
        ("messages[2].content[0]", "Qg==", PictureDetail::Standard, false),
        ("messages[3].content[0]", "Qw", PictureDetail::Standard, true),
        ("messages[3].content[1]", "RA==", PictureDetail::High, true),
    ];
    assert_eq!(ask.pictures.told(), expected);
    assert_eq!(warnings, Vec::<&str>::new());
}

#[test]
fn a_picture_that_does_not_come_with_the_question_is_refused() {
    let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let detail = json!({"type": "image_url", "image_url": {"url": "data:;base64,QQ==", "detail": "huge"}});
    let place = "messages[0].content[0]";
    for (part, field, code) in [
        (image("https://example.com/a.png"), place.to_owned(), "image_url_not_supported"),
        (image("file:///etc/passwd"), place.to_owned(), "image_url_not_supported"),
        (image(""), place.to_owned(), "image_url_not_supported"),
        (image("dätä:;base64,QQ=="), place.to_owned(), "image_url_not_supported"),
        (json!({"type": "input_image", "file_id": "f"}), place.to_owned(), "image_url_not_supported"),
        (image("data:image/png,QQ=="), place.to_owned(), "invalid_image"),
        (image("data:image/png;base64"), place.to_owned(), "invalid_image"),
        (image("data:ü64,"), place.to_owned(), "invalid_image"),
        (json!({"type": "image_url"}), format!("{place}.image_url"), "invalid_value"),
        (json!({"type": "image_url", "image_url": 5}), format!("{place}.image_url"), "invalid_value"),
        (json!({"type": "image_url", "image_url": {}}), format!("{place}.image_url.url"), "invalid_value"),
        (detail, format!("{place}.image_url.detail"), "invalid_value"),
    ] {
        let message = |role: &str| json!({"role": role, "content": [part]});
        assert_eq!(refused(json!({"messages": [message("user")]})), (field, code), "{part}");
        let (chat, warnings) = messages(json!([message("user"), {"role": "user", "content": "And?"}]));
        assert_eq!(chat.messages[0], ChatMessage::user("[image left out]"), "{part}");
        assert_eq!(warnings, ["image-left-out"], "{part}");
    }
    let (chat, warnings) = messages(json!([
        {"role": "system", "content": [image("data:;base64,QQ==")]}, {"role": "user", "content": "Hi"},
    ]));
    assert_eq!(chat.messages[0], ChatMessage::system("[image left out]"), "instructions show nothing");
    assert_eq!(warnings, ["image-left-out"]);
}

#[test]
fn parts_of_unknown_types_are_left_out_of_what_was_said_before() {
    let odd = json!({"type": "odd", "id": 5});
    let text = |text: &str| json!({"type": "text", "text": text});
    let asked = read(json!({"messages": [
        {"role": "system", "content": [text("S"), odd]},
        {"role": "user", "content": [text("A"), odd, text("B")]},
        {"role": "assistant", "content": [{"type": "strange"}, text("Yes")],
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "resource"}]},
        {"role": "user", "content": "And?"},
    ]}));
    let Asked { ask, ignored, .. } = asked.unwrap().asked;
    let Input::Chat(chat) = ask.input else { panic!("it is a chat") };
    let texts: Vec<_> = chat.messages.iter().map(ChatMessage::content).collect();
    assert_eq!(texts, ["S", "AB", "Yes", "", "And?"]);
    assert_eq!(ignored, ["content:odd", "content:strange", "content:resource"]);
}

fn function(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}})
}

#[test]
fn tools_are_offered_as_they_are_and_calls_have_their_results() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
    let fields = json!({
        "tools": [function("f")], "tool_choice": "auto", "parallel_tool_calls": false,
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": null, "tool_calls": [call("1", "{\"b\": 1, \"a\": \"x\"}"), call("2", "[")]},
            {"role": "tool", "tool_call_id": "2", "content": [{"type": "text", "text": "Two"}]},
            {"role": "tool", "tool_call_id": "1", "content": "One"},
        ],
    });
    let (chat, warnings) = chat(fields.clone());
    assert_eq!((json!(chat.tools), chat.one_call), (fields["tools"].clone(), true));
    let ChatMessage::Assistant { tool_calls, .. } = &chat.messages[1] else { panic!("{chat:?}") };
    let ToolCall::Function { function: FunctionCall { arguments, .. } } = &tool_calls[0];
    assert_eq!(json!(arguments).to_string(), r#"{"b":1,"a":"x"}"#);
    let results: Vec<_> = chat.messages[2..].iter().map(ChatMessage::content).collect();
    assert_eq!((results.join(" "), warnings), ("One Two".into(), vec!["broken-arguments"]));
    let mut none = fields;
    none["tool_choice"] = json!("none");
    assert!(read(none).unwrap().asked.ask.tools.is_empty());
}

/// Any JSON, with the words of the dialect among its texts and names.
fn value() -> impl Strategy<Value = Value> {
    const WORDS: [&str; 20] = [
        "role",
        "content",
        "type",
        "text",
        "user",
        "assistant",
        "system",
        "tool",
        "auto",
        "off",
        "drafter",
        "depth",
        "dflash",
        "none",
        "include_usage",
        "enable_thinking",
        "tool_calls",
        "speculation",
        "image_url",
        "",
    ];
    let word = || prop::sample::select(&WORDS[..]).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-9_i64..9).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..5)
                .prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>())),
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
            "model", "messages", "max_completion_tokens", "max_tokens", "temperature", "top_p", "top_k", "min_p",
            "presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty", "xtc_probability",
            "xtc_threshold", "seed", "stop", "stream", "stream_options", "n", "logprobs", "top_logprobs", "logit_bias",
            "response_format", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call",
            "web_search_options", "audio", "modalities", "reasoning_effort", "enable_thinking",
            "chat_template_kwargs", "foretoken", "user",
        ][..]),
        value in value(),
    ) {
        let _ = read(json!({name: value}));
    }

    #[test]
    fn no_message_is_too_odd(values in prop::collection::vec(value(), 0..4)) {
        let _ = read(json!({"messages": values}));
    }
}

#[test]
fn a_prediction_is_a_text_or_its_parts() {
    let predicted =
        |content: Value| settings_of(json!({"prediction": {"type": "content", "content": content}}));
    assert_eq!(predicted(json!("a b")).prediction.as_deref(), Some("a b"));
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    assert_eq!(predicted(parts).prediction.as_deref(), Some("ab"));
    assert_eq!(predicted(json!("")).prediction, None);
    assert_eq!(settings_of(json!({"prediction": null})).prediction, None);
    let wrong = refused(json!({"prediction": {"type": "guess", "content": "a"}}));
    assert_eq!(wrong.1, "invalid_value");
    let image = json!([{"type": "image_url", "image_url": {"url": "data:;base64,QQ=="}}]);
    assert_eq!(
        refused(json!({"prediction": {"type": "content", "content": image}})).1,
        "unsupported_parameter"
    );
}
