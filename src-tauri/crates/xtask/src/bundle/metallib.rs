//! What the head of a file of Metal kernels says. Only Metal can load it; a file that is cut off, or for another
//! system, is told here.

/// The facts of a metallib.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// The macOS that its code is for, as `14.0.0`.
    pub(super) system: Option<String>,
    /// Whether it has the products of quantized weights, without which no model runs.
    pub(super) has_quantized: bool,
    /// Whether it has kernels for M5's matrix units.
    pub(super) has_matrix_units: bool,
}

/// Bytes behind the beginning of the code in which the first target stands.
const CODE_BEGIN: usize = 1 << 18;

/// Reads the head: the magic, then from byte 16 on the length of the file, place and length of the list of kernels,
/// places and lengths of two more lists, and the place of the code, in eight bytes each.
pub(super) fn read(bytes: &[u8]) -> Result<Facts, String> {
    let number = |index: usize| {
        let at = 16 + 8 * index;
        let bytes = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u64::from_le_bytes).and_then(|number| usize::try_from(number).ok())
    };
    if bytes.get(..4) != Some(b"MTLB") {
        return Err("it is no metallib".into());
    }
    if number(0) != Some(bytes.len()) {
        return Err("it is cut off".into());
    }
    let part = |from: Option<usize>, length: Option<usize>| {
        let (from, length) = (from?, length?);
        bytes.get(from..from.checked_add(length)?.min(bytes.len()))
    };
    let names = part(number(1), number(2)).ok_or("its list of kernels is damaged")?;
    let code = part(number(7), Some(CODE_BEGIN)).ok_or("its code is damaged")?;
    let target = find(code, b"apple-macosx").map(|at| {
        let version = &code[at + b"apple-macosx".len()..];
        let version = version.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.');
        version.map(|&byte| char::from(byte)).collect()
    });
    Ok(Facts {
        system: target,
        has_quantized: find(names, b"affine_qmv").is_some(),
        has_matrix_units: find(names, b"_nax").is_some(),
    })
}

/// Where `pattern` first stands.
pub(super) fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_off_or_none_at_all_is_told() {
        assert_eq!(read(b"MTLB").unwrap_err(), "it is cut off");
        assert_eq!(read(b"#!/bin/sh").unwrap_err(), "it is no metallib");
        let mut head = b"MTLB............".to_vec();
        head.extend([88_u64, 80, 8, 0, 0, 0, 0, 88].map(u64::to_le_bytes).concat());
        head.extend(b"mul_nax ");
        let facts = read(&head).unwrap();
        assert_eq!(facts, Facts { system: None, has_quantized: false, has_matrix_units: true });
    }
}
