//! What a config says of the vision tower: its sizes, and how pictures are prepared for it.

use serde_json::Value;

use super::CheckpointError;
use super::dims::AttentionDims;
use super::json::{Keys, MAX_SIZE, Object, excerpt, invalid};

/// Red, green and blue.
pub(super) const CHANNELS: usize = 3;
/// Frames that a patch spans; a picture is two frames that are alike.
pub(super) const FRAMES: usize = 2;
/// Rows and columns of pixels of a patch.
pub const PATCH: usize = 16;
/// Rows and columns of patches that become one token.
pub const MERGE: usize = 2;
/// The most blocks that a config may ask for.
const MAX_DEPTH: u64 = 256;

/// Sizes of a vision tower, checked: they are positive, bounded and fit each other and the text model.
#[derive(Debug, Clone, PartialEq)]
pub struct VisionDims {
    /// Blocks.
    pub depth: usize,
    /// Width of the tower.
    pub hidden_size: usize,
    /// Attention heads; a divisor of `hidden_size`.
    pub heads: usize,
    /// Width of the MLPs.
    pub intermediate_size: usize,
    /// Width of what it gives, which is that of the text model.
    pub out_hidden_size: usize,
    /// Rows, and columns, of the table of learned positions.
    pub position_side: usize,
    /// Base of the rotation of queries and keys.
    pub rope_theta: f32,
    /// How many of a text head's pairs turn by each of the three streams of positions: time, row, column.
    pub mrope_section: [usize; 3],
    /// The token that stands in a prompt for each part of a picture.
    pub image_token: u32,
    /// How pictures are prepared for it.
    pub pictures: PictureSettings,
}

/// How pictures are prepared for a tower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PictureSettings {
    /// The fewest pixels of a picture; smaller ones are enlarged.
    pub least_pixels: u64,
    /// The most pixels; larger ones are reduced.
    pub most_pixels: u64,
    /// Taken from each channel, whose values lie between 0 and 1.
    pub mean: [f32; CHANNELS],
    /// What each channel is divided by then.
    pub deviation: [f32; CHANNELS],
}

/// Those of the family, where no file says otherwise.
impl Default for PictureSettings {
    fn default() -> Self {
        Self { least_pixels: 65_536, most_pixels: 16_777_216, mean: [0.5; 3], deviation: [0.5; 3] }
    }
}

impl VisionDims {
    /// What a model's config says of its tower; `None` where it says nothing. `keys` are those of the text model.
    pub(super) fn parse(
        root: &Keys<'_>,
        keys: &Keys<'_>,
        attention: &AttentionDims,
        text_hidden_size: usize,
    ) -> Result<Option<Self>, CheckpointError> {
        let Some(vision) = root.object("vision_config")? else { return Ok(None) };
        let vision = Keys(vec![vision]);
        refuse_variations(&vision)?;
        let (hidden_size, heads) = (vision.size("hidden_size")?, vision.size("num_heads")?);
        if !hidden_size.is_multiple_of(heads) || !(hidden_size / heads).is_multiple_of(4) {
            let expected =
                format!("a divisor of hidden_size {hidden_size} whose heads are a multiple of 4 wide");
            return Err(invalid("vision_config.num_heads", Some(&heads.into()), expected));
        }
        let out_hidden_size = vision.size("out_hidden_size")?;
        if out_hidden_size != text_hidden_size {
            let expected = format!("{text_hidden_size}, the hidden_size of the text model");
            return Err(invalid("vision_config.out_hidden_size", Some(&out_hidden_size.into()), expected));
        }
        let positions = vision.size("num_position_embeddings")?;
        let position_side = positions.isqrt();
        if position_side * position_side != positions || position_side < 2 {
            let key = "vision_config.num_position_embeddings";
            return Err(invalid(key, Some(&positions.into()), "the square of a whole number above 1"));
        }
        let depth = vision.integer("depth", 1, MAX_DEPTH)?;
        let depth = depth.ok_or_else(|| {
            invalid("vision_config.depth", None, format!("a whole number from 1 to {MAX_DEPTH}"))
        })?;
        let image_token = root
            .integer("image_token_id", 0, MAX_SIZE)?
            .ok_or_else(|| invalid("image_token_id", None, "the id of the token that stands for pictures"))?;
        let vocab_size = keys.size("vocab_size")? as u64;
        if image_token >= vocab_size {
            let expected = format!("the id of a token, below vocab_size {vocab_size}");
            return Err(invalid("image_token_id", Some(&image_token.into()), expected));
        }
        Ok(Some(Self {
            depth: depth as usize,
            hidden_size,
            heads,
            intermediate_size: vision.size("intermediate_size")?,
            out_hidden_size,
            position_side,
            rope_theta: rope_theta(&vision)?,
            mrope_section: mrope_section(keys, attention)?,
            image_token: image_token as u32,
            pictures: PictureSettings::default(),
        }))
    }
}

