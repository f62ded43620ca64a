//! Swaps arrays out of memory to a temporary file and back, bit for bit; a CRC-32 of each finds a file that was
//! changed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use thiserror::Error;

use crate::mlx::{Array, Dtype, MlxError};

/// A temporary file for arrays that are not in memory. No name leads to the file, so nothing is left of it whatever
/// ends the program.
#[derive(Debug)]
pub struct Spill {
    file: File,
    /// Offset of the next array, in bytes.
    end: u64,
}

/// An array in the file.
#[derive(Debug)]
pub struct Spilled {
    at: u64,
    shape: Vec<i32>,
    dtype: Dtype,
    bytes: usize,
    checksum: u32,
}

impl Spilled {
    /// Bytes of its elements.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }
}

/// Why arrays could not be moved out of memory, or back into it.
#[derive(Debug, Error)]
pub enum SpillError {
    /// The file failed: no folder for temporary files, a full disk, a file that was cut.
    #[error("the temporary file: {0}")]
    File(#[from] io::Error),
    /// The file gave back something else than was written.
    #[error("the temporary file was changed")]
    Changed,
    /// MLX failed.
    #[error(transparent)]
    Mlx(#[from] MlxError),
}

impl Spill {
    /// An empty file, in the system's folder for temporary files.
    pub fn create() -> Result<Self, SpillError> {
        Ok(Self { file: tempfile::tempfile()?, end: 0 })
    }

    /// Evaluates an array and writes its elements at the end of the file.
    pub fn write(&mut self, array: &Array) -> Result<Spilled, SpillError> {
        let at = self.end;
        let (bytes, checksum) = array.with_bytes(|bytes| -> io::Result<_> {
            self.file.seek(SeekFrom::Start(at))?;
            self.file.write_all(bytes)?;
            Ok((bytes.len(), crc32fast::hash(bytes)))
        })??;
        self.end += bytes as u64;
        Ok(Spilled { at, shape: array.shape().to_vec(), dtype: array.dtype(), bytes, checksum })
    }

    /// Reads an array back, bit for bit as it was written.
    pub fn read(&mut self, array: &Spilled) -> Result<Array, SpillError> {
        let mut read = vec![0; array.bytes];
        self.file.seek(SeekFrom::Start(array.at))?;
        self.file.read_exact(&mut read)?;
        if crc32fast::hash(&read) != array.checksum {
            return Err(SpillError::Changed);
        }
        Ok(Array::from_bytes(&read, &array.shape, array.dtype)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays() -> [Array; 3] {
        let floats = Array::from_slice(&[1.5f32, -0.0, f32::MIN_POSITIVE, 3.25, 7.0, 1e30], &[2, 3]).unwrap();
        let words = Array::from_slice(&[u32::MAX, 0, 7], &[3, 1]).unwrap();
        // A view that is not row-major.
        [floats.astype(Dtype::Bfloat16).unwrap(), floats.swapaxes(0, 1).unwrap(), words]
    }

    fn spilled() -> (Spill, Vec<Spilled>) {
        let mut spill = Spill::create().unwrap();
        let spilled = arrays().iter().map(|array| spill.write(array).unwrap()).collect();
        (spill, spilled)
    }

    fn read_all((mut spill, arrays): (Spill, Vec<Spilled>)) -> Result<Vec<Array>, SpillError> {
        arrays.iter().map(|array| spill.read(array)).collect()
    }

    #[test]
    fn arrays_come_back_bit_for_bit() {
        let (mut spill, mut spilled) = spilled();
        // In any order, and with more written in between.
        spilled.push(spill.write(&arrays()[0]).unwrap());
        let expected = arrays().into_iter().chain([arrays()[0].clone()]);
        for (array, spilled) in expected.zip(&spilled).collect::<Vec<_>>().into_iter().rev() {
            let read = spill.read(spilled).unwrap();
            assert_eq!((read.shape(), read.dtype()), (array.shape(), array.dtype()));
            assert_eq!(read.to_bytes().unwrap(), array.to_bytes().unwrap());
            spill.write(&array).unwrap();
        }
    }

    #[test]
    fn no_damage_goes_unnoticed() {
        let length = spilled().0.file.metadata().unwrap().len();
        assert_eq!(length, 12 + 24 + 12);
        for at in 0..length {
            let (mut spill, _) = spilled();
            spill.file.seek(SeekFrom::Start(at)).unwrap();
            let mut byte = [0];
            spill.file.read_exact(&mut byte).unwrap();
            for bit in 0..8 {
                let (mut spill, arrays) = spilled();
                spill.file.seek(SeekFrom::Start(at)).unwrap();
                spill.file.write_all(&[byte[0] ^ (1 << bit)]).unwrap();
                assert!(
                    matches!(read_all((spill, arrays)), Err(SpillError::Changed)),
                    "bit {bit} of byte {at}"
                );
            }
            let (spill, arrays) = spilled();
            spill.file.set_len(at).unwrap();
            assert!(matches!(read_all((spill, arrays)), Err(SpillError::File(_))), "cut to {at}");
        }
        assert!(read_all(spilled()).is_ok());
    }
}
