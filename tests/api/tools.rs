//! Calls of tools, with an engine that does as it is told.

use serde_json::{Value, json};

use crate::client::{chat, send};
use crate::server::{Server, scripted, with};

fn offered() -> Value {
    let properties = json!({"city": {"type": "string"}, "days": {"type": "integer"}});
    let parameters = json!({"type": "object", "properties": properties});
    json!([{"type": "function", "function": {"name": "weather", "parameters": parameters}}])
}

/// A call as models of the family write it.
fn call(city: &str, days: &str) -> String {
    format!(
        "<tool_call>\n<function=weather>\n<parameter=city>\n{city}\n</parameter>\n<parameter=days>\n{days}\n\
         </parameter>\n</function>\n</tool_call>"
    )
}

/// A text in pieces of three letters, as tokens may cut it.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(3).map(|piece| piece.iter().collect()).collect()
}

#[test]
fn calls_come_whole_or_in_pieces_and_say_the_same() {
    let server = Server::scripted(&["--no-token"]);
    let say = pieces(&format!("I look.\n\n{}\n{}", call("Köln \"am\" Rhein", "3"), call("Rome", "five")));
    let body = with(scripted(&json!({"say": say})), json!({"tools": offered()}));
    let whole = chat(server.port, &body).json();
    let (choice, message) = (&whole["choices"][0], &whole["choices"][0]["message"]);
    assert_eq!((&choice["finish_reason"], &message["content"]), (&json!("tool_calls"), &json!("I look.")));
    let arguments = |message: &Value, index: usize| -> Value {
        serde_json::from_str(message["tool_calls"][index]["function"]["arguments"].as_str().unwrap()).unwrap()
    };
    assert_eq!(arguments(message, 0), json!({"city": "Köln \"am\" Rhein", "days": 3}));
    assert_eq!(arguments(message, 1), json!({"city": "Rome", "days": "five"}));
    assert_eq!(whole["foretoken"]["misfits"], json!(["days: expected an integer, came \"five\""]));

    let events = chat(server.port, &with(body, json!({"stream": true}))).events();
    let mut streamed = [String::new(), String::new()];
    for event in &events {
        for call in event["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = call["index"].as_u64().unwrap() as usize;
            streamed[index].push_str(call["function"]["arguments"].as_str().unwrap());
            assert_eq!(call.get("id").is_some(), call["function"].get("name").is_some());
        }
    }
    for (index, streamed) in streamed.iter().enumerate() {
        assert_eq!(message["tool_calls"][index]["function"]["arguments"], streamed.as_str());
    }
    assert!(events.len() > 12, "arguments come as they are written: {}", events.len());
}

#[test]
fn one_odd_tool_does_not_end_the_turn() {
    let server = Server::scripted(&["--no-token"]);
    let mut tools = offered();
    tools[0]["function"]["parameters"]["properties"]["$filter"] = json!({"type": "integer"});
    let odd = json!({"type": "object", "properties": {"a>b": {}}});
    let broken = json!({"type": "function", "function": {"name": "odd", "parameters": odd}});
    tools.as_array_mut().unwrap().push(broken);
    let call =
        "<tool_call>\n<function=weather>\n<parameter=$filter>\n5\n</parameter>\n</function>\n</tool_call>";
    let body = with(scripted(&json!({"say": pieces(call)})), json!({"tools": tools}));
    let mut answer = chat(server.port, &body);
    assert_eq!((answer.status, answer.header("foretoken-ignored")), (200, Some("tools:odd")));
    let message = answer.json()["choices"][0]["message"].clone();
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"$filter":5}"#, "{message}");
}

