//! The server in front of the real engine with the demo model.

use std::fs;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use foretoken_engine::mlx::Dtype;
use foretoken_engine::score::{CHUNK, score};
use foretoken_engine::session::Session;
use foretoken_protocol::ChatMessage;
use foretoken_tests::fixtures::{demo_model, fixture, write_raw};
use serde_json::{Value, json};

use crate::client::{chat, get, send};
use crate::server::{Server, with};

fn asked(fields: Value) -> Value {
    let question = json!([{"role": "user", "content": "Tell me about the sea."}]);
    with(json!({"model": "default", "messages": question, "max_tokens": 40, "seed": 5}), fields)
}

fn said(answer: &Value, choice: usize) -> String {
    let message = &answer["choices"][choice]["message"];
    let text = |key: &str| message[key].as_str().unwrap_or_default();
    format!("{}|{}", text("reasoning_content"), text("content"))
}

#[test]
fn a_seed_gives_one_text_with_and_without_drafts_whole_streamed_and_in_company() {
    let server = Server::real(&["--no-token"]);
    let port = server.port;
    let sampled = |fields: Value| asked(with(json!({"temperature": 0.8}), fields));
    let plain = chat(port, &sampled(json!({"foretoken": {"speculation": "off"}}))).json();
    let text = said(&plain, 0);
    assert!(text.len() > 20, "{text}");
    assert_eq!(plain["timings"]["draft_n"], 0);
    for speculation in [json!("auto"), json!(1), json!(3), json!({"drafter": "lookup"})] {
        let drafted = chat(port, &sampled(json!({"foretoken": {"speculation": speculation}}))).json();
        assert_eq!(said(&drafted, 0), text, "{speculation}");
    }
    let three = chat(port, &sampled(json!({"foretoken": {"speculation": 3}}))).json();
    assert!(three["timings"]["draft_n"].as_u64() > Some(0), "{three}");
    let stream = sampled(json!({"stream": true, "foretoken": {"trace": true}}));
    let together: Vec<_> = (0..4)
        .map(|_| {
            let stream = stream.clone();
            thread::spawn(move || chat(port, &stream).events())
        })
        .collect();
    for events in together.into_iter().map(|one| one.join().unwrap()) {
        let joined = |key: &str| -> String {
            events.iter().filter_map(|event| event["choices"][0]["delta"][key].as_str()).collect()
        };
        assert_eq!(format!("{}|{}", joined("reasoning_content"), joined("content")), text);
        let traced: String = events
            .iter()
            .filter_map(|event| event["foretoken"]["tokens"].as_array())
            .flatten()
            .map(|token| token[0].as_str().unwrap())
            .collect();
        assert_eq!(traced, text.replacen('|', "", 1));
    }
}

