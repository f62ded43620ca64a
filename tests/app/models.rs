//! Model folders made from the demo model: one that never stops, and six that cannot be used.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::{SafeTensors, serialize_to_file};
use serde_json::{Value, json};

use crate::programs::demo_model;

/// A folder that is no usable model, and what a person must be told about it.
pub(crate) struct BadModel {
    pub(crate) path: PathBuf,
    /// What the message names: the file, tensor or value that is wrong.
    pub(crate) names: Vec<String>,
    /// What it says to do.
    pub(crate) advice: &'static str,
    /// Whether it can be inspected, and only not be talked to.
    pub(crate) only_for_chats: bool,
}

/// One folder of each kind.
pub(crate) fn bad_models(parent: &Path) -> Vec<BadModel> {
    let bad = |name: &str, names: &[&str], advice, spoil: fn(&Path)| {
        let path = parent.join(name);
        copy_demo_model(&path);
        spoil(&path);
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        BadModel { path, names, advice, only_for_chats: name == "edited template" }
    };
    vec![
        bad(
            "holiday photos",
            &["holiday photos", "config.json"],
            "Choose the folder that holds config.json",
            |path| {
                fs::remove_dir_all(path).unwrap();
                fs::create_dir(path).unwrap();
            },
        ),
        bad(
            "interrupted download",
            &["interrupted download/model.safetensors", "bytes long"],
            "Download the file again",
            |path| {
                let shard = fs::File::options().write(true).open(path.join("model.safetensors")).unwrap();
                shard.set_len(shard.metadata().unwrap().len() / 2).unwrap();
            },
        ),
        bad(
            "missing tensor",
            &["layers.2.mlp.down_proj.weight", "missing"],
            "get it again from its source",
            |path| leave_out(path, "model.language_model.layers.2.mlp.down_proj.weight"),
        ),
        bad(
            "config of another model",
            &["mlp", "384", "intermediate_size", "512"],
            "Check that config.json belongs to these tensor files",
            |path| {
                edit_json(path, "config.json", |config| {
                    config["text_config"]["intermediate_size"] = json!(512)
                })
            },
        ),
        bad("another family", &["llama", "qwen3_5"], "Choose a dense Qwen3.5", |path| {
            edit_json(path, "config.json", |config| {
                config["model_type"] = json!("llama");
                config["text_config"]["model_type"] = json!("llama");
            });
        }),
        bad(
            "edited template",
            &["edited template/chat_template.jinja", "line 2"],
            "Replace the chat template with the original",
            |path| {
                fs::write(
                    path.join("chat_template.jinja"),
                    "{% for message in messages %}\n{{ message.role \n",
                )
                .unwrap();
            },
        ),
    ]
}

/// The demo model, with names for its end tokens that nobody looks for: a reply goes on until something ends it.
#[cfg(target_os = "linux")]
pub(crate) fn endless_model(parent: &Path) -> PathBuf {
    let path = parent.join("endless");
    copy_demo_model(&path);
    for file in ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"] {
        let text = fs::read_to_string(path.join(file)).unwrap();
        let text = text.replace("<|im_end|>", "<|im_stop|>").replace("<|endoftext|>", "<|textstop|>");
        fs::write(path.join(file), text).unwrap();
    }
    let forget = |config: &mut Value| {
        config.as_object_mut().unwrap().remove("eos_token_id");
    };
    edit_json(&path, "generation_config.json", forget);
    edit_json(&path, "config.json", |config| forget(&mut config["text_config"]));
    edit_json(&path, "tokenizer_config.json", |config| config["eos_token"] = Value::Null);
    path
}

fn copy_demo_model(to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(demo_model()).unwrap() {
        let file = entry.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

fn edit_json(folder: &Path, file: &str, edit: impl FnOnce(&mut Value)) {
    let path = folder.join(file);
    let mut value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    edit(&mut value);
    fs::write(path, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
}

fn leave_out(folder: &Path, tensor: &str) {
    let path = folder.join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let kept: HashMap<_, _> = file.tensors().into_iter().filter(|(name, _)| name != tensor).collect();
    assert_eq!(kept.len() + 1, file.len(), "the demo model has the tensor {tensor}");
    serialize_to_file(kept, header.metadata().clone(), &path).unwrap();
}