/// Models write calls in other ways, too, and some forget to close their thinking before them.
#[test]
fn calls_in_json_bare_ones_and_those_behind_an_open_thinking_are_calls() {
    let server = Server::scripted(&["--no-token"]);
    let json = "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"K\\u00f6ln\", \"days\": \"3\"}}\n</tool_call>";
    let tags = call("Köln", "3");
    let bare = tags.trim_start_matches("<tool_call>\n");
    for script in [
        json!({"say": pieces(json)}),
        json!({"say": pieces(bare)}),
        json!({"think": pieces(&format!("I look.\n\n{tags}"))}),
        json!({"think": pieces(&format!("I look.\n{json}"))}),
    ] {
        let body = with(scripted(&script), json!({"tools": offered()}));
        let whole = chat(server.port, &body).json();
        let choice = &whole["choices"][0];
        assert_eq!(choice["finish_reason"], "tool_calls", "{script}");
        let calls = choice["message"]["tool_calls"].as_array().unwrap();
        assert_eq!((calls.len(), &calls[0]["function"]["name"]), (1, &json!("weather")), "{script}");
        assert_eq!(calls[0]["function"]["arguments"], r#"{"city":"Köln","days":3}"#, "{script}");
        let thought = script.get("think").map(|_| "I look.");
        assert_eq!(choice["message"].get("reasoning_content").and_then(Value::as_str), thought);
        let events = chat(server.port, &with(body, json!({"stream": true}))).events();
        let streamed: String = events
            .iter()
            .filter_map(|event| {
                event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str()
            })
            .collect();
        assert_eq!(streamed, r#"{"city":"Köln","days":3}"#, "{script}");
    }
}

/// What a program gathers from a stream: the text, its calls, and how it ended.
fn gathered(events: &[Value]) -> (String, Vec<(String, String)>, Value) {
    let (mut text, mut calls, mut reason) = (String::new(), Vec::new(), Value::Null);
    for choice in events.iter().map(|event| &event["choices"][0]) {
        text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            if let Some(name) = call["function"]["name"].as_str() {
                calls.push((name.to_owned(), String::new()));
            }
            calls.last_mut().unwrap().1.push_str(call["function"]["arguments"].as_str().unwrap());
        }
        if !choice["finish_reason"].is_null() {
            reason = choice["finish_reason"].clone();
        }
    }
    (text, calls, reason)
}

/// Of a call that turns out to be none, no program gets a part that it might run: what the model wrote is text.
#[test]
fn a_call_that_is_no_json_is_text_whole_and_in_pieces() {
    let server = Server::scripted(&["--no-token"]);
    let json = |city: &str| {
        format!(
            "<tool_call>\n{{\"name\": \"weather\", \"arguments\": {{\"city\": \"{city}\"}}}}\n</tool_call>"
        )
    };
    let broken = json("Köln \"am\" Rhein");
    let body = with(scripted(&json!({"say": pieces(&broken)})), json!({"tools": offered()}));
    let text = chat(server.port, &body).json();
    assert_eq!(text["choices"][0]["finish_reason"], "stop");
    assert_eq!(text["choices"][0]["message"]["content"], broken);
    assert_eq!(text["foretoken"]["misfits"].as_array().map(Vec::len), Some(1));
    let events = chat(server.port, &with(body.clone(), json!({"stream": true}))).events();
    assert_eq!(gathered(&events), (broken.clone(), Vec::new(), json!("stop")));
    let messages = json!({"model": "default", "max_tokens": 500, "stream": true, "messages": body["messages"],
        "tools": [{"name": "weather", "input_schema": {"type": "object"}}]});
    let stream = send(server.port, "POST", "/v1/messages", &[], &messages.to_string()).text();
    assert!(!stream.contains("tool_use") && stream.contains("end_turn"), "{stream}");

    // A whole one before it is one.
    let both = pieces(&format!("{}\n{broken}", json("Rome")));
    let body = with(scripted(&json!({"say": both})), json!({"tools": offered()}));
    let whole = chat(server.port, &body).json();
    let events = chat(server.port, &with(body, json!({"stream": true}))).events();
    let (text, calls, reason) = gathered(&events);
    assert_eq!(calls, [("weather".to_owned(), r#"{"city":"Rome"}"#.to_owned())]);
    assert_eq!((text.trim(), reason), (&*broken, json!("tool_calls")));
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["tool_calls"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (message["content"].as_str(), &whole["choices"][0]["finish_reason"]),
        (Some(&*text), &json!("tool_calls"))
    );
}

/// A model that ends in the middle of a call has not said all: programs do not run what they are told is cut.
#[test]
fn a_call_that_the_model_leaves_in_the_middle_is_cut_like_one_that_is_too_long() {
    let server = Server::scripted(&["--no-token"]);
    let written = call("Rome", "3");
    let body = with(scripted(&json!({"say": pieces(&written[..75])})), json!({"tools": offered()}));
    let whole = chat(server.port, &body).json();
    let choice = &whole["choices"][0];
    assert_eq!((&choice["finish_reason"], choice["message"].get("tool_calls")), (&json!("length"), None));
    assert_eq!(choice["message"]["content"], &written[..75]);
    let events = chat(server.port, &with(body, json!({"stream": true}))).events();
    let (_, calls, reason) = gathered(&events);
    assert_eq!((calls.len(), reason), (1, json!("length")));
    assert!(serde_json::from_str::<Value>(&calls[0].1).is_err(), "half a call is no JSON: {calls:?}");
}

#[test]
fn a_call_that_is_cut_is_none_and_without_tools_there_are_none() {
    let server = Server::scripted(&["--no-token"]);
    let written = call("Rome", "3");
    let body = scripted(&json!({"say": pieces(&written)}));
    let cut = chat(server.port, &with(body.clone(), json!({"tools": offered(), "max_tokens": 20}))).json();
    let choice = &cut["choices"][0];
    assert_eq!((&choice["finish_reason"], choice["message"].get("tool_calls")), (&json!("length"), None));
    assert_eq!(choice["message"]["content"], &written[..60]);
    for fields in [json!({}), json!({"tools": []}), json!({"tools": offered(), "tool_choice": "none"})] {
        let text = chat(server.port, &with(body.clone(), fields)).json();
        assert_eq!(text["choices"][0]["message"]["content"], written.as_str());
        assert_eq!(text["choices"][0]["finish_reason"], "stop");
    }
}

#[test]
fn results_need_their_calls() {
    let server = Server::scripted(&["--no-token"]);
    let function = json!({"name": "weather", "arguments": "{\"city\": \"Rome\"}"});
    let turn = json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "a", "type": "function", "function": function}]});
    let ask = |result: Value| {
        let question = json!({"role": "user", "content": json!({"say": ["Warm."]}).to_string()});
        let body = json!({"model": "default", "tools": offered(), "messages": [question, turn, result]});
        chat(server.port, &body)
    };
    let answered = ask(json!({"role": "tool", "tool_call_id": "a", "content": "21 °C"})).json();
    assert_eq!(answered["choices"][0]["message"]["content"], "Warm.");
    let mut unknown = ask(json!({"role": "tool", "tool_call_id": "b", "content": "21 °C"}));
    assert_eq!(
        (unknown.status, unknown.json()["error"]["param"].clone()),
        (400, json!("messages[2].tool_call_id"))
    );
    let left_out = ask(json!({"role": "user", "content": json!({"say": ["Hm."]}).to_string()}));
    assert_eq!(left_out.header("foretoken-warning"), Some("result-missing"));
}

