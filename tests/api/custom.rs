//! Free-form tools, whose calls carry a text and no JSON: in both of OpenAI's dialects, by an engine that does as it is
//! told, and by the real one where their text has a form.

use serde_json::{Value, json};

use crate::client::{chat, send};
use crate::server::{Server, scripted, with};

const FORM: &str = "start: \"*** Begin\" LF line line? \"*** End\"\nline: (\"+\" | \"-\") /[a-z ]{0,6}/ LF\n%import common.LF";
const PATTERN: &str = "(add|drop) [a-z]{1,6}(\n[+-][a-z]{0,3}){0,2}";

fn tool(format: &Value) -> Value {
    let custom = json!({"name": "edit", "description": "Edits.", "format": format});
    json!([{"type": "custom", "custom": custom}])
}

fn grammar(syntax: &str, definition: &str) -> Value {
    json!({"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}})
}

fn written(input: &str) -> String {
    format!(
        "<tool_call>\n<function=edit>\n<parameter=input>\n{input}\n</parameter>\n</function>\n</tool_call>"
    )
}

/// A text in pieces of three letters, as tokens may cut it.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(3).map(|piece| piece.iter().collect()).collect()
}

/// The inputs of the calls in a stream, by their place.
fn streamed(events: &[Value]) -> Vec<String> {
    let mut inputs: Vec<String> = Vec::new();
    for call in
        events.iter().flat_map(|event| event["choices"][0]["delta"]["tool_calls"].as_array()).flatten()
    {
        assert!(call.get("function").is_none(), "{call}");
        let index = call["index"].as_u64().unwrap() as usize;
        let input = call["custom"]["input"].as_str().unwrap();
        // The id, the type and the name come once, and first.
        if index == inputs.len() {
            assert_eq!(
                (&call["type"], &call["custom"]["name"], input),
                (&json!("custom"), &json!("edit"), "")
            );
            assert!(call["id"].as_str().is_some_and(|id| id.starts_with("call_")));
            inputs.push(String::new());
        } else {
            assert!(call.get("id").is_none() && call["custom"].get("name").is_none());
        }
        inputs[index].push_str(input);
    }
    inputs
}

#[test]
fn calls_of_free_form_tools_carry_their_text_whole_and_in_pieces() {
    let server = Server::scripted(&["--no-token"]);
    let inputs = ["say \"hi\"\n\\n\té\u{1f6b2}", "{\"input\": 5}"];
    let say = pieces(&format!("I edit.\n\n{}\n{}", written(inputs[0]), written(inputs[1])));
    let body = with(scripted(&json!({"say": say})), json!({"tools": tool(&json!({"type": "text"}))}));
    let mut answer = chat(server.port, &body);
    assert_eq!(answer.header("foretoken-ignored"), None);
    let whole = answer.json();
    let (choice, message) = (&whole["choices"][0], &whole["choices"][0]["message"]);
    assert_eq!((&choice["finish_reason"], &message["content"]), (&json!("tool_calls"), &json!("I edit.")));
    for (index, input) in inputs.iter().enumerate() {
        let call = &message["tool_calls"][index];
        assert_eq!((&call["type"], call.get("function")), (&json!("custom"), None));
        assert_eq!(call["custom"], json!({"name": "edit", "input": input}));
    }
    let events = chat(server.port, &with(body.clone(), json!({"stream": true}))).events();
    assert_eq!(streamed(&events), inputs);
    assert!(events.len() > 10, "texts come as they are written: {}", events.len());

    // The next question, and the same beside a function.
    let turns = json!([
        {"role": "user", "content": "Edit."},
        {"role": "assistant", "content": null, "tool_calls": message["tool_calls"]},
        {"role": "tool", "tool_call_id": message["tool_calls"][1]["id"], "content": "two"},
        {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "one"},
        {"role": "user", "content": json!({"say": ["Done."]}).to_string()},
    ]);
    let function = json!({"type": "function", "function": {"name": "now"}});
    let tools = [tool(&Value::Null)[0].clone(), function];
    let next = chat(server.port, &with(body, json!({"messages": turns, "tools": tools}))).json();
    assert_eq!(next["choices"][0]["message"]["content"], "Done.", "{next}");
}

#[test]
fn forms_that_are_none_are_refused_by_the_field() {
    let server = Server::scripted(&["--no-token"]);
    for (tools, field) in [
        (json!([{"type": "custom"}]), "tools[0].custom"),
        (json!([{"type": "custom", "custom": {}}]), "tools[0].custom.name"),
        (tool(&json!({"type": "json"})), "tools[0].custom.format.type"),
        (tool(&grammar("gbnf", "root ::= x")), "tools[0].custom.format.grammar.syntax"),
        (
            tool(&json!({"type": "grammar", "grammar": {"syntax": "regex"}})),
            "tools[0].custom.format.grammar.definition",
        ),
        (tool(&grammar("regex", &"x".repeat((1 << 20) + 1))), "tools[0].custom.format.grammar.definition"),
    ] {
        let mut answer = chat(server.port, &with(scripted(&json!({})), json!({"tools": tools})));
        assert_eq!((answer.status, &answer.json()["error"]["param"]), (400, &json!(field)));
    }
}

/// Such a model writes no text as it is, so that a grammar of it cannot hold.
#[test]
fn a_form_that_is_not_enforced_is_named() {
    let server = Server::with_library(&["json-calls"], &[]);
    let body = |format: Value| with(scripted(&json!({"say": ["A"]})), json!({"tools": tool(&format)}));
    let lark = chat(server.port, &body(grammar("lark", FORM)));
    assert_eq!(lark.header("foretoken-ignored"), Some("tools[0].custom.format"));
    let regex = chat(server.port, &body(grammar("regex", PATTERN)));
    assert_eq!(regex.header("foretoken-ignored"), None);
    let flat = json!([{"type": "custom", "name": "edit",
        "format": {"type": "grammar", "syntax": "lark", "definition": FORM}}]);
    let response = json!({"model": "default", "input": json!({"say": ["A"]}).to_string(), "tools": flat});
    let response = send(server.port, "POST", "/v1/responses", &[], &response.to_string());
    assert_eq!(response.header("foretoken-ignored"), Some("tools[0].format"));
}

fn has_form(input: &str) -> bool {
    let lines = |text: &str, most: usize, end: &str| {
        text.strip_suffix(end).is_some_and(|lines| {
            let lines: Vec<&str> = lines.split_terminator('\n').collect();
            (1..=most).contains(&lines.len()) && lines.iter().all(|line| line.starts_with(['+', '-']))
        })
    };
    input.strip_prefix("*** Begin\n").is_some_and(|rest| lines(rest, 2, "*** End"))
}

fn has_pattern(input: &str) -> bool {
    let mut lines = input.split('\n');
    let first = lines.next().and_then(|first| first.split_once(' '));
    first.is_some_and(|(verb, word)| {
        ["add", "drop"].contains(&verb)
            && (1..=6).contains(&word.len())
            && word.bytes().all(|letter| letter.is_ascii_lowercase())
    }) && lines.all(|line| line.starts_with(['+', '-']) && line.len() <= 4)
}

/// Whatever the model would have written: the same text with guesses and without, whole, in pieces and in the other
/// dialect.
#[test]
fn a_free_form_tool_that_must_be_called_gets_a_text_of_its_form() {
    let server = Server::real(&["--no-token"]);
    let question = json!([{"role": "user", "content": "Tell me about the sea."}]);
    let settings = json!({"temperature": 0.8, "max_tokens": 200, "reasoning_effort": "none",
        "tool_choice": {"type": "custom", "custom": {"name": "edit"}}});
    for (syntax, definition, is_of_form) in
        [("lark", FORM, has_form as fn(&str) -> bool), ("regex", PATTERN, has_pattern)]
    {
        for seed in 0..4 {
            let body =
                with(json!({"model": "default", "messages": question, "seed": seed}), settings.clone());
            let body = with(body, json!({"tools": tool(&grammar(syntax, definition))}));
            let whole =
                chat(server.port, &with(body.clone(), json!({"foretoken": {"speculation": "off"}}))).json();
            let choice = &whole["choices"][0];
            assert_eq!(choice["finish_reason"], "tool_calls", "{whole}");
            let input = choice["message"]["tool_calls"][0]["custom"]["input"].as_str().unwrap();
            assert!(is_of_form(input), "{input:?} is not of {definition}");
            assert_eq!(whole["foretoken"]["exact"], "bitwise", "{whole}");
            let events = chat(server.port, &with(body, json!({"stream": true}))).events();
            assert_eq!(streamed(&events), [input]);
        }
        let flat = json!([{"type": "custom", "name": "edit", "description": "Edits.",
            "format": {"type": "grammar", "syntax": syntax, "definition": definition}}]);
        let body = json!({"model": "default", "input": "Tell me about the sea.", "tools": flat,
            "tool_choice": {"type": "custom", "name": "edit"}, "reasoning": {"effort": "none"},
            "max_output_tokens": 200});
        let response = send(server.port, "POST", "/v1/responses", &[], &body.to_string()).json();
        let call = &response["output"][0];
        assert_eq!(call["type"], "custom_tool_call", "{response}");
        assert!(is_of_form(call["input"].as_str().unwrap()), "{call}");
    }
    let broken = with(
        settings,
        json!({"model": "default", "messages": question, "tools": tool(&grammar("lark", "start: no"))}),
    );
    let mut refused = chat(server.port, &broken);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!("invalid_schema")));
}
