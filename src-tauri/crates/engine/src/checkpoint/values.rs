//! The few values that are read before a checkpoint is loaded.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};

use safetensors::Dtype;

use super::index::TensorInfo;

/// Norms have a few kilobytes.
const LIMIT: u64 = 1 << 20;

/// The mean of a small tensor of floats; `None` where it cannot be had.
pub(super) fn mean(info: &TensorInfo) -> Option<f64> {
    let values = floats(&read(info).ok()?, info.dtype)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

/// Whether the bytes of a tensor are there, and not only what the header says of them.
pub(super) fn at_hand(info: &TensorInfo) -> bool {
    fs::metadata(&info.file).is_ok_and(|file| file.len() >= info.offset.saturating_add(info.bytes))
}

fn read(info: &TensorInfo) -> io::Result<Vec<u8>> {
    if info.bytes > LIMIT {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = vec![0; info.bytes as usize];
    let mut file = File::open(&info.file)?;
    file.seek(SeekFrom::Start(info.offset))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn floats(bytes: &[u8], dtype: Dtype) -> Option<Vec<f64>> {
    let (pairs, _) = bytes.as_chunks::<2>();
    Some(match dtype {
        Dtype::F32 => bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word).into()).collect(),
        Dtype::BF16 => {
            let float = |half: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*half)) << 16).into();
            pairs.iter().map(float).collect()
        }
        Dtype::F16 => pairs.iter().map(|half| float16(u16::from_le_bytes(*half))).collect(),
        _ => return None,
    })
}

/// IEEE 754 binary16: 1 bit sign, 5 exponent, 10 mantissa.
fn float16(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    sign * match exponent {
        0 => mantissa * 2f64.powi(-14),
        0x1f if mantissa == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1.0 + mantissa) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_type_is_read() {
        let bits = |words: &[u16]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        assert_eq!(floats(&bits(&[0x3f80, 0xbe80]), Dtype::BF16), Some(vec![1.0, -0.25]));
        let halves = bits(&[0x3c00, 0xb400, 0x0001, 0x7bff]);
        assert_eq!(floats(&halves, Dtype::F16), Some(vec![1.0, -0.25, 2f64.powi(-24), 65504.0]));
        let singles: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|single| single.to_le_bytes()).collect();
        assert_eq!(floats(&singles, Dtype::F32), Some(vec![1.5, -2.0]));
        assert!(floats(&bits(&[0x7c00]), Dtype::F16).unwrap()[0].is_infinite());
        assert_eq!(floats(&[1], Dtype::I8), None);
    }
}
