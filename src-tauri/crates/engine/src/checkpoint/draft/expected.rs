//! The tensors that the config of a draft model calls for.

use super::super::expected::{Slot, Slots};
use super::config::{Convolutions, DraftConfig, SelectorDims};

/// Lists every tensor of a draft model.
pub(super) fn draft(config: &DraftConfig) -> Vec<Slot> {
    let hidden = config.hidden_size;
    let mut slots = Slots::default();
    slots.matrix("fc", [hidden, config.features()], "hidden_size, target_layer_ids × hidden_size");
    slots.norm("hidden_norm.weight", hidden, "hidden_size");
    for layer in 0..config.layers.len() {
        let path = format!("layers.{layer}");
        slots.norm(&format!("{path}.input_layernorm.weight"), hidden, "hidden_size");
        slots.ungated_attention(&format!("{path}.self_attn"), &config.attention, hidden);
        slots.norm(&format!("{path}.post_attention_layernorm.weight"), hidden, "hidden_size");
        slots.mlp(&format!("{path}.mlp"), [config.intermediate_size, hidden], "intermediate_size");
        if let Some((convolutions, _)) = config.dflash2 {
            for name in ["attention_conv", "mlp_conv"] {
                convolution(&mut slots, &format!("{path}.{name}"), convolutions, hidden);
            }
        }
    }
    slots.norm("norm.weight", hidden, "hidden_size");
    if let Some((_, SelectorDims { rank, .. })) = config.dflash2 {
        for table in ["predecessor_codebook", "successor_codebook"] {
            let shape = [config.vocab_size, rank];
            slots.matrix(&format!("candidate_selector.{table}"), shape, "vocab_size, selector_rank");
        }
        let path = "candidate_selector.hidden_projection";
        slots.matrix(path, [rank, hidden], "selector_rank, hidden_size");
    }
    slots.0
}

/// Two kernels, one for what goes into a part of a layer and one for what comes out of it, and the projection to what
/// is added to them for each group of channels.
fn convolution(slots: &mut Slots, path: &str, Convolutions { kernel, group }: Convolutions, hidden: usize) {
    let base = format!("{path}.base_kernel");
    slots.parameter(&base, &[2, kernel, hidden], "2, conv_kernel_size, hidden_size");
    let shape = [2 * kernel * (hidden / group), hidden];
    let because = "2 × conv_kernel_size × hidden_size / conv_group_size, hidden_size";
    slots.matrix(&format!("{path}.kernel_projection"), shape, because);
}
