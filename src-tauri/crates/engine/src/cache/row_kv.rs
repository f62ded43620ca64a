//! The KV cache of one row in one attention layer: keys and values `[2, Hkv, capacity, D]`, in the compute type or
//! quantized to 8 bits. Positions are appended in place, and rolled back by shortening the length.

use std::ops::Range;

use foretoken_protocol::KvPrecision;

use super::quantized_heads::{QuantizedHeads, quantize_heads};
use crate::mlx::{self, Array, Dtype, Result};

/// Positions by which a full buffer grows: a quarter of it, within these bounds.
const GROWTH: std::ops::RangeInclusive<i32> = 256..=4096;

/// Keys and values of one row in one layer: a buffer `[2, Hkv, capacity, D]` of which the first `len` positions count,
/// or, in 8 bits, three such buffers, of packed numbers, scales and biases, which differ from it in their last axis.
///
/// Appending writes in place as long as nobody holds another handle of the buffers. A rollback sets `len`; later
/// appends overwrite the positions behind it. Each position is quantized by itself, so its values do not depend on
/// which positions are appended together. A clone shares the buffers until one of the two appends, which then copies
/// them.
#[derive(Debug, Clone, Default)]
pub struct RowKv {
    precision: KvPrecision,
    /// None before the first append.
    buffers: Vec<Array>,
    len: i32,
    /// The least capacity of buffers that are made from now on.
    reserved: i32,
}

/// Some positions of a row's keys and values, in arrays of their own of the same form as its buffers.
#[derive(Debug, Clone)]
pub struct KvCopy {
    precision: KvPrecision,
    buffers: Vec<Array>,
}

/// All keys and all values of a row, as they are kept.
#[derive(Debug)]
pub enum KeysValues {
    /// `[1, Hkv, len, D]` each.
    Full([Array; 2]),
    /// In 8 bits.
    Eight([QuantizedHeads; 2]),
}

impl KeysValues {
    /// Keys and values in this type, `[1, Hkv, len, D]` each.
    pub fn full(self, dtype: Dtype) -> Result<[Array; 2]> {
        match self {
            Self::Full(keys_values) => Ok(keys_values),
            Self::Eight([keys, values]) => Ok([keys.dequantize(dtype)?, values.dequantize(dtype)?]),
        }
    }
}

impl KvCopy {
    /// A copy that consists of these arrays: one of `[2, Hkv, n, D]`, or three in 8 bits.
    pub fn new(precision: KvPrecision, buffers: Vec<Array>) -> Self {
        Self { precision, buffers }
    }

    /// The arrays, for evaluation.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.buffers.iter()
    }

    /// How it keeps keys and values.
    pub fn precision(&self) -> KvPrecision {
        self.precision
    }

    /// The number of arrays that a copy consists of.
    pub fn arrays_in(precision: KvPrecision) -> usize {
        match precision {
            KvPrecision::Full => 1,
            KvPrecision::Eight => 3,
        }
    }

    /// The last `count` of its positions, which it must have; shares its memory.
    pub fn last(&self, count: usize) -> Result<Self> {
        let last = |buffer: &Array| buffer.slice_axis(2, buffer.dim(2) - count as i32, buffer.dim(2));
        let buffers = self.buffers.iter().map(last).collect::<Result<_>>()?;
        Ok(Self { precision: self.precision, buffers })
    }

    /// Positions that it has.
    pub fn len(&self) -> usize {
        self.positions() as usize
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.positions() == 0
    }

    fn positions(&self) -> i32 {
        self.buffers.first().map_or(0, |buffer| buffer.dim(2))
    }
}

impl RowKv {
    /// The fewest positions that full buffers grow by.
    pub const LEAST_GROWTH: usize = *GROWTH.start() as usize;

    /// An empty one.
    pub fn new(precision: KvPrecision) -> Self {
        Self { precision, ..Self::default() }
    }

