//! Layers that a machine has alone.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::assert_error;
use crate::checkpoint::fixture::{Fixture, demo, plan};
use crate::checkpoint::*;

/// All of a model.
fn all(model: &Path) -> (Config, Layout, Part) {
    let (config, layout) = (Config::read(model).unwrap(), plan(model).unwrap());
    let part = Part::all(&config, &layout).unwrap();
    (config, layout, part)
}

/// A folder with the files that a machine gets.
fn given(model: &Path, layers: Range<usize>) -> TempDir {
    let (_, layout, _) = all(model);
    let folder = tempfile::tempdir().unwrap();
    for PartFile { name, header, length_first, pieces } in part_files(model, &layout, layers).unwrap() {
        let mut file = File::create(folder.path().join(name)).unwrap();
        if length_first {
            file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
        }
        file.write_all(header.as_bytes()).unwrap();
        for PartPiece { file: source, offset, bytes } in pieces {
            let mut source = File::open(source).unwrap();
            source.seek(SeekFrom::Start(offset)).unwrap();
            std::io::copy(&mut source.take(bytes), &mut file).unwrap();
        }
    }
    folder
}

fn read(part: &Part, folder: &Path) -> Result<Layout, CheckpointError> {
    part.read(folder).map(|read| read.unwrap().1)
}

/// The bytes that a plan loads, tensor by tensor.
fn loaded(layout: &Layout) -> Vec<(String, Vec<u8>)> {
    let bytes = |plan: &TensorPlan| {
        let runs = plan.runs().map(|run| {
            let mut bytes = vec![0; run.bytes as usize];
            File::open(run.file).unwrap().read_exact_at(&mut bytes, run.offset).unwrap();
            bytes
        });
        runs.flatten().collect()
    };
    layout.tensors.iter().map(|plan| (plan.name.clone(), bytes(plan))).collect()
}

#[test]
fn layers_that_are_given_are_those_of_the_model_whatever_its_form() {
    let written = |fixture: Fixture| {
        let folder = fixture.write();
        // Values that differ from place to place.
        for entry in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
            if entry.path().extension().is_some_and(|end| end == "safetensors") {
                let mut bytes = fs::read(entry.path()).unwrap();
                let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
                bytes[start..].iter_mut().enumerate().for_each(|(place, byte)| *byte = (place % 127) as u8);
                fs::write(entry.path(), bytes).unwrap();
            }
        }
        folder
    };
    let models = [
        written(Fixture::raw()),
        written(Fixture::moe()),
        written(Fixture::moe().one_by_one("mlp.experts")),
        written(Fixture::converted(Some(4))),
        written(Fixture::converted_moe(Some(8))),
        written(Fixture::next()),
    ];
    for model in models.iter().map(TempDir::path).chain([&*demo()]) {
        let (config, layout, part) = all(model);
        let cuts = config.layers.len();
        for layers in [0..1, 1..cuts, cuts - 1..cuts] {
            let (folder, part) = (given(model, layers.clone()), part.only(layers.clone()));
            let (own, from_all) = (read(&part, folder.path()).unwrap(), read(&part, model).unwrap());
            let mut expected = layout.clone().of_layers(&layers);
            expected.tensors.retain(|plan| plan.layer().is_some());
            let names: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
            assert_eq!(names.len(), 1 + layers.len(), "{names:?}");
            assert_eq!(loaded(&own), loaded(&expected), "{}", model.display());
            assert_eq!(loaded(&from_all), loaded(&expected));
            let forms = |layout: &Layout| -> Vec<_> {
                let of_tensor =
                    |plan: &TensorPlan| (plan.stored, plan.dtype, plan.shape.clone(), plan.transform);
                layout.tensors.iter().map(of_tensor).collect()
            };
            assert_eq!(forms(&own), forms(&expected));
            expected.weights.retain(|path, _| path.starts_with("layers."));
            assert_eq!(own.weights, expected.weights);
            // What is there of other layers does not count.
            let last = part.only(layers.end - 1..layers.end);
            read(&last, folder.path()).unwrap();
        }
    }
}

/// The header of a file, changed.
fn rewrite(path: &Path, change: impl Fn(&mut serde_json::Map<String, serde_json::Value>, &mut Vec<u8>)) {
    let bytes = fs::read(path).unwrap();
    let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let (mut header, mut data) = (serde_json::from_slice(header).unwrap(), data.to_vec());
    change(&mut header, &mut data);
    let header = serde_json::to_vec(&header).unwrap();
    fs::write(path, [&(header.len() as u64).to_le_bytes(), &header[..], &data].concat()).unwrap();
}

#[test]
fn a_part_with_a_missing_an_extra_or_another_tensor_is_refused_by_name() {
    let model = demo();
    let part = all(&model).2.only(2..4);
    let file = |folder: &TempDir| -> PathBuf { folder.path().join("layer-00002.safetensors") };
    let norm = "model.language_model.layers.2.post_attention_layernorm.weight";

    let renamed = given(&model, 2..4);
    rewrite(&file(&renamed), |header, _| {
        let norm = header.remove(norm).unwrap();
        header.insert("model.language_model.layers.9.post_attention_layernorm.weight".into(), norm);
    });
    assert_error(read(&part, renamed.path()), "missing_tensor", &["layers.2.post_attention_layernorm"]);

    let extra = given(&model, 2..4);
    for name in ["model.language_model.layers.2.mlp.odd.weight", "something"] {
        let more = given(&model, 2..4);
        rewrite(&file(&more), |header, data| {
            let end = data.len();
            header.insert(
                name.into(),
                serde_json::json!({"dtype": "U8", "shape": [4], "data_offsets": [end, end + 4]}),
            );
            data.extend([0; 4]);
        });
        assert_error(read(&part, more.path()), "unexpected_tensor", &[name]);
    }

    rewrite(&file(&extra), |header, _| {
        let shape = &mut header.get_mut(norm).unwrap()["shape"];
        let size = shape[0].as_u64().unwrap();
        *shape = serde_json::json!([2, size / 2]);
    });
    assert_error(read(&part, extra.path()), "misshapen_tensor", &[norm]);

    fs::remove_file(file(&renamed)).unwrap();
    assert_error(read(&part, renamed.path()), "missing_tensor", &["layers.2."]);

    let other = given(&model, 2..4);
    rewrite(&other.path().join("layer-00003.safetensors"), |_, data| {
        data.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
    });
    assert_eq!(part.read(other.path()).unwrap().unwrap_err(), Difference::Layer(3));

    let text = fs::read_to_string(other.path().join("config.json")).unwrap();
    fs::write(other.path().join("config.json"), text.replace("1e-06", "1e-05")).unwrap();
    assert_eq!(part.read(other.path()).unwrap().unwrap_err(), Difference::Config);
}

#[test]
fn a_model_is_known_by_its_layers_and_not_by_how_it_is_cut_into_files() {
    let model = demo();
    let digest = all(&model).2.digest();
    assert_eq!((digest.len(), all(&model).2.digest()), (64, digest.clone()));
    let other = Fixture::raw().write();
    assert_ne!(all(other.path()).2.digest(), digest);
    let part = all(&model).2;
    let folder = given(&model, 0..part.layers.len());
    let (config, own) = part.read(folder.path()).unwrap().unwrap();
    assert_eq!(Part::all(&config, &own).unwrap().digest(), digest);
}
