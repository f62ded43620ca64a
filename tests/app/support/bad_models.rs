//! Model folders made from the demo model that cannot be used.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use foretoken_tests::fixtures::{copy_demo_model, edit_json};
use safetensors::{SafeTensors, serialize_to_file};
use serde_json::json;

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
        bad(
            "another family",
            &["llama", "qwen3_5"],
            "Choose a Qwen3-Next, Qwen3.5 or Qwen3.6 model",
            |path| {
                edit_json(path, "config.json", |config| {
                    config["model_type"] = json!("llama");
                    config["text_config"]["model_type"] = json!("llama");
                });
            },
        ),
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

fn leave_out(folder: &Path, tensor: &str) {
    let path = folder.join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let kept: HashMap<_, _> = file.tensors().into_iter().filter(|(name, _)| name != tensor).collect();
    assert_eq!(kept.len() + 1, file.len(), "the demo model has the tensor {tensor}");
    serialize_to_file(kept, header.metadata().clone(), &path).unwrap();
}
