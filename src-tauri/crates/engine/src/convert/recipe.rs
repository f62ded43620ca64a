//! Decides how a conversion quantizes each matrix: in which mode, with how many bits, in groups of how many weights.
//! The trunk and the MTP head follow the settings, or a plan. Where settings quantize, routers of experts get 8 bits in
//! groups of 64, and `mtp.fc` and matrices whose rows do not divide into groups stay unquantized.

use std::ops::Range;
use std::sync::Arc;

use foretoken_protocol::{ConversionSettings, FloatFormat, HeadFormat, VisionFormat, WeightFormat};

use super::ConvertError;
use super::importance::Importance;
use super::plan::{FUSION, Method, Plan};
use super::source::Source;
use crate::checkpoint::{FloatType, QuantSpec, is_mtp};
use crate::error::EngineError;
use crate::mlx::{self, Array, QuantMode};

const BITS: [u8; 6] = [2, 3, 4, 5, 6, 8];
const GROUP_SIZES: [u32; 3] = [32, 64, 128];
/// Routers are tiny, and a wrong expert costs more than a coarse weight.
const ROUTER: QuantSpec = QuantSpec { group_size: 64, bits: 8, mode: QuantMode::Affine };
const ROUTERS: [&str; 2] = [".mlp.gate", ".shared_expert_gate"];
/// Matrices of the vision tower, the table of its positions, which is looked up and added, and in which groups the
/// others are quantized: the first into which their rows divide.
const VISION: &str = "visual.";
const POSITIONS: &str = "visual.pos_embed";
const VISION_GROUPS: [usize; 2] = [64, 32];

/// Which matrices are quantized, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    text: Text,
    /// Bits of the vision tower's matrices, where they are quantized.
    vision: Option<u8>,
}

/// How the matrices of the text are quantized.
#[derive(Debug, Clone, PartialEq)]
enum Text {
    /// All of the trunk alike, and all of the head.
    Uniform { trunk: Option<QuantSpec>, head: Option<QuantSpec> },
    /// Each as the plan says, fitted with what its columns count where that is known.
    Planned { plan: Arc<Plan>, importance: Option<Arc<Importance>> },
}

impl Recipe {
    /// Checks the settings.
    pub fn new(settings: &ConversionSettings) -> Result<Self, ConvertError> {
        let trunk = match settings.weights {
            WeightFormat::Float => None,
            WeightFormat::Affine { bits, group_size } => Some(affine(bits, group_size)?),
            WeightFormat::Mxfp4 => Some(QuantSpec { group_size: 32, bits: 4, mode: QuantMode::Mxfp4 }),
            WeightFormat::Mxfp8 => Some(QuantSpec { group_size: 32, bits: 8, mode: QuantMode::Mxfp8 }),
            WeightFormat::Nvfp4 => Some(QuantSpec { group_size: 16, bits: 4, mode: QuantMode::Nvfp4 }),
        };
        let head = match (settings.mtp_head, settings.weights) {
            (HeadFormat::Same, _) => trunk,
            (HeadFormat::Float, _) => None,
            (HeadFormat::Affine { bits }, WeightFormat::Affine { group_size, .. }) => {
                Some(affine(bits, group_size)?)
            }
            (HeadFormat::Affine { bits }, _) => Some(affine(bits, 64)?),
        };
        let vision = vision_bits(settings.vision, trunk.is_some())?;
        Ok(Self { text: Text::Uniform { trunk, head }, vision })
    }

    /// Follows a plan; the vision tower, which is no part of it, follows its own setting.
    pub fn planned(
        plan: Arc<Plan>,
        importance: Option<Arc<Importance>>,
        vision: VisionFormat,
    ) -> Result<Self, ConvertError> {
        let vision = vision_bits(vision, plan.quantizes())?;
        Ok(Self { text: Text::Planned { plan, importance }, vision })
    }

    /// Compares a plan, if this follows one, with the checkpoint that is to be converted.
    pub(super) fn check(&self, source: &Source) -> Result<(), EngineError> {
        let Text::Planned { plan, importance } = &self.text else { return Ok(()) };
        let checked = plan.check(&source.layout.weights, source.fingerprint()?);
        let importance = || importance.as_ref().map_or(Ok(()), |known| known.check(&source.layout.weights));
        Ok(checked.and_then(|()| importance()).map_err(ConvertError::Plan)?)
    }

