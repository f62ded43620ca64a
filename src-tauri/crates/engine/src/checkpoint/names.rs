//! Tensor names. The same tensor has one name in a raw Hugging Face file, another after a conversion to MLX, and a
//! third in a text-only export; the rest of the engine knows the canonical one.

/// What a name in a file refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// A part of the language model, by its canonical name: `layers.0.mlp.up_proj.weight`, `mtp.fc.weight`.
    Text(String),
    /// A part of the vision tower, which text needs nothing of.
    Vision,
    /// Anything else.
    Unknown,
}

const VISION: [&str; 4] = ["model.visual.", "vision_tower.", "model.vision_tower.", "visual."];
/// Longest first, so that the first match is the whole prefix; and whether the trunk's tensors are under it.
const PREFIXES: [(&str, bool); 5] = [
    ("language_model.model.", true),
    ("model.language_model.", true),
    ("language_model.", false),
    ("model.", true),
    ("", false),
];
const TRUNK: [&str; 3] = ["embed_tokens", "layers", "norm"];
const BESIDE_TRUNK: [&str; 2] = ["lm_head", "mtp"];

/// Tells what a tensor or module is from its name in a file or config.
pub(super) fn classify(raw: &str) -> Name {
    if VISION.iter().any(|prefix| raw.starts_with(prefix)) {
        return Name::Vision;
    }
    let Some((rest, has_trunk)) = PREFIXES
        .iter()
        .find_map(|(prefix, has_trunk)| raw.strip_prefix(prefix).map(|rest| (rest, *has_trunk)))
    else {
        return Name::Unknown;
    };
    let head = rest.split('.').next().unwrap_or_default();
    if BESIDE_TRUNK.contains(&head) || has_trunk && TRUNK.contains(&head) {
        Name::Text(rest.to_owned())
    } else {
        Name::Unknown
    }
}

/// The name that conversions to MLX give to a tensor or module: `language_model.model.layers.0.mlp.gate`.
pub(crate) fn mlx_name(canonical: &str) -> String {
    let head = canonical.split('.').next().unwrap_or_default();
    if BESIDE_TRUNK.contains(&head) {
        format!("language_model.{canonical}")
    } else {
        format!("language_model.model.{canonical}")
    }
}

/// Whether a name is as MLX conversions write it, rather than as Hugging Face does.
pub(super) fn is_mlx_style(raw: &str) -> bool {
    raw.starts_with("language_model.")
}

/// Whether a canonical name belongs to the MTP head.
pub(crate) fn is_mtp(canonical: &str) -> bool {
    canonical.starts_with("mtp.")
}

/// The layer of the trunk that a canonical name belongs to.
pub(super) fn trunk_layer(canonical: &str) -> Option<usize> {
    canonical.strip_prefix("layers.")?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        match classify(raw) {
            Name::Text(name) => name,
            other => panic!("{raw} is {other:?}"),
        }
    }

    #[test]
    fn every_layout_has_one_canonical_name() {
        for (canonical, raws) in [
            (
                "layers.0.mlp.up_proj.weight",
                &[
                    "model.language_model.layers.0.mlp.up_proj.weight",
                    "language_model.model.layers.0.mlp.up_proj.weight",
                    "model.layers.0.mlp.up_proj.weight",
                ][..],
            ),
            ("norm.weight", &["model.language_model.norm.weight", "language_model.model.norm.weight"]),
            ("lm_head.scales", &["lm_head.scales", "language_model.lm_head.scales"]),
            (
                "mtp.norm.weight",
                &["mtp.norm.weight", "model.mtp.norm.weight", "language_model.mtp.norm.weight"],
            ),
            ("lm_head", &["lm_head", "language_model.lm_head"]),
        ] {
            for raw in raws {
                assert_eq!(text(raw), canonical, "{raw}");
            }
            assert_eq!(text(&mlx_name(canonical)), canonical);
            assert!(is_mlx_style(&mlx_name(canonical)));
        }
    }

    #[test]
    fn vision_and_strangers_are_told_apart() {
        assert_eq!(classify("model.visual.blocks.0.norm1.weight"), Name::Vision);
        assert_eq!(classify("vision_tower.patch_embed.proj.weight"), Name::Vision);
        for raw in [
            "",
            ".",
            "layers.0.mlp.up_proj.weight",
            "norm.weight",
            "model.audio.x",
            "language_model.layers.0.x",
        ] {
            assert_eq!(classify(raw), Name::Unknown, "{raw}");
        }
    }

    #[test]
    fn layers_are_numbered() {
        assert_eq!(trunk_layer("layers.12.mlp.up_proj.weight"), Some(12));
        assert_eq!(trunk_layer("mtp.layers.0.mlp.up_proj.weight"), None);
        assert_eq!(trunk_layer("layers.x.mlp"), None);
    }
}
