//! Operations, one thin function each. Shapes and rules are MLX's; errors carry its words.

use std::ffi::CStr;

use mlx_sys::{mlx_array, mlx_optional_dtype, mlx_optional_float, mlx_optional_int};
use serde::{Deserialize, Serialize};

use super::array::{Handles, vector_of};
use super::for_metal::is_for_metal;
use super::kernels::one_kernel;
use super::runtime::{DeviceKind, device};
use super::streams::stream;
use super::{Array, Dtype, MlxError, Result};

/// More axes than any array here has.
const MAX_AXES: usize = 8;
const STRIDES: [i32; MAX_AXES] = [1; MAX_AXES];

/// How a quantized matrix stores its groups. Written as configs write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuantMode {
    /// Integers with a scale and a bias per group.
    Affine,
    /// 4-bit floats, one 8-bit exponent per 32.
    Mxfp4,
    /// 8-bit floats, one 8-bit exponent per 32.
    Mxfp8,
    /// 4-bit floats, one 8-bit float scale per 16.
    Nvfp4,
}

impl QuantMode {
    fn name(self) -> &'static CStr {
        match self {
            Self::Affine => c"affine",
            Self::Mxfp4 => c"mxfp4",
            Self::Mxfp8 => c"mxfp8",
            Self::Nvfp4 => c"nvfp4",
        }
    }
}

/// Which keys a query may see.
#[derive(Debug, Clone, Copy)]
pub enum Mask<'a> {
    /// All of them.
    None,
    /// Those up to its own position, the last query being at the last key.
    Causal,
    /// Those for which this holds, bool `[L, N]`.
    Where(&'a Array),
}

/// Which entries of a head a rotary embedding turns together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Entries i and i + dims/2.
    Halves,
    /// Entries 2i and 2i + 1.
    Neighbours,
}

/// How fast the pairs of a rotary embedding turn with the position.
#[derive(Debug, Clone)]
pub enum Frequencies {
    /// Pair i turns by base^(−2i/dims) radians a token.
    Base(f32),
    /// Pair i turns by one radian in this many tokens, f32 `[dims/2]`.
    Periods(Array),
}

/// Which vectors meet which of a stack of matrices: product i is `x[rows[i]]` times `w[matrices[i]]`.
#[derive(Debug, Clone, Copy)]
pub struct Gather<'a> {
    /// Indices into the leading axes of x, in the shape of `matrices`; each vector once and in order where absent.
    pub rows: Option<&'a Array>,
    /// Indices into the stack; the result has their shape.
    pub matrices: &'a Array,
    /// `matrices` ascends, so that one read of a matrix can serve many vectors. MLX heeds it only without `rows`.
    pub sorted: bool,
}

impl Gather<'_> {
    fn raw_rows(&self) -> mlx_array {
        self.rows.map_or_else(null, Array::raw)
    }
}

fn null() -> mlx_array {
    mlx_array { ctx: std::ptr::null_mut() }
}

fn some(value: i32) -> mlx_optional_int {
    mlx_optional_int { value, has_value: true }
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident => $c:ident;)*) => {
        impl Array {
            $($(#[$doc])*
            pub fn $name(&self) -> Result<Self> {
                Self::build(stringify!($name), |res, s| unsafe { mlx_sys::$c(res, self.raw(), s) })
            })*
        }
    };
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident => $c:ident;)*) => {
        impl Array {
            $($(#[$doc])*
            pub fn $name(&self, other: &Self) -> Result<Self> {
                Self::build(stringify!($name), |res, s| unsafe { mlx_sys::$c(res, self.raw(), other.raw(), s) })
            })*
        }
    };
}

unary! {
    /// eˣ.
    exp => mlx_exp;
    /// eˣ − 1.
    expm1 => mlx_expm1;
    /// Natural logarithm.
    log => mlx_log;
    /// ln(1 + x).
    log1p => mlx_log1p;
    /// 1 / (1 + e⁻ˣ).
    sigmoid => mlx_sigmoid;
    /// −x.
    negative => mlx_negative;
    /// tanh x.
    tanh => mlx_tanh;
    /// The error function, 2/√π ∫₀ˣ exp(−t²) dt.
    erf => mlx_erf;
    /// Whether each element is neither infinite nor NaN.
    is_finite => mlx_isfinite;
}

