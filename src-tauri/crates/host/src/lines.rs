//! Lines from a process that may write anything: however long they are, and whatever bytes they hold, they take bounded
//! memory.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Reads lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    longest: usize,
    /// The beginning of the line that is being read.
    begun: Vec<u8>,
    /// Whether what comes up to the end of the line is thrown away.
    skipping: bool,
}

/// A line, without what ends it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// The first bytes of one that is too long.
    Cut(Vec<u8>),
}

impl Line {
    /// Its text. Bytes that are none become U+FFFD.
    pub(crate) fn text(&self) -> String {
        let (Self::Whole(bytes) | Self::Cut(bytes)) = self;
        String::from_utf8_lossy(bytes).into_owned()
    }
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of up to `longest` bytes. Of others only as much is returned.
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self { reader: BufReader::new(reader), longest, begun: Vec::new(), skipping: false }
    }

    /// The next line, or `None` at the end. Nothing is lost if the future is dropped before it is ready.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                let rest = std::mem::take(&mut self.begun);
                return Ok((!rest.is_empty()).then_some(Line::Whole(rest)));
            }
            let end = read.iter().position(|&byte| byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            let room = self.longest - self.begun.len();
            let is_cut = !self.skipping && part.len() > room;
            if !self.skipping {
                self.begun.extend_from_slice(&part[..part.len().min(room)]);
            }
            let ends_whole = end.is_some() && !self.skipping && !is_cut;
            self.skipping = (self.skipping || is_cut) && end.is_none();
            let taken = end.map_or(read.len(), |end| end + 1);
            self.reader.consume(taken);
            if is_cut {
                return Ok(Some(Line::Cut(std::mem::take(&mut self.begun))));
            }
            if ends_whole {
                return Ok(Some(Line::Whole(std::mem::take(&mut self.begun))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;
    use tokio::time::timeout;

    use super::*;

    const LONGEST: usize = 5;

    async fn all(bytes: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(bytes, LONGEST);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line);
        }
        all
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    fn cut(text: &str) -> Line {
        Line::Cut(text.into())
    }

    #[tokio::test]
    async fn lines_that_are_too_long_are_cut_and_the_next_ones_are_whole() {
        assert_eq!(all(b"").await, []);
        assert_eq!(all(b"one\n\ntwo").await, [whole("one"), whole(""), whole("two")]);
        assert_eq!(all(b"fives\nlonger\nnext\n").await, [whole("fives"), cut("longe"), whole("next")]);
        assert_eq!(all(b"the end is cut").await, [cut("the e")]);
        assert_eq!(all(b"a\xffb\n").await[0].text(), "a\u{fffd}b");
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_cut_at_once_and_takes_no_memory() {
        let (mut writer, reader) = tokio::io::duplex(1024);
        tokio::spawn(async move {
            for _ in 0..10_000 {
                writer.write_all(&[b'x'; 1000]).await.unwrap();
            }
            writer.write_all(b"\nnext\n").await.unwrap();
        });
        let mut lines = Lines::new(reader, LONGEST);
        assert_eq!(lines.next().await.unwrap(), Some(cut("xxxxx")));
        assert_eq!(lines.next().await.unwrap(), Some(whole("next")));
        assert!(lines.begun.capacity() <= 8 * LONGEST);
        assert_eq!(lines.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_line_is_not_lost_where_nobody_waits_for_its_end() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut lines = Lines::new(reader, LONGEST);
        writer.write_all(b"on").await.unwrap();
        for _ in 0..3 {
            timeout(Duration::from_millis(1), lines.next()).await.unwrap_err();
        }
        writer.write_all(b"e\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap(), Some(whole("one")));
    }
}
