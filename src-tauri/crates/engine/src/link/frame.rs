//! The messages with which rank 0 directs a ring: [`WORDS`] numbers each, whatever they say, since whoever receives
//! must know how much comes.

use thiserror::Error;

/// Numbers of a frame, int32 each.
pub const WORDS: usize = 256;
/// The most rows of a step.
pub const MOST_ROWS: usize = 32;
/// The most operations of a frame.
pub const MOST_OPERATIONS: usize = (WORDS - OPERATIONS) / OPERATION_WORDS;

/// The most tokens of a row in a frame: more than any chunk of a prompt has.
const MOST_TOKENS: usize = 1 << 16;

/// "FTK1", read as a number with the first byte in the lowest place.
const MAGIC: i32 = i32::from_le_bytes(*b"FTK1");
/// Of this layout.
const VERSION: i32 = 1;
/// Where the rows begin, and the words of each.
const ROWS: usize = 16;
const ROW_WORDS: usize = 4;
/// Where the operations begin, and the words of each.
const OPERATIONS: usize = ROWS + ROW_WORDS * MOST_ROWS;
const OPERATION_WORDS: usize = 4;
/// The place of the checksum, which is over all words but itself.
const CHECKSUM: usize = 8;

/// What a frame is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// A few tokens of each row, of which the next frame tells how many were kept. A hidden state follows.
    Step,
    /// A chunk of one row's prompt, all of which is kept. A hidden state follows.
    Chunk {
        /// Whether its tokens turn otherwise than by their positions, as those of pictures do. How is right behind the
        /// frame.
        is_turned: bool,
    },
    /// Nothing but operations.
    Operations,
    /// Nothing but operations, and then nothing at all until the ranks are told otherwise: whoever waits for a message
    /// keeps a processor busy.
    Rest,
    /// The end: the ranks leave the ring.
    Stop,
    /// How everybody has fared so far with a step or a chunk. The hidden state is right behind it.
    State {
        /// The number of the frame that it answers.
        answers: u32,
        /// The first rank that could not compute its part; what follows is of no use then.
        failed: Option<u32>,
    },
}

/// A row in a step or a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRow {
    /// Its name, which is never used again, in 31 bits.
    pub name: u32,
    /// Tokens that it has kept before these.
    pub length: usize,
    /// Tokens of it here, at least one.
    pub tokens: usize,
    /// What the first of them is rotated by.
    pub position: usize,
}

/// What is done to rows before the tokens are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Drops what there is of a row.
    Forget(u32),
    /// Keeps what a row has after so many of its tokens, for others to go on from.
    Keep {
        /// What it is called then, a name that is never used again.
        anchor: u32,
        /// The row.
        row: u32,
        /// Its tokens that count.
        length: usize,
    },
    /// Makes a new row of what was kept.
    Resume {
        /// Its name.
        anchor: u32,
        /// The new row's.
        row: u32,
    },
    /// Drops what was kept.
    Drop(u32),
    /// Has what a row has after so many of its tokens out of memory until it is needed.
    SwapOut {
        /// The row.
        row: u32,
        /// Its tokens that count.
        length: usize,
    },
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Which ring it belongs to: a number that is drawn anew for each, in 31 bits.
    pub epoch: u32,
    /// Its number, one more with each that rank 0 sends, in 31 bits.
    pub sequence: u32,
    /// What it is about.
    pub kind: FrameKind,
    /// The rows, in order; none but for steps and chunks.
    pub rows: Vec<FrameRow>,
    /// What is done before, in order.
    pub operations: Vec<Operation>,
}

