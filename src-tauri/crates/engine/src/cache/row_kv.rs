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
