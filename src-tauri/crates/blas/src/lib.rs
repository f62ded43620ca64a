//! `cblas_sgemm` for MLX on Linux. MLX's wheel brings the reference BLAS, which multiplies number by number; on a Mac
//! products are made by the GPU, or by Accelerate. A program that is linked with this crate and with MLX exports the
//! function, and the loader gives it to MLX rather than that of the library beside it. Nothing calls it from Rust.
//!
//! Sums have the order of the reference, and so the same bits. Other libraries are faster still, and add in an order
//! that hangs on how many rows there are: so would what a token's logits are.
#![allow(unsafe_code)]

mod product;

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
    // SAFETY: the matrices are there, as the caller grants.
    let a = match transpose_a {
        NOT_TRANSPOSED => unsafe { lines(a, lda, [rows, inner]) },
        _ => unsafe { lines(a, lda, [inner, rows]) },
    };
    let turned: Vec<f32>;
    let a = match transpose_a {
        NOT_TRANSPOSED => a,
        _ => {
            turned = (0..rows * inner).map(|at| a.values[at % inner * a.stride + at / inner]).collect();
            Lines { values: &turned, stride: inner }
        }
    };
    // SAFETY: the same, and C is apart from the others.
    let (b, c) = unsafe {
        let b = match transpose_b {
            NOT_TRANSPOSED => Right::Rows(lines(b, ldb, [inner, columns])),
            _ => Right::Columns(lines(b, ldb, [columns, inner])),
        };
        (b, slice::from_raw_parts_mut(c, (rows - 1) * stride + columns))
    };
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
    if count * length == 0 {
        return Lines { values: &[], stride: 0 };
    }
    let stride = stride as usize;
    // SAFETY: the caller's.
    Lines { values: unsafe { slice::from_raw_parts(first, (count - 1) * stride + length) }, stride }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, so that every sum is exact.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|at| ((at * 7 + seed * 5) % 11) as f32 - 5.0).collect()
    }

    #[test]
    fn every_form_of_a_call_gives_what_the_standard_says() {
        let sizes = [0, 1, 2, 5, 9, 40];
        let sizes = sizes.iter().flat_map(|&m| sizes.iter().flat_map(move |&n| sizes.map(|k| [m, n, k])));
        for [m, n, k] in sizes {
            for (ta, tb, beta) in
                [(false, false, 0.0), (true, false, 1.0), (false, true, 0.0), (true, true, -2.0)]
            {
                let (of_a, of_b, of_c) = (if ta { m } else { k } + 2, if tb { k } else { n } + 1, n + 3);
                let a = numbers(if ta { k } else { m } * of_a, 1);
                let b = numbers(if tb { n } else { k } * of_b, 2);
                let before = if beta == 0.0 { vec![f32::NAN; m * of_c] } else { numbers(m * of_c, 3) };
                let mut c = before.clone();
                let transpose = |is: bool| if is { 112 } else { NOT_TRANSPOSED };
                let [rows, columns, inner] = [m, n, k].map(|size| size as i32);
                let [lda, ldb, ldc] = [of_a, of_b, of_c].map(|size| size as i32);
                // SAFETY: they are as large as they are said to be.
                unsafe {
                    cblas_sgemm(
                        ROW_MAJOR,
                        transpose(ta),
                        transpose(tb),
                        rows,
                        columns,
                        inner,
                        3.0,
                        a.as_ptr(),
                        lda,
                        b.as_ptr(),
                        ldb,
                        beta,
                        c.as_mut_ptr(),
                        ldc,
                    );
                }
                for (at, (&found, &before)) in c.iter().zip(&before).enumerate() {
                    let (row, column) = (at / of_c, at % of_c);
                    let term = |k: usize| {
                        a[if ta { k * of_a + row } else { row * of_a + k }]
                            * b[if tb { column * of_b + k } else { k * of_b + column }]
                    };
                    let expected = if column >= n {
                        before
                    } else {
                        let kept = if beta == 0.0 { 0.0 } else { beta * before };
                        3.0 * (0..k).map(term).sum::<f32>() + kept
                    };
                    let same = found == expected || (found.is_nan() && expected.is_nan());
                    assert!(same, "{m} {n} {k}, {ta} {tb}: {found}, not {expected}, at {row}, {column}");
                }
            }
        }
    }
}
