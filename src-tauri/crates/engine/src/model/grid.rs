//! Where the tokens of a row stand: the index of a token is its place in the row, its position is what queries and keys
//! are rotated by. The two are the same up to the first picture, whose tokens stand on a grid: each has a position in
//! time, one by its row and one by its column, and the text behind it goes on where the longer side of the grid ends.
//! The reference is `get_rope_index` of Hugging Face transformers.

use std::ops::Range;

use super::packed::Position;

/// The tokens of a picture in a row: a grid, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageSpan {
    /// The index of its first token.
    pub begin: usize,
    /// Rows of tokens.
    pub rows: usize,
    /// Columns of tokens.
    pub columns: usize,
}

impl ImageSpan {
    /// The indices of its tokens.
    pub fn range(&self) -> Range<usize> {
        self.begin..self.begin + self.rows * self.columns
    }

    /// The positions that it takes up: those that its grid spans.
    fn extent(&self) -> usize {
        self.rows.max(self.columns)
    }
}

/// The positions of a row's tokens by their indices. `spans`: its pictures, in order.
#[derive(Debug, Clone, Copy)]
pub struct Grid<'a> {
    /// The row's pictures, in order; none overlaps another.
    pub spans: &'a [ImageSpan],
}

impl Grid<'_> {
    /// The position of a token of text, or the one in time of a picture's.
    pub fn position(&self, index: usize) -> Position {
        let before = self.spans.iter().take_while(|span| span.range().end <= index);
        let shift: usize = before.map(|span| span.range().len() - span.extent()).sum();
        let within = self.spans.iter().find(|span| span.range().contains(&index));
        Position(within.map_or(index, |span| span.begin) - shift)
    }

    /// Of each token, its position in time, by row and by column; `None` where the three are the same for all of them
    /// and go up by one, as in text.
    pub fn streams(&self, range: Range<usize>) -> Option<[Vec<i32>; 3]> {
        let overlaps = |span: &ImageSpan| span.range().start < range.end && range.start < span.range().end;
        if !self.spans.iter().any(overlaps) {
            return None;
        }
        let mut streams: [Vec<i32>; 3] = Default::default();
        for index in range {
            let base = self.position(index).0;
            let place = self.spans.iter().find(|span| span.range().contains(&index)).map_or([0, 0], |span| {
                [(index - span.begin) / span.columns, (index - span.begin) % span.columns]
            });
            let positions = [base, base + place[0], base + place[1]];
            streams.iter_mut().zip(positions).for_each(|(stream, position)| stream.push(position as i32));
        }
        Some(streams)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_on_where_the_longer_side_of_a_picture_ends() {
        let spans =
            [ImageSpan { begin: 2, rows: 2, columns: 3 }, ImageSpan { begin: 8, rows: 4, columns: 1 }];
        let grid = Grid { spans: &spans };
        let streams = grid.streams(0..14).unwrap();
        assert_eq!(streams[0], [0, 1, 2, 2, 2, 2, 2, 2, 5, 5, 5, 5, 9, 10]);
        assert_eq!(streams[1], [0, 1, 2, 2, 2, 3, 3, 3, 5, 6, 7, 8, 9, 10]);
        assert_eq!(streams[2], [0, 1, 2, 3, 4, 2, 3, 4, 5, 5, 5, 5, 9, 10]);
        assert_eq!(grid.position(13), Position(10));
        assert!(grid.streams(12..14).is_none() && grid.streams(0..2).is_none());
        assert_eq!(grid.streams(4..6).unwrap()[2], [4, 2]);
    }

    #[test]
    fn without_pictures_positions_are_indices() {
        let grid = Grid { spans: &[] };
        assert_eq!(grid.position(7), Position(7));
        assert!(grid.streams(0..100).is_none());
    }
}
