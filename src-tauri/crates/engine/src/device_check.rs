//! Whether the device computes, and rightly: products of whole numbers, which every kernel that is right gives exactly,
//! in whatever order it adds.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::mlx::{self, Array, DeviceKind, Dtype, MlxError, QuantMode};

/// Rows of the products, and columns of their left factors. On Metal one row, a few and many take different kernels;
/// long sums of many rows are divided, and short ones are not.
const SHAPES: [(usize, usize); 5] = [(1, INNER), (3, INNER), (9, INNER), (33, INNER), (64, 64)];
/// Columns of the left factor, as many as the fast kernels of one row want.
const INNER: usize = 512;
/// Columns of the product.
const OUTER: usize = 64;
/// Numbers of the largest left factor.
const MOST: usize = 33 * INNER;
/// Weights that share scale and bias, and the bits of one.
const GROUP: usize = 64;
const BITS: usize = 4;
/// One in so many numbers of the left factor is not zero, so that no sum is beyond 256, up to where bfloat16 has every
/// whole number.
const SPARSE: u32 = 8;

/// What computes, and that it computes rightly.
#[derive(Debug)]
pub struct DeviceCheck {
    /// What computes.
    pub device: DeviceKind,
    /// The file of Metal's kernels that was named to MLX; `None` where it looks for them itself.
    pub metallib: Option<PathBuf>,
    /// How long all products took, the start of the device counted in.
    pub took: Duration,
}

impl fmt::Display for DeviceCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, metallib, took } = self;
        writeln!(f, "Device: {}", device.name())?;
        if let Some(metallib) = metallib {
            writeln!(f, "Kernels: {}", metallib.display())?;
        }
        let rows = SHAPES.map(|(rows, _)| rows.to_string()).join(", ");
        writeln!(f, "Products of {rows} rows: right, in f32, f16, bf16 and 4 bits")?;
        write!(f, "Took: {:.3} s", took.as_secs_f64())
    }
}

/// Why the device cannot be used.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// It computes nothing.
    #[error("{} cannot compute: {error}.", title(*.device))]
    Failed {
        /// What was to compute.
        device: DeviceKind,
        /// MLX's own words.
        error: MlxError,
    },
    /// It computes something else.
    #[error("{} computes wrongly: of a product of {rows} rows in {weights}, {wrong} of {all} numbers are wrong.",
        title(*.device))]
    Wrong {
        /// What computed.
        device: DeviceKind,
        /// The type of the weights.
        weights: &'static str,
        /// Rows of the product.
        rows: usize,
        /// How many numbers of it are wrong.
        wrong: usize,
        /// How many it has.
        all: usize,
    },
}

impl DeviceError {
    /// What to do.
    pub(crate) const HINT: &'static str =
        "Restart the computer. If that does not help, install Foretoken again.";
}

/// The device, as a sentence begins with it.
fn title(device: DeviceKind) -> &'static str {
    match device {
        DeviceKind::Metal => "The GPU (Metal)",
        DeviceKind::Cuda => "The GPU (CUDA)",
        DeviceKind::Cpu => "The processor",
    }
}

/// Computes products of each number of rows, in each type, and compares them with those of plain loops.
pub fn check() -> Result<DeviceCheck, DeviceError> {
    let (device, from) = (mlx::device(), Instant::now());
    let (x, w) = (left(), right());
    for (rows, inner) in SHAPES {
        let (x, w) = (&x[..rows * inner], &w[..OUTER * inner]);
        let expected = expected(x, w, inner);
        for weights in Weights::ALL {
            let failed = |error| DeviceError::Failed { device, error };
            let product = weights.product(x, w, inner).map_err(failed)?;
            let all = expected.len();
            let right = product.iter().zip(&expected).filter(|(a, b)| a == b).count();
            if right < all || product.len() > all {
                return Err(DeviceError::Wrong {
                    device,
                    weights: weights.name(),
                    rows,
                    wrong: all - right,
                    all,
                });
            }
        }
    }
    Ok(DeviceCheck { device, metallib: mlx::metallib::named(), took: from.elapsed() })
}

/// The type of the right factor of a product.
#[derive(Debug, Clone, Copy)]
enum Weights {
    Float(Dtype),
    Quantized,
}

