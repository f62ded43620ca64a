//! Batch invariance: in which steps a device gives a token the same bits, whatever else is computed with it. Kernels of
//! a GPU are chosen by how many tokens a step has, and by how long a row is.

use std::ops::RangeInclusive;

use foretoken_protocol::KvPrecision;

use super::layer::Mixer;
use super::packed::{Packed, Position};
use super::qwen::Qwen;
use super::{Attention, DeltaNet};
use crate::cache::RowKv;
use crate::mlx::{self, Array, DeviceKind, Dtype, Result};

/// Tokens of a step that are tried: each that one row has, and those of several beside the places where MLX is known to
/// take other kernels.
const WIDTHS: [usize; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17, 24, 32, 33, 64];
/// Keys from which on MLX is known to divide attention otherwise, on one GPU or another. A step's last token decides
/// for all of its tokens.
const BOUNDARIES: [usize; 3] = [1024, 4096, 8192];
/// Positions of a row that are tried, and up to which that holds: one between any two boundaries.
const CONTEXTS: [(usize, usize); 4] = [(8, 1023), (1100, 4095), (4500, 8191), (9000, 9000)];
/// Drafts that widths which agree should leave room for.
const ROOM: usize = 2;
/// The most filler that is worth a text that stays the same.
const MOST_FILLER: usize = 7;

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

/// In which steps a model's tokens have the same bits on this device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchInvariance {
    /// In all.
    Complete,
    /// In those that were tried, by context; each entry holds by itself.
    Tried(Vec<InvariantSteps>),
}

impl BatchInvariance {
    /// Whether all steps between these are among them: of at least so many tokens of the row and at most so many of
    /// all, behind `from` positions up to so many.
    pub fn holds(&self, InvariantSteps { least, most, context }: InvariantSteps, from: usize) -> bool {
        let Self::Tried(tried) = self else { return true };
        let wide_enough =
            |steps: &&InvariantSteps| steps.least <= least && most <= steps.most && context <= steps.context;
        // A token beside a boundary may have been computed by a step that ends before it, or behind.
        let crosses = |most: usize| {
            BOUNDARIES.iter().any(|&boundary| from + 1 < boundary && boundary <= context + most)
        };
        tried.iter().filter(wide_enough).any(|steps| !crosses(steps.most))
    }

    /// The tokens of a step that a row is to have, and no step is to exceed, for its text to stay the same up to the
    /// longest context that can be had; any where none can.
    pub fn widths(&self) -> RangeInclusive<usize> {
        let any = 1..=usize::MAX;
        let Self::Tried(tried) = self else { return any };
        let worthwhile = |steps: &&InvariantSteps| steps.least <= 1 + MOST_FILLER;
        tried.iter().rfind(worthwhile).map_or(any, |steps| steps.least..=steps.most)
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
        self.equal.iter().all(|token| Some(token) == self.equal.first())
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

    /// The narrowest widths that agree and leave room for drafts; else the narrowest two that agree, if there are any.
    fn widths(&self) -> Option<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (i, &width) in WIDTHS.iter().enumerate().filter(|(i, _)| self.even[*i]) {
            let goes_on = i > 0 && self.even[i - 1] && self.agree[i - 1];
            match runs.last_mut() {
                Some((_, most)) if goes_on => *most = width,
                _ => runs.push((width, width)),
            }
        }
        let with = |room: usize| runs.iter().find(|(least, most)| *most >= least + room);
        with(ROOM).or_else(|| with(1)).copied()
    }
}

