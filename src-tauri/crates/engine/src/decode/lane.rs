use super::row::{Row, RowId, RowSpec};
use crate::cache::{DeltaState, RowKv};
use crate::mlx::{self, Array, Result};
use crate::model::{Form, Packed, Qwen};

/// Tokens of a prompt that go through the model together. Cells begin at multiples of it, whatever else happens, so
/// that nothing but the prompt decides how its reading is rounded.
pub const CELL: usize = 512;
/// Tokens of a reply that there is room for before it begins: no more than a buffer has in excess anyhow.
const FIRST_TOKENS: usize = RowKv::LEAST_GROWTH;

/// A row on its way into a batch: its prompt is read here, by itself, cell by cell, and each cell some layers at a
/// time.
///
/// All tokens but the last are read; the last one is the first that a step feeds. The MTP head's cache is filled along
/// the way, keys and values only, from the hidden states as they pass; the last pair stays pending so that the first
/// step can draft already.
#[derive(Debug)]
pub struct Lane {
    pub(super) row: Row,
    pub(super) states: Vec<DeltaState>,
    read: usize,
    cell: Option<Cell>,
}

/// The tokens that are being read.
#[derive(Debug)]
struct Cell {
    end: usize,
    packed: Packed,
    /// What the layers so far have made of them, `[T, H]`.
    x: Array,
    /// The next layer.
    layer: usize,
}

impl Lane {
    /// A row that has read nothing.
    pub fn new(model: &Qwen, id: RowId, spec: RowSpec) -> Result<Self> {
        let mut cache = model.empty_row(spec.drafts);
        cache.reserve(spec.prompt.len() + spec.max_tokens.min(FIRST_TOKENS));
        Ok(Self { row: Row::new(id, spec, cache), states: model.empty_states(1)?, read: 0, cell: None })
    }

    /// Its row's name.
    pub fn id(&self) -> RowId {
        self.row.id
    }

    /// Prompt tokens read so far, and to be read.
    pub fn progress(&self) -> (usize, usize) {
        (self.read, self.row.committed())
    }

    /// Whether the whole prompt is read.
    pub fn is_read(&self) -> bool {
        self.read == self.row.committed()
    }

    /// Tokens of the cell that is being read, or is next.
    pub fn cell_tokens(&self) -> usize {
        self.cell_end() - self.read
    }

    fn cell_end(&self) -> usize {
        self.row.committed().min((self.read / CELL + 1) * CELL)
    }

    /// Runs the cell through up to `layers` more layers, at least one, and waits for them. Returns how many it were.
    pub fn advance(&mut self, model: &Qwen, layers: usize) -> Result<usize> {
        if self.is_read() {
            return Ok(0);
        }
        let mut cell = match self.cell.take() {
            Some(cell) => cell,
            None => self.begin_cell(model)?,
        };
        let begin = cell.layer;
        cell.layer = model.layers.len().min(begin + layers.max(1));
        let mut rows = [&mut self.row.cache];
        let range = begin..cell.layer;
        cell.x = model.run_layers(cell.x, range, &cell.packed, &mut rows, &mut self.states, Form::Prefill)?;
        let done = cell.layer - begin;
        if cell.layer == model.layers.len() {
            self.end_cell(model, cell)?;
        } else {
            self.cell = Some(cell);
        }
        Ok(done)
    }

    /// Reads what is left of the prompt.
    pub fn read_all(&mut self, model: &Qwen) -> Result<()> {
        while !self.is_read() {
            self.advance(model, model.layers.len())?;
        }
        Ok(())
    }

    fn begin_cell(&self, model: &Qwen) -> Result<Cell> {
        let (done, end) = (self.read, self.cell_end());
        let ids = Array::from_slice(&self.row.ctx[done..end], &[(end - done) as i32])?;
        let packed = Packed::new(&[(done, end - done)])?;
        Ok(Cell { end, packed, x: model.embed_tokens.forward(&ids)?, layer: 0 })
    }

    fn end_cell(&mut self, model: &Qwen, cell: Cell) -> Result<()> {
        let (done, total) = self.progress();
        let end = cell.end;
        let hidden = model.hidden(cell.x)?;
        let row = &mut self.row;
        let len = (end - done) as i32;
        if let (Some(head), Some(cache)) = (&model.mtp, &mut row.cache.head) {
            // Pairs (hidden at t, token at t + 1); the prompt's last pair waits for the first step.
            let primed = if end == total { len - 1 } else { len };
            if primed > 0 {
                let next = &row.ctx[done + 1..=done + primed as usize];
                let next = model.embed_tokens.forward(&Array::from_slice(next, &[primed])?)?;
                let packed = Packed::new(&[(done, primed as usize)])?;
                let before = hidden.for_mtp.slice_axis(0, 0, primed)?;
                head.append(&before, &next, &packed, std::iter::once(cache))?;
            }
            if end == total {
                // A copy: a view would keep the whole cell alive.
                let last = hidden.for_mtp.slice_axis(0, len - 1, len)?.contiguous()?;
                mlx::eval([&last])?;
                row.pending.push(last, &row.ctx[end..=end]);
            }
        }
        mlx::eval(self.arrays())?;
        self.read = end;
        Ok(())
    }

    fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.row.cache.arrays().chain(self.states.iter().flat_map(DeltaState::arrays))
    }
}
