//! The default sampling of a model, read from the `generation_config.json` of its folder.

use std::path::Path;

use foretoken_protocol::{AcceptanceRule, MAX_TEMPERATURE, MAX_TOP_K, Sampling};

use super::CheckpointError;
use super::json::{Keys, read_object};

/// The most bytes that the file may have.
const LIMIT: u64 = 1 << 20;

/// What Qwen recommends for its chat models in general; used for folders without a `generation_config.json`.
const RECOMMENDED: Sampling = Sampling {
    temperature: 0.7,
    top_p: 0.8,
    top_k: 20,
    min_p: 0.0,
    xtc_probability: 0.0,
    xtc_threshold: 0.1,
    repetition_penalty: 1.0,
    presence_penalty: 0.0,
    frequency_penalty: 0.0,
    acceptance: AcceptanceRule::Coupled,
    seed: None,
};

/// The sampling that `generation_config.json` recommends: greedy unless it says `do_sample`.
pub fn sampling_defaults(dir: &Path) -> Result<Sampling, CheckpointError> {
    let path = dir.join("generation_config.json");
    if !path.exists() {
        return Ok(RECOMMENDED);
    }
    let object = read_object(&path, LIMIT)?;
    let keys = Keys(vec![&object]);
    let greedy = Sampling::default();
    if !keys.flag("do_sample")?.unwrap_or(false) {
        return Ok(greedy);
    }
    let number = |key: &str, default: f32, expected: &str, min: f64, max: f64| {
        let number = keys.number(key, expected, |number| (min..=max).contains(&number))?;
        Ok(number.map_or(default, |number| number as f32))
    };
    Ok(Sampling {
        temperature: number("temperature", 1.0, "a number from 0 to 100", 0.0, MAX_TEMPERATURE.into())?,
        top_p: number("top_p", greedy.top_p, "a number from 0 to 1", 0.0, 1.0)?,
        top_k: keys.integer("top_k", 0, MAX_TOP_K.into())?.map_or(greedy.top_k, |top_k| top_k as u32),
        min_p: number("min_p", greedy.min_p, "a number from 0 to 1", 0.0, 1.0)?,
        xtc_probability: greedy.xtc_probability,
        xtc_threshold: greedy.xtc_threshold,
        repetition_penalty: number(
            "repetition_penalty",
            greedy.repetition_penalty,
            "a number from 0.01 to 100",
            0.01,
            100.0,
        )?,
        presence_penalty: number(
            "presence_penalty",
            greedy.presence_penalty,
            "a number from -100 to 100",
            -100.0,
            100.0,
        )?,
        frequency_penalty: number(
            "frequency_penalty",
            greedy.frequency_penalty,
            "a number from -100 to 100",
            -100.0,
            100.0,
        )?,
        acceptance: greedy.acceptance,
        seed: None,
    })
}
