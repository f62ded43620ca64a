//! What people are told.

use std::fs;
use std::path::Path;

use foretoken_protocol::{KvPrecision, MtpState};

use super::*;
use crate::checkpoint::Files;
use crate::checkpoint::fixture::{Fixture, HIDDEN, demo};

#[test]
fn the_demo_checkpoint_is_inspected() {
    let inspection =
        inspect_model(&Metadata::read(&demo(), Files::Whole).unwrap(), None, KvPrecision::Full).unwrap();
    assert_eq!((inspection.name.as_str(), inspection.architecture.as_str()), ("demo-model", "qwen3_5"));
    assert_eq!((inspection.linear_attention_layers, inspection.full_attention_layers), (6, 2));
    let memory = &inspection.memory;
    assert_eq!(memory.kv_per_token, 2 * 2 * 2 * 64 * 2);
    assert_eq!(2 * memory.head_cache_per_token, memory.kv_per_token);
    assert_eq!(memory.recurrent_state, 6 * (8 * 32 * 32 * 4 + 3 * 512 * 2));
    assert_eq!((memory.kv, memory.head_cache), (4096 * memory.kv_per_token, 2048 * memory.kv_per_token));
    let row = memory.draft_head + memory.kv + memory.head_cache + memory.recurrent_state + memory.working_set;
    assert_eq!(memory.total, memory.weights + row.max(memory.loading));
    assert_eq!(inspection.active_parameters, inspection.parameters);
    let text = inspection.to_string();
    for part in ["demo-model", "6 linear attention, 2 full attention", "present, 15 tensors, bfloat16"] {
        assert!(text.contains(part), "{text}");
    }
    let json = serde_json::to_value(&inspection).unwrap();
    assert_eq!(json["mtp"]["state"], "present");
}

