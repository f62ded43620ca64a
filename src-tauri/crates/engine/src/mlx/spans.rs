//! Computations over entries that need nothing of each other: heads, tokens, outputs of a matrix. On the CPU, where MLX
//! runs a stream on one processor, long ones are cut into a part for each stream, and the parts are computed side by
//! side; on GPUs nothing is cut. Who computes cannot tell the difference: each entry is the same to the bit.

use std::borrow::Cow;
use std::ops::Range;

use super::ops::concatenate;
use super::streams::{is_on_stream, on_stream, streams};
use super::{Array, Result};

/// Multiply-adds that a stream must be given for its help to outweigh what handing over and waiting take, as measured.
const LEAST_WORK: usize = 150_000;
/// With fewer blocks of tokens for each stream, the parts would be too unequal: a product is better cut by its outputs.
const LEAST_BLOCKS: i32 = 2;
/// MLX multiplies 16-bit floats in blocks of so many rows.
const TOKENS_UNIT: i32 = 16;
/// Outputs of a part come in multiples of this, so that vector instructions stay full.
const OUTPUTS_UNIT: i32 = 16;

/// So many entries that need nothing of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// Heads of attention or of a recurrence.
    Heads(i32),
    /// Tokens, where each goes its own way.
    Tokens(i32),
    /// Outputs of a matrix.
    Outputs(i32),
}

/// Computes something over a span: `build` gives it for the entries that it is told, with these along `axes`, one for
/// each output. Perhaps it is asked more than once, for some entries each, where so many multiply-adds are worth it.
pub fn over<const N: usize>(
    span: Span,
    multiply_adds: usize,
    axes: [i32; N],
    build: impl Fn(&Entries) -> Result<[Array; N]>,
) -> Result<[Array; N]> {
    let parts = span.parts(multiply_adds);
    if parts < 2 {
        return build(&Entries(None));
    }
    let mut built = Vec::with_capacity(parts);
    for (index, range) in span.ranges().enumerate() {
        let entries = Entries(Some(Slice { index, range, of: span.len() }));
        built.push(on_stream(index, || build(&entries))?);
    }
    let mut joined = built[0].clone();
    for (i, axis) in axes.into_iter().enumerate() {
        joined[i] = concatenate(&built.iter().map(|outputs| &outputs[i]).collect::<Vec<_>>(), axis)?;
    }
    Ok(joined)
}

/// Builds with every span in one part: what the parts are compared with.
pub fn undivided<T>(build: impl FnOnce() -> T) -> T {
    // A part is not cut again.
    on_stream(0, build)
}

impl Span {
    /// In how many parts a computation of so many multiply-adds over it is done.
    pub fn parts(self, multiply_adds: usize) -> usize {
        match multiply_adds >= streams() * LEAST_WORK && !is_on_stream() {
            true => self.most_parts(),
            false => 1,
        }
    }

    /// In how many parts a computation over it is done at most.
    pub fn most_parts(self) -> usize {
        let streams = streams();
        match self {
            Self::Tokens(tokens) if tokens < LEAST_BLOCKS * TOKENS_UNIT * streams as i32 => 1,
            _ => streams.min(self.units() as usize).max(1),
        }
    }

    fn len(self) -> i32 {
        match self {
            Self::Heads(len) | Self::Tokens(len) | Self::Outputs(len) => len,
        }
    }

    fn unit(self) -> i32 {
        match self {
            Self::Heads(_) => 1,
            Self::Tokens(_) => TOKENS_UNIT,
            Self::Outputs(_) => OUTPUTS_UNIT,
        }
    }

    fn units(self) -> i32 {
        (self.len() + self.unit() - 1) / self.unit()
    }

    /// The entries of each part where there are most: all but the last a multiple of the unit, and equal but
    /// for one unit.
    fn ranges(self) -> impl Iterator<Item = Range<i32>> {
        let (count, unit, units, len) = (self.most_parts() as i32, self.unit(), self.units(), self.len());
        (0..count).map(move |i| units * i / count * unit..(units * (i + 1) / count * unit).min(len))
    }
}

/// The entries of a span that something is computed for: all, or those of one part.
#[derive(Debug)]
pub struct Entries(Option<Slice>);

#[derive(Debug)]
struct Slice {
    index: usize,
    range: Range<i32>,
    /// How many entries the span has.
    of: i32,
}

impl Entries {
    /// What belongs to these entries in an array that has one element, or a fixed number of them, for each entry of the
    /// span along an axis.
    pub fn of<'a>(&self, array: &'a Array, axis: i32) -> Result<Cow<'a, Array>> {
        let Some(Slice { range, of, .. }) = &self.0 else { return Ok(Cow::Borrowed(array)) };
        let each = array.dim(axis) / of;
        array.slice_axis(axis, range.start * each, range.end * each).map(Cow::Owned)
    }
}

/// What is read whenever something is computed over a span, such as a weight: whole, and what belongs to the entries
/// of each part, made once.
#[derive(Debug, Clone)]
pub struct Prepared<T> {
    whole: T,
    parts: Vec<T>,
}

