//! Rows of a packed step, as kernels are told of them.

/// One row's part of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// New tokens.
    pub(crate) new: usize,
    /// Tokens on the tape of the step before.
    pub(crate) taped: usize,
    /// Those of them that were kept.
    pub(crate) kept: usize,
    /// Where its states lie.
    pub(crate) slot: usize,
    /// Whether the new tokens are kept at once.
    pub(crate) settles: bool,
}

impl Row {
    /// A row that keeps its new tokens at once.
    pub(crate) fn settled(self) -> Self {
        Self { settles: true, ..self }
    }
}

/// The rows of a step: new tokens, taped ones, kept ones and slots, row by row.
pub(crate) fn rows(rows: &[[usize; 4]]) -> Vec<Row> {
    rows.iter().map(|&[new, taped, kept, slot]| Row { new, taped, kept, slot, settles: false }).collect()
}

/// `plan`, int32 `[B, 8]`.
pub(crate) fn plan(rows: &[Row]) -> Vec<i32> {
    let (mut first, mut taped) = (0, 0);
    let mut plan = Vec::new();
    for row in rows {
        let settles = usize::from(row.settles);
        let words = [first, first + row.new, taped, taped + row.kept, row.slot, settles, 0, 0];
        plan.extend(words.map(|n| n as i32));
        first += row.new;
        taped += row.taped;
    }
    plan
}

/// `row_of`, int32 `[T + B]` padded to 8.
pub(crate) fn row_of(rows: &[Row]) -> Vec<i32> {
    let tokens = rows.iter().enumerate().flat_map(|(b, row)| std::iter::repeat_n(b as i32, row.new));
    let mut row_of: Vec<i32> = tokens.chain((0..rows.len()).map(|b| -1 - b as i32)).collect();
    row_of.resize(row_of.len().max(8), 0);
    row_of
}

/// New tokens of all rows.
pub(crate) fn tokens(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.new).sum()
}

/// Taped tokens of all rows; a tape of none has one that nobody reads.
pub(crate) fn taped(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.taped).sum::<usize>().max(1)
}

/// Slots of the states that are read.
pub(crate) fn slots(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.slot + 1).max().unwrap_or(1)
}
