//! Which parts of a model are run by kernels: those that give on this device what the operations give. Trying them also
//! compiles them, so that no reply waits for that.

use std::rc::Rc;

use thiserror::Error;

use super::kernel_part::KernelPart;
use super::layer::Mixer;
use super::packed::{Packed, Position};
use super::qwen::Qwen;
use super::stack::Stack;
use super::{Attention, DeltaNet, FeedForward};
use crate::cache::RowKv;
use crate::mlx::kernels::{AddNorm, Largest, Launch, for_metal};
use crate::mlx::{self, Array, Dtype, MlxError, TopK};

/// Why operations run a part of a model.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum KernelProblem {
    /// Its sizes are not those that the kernels are written for.
    #[error("they do not fit this model's sizes")]
    Sizes,
    /// They gave something else.
    #[error("{what} differ from those of the operations by {apart:e} of the largest, more than {limit:e}")]
    Differs {
        /// What.
        what: &'static str,
        /// The largest difference over the largest value.
        apart: f32,
        /// What rounding explains.
        limit: f32,
    },
    /// The device refused them.
    #[error(transparent)]
    Mlx(#[from] MlxError),
}

type Outcome = Result<(), KernelProblem>;

impl Qwen {
    /// Lets kernels run what they run as the operations do. Returns what they do not, and why.
    pub fn choose_kernels(&mut self, launch: &Rc<dyn Launch>) -> Vec<(KernelPart, KernelProblem)> {
        choose(|part| self.check(part, launch).and_then(|()| Ok(self.use_kernels(part, launch)?)))
    }

    /// Lets kernels run a part, whatever they give.
    pub fn use_kernels(&mut self, part: KernelPart, launch: &Rc<dyn Launch>) -> Result<(), MlxError> {
        self.stack.use_kernels(part, launch)?;
        if let Some(head) = &mut self.mtp {
            match part {
                KernelPart::Recurrence | KernelPart::TopK => {}
                KernelPart::Attention => head.self_attn = head.self_attn.with_kernels(launch)?,
                KernelPart::FeedForward => head.mlp = head.mlp.with_kernels(launch),
                KernelPart::Residual => head.add_norm = Some(AddNorm::new(launch.clone(), head.eps)?),
            }
        }
        if part == KernelPart::TopK {
            self.top_k = TopK::by_kernel(launch.clone());
        }
        self.kernels.push(part);
        Ok(())
    }

    /// The same network by Metal's kernels, of which a graph can be built and looked at anywhere.
    pub fn for_metal(&self) -> Result<Self, MlxError> {
        let (mut model, launch) = (self.clone(), for_metal());
        model.kernels.clear();
        KernelPart::ALL.into_iter().try_for_each(|part| model.use_kernels(part, &launch))?;
        Ok(model)
    }

    /// Runs both ways what has the part.
    fn check(&self, part: KernelPart, launch: &Rc<dyn Launch>) -> Outcome {
        self.stack.check(part, launch)?;
        let check = Check { hidden: self.norm.dim(0), dtype: self.norm.dtype() };
        match (part, &self.mtp) {
            (KernelPart::FeedForward, Some(head)) => {
                check.feed_forward(&head.mlp, &head.mlp.with_kernels(launch))
            }
            (KernelPart::TopK, _) => {
                check.top_k(&TopK::by_kernel(launch.clone()), self.lm_head.matrix().out_features())
            }
            _ => Ok(()),
        }
    }
}

impl Stack {
    /// Lets kernels run what they run of these layers as the operations do. Returns what they do not, and why.
    pub fn choose_kernels(&mut self, launch: &Rc<dyn Launch>) -> Vec<(KernelPart, KernelProblem)> {
        choose(|part| self.check(part, launch).and_then(|()| Ok(self.use_kernels(part, launch)?)))
    }

    fn use_kernels(&mut self, part: KernelPart, launch: &Rc<dyn Launch>) -> Result<(), MlxError> {
        for layer in &mut self.layers {
            match (&mut layer.mixer, part) {
                (Mixer::Delta(delta), KernelPart::Recurrence) => *delta = delta.with_kernels(launch)?,
                (Mixer::Attention(attention), KernelPart::Attention) => {
                    *attention = attention.with_kernels(launch)?;
                }
                _ => {}
            }
            if part == KernelPart::FeedForward {
                layer.mlp = layer.mlp.with_kernels(launch);
            }
        }
        if part == KernelPart::Residual {
            self.add_norm = Some(AddNorm::new(launch.clone(), self.eps)?);
        }
        Ok(())
    }

