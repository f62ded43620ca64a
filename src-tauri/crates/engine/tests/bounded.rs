//! Whatever a model claims, planning takes a small multiple of the bytes that it reads. The peak is that of a counting
//! allocator, which is why this test is a program of its own with one test in it.

use std::alloc::System;
use std::fs;
use std::path::Path;

use cap::Cap;
use foretoken_engine::checkpoint::{Files, Metadata};
use foretoken_engine::inspect::inspect;
use foretoken_protocol::KvPrecision;
use serde_json::{Value, json};

/// Refuses what no bound here allows, so that a mistake does not take the whole machine.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, 4 << 30);

/// Bytes for each byte read of a header or an index.
const MULTIPLE: usize = 24;
/// Bytes for each byte read of a config, which is kept whole while it is read. The worst are many small objects.
const CONFIG_MULTIPLE: usize = 72;
/// Bytes that the largest config of a few bytes may call for: the tensors of its many layers.
const CONSTANT: usize = 16 << 20;

const HIDDEN: usize = 64;

/// The longest config that is read, and nearly the longest index and header.
const CONFIG_BYTES: usize = 4 << 20;
const LONG: usize = 30_000_000;

const CONFIG: &str = "config.json";
const INDEX: &str = "model.safetensors.index.json";
const MODEL: &str = "model.safetensors";

/// A folder to plan.
struct Case {
    name: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    must_plan: bool,
}

fn case(name: &'static str, files: Vec<(&'static str, Vec<u8>)>) -> Case {
    Case { name, files, must_plan: false }
}

impl Case {
    fn that_plans(self) -> Self {
        Self { must_plan: true, ..self }
    }
}

/// A model with experts whose every layer is full attention.
fn config(layers: usize, experts: u64) -> Value {
    json!({
        "model_type": "qwen3_5_moe", "hidden_size": HIDDEN, "num_hidden_layers": layers,
        "full_attention_interval": 1, "num_attention_heads": 1, "head_dim": HIDDEN,
        "linear_num_key_heads": 1, "linear_num_value_heads": 1, "linear_key_head_dim": 32,
        "linear_value_head_dim": 32, "linear_conv_kernel_dim": 4, "rope_theta": 1e7, "vocab_size": 256,
        "num_experts": experts, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
        "tie_word_embeddings": true, "max_position_embeddings": 4096
    })
}

fn header(tensors: impl IntoIterator<Item = (String, Vec<usize>)>) -> Vec<u8> {
    let mut text = String::from("{");
    let mut end = 0;
    for (name, shape) in tensors {
        let start = end;
        end += 2 * shape.iter().product::<usize>();
        let comma = if text.len() > 1 { "," } else { "" };
        text += &format!(
            r#"{comma}"{name}":{{"dtype":"BF16","shape":{shape:?},"data_offsets":[{start},{end}]}}"#
        );
    }
    framed((text + "}").as_bytes())
}

/// A header with its length before it.
fn framed(header: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header].concat()
}

/// The tensors of `config`, every expert apart.
fn tensors(layers: usize, experts: usize) -> Vec<(String, Vec<usize>)> {
    let root = "model.language_model";
    let mut list = vec![
        (format!("{root}.embed_tokens.weight"), vec![256, HIDDEN]),
        (format!("{root}.norm.weight"), vec![HIDDEN]),
    ];
    for layer in (0..layers).map(|layer| format!("{root}.layers.{layer}")) {
        let mut push =
            |name: &str, shape: &[usize]| list.push((format!("{layer}.{name}.weight"), shape.into()));
        push("input_layernorm", &[HIDDEN]);
        push("post_attention_layernorm", &[HIDDEN]);
        push("self_attn.q_proj", &[2 * HIDDEN, HIDDEN]);
        for name in ["k_proj", "v_proj", "o_proj"] {
            push(&format!("self_attn.{name}"), &[HIDDEN, HIDDEN]);
        }
        push("self_attn.q_norm", &[HIDDEN]);
        push("self_attn.k_norm", &[HIDDEN]);
        push("mlp.gate", &[experts, HIDDEN]);
        for expert in 0..experts {
            push(&format!("mlp.experts.{expert}.gate_proj"), &[32, HIDDEN]);
            push(&format!("mlp.experts.{expert}.up_proj"), &[32, HIDDEN]);
            push(&format!("mlp.experts.{expert}.down_proj"), &[HIDDEN, 32]);
        }
    }
    list
}

