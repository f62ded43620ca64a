//! Batch invariance: in which steps a device gives a token the same bits, whatever else is computed with it. Kernels of
//! a GPU are chosen by how many tokens a step has, and by how long a row is.

use super::packed::Packed;
use super::qwen::{Mixer, Qwen};
use super::{Attention, DeltaNet};
use crate::cache::RowKv;
use crate::mlx::{self, Array, DeviceKind, Dtype, Result};

/// Tokens of a step that are tried: each that one row has, and those of several beside the places where MLX is known to
/// take other kernels.
const WIDTHS: [usize; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17, 24, 32, 33, 64];
/// Positions of a row that are tried, beside those where MLX is known to divide attention otherwise.
const CONTEXTS: [usize; 4] = [8, 1100, 4500, 9000];

/// Steps in which tokens have the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvariantSteps {
    /// The fewest tokens of one row in them.
    pub least: usize,
    /// The most tokens of all rows together.
    pub most: usize,
    /// The most positions of a row.
    pub context: usize,
}

/// In which steps a model's tokens have the same bits on this device; each entry holds by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchInvariance(Vec<InvariantSteps>);

impl BatchInvariance {
    /// In these.
    pub fn new(steps: Vec<InvariantSteps>) -> Self {
        Self(steps)
    }

    /// In all.
    pub fn complete() -> Self {
        Self(vec![InvariantSteps { least: 1, most: usize::MAX, context: usize::MAX }])
    }

    /// The fewest tokens of a row in steps that hold up to the longest contexts; 1 where none do.
    pub fn least_width(&self) -> usize {
        self.0.last().map_or(1, |steps| steps.least)
    }

    /// Whether all steps between these are among them: of at least so many tokens of the row and at most so many of
    /// all, up to so many positions.
    pub fn holds(&self, InvariantSteps { least, most, context }: InvariantSteps) -> bool {
        self.0.iter().any(|steps| steps.least <= least && most <= steps.most && context <= steps.context)
    }
}

/// What a part of the model gave at a width.
struct Trial {
    /// For each of as many equal tokens as the step is wide, of rows of their own.
    equal: Vec<Vec<u8>>,
    /// For the first tokens of one row.
    row: Vec<Vec<u8>>,
}

impl Trial {
    /// Whether a token's place in the step changes nothing.
    fn is_even(&self) -> bool {
        self.equal.iter().all(|token| *token == self.equal[0])
    }

    /// Whether a wider one gave the same.
    fn agrees(&self, wider: &Self) -> bool {
        self.equal.first() == wider.equal.first() && wider.row.starts_with(&self.row)
    }
}

/// Which of [`WIDTHS`] are even, and which agree with the next one.
struct Found {
    even: Vec<bool>,
    agree: Vec<bool>,
}

impl Found {
    fn new() -> Self {
        Self { even: vec![true; WIDTHS.len()], agree: vec![true; WIDTHS.len() - 1] }
    }

    /// Tries a part at all widths.
    fn narrow(&mut self, mut part: impl FnMut(usize) -> Result<Trial>) -> Result<()> {
        let mut before: Option<Trial> = None;
        for (i, &width) in WIDTHS.iter().enumerate() {
            let trial = part(width)?;
            self.even[i] &= trial.is_even();
            if let Some(before) = before {
                self.agree[i - 1] &= before.agrees(&trial);
            }
            before = Some(trial);
        }
        Ok(())
    }

    /// The longest run of widths that agree, if there are two.
    fn widths(&self) -> Option<(usize, usize)> {
        let mut longest: Option<(usize, usize)> = None;
        let mut from = 0;
        for i in 0..WIDTHS.len() {
            if !self.even[i] {
                from = i + 1;
                continue;
            }
            if i > from && longest.is_none_or(|(first, last)| i - from > last - first) {
                longest = Some((from, i));
            }
            if self.agree.get(i) == Some(&false) {
                from = i + 1;
            }
        }
        longest.map(|(first, last)| (WIDTHS[first], WIDTHS[last]))
    }
}

impl Qwen {
    /// Finds out by trying, once, in the parts that differ; the processor is known to have the same bits in all steps.
    pub fn batch_invariance(&self) -> Result<BatchInvariance> {
        if mlx::device() == DeviceKind::Cpu { Ok(BatchInvariance::complete()) } else { self.try_widths() }
    }

