//! Pictures that other programs send, before a real engine with a model that sees, and before one that does not.

use std::fs;
use std::io::{Cursor, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foretoken_tests::fixtures::edit_json;
use foretoken_tests::oracle::write_vision;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Answer, chat, get, request, send};
use crate::server::{Server, TEMPORARY, with};

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";
const COUNT_CHAT: &str = "/v1/chat/completions/input_tokens";

/// A server with a model that sees as much as those of the family do, also what tools return.
pub(crate) fn seeing() -> (TempDir, Server) {
    let model = tempfile::tempdir().unwrap();
    write_vision("tiny-vision", model.path(), &["--dtype", "float32"]);
    edit_json(model.path(), "preprocessor_config.json", |file| {
        file["size"]["longest_edge"] = json!(16_777_216)
    });
    let path = model.path().join("chat_template.jinja");
    let (template, refusal) =
        (fs::read_to_string(&path).unwrap(), "{{- raise_exception('Unknown role: ' + message.role) }}");
    assert!(template.contains(refusal));
    let result = "{{- '<|im_start|>user\\n' + content_of(message.content, true) + '<|im_end|>\\n' }}";
    fs::write(path, template.replace(refusal, result)).unwrap();
    let server = Server::real_with(model.path(), &["--no-token"]);
    (model, server)
}

/// A picture in the format of PNG, in base64.
fn png(width: u32, height: u32, seed: u32) -> String {
    let pixel = |x: u32, y: u32| Rgb([x * seed, y * seed, (x ^ y) * seed].map(|value| value as u8));
    let (picture, mut file) = (RgbImage::from_fn(width, height, pixel), Cursor::new(Vec::new()));
    DynamicImage::from(picture).write_to(&mut file, ImageFormat::Png).unwrap();
    STANDARD.encode(file.into_inner())
}

fn url(base64: &str) -> String {
    format!("data:image/png;base64,{base64}")
}