    /// How the matrix of a module is stored; `None` leaves it as it is. Rows that do not divide into groups stay too.
    pub fn spec(&self, path: &str, columns: usize) -> Option<QuantSpec> {
        if path.starts_with(VISION) {
            let bits = usize::from(self.vision?);
            let spec = |group_size| QuantSpec { group_size, bits, mode: QuantMode::Affine };
            let fits = |spec: &QuantSpec| spec.divides(columns);
            return VISION_GROUPS.map(spec).into_iter().find(fits).filter(|_| path != POSITIONS);
        }
        let (trunk, head) = match &self.text {
            Text::Uniform { trunk, head } => (trunk, head),
            Text::Planned { plan, .. } => return plan.spec(path, columns),
        };
        let uniform = if is_mtp(path) { *head } else { *trunk }?;
        let spec = match path {
            FUSION => return None,
            _ if ROUTERS.iter().any(|router| path.ends_with(router)) => ROUTER,
            _ => uniform,
        };
        spec.divides(columns).then_some(spec)
    }

    /// How the scales of a module's matrix are found.
    pub(super) fn method(&self, path: &str) -> Method {
        match &self.text {
            Text::Planned { plan, .. } if !path.starts_with(VISION) => plan.method_of(path),
            _ => Method::Rtn,
        }
    }

    /// What the `columns` of a module's matrix count in some of its rows, of `all` together, where that is known: f32
    /// `[columns]` or `[rows, columns]`.
    pub(super) fn importance(
        &self,
        path: &str,
        columns: usize,
        rows: Range<usize>,
        all: usize,
    ) -> mlx::Result<Option<Array>> {
        match &self.text {
            Text::Planned { importance: Some(importance), .. } => importance.rows(path, columns, rows, all),
            _ => Ok(None),
        }
    }

    /// The plan, and what columns count.
    pub(super) fn plan(&self) -> Option<(&Plan, Option<&Importance>)> {
        match &self.text {
            Text::Uniform { .. } => None,
            Text::Planned { plan, importance } => Some((plan, importance.as_deref())),
        }
    }

    /// What holds for every module that has no entry of its own in the config.
    pub fn default_spec(&self) -> Option<QuantSpec> {
        match &self.text {
            Text::Uniform { trunk, head } => trunk.or(*head),
            Text::Planned { plan, .. } => plan.default_spec(),
        }
    }
}

/// Bits of the tower's matrices. Whoever quantizes nothing of the text wants the model as it is.
fn vision_bits(format: VisionFormat, text_is_quantized: bool) -> Result<Option<u8>, ConvertError> {
    match format {
        VisionFormat::Affine { bits } if text_is_quantized => {
            affine(bits, VISION_GROUPS[0] as u32).map(|_| Some(bits))
        }
        VisionFormat::Affine { .. } | VisionFormat::Float | VisionFormat::None => Ok(None),
    }
}

fn affine(bits: u8, group_size: u32) -> Result<QuantSpec, ConvertError> {
    let refuse = |message| Err(ConvertError::InvalidSetting { message });
    if !BITS.contains(&bits) {
        return refuse(format!("Weights cannot have {bits} bits; they can have 2, 3, 4, 5, 6 or 8."));
    }
    if !GROUP_SIZES.contains(&group_size) {
        return refuse(format!("Groups cannot have {group_size} weights; they can have 32, 64 or 128."));
    }
    Ok(QuantSpec { group_size: group_size as usize, bits: bits.into(), mode: QuantMode::Affine })
}