    fn try_widths(&self) -> Result<BatchInvariance> {
        let tokens = Tokens::new(self.norm.dim(0), self.norm.dtype())?;
        let mut found = Found::new();
        let mut seen: Vec<Vec<(Vec<i32>, Dtype)>> = Vec::new();
        let mut is_new = |arrays: Vec<&Array>| {
            let kind = arrays.iter().map(|array| (array.shape().to_vec(), array.dtype())).collect();
            let new = !seen.contains(&kind);
            if new {
                seen.push(kind);
            }
            new
        };
        let mut attentions = Vec::new();
        for layer in &self.layers {
            if is_new(layer.mlp.arrays()) {
                found.narrow(|width| tokens.by_themselves(width, |x| layer.mlp.forward(x)))?;
            }
            match &layer.mixer {
                Mixer::Delta(delta) if is_new(delta.arrays()) => {
                    found.narrow(|width| tokens.through_delta(delta, width))?;
                }
                Mixer::Attention(attention) if is_new(attention.arrays()) => attentions.push(attention),
                Mixer::Delta(_) | Mixer::Attention(_) => {}
            }
        }
        found.narrow(|width| {
            let x = tokens.equal(width)?;
            let logits = self.logits(&x)?;
            let sums = mlx::logsumexp(&logits, -1)?;
            let equal = bits(&mlx::concatenate(&[&logits.astype(Dtype::Float32)?, &sums], -1)?)?;
            Ok(Trial { equal, row: Vec::new() })
        })?;

        let mut steps = Vec::new();
        for context in CONTEXTS {
            for attention in &attentions {
                let mut cache = RowKv::new(self.kv_precision);
                let before = Packed::new(&[(0, context)])?;
                attention.append(&tokens.many(context)?, &before, std::iter::once(&mut cache))?;
                mlx::eval(cache.buffers())?;
                found.narrow(|width| tokens.through_attention(attention, width, &mut cache, self))?;
            }
            let Some((least, most)) = found.widths() else { break };
            steps.push(InvariantSteps { least, most, context });
        }
        Ok(BatchInvariance(steps))
    }
}

/// What the parts are tried with.
struct Tokens {
    /// `[the largest width, H]`
    noise: Array,
}

impl Tokens {
    fn new(hidden: i32, dtype: Dtype) -> Result<Self> {
        let most = WIDTHS[WIDTHS.len() - 1] as i32;
        Ok(Self { noise: super::kernel_choice::noise([most, hidden], dtype, 8)? })
    }

    /// `[width, H]`, all the same.
    fn equal(&self, width: usize) -> Result<Array> {
        mlx::take_rows(&self.noise, &vec![0; width])
    }

    /// `[width, H]`, all different.
    fn different(&self, width: usize) -> Result<Array> {
        self.noise.slice_axis(0, 0, width as i32)
    }

    /// `[count, H]`, over and over.
    fn many(&self, count: usize) -> Result<Array> {
        let own = self.noise.dim(0) as usize;
        mlx::take_rows(&self.noise, &(0..count).map(|i| i % own).collect::<Vec<_>>())
    }

    /// Through what looks at no rows.
    fn by_themselves(&self, width: usize, part: impl Fn(&Array) -> Result<Array>) -> Result<Trial> {
        Ok(Trial { equal: bits(&part(&self.equal(width)?)?)?, row: bits(&part(&self.different(width)?)?)? })
    }

    fn through_delta(&self, delta: &DeltaNet, width: usize) -> Result<Trial> {
        let run = |x: &Array, rows: &[(usize, usize)]| {
            let mut state = delta.empty_state(rows.len() as i32)?;
            bits(&delta.step(x, &Packed::new(rows)?, &mut state, &vec![0; rows.len()])?)
        };
        Ok(Trial {
            equal: run(&self.equal(width)?, &vec![(0, 1); width])?,
            row: run(&self.different(width)?, &[(0, width)])?,
        })
    }