binary! {
    /// Sum, with broadcasting.
    add => mlx_add;
    /// Difference, with broadcasting.
    subtract => mlx_subtract;
    /// Product, with broadcasting.
    multiply => mlx_multiply;
    /// Quotient, with broadcasting.
    divide => mlx_divide;
    /// Matrix product over the last two axes.
    matmul => mlx_matmul;
    /// ln(eᵃ + eᵇ).
    logaddexp => mlx_logaddexp;
    /// a < b.
    less => mlx_less;
    /// a ≥ b.
    greater_equal => mlx_greater_equal;
    /// a = b.
    equal => mlx_equal;
    /// The smaller of the two.
    minimum => mlx_minimum;
    /// The larger of the two.
    maximum => mlx_maximum;
    /// Quotient rounded down; of integers an integer.
    floor_divide => mlx_floor_divide;
    /// Bitwise exclusive or.
    bitwise_xor => mlx_bitwise_xor;
    /// Bits that are set in both.
    bitwise_and => mlx_bitwise_and;
    /// Logical shift to the right for unsigned integers.
    right_shift => mlx_right_shift;
}

impl Array {
    /// Matrix product over the last two axes of halves, computed in f32 and rounded, as it is on every device. On a CPU
    /// MLX's own product of halves takes several times as long as making floats of them.
    pub fn matmul_widened(&self, other: &Self) -> Result<Self> {
        let [a, b] = [self, other].map(|factor| factor.astype(Dtype::Float32));
        a?.matmul(&b?)?.astype(self.dtype())
    }

    /// Converts the elements.
    pub fn astype(&self, dtype: Dtype) -> Result<Self> {
        if self.dtype() == dtype {
            return Ok(self.clone());
        }
        Self::build("astype", |res, s| unsafe { mlx_sys::mlx_astype(res, self.raw(), dtype.into(), s) })
    }

    /// The same bits as elements of another type of the same size.
    pub fn view(&self, dtype: Dtype) -> Result<Self> {
        Self::build("view", |res, s| unsafe { mlx_sys::mlx_view(res, self.raw(), dtype.into(), s) })
    }

    /// The nearest whole number, the even one of two.
    pub fn round(&self) -> Result<Self> {
        Self::build("round", |res, s| unsafe { mlx_sys::mlx_round(res, self.raw(), 0, s) })
    }

    /// x · sigmoid(x).
    pub fn silu(&self) -> Result<Self> {
        self.multiply(&self.sigmoid()?)
    }

    /// Same elements, other dimensions; one may be −1.
    pub fn reshape(&self, shape: &[i32]) -> Result<Self> {
        Self::build("reshape", |res, s| unsafe {
            mlx_sys::mlx_reshape(res, self.raw(), shape.as_ptr(), shape.len(), s)
        })
    }

    /// Reorders the axes.
    pub fn transpose(&self, axes: &[i32]) -> Result<Self> {
        Self::build("transpose", |res, s| unsafe {
            mlx_sys::mlx_transpose_axes(res, self.raw(), axes.as_ptr(), axes.len(), s)
        })
    }

    /// Exchanges two axes.
    pub fn swapaxes(&self, a: i32, b: i32) -> Result<Self> {
        Self::build("swapaxes", |res, s| unsafe { mlx_sys::mlx_swapaxes(res, self.raw(), a, b, s) })
    }

    /// Inserts an axis of size 1.
    pub fn expand_dims(&self, axis: i32) -> Result<Self> {
        Self::build("expand_dims", |res, s| unsafe { mlx_sys::mlx_expand_dims(res, self.raw(), axis, s) })
    }

    /// Removes an axis of size 1.
    pub fn squeeze(&self, axis: i32) -> Result<Self> {
        Self::build("squeeze", |res, s| unsafe { mlx_sys::mlx_squeeze_axis(res, self.raw(), axis, s) })
    }

    /// A row-major copy where the array is a view, else the array itself.
    pub fn contiguous(&self) -> Result<Self> {
        Self::build("contiguous", |res, s| unsafe { mlx_sys::mlx_contiguous(res, self.raw(), false, s) })
    }

