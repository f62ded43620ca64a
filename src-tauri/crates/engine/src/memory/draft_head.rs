//! Whether a model gets a copy of its output head `[V, H]` to compute draft logits with, in 4 bits or of the most
//! frequent tokens alone, and the memory that the copy takes.

use crate::checkpoint::{Config, Layout, QuantSpec, WeightKind};
use crate::mlx::{self, DeviceKind, QuantMode};

/// Bits of a weight in the copy.
const BITS: usize = 4;
/// An output head with fewer bits a weight gets no copy: it would be hardly smaller.
const LEAST_BITS: usize = 8;
/// The largest share of [`mlx::usable_memory`] that weights, those of a draft model among them, and copy may take
/// together; the rest is for chats.
const MOST_SHARE: f64 = 0.8;

/// A copy of the output head for drafts alone, in 4 bits, of the rows of some tokens, or both.
///
/// The output head is the largest matrix that drafting reads, once for each draft of a chain. The copy does not change
/// the distribution that replies follow: what it gets wrong is a draft that is rejected when it is verified. In 4 bits
/// only GPUs get one, where a product with one vector takes as long as reading the matrix. On the CPU MLX takes longer
/// for a product with a quantized matrix than with a dense one, up to seventeen times with 16-bit floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftHead {
    /// How it is quantized; `None` where its rows are kept as the head's are.
    pub spec: Option<QuantSpec>,
    rows: u64,
    columns: u64,
    /// Bytes of a row.
    row: u64,
    /// Bytes of the head's own rows that it is made of, where they are gathered first.
    gathered: u64,
    /// Bytes of a float that is computed with.
    size: u64,
}

impl DraftHead {
    /// Rows that are quantized at a time, so that there is no second head in full precision on the way.
    pub const ROWS_AT_ONCE: usize = 8192;

    /// The copy that a model is loaded with on a device: `None` without an MTP head, where all weights and the copy
    /// would leave too little memory for chats, and where it would be no smaller than the head: of all tokens, on the
    /// CPU or with fewer than 8 bits a weight.
    pub fn of(config: &Config, layout: &Layout, device: DeviceKind) -> Option<Self> {
        let path = if config.tied { "embed_tokens" } else { "lm_head" };
        let head = layout.weights.get(path).filter(|_| layout.has_mtp())?;
        let size = layout.compute.bytes();
        let (own_bits, own_row) = match head.kind {
            WeightKind::Quantized(spec) => (spec.bits, quantized_row(head.columns, spec, size)),
            WeightKind::Dense => (usize::MAX, head.columns as u64 * size),
        };
        let group_size =
            mlx::group_size(head.columns).filter(|_| device != DeviceKind::Cpu && own_bits >= LEAST_BITS);
        let spec = group_size.map(|group_size| QuantSpec { group_size, bits: BITS, mode: QuantMode::Affine });
        let some = layout.draft_vocabulary.as_ref().map(|vocabulary| vocabulary.ids.len());
        if spec.is_none() && some.is_none() {
            return None;
        }
        let row = spec.map_or(own_row, |spec| quantized_row(head.columns, spec, size));
        let (rows, columns) = (some.unwrap_or(head.rows) as u64, head.columns as u64);
        let gathered = if some.is_some() && spec.is_some() { rows.saturating_mul(own_row) } else { 0 };
        let copy = Self { spec, rows, columns, row, gathered, size };
        copy.leaves_room(layout, mlx::usable_memory()).then_some(copy)
    }

    /// Whether chats have enough of `usable` bytes left beside the copy and all weights; 0 bytes are not known.
    fn leaves_room(&self, layout: &Layout, usable: u64) -> bool {
        let weights = layout.weight_bytes().saturating_add(layout.draft_model_bytes);
        let all = weights.saturating_add(self.bytes());
        usable == 0 || all as f64 <= MOST_SHARE * usable as f64
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        self.rows.saturating_mul(self.row)
    }

    /// Bytes of memory that making it takes besides: the rows that it is made of, its pieces before they are joined,
    /// and one piece of the head as floats.
    pub(super) fn making(&self) -> u64 {
        if self.spec.is_none() {
            return 0;
        }
        let piece = self.rows.min(Self::ROWS_AT_ONCE as u64);
        let floats = piece.saturating_mul(self.columns.saturating_mul(self.size));
        self.gathered.saturating_add(self.bytes()).saturating_add(floats)
    }
}

/// Bytes of a quantized row: its weights, and a scale and a bias for each group.
fn quantized_row(columns: usize, QuantSpec { group_size, bits, .. }: QuantSpec, size: u64) -> u64 {
    (columns * bits / 8) as u64 + 2 * (columns / group_size) as u64 * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::fixture::demo;
    use crate::checkpoint::{Files, Index, Metadata};
    use crate::mlx::{Array, Dtype};

    #[test]
    fn models_that_can_draft_and_have_a_large_head_get_a_copy_on_gpus() {
        let metadata = Metadata::read(&demo(), Files::Whole).unwrap();
        let config = Config::of(&metadata).unwrap();
        let layout = Layout::plan(&config, &Index::of(&metadata, &config).unwrap()).unwrap();
        assert_eq!(DraftHead::of(&config, &layout, DeviceKind::Cpu), None);
        let copy = DraftHead::of(&config, &layout, DeviceKind::Metal).unwrap();
        let spec = copy.spec.unwrap();
        assert_eq!((spec.group_size, spec.bits), (64, 4));

        // What it is said to take is what MLX then makes.
        let head = layout.weights["embed_tokens"];
        let matrix = Array::zeros(&[head.rows as i32, head.columns as i32], Dtype::Bfloat16).unwrap();
        let parts = mlx::quantize(&matrix, 64, 4, QuantMode::Affine).unwrap();
        assert_eq!(copy.bytes(), parts.iter().map(|part| part.nbytes() as u64).sum::<u64>());

        let with_bits = |bits| {
            let mut layout = layout.clone();
            let spec = QuantSpec { group_size: 32, bits, mode: QuantMode::Affine };
            layout.weights.get_mut("embed_tokens").unwrap().kind = WeightKind::Quantized(spec);
            DraftHead::of(&config, &layout, DeviceKind::Metal)
        };
        assert_eq!(with_bits(8), Some(copy));
        assert_eq!(with_bits(6), None);
        let usable = 2 * (layout.weight_bytes() + copy.bytes());
        assert!(copy.leaves_room(&layout, usable));
        let mut beside = layout.clone();
        beside.draft_model_bytes = layout.weight_bytes();
        assert!(!copy.leaves_room(&beside, usable), "the draft model takes the room");
        let mut headless = layout.clone();
        headless.mtp_norms = None;
        assert_eq!(DraftHead::of(&config, &headless, DeviceKind::Metal), None);
    }
}
