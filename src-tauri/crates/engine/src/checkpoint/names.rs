//! Tensor names. The same tensor has one name in a raw Hugging Face file, another after a conversion to MLX, and a
//! third in a text-only export; the rest of the engine knows the canonical one.

/// What a name in a file refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// A part of the language model, by its canonical name: `layers.0.mlp.up_proj.weight`, `mtp.fc.weight`.
    Text(String),
    /// A part of the vision tower, by its canonical name: `visual.blocks.0.attn.qkv.weight`.
    Visual(String),
    /// A table that follows from the config.
    Derived,
    /// Anything else.
    Unknown,
}

/// Who writes names like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Style {
    /// Hugging Face: `model.language_model.layers`, `mtp.fc`. Some conversions keep these names.
    Raw,
    /// Conversions to MLX: `language_model.model.layers`, `language_model.mtp.fc`.
    Mlx,
    /// Heads that were split off by a conversion: `fc`.
    Bare,
}

const VISION: [&str; 5] =
    ["model.visual.", "vision_tower.", "model.vision_tower.", "model.language_model.visual.", "visual."];
/// Tables of positions that a tower's files may hold, and that follow from its sizes.
const VISION_DERIVED: [&str; 2] = ["position_ids", "rotary_pos_emb.inv_freq"];
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
const HEAD: [&str; 5] = ["fc", "layers", "norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden"];
/// Position tables that old libraries saved with the weights.
const DERIVED: &str = "rotary_emb.inv_freq";

/// Tells what a tensor or module is from its name in a file or config.
pub(super) fn classify(raw: &str) -> Name {
    if let Some(part) = VISION.iter().find_map(|prefix| raw.strip_prefix(prefix)) {
        let is_derived = VISION_DERIVED.iter().any(|table| part.ends_with(table));
        return if is_derived { Name::Derived } else { Name::Visual(format!("visual.{part}")) };
    }
    let Some((rest, has_trunk)) = PREFIXES
        .iter()
        .find_map(|(prefix, has_trunk)| raw.strip_prefix(prefix).map(|rest| (rest, *has_trunk)))
    else {
        return Name::Unknown;
    };
    let first = first_part(rest);
    if rest.ends_with(DERIVED) && (first == "rotary_emb" || has_trunk && first == "layers") {
        Name::Derived
    } else if BESIDE_TRUNK.contains(&first) || has_trunk && TRUNK.contains(&first) {
        Name::Text(canonical(rest))
    } else {
        Name::Unknown
    }
}

/// What a tensor is by its name, for a file that holds nothing but an MTP head, whose names may do without a prefix.
pub(super) fn classify_head(raw: &str) -> Name {
    match classify(raw) {
        Name::Text(name) if is_mtp(&name) => Name::Text(name),
        _ if HEAD.contains(&first_part(raw)) => Name::Text(canonical(&format!("mtp.{raw}"))),
        _ => Name::Unknown,
    }
}