/// Why a message is none that can be acted on. The ring has to end then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// It is garbled, or from another version of the program.
    #[error("it is no frame")]
    NotOne,
    /// It belongs to another ring.
    #[error("it belongs to ring {found}, not {expected}")]
    Epoch {
        /// Which.
        found: u32,
        /// The one that this is.
        expected: u32,
    },
    /// One is missing, or came twice.
    #[error("it is number {found}, not {expected}")]
    Sequence {
        /// Its number.
        found: u32,
        /// The one that was due.
        expected: u32,
    },
    /// A frame is due that answers another one.
    #[error("it does not answer number {expected}")]
    Answer {
        /// The one that is to be answered.
        expected: u32,
    },
}

impl Frame {
    /// Tokens of all rows.
    pub fn tokens(&self) -> usize {
        self.rows.iter().map(|row| row.tokens).sum()
    }

    /// The frame as numbers.
    pub fn encode(&self) -> [i32; WORDS] {
        debug_assert!(self.rows.len() <= MOST_ROWS && self.operations.len() <= MOST_OPERATIONS);
        let (kind, answers, failed) = match self.kind {
            FrameKind::Step => (0, 0, 0),
            FrameKind::Chunk { is_turned } => (1, 0, u32::from(is_turned)),
            FrameKind::Operations => (2, 0, 0),
            FrameKind::Rest => (3, 0, 0),
            FrameKind::Stop => (4, 0, 0),
            FrameKind::State { answers, failed } => (5, answers, failed.map_or(0, |rank| rank + 1)),
        };
        let (rows, operations) = (self.rows.len() as u32, self.operations.len() as u32);
        let head = [self.epoch, self.sequence, kind, rows, operations, answers];
        let mut words = [0; WORDS];
        (words[0], words[1]) = (MAGIC, VERSION);
        words[2..CHECKSUM].copy_from_slice(&head.map(|word| word as i32));
        words[CHECKSUM + 1] = failed as i32;
        for (row, words) in self.rows.iter().zip(words[ROWS..OPERATIONS].chunks_exact_mut(ROW_WORDS)) {
            let FrameRow { name, length, tokens, position } = *row;
            words.copy_from_slice(&[name as i32, length as i32, tokens as i32, position as i32]);
        }
        let operation_words = words[OPERATIONS..].chunks_exact_mut(OPERATION_WORDS);
        for (operation, words) in self.operations.iter().zip(operation_words) {
            let numbers = match *operation {
                Operation::Forget(row) => [0, row, 0, 0],
                Operation::Keep { anchor, row, length } => [1, anchor, row, length as u32],
                Operation::Resume { anchor, row } => [2, anchor, row, 0],
                Operation::Drop(anchor) => [3, anchor, 0, 0],
                Operation::SwapOut { row, length } => [4, row, length as u32, 0],
            };
            words.copy_from_slice(&numbers.map(|number| number as i32));
        }
        words[CHECKSUM] = checksum(&words);
        words
    }