    /// Runs the first layer that has the part both ways; the other layers have the same sizes.
    fn check(&self, part: KernelPart, launch: &Rc<dyn Launch>) -> Outcome {
        let Some(first) = self.layers.first() else { return Ok(()) };
        let norm = &first.input_layernorm;
        let check = Check { hidden: norm.dim(0), dtype: norm.dtype() };
        match part {
            KernelPart::Recurrence => {
                let layer = self.layers.iter().find_map(|layer| match &layer.mixer {
                    Mixer::Delta(delta) => Some(delta),
                    Mixer::Attention(_) => None,
                });
                layer.map_or(Ok(()), |layer| check.recurrence(layer, &layer.with_kernels(launch)?))
            }
            KernelPart::Attention => {
                let layer = self.layers.iter().find_map(|layer| match &layer.mixer {
                    Mixer::Attention(attention) => Some(attention),
                    Mixer::Delta(_) => None,
                });
                layer.map_or(Ok(()), |layer| check.attention(layer, &layer.with_kernels(launch)?))
            }
            KernelPart::FeedForward => check.feed_forward(&first.mlp, &first.mlp.with_kernels(launch)),
            KernelPart::Residual => {
                let kernel = AddNorm::new(launch.clone(), self.eps)?;
                check.residual(&kernel, norm, self.eps)
            }
            KernelPart::TopK => Ok(()),
        }
    }
}

/// Has each part chosen; those that are not, and why.
fn choose(
    mut choice: impl FnMut(KernelPart) -> Result<(), KernelProblem>,
) -> Vec<(KernelPart, KernelProblem)> {
    KernelPart::ALL.into_iter().filter_map(|part| Some((part, choice(part).err()?))).collect()
}

/// How a part is tried.
struct Check {
    /// Width of the activations.
    hidden: i32,
    /// Their type.
    dtype: Dtype,
}

impl Check {
    /// Two rows through drafted steps of which some tokens are rejected, and one through a prompt.
    fn recurrence(&self, operations: &DeltaNet, kernels: &DeltaNet) -> Outcome {
        if !kernels.has_kernels() {
            return Err(KernelProblem::Sizes);
        }
        let run = |layer: &DeltaNet| -> Result<[Vec<Array>; 2], MlxError> {
            let mut state = layer.empty_state(2)?;
            let mut outputs = Vec::new();
            for (step, (lens, committed)) in [([3, 1], [0, 0]), ([1, 4], [2, 1])].into_iter().enumerate() {
                let packed = Packed::new(&lens.map(|len| (Position(0), len)))?;
                let x = self.noise(packed.lens().iter().sum(), step as u32)?;
                outputs.push(layer.step(&x, &packed, &mut state, &committed)?);
            }
            let (ragged, ragged_tail) = state.resolve(&[1, 3])?;
            let mut state = layer.empty_state(1)?;
            let packed = Packed::new(&[(Position(0), 5)])?;
            outputs.push(layer.prefill(&self.noise(5, 7)?, &packed, &mut state)?);
            let (end, end_tail) = state.resolve(&[0])?;
            Ok([outputs, vec![ragged, ragged_tail, end, end_tail]])
        };
        let ([outputs, states], [own_outputs, own_states]) = (run(operations)?, run(kernels)?);
        self.compare("outputs", &own_outputs, &outputs)?;
        self.compare("states", &own_states, &states)
    }

    /// Two rows, of which one has read before.
    fn attention(&self, operations: &Attention, kernels: &Attention) -> Outcome {
        if !kernels.has_kernels() {
            return Err(KernelProblem::Sizes);
        }
        let run = |layer: &Attention| -> Result<Vec<Array>, MlxError> {
            let mut caches = [RowKv::default(), RowKv::default()];
            let first = Packed::new(&[(Position(0), 3)])?;
            let before = layer.forward(&self.noise(3, 1)?, &first, caches.iter_mut().take(1))?;
            let packed = Packed::new(&[(Position(3), 1), (Position(0), 2)])?;
            Ok(vec![before, layer.forward(&self.noise(3, 2)?, &packed, caches.iter_mut())?])
        };
        self.compare("outputs", &run(kernels)?, &run(operations)?)
    }