#[test]
fn what_a_draft_model_takes_is_told_with_the_model() {
    let (model, draft) = (Fixture::raw().write(), Fixture::draft().set_top("num_target_layers", 5).write());
    let [model, draft] = [model, draft].map(|folder| Metadata::read(folder.path(), Files::Whole).unwrap());
    let told = |draft| inspect_drafted(&model, draft, Some(1000), KvPrecision::Full).unwrap();
    let (alone, drafted) = (told(None), told(Some(&draft)));
    assert_eq!(alone, inspect_model(&model, Some(1000), KvPrecision::Full).unwrap());
    assert!(alone.memory.draft_model.is_none() && alone.notes.is_empty());
    let taken = drafted.memory.draft_model.unwrap();
    let Inspected::Draft(of_draft) = inspect(&draft, None, KvPrecision::Full).unwrap() else {
        panic!("{draft:?}")
    };
    // Keys and values of a layer: two heads of 64 numbers, 2 bytes each; the other has a window of 32, which it is
    // given room to outgrow twice.
    assert_eq!((taken.weights, taken.context_per_token), (of_draft.weight_bytes, 512));
    assert_eq!((taken.context, taken.unread), (512 * (1024 + 768), 64 * 3 * HIDDEN as u64 * 2));
    let more = drafted.memory.total - alone.memory.total;
    assert!(more >= taken.weights + taken.context + taken.unread, "{more}");
    assert!(
        drafted.to_string().contains("for the draft model, 942.1 kB for what it keeps of a chat"),
        "{drafted}"
    );
    assert_eq!(drafted.notes.len(), 1, "{drafted}");
    let other = Fixture::draft().set_top("hidden_size", 128).write();
    let other = Metadata::read(other.path(), Files::Whole).unwrap();
    for (refused, code) in [(&other, "draft_mismatch"), (&model, "no_draft_model")] {
        let error = inspect_drafted(&model, Some(refused), None, KvPrecision::Full).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
}

#[test]
fn an_inspection_counts_what_is_not_loaded() {
    let dir = Fixture::raw().with("lm_head.weight", "BF16", &[256, HIDDEN]).write();
    let inspection =
        inspect_model(&Metadata::read(dir.path(), Files::Whole).unwrap(), None, KvPrecision::Full).unwrap();
    let groups: Vec<_> =
        inspection.skipped.iter().map(|group| (group.prefix.as_str(), group.tensors)).collect();
    assert_eq!(groups, [("lm_head", 1), ("model.visual", 2)]);
    assert!(inspection.to_string().contains("model.visual: 2 tensors, 128 B"), "{inspection}");
}

#[test]
fn headers_without_weights_are_enough() {
    let fixture = Fixture::raw();
    let dir = fixture.write();
    let whole =
        inspect_model(&Metadata::read(dir.path(), Files::Whole).unwrap(), Some(1000), KvPrecision::Full)
            .unwrap();
    assert_eq!(whole.memory.context, 1000);
    for (name, shard) in &fixture.files {
        let header = shard.header().0.to_string().len() as u64;
        let file = fs::File::options().write(true).open(dir.path().join(name)).unwrap();
        file.set_len(8 + header).unwrap();
    }
    let cut = inspect_model(
        &Metadata::read(dir.path(), Files::HeadersOnly).unwrap(),
        Some(1000),
        KvPrecision::Full,
    )
    .unwrap();
    assert_eq!(cut, whole);
    let claimed = Metadata::read(dir.path(), Files::Whole).unwrap();
    assert!(Index::of(&claimed, &Config::of(&claimed).unwrap()).is_err());
}

/// Names and metadata that disagree leave the norms to their values.
#[test]
fn a_head_whose_norms_only_values_tell_is_inspected_without_them() {
    let (trunk, head) = Fixture::converted(None).split_head();
    let head = head.renamed("language_model.mtp.", "mtp.", Some("mlx"));
    let mut fixture = trunk.with_file("mtp.safetensors", head);
    let inspected = |dir: &Path, files| {
        inspect_model(&Metadata::read(dir, files).unwrap(), None, KvPrecision::Full).unwrap()
    };
    // Values that tell nothing are no better here than when the model is loaded.
    assert_eq!(inspected(fixture.write().path(), Files::Whole).mtp, MtpState::Unusable);
    fixture.values = vec![("q_norm", 1.5), ("norm", 1.0)];
    let dir = fixture.write();
    let whole = inspected(dir.path(), Files::Whole);
    assert!(matches!(whole.mtp, MtpState::Present { tensors: 15, .. }) && whole.notes.is_empty(), "{whole}");
    let mut metadata = Metadata::read(dir.path(), Files::Whole).unwrap();
    metadata.folder = "somewhere/else".into();
    for (name, shard) in &fixture.files {
        let header = shard.header().0.to_string().len() as u64;
        fs::File::options().write(true).open(dir.path().join(name)).unwrap().set_len(8 + header).unwrap();
    }
    let cut = Metadata::read(dir.path(), Files::HeadersOnly).unwrap();
    for metadata in [metadata, cut] {
        let inspection = inspect_model(&metadata, None, KvPrecision::Full).unwrap();
        assert_eq!((&inspection.mtp, &inspection.memory), (&whole.mtp, &whole.memory));
        assert!(inspection.notes[0].contains("when the weights are here"), "{:?}", inspection.notes);
        let config = Config::of(&metadata).unwrap();
        let strict = Layout::plan(&config, &Index::of(&metadata, &config).unwrap()).unwrap();
        assert_eq!(strict.mtp, MtpState::Unusable);
    }
}

#[test]
fn a_loaded_model_is_described() {
    let config = Config::read(&demo()).unwrap();
    let index = Index::read(&demo(), &config).unwrap();
    let layout = Layout::plan(&config, &index).unwrap();
    let info = model_info(&demo(), &config, &layout, true).unwrap();
    assert_eq!((info.name.as_str(), info.context_length, info.thinking), ("demo-model", 4096, true));
    assert_eq!((info.defaults.temperature, info.defaults.top_p, info.defaults.top_k), (0.7, 0.9, 20));
}

#[test]
fn models_are_named_by_their_folder() {
    for (path, name) in [
        ("/models/Qwen3.5-4B", "Qwen3.5-4B"),
        ("/models/Qwen3.5-4B/", "Qwen3.5-4B"),
        ("/resources/demo-model/checkpoint", "demo-model"),
        ("/hub/models--Qwen--Qwen3.5-4B/snapshots/0123abc", "Qwen3.5-4B"),
        ("/checkpoint", "checkpoint"),
        ("/", "model"),
    ] {
        assert_eq!(model_name(Path::new(path)), name, "{path}");
    }
}

#[test]
fn a_draft_model_says_what_it_is_and_which_target_it_needs() {
    let fixture = Fixture::draft().with("lm_head.weight", "BF16", &[256, HIDDEN]);
    let dir = fixture.write();
    let inspected = |metadata: &Metadata| inspect(metadata, None, KvPrecision::Full).unwrap();
    let whole = inspected(&Metadata::read(dir.path(), Files::Whole).unwrap());
    let Inspected::Draft(draft) = &whole else { panic!("{whole}") };
    let needs = &draft.draft_for;
    assert_eq!((needs.hidden_size, needs.vocab_size, needs.layers), (HIDDEN, 256, Some(4)));
    assert_eq!((&needs.layers_read[..], draft.most_guesses), (&[0, 1, 3][..], 15));
    let text = whole.to_string();
    for part in [
        "(DFlashDraftModel)",
        "a draft model",
        "2: 1 sliding attention, 1 full attention",
        "16 tokens, 15 of them guesses; mask token 255",
        "hidden size 64, 4 layers, 256 tokens",
        "layers 0, 1, 3",
        "lm_head: 1 tensor, 32.8 kB; the model that it drafts for has it",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let json = serde_json::to_value(&whole).unwrap();
    assert_eq!(
        (&json["architecture"], &json["draft_for"]["layers_read"]),
        (&"DFlashDraftModel".into(), &vec![0, 1, 3].into())
    );
    // A model's own words have not changed.
    let model = Metadata::read(&demo(), Files::Whole).unwrap();
    let (told, known) = (inspected(&model), inspect_model(&model, None, KvPrecision::Full).unwrap());
    assert_eq!(serde_json::to_value(&told).unwrap(), serde_json::to_value(&known).unwrap());
    assert_eq!(told.to_string(), known.to_string());
}