    /// The number of axes, if `start` and `stop` have an entry for each.
    fn check_box(&self, operation: &'static str, start: &[i32], stop: &[i32]) -> Result<usize> {
        let n = self.shape().len();
        if start.len() != n || stop.len() != n || n > MAX_AXES {
            let problem = format!("{start:?}..{stop:?} does not address {:?}", self.shape());
            return Err(MlxError::new(operation, problem));
        }
        Ok(n)
    }

    /// The box from `start` to `stop`, one entry an axis.
    pub fn slice(&self, start: &[i32], stop: &[i32]) -> Result<Self> {
        let n = self.check_box("slice", start, stop)?;
        Self::build("slice", |res, s| unsafe {
            mlx_sys::mlx_slice(res, self.raw(), start.as_ptr(), n, stop.as_ptr(), n, STRIDES.as_ptr(), n, s)
        })
    }

    /// `start..stop` of one axis, all of the others.
    pub fn slice_axis(&self, axis: i32, start: i32, stop: i32) -> Result<Self> {
        let shape = self.shape();
        let axis = if axis < 0 { shape.len() as i32 + axis } else { axis } as usize;
        let mut from = [0; MAX_AXES];
        let mut to = [0; MAX_AXES];
        to[..shape.len()].copy_from_slice(shape);
        from[axis] = start;
        to[axis] = stop;
        self.slice(&from[..shape.len()], &to[..shape.len()])
    }

    /// Writes `update` into the box from `start` to `stop`. In place if this was the buffer's only handle.
    pub fn slice_update(self, update: &Self, start: &[i32], stop: &[i32]) -> Result<Self> {
        let n = self.check_box("slice_update", start, stop)?;
        Self::build("slice_update", |res, s| unsafe {
            mlx_sys::mlx_slice_update(
                res,
                self.raw(),
                update.raw(),
                start.as_ptr(),
                n,
                stop.as_ptr(),
                n,
                STRIDES.as_ptr(),
                n,
                s,
            )
        })
    }

    /// Writes `values` at `indices` along an axis.
    pub fn put_along_axis(&self, indices: &Self, values: &Self, axis: i32) -> Result<Self> {
        Self::build("put_along_axis", |res, s| unsafe {
            mlx_sys::mlx_put_along_axis(res, self.raw(), indices.raw(), values.raw(), axis, s)
        })
    }

    /// Cuts one axis at the given indices.
    pub fn split(&self, indices: &[i32], axis: i32) -> Result<Vec<Self>> {
        let mut parts = Handles::empty();
        let status = unsafe {
            mlx_sys::mlx_split_sections(
                parts.as_mut_raw(),
                self.raw(),
                indices.as_ptr(),
                indices.len(),
                axis,
                stream(),
            )
        };
        if status != 0 {
            return Err(MlxError::last("split"));
        }
        parts.into_arrays()
    }

    /// Sum over one axis.
    pub fn sum(&self, axis: i32, keep: bool) -> Result<Self> {
        Self::build("sum", |res, s| unsafe { mlx_sys::mlx_sum_axis(res, self.raw(), axis, keep, s) })
    }

    /// Largest element of one axis.
    pub fn max(&self, axis: i32, keep: bool) -> Result<Self> {
        Self::build("max", |res, s| unsafe { mlx_sys::mlx_max_axis(res, self.raw(), axis, keep, s) })
    }

    /// Smallest element of one axis.
    pub fn min(&self, axis: i32, keep: bool) -> Result<Self> {
        Self::build("min", |res, s| unsafe { mlx_sys::mlx_min_axis(res, self.raw(), axis, keep, s) })
    }

    /// Whether all elements are true.
    pub fn all(&self) -> Result<Self> {
        Self::build("all", |res, s| unsafe { mlx_sys::mlx_all(res, self.raw(), false, s) })
    }

    /// Whether all elements of one axis are true.
    pub fn all_of(&self, axis: i32) -> Result<Self> {
        Self::build("all", |res, s| unsafe { mlx_sys::mlx_all_axis(res, self.raw(), axis, false, s) })
    }

    /// Repeats each entry of an axis.
    pub fn repeat(&self, count: i32, axis: i32) -> Result<Self> {
        Self::build("repeat", |res, s| unsafe { mlx_sys::mlx_repeat_axis(res, self.raw(), count, axis, s) })
    }

