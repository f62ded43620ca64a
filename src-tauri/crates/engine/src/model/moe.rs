//! The sparse mixture of experts of a decoder layer: a softmax router chooses the experts of each token, and a gated
//! shared expert is added. The reference is `Qwen3NextSparseMoeBlock` of Hugging Face transformers.

use std::rc::Rc;

use super::Mlp;
use super::linear::Linear;
use super::matrix::Matrix;
use crate::mlx::kernels::{Launch, Mixture};
use crate::mlx::{self, Array, Gather, Result};

/// From this many pairs of token and expert on, pairs are sorted by expert: those of one expert then share one read of
/// its weights.
const GROUPED_FROM: i32 = 64;

/// How a layer chooses its experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoeDims {
    /// Experts that each token goes through; at most the rows of the router.
    pub experts_per_token: i32,
    /// Whether the weights of the chosen experts are scaled to sum to 1.
    pub norm_topk_prob: bool,
}

/// Sparse mixture of experts: y = Σ p_e · expert_e(x) over the experts e with the largest p = softmax(router(x)), plus
/// sigmoid(shared_expert_gate(x)) · shared_expert(x).
///
/// Which experts a token gets and the order in which they are summed follow from that token alone.
#[derive(Debug, Clone)]
pub struct Moe {
    dims: MoeDims,
    gate: Linear,
    switch_mlp: Mlp,
    shared: Option<(Mlp, Linear)>,
    /// What routes and adds up; operations where there is none.
    mixture: Option<Mixture>,
}

impl Moe {
    /// From its weights: the router `gate` `[E, H]`; `switch_mlp`, the stacks gate_proj, up_proj `[E, I, H]` and
    /// down_proj `[E, H, I]`; `shared`, shared_expert and shared_expert_gate `[1, H]`.
    pub fn new(
        dims: MoeDims,
        gate: Matrix,
        [gate_proj, up_proj, down_proj]: [Matrix; 3],
        shared: Option<(Mlp, Matrix)>,
    ) -> Result<Self> {
        let switch_mlp = Mlp::new(gate_proj, up_proj, down_proj)?;
        let shared = match shared {
            Some((mlp, gate)) => Some((mlp, Linear::new(gate)?)),
            None => None,
        };
        Ok(Self { dims, gate: Linear::new(gate)?, switch_mlp, shared, mixture: None })
    }

    /// The same layer, by kernels where they fit.
    pub fn with_kernels(&self, launch: &Rc<dyn Launch>) -> Self {
        let MoeDims { experts_per_token, norm_topk_prob } = self.dims;
        let shared = self.shared.as_ref().map(|(mlp, gate)| (mlp.with_kernels(launch), gate.clone()));
        Self {
            switch_mlp: self.switch_mlp.with_kernels(launch),
            shared,
            mixture: Mixture::new(launch.clone(), experts_per_token, norm_topk_prob),
            ..self.clone()
        }
    }

    /// x `[T, H]` → `[T, H]`.
    pub fn forward(&self, x: &Array) -> Result<Array> {
        let (experts, scores) = self.route(x)?;
        let pairs = x.dim(0) * self.dims.experts_per_token;
        let outputs = if pairs < GROUPED_FROM {
            self.run_as_given(x, &experts)?
        } else {
            self.run_grouped(x, &experts)?
        };
        if let (Some(mixture), Some((mlp, gate))) = (&self.mixture, &self.shared)
            && Mixture::combines(x.dim(-1))
        {
            return mixture.combine(&outputs, &scores, &mlp.forward(x)?, &gate.forward(x)?);
        }
        let y =
            outputs.multiply(&scores.reshape(&[x.dim(0), -1, 1, 1])?)?.sum(1, true)?.reshape(x.shape())?;
        match &self.shared {
            None => Ok(y),
            Some((mlp, gate)) => y.add(&gate.forward(x)?.sigmoid()?.multiply(&mlp.forward(x)?)?),
        }
    }

    /// The experts of each token, u32 `[T, K]`, and their weights `[T, K]`.
    fn route(&self, x: &Array) -> Result<(Array, Array)> {
        let logits = self.gate.forward(x)?;
        if let Some(mixture) = &self.mixture {
            return mixture.route(&logits).map(|[experts, scores]| (experts, scores));
        }
        let p = mlx::softmax(&logits, -1)?;
        let first = p.dim(-1) - self.dims.experts_per_token;
        let experts = mlx::argpartition(&p, first, -1)?.slice_axis(-1, first, p.dim(-1))?;
        let scores = mlx::take_along_axis(&p, &experts, -1)?;
        let scores = match self.dims.norm_topk_prob {
            true => scores.divide(&scores.sum(-1, true)?)?,
            false => scores,
        };
        Ok((experts, scores))
    }

