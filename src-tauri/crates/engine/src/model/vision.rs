//! The vision tower of Qwen3.5: a pre-norm vision transformer over the patches of one picture, with learned and rotary
//! positions, and a merger that makes one token of 2 × 2 patches. The reference is `Qwen3_5VisionModel` of Hugging Face
//! transformers.

use std::ops::ControlFlow;

use foretoken_pictures::Pixels;

use super::linear::Linear;
use super::matrix::{Embedding, Matrix};
use super::rope::{Rope, Rotation};
use super::weights::{Weights, compute_dtype};
use super::{LoadError, heads};
use crate::checkpoint::{Config, FloatType, MERGE, PATCH, TowerPlan, VisionDims};
use crate::memory::{TOWER_ROWS, TowerScores, padded_head};
use crate::mlx::{self, Array, Dtype, Mask, Result};

/// Added to the variance in every layer norm of the tower.
const EPS: f32 = 1e-6;

/// What a model needs to read pictures among text.
#[derive(Debug, Clone)]
pub struct Vision {
    /// What makes vectors of pictures.
    pub tower: Tower,
    /// The rotation of the text model, some of whose pairs turn by the rows and columns of pictures.
    rope: Rope,
}

impl Vision {
    /// Reads the tower of a model.
    pub fn load(
        config: &Config,
        plan: &TowerPlan,
        compute: FloatType,
    ) -> std::result::Result<Self, LoadError> {
        let weights = Weights::read(&plan.tensors, &plan.weights, &mut |_, _| ControlFlow::Continue(()))?;
        let tower = Tower::of(plan.dims.clone(), weights, compute_dtype(compute))?;
        mlx::eval(tower.arrays())?;
        Ok(Self { tower, rope: Rope::of(&config.attention)? })
    }

    /// How tokens turn whose positions are these, in time, by row and by column.
    pub(super) fn rotation(&self, streams: &[Vec<i32>; 3]) -> Result<Rotation> {
        self.rope.rotation(streams, self.tower.dims.mrope_section)
    }
}

/// A linear layer with a bias.
#[derive(Debug, Clone)]
struct Biased {
    linear: Linear,
    bias: Array,
}

impl Biased {
    fn forward(&self, x: &Array) -> Result<Array> {
        self.linear.forward(x)?.add(&self.bias)
    }

    fn arrays(&self) -> Vec<&Array> {
        [self.linear.arrays(), vec![&self.bias]].concat()
    }
}

/// Weight and bias of a layer norm, `[D]` each.
#[derive(Debug, Clone)]
struct LayerNorm {
    weight: Array,
    bias: Array,
}

impl LayerNorm {
    fn forward(&self, x: &Array) -> Result<Array> {
        mlx::layer_norm(x, &self.weight, &self.bias, EPS)
    }
}

/// x += proj(attention(norm1(x))); x += fc2(gelu(fc1(norm2(x)))).
#[derive(Debug, Clone)]
struct Block {
    norms: [LayerNorm; 2],
    qkv: Biased,
    proj: Biased,
    mlp: [Biased; 2],
}

impl Block {
    fn arrays(&self) -> Vec<&Array> {
        let norms = self.norms.iter().flat_map(|norm| [&norm.weight, &norm.bias]);
        let linears = [&self.qkv, &self.proj].into_iter().chain(&self.mlp);
        norms.chain(linears.flat_map(Biased::arrays)).collect()
    }
}

/// The tower with its merger: pictures to vectors that stand in the place of token embeddings.
#[derive(Debug, Clone)]
pub struct Tower {
    dims: VisionDims,
    dtype: Dtype,
    /// Over channel, frame, row and column of a patch.
    patch_embed: Biased,
    /// The table of learned positions, `[side², D]`.
    pos_embed: Embedding,
    blocks: Vec<Block>,
    merger_norm: LayerNorm,
    merger: [Biased; 2],
}

