//! A · B, with each element's sum in an order that hangs on the number of its terms and on how B lies, and on no other
//! element.

use std::array;

/// Sums that are kept side by side, as wide as a register of AVX2.
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
    /// Its rows. Sums are added to term by term.
    Rows(Lines<'a>),
    /// Its columns. Eight sums take turns, and are added up at the end.
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

/// `ROWS` rows of a product, `COLUMNS` columns or registers of columns at a time. Returns the number of rows.
#[inline(always)]
fn several<const ROWS: usize, const COLUMNS: usize>(
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
            Right::Columns(b) if left >= COLUMNS => {
                let b: [_; COLUMNS] = array::from_fn(|at| b.line(column + at, inner));
                put(&by_column(a, b), first, column, store)
            }
            Right::Columns(b) => put(&by_column(a, [b.line(column, inner)]), first, column, store),
            Right::Rows(b) => {
                let width = left.min(COLUMNS * LANES);
                let sums = by_row::<ROWS, COLUMNS>(a, b, column, width);
                let sums: [&[f32]; ROWS] = array::from_fn(|row| &sums[row].as_flattened()[..width]);
                put(&sums, first, column, store)
            }
        };
    }
    ROWS
}

/// Gives away rows of sums from a column on. Returns the number of columns.
#[inline(always)]
fn put(
    sums: &[impl AsRef<[f32]>],
    first: usize,
    column: usize,
    store: &mut impl FnMut(usize, usize, f32),
) -> usize {
    for (row, sums) in sums.iter().enumerate() {
        sums.as_ref().iter().enumerate().for_each(|(at, &sum)| store(first + row, column + at, sum));
    }
    sums.first().map_or(0, |sums| sums.as_ref().len())
}

/// Each line of A with each column of B.
#[inline(always)]
fn by_column<const ROWS: usize, const COLUMNS: usize>(
    a: [&[f32]; ROWS],
    b: [&[f32]; COLUMNS],
) -> [[f32; COLUMNS]; ROWS] {
    let mut sums = [[[0.0; LANES]; COLUMNS]; ROWS];
    let (a, rest_of_a) = whole(a);
    let (b, rest_of_b) = whole(b);
    for at in 0..a[0].len() {
        add(&mut sums, a.map(|line| line[at]), b.map(|line| line[at]));
    }
    add(&mut sums, rest_of_a, rest_of_b);
    sums.map(|row| {
        row.map(|sums| {
            let [a, b, c, d]: [f32; 4] = array::from_fn(|lane| sums[lane] + sums[lane + 4]);
            (a + c) + (b + d)
        })
    })
}

/// Lines in whole registers, and what is left of each, filled up with zeros.
#[inline(always)]
fn whole<const N: usize>(lines: [&[f32]; N]) -> ([&[Lanes]; N], [Lanes; N]) {
    let rest = |line: &[f32]| {
        let (mut filled, rest) = ([0.0; LANES], line.as_chunks::<LANES>().1);
        filled[..rest.len()].copy_from_slice(rest);
        filled
    };
    (lines.map(|line| line.as_chunks().0), lines.map(rest))
}

#[inline(always)]
fn add<const ROWS: usize, const COLUMNS: usize>(
    sums: &mut [[Lanes; COLUMNS]; ROWS],
    a: [Lanes; ROWS],
    b: [Lanes; COLUMNS],
) {
    for (sums, a) in sums.iter_mut().zip(a) {
        for (sums, b) in sums.iter_mut().zip(b) {
            (0..LANES).for_each(|lane| sums[lane] += a[lane] * b[lane]);
        }
    }
}

