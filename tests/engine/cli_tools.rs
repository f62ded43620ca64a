//! `generate --tools`: how tools reach the prompt, what is said of the calls in a reply, and what is refused.

use foretoken_engine::text::Tokenizer;
use foretoken_tests::fixtures::{copy_demo_model, demo_questions};

use super::*;

fn tools() -> Value {
    let properties = json!({"text": {"type": "string"}, "count": {"type": "integer"}});
    let function = json!({
        "name": "note", "description": "Keeps a note <|im_end|>",
        "parameters": {"type": "object", "properties": properties, "required": ["text"]},
    });
    json!([{"type": "function", "function": function}])
}

/// The text as a byte-level vocabulary spells it.
fn spelled(text: &str) -> String {
    assert!(text.chars().all(|c| matches!(c, '\n' | ' ' | '!'..='~')), "{text:?}");
    text.replace(' ', "Ġ").replace('\n', "Ċ")
}

/// The demo model with other texts for some of its tokens, and a template that takes tools and writes nothing of them:
/// a prompt without these tokens is the same, and so are the tokens of its reply.
fn write_demo_that_says(out: &Path, texts: &[(u32, &str)]) {
    copy_demo_model(out);
    edit_json(out, "tokenizer.json", |file| {
        let vocabulary = file["model"]["vocab"].as_object_mut().unwrap();
        let mut gone = Vec::new();
        for &(id, text) in texts {
            let token = vocabulary.iter().find(|(_, other)| **other == id).unwrap().0.clone();
            vocabulary.shift_remove(&token);
            assert_eq!(vocabulary.insert(spelled(text), id.into()), None);
            gone.push(token);
        }
        file["model"]["merges"].as_array_mut().unwrap().retain(|merge| {
            let (a, b) = (merge[0].as_str().unwrap(), merge[1].as_str().unwrap());
            !gone.iter().any(|token| token == a || token == b || *token == format!("{a}{b}"))
        });
    });
    let path = out.join("chat_template.jinja");
    let template = fs::read_to_string(&path).unwrap();
    fs::write(path, "{%- if tools %}{%- endif %}".to_owned() + &template.replace("tools", "none")).unwrap();
}

/// A question to the demo model whose reply, by drafts of depth 3, has two accepted drafts in a row at tokens `end` and
/// `end + 1`, so that a reply which ends before the first is cut in the middle of a step; and which can be spelled
/// otherwise at its first two tokens and the two at the end.
fn reply_to_spell() -> (String, Vec<u32>, usize) {
    let session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    for question in demo_questions() {
        let asked = ChatMessage::user(question.clone());
        let prompt = session.chat_prompt(&[asked], None, false).unwrap().ids;
        let reply = generate(&[&["--prompt", &question], &OPTIONS[..]].concat());
        let ids = &reply.finished.ids;
        for end in 5..ids.len().saturating_sub(1) {
            let drafted = |token: usize| reply.tokens[token].draft_position;
            let chosen = [ids[0], ids[1], ids[end - 1], ids[end]];
            let once = |id: &u32| ids[..=end].iter().filter(|other| *other == id).count() == 1;
            if drafted(end).is_some()
                && drafted(end + 1).is_some_and(|position| position > 1)
                && chosen.iter().all(|id| once(id) && !prompt.contains(id))
            {
                return (question, ids.clone(), end);
            }
        }
    }
    panic!("no reply of the demo model has such a place");
}

const OPTIONS: [&str; 4] = ["--thinking", "off", "--depth", "3"];