/// A picture on its way through the tower.
#[derive(Debug)]
pub struct TowerPass {
    /// What the blocks have made of the patches so far, `[N, D]`.
    x: Array,
    /// Of the rotation of each patch, f32 `[N, 1, d / 2]`.
    cos: Array,
    sin: Array,
    /// Blocks that are done.
    done: usize,
}

impl TowerPass {
    /// Blocks that it is through.
    pub fn done(&self) -> usize {
        self.done
    }

    /// What the blocks so far have made of the patches, `[N, D]`.
    pub fn patches(&self) -> &Array {
        &self.x
    }
}

/// Where the N patches of a picture stand, in the order in which they become rows: 2 × 2 neighbours one after the
/// other.
#[derive(Debug)]
struct PatchGrid {
    /// Of each patch.
    places: Vec<[usize; 2]>,
    /// Rows and columns of patches.
    sides: [usize; 2],
}

impl PatchGrid {
    fn new(rows: usize, columns: usize) -> Self {
        let blocks = (0..rows / MERGE).flat_map(|row| (0..columns / MERGE).map(move |column| [row, column]));
        let within = |[row, column]: [usize; 2]| {
            (0..MERGE * MERGE).map(move |i| [row * MERGE + i / MERGE, column * MERGE + i % MERGE])
        };
        Self { places: blocks.flat_map(within).collect(), sides: [rows, columns] }
    }

    /// The entries of a table of `side` × `side` positions that each patch lies between, and their weights: bilinear,
    /// with the corners of the picture on those of the table. Four of each patch, tap by tap.
    fn taps(&self, side: usize) -> [(Vec<u32>, Vec<f32>); 4] {
        let along = |place: usize, count: usize| {
            let at = place as f32 * ((side - 1) as f32 / (count.max(2) - 1) as f32);
            let first = (at as usize).min(side - 1);
            (first, (first + 1).min(side - 1), at - first as f32)
        };
        let mut taps: [(Vec<u32>, Vec<f32>); 4] = Default::default();
        for &[row, column] in &self.places {
            let (top, bottom, down) = along(row, self.sides[0]);
            let (left, right, across) = along(column, self.sides[1]);
            let corners = [
                (top, left, (1.0 - down) * (1.0 - across)),
                (top, right, (1.0 - down) * across),
                (bottom, left, down * (1.0 - across)),
                (bottom, right, down * across),
            ];
            for ((entries, weights), (row, column, weight)) in taps.iter_mut().zip(corners) {
                entries.push((row * side + column) as u32);
                weights.push(weight);
            }
        }
        taps
    }

    /// The angles that the pairs of a head of `head_dim` entries turn by: of half of them by the patch's row, of the
    /// others by its column. `[N, head_dim / 2]`, as cosines and sines.
    fn rotation(&self, head_dim: usize, theta: f32) -> [Vec<f32>; 2] {
        let pairs = head_dim / 4;
        let frequencies: Vec<f32> =
            (0..pairs).map(|j| theta.powf(-((2 * j) as f32) / (head_dim / 2) as f32)).collect();
        let angles = self.places.iter().flat_map(|place| {
            place.iter().flat_map(|&at| frequencies.iter().map(move |frequency| at as f32 * frequency))
        });
        let angles: Vec<f32> = angles.collect();
        [angles.iter().map(|angle| angle.cos()).collect(), angles.iter().map(|angle| angle.sin()).collect()]
    }
}

