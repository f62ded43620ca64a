//! Model folders made from the demo model that cannot be used.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::{SafeTensors, serialize_to_file};
use serde_json::json;

use crate::fixtures::{copy_demo_model, edit_json};

/// A folder that is no usable model, and what a person must be told about it.
#[derive(Debug)]
pub struct BadModel {
    /// The folder.
    pub path: PathBuf,
    /// What the message names: the file, tensor or value that is wrong.
    names: &'static [&'static str],
    /// What it says to do.
    advice: &'static str,
    /// Whether it can be inspected, and only not be talked to.
    pub only_for_chats: bool,
}

impl BadModel {
    /// Checks that a message names what is wrong and says what to do.
    pub fn assert_told(&self, message: &str) {
        for name in self.names {
            assert!(message.contains(name), "{}: {name:?} is not named in: {message}", self.path.display());
        }
        assert!(message.contains(self.advice), "{}: no advice in: {message}", self.path.display());
    }
}

/// What is done to a copy of the demo model, and what must be told about it.
struct Kind {
    name: &'static str,
    names: &'static [&'static str],
    advice: &'static str,
    spoil: fn(&Path),
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "holiday photos",
        names: &["holiday photos", "config.json"],
        advice: "Choose the folder that holds config.json",
        spoil: empty,
    },
    Kind {
        name: "interrupted download",
        names: &["interrupted download/model.safetensors", "bytes long"],
        advice: "Download the file again",
        spoil: halve_tensors,
    },
    Kind {
        name: "missing tensor",
        names: &["layers.2.mlp.down_proj.weight", "missing"],
        advice: "get it again from its source",
        spoil: |path| leave_out(path, "model.language_model.layers.2.mlp.down_proj.weight"),
    },
    Kind {
        name: "config of another model",
        names: &["mlp", "512", "intermediate_size", "640"],
        advice: "Check that config.json belongs to these tensor files",
        spoil: widen_config,
    },
    Kind {
        name: "another family",
        names: &["llama", "qwen3_5"],
        advice: "Choose a Qwen3-Next, Qwen3.5 or Qwen3.6 model",
        spoil: name_another_family,
    },
    Kind {
        name: EDITED_TEMPLATE,
        names: &["edited template/chat_template.jinja", "line 2"],
        advice: "Replace the chat template with the original",
        spoil: break_template,
    },
];

/// The kind that can be inspected.
const EDITED_TEMPLATE: &str = "edited template";

/// One folder of each kind.
pub fn bad_models(parent: &Path) -> Vec<BadModel> {
    let bad = |kind: Kind| {
        let path = parent.join(kind.name);
        copy_demo_model(&path);
        (kind.spoil)(&path);
        let Kind { name, names, advice, .. } = kind;
        BadModel { path, names, advice, only_for_chats: name == EDITED_TEMPLATE }
    };
    KINDS.into_iter().map(bad).collect()
}

fn empty(path: &Path) {
    fs::remove_dir_all(path).unwrap();
    fs::create_dir(path).unwrap();
}

fn halve_tensors(path: &Path) {
    let shard = fs::File::options().write(true).open(path.join("model.safetensors")).unwrap();
    shard.set_len(shard.metadata().unwrap().len() / 2).unwrap();
}

fn widen_config(path: &Path) {
    edit_json(path, "config.json", |config| config["text_config"]["intermediate_size"] = json!(640));
}

fn name_another_family(path: &Path) {
    edit_json(path, "config.json", |config| {
        config["model_type"] = json!("llama");
        config["text_config"]["model_type"] = json!("llama");
    });
}

fn break_template(path: &Path) {
    let template = "{% for message in messages %}\n{{ message.role \n";
    fs::write(path.join("chat_template.jinja"), template).unwrap();
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