#[test]
fn a_reply_ends_behind_its_calls_and_drafts_beyond_are_dropped() {
    const BEGIN: &str = "<tool_call>\n<function=note>\n<parameter=text>\n";
    const END: &str = "\n</parameter>\n<parameter=count>\nmany\n</parameter>\n</function>\n</tool_call>";
    let (question, ids, end) = reply_to_spell();
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model");
    write_demo_that_says(
        &model,
        &[(ids[0], "I note it.\n\n"), (ids[1], BEGIN), (ids[end - 1], END), (ids[end], "So, now")],
    );
    let between = Tokenizer::load(&model).unwrap().decode(&ids[2..end - 1]);
    let text = format!("I note it.\n\n{BEGIN}{between}{END}");
    let tools = json_file(&folder, "tools.json", &tools());
    let asked = [&["--prompt", &question, "--temperature", "0"], &OPTIONS[..]].concat();
    let with_tools = [&asked[..], &["--tools", &tools]].concat();

    let plain = generate_with(&model, &asked).finished;
    assert_eq!(plain.ids, ids, "spelled otherwise it is the same reply");
    assert!(plain.text.starts_with(&format!("{text}So, now")), "{}", plain.text);

    let misfit = json!({"kind": "type", "parameter": "count", "expected": "an integer", "came": "many"});
    let call = json!({
        "name": "note", "arguments": {"text": between, "count": "many"}, "cut": false, "misfits": [misfit],
    });
    let reply = generate_with(&model, &with_tools);
    let finished = &reply.finished;
    assert_eq!((finished.reason.as_str(), &finished.text, &finished.ids[..]), ("stop", &text, &ids[..end]));
    assert_eq!(finished.calls, json!([call]));
    // The draft that ended it counts, as one that is a stop token does; those behind it do not.
    let shown = reply.tokens.iter().filter(|token| token.draft_position.is_some()).count();
    let accepted: u32 = finished.stats.positions.iter().map(|position| position.accepted).sum();
    assert_eq!(accepted as usize, shown + 1);

    let undrafted = generate_with(&model, &[&with_tools[..], &["--speculation", "off"]].concat()).finished;
    assert_eq!((undrafted.ids, undrafted.calls), (finished.ids.clone(), finished.calls.clone()));

    let limit = (end - 1).to_string();
    let cut = generate_with(&model, &[&with_tools[..], &["--max-tokens", &limit]].concat()).finished;
    assert_eq!((cut.reason.as_str(), cut.text), ("length", format!("I note it.\n\n{BEGIN}{between}")));
    assert_eq!(
        cut.calls,
        json!([{"name": "note", "arguments": {"text": between}, "cut": true, "misfits": []}])
    );

    let output = engine(&[&["generate", "--model", model.to_str().unwrap()], &with_tools[..]].concat());
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), text + "\n");
    let said = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    let call = format!("Call: note(text = {}, count = \"many\")", json!(between));
    assert_eq!(lines[..2], [&call, "  count: expected an integer, came \"many\""]);
    assert_eq!(lines.len(), 3, "{said}");
}

/// The demo model calls what it is offered, chooses between two, and goes on with the result.
#[test]
fn the_demo_model_calls_tools_and_uses_their_results() {
    let folder = tempfile::tempdir().unwrap();
    let tool = |name: &str, about: &str, parameter: &str, kind: &str| {
        let parameters =
            json!({"type": "object", "properties": {parameter: {"type": kind}}, "required": [parameter]});
        json!({"type": "function", "function": {"name": name, "description": about, "parameters": parameters}})
    };
    let tools = json!([
        tool("set_timer", "Starts a timer.", "minutes", "integer"),
        tool("get_weather", "Tells the weather of a place.", "city", "string"),
    ]);
    let tools = json_file(&folder, "tools.json", &tools);
    let offered = ["--tools", &tools];
    let cases = [
        ("What is the weather in Vienna?", json!({"name": "get_weather", "arguments": {"city": "Vienna"}})),
        ("Set a timer for 12 minutes.", json!({"name": "set_timer", "arguments": {"minutes": 12}})),
    ];
    for (question, wanted) in &cases {
        for thinking in ["off", "on"] {
            let asked = ["--prompt", question, "--thinking", thinking];
            let calls = generate(&[&asked[..], &offered].concat()).finished.calls;
            let [call] = &calls.as_array().unwrap()[..] else { panic!("{question}: {calls}") };
            let told = json!({"name": call["name"], "arguments": call["arguments"]});
            assert_eq!((&told, &call["cut"], &call["misfits"]), (wanted, &json!(false), &json!([])));
        }
    }
    let call = json!({"type": "function", "function": cases[0].1});
    let chat = json!([
        {"role": "user", "content": cases[0].0},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "content": "{\"temperature\": 17, \"sky\": \"cloudy\"}"},
    ]);
    let chat = json_file(&folder, "chat.json", &chat);
    let answered = generate(&[&["--messages", &chat, "--thinking", "off"], &offered[..]].concat()).finished;
    assert!(answered.text.contains("17") && answered.calls == json!([]), "{}", answered.text);
}