impl Tower {
    fn of(dims: VisionDims, mut weights: Weights, dtype: Dtype) -> std::result::Result<Self, LoadError> {
        let heads = dims.heads as i32;
        let mut biased = |path: &str, pad: bool| -> std::result::Result<_, LoadError> {
            let (matrix, bias) = (weights.linear(path)?, weights.tensor(&format!("{path}.bias"))?);
            let (matrix, bias) = if pad { padded(matrix, &bias, heads)? } else { (matrix, bias) };
            Ok(Biased { linear: Linear::new(matrix)?, bias })
        };
        let mut linears = Vec::with_capacity(dims.depth);
        for block in 0..dims.depth {
            let path = format!("visual.blocks.{block}");
            let qkv = biased(&format!("{path}.attn.qkv"), true)?;
            let proj = biased(&format!("{path}.attn.proj"), false)?;
            let mlp = [
                biased(&format!("{path}.mlp.linear_fc1"), false)?,
                biased(&format!("{path}.mlp.linear_fc2"), false)?,
            ];
            linears.push((path, qkv, proj, mlp));
        }
        let merger = [biased("visual.merger.linear_fc1", false)?, biased("visual.merger.linear_fc2", false)?];
        let mut norm = |path: &str| -> std::result::Result<_, LoadError> {
            Ok(LayerNorm {
                weight: weights.tensor(&format!("{path}.weight"))?,
                bias: weights.tensor(&format!("{path}.bias"))?,
            })
        };
        let merger_norm = norm("visual.merger.norm")?;
        let blocks = linears
            .into_iter()
            .map(|(path, qkv, proj, mlp)| {
                let norms = [norm(&format!("{path}.norm1"))?, norm(&format!("{path}.norm2"))?];
                Ok(Block { norms, qkv, proj, mlp })
            })
            .collect::<std::result::Result<_, LoadError>>()?;
        let kernel = weights.tensor("visual.patch_embed.proj.weight")?;
        let kernel = kernel.reshape(&[dims.hidden_size as i32, -1])?;
        let patch_embed = Biased {
            linear: Linear::new(Matrix::dense(kernel)?)?,
            bias: weights.tensor("visual.patch_embed.proj.bias")?,
        };
        let pos_embed = Embedding::new(weights.linear("visual.pos_embed")?, Dtype::Float32);
        Ok(Self { dims, dtype, patch_embed, pos_embed, blocks, merger_norm, merger })
    }

    /// Its sizes.
    pub fn dims(&self) -> &VisionDims {
        &self.dims
    }

    /// Blocks that a picture goes through.
    pub fn depth(&self) -> usize {
        self.blocks.len()
    }

    /// Begins with a picture.
    pub fn begin(&self, Pixels { rgb, width, height, .. }: &Pixels) -> Result<TowerPass> {
        let (width, height) = (*width as usize, *height as usize);
        let grid = PatchGrid::new(height / PATCH, width / PATCH);
        let x = self.patch_embed.forward(&self.patches(rgb, width, height)?)?;
        let x = x.add(&self.positions(&grid)?)?;
        let head_dim = self.dims.hidden_size / self.dims.heads;
        let count = grid.places.len() as i32;
        let [cos, sin] = grid.rotation(head_dim, self.dims.rope_theta);
        let table = |values: &[f32]| Array::from_slice(values, &[count, 1, head_dim as i32 / 2]);
        let pass = TowerPass { x, cos: table(&cos)?, sin: table(&sin)?, done: 0 };
        mlx::eval([&pass.x])?;
        Ok(pass)
    }

    /// Takes the picture through some more blocks, and waits for each: what a block computes in passing would pile up
    /// otherwise. Behind the last one returns its vectors, one for each 2 × 2 patches, row by row, `[N / 4, H]`.
    pub fn advance(&self, pass: &mut TowerPass, blocks: usize) -> Result<Option<Array>> {
        for block in self.blocks.iter().skip(pass.done).take(blocks) {
            pass.x = self.block(block, pass)?;
            mlx::eval([&pass.x])?;
            pass.done += 1;
        }
        if pass.done < self.blocks.len() {
            return Ok(None);
        }
        let merged = self.merge(&pass.x)?;
        mlx::eval([&merged])?;
        Ok(Some(merged))
    }