impl Weights {
    const ALL: [Self; 4] = [
        Self::Float(Dtype::Float32),
        Self::Float(Dtype::Float16),
        Self::Float(Dtype::Bfloat16),
        Self::Quantized,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Float(Dtype::Float32) => "f32",
            Self::Float(Dtype::Float16) => "f16",
            Self::Float(_) => "bf16",
            Self::Quantized => "4 bits",
        }
    }

    /// By the device: x · Wᵀ, with x `[rows, inner]` and W `[OUTER, inner]`.
    fn product(self, x: &[f32], w: &[u8], inner: usize) -> mlx::Result<Vec<f32>> {
        let ones = vec![1.0_f32; OUTER * inner / GROUP];
        let x = Array::from_slice(x, &[(x.len() / inner) as i32, inner as i32])?;
        let (inner, outer) = (inner as i32, OUTER as i32);
        let product = match self {
            Self::Float(dtype) => {
                let w: Vec<f32> = w.iter().copied().map(weight).collect();
                let w = Array::from_slice(&w, &[outer, inner])?.astype(dtype)?;
                x.astype(dtype)?.matmul(&w.swapaxes(0, 1)?)?
            }
            Self::Quantized => {
                const PACKED: usize = 32 / BITS;
                let packed =
                    |eight: &[u8]| eight.iter().rev().fold(0, |word: u32, &w| word << BITS | u32::from(w));
                let words: Vec<u32> = w.chunks_exact(PACKED).map(packed).collect();
                let groups = [outer, inner / GROUP as i32];
                let scales = Array::from_slice(&ones, &groups)?.astype(Dtype::Bfloat16)?;
                let biases = scales.multiply(&Array::scalar(weight(0), Dtype::Bfloat16)?)?;
                let w = Array::from_slice(&words, &[outer, inner / PACKED as i32])?;
                let x = x.astype(Dtype::Bfloat16)?;
                let (group, bits) = (GROUP as i32, BITS as i32);
                mlx::quantized_matmul(&x, &w, &scales, Some(&biases), group, bits, QuantMode::Affine)?
            }
        };
        product.astype(Dtype::Float32)?.to_vec()
    }
}

/// x · Wᵀ by loops.
fn expected(x: &[f32], w: &[u8], inner: usize) -> Vec<f32> {
    let w: Vec<f32> = w.iter().copied().map(weight).collect();
    let dot = |x: &[f32], w: &[f32]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f32>();
    let rows = x.chunks_exact(inner);
    rows.flat_map(|x| w.chunks_exact(inner).map(move |w| dot(x, w))).collect()
}

/// The weight that is stored as `number`.
fn weight(number: u8) -> f32 {
    f32::from(number) - 8.0
}

/// Numbers of x: -1, 0 and 1.
fn left() -> Vec<f32> {
    let number = |n: u32| match n % (2 * SPARSE) {
        0 => -1.0,
        1 => 1.0,
        _ => 0.0,
    };
    noise(1).map(number).take(MOST).collect()
}

/// W, in numbers from 0 to 15.
fn right() -> Vec<u8> {
    noise(2).map(|n| (n % (1 << BITS)) as u8).take(OUTER * INNER).collect()
}

/// Numbers without a pattern, by Marsaglia's xorshift.
fn noise(seed: u32) -> impl Iterator<Item = u32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9);
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state >> 8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_device_computes_rightly() {
        let checked = check().unwrap();
        assert_eq!(checked.device, mlx::device());
        assert!(checked.to_string().contains("1, 3, 9, 33, 64 rows: right"), "{checked}");
    }

    #[test]
    fn no_sum_is_beyond_what_every_type_holds_exactly() {
        let sums = expected(&left(), &right(), INNER);
        let largest = sums.iter().fold(0.0_f32, |largest, sum| largest.max(sum.abs()));
        assert!((100.0..=256.0).contains(&largest), "{largest}");
        // Products of a weight as it is stored are added before the bias is: they must be exact too, in f32.
        assert!(INNER as f32 * 15.0 < (1 << 24) as f32);
        // A factor that is nearly empty, or whose rows repeat, proves nothing.
        let mut distinct: Vec<i32> = sums.iter().map(|&sum| sum as i32).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 150, "{}", distinct.len());
    }

    #[test]
    fn a_device_that_cannot_be_used_says_why() {
        let (device, error) =
            (DeviceKind::Metal, MlxError { operation: "eval", message: "no kernel".into() });
        let failed = DeviceError::Failed { device, error };
        assert_eq!(failed.to_string(), "The GPU (Metal) cannot compute: eval: no kernel.");
        let wrong = DeviceError::Wrong { device, weights: "4 bits", rows: 9, wrong: 3, all: 576 };
        let told =
            "The GPU (Metal) computes wrongly: of a product of 9 rows in 4 bits, 3 of 576 numbers are wrong.";
        assert_eq!(wrong.to_string(), told);
    }
}