    /// The diagonal over two axes, as a last axis.
    pub fn diagonal(&self, axis1: i32, axis2: i32) -> Result<Self> {
        Self::build("diagonal", |res, s| unsafe {
            mlx_sys::mlx_diagonal(res, self.raw(), 0, axis1, axis2, s)
        })
    }
}

/// `x` where the condition holds, `y` elsewhere.
pub fn where_(condition: &Array, x: &Array, y: &Array) -> Result<Array> {
    Array::build("where", |res, s| unsafe { mlx_sys::mlx_where(res, condition.raw(), x.raw(), y.raw(), s) })
}

/// Joins arrays along an axis.
pub fn concatenate(arrays: &[&Array], axis: i32) -> Result<Array> {
    if let [only] = arrays {
        return Ok((*only).clone());
    }
    let arrays = vector_of(arrays.iter().copied());
    Array::build("concatenate", |res, s| unsafe { mlx_sys::mlx_concatenate_axis(res, arrays.raw(), axis, s) })
}

/// Joins arrays along a new axis.
pub fn stack(arrays: &[&Array], axis: i32) -> Result<Array> {
    if let [only] = arrays {
        return only.expand_dims(axis);
    }
    let arrays = vector_of(arrays.iter().copied());
    Array::build("stack", |res, s| unsafe { mlx_sys::mlx_stack_axis(res, arrays.raw(), axis, s) })
}

/// Repeats along axes of size 1.
pub fn broadcast_to(a: &Array, shape: &[i32]) -> Result<Array> {
    Array::build("broadcast_to", |res, s| unsafe {
        mlx_sys::mlx_broadcast_to(res, a.raw(), shape.as_ptr(), shape.len(), s)
    })
}

/// The entries of an axis that `indices` names.
pub fn take(a: &Array, indices: &Array, axis: i32) -> Result<Array> {
    Array::build("take", |res, s| unsafe { mlx_sys::mlx_take_axis(res, a.raw(), indices.raw(), axis, s) })
}

/// The entries of the first axis that `rows` names; the array as it is where those are all, in order.
pub fn take_rows(a: &Array, rows: &[usize]) -> Result<Array> {
    if rows.iter().copied().eq(0..a.dim(0) as usize) {
        return Ok(a.clone());
    }
    let rows: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
    take(a, &Array::from_slice(&rows, &[rows.len() as i32])?, 0)
}

/// Element by element along an axis.
pub fn take_along_axis(a: &Array, indices: &Array, axis: i32) -> Result<Array> {
    Array::build("take_along_axis", |res, s| unsafe {
        mlx_sys::mlx_take_along_axis(res, a.raw(), indices.raw(), axis, s)
    })
}

/// 0, 1, …, n − 1.
pub fn arange(n: i32, dtype: Dtype) -> Result<Array> {
    Array::build("arange", |res, s| unsafe {
        mlx_sys::mlx_arange(res, 0.0, f64::from(n), 1.0, dtype.into(), s)
    })
}

/// A matrix of ones on and below diagonal `k`, zeros above.
pub fn tri(rows: i32, columns: i32, k: i32, dtype: Dtype) -> Result<Array> {
    Array::build("tri", |res, s| unsafe { mlx_sys::mlx_tri(res, rows, columns, k, dtype.into(), s) })
}

/// Index of the largest element of an axis, the first of equals, as u32.
pub fn argmax_axis(a: &Array, axis: i32) -> Result<Array> {
    Array::build("argmax", |res, s| unsafe { mlx_sys::mlx_argmax_axis(res, a.raw(), axis, false, s) })
}

/// Indices in ascending order of the elements.
pub fn argsort(a: &Array, axis: i32) -> Result<Array> {
    Array::build("argsort", |res, s| unsafe { mlx_sys::mlx_argsort_axis(res, a.raw(), axis, s) })
}

/// Indices such that those before `kth` belong to elements not larger than the kth.
pub fn argpartition(a: &Array, kth: i32, axis: i32) -> Result<Array> {
    Array::build("argpartition", |res, s| unsafe {
        mlx_sys::mlx_argpartition_axis(res, a.raw(), kth, axis, s)
    })
}