fn image(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A question of these parts for a chat completion.
fn question(parts: Value) -> Value {
    json!({"model": "default", "messages": [{"role": "user", "content": parts}], "temperature": 0,
        "max_completion_tokens": 12, "enable_thinking": false})
}

/// The same for a message.
fn message(parts: Value) -> Value {
    json!({"model": "default", "messages": [{"role": "user", "content": parts}], "temperature": 0, "max_tokens": 12,
        "thinking": {"type": "disabled"}})
}

/// And for a response.
fn response(parts: Value) -> Value {
    json!({"model": "default", "input": [{"role": "user", "content": parts}], "temperature": 0,
        "max_output_tokens": 12, "reasoning": {"effort": "none"}})
}

fn ask(server: &Server, route: &str, body: &Value) -> Value {
    let mut answer = send(server.port, "POST", route, &[], &body.to_string());
    let words = answer.text();
    assert_eq!(answer.status, 200, "{route}: {words}");
    serde_json::from_str(&words).unwrap()
}

/// What an answer says, the tokens of its prompt, and those of them that were read before.
fn said(answer: &Value) -> (String, u64, u64) {
    let number =
        |path: &str| answer.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{answer}"));
    let all = |list: &Value| -> String {
        list.as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect()
    };
    match answer["object"].as_str() {
        Some("chat.completion") => (
            answer["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned(),
            number("/usage/prompt_tokens"),
            number("/usage/prompt_tokens_details/cached_tokens"),
        ),
        Some("response") => (
            answer["output"].as_array().unwrap().iter().map(|item| all(&item["content"])).collect(),
            number("/usage/input_tokens"),
            number("/usage/input_tokens_details/cached_tokens"),
        ),
        _ => {
            let cached = number("/usage/cache_read_input_tokens");
            (all(&answer["content"]), number("/usage/input_tokens") + cached, cached)
        }
    }
}

/// The status of a refusal, its code, where it has one, and its words.
fn refusal(mut answer: Answer) -> (u16, String, String) {
    let error = answer.json()["error"].take();
    let words = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    (answer.status, words("code"), words("message"))
}

/// Where pictures are decoded.
fn decoding(server: &Server) -> PathBuf {
    let mut folders = vec![server.home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.ends_with("engine/decoding") {
            return folder;
        }
        folders.extend(entries(&folder).into_iter().filter(|entry| entry.is_dir() && !entry.is_symlink()));
    }
    server.home.path().join("none")
}

/// What is in a folder, if that is there.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Folders with pictures of requests.
fn folders(server: &Server) -> usize {
    let temporary = fs::read_dir(server.home.path().join(TEMPORARY)).unwrap().map(Result::unwrap);
    let strange = temporary.filter(|entry| entry.file_name().to_string_lossy().starts_with("foretoken-"));
    assert_eq!(strange.count(), 0, "those of requests are in the cache");
    let processes = entries(&decoding(server)).into_iter().filter(|process| process.is_dir());
    processes.flat_map(|process| entries(&process)).filter(|folder| folder.is_dir()).count()
}

fn wait_for_folders(server: &Server, expected: usize) {
    let begun = Instant::now();
    while folders(server) != expected {
        assert!(begun.elapsed() < Duration::from_secs(20), "{} folders", folders(server));
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_picture_is_seen_alike_in_each_dialect_and_counted() {
    let (_model, server) = seeing();
    let (one, other) = (png(448, 320, 1), png(448, 320, 3));
    let before = question(json!([text("What is this?")]));
    let (_, without, _) = said(&ask(&server, CHAT, &before));
    let shown = |base64: &str| question(json!([image(&url(base64)), text("What is this?")]));
    let (first, tokens, cached) = said(&ask(&server, CHAT, &shown(&one)));
    // 448 × 320 pixels, 32 × 32 a token, and the two marks around them.
    assert_eq!(tokens, without + 140 + 2);
    assert!(cached < 140 && !first.is_empty(), "{cached} {first:?}");
    let (again, _, cached) = said(&ask(&server, CHAT, &shown(&one)));
    assert!(again == first && cached > 140, "{cached} {again:?} {first:?}");
    let (_, _, cached) = said(&ask(&server, CHAT, &shown(&other)));
    assert!(cached < 140, "another picture of that size is not taken for it: {cached}");

    let source = json!({"type": "base64", "media_type": "image/jpeg", "data": one});
    let asked = message(json!([{"type": "image", "source": source}, text("What is this?")]));
    let (by_message, counted, _) = said(&ask(&server, MESSAGES, &asked));
    assert_eq!((&by_message, counted), (&first, tokens));
    let parts = json!([{"type": "input_image", "image_url": url(&one), "detail": "auto"},
        {"type": "input_text", "text": "What is this?"}]);
    let answered = response(parts);
    let (by_response, counted, _) = said(&ask(&server, RESPONSES, &answered));
    assert_eq!((&by_response, counted), (&first, tokens));

    for (route, body) in [
        (COUNT_CHAT, &shown(&one)),
        ("/v1/responses/input_tokens", &answered),
        ("/v1/messages/count_tokens", &asked),
    ] {
        assert_eq!(ask(&server, route, body)["input_tokens"], tokens, "{route}");
    }
    assert_eq!(get(server.port, "/v1/models").json()["data"][0]["capabilities"], json!({"vision": true}));
    assert_eq!(folders(&server), 0);
}

#[test]
fn pictures_stand_where_they_were_sent_in_the_detail_that_was_asked_for() {
    let (_model, server) = seeing();
    let count = |parts: Value| ask(&server, COUNT_CHAT, &question(parts))["input_tokens"].as_u64().unwrap();
    let large = url(&png(1280, 1056, 1));
    let tokens = |fields: Value| {
        let image = json!({"type": "image_url", "image_url": with(json!({"url": large}), fields)});
        count(json!([image])) - count(json!([])) - 2
    };
    let low = tokens(json!({"detail": "low"}));
    let [standard, auto] = [json!({}), json!({"detail": "auto"})].map(tokens);
    let high = tokens(json!({"detail": "high"}));
    assert!(low <= 256 && low > 200 && standard <= 1024 && standard > 900, "{low} {standard}");
    assert_eq!((auto, high), (standard, 40 * 33));

    // Whichever comes first changes what is said: their order is kept.
    let (one, two) = (image(&url(&png(64, 64, 1))), image(&url(&png(96, 64, 5))));
    let answer = |parts: Value| {
        let trace = json!({"logprobs": true, "top_logprobs": 5});
        ask(&server, CHAT, &with(question(parts), trace))["choices"][0].take()
    };
    let forth = answer(json!([one, text("a"), two]));
    assert_eq!(answer(json!([one, text("a"), two])), forth);
    assert_ne!(answer(json!([two, text("a"), one]))["logprobs"], forth["logprobs"]);
    assert_ne!(answer(json!([text("a"), one, two]))["logprobs"], forth["logprobs"]);
}

#[test]
fn a_tool_may_return_a_picture() {
    let (_model, server) = seeing();
    let base64 = png(64, 64, 1);
    let call = json!([{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let turns = |result: Value| {
        json!([{"role": "user", "content": "Look."}, {"role": "assistant", "tool_calls": call},
            {"role": "tool", "tool_call_id": "t", "content": result}])
    };
    let asked = |result: Value| with(question(json!("")), json!({"messages": turns(result)}));
    let (_, without, _) = said(&ask(&server, CHAT, &asked(json!("See"))));
    let (text_of_chat, tokens, _) =
        said(&ask(&server, CHAT, &asked(json!([text("See"), image(&url(&base64))]))));
    assert_eq!(tokens, without + 4 + 2);

    let source = json!({"type": "base64", "media_type": "image/png", "data": base64});
    let result = json!({"type": "tool_result", "tool_use_id": "t",
        "content": [text("See"), {"type": "image", "source": source}]});
    let use_of_tool = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let turns = json!([{"role": "user", "content": "Look."}, {"role": "assistant", "content": [use_of_tool]},
        {"role": "user", "content": [result]}]);
    let answer = ask(&server, MESSAGES, &with(message(json!("")), json!({"messages": turns})));
    assert_eq!(said(&answer).0, text_of_chat);
    let output =
        json!([{"type": "input_text", "text": "See"}, {"type": "input_image", "image_url": url(&base64)}]);
    let items = json!([{"role": "user", "content": "Look."},
        {"type": "function_call", "call_id": "t", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "t", "output": output}]);
    let answer = ask(&server, RESPONSES, &with(response(json!("")), json!({"input": items})));
    assert_eq!(said(&answer).0, text_of_chat);
}

#[test]
fn what_cannot_be_shown_is_refused_and_says_which_picture_it_is() {
    let (_model, server) = seeing();
    let good = png(64, 64, 1);
    let broken = STANDARD.encode(&STANDARD.decode(&good).unwrap()[..60]);
    let second = |url: &str| question(json!([image(&self::url(&good)), image(url)]));
    for (url, code, words) in [
        ("https://example.com/a.png".to_owned(), "image_url_not_supported", "data URL"),
        ("file:///etc/passwd".to_owned(), "image_url_not_supported", "data URL"),
        (url("QQ=!"), "invalid_image", "not base64"),
        (url(&broken), "invalid_image", "PNG is damaged"),
        (url(""), "invalid_image", "no picture"),
        (url(&STANDARD.encode("<svg xmlns='http://www.w3.org/2000/svg'/>")), "invalid_image", "SVG"),
    ] {
        for route in [CHAT, COUNT_CHAT] {
            let (status, found, said) =
                refusal(send(server.port, "POST", route, &[], &second(&url).to_string()));
            assert_eq!((status, found.as_str()), (400, code), "{said}");
            assert!(said.contains(words) && said.contains("messages[0].content[1]"), "{said}");
            assert!(!said.contains(server.home.path().to_str().unwrap()), "{said}");
        }
    }
    let source = json!({"type": "url", "url": "https://example.com/a.png"});
    let body = message(json!([{"type": "image", "source": source}])).to_string();
    let (status, _, said) = refusal(send(server.port, "POST", MESSAGES, &[], &body));
    assert!(status == 400 && said.contains("base64"), "{said}");
    let body = response(json!([{"type": "input_image", "file_id": "f"}])).to_string();
    assert_eq!(refusal(send(server.port, "POST", RESPONSES, &[], &body)).1, "image_url_not_supported");

    let many = |count: usize| vec![image(&url(&png(32, 32, 1))); count];
    assert_eq!(refusal(chat(server.port, &question(json!(many(21))))).1, "too_many_images");
    ask(&server, COUNT_CHAT, &question(json!(many(20))));
    assert_eq!(folders(&server), 0);
}

/// Programs send all of a chat again each time: it does not end with its twenty-first picture.
#[test]
fn of_a_long_chat_the_latest_pictures_are_seen() {
    let (_model, server) = seeing();
    let picture = image(&url(&png(32, 32, 1)));
    let chat_of = |earlier: Vec<Value>| {
        let turns = json!([{"role": "user", "content": earlier}, {"role": "assistant", "content": "Yes"},
            {"role": "user", "content": [picture, text("And?")]}]);
        with(question(json!("")), json!({"messages": turns}))
    };
    let answer = chat(server.port, &chat_of(vec![picture.clone(); 21]));
    assert_eq!((answer.status, answer.header("foretoken-warning")), (200, Some("image-left-out")));
    let left_out = [vec![text("[image left out]"); 2], vec![picture.clone(); 19]].concat();
    let tokens = |body: &Value| ask(&server, COUNT_CHAT, body)["input_tokens"].clone();
    assert_eq!(tokens(&chat_of(vec![picture.clone(); 21])), tokens(&chat_of(left_out)));
    assert_eq!(folders(&server), 0);
}

/// Nobody decodes the pictures of a request that is refused in any case.
#[test]
fn what_is_too_long_without_its_pictures_is_refused_before_they_are_decoded() {
    let (_model, server) = seeing();
    let context = get(server.port, "/v1/models").json()["data"][0]["context_length"].as_u64().unwrap();
    let long = text(&"a b ".repeat(context as usize));
    let broken = image(&url("QQ=="));
    let refused = |parts: Value| refusal(chat(server.port, &question(parts))).1;
    assert_eq!(refused(json!([broken, long])), "context_length_exceeded");
    assert_eq!(refused(json!([broken])), "invalid_image");
}

#[test]
fn a_model_that_reads_text_alone_says_so() {
    let server = Server::real(&["--no-token"]);
    let picture = image(&url(&png(64, 64, 1)));
    for route in [CHAT, COUNT_CHAT] {
        let body = question(json!([picture])).to_string();
        let (status, code, words) = refusal(send(server.port, "POST", route, &[], &body));
        assert_eq!((status, code.as_str()), (400, "images_not_supported"));
        assert!(words.contains("reads text alone"), "{words}");
    }
    // A chat that went on with another model is not at its end.
    let turns = json!([{"role": "user", "content": [picture, text("See")]},
        {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "And?"}]);
    let body = with(question(json!("")), json!({"messages": turns}));
    let answer = chat(server.port, &body);
    assert_eq!((answer.status, answer.header("foretoken-warning")), (200, Some("image-left-out")));
    let mut left_out = body;
    left_out["messages"][0]["content"] = json!("[image left out]See");
    let tokens = |body: &Value| ask(&server, COUNT_CHAT, body)["input_tokens"].clone();
    let with_picture = with(question(json!("")), json!({"messages": turns}));
    assert_eq!(tokens(&with_picture), tokens(&left_out));
    assert_eq!(get(server.port, "/v1/models").json()["data"][0]["capabilities"], json!({"vision": false}));
    assert_eq!(folders(&server), 0);
}

/// It is known from its config: the one that is loaded stays.
#[test]
fn no_model_that_reads_text_alone_is_loaded_for_a_picture() {
    let server = Server::with_library(&["first", "second"], &[]);
    let body = with(question(json!([image(&url("QQ=="))])), json!({"model": "second"}));
    assert_eq!(refusal(chat(server.port, &body)).1, "images_not_supported");
    assert_eq!(get(server.port, "/v1/foretoken/status").json()["model"], "first");
    let models = get(server.port, "/v1/models").json();
    let capabilities: Vec<_> =
        models["data"].as_array().unwrap().iter().map(|model| &model["capabilities"]["vision"]).collect();
    assert_eq!(capabilities, [&json!(false), &json!(false)]);
}

/// A body that is larger than others may be where a model sees.
#[test]
fn large_bodies_are_for_models_that_see() {
    let ask = |server: &Server, megabytes: usize| {
        let body = format!("{}{}", question(json!("Hi")), " ".repeat(megabytes << 20));
        send(server.port, "POST", COUNT_CHAT, &[], &body).status
    };
    let (_model, sees) = seeing();
    assert_eq!([20, 33, 65].map(|megabytes| ask(&sees, megabytes)), [200, 200, 413]);
    let reads = Server::real(&["--no-token"]);
    assert_eq!([20, 33].map(|megabytes| ask(&reads, megabytes)), [200, 413]);
}

#[test]
fn pictures_are_gone_with_whoever_sent_them() {
    let (_model, server) = seeing();
    let parts = json!([image(&url(&png(64, 64, 1)))]);
    let endless = with(question(parts), json!({"stream": true, "max_completion_tokens": 4000}));
    let answer = chat(server.port, &endless);
    assert_eq!(answer.status, 200);
    wait_for_folders(&server, 1);
    answer.leave();
    wait_for_folders(&server, 0);

    // Also while they are decoded.
    let many = vec![image(&url(&png(1024, 1024, 1))); 20];
    let body = question(json!(many)).to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.write_all(&request(server.port, "POST", CHAT, &[], &body)).unwrap();
    wait_for_folders(&server, 1);
    drop(stream);
    wait_for_folders(&server, 0);
}
