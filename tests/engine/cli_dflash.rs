//! `--draft-model`: how a draft model drafts in `generate` and `bench`, and what is refused.

use foretoken_tests::drafted::{draft_config, write_draft};
use foretoken_tests::fixtures::demo_draft_model;

use super::*;

#[test]
fn a_draft_model_changes_no_text_and_is_counted() {
    let draft_model = demo_draft_model();
    let beside = ["--draft-model", draft_model.to_str().unwrap(), "--prompt", STORY];
    for sampling in [&["--temperature", "0"][..], &["--temperature", "0.8", "--seed", "3"]] {
        let written = |speculation: &[&str]| {
            let options = [&beside[..], sampling, &["--max-tokens", "40"], speculation].concat();
            generate_with(&demo_model(), &options).finished
        };
        let plain = written(&["--speculation", "off"]);
        assert!(plain.stats.positions.is_empty());
        for (depth, places) in [("3", 3), ("7", 7), ("15", 7)] {
            let drafted = written(&["--speculation", "dflash", "--depth", depth]);
            assert_eq!((&drafted.ids, &drafted.text), (&plain.ids, &plain.text));
            let ReplyStats { positions, by_draft_model, .. } = drafted.stats;
            assert_eq!(positions.len(), places);
            let all: u32 = positions.iter().map(|position| position.drafted).sum();
            assert!(by_draft_model.drafted == all && all > 20, "{by_draft_model:?}");
        }
        // Where drafts do not pay there may be few.
        for speculation in [&["--speculation", "dflash"][..], &[]] {
            assert_eq!(written(speculation).ids, plain.ids);
        }
        let head = written(&["--speculation", "mtp", "--depth", "2"]);
        assert_eq!((head.stats.by_draft_model.drafted, &head.ids), (0, &plain.ids));
    }
}

#[test]
fn inspect_counts_a_draft_model_in() {
    let (demo, own) = (demo_model(), demo_draft_model());
    let inspect = ["inspect", "--json", demo.to_str().unwrap()];
    let total = |told: &Value| told["memory"]["total"].as_u64().unwrap();
    let (alone, drafted) = (
        printed_json(&inspect),
        printed_json(&[&inspect[..], &["--draft-model", own.to_str().unwrap()]].concat()),
    );
    let weights = drafted["memory"]["draft_model"]["weights"].as_u64().unwrap();
    let file = fs::metadata(own.join("model.safetensors")).unwrap().len();
    assert!(weights <= file && 10 * weights > 9 * file, "{weights} of {file}");
    assert!(total(&drafted) > total(&alone) + weights);
    let other = tempfile::tempdir().unwrap();
    write_draft(other.path(), &draft_config(6));
    let refused = refusal(&[&inspect[..], &["--draft-model", other.path().to_str().unwrap()]].concat());
    assert!(refused.contains("hidden_size 64"), "{refused}");
}

#[test]
fn a_draft_model_that_does_not_belong_is_refused_by_name() {
    let demo = demo_model();
    let demo = demo.to_str().unwrap();
    let generate = ["generate", "--model", demo, "--prompt", STORY, "--max-tokens", "4"];
    let other = tempfile::tempdir().unwrap();
    write_draft(other.path(), &draft_config(6));
    let empty = tempfile::tempdir().unwrap();
    let folder = |folder: &TempDir| folder.path().to_str().unwrap().to_owned();
    let (own, other, empty) = (demo_draft_model(), folder(&other), folder(&empty));
    let own = own.to_str().unwrap();
    for (options, told) in [
        (&["--speculation", "dflash"][..], "--draft-model"),
        (&["--draft-model", &other], "hidden_size 64"),
        (&["--draft-model", &empty], "is not a draft model"),
        (&["--draft-model", demo], "is not a draft model"),
        (&["--draft-model", own, "--speculation", "dflash", "--depth", "16"], "between 1 and 15"),
        (&["--draft-model", own, "--speculation", "auto", "--depth", "3"], "--depth"),
    ] {
        let told_of = refusal(&[&generate[..], options].concat());
        assert!(told_of.contains(told), "{told_of}");
    }
    let bench = ["bench", "--model", demo, "--runs", "1", "--gen-tokens", "20"];
    for (options, told) in [
        (&["--speculation", "dflash"][..], "--draft-model"),
        (&["--draft-model", own, "--block-depths", "8"], "7 tokens at most"),
        (&["--draft-model", own, "--block-depths", "0"], "names 0"),
    ] {
        let told_of = refusal(&[&bench[..], options].concat());
        assert!(told_of.contains(told), "{told_of}");
    }
}

#[test]
fn bench_measures_every_drafter_or_the_one_that_is_named() {
    let (demo, draft_model) = (demo_model(), demo_draft_model());
    let bench = |options: &[&str]| {
        let draft_model = draft_model.to_str().unwrap();
        let model = ["bench", "--json", "--model", demo.to_str().unwrap(), "--draft-model", draft_model];
        let small = ["--runs", "1", "--gen-tokens", "16", "--prompt-tokens", "16", "--chat-tokens", "200"];
        printed_json(&[&model[..], &small, options].concat())
    };
    let depths = |report: &Value, of: &str| -> Vec<u64> {
        let depths = report["texts"][0][of].as_array().unwrap();
        depths.iter().map(|depth| depth["depth"].as_u64().unwrap()).collect()
    };
    let all = bench(&["--force-acceptance", "1"]);
    assert_eq!((depths(&all, "depths"), depths(&all, "dflash")), (vec![0, 1, 2, 3], vec![3, 7]));
    assert!(all["block_milliseconds"]["median"].as_f64().unwrap() > 0.0);
    // Known drafts stand in for the block's guesses: a pass emits all of them and a token of its own.
    assert_eq!(all["texts"][0]["dflash"][1]["tokens_per_pass"]["median"], 8.0);
    assert_eq!(all["texts"][0]["dflash"][1]["positions"].as_array().unwrap().len(), 7);
    let prose = ["--decoding-only", "--texts", "prose"];
    let one = bench(&[&prose[..], &["--speculation", "dflash", "--block-depths", "5"]].concat());
    assert_eq!((depths(&one, "depths"), depths(&one, "dflash")), (vec![0], vec![5]));
    assert!(one["texts"][0]["auto"].is_null() && one["texts"][0]["lookup"].is_null(), "{one}");
    let auto = bench(&[&prose[..], &["--speculation", "auto"]].concat());
    assert!(depths(&auto, "dflash").is_empty() && !auto["texts"][0]["auto"].is_null(), "{auto}");
}