    /// The frame that these numbers are.
    pub fn decode(words: &[i32]) -> Result<Self, FrameError> {
        let words: &[i32; WORDS] = words.try_into().map_err(|_| FrameError::NotOne)?;
        if words[..2] != [MAGIC, VERSION] || words[CHECKSUM] != checksum(words) {
            return Err(FrameError::NotOne);
        }
        // No number has its sign.
        let number = |word: i32| u32::try_from(word).map_err(|_| FrameError::NotOne);
        let (rows, operations) = (number(words[5])? as usize, number(words[6])? as usize);
        if rows > MOST_ROWS || operations > MOST_OPERATIONS {
            return Err(FrameError::NotOne);
        }
        let answers = number(words[7])?;
        let kind = match words[4] {
            0 => FrameKind::Step,
            1 => FrameKind::Chunk { is_turned: number(words[CHECKSUM + 1])? > 0 },
            2 => FrameKind::Operations,
            3 => FrameKind::Rest,
            4 => FrameKind::Stop,
            5 => FrameKind::State { answers, failed: number(words[CHECKSUM + 1])?.checked_sub(1) },
            _ => return Err(FrameError::NotOne),
        };
        let has_rows = match kind {
            FrameKind::Step => rows > 0,
            FrameKind::Chunk { .. } => rows == 1,
            FrameKind::Operations | FrameKind::Rest | FrameKind::Stop | FrameKind::State { .. } => rows == 0,
        };
        let row = |words: &[i32]| {
            let [name, length, tokens, position] = [0, 1, 2, 3].map(|word| number(words[word]));
            let row = FrameRow {
                name: name?,
                length: length? as usize,
                tokens: tokens? as usize,
                position: position? as usize,
            };
            // Whatever is reckoned with them stays a number of an array.
            let bound = |begin: usize| begin + row.tokens <= i32::MAX as usize;
            let is_possible =
                (1..=MOST_TOKENS).contains(&row.tokens) && bound(row.length) && bound(row.position);
            if is_possible { Ok(row) } else { Err(FrameError::NotOne) }
        };
        let operation = |words: &[i32]| {
            let (first, second) = (number(words[1])?, number(words[2])?);
            Ok(match words[0] {
                0 => Operation::Forget(first),
                1 => Operation::Keep { anchor: first, row: second, length: number(words[3])? as usize },
                2 => Operation::Resume { anchor: first, row: second },
                3 => Operation::Drop(first),
                4 => Operation::SwapOut { row: first, length: second as usize },
                _ => return Err(FrameError::NotOne),
            })
        };
        if !has_rows {
            return Err(FrameError::NotOne);
        }
        let row_words = words[ROWS..OPERATIONS].chunks_exact(ROW_WORDS).take(rows);
        let operation_words = words[OPERATIONS..].chunks_exact(OPERATION_WORDS).take(operations);
        Ok(Self {
            epoch: number(words[2])?,
            sequence: number(words[3])?,
            kind,
            rows: row_words.map(row).collect::<Result<_, _>>()?,
            operations: operation_words.map(operation).collect::<Result<_, _>>()?,
        })
    }

    /// The same, if it belongs to this ring and is the one that is due.
    pub fn expect(words: &[i32], epoch: u32, sequence: u32) -> Result<Self, FrameError> {
        let frame = Self::decode(words)?;
        if frame.epoch != epoch {
            return Err(FrameError::Epoch { found: frame.epoch, expected: epoch });
        }
        if frame.sequence != sequence {
            return Err(FrameError::Sequence { found: frame.sequence, expected: sequence });
        }
        Ok(frame)
    }

    /// The first rank that failed, as a state says that answers a frame of this ring.
    pub fn expect_state(words: &[i32], epoch: u32, answered: u32) -> Result<Option<u32>, FrameError> {
        match Self::expect(words, epoch, answered)?.kind {
            FrameKind::State { answers, failed } if answers == answered => Ok(failed),
            _ => Err(FrameError::Answer { expected: answered }),
        }
    }

    /// The state that answers a frame of this ring.
    pub fn state(epoch: u32, answers: u32, failed: Option<u32>) -> Self {
        let kind = FrameKind::State { answers, failed };
        Self { epoch, sequence: answers, kind, rows: Vec::new(), operations: Vec::new() }
    }
}

/// The number behind this one, in 31 bits.
pub(crate) fn following(number: u32) -> u32 {
    (number + 1) & (u32::MAX >> 1)
}

