//! Parts of a row in a temporary file: keys and values of a layer, and recurrent states.

use foretoken_protocol::KvPrecision;

use super::delta_state::DeltaState;
use super::row_kv::{KvCopy, RowKv};
use super::spill::{Spill, SpillError, Spilled};

/// Keys and values of one layer.
#[derive(Debug)]
pub struct SpilledKv {
    precision: KvPrecision,
    /// None where nothing was appended.
    arrays: Vec<Spilled>,
}

impl SpilledKv {
    /// Writes them.
    pub fn write(kv: &RowKv, spill: &mut Spill) -> Result<Self, SpillError> {
        let copy = kv.copy(0..kv.len())?;
        let arrays = copy.iter().flat_map(KvCopy::arrays).map(|array| spill.write(array));
        Ok(Self { precision: kv.precision(), arrays: arrays.collect::<Result<_, _>>()? })
    }

    /// Reads them back, with room for so many positions.
    pub fn read(self, spill: &mut Spill, room: usize) -> Result<RowKv, SpillError> {
        if self.arrays.is_empty() {
            let mut empty = RowKv::new(self.precision);
            empty.reserve(room);
            return Ok(empty);
        }
        let arrays = self.arrays.iter().map(|array| spill.read(array));
        let copy = KvCopy::new(self.precision, arrays.collect::<Result<_, _>>()?);
        Ok(RowKv::restored([&copy], room)?)
    }

    /// What is in the file.
    pub fn arrays(&self) -> &[Spilled] {
        &self.arrays
    }
}

/// Recurrent state and convolution tail of one layer of one row.
#[derive(Debug)]
pub struct SpilledState([Spilled; 2]);

impl SpilledState {
    /// Writes a state that is settled.
    pub fn write(state: &DeltaState, spill: &mut Spill) -> Result<Self, SpillError> {
        let (state, tail) = state.resolve(&[0])?;
        Ok(Self([spill.write(&state)?, spill.write(&tail)?]))
    }

    /// Reads it back.
    pub fn read(self, spill: &mut Spill) -> Result<DeltaState, SpillError> {
        let Self([state, tail]) = self;
        Ok(DeltaState::settled(spill.read(&state)?, spill.read(&tail)?))
    }

    /// What is in the file.
    pub fn arrays(&self) -> &[Spilled] {
        &self.0
    }
}