impl PictureSettings {
    /// What `preprocessor_config.json` says.
    pub(super) fn parse(file: &Object) -> Result<Self, CheckpointError> {
        let keys = Keys(vec![file]);
        let family = Self::default();
        for (key, only) in [("patch_size", PATCH), ("temporal_patch_size", FRAMES), ("merge_size", MERGE)] {
            if let Some(found) = keys.optional_size(key)?.filter(|&found| found != only) {
                return Err(invalid(key, Some(&found.into()), only.to_string()));
            }
        }
        let size = Keys(keys.object("size")?.into_iter().collect());
        let area = |older: &str, newer: &str, family: u64| -> Result<u64, CheckpointError> {
            let most = 1 << 32;
            let area = keys.integer(older, 1, most)?.or(size.integer(newer, 1, most)?).unwrap_or(family);
            // A token at least, and no more than a picture ever has here.
            Ok(area.clamp(((PATCH * MERGE) as u64).pow(2), Self::default().most_pixels))
        };
        let channels = |key: &str, least: f64, family: [f32; CHANNELS]| match keys.get(key) {
            None => Ok(family),
            Some(value) => {
                let numbers: Option<Vec<f32>> = value.as_array().and_then(|list| {
                    let number = |value: &Value| value.as_f64().filter(|x| (least..=256.0).contains(x));
                    list.iter().map(|value| number(value).map(|x| x as f32)).collect()
                });
                numbers
                    .and_then(|numbers| numbers.try_into().ok())
                    .ok_or_else(|| invalid(key, Some(value), "three numbers, one for each channel"))
            }
        };
        Ok(Self {
            least_pixels: area("min_pixels", "shortest_edge", family.least_pixels)?,
            most_pixels: area("max_pixels", "longest_edge", family.most_pixels)?,
            mean: channels("image_mean", -256.0, family.mean)?,
            deviation: channels("image_std", 1e-3, family.deviation)?,
        })
    }
}

/// Settings that would change the arithmetic must have the one value that is implemented.
fn refuse_variations(vision: &Keys<'_>) -> Result<(), CheckpointError> {
    let refuse = |key: &str, value: &Value, supported| {
        let (key, value) = (format!("vision_config.{key}"), excerpt(value));
        Err(CheckpointError::UnsupportedConfig { key, value, supported })
    };
    let is = |value: &Value, only: usize| match value.as_array() {
        Some(list) => !list.is_empty() && list.iter().all(|size| size.as_u64() == Some(only as u64)),
        None => value.as_u64() == Some(only as u64),
    };
    for (key, only, supported) in [
        ("in_channels", CHANNELS, "3"),
        ("patch_size", PATCH, "16"),
        ("temporal_patch_size", FRAMES, "2"),
        ("spatial_merge_size", MERGE, "2"),
    ] {
        if let Some(value) = vision.get(key).filter(|value| !is(value, only)) {
            return refuse(key, value, supported);
        }
    }
    let act = vision.get("hidden_act").filter(|value| value.as_str() != Some("gelu_pytorch_tanh"));
    if let Some(value) = act {
        return refuse("hidden_act", value, "gelu_pytorch_tanh");
    }
    let deepstack = vision.get("deepstack_visual_indexes");
    match deepstack.filter(|value| value.as_array().is_none_or(|list| !list.is_empty())) {
        Some(value) => refuse("deepstack_visual_indexes", value, "none"),
        None => Ok(()),
    }
}

fn rope_theta(vision: &Keys<'_>) -> Result<f32, CheckpointError> {
    const THETA: &str = "a number from 1 to 1e12";
    let Some(rope) = vision.object("rope_parameters")? else { return Ok(1e4) };
    let theta = Keys(vec![rope]).number("rope_theta", THETA, |theta| (1.0..=1e12).contains(&theta))?;
    Ok(theta.unwrap_or(1e4) as f32)
}

/// The pairs of a text head that turn by each stream of positions; they are interleaved.
fn mrope_section(keys: &Keys<'_>, attention: &AttentionDims) -> Result<[usize; 3], CheckpointError> {
    const SECTION: &str = "mrope_section";
    let mut rope = keys.clone();
    for key in ["rope_scaling", "rope_parameters"] {
        if let Some(parameters) = keys.object(key)? {
            rope.0.insert(0, parameters);
        }
    }
    if rope.flag("mrope_interleaved")? == Some(false) {
        let (key, value) = ("mrope_interleaved".into(), "false".into());
        return Err(CheckpointError::UnsupportedConfig { key, value, supported: "true" });
    }
    let pairs = attention.rope_dims / 2;
    let expected = format!("three whole numbers that sum to {pairs}, the pairs of a head that turn");
    let Some(value) = rope.get(SECTION) else { return Err(invalid(SECTION, None, expected)) };
    let section: Option<Vec<usize>> = value.as_array().and_then(|list| {
        list.iter()
            .map(|size| size.as_u64().filter(|&size| size <= MAX_SIZE).map(|size| size as usize))
            .collect()
    });
    section
        .and_then(|section| <[usize; 3]>::try_from(section).ok())
        .filter(|section| section.iter().sum::<usize>() == pairs)
        .ok_or_else(|| invalid(SECTION, Some(value), expected))
}