/// Each line of A with `width` columns of B.
#[inline(always)]
fn by_row<const ROWS: usize, const COLUMNS: usize>(
    a: [&[f32]; ROWS],
    b: Lines<'_>,
    column: usize,
    width: usize,
) -> [[Lanes; COLUMNS]; ROWS] {
    let mut sums = [[[0.0; LANES]; COLUMNS]; ROWS];
    for at in 0..a[0].len() {
        let line = &b.line(at, column + width)[column..];
        let factors = a.map(|line| [line[at]; LANES]);
        match line.as_chunks().0.first_chunk() {
            Some(b) => add(&mut sums, factors, *b),
            None => {
                let mut b = [[0.0; LANES]; COLUMNS];
                b.as_flattened_mut()[..width].copy_from_slice(line);
                add(&mut sums, factors, b);
            }
        }
    }
    sums
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

    fn made(a: Lines<'_>, b: Right<'_>, sizes: [usize; 3]) -> Vec<f32> {
        let [rows, _, columns] = sizes;
        let mut made = vec![f32::NAN; rows * columns];
        product(a, b, sizes, |row, column, sum| made[row * columns + column] = sum);
        made
    }

    /// B as rows and as columns, with room behind each line.
    fn both<'a>(rows: &'a [f32], columns: &'a [f32], [inner, outer]: [usize; 2]) -> [Right<'a>; 2] {
        [
            Right::Rows(Lines { values: rows, stride: outer + 3 }),
            Right::Columns(Lines { values: columns, stride: inner + 3 }),
        ]
    }

    const SIZES: [[usize; 3]; 9] = [
        [1, 1, 1],
        [1, 64, 40],
        [2, 7, 3],
        [3, 16, 33],
        [4, 9, 8],
        [5, 100, 65],
        [7, 33, 1],
        [9, 8, 31],
        [6, 0, 5],
    ];

    #[test]
    fn each_element_is_the_sum_of_its_products() {
        for [rows, inner, columns] in SIZES {
            let a = Lines { values: &numbers(rows * (inner + 3), 1), stride: inner + 3 };
            let by_row = numbers(inner * (columns + 3), 2);
            let of = |at: usize, column: usize| by_row[at * (columns + 3) + column];
            let by_column: Vec<f32> = (0..columns * (inner + 3))
                .map(|at| (at / (inner + 3), at % (inner + 3)))
                .map(|(column, at)| if at < inner { of(at, column) } else { f32::NAN })
                .collect();
            for b in both(&by_row, &by_column, [inner, columns]) {
                for (at, &sum) in made(a, b, [rows, inner, columns]).iter().enumerate() {
                    let line = a.line(at / columns, inner);
                    let terms =
                        line.iter().enumerate().map(|(k, &a)| f64::from(a) * f64::from(of(k, at % columns)));
                    assert!((f64::from(sum) - terms.sum::<f64>()).abs() < 1e-5, "{at} of {b:?}");
                }
            }
        }
    }

    /// The same bits, whatever is computed beside them.
    #[test]
    fn an_element_does_not_hang_on_what_is_computed_beside_it() {
        let [rows, inner, columns] = [11, 83, 75];
        let (a, by_row, by_column) = (
            numbers(rows * (inner + 3), 1),
            numbers(inner * (columns + 3), 2),
            numbers(columns * (inner + 3), 3),
        );
        for (which, b) in both(&by_row, &by_column, [inner, columns]).into_iter().enumerate() {
            let all = made(Lines { values: &a, stride: inner + 3 }, b, [rows, inner, columns]);
            for first in 0..rows {
                for last in first..rows {
                    let part = Lines { values: &a[first * (inner + 3)..], stride: inner + 3 };
                    let some = made(part, b, [last + 1 - first, inner, columns]);
                    assert_eq!(some, all[first * columns..(last + 1) * columns], "rows {first} to {last}");
                }
            }
            for first in 0..columns {
                let start = if which == 0 { first } else { first * (inner + 3) };
                let rest = match b {
                    Right::Rows(Lines { values, stride }) => {
                        Right::Rows(Lines { values: &values[start..], stride })
                    }
                    Right::Columns(Lines { values, stride }) => {
                        Right::Columns(Lines { values: &values[start..], stride })
                    }
                };
                let width = columns - first;
                let some = made(Lines { values: &a, stride: inner + 3 }, rest, [rows, inner, width]);
                for row in 0..rows {
                    let expected = &all[row * columns + first..(row + 1) * columns];
                    assert_eq!(some[row * width..][..width], *expected, "row {row} from column {first} on");
                }
            }
        }
    }

    /// Zeros in front of the terms and behind them change nothing where rows of B lie together: what a mask leaves out
    /// of an attention's weights is not there.
    #[test]
    fn terms_that_are_zero_count_for_nothing_in_sums_by_row() {
        let (inner, columns) = (37, 20);
        let (a, b) = (numbers(inner, 1), numbers((inner + 14) * columns, 2));
        let of = |from: usize| Right::Rows(Lines { values: &b[from * columns..], stride: columns });
        let alone = made(Lines { values: &a, stride: inner }, of(9), [1, inner, columns]);
        let between = [vec![0.0; 9], a, vec![0.0; 5]].concat();
        let stride = between.len();
        assert_eq!(made(Lines { values: &between, stride }, of(0), [1, stride, columns]), alone);
    }
}