    /// x `[T, H]` through its experts `[T, K]` → `[T, K, 1, H]`, pairs in the order of the tokens.
    fn run_as_given(&self, x: &Array, experts: &Array) -> Result<Array> {
        let (tokens, chosen) = (x.dim(0), self.dims.experts_per_token);
        // MLX would count these up on the device, with a kernel each.
        let pairs: Vec<u32> = (0..(tokens * chosen) as u32).collect();
        let rows: Vec<u32> = pairs.iter().map(|pair| pair / chosen as u32).collect();
        let rows = Array::from_slice(&rows, experts.shape())?;
        let pairs = Array::from_slice(&pairs, experts.shape())?;
        let gather = |rows| Gather { rows: Some(rows), matrices: experts, sorted: false };
        self.switch_mlp.forward_experts(&x.expand_dims(1)?, gather(&rows), gather(&pairs))
    }

    /// Like `run_as_given`, with the pairs sorted by expert for the products.
    fn run_grouped(&self, x: &Array, experts: &Array) -> Result<Array> {
        let (tokens, chosen) = (x.dim(0), self.dims.experts_per_token);
        let experts = experts.reshape(&[-1])?;
        let order = mlx::argsort(&experts, 0)?;
        let rows = order.floor_divide(&Array::from_slice(&[chosen as u32], &[])?)?;
        let (x, experts) = (mlx::take(x, &rows, 0)?, mlx::take(&experts, &order, 0)?);
        let gather = Gather { rows: None, matrices: &experts, sorted: true };
        let y = self.switch_mlp.forward_experts(&x.expand_dims(1)?, gather, gather)?;
        mlx::take(&y, &mlx::argsort(&order, 0)?, 0)?.reshape(&[tokens, chosen, 1, -1])
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let shared = self.shared.iter().flat_map(|(mlp, gate)| [mlp.arrays(), gate.arrays()].concat());
        [self.gate.arrays(), self.switch_mlp.arrays()].concat().into_iter().chain(shared).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx::{DeviceKind, Dtype, QuantMode, Span};

    const EXPERTS: usize = 8;
    const CHOSEN: usize = 3;
    const HIDDEN: usize = 64;
    const INNER: usize = 128;

    /// How a matrix is stored.
    #[derive(Debug, Clone, Copy)]
    enum Storage {
        Dense(Dtype),
        Quantized(i32, i32, QuantMode),
    }

    const STORAGES: [[Storage; 3]; 8] = [
        [Storage::Dense(Dtype::Float32); 3],
        [Storage::Dense(Dtype::Bfloat16); 3],
        [Storage::Quantized(32, 4, QuantMode::Affine); 3],
        [Storage::Quantized(64, 8, QuantMode::Affine); 3],
        [Storage::Quantized(32, 4, QuantMode::Mxfp4); 3],
        [Storage::Quantized(32, 8, QuantMode::Mxfp8); 3],
        [Storage::Quantized(16, 4, QuantMode::Nvfp4); 3],
        // Gate and up cannot be run as one.
        [
            Storage::Quantized(32, 4, QuantMode::Affine),
            Storage::Quantized(64, 8, QuantMode::Affine),
            Storage::Dense(Dtype::Float32),
        ],
    ];

    /// A matrix or a stack of matrices, as the layer holds it and as plain numbers.
    struct Weight {
        linear: Matrix,
        values: Vec<f64>,
        columns: usize,
    }

    impl Weight {
        fn new(shape: &[usize], seed: u32, storage: Storage) -> Self {
            let columns = shape[shape.len() - 1];
            let shape: Vec<i32> = shape.iter().map(|&size| size as i32).collect();
            let weight = noise(&shape, seed, (columns as f32).powf(-0.5));
            let (linear, used) = match storage {
                Storage::Dense(dtype) => {
                    let weight = weight.astype(dtype).unwrap();
                    (Matrix::dense(weight.clone()).unwrap(), weight)
                }
                Storage::Quantized(group_size, bits, mode) => {
                    let mut parts = mlx::quantize(&weight, group_size, bits, mode).unwrap().into_iter();
                    let (weight, scales, biases) =
                        (parts.next().unwrap(), parts.next().unwrap(), parts.next());
                    let used = mlx::dequantize(
                        &weight,
                        &scales,
                        biases.as_ref(),
                        group_size,
                        bits,
                        mode,
                        Dtype::Float32,
                    );
                    (Matrix::Quantized { weight, scales, biases, group_size, bits, mode }, used.unwrap())
                }
            };
            Self { linear, values: host(&used), columns }
        }

        /// Matrix `index` of a stack times x.
        fn apply(&self, index: usize, rows: usize, x: &[f64]) -> Vec<f64> {
            let matrix = &self.values[index * rows * self.columns..][..rows * self.columns];
            matrix.chunks(self.columns).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
        }
    }

    /// The weights of a layer.
    struct Weights {
        gate: Weight,
        switch_mlp: [Weight; 3],
        shared_expert: [Weight; 3],
        shared_expert_gate: Weight,
    }

    impl Weights {
        fn new(storages: [Storage; 3]) -> Self {
            let [gate, up, down] = storages;
            Self {
                gate: Weight::new(&[EXPERTS, HIDDEN], 1, gate),
                switch_mlp: [
                    Weight::new(&[EXPERTS, INNER, HIDDEN], 2, gate),
                    Weight::new(&[EXPERTS, INNER, HIDDEN], 3, up),
                    Weight::new(&[EXPERTS, HIDDEN, INNER], 4, down),
                ],
                shared_expert: [
                    Weight::new(&[INNER, HIDDEN], 5, gate),
                    Weight::new(&[INNER, HIDDEN], 6, up),
                    Weight::new(&[HIDDEN, INNER], 7, down),
                ],
                shared_expert_gate: Weight::new(&[1, HIDDEN], 8, gate),
            }
        }

        fn moe(&self, norm_topk_prob: bool, shared: bool) -> Moe {
            let linears = |weights: &[Weight; 3]| weights.each_ref().map(|weight| weight.linear.clone());
            let [gate, up, down] = linears(&self.shared_expert);
            let shared =
                shared.then(|| (Mlp::new(gate, up, down).unwrap(), self.shared_expert_gate.linear.clone()));
            let dims = MoeDims { experts_per_token: CHOSEN as i32, norm_topk_prob };
            Moe::new(dims, self.gate.linear.clone(), linears(&self.switch_mlp), shared).unwrap()
        }

        /// What the layer is to give for one token: every expert in f64, those not chosen with weight 0.
        fn expected(&self, x: &[f64], norm_topk_prob: bool, shared: bool) -> Vec<f64> {
            let exp: Vec<f64> = self.gate.apply(0, EXPERTS, x).into_iter().map(f64::exp).collect();
            let total: f64 = exp.iter().sum();
            let mut p: Vec<f64> = exp.iter().map(|e| e / total).collect();
            let mut sorted = p.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let kept: f64 = sorted[..CHOSEN].iter().sum();
            for p in &mut p {
                *p = if *p < sorted[CHOSEN - 1] { 0.0 } else { *p / if norm_topk_prob { kept } else { 1.0 } };
            }
            let mut y = vec![0.0; HIDDEN];
            let mut add = |weight: f64, output: Vec<f64>| {
                y.iter_mut().zip(output).for_each(|(y, output)| *y += weight * output);
            };
            (0..EXPERTS).for_each(|expert| add(p[expert], mlp(&self.switch_mlp, expert, x)));
            if shared {
                let gate = self.shared_expert_gate.apply(0, 1, x)[0];
                add(1.0 / (1.0 + (-gate).exp()), mlp(&self.shared_expert, 0, x));
            }
            y
        }
    }

    fn mlp([gate, up, down]: &[Weight; 3], index: usize, x: &[f64]) -> Vec<f64> {
        let (gate, up) = (gate.apply(index, INNER, x), up.apply(index, INNER, x));
        let inner: Vec<f64> = gate.iter().zip(up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
        down.apply(index, HIDDEN, &inner)
    }

    /// Numbers between −3 and 3 times `scale` that look random.
    fn noise(shape: &[i32], seed: u32, scale: f32) -> Array {
        let mut state = seed.wrapping_mul(0x9e37_79b9);
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / (1 << 23) as f32 - 1.0) * 3.0 * scale
        };
        let values: Vec<f32> = (0..shape.iter().product::<i32>()).map(|_| next()).collect();
        Array::from_slice(&values, shape).unwrap()
    }