impl Qwen {
    /// Finds out by trying, once, in the parts that differ; the processor is known to have the same bits in all steps.
    pub fn batch_invariance(&self) -> Result<BatchInvariance> {
        if mlx::device() == DeviceKind::Cpu { Ok(BatchInvariance::Complete) } else { self.try_widths() }
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
        for layer in &self.stack.layers {
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

        for attention in &attentions {
            found.narrow(|width| tokens.beside_each_other(attention, width, self.kv_precision))?;
        }
        let mut steps = Vec::new();
        for (tried, context) in CONTEXTS {
            for attention in &attentions {
                let mut cache = RowKv::new(self.kv_precision);
                let before = Packed::new(&[(Position(0), tried)])?;
                attention.append(&tokens.many(tried)?, &before, std::iter::once(&mut cache))?;
                mlx::eval(cache.buffers())?;
                found.narrow(|width| tokens.behind(attention, width, &mut cache))?;
            }
            let Some((least, most)) = found.widths() else { break };
            steps.push(InvariantSteps { least, most, context });
        }
        Ok(BatchInvariance::Tried(steps))
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
        let run = |x: &Array, rows: &[(Position, usize)]| {
            let mut state = delta.empty_state(rows.len() as i32)?;
            bits(&delta.step(x, &Packed::new(rows)?, &mut state, &vec![0; rows.len()])?)
        };
        Ok(Trial {
            equal: run(&self.equal(width)?, &vec![(Position(0), 1); width])?,
            row: run(&self.different(width)?, &[(Position(0), width)])?,
        })
    }

    /// In rows of their own, which have nothing yet.
    fn beside_each_other(&self, attention: &Attention, width: usize, kv: KvPrecision) -> Result<Trial> {
        let mut caches: Vec<RowKv> = (0..width).map(|_| RowKv::new(kv)).collect();
        let packed = Packed::new(&vec![(Position(0), 1); width])?;
        let equal = bits(&attention.forward(&self.equal(width)?, &packed, caches.iter_mut())?)?;
        Ok(Trial { equal, row: Vec::new() })
    }

    /// Behind what `cache` holds.
    fn behind(&self, attention: &Attention, width: usize, cache: &mut RowKv) -> Result<Trial> {
        let context = cache.len();
        let packed = Packed::new(&[(Position(context), width)])?;
        let row = attention.forward(&self.different(width)?, &packed, std::iter::once(&mut *cache))?;
        let row = bits(&row)?;
        cache.rewind(context);
        Ok(Trial { equal: Vec::new(), row })
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
        assert_eq!(found(&[|width| u8::from(width > 5), |width| u8::from(width > 9)]), Some((1, 5)));
        // The narrowest leave no room for drafts.
        assert_eq!(found(&[|width| u8::from(width > 2), |width| u8::from(width > 9)]), Some((3, 9)));
        assert_eq!(found(&[|width| width as u8 / 2]), Some((2, 3)));
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
        assert_eq!(found.widths(), Some((1, 3)));
    }

    #[test]
    fn on_the_processor_all_widths_are_found_to_agree() {
        let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../resources/demo-model/checkpoint"));
        let config = Config::read(dir).unwrap();
        let layout = Layout::plan(&config, &Index::read(dir, &config).unwrap()).unwrap();
        let model = Qwen::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let tried = model.try_widths().unwrap();
        let all = CONTEXTS.map(|(_, context)| InvariantSteps { least: 1, most: 64, context });
        assert_eq!(tried, BatchInvariance::Tried(all.to_vec()));
    }

    #[test]
    fn only_steps_that_were_tried_are_promised() {
        let of = |least, most, context| InvariantSteps { least, most, context };
        let tried = BatchInvariance::Tried(vec![of(1, 5, 1023), of(2, 5, 9000)]);
        for (steps, from, holds) in [
            (of(1, 5, 800), 700, true),
            (of(1, 5, 1024), 700, false),
            (of(2, 4, 9000), 8300, true),
            (of(2, 6, 100), 50, false),
            (of(2, 2, 9001), 8300, false),
            // Beside a boundary, or across it.
            (of(2, 2, 1018), 900, true),
            (of(2, 2, 1019), 900, false),
            (of(2, 2, 1100), 900, false),
            (of(2, 2, 1100), 1023, true),
        ] {
            assert_eq!(tried.holds(steps, from), holds, "{steps:?} behind {from}");
        }
        assert!(BatchInvariance::Complete.holds(of(1, 4000, 262_144), 0));
        assert!(!BatchInvariance::Tried(Vec::new()).holds(of(2, 2, 1), 0));

        assert_eq!(tried.widths(), 2..=5);
        let dear = BatchInvariance::Tried(vec![of(2, 5, 1023), of(12, 64, 4095)]);
        assert_eq!(dear.widths(), 2..=5);
        for any in [BatchInvariance::Complete, BatchInvariance::Tried(Vec::new())] {
            assert_eq!(any.widths(), 1..=usize::MAX);
        }
    }
}
