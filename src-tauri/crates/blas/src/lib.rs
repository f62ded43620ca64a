//! `cblas_sgemm` for MLX on Linux. MLX's wheel brings the reference BLAS, which adds one term after the other; on a Mac
//! products are made by the GPU, or by Accelerate. A program that is linked with this crate and with MLX exports the
//! function, and the loader gives it to MLX rather than that of the library beside it. Nothing calls it from Rust.
//!
//! Other libraries are faster still for many rows, but add in another order for few: what a token's logits are would
//! hang on how many rows are computed beside it.
#![allow(unsafe_code)]

mod product;

use std::borrow::Cow;
use std::slice;

use product::{Lines, Right, product};

/// `CblasRowMajor`, the layout of MLX's arrays.
const ROW_MAJOR: i32 = 101;
/// `CblasNoTrans`.
const NOT_TRANSPOSED: i32 = 111;

/// C ← α · op(A) · op(B) + β · C, with op(A) `[m, k]`, op(B) `[k, n]` and C `[m, n]`, as in the C interface of the BLAS
/// standard. C is not read where β is 0.
///
/// # Safety
///
/// The pointers are those of matrices of these sizes and leading dimensions, C apart from A and B.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "they are the standard's")]
pub unsafe extern "C" fn cblas_sgemm(
    layout: i32,
    transpose_a: i32,
    transpose_b: i32,
    m: i32,
    n: i32,
    k: i32,
    alpha: f32,
    a: *const f32,
    lda: i32,
    b: *const f32,
    ldb: i32,
    beta: f32,
    c: *mut f32,
    ldc: i32,
) {
    assert_eq!(layout, ROW_MAJOR, "MLX's arrays are by row");
    let [rows, columns, inner, stride] = [m, n, k, ldc].map(|size| size as usize);
    if rows == 0 || columns == 0 {
        return;
    }
    // SAFETY: the matrices are there, as the caller grants, and C is apart from the others.
    let (a, b, c) = unsafe {
        let a = match transpose_a {
            NOT_TRANSPOSED => lines(a, lda, [rows, inner]),
            _ => lines(a, lda, [inner, rows]),
        };
        let b = match transpose_b {
            // A single column is one that lies together.
            NOT_TRANSPOSED if ldb == 1 => Right::Columns(lines(b, k, [1, inner])),
            NOT_TRANSPOSED => Right::Rows(lines(b, ldb, [inner, columns])),
            _ => Right::Columns(lines(b, ldb, [columns, inner])),
        };
        (a, b, slice::from_raw_parts_mut(c, (rows - 1) * stride + columns))
    };
    let a_rows = match transpose_a {
        NOT_TRANSPOSED => Cow::Borrowed(a.values),
        _ => (0..rows * inner).map(|at| a.values[at % inner * a.stride + at / inner]).collect(),
    };
    let a = Lines { values: &a_rows, stride: if transpose_a == NOT_TRANSPOSED { a.stride } else { inner } };
    let store = |row: usize, column: usize, sum: f32| {
        let element = &mut c[row * stride + column];
        *element = alpha * sum + if beta == 0.0 { 0.0 } else { beta * *element };
    };
    best(a, b, [rows, inner, columns], store);
}

/// The `count` lines of `length` numbers of a matrix in memory.
///
/// # Safety
///
/// They are there, as long as what is returned is used.
unsafe fn lines<'a>(first: *const f32, stride: i32, [count, length]: [usize; 2]) -> Lines<'a> {
    let stride = stride as usize;
    let values = match count * length {
        0 => &[],
        // SAFETY: the caller's.
        _ => unsafe { slice::from_raw_parts(first, (count - 1) * stride + length) },
    };
    Lines { values, stride }
}

/// The product by the widest registers that there are. They add in the same order.
fn best(a: Lines<'_>, b: Right<'_>, sizes: [usize; 3], store: impl FnMut(usize, usize, f32)) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn by_avx2(a: Lines<'_>, b: Right<'_>, sizes: [usize; 3], store: impl FnMut(usize, usize, f32)) {
            product(a, b, sizes, store);
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { by_avx2(a, b, sizes, store) };
        }
    }
    product(a, b, sizes, store);
}
