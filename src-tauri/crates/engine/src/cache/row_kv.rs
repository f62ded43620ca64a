use std::ops::Range;

use crate::mlx::{self, Array, Result};

/// Positions added when a buffer is full: a quarter of it, within these bounds.
const GROWTH: std::ops::RangeInclusive<i32> = 256..=4096;

/// Keys and values of one row in one layer: a buffer `[2, Hkv, capacity, D]` of which the first `len` positions count.
///
/// Appending writes in place as long as nobody holds another handle of the buffer. Going back is assigning `len`:
/// later appends overwrite what lies behind it.
#[derive(Debug, Default)]
pub struct RowKv {
    buffer: Option<Array>,
    len: i32,
    /// Positions that the first buffer has at least.
    reserved: i32,
}

impl RowKv {
    /// The fewest positions that a full buffer grows by.
    pub const LEAST_GROWTH: usize = *GROWTH.start() as usize;

    /// Positions that were copied out before, in order, with room for `reserved` in all. Waits for the copy.
    pub fn restored<'a>(parts: impl Iterator<Item = &'a Array>, reserved: usize) -> Result<Self> {
        let parts: Vec<&Array> = parts.collect();
        let mut kv = Self::default();
        kv.reserve(reserved);
        let Some(first) = parts.first() else { return Ok(kv) };
        kv.len = parts.iter().map(|part| part.dim(2)).sum();
        let rest = kv.reserved.max(round_up(kv.len)) - kv.len;
        let room = Array::zeros(&[2, first.dim(1), rest, first.dim(3)], first.dtype())?;
        let parts: Vec<&Array> = parts.into_iter().chain((rest > 0).then_some(&room)).collect();
        let buffer = mlx::concatenate(&parts, 2)?;
        mlx::eval([&buffer])?;
        kv.buffer = Some(buffer);
        Ok(kv)
    }

    /// A copy of some of its positions, `[2, Hkv, n, D]`, still lazy: it must be evaluated, or dropped, before anything
    /// else is appended. `None` where it does not hold them all.
    pub fn copy(&self, positions: Range<usize>) -> Result<Option<Array>> {
        match &self.buffer {
            Some(buffer) if positions.end <= self.len() => {
                let part = buffer.slice_axis(2, positions.start as i32, positions.end as i32)?;
                part.contiguous().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Asks for room for so many positions at once, for a row whose length is known: no copies as it grows.
    pub fn reserve(&mut self, positions: usize) {
        self.reserved = Self::positions_for(positions as u64) as i32;
    }

    /// The positions for which memory is taken when room for so many is asked for.
    pub fn positions_for(positions: u64) -> u64 {
        positions.next_multiple_of(*GROWTH.start() as u64)
    }

    /// Appends `[2, Hkv, m, D]` and returns all keys and all values so far, `[1, Hkv, len, D]` each.
    pub fn append(&mut self, kv: &Array) -> Result<(Array, Array)> {
        let (heads, count, dim) = (kv.dim(1), kv.dim(2), kv.dim(3));
        let end = self.len + count;
        let buffer = match self.buffer.take() {
            Some(buffer) if end <= buffer.dim(2) => buffer,
            old => {
                let capacity = old.as_ref().map_or(0, |b| b.dim(2));
                let grown =
                    (capacity + (capacity / 4).clamp(*GROWTH.start(), *GROWTH.end())).max(round_up(end));
                let grown = grown.max(self.reserved);
                let zeros = Array::zeros(&[2, heads, grown, dim], kv.dtype())?;
                match old {
                    Some(old) if self.len > 0 => {
                        let kept = old.slice_axis(2, 0, self.len)?;
                        zeros.slice_update(&kept, &[0, 0, 0, 0], &[2, heads, self.len, dim])?
                    }
                    _ => zeros,
                }
            }
        };
        let buffer = buffer.slice_update(kv, &[0, 0, self.len, 0], &[2, heads, end, dim])?;
        let keys = buffer.slice(&[0, 0, 0, 0], &[1, heads, end, dim])?;
        let values = buffer.slice(&[1, 0, 0, 0], &[2, heads, end, dim])?;
        self.buffer = Some(buffer);
        self.len = end;
        Ok((keys, values))
    }

    /// The most positions that a buffer can have room for after `len` were appended in any portions, where no more than
    /// [`Self::LEAST_GROWTH`] beyond the first of them were reserved.
    pub fn most_capacity(len: usize) -> usize {
        round_up(len as i32) as usize + (len / 4).clamp(*GROWTH.start() as usize, *GROWTH.end() as usize)
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

    /// The buffer, if anything was ever appended.
    pub fn buffer(&self) -> Option<&Array> {
        self.buffer.as_ref()
    }

    /// Keys and values that count, f32 row-major `[2, Hkv, len, D]`, for comparing states.
    pub fn snapshot(&self) -> Result<Vec<f32>> {
        match &self.buffer {
            Some(buffer) => buffer.slice_axis(2, 0, self.len)?.astype(mlx::Dtype::Float32)?.to_vec(),
            None => Ok(Vec::new()),
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

    #[test]
    fn no_buffer_outgrows_its_bound() {
        for portion in [1, 3, 255, 512, 700] {
            for reserved in [None, Some(portion), Some(portion + RowKv::LEAST_GROWTH)] {
                let mut kv = RowKv::default();
                reserved.into_iter().for_each(|positions| kv.reserve(positions));
                while kv.len() < 3000 {
                    kv.append(&entry(0.0, portion as i32)).unwrap();
                    let capacity = kv.buffer().unwrap().dim(2) as usize;
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
        let parts: Vec<Array> =
            [0..7, 7..200].map(|positions| kv.copy(positions).unwrap().unwrap()).into_iter().collect();
        mlx::eval(&parts).unwrap();
        kv.rewind(200);
        let before = kv.snapshot().unwrap();
        kv.rewind(0);
        kv.append(&entry(-5.0, 300)).unwrap();
        let mut restored = RowKv::restored(parts.iter(), 500).unwrap();
        assert_eq!((restored.len(), restored.snapshot().unwrap()), (200, before.clone()));
        let buffer = restored.buffer().unwrap().shape().to_vec();
        assert_eq!(buffer, [2, 1, 512, 4]);
        restored.append(&entry(9.0, 312)).unwrap();
        assert_eq!(restored.buffer().unwrap().shape(), buffer);
        restored.rewind(200);
        assert_eq!(restored.snapshot().unwrap(), before);
    }

    #[test]
    fn growing_keeps_what_was_written_and_rewinding_forgets_it() {
        let mut kv = RowKv::default();
        kv.append(&entry(0.0, 3)).unwrap();
        let before = kv.snapshot().unwrap();
        kv.append(&entry(100.0, 700)).unwrap();
        assert_eq!(kv.len(), 703);
        kv.rewind(3);
        assert_eq!(kv.snapshot().unwrap(), before);
        let (keys, values) = kv.append(&entry(7.0, 1)).unwrap();
        assert_eq!(keys.shape(), [1, 1, 4, 4]);
        assert_eq!(values.to_vec::<f32>().unwrap()[12..], [11.0, 12.0, 13.0, 14.0]);
    }
}
