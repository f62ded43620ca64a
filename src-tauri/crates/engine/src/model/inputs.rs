//! What the columns of a matrix are multiplied by while texts are read: sums of squares, by which errors of its weights
//! are weighted.

use std::cell::RefCell;

use crate::mlx::{self, Array, Dtype, Gather, Result};

/// The inputs of a matrix so far, of all experts together.
#[derive(Debug, Default)]
pub struct Inputs(RefCell<Sums>);

#[derive(Debug, Default)]
struct Sums {
    /// f32 `[in]`; `None` before the first.
    squares: Option<Array>,
    vectors: usize,
}

impl Inputs {
    /// Adds the vectors of x `[…, in]`.
    pub fn add(&self, x: &Array) -> Result<()> {
        let columns = x.dim(-1);
        let x = x.astype(Dtype::Float32)?.reshape(&[-1, columns])?;
        let mut squares = x.multiply(&x)?.sum(0, false)?;
        let mut sums = self.0.borrow_mut();
        if let Some(before) = &sums.squares {
            squares = before.add(&squares)?;
        }
        // Or the inputs would stay in memory.
        mlx::eval([&squares])?;
        sums.squares = Some(squares);
        sums.vectors += x.dim(0) as usize;
        Ok(())
    }

    /// Adds the vectors of x `[…, 1, in]` that `gather` selects.
    pub(super) fn add_selected(&self, x: &Array, gather: Gather<'_>) -> Result<()> {
        match gather.rows {
            None => self.add(x),
            Some(rows) => self.add(&mlx::take(&x.reshape(&[-1, x.dim(-1)])?, rows, 0)?),
        }
    }

    /// Sums of squares by column, and how many vectors they are of; nothing where there was none.
    pub fn squares(&self) -> Result<(Vec<f32>, usize)> {
        let sums = self.0.borrow();
        let squares = sums.squares.as_ref().map(Array::to_vec::<f32>).transpose()?;
        Ok((squares.unwrap_or_default(), sums.vectors))
    }
}