/// Running sum along an axis, each entry included in its own.
pub fn cumsum(a: &Array, axis: i32) -> Result<Array> {
    let dtype = mlx_optional_dtype { value: a.dtype().into(), has_value: false };
    Array::build("cumsum", |res, s| unsafe {
        mlx_sys::mlx_cumsum_axis(res, a.raw(), axis, false, true, dtype, s)
    })
}

/// ln Σ eˣ over an axis, which is kept.
pub fn logsumexp(a: &Array, axis: i32) -> Result<Array> {
    Array::build("logsumexp", |res, s| unsafe { mlx_sys::mlx_logsumexp_axis(res, a.raw(), axis, true, s) })
}

/// eˣ / Σ eˣ over an axis, in the type of `a` but computed in f32.
pub fn softmax(a: &Array, axis: i32) -> Result<Array> {
    Array::build("softmax", |res, s| unsafe { mlx_sys::mlx_softmax_axis(res, a.raw(), axis, true, s) })
}

/// Depthwise convolution: x `[N, L, C]`, weight `[C, K, 1]`, no padding.
pub fn conv1d(x: &Array, weight: &Array, groups: i32) -> Result<Array> {
    Array::build("conv1d", |res, s| unsafe {
        mlx_sys::mlx_conv1d(res, x.raw(), weight.raw(), 1, 0, 1, groups, s)
    })
}

/// x · (mean(x²) + eps)^−½ · weight over the last axis, statistics in f32.
pub fn rms_norm(x: &Array, weight: Option<&Array>, eps: f32) -> Result<Array> {
    if is_for_metal() {
        return one_kernel(&[x], x.shape());
    }
    let weight = weight.map_or_else(null, Array::raw);
    Array::build("rms_norm", |res, s| unsafe { mlx_sys::mlx_fast_rms_norm(res, x.raw(), weight, eps, s) })
}

/// (x − mean) / √(variance + eps) ⊙ weight + bias over the last axis.
pub fn layer_norm(x: &Array, weight: &Array, bias: &Array, eps: f32) -> Result<Array> {
    if is_for_metal() {
        return one_kernel(&[x], x.shape());
    }
    Array::build("layer_norm", |res, s| unsafe {
        mlx_sys::mlx_fast_layer_norm(res, x.raw(), weight.raw(), bias.raw(), eps, s)
    })
}

/// Rotary position embedding of the first `dims` entries.
///
/// x `[B, heads, L, D]`; `offset` is an int32 `[B]`: where each of the B starts.
pub fn rope(
    x: &Array,
    dims: i32,
    pairing: Pairing,
    frequencies: &Frequencies,
    offset: &Array,
) -> Result<Array> {
    if is_for_metal() {
        return one_kernel(&[x, offset], x.shape());
    }
    let neighbours = pairing == Pairing::Neighbours;
    let (value, has_value, periods) = match frequencies {
        Frequencies::Base(base) => (*base, true, null()),
        Frequencies::Periods(periods) => (0.0, false, periods.raw()),
    };
    let base = mlx_optional_float { value, has_value };
    Array::build("rope", |res, s| unsafe {
        mlx_sys::mlx_fast_rope_dynamic(res, x.raw(), dims, neighbours, base, 1.0, offset.raw(), periods, s)
    })
}

/// softmax(q kᵀ · scale) v; q `[B, Hq, L, D]`, k and v `[B, Hkv, N, D]`, heads shared in groups.
pub fn scaled_dot_product_attention(
    q: &Array,
    k: &Array,
    v: &Array,
    scale: f32,
    mask: Mask<'_>,
) -> Result<Array> {
    if is_for_metal() {
        return one_kernel(&[q, k, v], q.shape());
    }
    let (mode, mask) = match mask {
        Mask::None => (c"", null()),
        Mask::Causal => (c"causal", null()),
        Mask::Where(mask) => (c"array", mask.raw()),
    };
    Array::build("scaled_dot_product_attention", |res, s| unsafe {
        mlx_sys::mlx_fast_scaled_dot_product_attention(
            res,
            q.raw(),
            k.raw(),
            v.raw(),
            scale,
            mode.as_ptr(),
            mask,
            null(),
            false,
            s,
        )
    })
}

