//! Batches of rows with different numbers of tokens, without padding: all tokens lie in one `[T, …]`, row after row.
//! Only the recurrence needs `[B, M, …]`, padded to the longest row, and gets it here.

use std::cell::OnceCell;

use super::rope::Rotation;
use crate::cache::PackedTape;
use crate::mlx::kernels::{GdnPlan, GdnRow, LEAST_ELEMENTS};
use crate::mlx::{self, Array, Dtype, Result};

/// What a token's queries and keys are rotated by. Not its index in its row: behind a picture it is smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub usize);

/// How the tokens of several rows lie in one `[T, …]`: row after row, `lens[b]` tokens each, nothing padded.
#[derive(Debug)]
pub struct Packed {
    lens: Vec<i32>,
    /// Of each token, in its own row.
    row_positions: Vec<i32>,
    /// As an array, int32 `[T]`.
    positions: Array,
    /// `positions` padded for kernels; made when the first asks.
    padded_positions: OnceCell<Array>,
    ragged: Option<Ragged>,
    /// How queries and keys turn where a position has more than one part.
    rotation: Option<Rotation>,
    /// Made by the first layer that asks.
    gdn_plan: OnceCell<GdnPlan>,
}

/// Index arrays between the packed form and `[B, M, …]`, needed only where rows differ in length.
#[derive(Debug)]
struct Ragged {
    /// `[B · M]`: the token that each padded slot holds; slots past a row's end repeat the row's last token.
    unpack: Array,
    /// `[T]`: the padded slot of each token.
    pack: Array,
}

impl Packed {
    /// `rows`: the first position and the number of tokens of each row; every row has at least one token.
    pub fn new(rows: &[(Position, usize)]) -> Result<Self> {
        let lens: Vec<i32> = rows.iter().map(|&(_, len)| len as i32).collect();
        let positions: Vec<i32> =
            rows.iter().flat_map(|&(Position(start), len)| (start..start + len).map(|p| p as i32)).collect();
        let width = lens.iter().copied().max().unwrap_or(0);
        let ragged =
            if lens.iter().all(|&len| len == width) { None } else { Some(Ragged::new(&lens, width)?) };
        Ok(Self {
            lens,
            positions: Array::from_slice(&positions, &[positions.len() as i32])?,
            row_positions: positions,
            padded_positions: OnceCell::new(),
            ragged,
            rotation: None,
            gdn_plan: OnceCell::new(),
        })
    }

    /// The same with tokens that turn by this instead of by their positions, as those of pictures do.
    pub fn with_rotation(self, rotation: Rotation) -> Self {
        Self { rotation: Some(rotation), ..self }
    }

    /// How its tokens turn, where that is not by their positions.
    pub fn rotation(&self) -> Option<&Rotation> {
        self.rotation.as_ref()
    }

    /// Rows.
    pub fn rows(&self) -> i32 {
        self.lens.len() as i32
    }

    /// Of each row, its tokens and the position of the first.
    pub fn spans(&self) -> impl Iterator<Item = (usize, usize)> {
        self.lens.iter().scan(0, |start, &len| {
            let first = self.row_positions.get(*start).copied().unwrap_or(0);
            *start += len as usize;
            Some((len as usize, first as usize))
        })
    }

    /// Tokens of each row.
    pub fn lens(&self) -> &[i32] {
        &self.lens
    }

    /// The most tokens any row has.
    pub fn width(&self) -> i32 {
        self.lens.iter().copied().max().unwrap_or(0)
    }

    /// Each token's position in its own row, int32 `[T]`.
    pub fn positions(&self) -> &Array {
        &self.positions
    }

    /// The same, padded as kernels want it.
    pub fn padded_positions(&self) -> Result<&Array> {
        if let Some(padded) = self.padded_positions.get() {
            return Ok(padded);
        }
        let mut positions = self.row_positions.clone();
        positions.resize(positions.len().max(LEAST_ELEMENTS), 0);
        let padded = Array::from_slice(&positions, &[positions.len() as i32])?;
        Ok(self.padded_positions.get_or_init(|| padded))
    }