/// The type that a setting names.
pub(super) fn float_type(format: FloatFormat) -> FloatType {
    match format {
        FloatFormat::Bfloat16 => FloatType::Bfloat16,
        FloatFormat::Float16 => FloatType::Float16,
        FloatFormat::Float32 => FloatType::Float32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(weights: WeightFormat, mtp_head: HeadFormat) -> Recipe {
        Recipe::new(&ConversionSettings { weights, mtp_head, ..ConversionSettings::default() }).unwrap()
    }

    fn bits(recipe: &Recipe, path: &str) -> Option<(usize, usize)> {
        recipe.spec(path, 128).map(|spec| (spec.bits, spec.group_size))
    }

    const FOUR: WeightFormat = WeightFormat::Affine { bits: 4, group_size: 32 };
    const UP: &str = "layers.0.mlp.up_proj";
    const HEAD_UP: &str = "mtp.layers.0.mlp.up_proj";

    #[test]
    fn routers_get_eight_bits_and_the_fusion_none() {
        let four = recipe(FOUR, HeadFormat::Same);
        for path in [
            UP,
            HEAD_UP,
            "embed_tokens",
            "lm_head",
            "layers.0.mlp.gate_proj",
            "layers.1.mlp.shared_expert.up_proj",
        ] {
            assert_eq!(bits(&four, path), Some((4, 32)), "{path}");
        }
        for path in ["layers.0.mlp.gate", "mtp.layers.0.mlp.gate", "layers.3.mlp.shared_expert_gate"] {
            assert_eq!(bits(&four, path), Some((8, 64)), "{path}");
        }
        assert_eq!(bits(&four, "mtp.fc"), None);
    }

    #[test]
    fn the_vision_tower_has_bits_of_its_own_in_groups_that_fit() {
        let spec = |vision, path: &str, columns| {
            let recipe =
                Recipe::new(&ConversionSettings { vision, ..ConversionSettings::default() }).unwrap();
            recipe.spec(path, columns).map(|spec| (spec.bits, spec.group_size))
        };
        let (eight, fc2) = (VisionFormat::default(), "visual.blocks.0.mlp.linear_fc2");
        assert_eq!(spec(eight, "visual.blocks.0.attn.qkv", 1152), Some((8, 64)));
        assert_eq!(spec(eight, fc2, 160), Some((8, 32)));
        assert_eq!(spec(eight, fc2, 4304), None, "such rows divide into no groups");
        assert_eq!(spec(eight, "visual.pos_embed", 1152), None);
        assert_eq!(spec(VisionFormat::Float, fc2, 3072), None);
        assert_eq!(spec(eight, UP, 128), Some((4, 64)), "the text is another matter");
    }

    #[test]
    fn the_head_can_differ() {
        for (head, expected) in [
            (HeadFormat::Same, Some((4, 32))),
            (HeadFormat::Affine { bits: 8 }, Some((8, 32))),
            (HeadFormat::Float, None),
        ] {
            let recipe = recipe(FOUR, head);
            assert_eq!((bits(&recipe, UP), bits(&recipe, HEAD_UP)), (Some((4, 32)), expected));
            let router = bits(&recipe, "mtp.layers.0.mlp.gate");
            assert_eq!(router, expected.map(|_| (8, 64)), "{head:?}");
        }
        let mixed = recipe(WeightFormat::Mxfp4, HeadFormat::Affine { bits: 8 });
        assert_eq!(bits(&mixed, HEAD_UP), Some((8, 64)));
        let float = recipe(WeightFormat::Float, HeadFormat::Same);
        assert_eq!((bits(&float, UP), bits(&float, HEAD_UP), float.default_spec()), (None, None, None));
    }

    #[test]
    fn rows_that_do_not_divide_stay() {
        let four = recipe(FOUR, HeadFormat::Same);
        assert!(four.spec(UP, 96).is_some() && four.spec(UP, 100).is_none());
        assert!(four.spec("layers.0.mlp.gate", 96).is_none());
        assert_eq!(
            recipe(WeightFormat::Nvfp4, HeadFormat::Same).spec(UP, 48).map(|spec| spec.group_size),
            Some(16)
        );
    }

    #[test]
    fn settings_that_do_not_exist_are_refused() {
        for weights in [
            WeightFormat::Affine { bits: 7, group_size: 64 },
            WeightFormat::Affine { bits: 4, group_size: 16 },
        ] {
            let settings = ConversionSettings { weights, ..ConversionSettings::default() };
            assert_eq!(Recipe::new(&settings).unwrap_err().code(), "invalid_setting");
        }
        let mtp_head = HeadFormat::Affine { bits: 1 };
        let settings = ConversionSettings { mtp_head, ..ConversionSettings::default() };
        assert_eq!(Recipe::new(&settings).unwrap_err().code(), "invalid_setting");
    }
}
