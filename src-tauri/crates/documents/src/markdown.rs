//! Markdown as it is written from the parts of a document: paragraphs, headings, lists, tables.

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    Paragraph,
    /// From 1, the highest.
    Heading(usize),
    /// How deep it lies, from 0, and what stands before it.
    Item(usize, String),
    /// A program, line by line.
    Code,
}

/// A text as it grows.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    out: String,
    line: String,
    /// Whether an item of a list was written last: the next one stands close to it.
    in_list: bool,
    tables: Vec<Table>,
}

/// A table as it grows.
#[derive(Debug, Default)]
struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    /// The blocks of the cell that is open, and over how many columns and rows it goes.
    cell: Option<(Vec<String>, usize, usize)>,
    /// Cells that go on from rows above: in how many further rows, by column.
    from_above: Vec<usize>,
}

/// Over how many columns or rows a cell goes at most.
const WIDEST: usize = 64;

impl Markdown {
    /// Adds to the line.
    pub(crate) fn text(&mut self, text: &str) {
        self.line += text;
    }

    /// Adds to the line as a browser shows it: any white space is one blank.
    pub(crate) fn flowing(&mut self, text: &str) {
        for character in text.chars() {
            if !character.is_whitespace() || character == '\u{a0}' {
                self.line.push(character);
            } else if !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
                self.line.push(' ');
            }
        }
    }

    /// Whether nothing stands in the line.
    pub(crate) fn is_blank(&self) -> bool {
        self.line.trim().is_empty()
    }

    /// The line, which is then empty.
    pub(crate) fn take_line(&mut self) -> String {
        std::mem::take(&mut self.line)
    }

    /// How long the line is, in bytes.
    pub(crate) fn line_length(&self) -> usize {
        self.line.len()
    }

    /// Makes a link of the line from `start` on.
    pub(crate) fn link(&mut self, start: usize, address: &str) {
        let text = self.line.get(start..).unwrap_or_default().trim().to_owned();
        let known = ["http:", "https:", "mailto:", "ftp:"].iter().any(|scheme| address.starts_with(scheme));
        if known && text.is_empty() {
            return;
        }
        if known && text != address && address.strip_prefix("mailto:") != Some(&text) {
            self.line.insert(
                start + self.line.get(start..).map_or(0, |rest| rest.len() - rest.trim_start().len()),
                '[',
            );
            let end = self.line.trim_end().len();
            self.line.insert_str(end, &format!("]({address})"));
        }
    }

    /// Ends the line, which was this. An empty one is nothing.
    pub(crate) fn end(&mut self, block: Block) {
        let line = std::mem::take(&mut self.line);
        let line = if block == Block::Code { line.trim_matches('\n') } else { line.trim() };
        if line.trim().is_empty() {
            return;
        }
        let line: Vec<&str> =
            line.lines().map(|line| if block == Block::Code { line } else { line.trim() }).collect();
        if let Some(table) = self.tables.last_mut() {
            let text = line.join("\n");
            match &mut table.cell {
                Some((blocks, ..)) => blocks.push(match block {
                    Block::Item(_, marker) => format!("{marker} {text}"),
                    _ => text,
                }),
                // A caption, or what stands between the cells.
                None => table.rows.push(vec![text]),
            }
            return;
        }
        let text = match &block {
            Block::Paragraph => line.join("\n"),
            Block::Heading(level) => format!("{} {}", "#".repeat((*level).clamp(1, 6)), line.join(" ")),
            Block::Item(level, marker) => {
                let indent = "  ".repeat((*level).min(8));
                let within = format!("\n{indent}{}", " ".repeat(marker.len() + 1));
                format!("{indent}{marker} {}", line.join(&within))
            }
            Block::Code => format!("```\n{}\n```", line.join("\n")),
        };
        let is_item = matches!(block, Block::Item(..));
        self.block(&text, is_item);
    }

    fn block(&mut self, text: &str, is_item: bool) {
        if !self.out.is_empty() {
            self.out += if is_item && self.in_list { "\n" } else { "\n\n" };
        }
        self.out += text;
        self.in_list = is_item;
    }

    /// Adds a text as it is: between blank lines, or to the cell that is open.
    pub(crate) fn raw(&mut self, text: &str) {
        self.end(Block::Paragraph);
        if text.is_empty() {
            return;
        }
        match self.tables.last_mut() {
            Some(Table { cell: Some((blocks, ..)), .. }) => blocks.push(text.to_owned()),
            _ => self.block(text, false),
        }
    }

    pub(crate) fn open_table(&mut self) {
        self.end(Block::Paragraph);
        self.tables.push(Table::default());
    }

    pub(crate) fn open_cell(&mut self, columns: usize, rows: usize) {
        self.close_cell();
        let Some(table) = self.tables.last_mut() else { return };
        table.pass_cells_from_above();
        table.cell = Some((Vec::new(), columns.clamp(1, WIDEST), rows.clamp(1, WIDEST)));
    }

    /// Lets the cell that is open go over so many columns.
    pub(crate) fn widen_cell(&mut self, columns: usize) {
        if let Some(Table { cell: Some((_, width, _)), .. }) = self.tables.last_mut() {
            *width = columns.clamp(1, WIDEST);
        }
    }

    pub(crate) fn close_cell(&mut self) {
        if self.tables.is_empty() {
            return;
        }
        self.end(Block::Paragraph);
        let Some(table) = self.tables.last_mut() else { return };
        let Some((blocks, columns, rows)) = table.cell.take() else { return };
        for column in 0..columns {
            let at = table.row.len();
            if rows > 1 {
                table.from_above.resize(table.from_above.len().max(at + 1), 0);
                if let Some(left) = table.from_above.get_mut(at) {
                    *left = rows;
                }
            }
            table.row.push(if column == 0 { blocks.join("\n") } else { String::new() });
        }
    }

    pub(crate) fn close_row(&mut self) {
        self.close_cell();
        let Some(table) = self.tables.last_mut() else { return };
        table.pass_cells_from_above();
        table.from_above.iter_mut().for_each(|left| *left = left.saturating_sub(1));
        let row = std::mem::take(&mut table.row);
        if !row.is_empty() {
            table.rows.push(row);
        }
    }

    pub(crate) fn close_table(&mut self) {
        self.close_row();
        let Some(Table { mut rows, .. }) = self.tables.pop() else { return };
        rows.retain(|row| row.iter().any(|cell| !cell.trim().is_empty()));
        // A table within a cell is a line of it.
        if let Some(Table { cell: Some((blocks, ..)), .. }) = self.tables.last_mut() {
            blocks.extend(rows.iter().map(|row| row.join(" | ").replace('\n', " ")));
            return;
        }
        // One of a single column only lays a page out.
        if rows.iter().all(|row| row.len() == 1) {
            for cell in rows.iter().flatten() {
                self.block(cell, false);
            }
            return;
        }
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut lines = Vec::with_capacity(rows.len() + 1);
        for (index, row) in rows.iter().enumerate() {
            // Cells that are missing at the end of a row need not be written, but in the first.
            let written = if index == 0 { columns } else { row.len() };
            let cells = (0..written).map(|column| row.get(column).map_or("", String::as_str));
            let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', "<br>"));
            lines.push(format!("| {} |", cells.collect::<Vec<_>>().join(" | ")));
            if index == 0 {
                lines.push(format!("|{}", " --- |".repeat(columns)));
            }
        }
        self.block(&lines.join("\n"), false);
    }

    /// The text.
    pub(crate) fn finish(mut self) -> String {
        self.end(Block::Paragraph);
        while !self.tables.is_empty() {
            self.close_table();
        }
        self.out
    }
}

impl Table {
    /// Goes past the columns in which a cell from above goes on.
    fn pass_cells_from_above(&mut self) {
        while self.from_above.get(self.row.len()).is_some_and(|left| *left > 0) {
            self.row.push(String::new());
        }
    }
}
