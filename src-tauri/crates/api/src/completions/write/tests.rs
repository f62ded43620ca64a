use foretoken_calls::Tools;
use foretoken_protocol::Part;

use super::*;
use crate::replies::Step;
use crate::testing::{events, happens, logprobs, meta, token, written};

#[test]
fn a_stream_says_what_the_whole_says() {
    let steps = [vec![token(Part::Answer, "a")], vec![token(Part::Answer, "\n b")]];
    let happens: Vec<Progress> = happens(&Tools::default(), &steps, EndReason::Length)
        .into_iter()
        .map(|progress| match progress {
            Progress::Step(step) => Progress::Step(Step { logprobs: vec![logprobs("x")], ..step }),
            other => other,
        })
        .collect();
    let options = Options { logprobs: true, ..Options::default() };
    let (stream, whole) = written(Writer::new(meta(), options, 1), happens);
    let choice = &whole["choices"][0];
    assert_eq!((&choice["text"], &choice["finish_reason"]), (&json!("a\n b"), &json!("length")));
    let chances = json!({"tokens": ["x", "x"], "token_logprobs": [-0.5, -0.5], "top_logprobs": [{"x": -0.5}, {"x": -0.5}],
        "text_offset": [0, 1]});
    assert_eq!(choice["logprobs"], chances);
    assert_eq!(whole["usage"]["total_tokens"], 12);
    let all = events(&stream);
    let text: String = all.iter().filter_map(|(_, event)| event["choices"][0]["text"].as_str()).collect();
    assert_eq!(text, "a\n b");
    assert_eq!(all[1].1["choices"][0]["logprobs"]["text_offset"], json!([1]));
    let [.., (_, last), (_, done)] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&last["choices"][0]["finish_reason"], done), (&json!("length"), &json!("[DONE]")));
    assert_eq!(last["timings"]["predicted_n"], 3);
}