    /// The vectors of a picture at once.
    pub fn forward(&self, pixels: &Pixels) -> Result<Array> {
        let mut pass = self.begin(pixels)?;
        loop {
            if let Some(features) = self.advance(&mut pass, self.blocks.len().max(1))? {
                return Ok(features);
            }
        }
    }

    /// The pixels of each patch, `[N, 3 · 2 · 16 · 16]` over channel, frame, row and column; both frames are alike.
    fn patches(&self, rgb: &[u8], width: usize, height: usize) -> Result<Array> {
        let (merge, side) = (MERGE as i32, PATCH as i32);
        let (rows, columns) = ((height / (PATCH * MERGE)) as i32, (width / (PATCH * MERGE)) as i32);
        let pixels = Array::from_slice(rgb, &[rows, merge, side, columns, merge, side, 3])?;
        let channel = |values: &[f32; 3]| Array::from_slice(values, &[3]);
        let (mean, deviation) = (channel(&self.dims.pictures.mean)?, channel(&self.dims.pictures.deviation)?);
        let scaled = pixels.astype(Dtype::Float32)?.divide(&Array::scalar(255.0, Dtype::Float32)?)?;
        let scaled = scaled.subtract(&mean)?.divide(&deviation)?.astype(self.dtype)?;
        let count = rows * columns * merge * merge;
        let patches = scaled.transpose(&[0, 3, 1, 4, 6, 2, 5])?.reshape(&[count, 3, 1, side, side])?;
        mlx::broadcast_to(&patches, &[count, 3, 2, side, side])?.reshape(&[count, 3 * 2 * side * side])
    }

    /// The learned position of each patch, `[N, D]`: four entries of the table, weighted in f32.
    fn positions(&self, grid: &PatchGrid) -> Result<Array> {
        let count = grid.places.len() as i32;
        let mut sum: Option<Array> = None;
        for (entries, weights) in grid.taps(self.dims.position_side) {
            let rows = self.pos_embed.forward(&Array::from_slice(&entries, &[count])?)?;
            let weighted =
                rows.astype(Dtype::Float32)?.multiply(&Array::from_slice(&weights, &[count, 1])?)?;
            sum = Some(match sum {
                None => weighted,
                Some(sum) => sum.add(&weighted)?,
            });
        }
        sum.expect("four taps").astype(self.dtype)
    }

    fn block(&self, block: &Block, pass: &TowerPass) -> Result<Array> {
        let attended = self.attention(block, &block.norms[0].forward(&pass.x)?, pass)?;
        let x = pass.x.add(&block.proj.forward(&attended)?)?;
        // What attention computes in passing goes before the MLP begins.
        mlx::eval([&x])?;
        let [fc1, fc2] = &block.mlp;
        in_pieces(&x, |x| {
            let inner = gelu_tanh(&fc1.forward(&block.norms[1].forward(x)?)?)?;
            x.add(&fc2.forward(&inner)?)
        })
    }

    /// Attention of every patch to every other, x `[N, D]` → `[N, D]`.
    fn attention(&self, block: &Block, x: &Array, pass: &TowerPass) -> Result<Array> {
        let (count, heads) = (x.dim(0), self.dims.heads as i32);
        let head_dim = (self.dims.hidden_size / self.dims.heads) as i32;
        let qkv = block.qkv.forward(x)?.reshape(&[count, 3, heads, -1])?;
        let part = |which: i32| qkv.slice_axis(1, which, which + 1)?.squeeze(1);
        let of_heads = |x: &Array| x.transpose(&[1, 0, 2])?.expand_dims(0);
        let q = of_heads(&rotate(&part(0)?, pass, head_dim)?)?;
        let k = of_heads(&rotate(&part(1)?, pass, head_dim)?)?;
        let v = of_heads(&part(2)?)?;
        let scale = (head_dim as f32).powf(-0.5);
        let at_once = TowerScores::of(count as usize, heads as usize, q.dim(3) as usize, mlx::device());
        let out = attend(&q, &k, &v, scale, at_once)?;
        out.slice_axis(3, 0, head_dim)?.transpose(&[0, 2, 1, 3])?.reshape(&[count, heads * head_dim])
    }

