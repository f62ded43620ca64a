//! Numbers as the kernels and MLX hold them, and in f64.

use foretoken_engine::mlx::{Array, Dtype};

/// Bits of a type's significand, and the exponent of its smallest numbers' last bit.
fn precision(dtype: Dtype) -> (i32, i32) {
    match dtype {
        Dtype::Float32 => (24, -149),
        Dtype::Bfloat16 => (8, -133),
        Dtype::Float16 => (11, -24),
        other => panic!("{other:?} is no type of activations"),
    }
}

/// The distance of neighbouring numbers of the type around x.
pub(crate) fn ulp(x: f64, dtype: Dtype) -> f64 {
    let (bits, least) = precision(dtype);
    let exponent = if x == 0.0 { least } else { x.abs().log2().floor() as i32 };
    2f64.powi((exponent - bits + 1).max(least))
}

/// The number of the type that is nearest to x, of two as near the even one.
pub(crate) fn rounded(x: f64, dtype: Dtype) -> f64 {
    if !x.is_finite() {
        return x;
    }
    let ulp = ulp(x, dtype);
    (x / ulp).round_ties_even() * ulp
}

/// An array of numbers that the type has.
pub(crate) fn array(values: &[f64], shape: &[i32], dtype: Dtype) -> Array {
    let values: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    Array::from_slice(&values, shape).unwrap().astype(dtype).unwrap()
}

/// The numbers as the bytes of the type.
pub(crate) fn bytes(values: &[f64], dtype: Dtype) -> Vec<u8> {
    array(values, &[values.len() as i32], dtype).to_bytes().unwrap()
}

/// The numbers of an array of floats.
pub(crate) fn host(array: &Array) -> Vec<f64> {
    let values = array.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap();
    values.into_iter().map(f64::from).collect()
}

/// The numbers that bytes of the type hold.
pub(crate) fn from_bytes(bytes: &[u8], dtype: Dtype, size: usize) -> Vec<f64> {
    host(&Array::from_bytes(bytes, &[(bytes.len() / size) as i32], dtype).unwrap())
}

pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn rounding_is_that_of_mlx() {
    let mut rng = foretoken_tests::rng::Rng::new(1);
    for dtype in [Dtype::Float32, Dtype::Bfloat16, Dtype::Float16] {
        // Also subnormal numbers of f16.
        let values: Vec<f64> = (0..4000).map(|i| f64::from(rng.normal() * 10f32.powi(i % 8 - 6))).collect();
        let ours: Vec<f64> = values.iter().map(|&x| rounded(x, dtype)).collect();
        assert_eq!(host(&array(&values, &[4000], dtype)), ours, "{dtype:?}");
    }
}
