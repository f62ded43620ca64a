use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, Write};

use thiserror::Error;

use crate::mlx::{Array, Dtype, MlxError};

/// Arrays that lie in a temporary file and not in memory, to be read back once, in the order in which they were
/// written. No name leads to the file, so nothing is left of it whatever ends the program.
#[derive(Debug)]
pub struct Spill {
    file: File,
    arrays: VecDeque<Spilled>,
}

/// What the file does not tell of an array.
#[derive(Debug)]
struct Spilled {
    shape: Vec<i32>,
    dtype: Dtype,
    bytes: usize,
    checksum: u32,
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
    /// There are no more arrays in it.
    #[error("the temporary file holds no more")]
    End,
    /// MLX failed.
    #[error(transparent)]
    Mlx(#[from] MlxError),
}

impl Spill {
    /// An empty one, in the system's folder for temporary files.
    pub fn create() -> Result<Self, SpillError> {
        Ok(Self { file: tempfile::tempfile()?, arrays: VecDeque::new() })
    }

    /// Evaluates an array and writes it.
    pub fn write(&mut self, array: &Array) -> Result<(), SpillError> {
        let (bytes, checksum) = array.with_bytes(|bytes| -> io::Result<_> {
            self.file.write_all(bytes)?;
            Ok((bytes.len(), crc32fast::hash(bytes)))
        })??;
        let (shape, dtype) = (array.shape().to_vec(), array.dtype());
        self.arrays.push_back(Spilled { shape, dtype, bytes, checksum });
        Ok(())
    }

    /// From now on it is read.
    pub fn rewind(&mut self) -> Result<(), SpillError> {
        Ok(self.file.rewind()?)
    }

    /// The next array, bit for bit as it was.
    pub fn read(&mut self) -> Result<Array, SpillError> {
        let Spilled { shape, dtype, bytes, checksum } = self.arrays.pop_front().ok_or(SpillError::End)?;
        let mut read = vec![0; bytes];
        self.file.read_exact(&mut read)?;
        if crc32fast::hash(&read) != checksum {
            return Err(SpillError::Changed);
        }
        Ok(Array::from_bytes(&read, &shape, dtype)?)
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

    fn spilled() -> Spill {
        let mut spill = Spill::create().unwrap();
        arrays().iter().for_each(|array| spill.write(array).unwrap());
        spill
    }

    fn read_all(mut spill: Spill) -> Result<Vec<Array>, SpillError> {
        spill.rewind()?;
        (0..3).map(|_| spill.read()).collect()
    }

    #[test]
    fn arrays_come_back_bit_for_bit() {
        let mut spill = spilled();
        spill.rewind().unwrap();
        for array in arrays() {
            let read = spill.read().unwrap();
            assert_eq!((read.shape(), read.dtype()), (array.shape(), array.dtype()));
            assert_eq!(read.to_bytes().unwrap(), array.to_bytes().unwrap());
        }
        assert!(matches!(spill.read(), Err(SpillError::End)));
    }

    #[test]
    fn no_damage_goes_unnoticed() {
        let length = spilled().file.metadata().unwrap().len();
        assert_eq!(length, 12 + 24 + 12);
        for at in 0..length {
            let mut spill = spilled();
            spill.file.seek(io::SeekFrom::Start(at)).unwrap();
            let mut byte = [0];
            spill.file.read_exact(&mut byte).unwrap();
            for bit in 0..8 {
                let mut spill = spilled();
                spill.file.seek(io::SeekFrom::Start(at)).unwrap();
                spill.file.write_all(&[byte[0] ^ (1 << bit)]).unwrap();
                assert!(matches!(read_all(spill), Err(SpillError::Changed)), "bit {bit} of byte {at}");
            }
            let spill = spilled();
            spill.file.set_len(at).unwrap();
            assert!(matches!(read_all(spill), Err(SpillError::File(_))), "cut to {at}");
        }
        assert!(read_all(spilled()).is_ok());
    }
}