    /// A cache of the positions in `parts`, one part after the other, with room for `reserved` positions in all. Waits
    /// for the copy.
    pub fn restored<'a>(parts: impl IntoIterator<Item = &'a KvCopy>, reserved: usize) -> Result<Self> {
        let parts: Vec<&KvCopy> = parts.into_iter().collect();
        let mut kv = Self::new(parts.first().map_or(KvPrecision::Full, |part| part.precision));
        kv.reserve(reserved);
        kv.len = parts.iter().map(|part| part.positions()).sum();
        let rest = kv.reserved.max(round_up(kv.len)) - kv.len;
        for index in 0..parts.first().map_or(0, |part| part.buffers.len()) {
            let first = &parts[0].buffers[index];
            let room = Array::zeros(&[2, first.dim(1), rest, first.dim(3)], first.dtype())?;
            let pieces = parts.iter().map(|part| &part.buffers[index]);
            let pieces: Vec<&Array> = pieces.chain((rest > 0).then_some(&room)).collect();
            kv.buffers.push(mlx::concatenate(&pieces, 2)?);
        }
        mlx::eval(&kv.buffers)?;
        Ok(kv)
    }

    /// A copy of some of its positions, still lazy: it must be evaluated, or dropped, before anything else is appended.
    /// `None` where it does not hold them all, or nothing was ever appended.
    pub fn copy(&self, positions: Range<usize>) -> Result<Option<KvCopy>> {
        if self.buffers.is_empty() || positions.end > self.len() {
            return Ok(None);
        }
        let (begin, end) = (positions.start as i32, positions.end as i32);
        let copy = |buffer: &Array| buffer.slice_axis(2, begin, end)?.contiguous();
        let buffers = self.buffers.iter().map(copy).collect::<Result<_>>()?;
        Ok(Some(KvCopy { precision: self.precision, buffers }))
    }

    /// Makes later buffers large enough for so many positions, so that a row whose length is known is not copied as it
    /// grows.
    pub fn reserve(&mut self, positions: usize) {
        self.reserved = Self::positions_for(positions as u64) as i32;
    }

    /// The capacity of a buffer that is made for `positions`: the next multiple of [`Self::LEAST_GROWTH`].
    pub fn positions_for(positions: u64) -> u64 {
        positions.next_multiple_of(*GROWTH.start() as u64)
    }

    /// Appends keys and values `[2, Hkv, m, D]` and returns all positions so far.
    pub fn append(&mut self, kv: &Array) -> Result<KeysValues> {
        let end = self.len + kv.dim(2);
        let parts = match self.precision {
            KvPrecision::Full => vec![kv.clone()],
            KvPrecision::Eight => quantize_heads(kv)?,
        };
        let old = std::mem::take(&mut self.buffers);
        let mut old = old.into_iter();
        self.buffers =
            parts.iter().map(|part| self.written(old.next(), part, end)).collect::<Result<Vec<_>>>()?;
        self.len = end;
        self.keys_values()
    }

    /// All positions so far, of which there must be some. While anything reads them, also on the device, appending
    /// copies the buffers.
    pub fn keys_values(&self) -> Result<KeysValues> {
        let half = |index: i32| {
            let of = |buffer: &Array| {
                buffer.slice(&[index, 0, 0, 0], &[index + 1, buffer.dim(1), self.len, buffer.dim(3)])
            };
            self.buffers.iter().map(of).collect::<Result<Vec<_>>>()
        };
        Ok(match (half(0)?.as_slice(), half(1)?.as_slice()) {
            ([keys], [values]) => KeysValues::Full([keys.clone(), values.clone()]),
            (keys, values) => KeysValues::Eight([QuantizedHeads::new(keys), QuantizedHeads::new(values)]),
        })
    }

    /// The buffer `old`, or a larger one with the same contents, with `part` written at the positions `len..end`.
    fn written(&self, old: Option<Array>, part: &Array, end: i32) -> Result<Array> {
        let (heads, width) = (part.dim(1), part.dim(3));
        let buffer = match old {
            Some(buffer) if end <= buffer.dim(2) => buffer,
            old => {
                let capacity = old.as_ref().map_or(0, |b| b.dim(2));
                let grown =
                    (capacity + (capacity / 4).clamp(*GROWTH.start(), *GROWTH.end())).max(round_up(end));
                let grown = grown.max(self.reserved);
                let zeros = Array::zeros(&[2, heads, grown, width], part.dtype())?;
                match old {
                    Some(old) if self.len > 0 => {
                        let kept = old.slice_axis(2, 0, self.len)?;
                        zeros.slice_update(&kept, &[0, 0, 0, 0], &[2, heads, self.len, width])?
                    }
                    _ => zeros,
                }
            }
        };
        buffer.slice_update(part, &[0, 0, self.len, 0], &[2, heads, end, width])
    }

    /// The largest capacity of a buffer after `len` positions were appended in any portions, provided that no more than
    /// the first portion and [`Self::LEAST_GROWTH`] were reserved.
    pub fn most_capacity(len: usize) -> usize {
        round_up(len as i32) as usize + (len / 4).clamp(*GROWTH.start() as usize, *GROWTH.end() as usize)
    }

    /// How it keeps keys and values.
    pub fn precision(&self) -> KvPrecision {
        self.precision
    }

    /// Positions that count.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether no position counts.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets the positions from `len` on; a no-op where there are fewer.
    pub fn rewind(&mut self, len: usize) {
        self.len = self.len.min(len as i32);
    }

    /// The buffers, if anything was ever appended.
    pub fn buffers(&self) -> &[Array] {
        &self.buffers
    }

    /// Keys and values that count, `[2, Hkv, len, D]` in this type; `None` before the first append.
    pub fn values(&self, dtype: Dtype) -> Result<Option<Array>> {
        let parts: Vec<Array> =
            self.buffers.iter().map(|buffer| buffer.slice_axis(2, 0, self.len)).collect::<Result<_>>()?;
        match parts.as_slice() {
            [] => Ok(None),
            [full] => full.astype(dtype).map(Some),
            parts => QuantizedHeads::new(parts).dequantize(dtype).map(Some),
        }
    }
}