    /// Few tokens and many, by which MLX makes two texts of a kernel that reads a number a token.
    fn feed_forward(&self, operations: &FeedForward, kernels: &FeedForward) -> Outcome {
        for tokens in [4, 9] {
            let x = self.noise(tokens, 3)?;
            let (expected, got) = (operations.forward(&x)?, kernels.forward(&x)?);
            let mut apart = (0..tokens)
                .map(|token| {
                    let of = |y: &Array| y.slice_axis(0, token, token + 1);
                    apart(&of(&got)?, &of(&expected)?)
                })
                .collect::<Result<Vec<f32>, MlxError>>()?;
            // Where experts are equally probable, operations may choose another one.
            apart.sort_by(f32::total_cmp);
            self.judge("outputs", apart[apart.len() * 3 / 4])?;
        }
        Ok(())
    }

    fn residual(&self, kernel: &AddNorm, weight: &Array, eps: f32) -> Outcome {
        let (x, y) = (self.noise(5, 4)?, self.noise(5, 5)?);
        let h = x.add(&y)?;
        let expected = [mlx::rms_norm(&h, Some(weight), eps)?, mlx::rms_norm(&x, Some(weight), eps)?];
        let [sum, normed] = kernel.run(&x, &y, weight)?;
        self.compare("sums", &[sum], &[h])?;
        self.compare("norms", &[normed, kernel.norm(&x, weight)?], &expected)
    }

    /// As many as the kernels can find.
    fn top_k(&self, kernel: &TopK, vocab: i32) -> Outcome {
        let logits = Self { hidden: vocab, dtype: Dtype::Float32 }.noise(2, 6)?;
        let log_p = logits.subtract(&mlx::logsumexp(&logits, -1)?)?;
        for k in Largest::SIZES.map(|size| size.min(vocab - 1)) {
            let (expected, _) = TopK::default().most_likely(&logits, k)?;
            let (values, ids) = kernel.most_likely(&logits, k)?;
            self.compare("values", std::slice::from_ref(&values), &[expected])?;
            // Which of equals comes first is nobody's business; what is at the ids is.
            self.compare("ids", &[mlx::take_along_axis(&log_p, &ids, -1)?], &[values])?;
        }
        Ok(())
    }

    fn compare(&self, what: &'static str, got: &[Array], expected: &[Array]) -> Outcome {
        for (got, expected) in got.iter().zip(expected) {
            self.judge(what, apart(got, expected)?)?;
        }
        Ok(())
    }

    fn judge(&self, what: &'static str, apart: f32) -> Outcome {
        let limit = match self.dtype {
            Dtype::Float32 => 1e-4,
            Dtype::Float16 => 1e-2,
            _ => 6e-2,
        };
        if apart <= limit { Ok(()) } else { Err(KernelProblem::Differs { what, apart, limit }) }
    }

    fn noise(&self, tokens: i32, seed: u32) -> Result<Array, MlxError> {
        noise([tokens, self.hidden], self.dtype, seed)
    }
}

/// Numbers around 0 that look random and are the same each time.
pub(super) fn noise(shape: [i32; 2], dtype: Dtype, seed: u32) -> Result<Array, MlxError> {
    let value = |i: u32| {
        let mixed = i.wrapping_add(seed << 20).wrapping_mul(0x9e37_79b9);
        let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
        (mixed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let values: Vec<f32> = (0..(shape[0] * shape[1]) as u32).map(value).collect();
    Array::from_slice(&values, &shape)?.astype(dtype)
}

/// The largest difference over the largest value; infinite where a number is none.
fn apart(got: &Array, expected: &Array) -> Result<f32, MlxError> {
    let host = |array: &Array| array.astype(Dtype::Float32)?.to_vec::<f32>();
    let (got, expected) = (host(got)?, host(expected)?);
    if got.len() != expected.len() {
        return Ok(f32::INFINITY);
    }
    let largest = expected.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let off = got.iter().zip(&expected).map(|(a, b)| (a - b).abs() / largest);
    Ok(off.fold(0.0, |most, off| if off.is_nan() { f32::INFINITY } else { most.max(off) }))
}