/// x · Wᵀ with W quantized `[out, in]`.
pub fn quantized_matmul(
    x: &Array,
    weight: &Array,
    scales: &Array,
    biases: Option<&Array>,
    group_size: i32,
    bits: i32,
    mode: QuantMode,
) -> Result<Array> {
    quantized_product(x, [weight, scales], biases, group_size, bits, mode, true)
}

/// x · W with W quantized `[in, out]`: sums of its rows.
pub fn quantized_weighted_rows(
    x: &Array,
    weight: &Array,
    scales: &Array,
    biases: Option<&Array>,
    group_size: i32,
    bits: i32,
    mode: QuantMode,
) -> Result<Array> {
    quantized_product(x, [weight, scales], biases, group_size, bits, mode, false)
}

fn quantized_product(
    x: &Array,
    [weight, scales]: [&Array; 2],
    biases: Option<&Array>,
    group_size: i32,
    bits: i32,
    mode: QuantMode,
    transposed: bool,
) -> Result<Array> {
    let biases = biases.map_or_else(null, Array::raw);
    Array::build("quantized_matmul", |res, s| unsafe {
        mlx_sys::mlx_quantized_matmul(
            res,
            x.raw(),
            weight.raw(),
            scales.raw(),
            biases,
            transposed,
            some(group_size),
            some(bits),
            mode.name().as_ptr(),
            s,
        )
    })
}

/// Products of chosen vectors of x `[…, 1, in]` with chosen matrices of w `[E, in, out]`: `[…, 1, out]`.
pub fn gather_mm(x: &Array, w: &Array, gather: Gather<'_>) -> Result<Array> {
    let dtype = x.dtype();
    if dtype != Dtype::Float32 && dtype == w.dtype() && device() == DeviceKind::Cpu {
        // MLX's CPU backend has this operation for f32 only.
        let (x, w) = (x.astype(Dtype::Float32)?, w.astype(Dtype::Float32)?);
        return gather_mm(&x, &w, gather)?.astype(dtype);
    }
    Array::build("gather_mm", |res, s| unsafe {
        mlx_sys::mlx_gather_mm(
            res,
            x.raw(),
            w.raw(),
            gather.raw_rows(),
            gather.matrices.raw(),
            gather.sorted,
            s,
        )
    })
}

/// Like `gather_mm`, with a stack of quantized matrices `[E, out, in]`.
pub fn gather_qmm(
    x: &Array,
    [weight, scales]: [&Array; 2],
    biases: Option<&Array>,
    group_size: i32,
    bits: i32,
    mode: QuantMode,
    gather: Gather<'_>,
) -> Result<Array> {
    let biases = biases.map_or_else(null, Array::raw);
    Array::build("gather_qmm", |res, s| unsafe {
        mlx_sys::mlx_gather_qmm(
            res,
            x.raw(),
            weight.raw(),
            scales.raw(),
            biases,
            gather.raw_rows(),
            gather.matrices.raw(),
            true,
            some(group_size),
            some(bits),
            mode.name().as_ptr(),
            gather.sorted,
            s,
        )
    })
}

/// The matrix that a quantized one stands for.
pub fn dequantize(
    weight: &Array,
    scales: &Array,
    biases: Option<&Array>,
    group_size: i32,
    bits: i32,
    mode: QuantMode,
    dtype: Dtype,
) -> Result<Array> {
    let biases = biases.map_or_else(null, Array::raw);
    let dtype = mlx_optional_dtype { value: dtype.into(), has_value: true };
    Array::build("dequantize", |res, s| unsafe {
        mlx_sys::mlx_dequantize(
            res,
            weight.raw(),
            scales.raw(),
            biases,
            some(group_size),
            some(bits),
            mode.name().as_ptr(),
            null(),
            dtype,
            s,
        )
    })
}

/// Numbers side by side that share a scale in affine quantization: the larger of 64 and 32 that divides the `width` of
/// the vectors; `None` where they cannot be quantized.
pub fn group_size(width: usize) -> Option<usize> {
    [64, 32].into_iter().find(|&group| width > 0 && width.is_multiple_of(group))
}