fn round_up(positions: i32) -> i32 {
    RowKv::positions_for(positions as u64) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: f32, count: i32) -> Array {
        let values: Vec<f32> = (0..2 * count * 4).map(|i| value + i as f32).collect();
        Array::from_slice(&values, &[2, 1, count, 4]).unwrap()
    }

    fn snapshot(kv: &RowKv) -> Vec<f32> {
        kv.values(Dtype::Float32).unwrap().unwrap().to_vec().unwrap()
    }

    #[test]
    fn no_buffer_outgrows_its_bound() {
        for portion in [1, 3, 255, 512, 700] {
            for reserved in [None, Some(portion), Some(portion + RowKv::LEAST_GROWTH)] {
                let mut kv = RowKv::default();
                reserved.into_iter().for_each(|positions| kv.reserve(positions));
                while kv.len() < 3000 {
                    kv.append(&entry(0.0, portion as i32)).unwrap();
                    let capacity = kv.buffers()[0].dim(2) as usize;
                    let len = kv.len();
                    assert!(capacity <= RowKv::most_capacity(len), "{len} by {portion}, {reserved:?}");
                }
            }
        }
    }

    #[test]
    fn copies_come_back_as_they_were_and_do_not_follow_the_row() {
        let mut kv = RowKv::default();
        kv.append(&entry(0.0, 300)).unwrap();
        assert!(kv.copy(200..301).unwrap().is_none());
        let parts = [0..7, 7..200].map(|positions| kv.copy(positions).unwrap().unwrap());
        mlx::eval(parts.iter().flat_map(KvCopy::arrays)).unwrap();
        kv.rewind(200);
        let before = snapshot(&kv);
        kv.rewind(0);
        kv.append(&entry(-5.0, 300)).unwrap();
        let mut restored = RowKv::restored(parts.iter(), 500).unwrap();
        assert_eq!((restored.len(), snapshot(&restored)), (200, before.clone()));
        let buffer = restored.buffers()[0].shape().to_vec();
        assert_eq!(buffer, [2, 1, 512, 4]);
        restored.append(&entry(9.0, 312)).unwrap();
        assert_eq!(restored.buffers()[0].shape(), buffer);
        restored.rewind(200);
        assert_eq!(snapshot(&restored), before);
    }

    #[test]
    fn growing_keeps_what_was_written_and_rewinding_forgets_it() {
        let mut kv = RowKv::default();
        kv.append(&entry(0.0, 3)).unwrap();
        let before = snapshot(&kv);
        kv.append(&entry(100.0, 700)).unwrap();
        assert_eq!(kv.len(), 703);
        kv.rewind(3);
        assert_eq!(snapshot(&kv), before);
        let KeysValues::Full([keys, values]) = kv.append(&entry(7.0, 1)).unwrap() else { panic!("8 bits") };
        assert_eq!(keys.shape(), [1, 1, 4, 4]);
        assert_eq!(values.to_vec::<f32>().unwrap()[12..], [11.0, 12.0, 13.0, 14.0]);
    }
    /// Two heads of 64 numbers.
    fn wide(value: f32, count: i32) -> Array {
        let values: Vec<f32> = (0..4 * count * 64).map(|i| (value + (i * 37 % 101) as f32).sin()).collect();
        Array::from_slice(&values, &[2, 2, count, 64]).unwrap()
    }

    #[test]
    fn eight_bits_hold_each_number_to_a_level_however_it_was_appended() {
        let all = wide(0.0, 400);
        let expected = all.to_vec::<f32>().unwrap();
        let kept = |portions: &[i32]| {
            let mut kv = RowKv::new(KvPrecision::Eight);
            let mut start = 0;
            for portion in portions {
                kv.append(&all.slice_axis(2, start, start + portion).unwrap()).unwrap();
                start += portion;
            }
            snapshot(&kv)
        };
        let at_once = kept(&[400]);
        let most = expected.iter().zip(&at_once).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most > 0.0 && most < 2.0 / 255.0, "{most}");
        assert_eq!(kept(&[1, 2, 297, 1, 99]), at_once);
    }

    #[test]
    fn copies_in_eight_bits_come_back_as_they_were() {
        let mut kv = RowKv::new(KvPrecision::Eight);
        kv.append(&wide(0.0, 300)).unwrap();
        let parts = [0..7, 7..200].map(|positions| kv.copy(positions).unwrap().unwrap());
        mlx::eval(parts.iter().flat_map(KvCopy::arrays)).unwrap();
        kv.rewind(200);
        let before = snapshot(&kv);
        let mut restored = RowKv::restored(parts.iter(), 500).unwrap();
        assert_eq!(snapshot(&restored), before);
        for kv in [&mut kv, &mut restored] {
            kv.append(&wide(3.0, 5)).unwrap();
        }
        assert_eq!(snapshot(&restored), snapshot(&kv));
    }
}