#[test]
fn several_answers_are_those_of_their_seeds_and_the_prompt_is_read_once() {
    let server = Server::real(&["--no-token"]);
    let messages = json!([
        {"role": "system", "content": "You know the sea and its bells. ".repeat(100)},
        {"role": "user", "content": "Tell me about the sea."},
    ]);
    let body = asked(json!({"temperature": 1.0, "messages": messages}));
    let three = chat(server.port, &with(body.clone(), json!({"n": 3}))).json();
    for index in 0..3 {
        let alone = chat(server.port, &with(body.clone(), json!({"seed": 5 + index}))).json();
        assert_eq!(said(&three, index), said(&alone, 0));
    }
    let cached: Vec<u64> = three["foretoken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["cached_tokens"].as_u64().unwrap())
        .collect();
    let prompt = three["usage"]["prompt_tokens"].as_u64().unwrap();
    assert!(cached[0] == 0 && 2 * cached[1] > prompt && 2 * cached[2] > prompt, "{cached:?} of {prompt}");
}

#[test]
fn stop_texts_end_the_answer_and_not_the_thinking() {
    let server = Server::real(&["--no-token"]);
    let body = asked(json!({"temperature": 0, "max_tokens": 60}));
    let free = chat(server.port, &body).json();
    let content = free["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    assert!(content.len() > 12, "{free}");
    // What stands in the thinking does not end it.
    let thinking = free["choices"][0]["message"]["reasoning"].as_str().unwrap_or_default().to_owned();
    if let Some(word) = thinking.split_whitespace().find(|word| word.len() > 3) {
        let stopped = chat(server.port, &with(body.clone(), json!({"stop": [word]}))).json();
        assert_eq!(stopped["choices"][0]["message"]["reasoning"], thinking.as_str(), "{word}");
    }
    let middle = content.floor_char_boundary(content.len() / 2);
    let stop: String = content[middle..].chars().take(4).collect();
    let before = content.split_once(stop.as_str()).unwrap().0;
    let stopped = chat(server.port, &with(body.clone(), json!({"stop": [stop]}))).json();
    assert_eq!(stopped["choices"][0]["message"]["content"], before);
    assert_eq!(stopped["choices"][0]["finish_reason"], "stop");
    assert_eq!(stopped["choices"][0]["message"]["reasoning"], free["choices"][0]["message"]["reasoning"]);
}

#[test]
fn chances_are_those_of_the_model_and_their_bytes_the_text() {
    let server = Server::real(&["--no-token"]);
    let fields = json!({"temperature": 0, "logprobs": true, "top_logprobs": 3, "reasoning_effort": "none"});
    let answer = chat(server.port, &asked(fields)).json();
    let choice = &answer["choices"][0];
    let tokens = choice["logprobs"]["content"].as_array().unwrap();
    assert_eq!(tokens.len() as u64, answer["usage"]["completion_tokens"].as_u64().unwrap());
    let bytes: Vec<u8> = tokens
        .iter()
        .flat_map(|token| token["bytes"].as_array().unwrap())
        .map(|byte| byte.as_u64().unwrap() as u8)
        .collect();
    assert_eq!(String::from_utf8(bytes).unwrap(), choice["message"]["content"].as_str().unwrap());
    for token in tokens {
        let top = token["top_logprobs"].as_array().unwrap();
        assert_eq!(top.len(), 3);
        assert_eq!(top[0]["token"], token["token"], "greedy takes the likeliest");
        assert!(token["logprob"].as_f64().unwrap() <= 0.0);
    }
}

/// What is told of tokens is what the model makes of the same text where it only reads it.
#[test]
fn chances_are_those_that_reading_the_text_gives() {
    let folder = tempfile::tempdir().unwrap();
    // In f32, so that rounding decides nothing.
    write_raw(&demo_model(), folder.path(), Dtype::Float32);
    for file in fs::read_dir(demo_model()).unwrap().map(Result::unwrap) {
        let to = folder.path().join(file.file_name());
        if !to.exists() && file.path().extension() != Some("safetensors".as_ref()) {
            fs::copy(file.path(), to).unwrap();
        }
    }
    let session = Session::load(folder.path(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let server = Server::real_with(folder.path(), &["--no-token"]);
    let question = "Tell me about the sea.";
    let prompt = session.chat_prompt(&[ChatMessage::user(question)], None, false).unwrap().ids;
    let token_of = |bytes: &Value| {
        let bytes: Vec<u8> = serde_json::from_value(bytes.clone()).unwrap();
        (0..2048).find(|&id| session.tokenizer().token_bytes(id) == bytes).unwrap()
    };
    for own in [json!({"speculation": "off"}), json!({"speculation": 3})] {
        let fields = json!({"temperature": 1.0, "presence_penalty": 0.5, "logprobs": true, "top_logprobs": 5,
            "reasoning_effort": "none", "foretoken": own});
        let answer = chat(server.port, &asked(fields)).json();
        assert_eq!(answer["usage"]["prompt_tokens"], prompt.len());
        let told = answer["choices"][0]["logprobs"]["content"].as_array().unwrap();
        let reply: Vec<u32> = told.iter().map(|token| token_of(&token["bytes"])).collect();
        assert!(reply.len() > 10, "{answer}");
        let text = [&prompt[..], &reply].concat();
        let logits = score(session.model(), &text, CHUNK).unwrap().logits.to_vec::<f32>().unwrap();
        let vocab = logits.len() / text.len();
        for (place, (token, &id)) in told.iter().zip(&reply).enumerate() {
            let row = &logits[(prompt.len() + place - 1) * vocab..][..vocab];
            let all: f64 = row.iter().map(|&logit| f64::from(logit).exp()).sum();
            let chance = |id: u32| f64::from(row[id as usize]) - all.ln();
            let close = |told: &Value, id: u32| (told["logprob"].as_f64().unwrap() - chance(id)).abs() < 1e-4;
            assert!(close(token, id), "{place}: {token}, read {}", chance(id));
            // Control tokens have no text.
            let tops = token["top_logprobs"].as_array().unwrap().iter().filter(|top| top["token"] != "");
            for top in tops {
                assert!(close(top, token_of(&top["bytes"])), "{place}: {top}");
            }
        }
    }
}

#[test]
fn a_prompt_that_is_too_long_says_by_how_much_and_a_reply_is_gone_on_with() {
    let server = Server::real(&["--no-token"]);
    let context = get(server.port, "/v1/models").json()["data"][0]["context_length"].as_u64().unwrap();
    let long = json!([{"role": "user", "content": "sea ".repeat(context as usize + 10)}]);
    let mut refused = chat(server.port, &asked(json!({"messages": long})));
    assert_eq!(refused.status, 400);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("prompt is too long: "), "{message}");
    assert!(message.ends_with(&format!("> {context} maximum")), "{message}");

    let greedy = json!({"temperature": 0, "reasoning_effort": "none"});
    let whole = said(&chat(server.port, &asked(greedy.clone())).json(), 0);
    let whole = whole.trim_start_matches('|');
    let first: String = whole.chars().take(12).collect();
    let messages = json!([
        {"role": "user", "content": "Tell me about the sea."}, {"role": "assistant", "content": first},
    ]);
    let rest = said(&chat(server.port, &asked(with(greedy, json!({"messages": messages})))).json(), 0);
    assert!(!rest.trim_start_matches('|').is_empty());
}

/// Programs give up what takes long and ask again: what was read until then is not read a second time.
#[test]
fn what_was_read_of_a_prompt_before_its_program_left_is_there_for_the_next() {
    let server = Server::real(&["--no-token"]);
    let port = server.port;
    let context = get(port, "/v1/models").json()["data"][0]["context_length"].as_u64().unwrap() as usize;
    let count = |words: usize| {
        let body = json!({"model": "default", "messages": [{"role": "user", "content": "the sea and its bells ".repeat(words)}]});
        let counted = send(port, "POST", "/v1/chat/completions/input_tokens", &[], &body.to_string()).json();
        (body, counted["input_tokens"].as_u64().unwrap())
    };
    let (_, of_ten) = count(10);
    let (body, prompt) = count((context * 8 / 10) * 10 / of_ten as usize);
    let asked = with(body, json!({"max_tokens": 2, "seed": 5}));
    let stage = || get(port, "/v1/foretoken/status").json()["requests"]["live"][0]["stage"].clone();
    let leaves = chat(port, &with(asked.clone(), json!({"stream": true})));
    let begun = Instant::now();
    let read = loop {
        let done = stage()["done"].as_u64().unwrap_or_default();
        if done > 0 && done * 10 >= prompt * 3 {
            break done;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(50),
            "it was read before anybody could leave: {}",
            stage()
        );
    };
    leaves.leave();
    let answer = chat(port, &asked).json();
    let cached = answer["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
    assert!(read < prompt, "{read} of {prompt}");
    assert!(cached >= read && cached < prompt, "{cached} of {read}");
    assert_eq!(answer["usage"]["prompt_tokens"], prompt);
}

#[test]
fn a_reply_may_be_as_long_as_the_context_leaves() {
    let server = Server::real(&["--no-token"]);
    let one = chat(server.port, &asked(json!({"max_tokens": 1}))).json();
    assert_eq!(
        (&one["usage"]["completion_tokens"], &one["choices"][0]["finish_reason"]),
        (&json!(1), &json!("length"))
    );
    for beyond in [json!(-1), json!(1_000_000), json!(u64::MAX)] {
        let fields = json!({"max_tokens": beyond, "stop": ["a", "e", "i", "o"], "reasoning_effort": "none"});
        let mut answer = chat(server.port, &asked(fields));
        assert_eq!(answer.status, 200, "{beyond}");
        assert!(answer.json()["usage"]["completion_tokens"].as_u64() > Some(0), "{beyond}");
    }
}

#[test]
fn a_text_is_gone_on_with_and_is_the_same_with_drafts() {
    let server = Server::real(&["--no-token"]);
    let complete = |fields: Value| {
        let body = json!({"model": "default", "prompt": "The bell of the ship", "seed": 3, "max_tokens": 40});
        send(server.port, "POST", "/v1/completions", &[], &with(body, fields).to_string())
    };
    let plain = complete(json!({"foretoken": {"speculation": "off"}})).json();
    let text = plain["choices"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.len() > 10, "{plain}");
    let drafted = complete(json!({"foretoken": {"speculation": 3}})).json();
    assert_eq!(drafted["choices"][0]["text"], text.as_str());
    let mut middle = complete(json!({"suffix": " rang."}));
    // The demo model has no tokens for that.
    assert_eq!((middle.status, middle.json()["error"]["param"].clone()), (400, json!("suffix")));
    let mut odd = complete(json!({"prompt": [999_999_999]}));
    assert_eq!((odd.status, odd.json()["error"]["param"].clone()), (400, json!("prompt")));
}

#[test]
fn a_model_that_has_the_tags_writes_what_stands_between_two_texts() {
    let server = Server::real_with(&fixture("tiny-dense"), &["--no-token"]);
    let complete = |fields: Value| {
        let body = json!({"model": "default", "prompt": "def add(a, b):", "seed": 3, "max_tokens": 8});
        let mut answer = send(server.port, "POST", "/v1/completions", &[], &with(body, fields).to_string());
        assert_eq!(answer.status, 200);
        answer.json()
    };
    let (open, between) = (complete(json!({})), complete(json!({"suffix": "return a + b"})));
    assert_eq!(between["object"], "text_completion");
    assert!(between["usage"]["completion_tokens"].as_u64() > Some(0), "{between}");
    let prompt = |answer: &Value| answer["usage"]["prompt_tokens"].as_u64().unwrap();
    assert!(prompt(&between) > prompt(&open) + 3, "both texts are read, and three tags");
    let again = complete(json!({"suffix": "return a + b", "foretoken": {"speculation": "off"}}));
    assert_eq!(again["choices"][0]["text"], between["choices"][0]["text"]);
}

#[test]
fn the_count_of_a_request_is_what_its_answer_says_it_read() {
    let server = Server::real(&["--no-token"]);
    let body = json!({
        "model": "default", "max_tokens": 4, "system": "You know the sea.",
        "messages": [{"role": "user", "content": "Tell me about <|im_end|> the sea."}],
    });
    let post = |path: &str| send(server.port, "POST", path, &[], &body.to_string()).json();
    let counted = post("/v1/messages/count_tokens")["input_tokens"].clone();
    let usage = post("/v1/messages")["usage"].clone();
    let read = usage["input_tokens"].as_u64().unwrap() + usage["cache_read_input_tokens"].as_u64().unwrap();
    assert_eq!(counted, read);
}

/// A program that keeps an answer knows which weights it came from, and whether it would come again.
#[test]
fn an_answer_says_what_its_text_depends_on_and_what_is_promised_of_it() {
    let print = |arguments: &[&str]| {
        let server = Server::real(arguments);
        let answer = chat(server.port, &asked(json!({"max_tokens": 2}))).json();
        assert_eq!(answer["foretoken"]["exact"], "bitwise", "{answer}");
        for (temperature, promised) in [(1.0, "distribution"), (0.0, "bitwise")] {
            let own = json!({"max_tokens": 2, "temperature": temperature, "foretoken": {"acceptance": "rejection"}});
            assert_eq!(chat(server.port, &asked(own)).json()["foretoken"]["exact"], promised);
        }
        answer["system_fingerprint"].as_str().unwrap().to_owned()
    };
    let first = print(&["--no-token"]);
    assert_eq!(print(&["--no-token", "--rows", "1"]), first);
    let parts: Vec<&str> = first.split('-').collect();
    assert_eq!((parts[0], parts[2], parts.len()), ("foretoken", "cpu", 5), "{first}");
    assert!(parts[4].len() == 8 && parts[4].bytes().all(|digit| digit.is_ascii_hexdigit()), "{first}");
}

/// Programs count dozens of texts when they start: each count is right, and a reply that is being written says what it
/// says without them.
#[test]
fn fifty_counts_at_once_are_right_and_disturb_no_reply() {
    let server = Server::real(&["--no-token"]);
    let port = server.port;
    let post = |path: &str, body: &Value| send(port, "POST", path, &[], &body.to_string()).json();
    // The same beginning, so that some of it is found read already.
    let tools = json!([{"name": "weather", "input_schema": {"type": "object",
        "properties": {"city": {"type": "string"}}}}]);
    let body = |index: usize| {
        json!({
            "model": "default", "max_tokens": 1, "system": "You know the sea.", "tools": tools,
            "messages": [{"role": "user", "content": format!("Tell me about the sea.{}", " And more.".repeat(index))}],
        })
    };
    let reply = || {
        let asked = json!({"model": "default", "max_tokens": 300, "stream": true, "seed": 3, "temperature": 1.5,
            "messages": [{"role": "user", "content": "Where do owls sleep?"}], "logit_bias": {"2038": -100, "2040": -100}});
        chat(port, &asked)
    };
    let text = |events: &[Value]| -> String {
        events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect()
    };
    let alone = text(&reply().events());
    let mut stream = reply();
    let mut said = stream.chunk().unwrap();
    let counting: Vec<_> = (0..50)
        .map(|index| {
            let body = body(index).to_string();
            thread::spawn(move || {
                let answer = send(port, "POST", "/v1/messages/count_tokens", &[], &body).json();
                answer["input_tokens"].as_u64().unwrap_or_else(|| panic!("{answer}"))
            })
        })
        .collect();
    let counted: Vec<u64> = counting.into_iter().map(|count| count.join().unwrap()).collect();
    while let Some(piece) = stream.chunk() {
        said.push_str(&piece);
    }
    let events: Vec<Value> = said
        .split("\n\n")
        .filter_map(|event| event.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into()))
        .collect();
    assert_eq!((text(&events), events.last().unwrap()), (alone, &json!("[DONE]")));
    for index in [0, 1, 25, 49] {
        let usage = post("/v1/messages", &body(index))["usage"].clone();
        let read =
            usage["input_tokens"].as_u64().unwrap() + usage["cache_read_input_tokens"].as_u64().unwrap();
        assert_eq!(counted[index], read, "{usage}");
        assert!(index == 0 || usage["cache_read_input_tokens"].as_u64() > Some(0), "{usage}");
    }
    assert!(counted.is_sorted() && counted[49] > counted[0] + 90, "{counted:?}");
}

#[test]
fn what_a_program_predicts_of_an_answer_is_drafted_and_changes_nothing() {
    let server = Server::real(&["--no-token"]);
    let of = |fields: Value| {
        let base = json!({"reasoning_effort": "none", "foretoken": {"speculation": {"drafter": "lookup"}}});
        chat(server.port, &asked(with(base, fields))).json()
    };
    let plain = of(json!({}));
    let text = said(&plain, 0);
    let details = &plain["usage"]["completion_tokens_details"];
    assert!(details.get("accepted_prediction_tokens").is_none(), "nothing was predicted: {details}");
    let answer = plain["choices"][0]["message"]["content"].as_str().unwrap();
    for (content, is_right) in [
        (json!(answer), true),
        (json!([{"type": "text", "text": format!("Once. {answer}")}]), true),
        (json!("Something that the model would never say 123."), false),
    ] {
        let answer = of(json!({"prediction": {"type": "content", "content": content}}));
        assert_eq!(said(&answer, 0), text, "{content}");
        let accepted = answer["usage"]["completion_tokens_details"]["accepted_prediction_tokens"].as_u64();
        assert_eq!(accepted.unwrap() > 20, is_right, "{answer}");
    }
}