/// Quantizes a matrix: packed weights, scales, and biases where the mode has them.
pub fn quantize(weight: &Array, group_size: i32, bits: i32, mode: QuantMode) -> Result<Vec<Array>> {
    let mut parts = Handles::empty();
    let status = unsafe {
        mlx_sys::mlx_quantize(
            parts.as_mut_raw(),
            weight.raw(),
            some(group_size),
            some(bits),
            mode.name().as_ptr(),
            null(),
            stream(),
        )
    };
    match status {
        0 => parts.into_arrays(),
        _ => Err(MlxError::last("quantize")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_the_words_of_mlx() {
        let a = Array::zeros(&[2, 3], Dtype::Float32).unwrap();
        let error = a.matmul(&a).unwrap_err();
        assert_eq!(error.operation, "matmul");
        assert!(error.message.contains("matmul"), "{error}");
    }

    #[test]
    fn every_quantization_mode_multiplies_like_its_dequantized_matrix() {
        let w: Vec<f32> = (0..64 * 64).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect();
        let w = Array::from_slice(&w, &[64, 64]).unwrap();
        let x: Vec<f32> = (0..3 * 64).map(|i| ((i * 17 % 31) as f32 - 15.0) / 15.0).collect();
        let x = Array::from_slice(&x, &[3, 64]).unwrap();
        for (mode, group, bits) in [
            (QuantMode::Affine, 64, 4),
            (QuantMode::Affine, 32, 8),
            (QuantMode::Mxfp4, 32, 4),
            (QuantMode::Mxfp8, 32, 8),
            (QuantMode::Nvfp4, 16, 4),
        ] {
            let parts = quantize(&w, group, bits, mode).unwrap();
            let biases = parts.get(2);
            assert_eq!(biases.is_some(), mode == QuantMode::Affine);
            let y = quantized_matmul(&x, &parts[0], &parts[1], biases, group, bits, mode).unwrap();
            let back = dequantize(&parts[0], &parts[1], biases, group, bits, mode, Dtype::Float32).unwrap();
            let expected = x.matmul(&back.swapaxes(0, 1).unwrap()).unwrap().to_vec::<f32>().unwrap();
            for (got, want) in y.to_vec::<f32>().unwrap().iter().zip(expected) {
                assert!((got - want).abs() < 1e-3, "{mode:?}: {got} {want}");
            }
        }
    }

    #[test]
    fn a_gathered_product_takes_its_rows_and_matrices_by_index() {
        let x: Vec<f32> = (0..3 * 64).map(|i| ((i * 17 % 31) as f32 - 15.0) / 15.0).collect();
        let x = Array::from_slice(&x, &[3, 1, 64]).unwrap();
        let w: Vec<f32> = (0..4 * 32 * 64).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect();
        let w = Array::from_slice(&w, &[4, 32, 64]).unwrap();
        let indices = |values: &[u32], shape: &[i32]| Array::from_slice(values, shape).unwrap();
        let (rows, matrices) = (indices(&[2, 0, 1, 1], &[2, 2]), indices(&[3, 3, 0, 2], &[2, 2]));
        let chosen = Gather { rows: Some(&rows), matrices: &matrices, sorted: false };
        let ascending = indices(&[0, 2, 2], &[3]);
        let in_order = Gather { rows: None, matrices: &ascending, sorted: true };
        let check = |y: Array, w: &Array, shape: &[i32], pairs: &[(i32, i32)]| {
            assert_eq!(y.shape(), shape);
            let y = y.reshape(&[-1, 32]).unwrap();
            for (i, &(row, matrix)) in pairs.iter().enumerate() {
                let i = i as i32;
                let x = x.slice_axis(0, row, row + 1).unwrap().reshape(&[1, 64]).unwrap();
                let w = w.slice_axis(0, matrix, matrix + 1).unwrap().reshape(&[32, 64]).unwrap();
                let want = x.matmul(&w.swapaxes(0, 1).unwrap()).unwrap().to_vec::<f32>().unwrap();
                let got = y.slice_axis(0, i, i + 1).unwrap().to_vec::<f32>().unwrap();
                assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-3), "pair {i}");
            }
        };
        let (by_index, by_order) = ([(2, 3), (0, 3), (1, 0), (1, 2)], [(0, 0), (1, 2), (2, 2)]);

        let transposed = w.swapaxes(1, 2).unwrap();
        check(gather_mm(&x, &transposed, chosen).unwrap(), &w, &[2, 2, 1, 32], &by_index);
        check(gather_mm(&x, &transposed, in_order).unwrap(), &w, &[3, 1, 32], &by_order);
        for (mode, group, bits) in [
            (QuantMode::Affine, 32, 4),
            (QuantMode::Mxfp4, 32, 4),
            (QuantMode::Mxfp8, 32, 8),
            (QuantMode::Nvfp4, 16, 4),
        ] {
            let parts = quantize(&w, group, bits, mode).unwrap();
            let biases = parts.get(2);
            let back = dequantize(&parts[0], &parts[1], biases, group, bits, mode, Dtype::Float32).unwrap();
            let product =
                |gather| gather_qmm(&x, [&parts[0], &parts[1]], biases, group, bits, mode, gather).unwrap();
            check(product(chosen), &back, &[2, 2, 1, 32], &by_index);
            check(product(in_order), &back, &[3, 1, 32], &by_order);
        }
    }

    #[test]
    fn a_partition_of_one_row_does_not_depend_on_the_others() {
        // Few distinct values: ties at every cut.
        let values: Vec<f32> = (0..40 * 96).map(|i| ((i * i * 31 + i * 7) % 13) as f32).collect();
        let rows = Array::from_slice(&values, &[40, 96]).unwrap();
        let together = argpartition(&rows, 88, -1).unwrap().to_vec::<u32>().unwrap();
        for (i, together) in together.chunks(96).enumerate() {
            let row = rows.slice_axis(0, i as i32, i as i32 + 1).unwrap().contiguous().unwrap();
            assert_eq!(together, argpartition(&row, 88, -1).unwrap().to_vec::<u32>().unwrap());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn products_on_a_cpu_are_made_by_this_programs_own_function() {
        // SAFETY: a name that ends.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"cblas_sgemm".as_ptr()) };
        assert_eq!(found as usize, foretoken_blas::cblas_sgemm as *const () as usize);
    }

    #[test]
    fn softmax_of_half_precision_is_computed_in_f32() {
        // In bf16 a sum of ones stops growing at 256.
        let ones = Array::zeros(&[1, 4096], Dtype::Bfloat16).unwrap();
        let p = softmax(&ones, -1).unwrap();
        assert_eq!(p.dtype(), Dtype::Bfloat16);
        assert_eq!(p.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap(), vec![1.0 / 4096.0; 4096]);
    }

    #[test]
    fn rope_turns_by_the_position_over_the_period() {
        let x = Array::from_slice(&[1.0f32, 1.0, 0.0, 0.0, 7.0, 8.0], &[1, 1, 1, 6]).unwrap();
        let (periods, position) = ([2.0f32, 40.0], 5.0f32);
        let freqs = Frequencies::Periods(Array::from_slice(&periods, &[2]).unwrap());
        let offset = Array::from_slice(&[position as i32], &[1]).unwrap();
        let y = rope(&x, 4, Pairing::Halves, &freqs, &offset).unwrap().to_vec::<f32>().unwrap();
        for (i, period) in periods.into_iter().enumerate() {
            let (sin, cos) = (position / period).sin_cos();
            assert!((y[i] - cos).abs() < 1e-5 && (y[i + 2] - sin).abs() < 1e-5, "{y:?}");
        }
        assert_eq!(y[4..], [7.0, 8.0]);
    }

    #[test]
    fn an_update_without_another_handle_writes_in_place() {
        let mut buffer = Array::zeros(&[1, 1024 * 1024], Dtype::Float32).unwrap();
        super::super::eval([&buffer]).unwrap();
        let one = Array::from_slice(&[1.0f32], &[1, 1]).unwrap();
        super::super::reset_peak_memory();
        let before = super::super::active_memory();
        for i in 0..8 {
            buffer = buffer.slice_update(&one, &[0, i], &[1, i + 1]).unwrap();
            super::super::eval([&buffer]).unwrap();
        }
        assert!(super::super::peak_memory() < before + buffer.nbytes() / 2);
        assert_eq!(
            buffer.slice(&[0, 0], &[1, 9]).unwrap().to_vec::<f32>().unwrap(),
            [1., 1., 1., 1., 1., 1., 1., 1., 0.]
        );
    }
}