    fn host(a: &Array) -> Vec<f64> {
        let values = a.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
        values.into_iter().map(f64::from).collect()
    }

    #[test]
    fn it_gives_what_the_formula_says_for_every_storage() {
        for storages in STORAGES {
            let weights = Weights::new(storages);
            for (norm_topk_prob, shared) in [(true, true), (true, false), (false, true), (false, false)] {
                let moe = weights.moe(norm_topk_prob, shared);
                // Few pairs, and enough to group them.
                for tokens in [1, 5, 40] {
                    let x = noise(&[tokens, HIDDEN as i32], 9 + tokens as u32, 0.5);
                    let y = moe.forward(&x).unwrap();
                    assert_eq!(y.shape(), x.shape());
                    for (token, (x, y)) in host(&x).chunks(HIDDEN).zip(host(&y).chunks(HIDDEN)).enumerate() {
                        let expected = weights.expected(x, norm_topk_prob, shared);
                        for (y, expected) in y.iter().zip(&expected) {
                            assert!(
                                (y - expected).abs() < 1e-4,
                                "{storages:?} norm {norm_topk_prob} shared {shared} token {token} of {tokens}: \
                                 {y} for {expected}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn it_gives_the_same_whole_and_in_parts() {
        // A router as large as those of published models is cut by its outputs; the stacks of experts never are.
        let (experts, hidden, inner) = (256, 2048, 16);
        for storage in [Storage::Dense(Dtype::Bfloat16), Storage::Quantized(64, 8, QuantMode::Affine)] {
            let matrix = |shape: &[usize], seed| Weight::new(shape, seed, storage).linear;
            let stacks = [[experts, inner, hidden], [experts, inner, hidden], [experts, hidden, inner]];
            let [gate_proj, up_proj, down_proj] =
                stacks.map(|shape| Weight::new(&shape, 2, Storage::Dense(Dtype::Bfloat16)).linear);
            let [gate, up, down] =
                [[512, hidden], [512, hidden], [hidden, 512]].map(|shape| matrix(&shape, 3));
            let shared = (Mlp::new(gate, up, down).unwrap(), matrix(&[1, hidden], 4));
            let dims = MoeDims { experts_per_token: 8, norm_topk_prob: true };
            let router = matrix(&[experts, hidden], 1);
            let moe = Moe::new(dims, router, [gate_proj, up_proj, down_proj], Some(shared)).unwrap();
            for tokens in [1, 3, 40] {
                let x = noise(&[tokens, hidden as i32], 9, 0.5).astype(Dtype::Bfloat16).unwrap();
                let cut = moe.forward(&x).unwrap();
                let whole = mlx::undivided(|| moe.forward(&x)).unwrap();
                let joins =
                    |y: &Array| mlx::primitives([y]).unwrap().get("Concatenate").copied().unwrap_or(0);
                if Span::Outputs(experts as i32).parts(tokens as usize * experts * hidden) > 1 {
                    assert!(joins(&cut) > joins(&whole), "{storage:?}, {tokens} tokens: nothing was cut");
                }
                assert_eq!(host(&cut), host(&whole), "{storage:?}, {tokens} tokens");
            }
        }
    }

    #[test]
    fn a_token_gets_the_same_result_in_any_company() {
        // Kernels of a GPU for one vector and for several sum in different orders.
        let limit = if mlx::device() == DeviceKind::Cpu { 0.0 } else { 0.02 };
        for storages in STORAGES {
            let moe = Weights::new(storages).moe(true, true);
            for dtype in [Dtype::Float32, Dtype::Bfloat16] {
                // The last two are grouped by expert; alone none is.
                for tokens in [2, 5, 21, 22, 40] {
                    let x = noise(&[tokens, HIDDEN as i32], 9, 0.5).astype(dtype).unwrap();
                    let together = host(&moe.forward(&x).unwrap());
                    for (t, together) in (0..).zip(together.chunks(HIDDEN)) {
                        let alone = host(&moe.forward(&x.slice_axis(0, t, t + 1).unwrap()).unwrap());
                        let difference = alone.iter().zip(together).map(|(a, b)| (a - b).abs());
                        let worst = difference.fold(0.0, f64::max);
                        assert!(worst <= limit, "{storages:?} {dtype:?} token {t} of {tokens}: {worst}");
                    }
                }
            }
        }
    }
}