    /// What the kernels of Gated DeltaNet are told of a pass over these rows, the same for all layers: `tape` is what
    /// the pass before left, of which each row kept `committed` tokens. `settles`: the new tokens are kept at once.
    pub fn gdn_plan(
        &self,
        tape: Option<&PackedTape>,
        committed: &[usize],
        settles: bool,
    ) -> Result<&GdnPlan> {
        if let Some(plan) = self.gdn_plan.get() {
            return Ok(plan);
        }
        let mut rows = match tape {
            Some(tape) => tape.rows(committed, &self.lens),
            None => {
                let row = |&new: &i32| GdnRow { new, taped_from: 0, kept: 0, settles };
                self.lens.iter().map(row).collect()
            }
        };
        rows.iter_mut().for_each(|row| row.settles = settles);
        let plan = GdnPlan::new(&rows)?;
        Ok(self.gdn_plan.get_or_init(|| plan))
    }

    /// Each row's part of a packed `[T, …]`.
    pub fn split(&self, x: &Array) -> Result<Vec<Array>> {
        if let [_] = self.lens.as_slice() {
            return Ok(vec![x.clone()]);
        }
        let mut start = 0;
        self.lens
            .iter()
            .map(|&len| {
                start += len;
                x.slice_axis(0, start - len, start)
            })
            .collect()
    }

    /// `[T, …]` → `[B, M, …]`. Slots past a row's end hold values without meaning.
    pub fn unpack(&self, x: &Array) -> Result<Array> {
        let shape = [&[self.rows(), self.width()], &x.shape()[1..]].concat();
        match &self.ragged {
            None => x.reshape(&shape),
            Some(ragged) => mlx::take(x, &ragged.unpack, 0)?.reshape(&shape),
        }
    }

    /// `[B, M, …]` → `[T, …]`.
    pub fn pack(&self, x: &Array) -> Result<Array> {
        let flat = x.reshape(&[&[self.rows() * self.width()], &x.shape()[2..]].concat())?;
        match &self.ragged {
            None => Ok(flat),
            Some(ragged) => mlx::take(&flat, &ragged.pack, 0),
        }
    }
}

impl Ragged {
    fn new(lens: &[i32], width: i32) -> Result<Self> {
        let (mut unpack, mut pack, mut start) = (Vec::new(), Vec::new(), 0);
        for (row, &len) in lens.iter().enumerate() {
            unpack.extend((0..width).map(|i| start + i.min(len - 1)));
            pack.extend((0..len).map(|i| row as i32 * width + i));
            start += len;
        }
        Ok(Self {
            unpack: Array::from_slice(&unpack, &[unpack.len() as i32])?.astype(Dtype::Uint32)?,
            pack: Array::from_slice(&pack, &[pack.len() as i32])?.astype(Dtype::Uint32)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(count: i32) -> Array {
        let values: Vec<f32> = (0..count * 2).map(|i| i as f32).collect();
        Array::from_slice(&values, &[count, 2]).unwrap()
    }

    #[test]
    fn rows_of_any_lengths_come_back_as_they_went() {
        for lens in [vec![3], vec![2, 2, 2], vec![1, 4, 2], vec![5, 1]] {
            let rows: Vec<(Position, usize)> =
                lens.iter().enumerate().map(|(row, &len)| (Position(10 * row), len)).collect();
            let packed = Packed::new(&rows).unwrap();
            let total: usize = lens.iter().sum();
            let x = tokens(total as i32);
            let padded = packed.unpack(&x).unwrap();
            let width = *lens.iter().max().unwrap() as i32;
            assert_eq!(padded.shape(), [lens.len() as i32, width, 2]);
            assert_eq!(packed.pack(&padded).unwrap().to_vec::<f32>().unwrap(), x.to_vec::<f32>().unwrap());
            let parts = packed.split(&x).unwrap();
            assert_eq!(parts.iter().map(|part| part.dim(0) as usize).collect::<Vec<_>>(), lens);
            let positions: Vec<i32> =
                rows.iter().flat_map(|&(Position(s), n)| (s..s + n).map(|p| p as i32)).collect();
            assert_eq!(packed.positions().to_vec::<i32>().unwrap(), positions);
        }
    }
}