/// `begin`, then `part` over and over with commas between, then `end`: `bytes` in all.
fn repeated(begin: &str, part: &str, end: &str, bytes: usize) -> Vec<u8> {
    let mut text = String::with_capacity(bytes);
    text.push_str(begin);
    let varies = part.contains('@');
    for number in 0.. {
        let comma = if number > 0 { "," } else { "" };
        let part = if varies { &part.replace('@', &number.to_string()) } else { part };
        if text.len() + comma.len() + part.len() + end.len() > bytes {
            break;
        }
        text.push_str(comma);
        text.push_str(part);
    }
    text.push_str(end);
    text.into_bytes()
}

fn small() -> Vec<u8> {
    config(1, 4).to_string().into_bytes()
}

/// Few bytes that claim much.
fn claims() -> Vec<Case> {
    let whole = header(tensors(1, 4));
    let mut cases = vec![
        case("a small model", vec![(CONFIG, small()), (MODEL, whole.clone())]).that_plans(),
        case("an empty file", vec![(CONFIG, small()), (MODEL, vec![])]),
    ];
    for length in [1u64 << 25, (1 << 25) + 1, 1 << 40, 1 << 60, u64::MAX] {
        let head = [&length.to_le_bytes()[..], b"{}"].concat();
        cases.push(case("a long header that is not there", vec![(CONFIG, small()), (MODEL, head)]));
    }
    for (shape, end) in
        [("[1099511627776]", 1u64 << 41), ("[1099511627776,1048576]", 1 << 61), ("[4294967296]", 1 << 33)]
    {
        let tensor = format!(r#"{{"dtype":"BF16","shape":{shape},"data_offsets":[0,{end}]}}"#);
        let header = format!(r#"{{"model.language_model.embed_tokens.weight":{tensor}}}"#);
        cases.push(case("a huge tensor", vec![(CONFIG, small()), (MODEL, framed(header.as_bytes()))]));
    }
    for (layers, experts) in [(1_000_000, 4), (1024, 4), (1, 1 << 32), (1, 1 << 14), (1024, 1 << 14)] {
        // The last layer is there, and so is its last expert.
        let last = format!("layers.{}.mlp.experts.{}.up_proj", layers - 1, experts - 1);
        let names = ["embed_tokens", "norm", &last];
        let tensors = names.map(|name| (format!("model.language_model.{name}.weight"), vec![HIDDEN]));
        let config = config(layers, experts).to_string().into_bytes();
        cases.push(case("many layers and experts", vec![(CONFIG, config), (MODEL, header(tensors))]));
    }
    let plain = config(1, 4);
    for key in plain.as_object().expect("an object").keys() {
        for size in [1u64 << 24, 1 << 32, 1 << 40, 1 << 60] {
            let mut config = plain.clone();
            config[key] = size.into();
            let files = vec![(CONFIG, config.to_string().into_bytes()), (MODEL, whole.clone())];
            cases.push(case("a huge size in the config", files));
        }
    }
    cases
}

/// Configs as long as any that is read.
fn long_configs() -> impl Iterator<Item = Case> {
    let texts = [
        ("numbers", r#"{"a":["#, "0", "]}"),
        ("empty objects", r#"{"a":["#, "{}", "]}"),
        ("small objects", r#"{"a":["#, r#"{"":0}"#, "]}"),
        (
            "layer types",
            r#"{"model_type":"qwen3_next","hidden_size":64,"num_hidden_layers":4,"layer_types":["#,
            "0",
            "]}",
        ),
        ("keys", "{", r#""@":0"#, "}"),
        ("depth", "[", "[[[[[[[[", ""),
        ("a number of many digits", r#"{"model_type":"#, "0", "}"),
        ("quantized modules", r#"{"quantization":{"bits":4,"#, r#""model.layers.@":{"bits":4}"#, "}}"),
    ];
    texts.into_iter().map(|(name, begin, part, end)| {
        let config = repeated(begin, part, end, CONFIG_BYTES);
        case(name, vec![(CONFIG, config), (MODEL, header(tensors(1, 4)))])
    })
}

/// A model of 13 MB of headers, then indexes and headers of 30 MB.
fn long_files() -> impl Iterator<Item = Case> {
    let index = |name, begin: &str, part: &str, end: &str| {
        let index = repeated(begin, part, end, LONG);
        case(name, vec![(CONFIG, small()), (MODEL, header(tensors(1, 4))), (INDEX, index)]).that_plans()
    };
    let headers = |name, begin: &str, part: &str, end: &str| {
        let header = framed(&repeated(begin, part, end, LONG));
        case(name, vec![(CONFIG, small()), (MODEL, header)])
    };
    let tensor = r#""model.visual.@":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let makers: Vec<Box<dyn Fn() -> Case>> = vec![
        Box::new(|| {
            let config = config(64, 512).to_string().into_bytes();
            case("64 layers of 512 experts", vec![(CONFIG, config), (MODEL, header(tensors(64, 512)))])
                .that_plans()
        }),
        Box::new(move || {
            index(
                "an index of many tensors",
                r#"{"weight_map":{"#,
                r#""model.visual.@":"model.safetensors""#,
                "}}",
            )
        }),
        Box::new(move || index("an index of short names", r#"{"weight_map":{"#, r#""@":"""#, "}}")),
        Box::new(move || index("an index of numbers", r#"{"weight_map":["#, "0", "]}")),
        Box::new(move || index("an index of objects", r#"{"weight_map":{"#, r#""@":{}"#, "}}")),
        Box::new(move || index("an index with more in it", r#"{"a":["#, "{}", "]}")),
        Box::new(move || index("a deep index", "", "[[[[[[[[", "")),
        Box::new(move || headers("a header of many tensors", "{", tensor, "}")),
        Box::new(move || headers("a header of numbers", r#"{"a":["#, "0", "]}")),
        Box::new(move || headers("a header of lists", r#"{"a":["#, "[]", "]}")),
        Box::new(move || headers("a header of keys", "{", r#""@":0"#, "}")),
        Box::new(move || {
            headers(
                "a shape of many sizes",
                r#"{"a":{"dtype":"U8","data_offsets":[0,1],"shape":["#,
                "1",
                "]}}",
            )
        }),
        Box::new(move || headers("metadata of many words", r#"{"__metadata__":{"#, r#""@":"""#, "}}")),
        Box::new(move || headers("a deep header", r#"{"a":"#, "[[[[[[[[", "}")),
    ];
    makers.into_iter().map(|make| make())
}

#[test]
fn planning_takes_a_small_multiple_of_what_is_read() {
    let mut bound = 0;
    for Case { name, files, must_plan } in claims().into_iter().chain(long_configs()).chain(long_files()) {
        let dir = tempfile::tempdir().expect("a folder");
        let (mut read, mut allowed) = (0, CONSTANT);
        for (file, bytes) in files {
            fs::write(dir.path().join(file), &bytes).expect("a file");
            read += bytes.len();
            allowed += bytes.len() * if file == CONFIG { CONFIG_MULTIPLE } else { MULTIPLE };
        }
        let before = ALLOCATOR.allocated();
        let planned = plans(dir.path());
        // The counter never goes down, so cases come from the smallest bound to the largest.
        bound = bound.max(before + allowed);
        let peak = ALLOCATOR.max_allocated();
        println!("{name}: {} bytes at most for {read} read", peak - before);
        assert!(peak <= bound, "{name}: {} bytes for {read} read", peak - before);
        assert!(planned || !must_plan, "{name} must plan");
    }
}

fn plans(dir: &Path) -> bool {
    Metadata::read(dir, Files::HeadersOnly)
        .and_then(|metadata| inspect(&metadata, None, KvPrecision::Full))
        .is_ok()
}