    /// fc2(gelu(fc1(norm(x)))) of four patches together: `[N, D]` → `[N / 4, H]`.
    fn merge(&self, x: &Array) -> Result<Array> {
        let [fc1, fc2] = &self.merger;
        in_pieces(x, |x| {
            let normed = self.merger_norm.forward(x)?;
            let together = normed.reshape(&[-1, (MERGE * MERGE * self.dims.hidden_size) as i32])?;
            fc2.forward(&gelu(&fc1.forward(&together)?)?)
        })
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let linears = [&self.patch_embed].into_iter().chain(&self.merger).flat_map(Biased::arrays);
        let norm = [&self.merger_norm.weight, &self.merger_norm.bias];
        let blocks = self.blocks.iter().flat_map(Block::arrays);
        linears.chain(norm).chain(blocks).chain(self.pos_embed.arrays()).collect()
    }
}

/// Attention over q, k, v `[1, heads, N, d]` → `[1, heads, N, d]`, so much at once.
fn attend(q: &Array, k: &Array, v: &Array, scale: f32, at_once: TowerScores) -> Result<Array> {
    let (heads, count) = (q.dim(1), q.dim(2));
    let (some_heads, some_queries) = (at_once.heads as i32, at_once.queries as i32);
    let is_whole = some_heads >= heads && some_queries >= count;
    let mut of_heads = Vec::new();
    for head in (0..heads).step_by(at_once.heads) {
        let some = |x: &Array| x.slice_axis(1, head, heads.min(head + some_heads));
        let (q, k, v) = (some(q)?, some(k)?, some(v)?);
        let mut of_queries = Vec::new();
        for query in (0..count).step_by(at_once.queries) {
            let q = q.slice_axis(2, query, count.min(query + some_queries))?;
            let out = heads::attend(&q, &k, &v, scale, Mask::None)?;
            // What comes next would be begun beside it otherwise.
            if !is_whole {
                mlx::eval([&out])?;
            }
            of_queries.push(out);
        }
        of_heads.push(mlx::concatenate(&of_queries.iter().collect::<Vec<_>>(), 2)?);
    }
    mlx::concatenate(&of_heads.iter().collect::<Vec<_>>(), 1)
}

/// What some patches after the others become, a few at a time, x `[N, D]`: what lies between would take many times of
/// their memory.
fn in_pieces(x: &Array, through: impl Fn(&Array) -> Result<Array>) -> Result<Array> {
    let (count, rows) = (x.dim(0), TOWER_ROWS as i32);
    if count <= rows {
        return through(x);
    }
    let mut pieces = Vec::new();
    for first in (0..count).step_by(TOWER_ROWS) {
        pieces.push(through(&x.slice_axis(0, first, count.min(first + rows))?)?);
        mlx::eval(pieces.last())?;
    }
    mlx::concatenate(&pieces.iter().collect::<Vec<_>>(), 0)
}

/// `qkv` for heads that MLX has a fused kernel for: zeros make up for what they lack. They are rows of queries, keys
/// and values, so that no product changes.
fn padded(qkv: Matrix, bias: &Array, heads: i32) -> Result<(Matrix, Array)> {
    let head_dim = qkv.out_features() / (3 * heads);
    let wider = padded_head(head_dim as usize) as i32;
    if wider == head_dim {
        return Ok((qkv, bias.clone()));
    }
    let pad = |rows: &Array| {
        let columns = rows.size() as i32 / (3 * heads * head_dim);
        let by_head = rows.reshape(&[3 * heads, head_dim, columns])?;
        let zeros =
            mlx::broadcast_to(&Array::scalar(0.0, rows.dtype())?, &[3 * heads, wider - head_dim, columns])?;
        mlx::concatenate(&[&by_head, &zeros], 1)?.reshape(&[3 * heads * wider, columns])
    };
    let bias = pad(bias)?.reshape(&[3 * heads * wider])?;
    Ok((qkv.with_rows(pad)?, bias))
}

