//! Where operations run: one stream for each thread, and more of them where the device computes a stream on one
//! processor.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use mlx_sys::mlx_stream;

use super::runtime::{DeviceKind, default_device, device};
use super::{Array, Result, concatenate};

/// More streams than this have not been tried.
const MOST_STREAMS: usize = 8;
/// Multiply-adds that a stream must be given for its help to outweigh what handing over and waiting take, as measured.
const LEAST_WORK: usize = 150_000;

/// With fewer blocks of tokens for each stream, the pieces would be too unequal: a product is better cut by its
/// outputs.
const LEAST_BLOCKS: i32 = 2;
/// MLX multiplies 16-bit floats in blocks of so many rows.
const TOKENS_UNIT: i32 = 16;

thread_local! {
    // Streams belong to their thread and cost a lookup, so each thread asks once.
    static STREAMS: OnceCell<Vec<mlx_stream>> = const { OnceCell::new() };
    /// The stream that a piece is being built for; `None` outside of pieces.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The stream that this thread builds operations for.
pub(super) fn stream() -> mlx_stream {
    with_streams(|streams| streams[CURRENT.get().unwrap_or(0)])
}

/// Into how many pieces long computations are cut at most. MLX runs a stream of the CPU on one processor; GPUs use all
/// they have for a single operation.
pub fn streams() -> usize {
    with_streams(<[_]>::len)
}

/// Whether a computation of so many multiply-adds is done sooner in pieces. A piece is not cut again.
pub fn worth_streams(multiply_adds: usize) -> bool {
    let streams = streams();
    streams > 1 && multiply_adds >= streams * LEAST_WORK && CURRENT.get().is_none()
}

/// Cuts `0..size` into a piece for each stream, all but the last a multiple of `unit` long and equal but for a unit;
/// fewer where there are fewer units.
pub fn pieces(size: i32, unit: i32) -> Vec<Range<i32>> {
    let (streams, units) = (streams() as i32, (size + unit - 1) / unit);
    let count = streams.min(units);
    (0..count).map(|i| units * i / count * unit..(units * (i + 1) / count * unit).min(size)).collect()
}

/// Builds computations that need nothing of each other, each for a stream of its own.
pub fn side_by_side<P, T>(pieces: &[P], build: impl Fn(&P) -> Result<T>) -> Result<Vec<T>> {
    let streams = streams();
    pieces.iter().enumerate().map(|(i, piece)| On::stream(i % streams).build(|| build(piece))).collect()
}

/// `build` for the tokens of arrays `[T, …]`, some of them beside the others where so many multiply-adds are worth it;
/// what it gives must have a row for each token, which depends on nothing of the other rows.
pub fn by_tokens(
    arrays: &[&Array],
    multiply_adds: usize,
    build: impl Fn(&[&Array]) -> Result<Array>,
) -> Result<Array> {
    let tokens = arrays[0].dim(0);
    if tokens < LEAST_BLOCKS * TOKENS_UNIT * streams() as i32 || !worth_streams(multiply_adds) {
        return build(arrays);
    }
    let outputs = side_by_side(&pieces(tokens, TOKENS_UNIT), |piece| {
        let parts: Vec<Array> =
            arrays.iter().map(|a| a.slice_axis(0, piece.start, piece.end)).collect::<Result<_>>()?;
        build(&parts.iter().collect::<Vec<_>>())
    })?;
    concatenate(&outputs.iter().collect::<Vec<_>>(), 0)
}

/// Goes back to the stream before when it is dropped.
struct On(Option<usize>);

impl On {
    fn stream(index: usize) -> Self {
        Self(CURRENT.replace(Some(index)))
    }

    fn build<T>(self, build: impl FnOnce() -> T) -> T {
        build()
    }
}

impl Drop for On {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

fn with_streams<T>(read: impl FnOnce(&[mlx_stream]) -> T) -> T {
    STREAMS.with(|cell| read(cell.get_or_init(new_streams)))
}

/// The thread's own stream, and more on a CPU with more processors.
fn new_streams() -> Vec<mlx_stream> {
    let more = match device() {
        DeviceKind::Cpu => std::thread::available_parallelism().map_or(1, usize::from).min(MOST_STREAMS) - 1,
        DeviceKind::Metal | DeviceKind::Cuda => 0,
    };
    let device = default_device();
    // SAFETY: the handles are valid. MLX keeps streams until the process ends; no other thread uses these.
    unsafe {
        let mut own = mlx_sys::mlx_stream_new();
        mlx_sys::mlx_get_default_stream(&mut own, device);
        let more = (0..more).map(|_| mlx_sys::mlx_stream_new_device(device));
        let streams = std::iter::once(own).chain(more).collect();
        mlx_sys::mlx_device_free(device);
        streams
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx::{self, Array};

    #[test]
    fn pieces_cover_everything_once() {
        let streams = streams() as i32;
        for (size, unit) in [(1, 1), (7, 1), (8, 4), (100, 16), (33, 16), (4096, 16)] {
            let pieces = pieces(size, unit);
            assert_eq!((pieces[0].start, pieces.last().unwrap().end), (0, size), "{pieces:?}");
            assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start), "{pieces:?}");
            assert!(
                pieces.iter().all(|piece| piece.start % unit == 0 && piece.start < piece.end),
                "{pieces:?}"
            );
            assert_eq!(pieces.len() as i32, streams.min((size + unit - 1) / unit), "{pieces:?}");
        }
    }

    #[test]
    fn tokens_are_computed_apart_and_come_back_in_order_but_not_within_a_piece() {
        let column = |count: i32, scale: f32| {
            let values: Vec<f32> = (0..count).map(|i| i as f32 * scale).collect();
            Array::from_slice(&values, &[count, 1]).unwrap()
        };
        let sum = |parts: &[&Array]| parts[0].add(parts[1]);
        let adds = |y: &Array| mlx::primitives([y]).unwrap()["Add"];
        let many = LEAST_BLOCKS * TOKENS_UNIT * streams() as i32 + 5;
        for (tokens, work, cut) in [(many, usize::MAX, true), (many, 1000, false), (8, usize::MAX, false)] {
            let (a, b) = (column(tokens, 1.0), column(tokens, 100.0));
            let y = by_tokens(&[&a, &b], work, sum).unwrap();
            assert_eq!(adds(&y), if cut { pieces(tokens, TOKENS_UNIT).len() } else { 1 });
            assert_eq!(y.to_vec::<f32>().unwrap(), column(tokens, 101.0).to_vec::<f32>().unwrap());
            let nested = side_by_side(&[()], |()| by_tokens(&[&a, &b], work, sum)).unwrap();
            assert_eq!(adds(&nested[0]), 1);
        }
    }

    #[test]
    fn what_streams_compute_comes_together_and_the_thread_goes_back_to_its_own() {
        let x = Array::from_slice(&[1.0f32, 2.0, 3.0], &[3]).unwrap();
        let own = CURRENT.get();
        let squares = side_by_side(&[1.0f32, 2.0, 3.0, 4.0], |&factor| {
            x.multiply(&Array::scalar(factor, mlx::Dtype::Float32)?)?.multiply(&x)
        });
        let sum = squares.unwrap().into_iter().reduce(|a, b| a.add(&b).unwrap()).unwrap();
        assert_eq!(sum.to_vec::<f32>().unwrap(), [10.0, 40.0, 90.0]);
        let failed = side_by_side(&[0], |_| x.reshape(&[2]));
        assert!(failed.is_err());
        let panicked = std::panic::catch_unwind(|| side_by_side(&[0, 1], |_| -> Result<()> { panic!() }));
        assert!(panicked.is_err());
        assert_eq!(CURRENT.get(), own);
    }
}