/// CRC-32 of all words but its own.
fn checksum(words: &[i32; WORDS]) -> i32 {
    let mut hasher = crc32fast::Hasher::new();
    for (place, word) in words.iter().enumerate() {
        if place != CHECKSUM {
            hasher.update(&word.to_le_bytes());
        }
    }
    hasher.finalize() as i32
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = u32> {
        0..1u32 << 31
    }

    fn frames() -> impl Strategy<Value = Frame> {
        let row = (number(), 0..1usize << 30, 1..=MOST_TOKENS, 0..1usize << 30)
            .prop_map(|(name, length, tokens, position)| FrameRow { name, length, tokens, position });
        let rows = vec(row, 1..=MOST_ROWS);
        let operation =
            (0..5, number(), number(), number()).prop_map(|(code, first, row, length)| match code {
                0 => Operation::Forget(first),
                1 => Operation::Keep { anchor: first, row, length: length as usize },
                2 => Operation::Resume { anchor: first, row },
                3 => Operation::Drop(first),
                _ => Operation::SwapOut { row, length: length as usize },
            });
        let operations = vec(operation, 0..=MOST_OPERATIONS);
        let failed = prop::option::of(0..9u32);
        let kind = (0..6usize, number(), failed).prop_map(|(kind, answers, failed)| match kind {
            0 => FrameKind::Step,
            1 => FrameKind::Chunk { is_turned: answers % 2 > 0 },
            2 => FrameKind::Operations,
            3 => FrameKind::Rest,
            4 => FrameKind::Stop,
            _ => FrameKind::State { answers, failed },
        });
        (number(), number(), kind, rows, operations).prop_map(
            |(epoch, sequence, kind, mut rows, operations)| {
                match kind {
                    FrameKind::Step => {}
                    FrameKind::Chunk { .. } => rows.truncate(1),
                    _ => rows.clear(),
                }
                Frame { epoch, sequence, kind, rows, operations }
            },
        )
    }

    proptest! {
        #[test]
        fn a_frame_says_what_was_put_into_it(frame in frames()) {
            prop_assert_eq!(Frame::decode(&frame.encode()), Ok(frame));
        }

        #[test]
        fn a_word_that_was_changed_is_found(frame in frames(), place in 0..WORDS, change in 1..u32::MAX) {
            let mut words = frame.encode();
            words[place] = (words[place] as u32 ^ change) as i32;
            prop_assert_eq!(Frame::decode(&words), Err(FrameError::NotOne));
        }

        /// Whoever knows the checksum still says nothing that is out of bounds.
        #[test]
        fn numbers_that_mean_nothing_are_refused_or_read_within_bounds(
            frame in frames(),
            place in 2..WORDS,
            word in any::<i32>(),
        ) {
            let mut words = frame.encode();
            if place != CHECKSUM {
                words[place] = word;
                words[CHECKSUM] = checksum(&words);
            }
            if let Ok(read) = Frame::decode(&words) {
                prop_assert!(read.rows.len() <= MOST_ROWS && read.operations.len() <= MOST_OPERATIONS);
                prop_assert!(read.rows.iter().all(|row| row.tokens > 0));
            }
        }

        #[test]
        fn another_ring_and_another_turn_are_named(frame in frames(), epoch in number(), sequence in number()) {
            let read = Frame::expect(&frame.encode(), epoch, sequence);
            let expected = if frame.epoch != epoch {
                Err(FrameError::Epoch { found: frame.epoch, expected: epoch })
            } else if frame.sequence != sequence {
                Err(FrameError::Sequence { found: frame.sequence, expected: sequence })
            } else {
                Ok(frame)
            };
            prop_assert_eq!(read, expected);
        }
    }

    #[test]
    fn a_state_answers_one_frame() {
        let words = Frame::state(5, 9, Some(2)).encode();
        assert_eq!(Frame::expect_state(&words, 5, 9), Ok(Some(2)));
        assert_eq!(Frame::expect_state(&Frame::state(5, 9, None).encode(), 5, 9), Ok(None));
        assert!(Frame::expect_state(&words, 5, 8).is_err() && Frame::expect_state(&words, 6, 9).is_err());
        let stop = Frame { epoch: 5, sequence: 9, kind: FrameKind::Stop, rows: vec![], operations: vec![] };
        let not_a_state = Frame::expect_state(&stop.encode(), 5, 9);
        assert_eq!(not_a_state, Err(FrameError::Answer { expected: 9 }));
        assert!(Frame::decode(&words[1..]).is_err() && Frame::decode(&[]).is_err());
    }
}