impl<T> Prepared<T> {
    /// `part` makes of the whole what belongs to some entries.
    pub fn new(whole: T, span: Span, part: impl Fn(&T, &Entries) -> Result<T>) -> Result<Self> {
        let mut parts = Vec::new();
        if span.most_parts() > 1 {
            for (index, range) in span.ranges().enumerate() {
                parts.push(part(&whole, &Entries(Some(Slice { index, range, of: span.len() })))?);
            }
        }
        Ok(Self { whole, parts })
    }

    /// For what is only read whole.
    pub fn undivided(whole: T) -> Self {
        Self { whole, parts: Vec::new() }
    }

    /// What belongs to these entries, which must be of the span that it was prepared for.
    pub fn of(&self, entries: &Entries) -> &T {
        entries.0.as_ref().map_or(&self.whole, |part| &self.parts[part.index])
    }

    /// The whole.
    pub fn whole(&self) -> &T {
        &self.whole
    }

    /// Whatever it holds.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.whole).chain(&self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx;

    /// Enough for any number of streams.
    const MUCH: usize = usize::MAX;

    fn column(count: i32, scale: f32) -> Array {
        let values: Vec<f32> = (0..count).map(|i| i as f32 * scale).collect();
        Array::from_slice(&values, &[count, 1]).unwrap()
    }

    fn adds(y: &Array) -> usize {
        mlx::primitives([y]).unwrap()["Add"]
    }

    #[test]
    fn parts_cover_everything_once() {
        let streams = streams() as i32;
        let heads = [1, 7, 8].map(Span::Heads);
        let outputs = [1, 16, 33, 100, 4096].map(Span::Outputs);
        let tokens = [1, 33, 4096, LEAST_BLOCKS * TOKENS_UNIT * streams + 5].map(Span::Tokens);
        for span in heads.into_iter().chain(outputs).chain(tokens) {
            let (ranges, len, unit): (Vec<_>, _, _) = (span.ranges().collect(), span.len(), span.unit());
            assert_eq!((ranges[0].start, ranges.last().unwrap().end), (0, len), "{ranges:?}");
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{ranges:?}");
            assert!(
                ranges.iter().all(|range| range.start % unit == 0 && range.start < range.end),
                "{ranges:?}"
            );
            let few = matches!(span, Span::Tokens(1 | 33)) && streams > 1;
            let expected = if few { 1 } else { streams.min((len + unit - 1) / unit) };
            assert_eq!((ranges.len() as i32, span.most_parts() as i32), (expected, expected), "{ranges:?}");
        }
    }

    #[test]
    fn tokens_are_computed_apart_and_come_back_in_order_but_not_within_a_part() {
        let many = LEAST_BLOCKS * TOKENS_UNIT * streams() as i32 + 5;
        for (tokens, work, cut) in [(many, MUCH, true), (many, 1000, false), (8, MUCH, false)] {
            let (a, b) = (column(tokens, 1.0), column(tokens, 100.0));
            let span = Span::Tokens(tokens);
            let sum = || over(span, work, [0], |some| Ok([some.of(&a, 0)?.add(&*some.of(&b, 0)?)?]));
            let [y] = sum().unwrap();
            assert_eq!(adds(&y), if cut { span.most_parts() } else { 1 });
            assert_eq!(y.to_vec::<f32>().unwrap(), column(tokens, 101.0).to_vec::<f32>().unwrap());
            let [whole] = undivided(sum).unwrap();
            assert_eq!(adds(&whole), 1);
        }
    }

    #[test]
    fn each_array_gives_what_belongs_to_the_entries_and_each_output_is_joined_along_its_axis() {
        let values: Vec<f32> = (0..48).map(|i| i as f32).collect();
        let (q, k) = (Array::from_slice(&values, &[2, 8, 3]), Array::from_slice(&values[..24], &[4, 2, 3]));
        let (q, k) = (q.unwrap(), k.unwrap());
        // Eight heads of queries for four of keys; of a prepared array too.
        let part = |whole: &Array, heads: &Entries| heads.of(whole, 0).map(Cow::into_owned);
        let prepared = Prepared::new(k.clone(), Span::Heads(4), part).unwrap();
        let both = || {
            over(Span::Heads(4), MUCH, [1, 0], |heads| {
                let q = heads.of(&q, 1)?;
                Ok([q.add(&q)?, heads.of(&k, 0)?.add(prepared.of(heads))?])
            })
        };
        let (apart, whole) = (both().unwrap(), undivided(both).unwrap());
        for (apart, whole) in apart.iter().zip(&whole) {
            assert_eq!((adds(apart), adds(whole)), (Span::Heads(4).most_parts(), 1));
            assert_eq!(apart.shape(), whole.shape());
            assert_eq!(apart.to_vec::<f32>().unwrap(), whole.to_vec::<f32>().unwrap());
        }
    }

    #[test]
    fn an_error_in_a_part_is_that_of_the_whole() {
        let x = column(3, 1.0);
        assert!(over(Span::Heads(8), MUCH, [0], |_| Ok([x.reshape(&[2])?])).is_err());
        assert!(!is_on_stream());
    }
}
