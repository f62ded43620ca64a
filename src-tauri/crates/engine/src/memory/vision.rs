//! The memory of a vision tower: its weights, and what a picture takes on its way through it. Also how much of a
//! picture goes through a layer at once, on which that depends.

use super::at_once::has_fused_attention;
use super::loading::loading;
use crate::checkpoint::{FloatType, MERGE, PATCH, TowerPlan, VisionDims};
use crate::mlx::DeviceKind;

/// Patches that go through an MLP at once.
pub(crate) const TOWER_ROWS: usize = 1024;
/// Bytes of the features of pictures that are kept for later turns: one of a megapixel takes 2 to 10 MB.
pub(crate) const KEPT_FEATURES: u64 = 64 << 20;
/// Scores that attention computes at once where they are stored.
const STORED_SCORES: usize = 32 << 20;
/// The same where a kernel spares storing them, so that none works for seconds.
const FUSED_SCORES: usize = 1 << 32;
/// A size of heads for which MLX has no fused kernel, and one for which it has; zeros make up for the difference.
const PADDED: (usize, usize) = (72, 80);

const F32: u64 = 4;

/// The size that a tower's heads are computed with.
pub(crate) fn padded_head(head_dim: usize) -> usize {
    if head_dim == PADDED.0 { PADDED.1 } else { head_dim }
}

/// How many heads, and how many queries of each, a tower's attention computes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TowerScores {
    pub(crate) heads: usize,
    pub(crate) queries: usize,
}

impl TowerScores {
    /// For a picture of so many patches. `head_dim`: as it is computed with.
    pub(crate) fn of(patches: usize, heads: usize, head_dim: usize, device: DeviceKind) -> Self {
        let of_head = patches.saturating_mul(patches).max(1);
        let (heads, most) = match has_fused_attention(device, head_dim) {
            true => (heads, FUSED_SCORES),
            false => ((STORED_SCORES / of_head).clamp(1, heads), STORED_SCORES),
        };
        Self { heads, queries: (most / (heads * patches.max(1))).clamp(1, patches.max(1)) }
    }
}

/// What a tower takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct TowerMemory<'a> {
    dims: &'a VisionDims,
    /// Bytes of the loaded tensors.
    pub(super) weights: u64,
    /// Bytes that loading takes beside them.
    pub(super) loading: u64,
    /// Bytes of a number of the compute type.
    size: u64,
    device: DeviceKind,
}

impl<'a> TowerMemory<'a> {
    pub(super) fn of(tower: &'a TowerPlan, compute: FloatType, device: DeviceKind) -> Self {
        let (weights, loading) = (tower.weight_bytes(), loading(&tower.tensors));
        Self { dims: &tower.dims, weights, loading, size: compute.bytes(), device }
    }

    /// The most pixels of a picture.
    pub(super) fn most_pixels(&self) -> u64 {
        self.dims.pictures.most_pixels
    }

    /// Bytes of the features of a picture of so many pixels.
    pub(super) fn features(&self, pixels: u64) -> u64 {
        pixels.div_ceil(((PATCH * MERGE) as u64).pow(2)) * self.dims.out_hidden_size as u64 * self.size
    }

    /// The most bytes that a picture of so many pixels takes on its way through: a block or the merger is waited for
    /// before the next begins.
    pub(super) fn working_set(&self, pixels: u64) -> u64 {
        let patches = pixels.div_ceil((PATCH * PATCH) as u64);
        let rotation = 2 * F32 * patches * (self.dims.hidden_size / self.dims.heads / 2) as u64;
        let layer = self.attention(patches).max(self.mlp(patches)).max(self.merger(patches));
        self.patches(pixels, patches).max(rotation.saturating_add(layer))
    }

    /// What precedes the blocks: the pixels as they come, scaled, and as patches of two frames.
    fn patches(&self, pixels: u64, patches: u64) -> u64 {
        // Colours in float32, before and behind an operation, and in the compute type; patches, embedded and with
        // positions that are summed in float32.
        let (values, width) = (3 * pixels, self.dims.hidden_size as u64);
        values * (1 + 2 * F32 + 3 * self.size) + patches * width * (2 * self.size + 3 * F32)
    }

    /// All of it is in flight at once, see [`Passing`](super::estimate): input, norm, both sums and the projection of
    /// the output; queries, keys and values as they are projected and as they are multiplied, queries and keys turned
    /// in float32 from products by halves; the output in two layouts; scores.
    fn attention(&self, patches: u64) -> u64 {
        let VisionDims { hidden_size, heads, .. } = *self.dims;
        let head = padded_head(hidden_size / heads);
        let (width, padded) = (hidden_size as u64, (heads * head) as u64);
        let cast = if self.size == F32 { 0 } else { F32 + self.size };
        let turned = cast + 3 * F32 + self.size;
        let of_patch = 5 * width * self.size + (3 + 3 + 2) * padded * self.size + 2 * turned * padded;
        let at_once = TowerScores::of(patches as usize, heads, head, self.device);
        let scores = match has_fused_attention(self.device, head) {
            true => 0,
            false => (at_once.heads * at_once.queries) as u64 * patches * self.size,
        };
        patches.saturating_mul(of_patch).saturating_add(scores)
    }

    /// Input and output of all patches; of those that go through at once the hidden numbers, in float32 for GELU.
    fn mlp(&self, patches: u64) -> u64 {
        let (width, inner) = (self.dims.hidden_size as u64, self.dims.intermediate_size as u64);
        let at_once = patches.min(TOWER_ROWS as u64);
        patches * 3 * width * self.size + at_once * (2 * width * self.size + inner * gelu(self.size))
    }

    /// The same of four patches together.
    fn merger(&self, patches: u64) -> u64 {
        let width = self.dims.hidden_size as u64;
        let at_once = patches.min(TOWER_ROWS as u64);
        let features = patches / (MERGE * MERGE) as u64 * self.dims.out_hidden_size as u64;
        (patches * width + 2 * features) * self.size + at_once * width * (self.size + gelu(self.size))
    }
}

/// Bytes of a number on its way through GELU: as it comes and as it goes, and three times in float32.
fn gelu(size: u64) -> u64 {
    2 * size + 3 * F32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_cut_by_heads_and_then_by_queries() {
        let of = |patches, heads, head, device| {
            let TowerScores { heads, queries } = TowerScores::of(patches, heads, head, device);
            (heads, queries)
        };
        let (cpu, gpu) = (DeviceKind::Cpu, DeviceKind::Metal);
        assert_eq!(of(1024, 12, 64, cpu), (12, 1024));
        assert_eq!(of(4096, 12, 64, cpu), (2, 4096));
        assert_eq!(of(16_384, 12, 64, cpu), (1, 2048));
        assert_eq!(of(16_384, 16, padded_head(72), gpu), (16, 16_384));
        assert_eq!(of(65_536, 16, padded_head(72), gpu), (16, 4096));
        assert_eq!(of(16_384, 16, 72, gpu), (1, 2048));
    }
}
