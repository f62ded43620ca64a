//! Where operations run: one stream for each thread, and more of them where the device computes a stream on one processor.
//! This alone knows of several: others say with [`separately`] what could be computed apart.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use mlx_sys::mlx_stream;

use super::runtime::{DeviceKind, default_device, device};
use super::{Array, Result, concatenate};

/// More streams than this have not been tried.
const MOST_STREAMS: usize = 8;
/// Multiply-adds that a stream must be given for its help to outweigh what handing over and waiting take, as measured.
const LEAST_WORK: usize = 150_000;

/// With fewer blocks of tokens for each stream, the pieces would be too unequal: a product is better cut by its outputs.
const LEAST_BLOCKS: i32 = 2;
/// MLX multiplies 16-bit floats in blocks of so many rows.
const TOKENS_UNIT: i32 = 16;
/// Outputs of a piece come in multiples of this, so that vector instructions stay full.
const OUTPUTS_UNIT: i32 = 16;

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

/// The parts of a computation, each of which could be computed alone: which they are, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Tokens: rows that see nothing of each other.
    Tokens(i32),
    /// Heads, or the groups of them that share keys.
    Heads(i32),
    /// Numbers of the result, each a product with other weights.
    Outputs(i32),
}

impl Parts {
    fn count(self) -> i32 {
        let (Self::Tokens(count) | Self::Heads(count) | Self::Outputs(count)) = self;
        count
    }

    /// Where to cut, on this machine, if so many multiply-adds are to be done; nowhere where it does not pay.
    fn pieces(self, multiply_adds: usize) -> Vec<Range<i32>> {
        let streams = streams();
        let is_long = streams > 1 && multiply_adds >= streams * LEAST_WORK && CURRENT.get().is_none();
        let (unit, least) = match self {
            Self::Tokens(_) => (TOKENS_UNIT, LEAST_BLOCKS * TOKENS_UNIT * streams as i32),
            Self::Heads(_) => (1, 2),
            Self::Outputs(_) => (OUTPUTS_UNIT, 1),
        };
        match is_long && self.count() >= least {
            true => pieces(self.count(), unit),
            false => Vec::new(),
        }
    }
}

/// Results of `build`, of which each part depends on the same part of the inputs alone. Where one stream would leave
/// processors idle and the work is long enough, given its multiply-adds, parts are computed side by side; each result is
/// the same to the bit. `inputs` and `outputs` name the axis along which the parts lie in each array.
pub fn separately<const N: usize>(
    parts: Parts,
    multiply_adds: usize,
    inputs: &[(&Array, i32)],
    outputs: [i32; N],
    build: impl Fn(&[&Array]) -> Result<[Array; N]>,
) -> Result<[Array; N]> {
    let pieces = parts.pieces(multiply_adds);
    if pieces.len() < 2 {
        return build(&inputs.iter().map(|(array, _)| *array).collect::<Vec<_>>());
    }
    let of_piece = |(index, piece): (usize, &Range<i32>)| {
        On::stream(index).build(|| {
            let cut = |&(array, axis): &(&Array, i32)| {
                let each = array.dim(axis) / parts.count();
                array.slice_axis(axis, piece.start * each, piece.end * each)
            };
            let arrays = inputs.iter().map(cut).collect::<Result<Vec<_>>>()?;
            build(&arrays.iter().collect::<Vec<_>>())
        })
    };
    let built = pieces.iter().enumerate().map(of_piece).collect::<Result<Vec<_>>>()?;
    let mut joined = Vec::with_capacity(N);
    for (index, axis) in outputs.into_iter().enumerate() {
        joined.push(concatenate(&built.iter().map(|arrays| &arrays[index]).collect::<Vec<_>>(), axis)?);
    }
    Ok(joined.try_into().expect("one for each axis"))
}

/// What `build` builds, none of it cut.
pub fn in_one_piece<T>(build: impl FnOnce() -> T) -> T {
    On::stream(0).build(build)
}

/// Into how many pieces a computation is cut at most. MLX runs a stream of the CPU on one processor; GPUs use all they
/// have for a single operation.
pub fn streams() -> usize {
    with_streams(<[_]>::len)
}

/// Cuts `0..size` into a piece for each stream, all but the last a multiple of `unit` long and equal but for a unit; fewer
/// where there are fewer units.
fn pieces(size: i32, unit: i32) -> Vec<Range<i32>> {
    let (streams, units) = (streams() as i32, (size + unit - 1) / unit);
    let count = streams.min(units);
    (0..count).map(|i| units * i / count * unit..(units * (i + 1) / count * unit).min(size)).collect()
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
        let adds = |y: &Array| mlx::primitives([y]).unwrap()["Add"];
        let many = LEAST_BLOCKS * TOKENS_UNIT * streams() as i32 + 5;
        for (tokens, work, cut) in [(many, usize::MAX, true), (many, 1000, false), (8, usize::MAX, false)] {
            let (a, b) = (column(tokens, 1.0), column(tokens, 100.0));
            let sum = || {
                let inputs = [(&a, 0), (&b, 0)];
                let [y] = separately(Parts::Tokens(tokens), work, &inputs, [0], |parts| {
                    Ok([parts[0].add(parts[1])?])
                })
                .unwrap();
                y
            };
            let y = sum();
            assert_eq!(adds(&y), if cut { pieces(tokens, TOKENS_UNIT).len() } else { 1 });
            assert_eq!(y.to_vec::<f32>().unwrap(), column(tokens, 101.0).to_vec::<f32>().unwrap());
            assert_eq!(adds(&in_one_piece(sum)), 1);
        }
    }

    #[test]
    fn heads_that_share_keys_stay_together_and_every_result_is_joined_along_its_own_axis() {
        let heads = 2 * streams() as i32;
        let numbers =
            |count: i32| Array::from_slice(&(0..count).map(|i| i as f32).collect::<Vec<_>>(), &[1, count]);
        let (queries, keys) = (numbers(3 * heads).unwrap(), numbers(heads).unwrap());
        fn build(parts: &[&Array]) -> Result<[Array; 2]> {
            let shared = parts[0].reshape(&[-1, 3])?.add(&parts[1].reshape(&[-1, 1])?)?;
            Ok([shared.reshape(&[1, -1])?, shared])
        }
        let inputs = [(&queries, 1), (&keys, 1)];
        let apart = separately(Parts::Heads(heads), usize::MAX, &inputs, [1, 0], build).unwrap();
        let whole = build(&[&queries, &keys]).unwrap();
        for (apart, whole) in apart.iter().zip(&whole) {
            assert_eq!(apart.shape(), whole.shape());
            assert_eq!(apart.to_vec::<f32>().unwrap(), whole.to_vec::<f32>().unwrap());
        }
    }

    #[test]
    fn the_thread_goes_back_to_its_own_stream_whatever_happens() {
        let x = Array::from_slice(&vec![1.0f32; 999], &[999, 1]).unwrap();
        let own = CURRENT.get();
        let parts = Parts::Tokens(999);
        let failed = separately(parts, usize::MAX, &[(&x, 0)], [0], |x| Ok([x[0].reshape(&[7, 3, 5, 11])?]));
        assert!(failed.is_err());
        let panicked = std::panic::catch_unwind(|| {
            let x = Array::from_slice(&vec![1.0f32; 999], &[999, 1]).unwrap();
            separately(parts, usize::MAX, &[(&x, 0)], [0], |_| -> Result<[Array; 1]> { panic!() }).is_ok()
        });
        assert!(panicked.is_err());
        assert_eq!(CURRENT.get(), own);
    }
}
