//! A sheet as a table in CSV under its name, as far as it is read.

use crate::limits::{ENOUGH, MOST_COLUMNS, MOST_ROWS};

/// A sheet as it grows: cells come row by row.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    name: String,
    /// Rows with content, by their numbers from 0, and of each the cells with content, by theirs.
    rows: Vec<(u32, Vec<(u32, String)>)>,
    /// Rows and columns that have content and were not read.
    more_rows: usize,
    last: Option<u32>,
    columns_left_out: bool,
    /// Formulas whose results are not in the file.
    not_computed: usize,
    bytes: usize,
}

impl Sheet {
    pub(crate) fn new(name: &str, hidden: bool) -> Self {
        let name = if hidden { format!("{name} (hidden)") } else { name.to_owned() };
        Self { name, ..Self::default() }
    }

    /// Whether a further cell in this row would be read.
    pub(crate) fn is_full(&self, row: u32) -> bool {
        self.rows.len() >= MOST_ROWS && self.last != Some(row)
    }

    /// Takes the number of formulas whose results are not in the file.
    pub(crate) fn not_computed(&mut self, formulas: usize) {
        self.not_computed = formulas;
    }

    /// Takes a row of cells, by their columns, that is there so many times from `row` on.
    pub(crate) fn repeated(&mut self, row: usize, times: usize, cells: &[(usize, String)]) {
        let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        // Further ones would not be read wherever they begin.
        let looked_at = times.min(MOST_ROWS);
        for row in row..row.saturating_add(looked_at) {
            for (column, text) in cells {
                self.cell(place(row), place(*column), text.as_str());
            }
        }
        if cells.iter().any(|(column, _)| *column < MOST_COLUMNS) {
            self.more_rows = self.more_rows.saturating_add(times - looked_at);
        }
    }

    /// Takes a cell.
    pub(crate) fn cell(&mut self, row: u32, column: u32, text: impl AsRef<str> + Into<String>) {
        if text.as_ref().trim().is_empty() {
            return;
        }
        if column as usize >= MOST_COLUMNS {
            self.columns_left_out = true;
            return;
        }
        if self.last != Some(row) {
            self.last = Some(row);
            if self.rows.len() >= MOST_ROWS {
                self.more_rows = self.more_rows.saturating_add(1);
            } else {
                self.rows.push((row, Vec::new()));
            }
        }
        // Many cells may say the same long text. What is longer than any message is refused all the same.
        if self.more_rows == 0
            && self.bytes <= ENOUGH
            && let Some((_, cells)) = self.rows.last_mut()
        {
            let text = text.into();
            self.bytes += text.len();
            cells.push((column, text));
        }
    }

    /// The sheet as text, and what was left out of it.
    pub(crate) fn finish(mut self) -> (String, Vec<String>) {
        let mut notes = Vec::new();
        if self.more_rows > 0 {
            let all = self.rows.len().saturating_add(self.more_rows);
            notes.push(format!(
                "Only the first {MOST_ROWS} of {all} rows of the sheet “{}” were read.",
                self.name
            ));
        }
        if self.columns_left_out {
            notes.push(format!(
                "Only the first {MOST_COLUMNS} columns of the sheet “{}” were read.",
                self.name
            ));
        }
        match self.not_computed {
            0 => {}
            1 => notes.push(format!(
                "1 formula of the sheet “{}” is left out: its result is not in the file.",
                self.name
            )),
            count => notes.push(format!(
                "{count} formulas of the sheet “{}” are left out: their results are not in the file.",
                self.name
            )),
        }
        let mut text = format!("## Sheet: {}\n", self.name);
        for note in &notes {
            text += &format!("\n[{note}]\n");
        }
        let first =
            self.rows.iter().flat_map(|(_, cells)| cells).map(|(column, _)| *column).min().unwrap_or(0);
        let mut before = None;
        for (row, cells) in &mut self.rows {
            // Where rows are empty, one empty line says that what follows is a table of its own.
            if before.is_none_or(|before: u32| *row > before + 1) {
                text.push('\n');
            }
            before = Some(*row);
            cells.sort_by_key(|(column, _)| *column);
            let mut at = first;
            for (column, cell) in cells {
                while at < *column {
                    text.push(',');
                    at += 1;
                }
                text += &quoted(cell);
            }
            text.push('\n');
        }
        (text.trim_end().to_owned(), notes)
    }
}

/// A cell as CSV writes it.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
