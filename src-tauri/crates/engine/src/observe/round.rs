//! Matrices of a part as a quantized model has them.

use crate::checkpoint::QuantSpec;
use crate::convert::fit;
use crate::mlx::{self, Array};
use crate::model::{LoadError, Part, PartWeights};

/// Puts a matrix of a part into so many bits, fitted by what its columns count. Embeddings and output heads, of which
/// rows are read, stay packed. Through the others many tokens go at a time: they get the floats that the packed ones
/// stand for, with which a product takes no longer on a GPU, and a fraction on a CPU.
pub(super) fn round(
    weights: &mut PartWeights<'_>,
    (part, path): (Part, &str),
    spec: QuantSpec,
    importance: Option<&Array>,
) -> Result<(), LoadError> {
    let weight = weights.weight(path)?;
    let dtype = weight.dtype();
    let parts = fit(weight, spec, importance)?;
    if matches!(part, Part::Embedding | Part::OutputHead) {
        weights.set_quantized(path, spec, parts);
        return Ok(());
    }
    let (group_size, bits) = (spec.group_size as i32, spec.bits as i32);
    let (packed, scales, biases) = (&parts[0], &parts[1], &parts[2]);
    let floats = mlx::dequantize(packed, scales, Some(biases), group_size, bits, spec.mode, dtype)?;
    mlx::eval([&floats])?;
    weights.set_dense(path, floats);
    Ok(())
}