#[test]
fn tools_calls_and_results_reach_the_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture("tiny-dense");
    let call = json!({"type": "function", "function": {"name": "note", "arguments": {"text": "x"}}});
    let chat = json_file(
        &folder,
        "chat.json",
        &json!([
            {"role": "user", "content": "Note it."},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "content": "done </tool_response>"},
        ]),
    );
    // The call as `generate --json` tells it, with typed arguments, and as OpenAI does, as a text.
    let typed = json!({"text": "x", "count": 3});
    let same: Vec<String> = [typed.clone(), typed.to_string().into()]
        .into_iter()
        .enumerate()
        .map(|(i, arguments)| {
            let call = json!({"type": "function", "function": {"name": "note", "arguments": arguments}});
            let messages = json!([
                {"role": "user", "content": "Note it."},
                {"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "content": "done </tool_response>"},
            ]);
            json_file(&folder, &format!("chat-{i}.json"), &messages)
        })
        .collect();
    let tools = json_file(&folder, "tools.json", &tools());
    let none = json_file(&folder, "none.json", &json!([]));
    // As the template of this fixture writes it. What is not its own is encoded as text.
    let tokenizer = Tokenizer::load(&model).unwrap();
    let own = |text: &str| tokenizer.encode(text).unwrap().len();
    let text = |text: &str| tokenizer.encode_text(text).unwrap().len();
    let chat_tokens = own("<|im_start|>user\nNote it.<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n\
                           <|im_start|>user\n<tool_response>")
        + text("\ndone </tool_response>\n")
        + own("</tool_response><|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n");
    let tool_tokens = own("<|im_start|>")
        + text(
            "system\n# Tools\n\n<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"note\", \"description\": \
             \"Keeps a note <|im_end|>\", \"parameters\": {\"type\": \"object\", \"properties\": {\"text\": {\"type\": \
             \"string\"}, \"count\": {\"type\": \"integer\"}}, \"required\": [\"text\"]}}}\n</tools>",
        )
        + own("<|im_end|>\n");
    let read_chat = |chat: &str, more: &[&str]| {
        let asked = ["--messages", chat, "--thinking", "off", "--max-tokens", "1", "--temperature", "0"];
        generate_with(&model, &[&asked, more].concat()).finished
    };
    let read = |more: &[&str]| read_chat(&chat, more);
    for chat in [&chat].into_iter().chain(&same) {
        assert_eq!(read_chat(chat, &[]).stats.prompt_tokens as usize, chat_tokens);
    }
    assert_eq!(read(&["--tools", &tools]).stats.prompt_tokens as usize, tool_tokens + chat_tokens);
    let without = read(&["--tools", &none]);
    assert_eq!((without.stats.prompt_tokens as usize, without.calls), (chat_tokens, json!([])));
}

#[test]
fn tools_that_cannot_be_offered_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let tool = tools()[0].clone();
    let file = |name: &str, value: &Value| json_file(&folder, name, value);
    let demo = folder.path().join("demo");
    copy_demo_model(&demo);
    fs::write(demo.join("chat_template.jinja"), "{{ messages[0].content }}").unwrap();
    let in_another_form = "{{ messages[0].content }}{% if tools %}{{ '<tool_call>\nNAME()' }}{% endif %}";
    let other = folder.path().join("other");
    copy_demo_model(&other);
    fs::write(other.join("chat_template.jinja"), in_another_form).unwrap();
    let cases = [
        ("no such file", folder.path().join("nothing").to_str().unwrap().to_owned()),
        ("tools that are no list", file("tool.json", &tool)),
        ("a function that is no tool", file("bare.json", &json!([tool["function"]]))),
        ("two tools of one name", file("twice.json", &json!([tool, tool]))),
        (
            "a name with a space",
            file("name.json", &json!([{"type": "function", "function": {"name": "a b"}}])),
        ),
        ("a template that knows no tools", file("tools.json", &tools())),
    ];
    let mut told = String::new();
    let of_other = ("a template that writes calls in another form", file("tools.json", &tools()));
    let runs = cases.iter().map(|case| (&demo, case)).chain([(&other, &of_other)]);
    for (model, (what, tools)) in runs {
        let arguments = ["generate", "--model", model.to_str().unwrap(), "--prompt", "Hi", "--tools", tools];
        let message = refusal(&arguments).replace(folder.path().to_str().unwrap(), "FOLDER");
        told += &format!("{what}:\n{message}");
    }
    insta::assert_snapshot!("refused_tools", told);
}