    /// Behind what `cache` holds, and in short rows beside each other.
    fn through_attention(
        &self,
        attention: &Attention,
        width: usize,
        cache: &mut RowKv,
        model: &Qwen,
    ) -> Result<Trial> {
        let mut caches: Vec<RowKv> = (0..width).map(|_| RowKv::new(model.kv_precision)).collect();
        let beside = Packed::new(&vec![(0, 1); width])?;
        let equal = bits(&attention.forward(&self.equal(width)?, &beside, caches.iter_mut())?)?;
        let context = cache.len();
        let packed = Packed::new(&[(context, width)])?;
        let row = attention.forward(&self.different(width)?, &packed, std::iter::once(&mut *cache))?;
        let row = bits(&row)?;
        cache.rewind(context);
        Ok(Trial { equal, row })
    }
}

/// The bytes of each row of `[T, …]`.
fn bits(array: &Array) -> Result<Vec<Vec<u8>>> {
    let rows = array.dim(0) as usize;
    array.with_bytes(|bytes| bytes.chunks_exact(bytes.len() / rows).map(<[u8]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use super::*;
    use crate::checkpoint::{Config, Index, Layout};

    fn trial(width: usize, kernel: impl Fn(usize) -> u8) -> Trial {
        let token = vec![kernel(width)];
        Trial {
            equal: vec![token; width],
            row: (0..width as u8).map(|i| vec![i.wrapping_add(kernel(width))]).collect(),
        }
    }

    fn found(kernels: &[fn(usize) -> u8]) -> Option<(usize, usize)> {
        let mut found = Found::new();
        for kernel in kernels {
            found.narrow(|width| Ok(trial(width, kernel))).unwrap();
        }
        found.widths()
    }

    #[test]
    fn widths_with_the_same_kernels_are_found() {
        assert_eq!(found(&[|_| 0]), Some((1, 64)));
        // One for a single vector, one for few, one for many.
        assert_eq!(found(&[|width| u8::from(width > 1) + u8::from(width > 12)]), Some((2, 12)));
        assert_eq!(found(&[|width| u8::from(width > 5), |width| u8::from(width > 9)]), Some((10, 64)));
        assert_eq!(found(&[|width| width as u8]), None);
    }

    #[test]
    fn a_place_that_changes_bits_and_a_row_that_does_are_seen() {
        let uneven = |width: usize| {
            let mut trial = trial(width, |_| 0);
            if width > 8 {
                trial.equal[width - 1][0] = 1;
            }
            Ok(trial)
        };
        let mut found = Found::new();
        found.narrow(uneven).unwrap();
        assert_eq!(found.widths(), Some((1, 8)));

        let last = |width: usize| {
            let mut trial = trial(width, |_| 0);
            if width == 3 {
                trial.row[2][0] = 7;
            }
            Ok(trial)
        };
        let mut found = Found::new();
        found.narrow(last).unwrap();
        assert_eq!(found.widths(), Some((4, 64)));
    }

    #[test]
    fn on_the_processor_all_widths_are_found_to_agree() {
        let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../resources/demo-model/checkpoint"));
        let config = Config::read(dir).unwrap();
        let layout = Layout::plan(&config, &Index::read(dir, &config).unwrap()).unwrap();
        let model = Qwen::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let tried = model.try_widths().unwrap();
        assert!(tried.holds(InvariantSteps { least: 1, most: 64, context: 9000 }), "{tried:?}");
        assert!(!tried.holds(InvariantSteps { least: 1, most: 65, context: 9000 }), "{tried:?}");
    }

    #[test]
    fn only_steps_that_were_tried_are_promised() {
        let of = |least, most, context| InvariantSteps { least, most, context };
        let invariance = BatchInvariance(vec![of(1, 5, 8), of(2, 5, 9000)]);
        for (steps, holds) in [
            (of(1, 5, 8), true),
            (of(1, 5, 9), false),
            (of(2, 4, 9000), true),
            (of(2, 6, 100), false),
            (of(2, 2, 9001), false),
        ] {
            assert_eq!(invariance.holds(steps), holds, "{steps:?}");
        }
        assert_eq!(invariance.least_width(), 2);
        assert_eq!(BatchInvariance::complete().least_width(), 1);
        assert!(BatchInvariance::complete().holds(of(1, 4000, 262_144)));
        assert!(!BatchInvariance(Vec::new()).holds(of(2, 2, 1)));
    }
}