/// Turns the first `head_dim` entries of each head by the patches' places, x `[N, heads, d]`, in f32.
fn rotate(x: &Array, pass: &TowerPass, head_dim: i32) -> Result<Array> {
    let half = head_dim / 2;
    let x32 = x.astype(Dtype::Float32)?;
    let (a, b) = (x32.slice_axis(2, 0, half)?, x32.slice_axis(2, half, head_dim)?);
    let turned = [
        a.multiply(&pass.cos)?.subtract(&b.multiply(&pass.sin)?)?.astype(x.dtype())?,
        b.multiply(&pass.cos)?.add(&a.multiply(&pass.sin)?)?.astype(x.dtype())?,
        x.slice_axis(2, head_dim, x.dim(2))?,
    ];
    mlx::concatenate(&turned.iter().filter(|part| part.size() > 0).collect::<Vec<_>>(), 2)
}

/// x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2, in f32.
fn gelu_tanh(x: &Array) -> Result<Array> {
    let constant = |value: f32| Array::scalar(value, Dtype::Float32);
    let x32 = x.astype(Dtype::Float32)?;
    let cube = x32.multiply(&x32)?.multiply(&x32)?.multiply(&constant(0.044_715)?)?;
    let inner = x32.add(&cube)?.multiply(&constant((2.0 / std::f32::consts::PI).sqrt())?)?;
    let gate = inner.tanh()?.add(&constant(1.0)?)?.multiply(&constant(0.5)?)?;
    x32.multiply(&gate)?.astype(x.dtype())
}

/// x · (1 + erf(x / √2)) / 2, in f32.
fn gelu(x: &Array) -> Result<Array> {
    let constant = |value: f32| Array::scalar(value, Dtype::Float32);
    let x32 = x.astype(Dtype::Float32)?;
    let gate = x32.multiply(&constant(std::f32::consts::FRAC_1_SQRT_2)?)?.erf()?;
    let gate = gate.add(&constant(1.0)?)?.multiply(&constant(0.5)?)?;
    x32.multiply(&gate)?.astype(x.dtype())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(shape: &[i32], seed: u32) -> Array {
        let count: i32 = shape.iter().product();
        let values = (0..count as u32).map(|i| ((i * 37 + seed * 101) % 97) as f32 / 97.0 - 0.5);
        Array::from_slice(&values.collect::<Vec<_>>(), shape).unwrap()
    }

    fn off(got: &Array, expected: &Array) -> f32 {
        assert_eq!(got.shape(), expected.shape());
        let [got, expected]: [Vec<f32>; 2] = [got, expected].map(|x| x.to_vec().unwrap());
        got.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn a_picture_goes_through_in_pieces_as_it_does_whole() {
        let [q, k, v] = [1, 2, 3].map(|seed| numbers(&[1, 5, 33, 8], seed));
        let attend = |heads, queries| attend(&q, &k, &v, 0.4, TowerScores { heads, queries }).unwrap();
        let whole = attend(5, 33);
        for (heads, queries) in [(1, 33), (2, 33), (1, 10), (5, 1)] {
            let off = off(&attend(heads, queries), &whole);
            assert!(off < 1e-6, "{heads} heads, {queries} queries: {off}");
        }
        for rows in [4, TOWER_ROWS as i32, TOWER_ROWS as i32 + 4, 2 * TOWER_ROWS as i32] {
            let x = numbers(&[rows, 8], 4);
            let by_four = |x: &Array| x.reshape(&[-1, 32])?.multiply(&numbers(&[1, 32], 5));
            assert_eq!(off(&in_pieces(&x, by_four).unwrap(), &by_four(&x).unwrap()), 0.0, "{rows}");
        }
    }
}