fn first_part(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// Hugging Face stacks experts in bare parameters: the matrices that go down are what MLX calls a module, those that
/// go up are two of its modules in one.
fn canonical(name: &str) -> String {
    const DOWN: &str = ".mlp.experts.down_proj";
    match name.split_once(DOWN) {
        Some((layer, part)) => format!("{layer}.mlp.switch_mlp.down_proj{part}"),
        None => name.to_owned(),
    }
}

/// The canonical name of a tensor, by that of the module or parameter that it is in the file.
pub(super) fn tensor_name(canonical: String) -> String {
    const BARE: [&str; 3] = [".switch_mlp.down_proj", ".experts.gate_up_proj", "_codebook"];
    let bare = BARE.iter().any(|parameter| canonical.ends_with(parameter));
    if bare { canonical + ".weight" } else { canonical }
}

/// Tells who writes such names.
pub(super) fn style(raw: &str) -> Style {
    match first_part(raw) {
        "language_model" => Style::Mlx,
        first if HEAD.contains(&first) => Style::Bare,
        _ => Style::Raw,
    }
}

/// The name that conversions to MLX give to a tensor or module: `language_model.model.layers.0.mlp.gate`.
pub(crate) fn mlx_name(canonical: &str) -> String {
    let head = canonical.split('.').next().unwrap_or_default();
    if let Some(part) = canonical.strip_prefix("visual.") {
        format!("vision_tower.{part}")
    } else if BESIDE_TRUNK.contains(&head) {
        format!("language_model.{canonical}")
    } else {
        format!("language_model.model.{canonical}")
    }
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
            (
                "layers.1.mlp.switch_mlp.down_proj",
                &[
                    "model.language_model.layers.1.mlp.experts.down_proj",
                    "language_model.model.layers.1.mlp.switch_mlp.down_proj",
                ],
            ),
        ] {
            for raw in raws {
                assert_eq!(text(raw), canonical, "{raw}");
            }
            assert_eq!(text(&mlx_name(canonical)), canonical);
            assert_eq!(style(&mlx_name(canonical)), Style::Mlx);
        }
    }

    #[test]
    fn vision_and_strangers_are_told_apart() {
        let visual = "visual.blocks.0.norm1.weight";
        for raw in
            ["model.visual", "vision_tower", "model.vision_tower", "model.language_model.visual", "visual"]
        {
            let raw = format!("{raw}.blocks.0.norm1.weight");
            assert_eq!(classify(&raw), Name::Visual(visual.into()), "{raw}");
        }
        assert_eq!(mlx_name(visual), "vision_tower.blocks.0.norm1.weight");
        assert_eq!(classify("model.visual.rotary_pos_emb.inv_freq"), Name::Derived);
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
    fn a_file_of_the_head_alone_needs_no_prefix() {
        for raw in ["fc.weight", "mtp.fc.weight", "model.mtp.fc.weight", "language_model.mtp.fc.weight"] {
            assert_eq!(classify_head(raw), Name::Text("mtp.fc.weight".into()), "{raw}");
        }
        assert_eq!(
            classify_head("layers.0.mlp.experts.down_proj"),
            Name::Text("mtp.layers.0.mlp.switch_mlp.down_proj".into())
        );
        for raw in ["model.layers.0.mlp.up_proj.weight", "embed_tokens.weight", "lm_head.weight", ""] {
            assert_eq!(classify_head(raw), Name::Unknown, "{raw}");
        }
        let styles = ["mtp.fc.weight", "language_model.mtp.fc.weight", "norm.weight"].map(style);
        assert_eq!(styles, [Style::Raw, Style::Mlx, Style::Bare]);
    }

    #[test]
    fn tables_of_positions_are_derived() {
        for raw in
            ["model.layers.3.self_attn.rotary_emb.inv_freq", "model.language_model.rotary_emb.inv_freq"]
        {
            assert_eq!(classify(raw), Name::Derived, "{raw}");
        }
    }

    #[test]
    fn stacked_experts_are_parameters_of_their_own() {
        for (name, tensor) in [
            ("layers.0.mlp.experts.gate_up_proj", "layers.0.mlp.experts.gate_up_proj.weight"),
            ("layers.0.mlp.switch_mlp.down_proj", "layers.0.mlp.switch_mlp.down_proj.weight"),
            ("layers.0.mlp.switch_mlp.down_proj.scales", "layers.0.mlp.switch_mlp.down_proj.scales"),
        ] {
            assert_eq!(tensor_name(name.into()), tensor);
        }
    }

    #[test]
    fn layers_are_numbered() {
        assert_eq!(trunk_layer("layers.12.mlp.up_proj.weight"), Some(12));
        assert_eq!(trunk_layer("mtp.layers.0.mlp.up_proj.weight"), None);
        assert_eq!(trunk_layer("layers.x.mlp"), None);
    }
}
