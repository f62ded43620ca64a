//! Some rows of a tensor, read from its files without the others: of an embedding or an output head few are needed at
//! a time.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::LoadError;
use crate::checkpoint::{CheckpointError, TensorPlan};
use crate::mlx::{Array, Dtype};

/// These rows of the tensor `[rows, columns]` of a plan, one range after the other, in the type `stored` in which the
/// files have them.
pub(super) fn read_rows(
    plan: &TensorPlan,
    ranges: &[Range<usize>],
    stored: Dtype,
) -> Result<Array, LoadError> {
    let columns = plan.shape.last().copied().unwrap_or(1);
    let row_bytes = columns * plan.stored.bitsize() / 8;
    let rows: usize = ranges.iter().map(Range::len).sum();
    let (mut bytes, mut files) = (vec![0; rows * row_bytes], HashMap::<&Path, File>::new());
    let mut rest = &mut bytes[..];
    for range in ranges {
        let wanted = (range.start * row_bytes) as u64..(range.end * row_bytes) as u64;
        let mut before = 0;
        for run in plan.runs() {
            let here = before..before + run.bytes;
            before = here.end;
            let (start, end) = (wanted.start.max(here.start), wanted.end.min(here.end));
            if start >= end {
                continue;
            }
            let io = |source| CheckpointError::Io { path: run.file.to_owned(), source };
            let (now, later) = rest.split_at_mut((end - start) as usize);
            if !files.contains_key(run.file) {
                files.insert(run.file, File::open(run.file).map_err(io)?);
            }
            files[run.file].read_exact_at(now, run.offset + start - here.start).map_err(io)?;
            rest = later;
        }
    }
    Ok(Array::from_bytes(&bytes, &[rows as i32, columns as i32], stored)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::checkpoint::{Rows, Source, Transform};

    #[test]
    fn rows_are_found_wherever_they_lie() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, values: Range<u8>| {
            let path = dir.path().join(name);
            fs::write(&path, values.flat_map(|value| f32::from(value).to_le_bytes()).collect::<Vec<u8>>())
                .unwrap();
            path
        };
        // The second half of each block of four rows of two, then three rows of another file.
        let source = |file, shape: &[usize], rows| {
            let bytes = shape.iter().product::<usize>() as u64 * 4;
            Source { name: "w".into(), file, offset: 0, bytes, shape: shape.to_vec(), rows }
        };
        let upper = Rows::OfBlocks { block: 4, start: 2, end: 4 };
        let sources =
            vec![source(file("a", 0..16), &[8, 2], upper), source(file("b", 100..106), &[3, 2], Rows::All)];
        let stored = safetensors::Dtype::F32;
        let plan = TensorPlan {
            name: "w".into(),
            sources,
            stored,
            dtype: stored,
            shape: vec![7, 2],
            transform: Transform::None,
        };
        let all = [4., 5., 6., 7., 12., 13., 14., 15., 100., 101., 102., 103., 104., 105.];
        for ranges in [[0..7, 0..0, 0..0], [0..1, 2..3, 6..7], [1..5, 5..5, 6..6], [3..3, 4..6, 0..2]] {
            let expected: Vec<f32> =
                ranges.iter().flat_map(|rows| all[2 * rows.start..2 * rows.end].to_vec()).collect();
            let found = read_rows(&plan, &ranges, Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
            assert_eq!(found, expected, "{ranges:?}");
        }
    }
}