/// Programs that look at headers alone hear of what they might not expect of calls; those that stream hear it at the
/// end.
#[test]
fn what_is_odd_about_calls_is_told_in_a_word() {
    let server = Server::scripted(&["--no-token"]);
    let broken = "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": }\n</tool_call>";
    let good = call("Rome", "3");
    for (script, words) in [
        (json!({"say": pieces(&call("Rome", "five"))}), &["coercion"][..]),
        (json!({"say": pieces(broken)}), &["malformed-call"]),
        (json!({"say": pieces(&good), "unbound": ["weather"]}), &["unbound-tool"]),
        (json!({"say": pieces(&call("Rome", "x")), "unbound": ["weather"]}), &["unbound-tool", "coercion"]),
        (json!({"say": pieces(&good)}), &[]),
    ] {
        let body = with(scripted(&script), json!({"tools": offered()}));
        let mut whole = chat(server.port, &body);
        let told: Vec<&str> =
            whole.header("foretoken-warning").map_or(Vec::new(), |words| words.split(", ").collect());
        assert_eq!(told, words, "{script}");
        let answer = whole.json();
        let listed = |own: &Value| {
            let mut listed: Vec<String> = serde_json::from_value(own["warnings"].clone()).unwrap_or_default();
            listed.sort_unstable();
            listed
        };
        let mut sorted = words.to_vec();
        sorted.sort_unstable();
        assert_eq!(listed(&answer["foretoken"]), sorted, "{answer}");
        let mut stream = chat(server.port, &with(body, json!({"stream": true})));
        // Before the first token it is known how tools are bound, and nothing more.
        let early = words.iter().find(|word| **word == "unbound-tool").copied();
        assert_eq!(stream.header("foretoken-warning"), early);
        let events = stream.events();
        let own = events.iter().find_map(|event| event.get("foretoken")).unwrap();
        assert_eq!(listed(own), sorted, "{events:?}");
    }
}

/// A reply that must be a call has no text, so that the form of one is left out in each dialect.
#[test]
fn a_form_of_the_answer_gives_way_to_a_call_that_must_come() {
    let server = Server::scripted(&["--no-token"]);
    let schema = json!({"type": "object"});
    let script = json!({"say": pieces(&call("Rome", "3"))}).to_string();
    let user = json!([{"role": "user", "content": script}]);
    let parameters = offered()[0]["function"]["parameters"].clone();
    let flat = json!([{"type": "function", "name": "weather", "parameters": parameters}]);
    let named = json!([{"name": "weather", "input_schema": parameters}]);
    let json_schema = json!({"type": "json_schema", "name": "a", "schema": schema});
    for (path, body, forced, field) in [
        (
            "/v1/chat/completions",
            json!({"messages": user, "tools": offered(), "response_format": {"type": "json_object"}}),
            json!("required"),
            "response_format",
        ),
        (
            "/v1/chat/completions",
            json!({"messages": user, "tools": offered(), "foretoken": {"grammar": {"regex": "a"}}}),
            json!({"type": "function", "function": {"name": "weather"}}),
            "foretoken.grammar",
        ),
        (
            "/v1/responses",
            json!({"input": user, "tools": flat, "text": {"format": json_schema}}),
            json!("required"),
            "text.format",
        ),
        (
            "/v1/messages",
            json!({"messages": user, "tools": named, "output_config": {"format": json_schema}}),
            json!({"type": "any"}),
            "output_config.format",
        ),
    ] {
        let ask = |fields: Value| {
            let body = with(with(body.clone(), json!({"model": "default"})), fields);
            send(server.port, "POST", path, &[], &body.to_string())
        };
        let answer = ask(json!({"tool_choice": forced}));
        assert_eq!((answer.status, answer.header("foretoken-ignored")), (200, Some(field)), "{path}");
        let free = ask(json!({}));
        assert_eq!((free.status, free.header("foretoken-ignored")), (200, None), "{path}");
    }
}
