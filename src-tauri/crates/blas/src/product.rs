//! A · B, with each element summed term by term, as the reference BLAS does: whatever is computed beside it, and
//! however A and B lie.

use std::array;

/// Sums that are kept side by side, as many as a register of AVX2 has.
const LANES: usize = 8;
type Lanes = [f32; LANES];

/// Lines of numbers in memory: the rows of a matrix, or its columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<'a> {
    /// The numbers from the first of the first line to the last of the last.
    pub values: &'a [f32],
    /// Numbers from the begin of a line to that of the next.
    pub stride: usize,
}

impl<'a> Lines<'a> {
    fn line(self, index: usize, length: usize) -> &'a [f32] {
        &self.values[index * self.stride..][..length]
    }
}

/// The right factor, by what lies together in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Right<'a> {
    /// Its rows.
    Rows(Lines<'a>),
    /// Its columns.
    Columns(Lines<'a>),
}

/// Gives each element of A `[rows, inner]` · B `[inner, columns]` to `store(row, column, sum)`.
#[inline(always)]
pub(crate) fn product(
    a: Lines<'_>,
    b: Right<'_>,
    [rows, inner, columns]: [usize; 3],
    mut store: impl FnMut(usize, usize, f32),
) {
    let mut row = 0;
    while row < rows {
        let of = Of { first: row, inner, columns };
        row += match rows - row {
            4.. => several::<4, 2>(a, b, of, &mut store),
            2 | 3 => several::<2, 4>(a, b, of, &mut store),
            _ => several::<1, 4>(a, b, of, &mut store),
        };
    }
}

/// Rows of a product.
#[derive(Debug, Clone, Copy)]
struct Of {
    first: usize,
    inner: usize,
    columns: usize,
}

/// `ROWS` rows of a product, at most `REGISTERS` of columns at a time. Returns the number of rows.
#[inline(always)]
fn several<const ROWS: usize, const REGISTERS: usize>(
    a: Lines<'_>,
    b: Right<'_>,
    Of { first, inner, columns }: Of,
    store: &mut impl FnMut(usize, usize, f32),
) -> usize {
    let a: [&[f32]; ROWS] = array::from_fn(|row| a.line(first + row, inner));
    let mut column = 0;
    while column < columns {
        let left = columns - column;
        column += match b {
            Right::Rows(b) => {
                let width = left.min(REGISTERS * LANES);
                put(&by_row::<ROWS, REGISTERS>(a, b, column, width), width, [first, column], store)
            }
            Right::Columns(b) => {
                // Where there are fewer, the last one stands for those that are missing.
                let b = array::from_fn(|at| b.line((column + at).min(columns - 1), inner));
                put(&by_column(a, b), left.min(LANES), [first, column], store)
            }
        };
    }
    ROWS
}

/// Gives away the first `width` sums of each row. Returns the width.
#[inline(always)]
fn put<const REGISTERS: usize>(
    sums: &[[Lanes; REGISTERS]],
    width: usize,
    [row, column]: [usize; 2],
    store: &mut impl FnMut(usize, usize, f32),
) -> usize {
    for (below, sums) in sums.iter().enumerate() {
        let sums = &sums.as_flattened()[..width];
        sums.iter().enumerate().for_each(|(beside, &sum)| store(row + below, column + beside, sum));
    }
    width
}

/// Each line of A with as many columns of B as a register has.
#[inline(always)]
fn by_column<const ROWS: usize>(a: [&[f32]; ROWS], b: [&[f32]; LANES]) -> [[Lanes; 1]; ROWS] {
    let mut sums = [[[0.0; LANES]; 1]; ROWS];
    let whole = a[0].len() / LANES * LANES;
    let blocks: ([&[Lanes]; ROWS], [&[Lanes]; LANES]) =
        (a.map(|line| line.as_chunks().0), b.map(|line| line.as_chunks().0));
    for at in 0..whole / LANES {
        let (factors, columns) = (blocks.0.map(|line| line[at]), blocks.1.map(|line| line[at]));
        let rows: [Lanes; LANES] = array::from_fn(|row| columns.map(|column| column[row]));
        for (row, &b) in rows.iter().enumerate() {
            add(&mut sums, factors.map(|line| line[row]), [b]);
        }
    }
    for at in whole..a[0].len() {
        add(&mut sums, a.map(|line| line[at]), [b.map(|line| line[at])]);
    }
    sums
}

/// Each line of A with `width` columns of B.
#[inline(always)]
fn by_row<const ROWS: usize, const REGISTERS: usize>(
    a: [&[f32]; ROWS],
    b: Lines<'_>,
    column: usize,
    width: usize,
) -> [[Lanes; REGISTERS]; ROWS] {
    let mut sums = [[[0.0; LANES]; REGISTERS]; ROWS];
    for at in 0..a[0].len() {
        let line = &b.line(at, column + width)[column..];
        let factors = a.map(|line| line[at]);
        match line.as_chunks().0.first_chunk() {
            Some(b) => add(&mut sums, factors, *b),
            None => {
                let mut b = [[0.0; LANES]; REGISTERS];
                b.as_flattened_mut()[..width].copy_from_slice(line);
                add(&mut sums, factors, b);
            }
        }
    }
    sums
}

/// Adds a row of B to the sums of each row, times its factor.
#[inline(always)]
fn add<const ROWS: usize, const REGISTERS: usize>(
    sums: &mut [[Lanes; REGISTERS]; ROWS],
    factors: [f32; ROWS],
    b: [Lanes; REGISTERS],
) {
    for (sums, factor) in sums.iter_mut().zip(factors) {
        for (sums, b) in sums.iter_mut().zip(b) {
            (0..LANES).for_each(|lane| sums[lane] += factor * b[lane]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    /// Term by term, so that what is summed beside an element, and how B lies, can change no bit of it.
    #[test]
    fn each_element_is_the_sum_of_its_products_in_their_order() {
        let sizes = (1..10).flat_map(|rows| {
            [0, 1, 7, 8, 9, 33]
                .into_iter()
                .flat_map(move |inner| [1, 3, 8, 9, 31, 32, 33, 65].map(|columns| [rows, inner, columns]))
        });
        for [rows, inner, columns] in sizes {
            // With room behind each line.
            let [of_a, of_b, of_turned] = [inner + 3, columns + 3, inner + 3];
            let (a, b) = (numbers(rows * of_a, 1), numbers(inner * of_b, 2));
            let mut turned = vec![f32::NAN; columns * of_turned];
            (0..inner * columns).for_each(|at| {
                let (row, column) = (at / columns, at % columns);
                turned[column * of_turned + row] = b[row * of_b + column];
            });
            let expected = (0..rows * columns).map(|at| {
                let (row, column) = (at / columns, at % columns);
                (0..inner).fold(0.0_f32, |sum, k| sum + a[row * of_a + k] * b[k * of_b + column])
            });
            let expected: Vec<f32> = expected.collect();
            for b in [
                Right::Rows(Lines { values: &b, stride: of_b }),
                Right::Columns(Lines { values: &turned, stride: of_turned }),
            ] {
                let mut made = vec![f32::NAN; rows * columns];
                let a = Lines { values: &a, stride: of_a };
                product(a, b, [rows, inner, columns], |row, column, sum| made[row * columns + column] = sum);
                assert_eq!(made, expected, "{rows} x {inner} x {columns}");
            }
        }
    }
}
