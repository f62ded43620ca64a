use foretoken_calls::Tools;
use foretoken_protocol::{Part, TokenText};
use proptest::prelude::*;

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

proptest! {
    /// However a text is cut into steps, the events of a stream make it up, and its chances stand where its tokens do.
    #[test]
    fn all_cuts_make_up_one_text(
        tokens in prop::collection::vec("\\PC{0,3}|\n", 0..20),
        cuts in prop::collection::vec(0_usize..20, 0..5),
        with_chances in any::<bool>(),
    ) {
        let tokens: Vec<TokenText> = tokens.iter().map(|text| token(Part::Answer, text)).collect();
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(tokens.len())).collect();
        ends.extend([0, tokens.len()]);
        ends.sort_unstable();
        let steps: Vec<Vec<TokenText>> = ends.windows(2).map(|step| tokens[step[0]..step[1]].to_vec()).collect();
        let chances = |progress| match progress {
            Progress::Step(step) => {
                let logprobs = step.tokens.iter().map(|token| logprobs(&token.text)).collect();
                Progress::Step(Step { logprobs, ..step })
            }
            other => other,
        };
        let happens = happens(&Tools::default(), &steps, EndReason::Done).into_iter().map(chances).collect();
        let options = Options { logprobs: with_chances, ..Options::default() };
        let (stream, whole) = written(Writer::new(meta(), options, 1), happens);
        let all = events(&stream);
        let of = |key: &str| -> Vec<Value> {
            let lists = all.iter().filter_map(|(_, event)| event["choices"][0]["logprobs"][key].as_array());
            lists.flatten().cloned().collect()
        };
        let text: String = all.iter().filter_map(|(_, event)| event["choices"][0]["text"].as_str()).collect();
        let expected: String = tokens.iter().map(|token| token.text.as_str()).collect();
        prop_assert_eq!(&text, &expected);
        prop_assert_eq!(&whole["choices"][0]["text"], &json!(expected));
        for key in ["tokens", "token_logprobs", "top_logprobs", "text_offset"] {
            let told = &whole["choices"][0]["logprobs"][key];
            prop_assert_eq!(told, &if with_chances { json!(of(key)) } else { Value::Null });
        }
        let offsets = of("text_offset");
        for (offset, token) in offsets.iter().zip(of("tokens")) {
            let rest: String = text.chars().skip(offset.as_u64().unwrap() as usize).collect();
            prop_assert!(rest.starts_with(token.as_str().unwrap()));
        }
    }
}
