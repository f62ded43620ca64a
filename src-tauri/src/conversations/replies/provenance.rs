//! Where the text of a reply came from, as it grows.

use foretoken_protocol::DraftRun;

/// What a stretch takes in JSON at most, the comma included.
const RUN_BYTES: usize = "[4294967295,255],".len();

fn characters(text: &str) -> u32 {
    text.chars().count() as u32
}

/// Text that knows where it came from: the stretches are as long as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Traced {
    pub(super) text: String,
    pub(super) runs: Vec<DraftRun>,
}

impl Traced {
    pub(super) fn push(&mut self, text: &str, position: Option<u8>) {
        self.text.push_str(text);
        DraftRun(characters(text), position.unwrap_or_default()).add_to(&mut self.runs);
    }

    /// Takes as much from the front as `budget` has bytes for in JSON, and takes those from the budget. Where something
    /// stays, the budget is spent.
    pub(super) fn take(&mut self, budget: &mut usize) -> Self {
        let mut runs = Vec::new();
        let mut end = 0;
        let mut characters = self.text.chars();
        'runs: for &DraftRun(count, position) in &self.runs {
            let Some(left) = budget.checked_sub(RUN_BYTES) else {
                *budget = 0;
                break;
            };
            *budget = left;
            for character in characters.by_ref().take(count as usize) {
                let bytes = json_bytes(character);
                if bytes > *budget {
                    *budget = 0;
                    break 'runs;
                }
                *budget -= bytes;
                end += character.len_utf8();
                DraftRun(1, position).add_to(&mut runs);
            }
        }
        let text: String = self.text.drain(..end).collect();
        self.runs = behind(&self.runs, runs.iter().map(|run| run.0).sum());
        Self { text, runs }
    }
}

/// The stretches without their first `count` characters.
fn behind(runs: &[DraftRun], mut count: u32) -> Vec<DraftRun> {
    let mut rest = Vec::new();
    for &DraftRun(length, position) in runs {
        let gone = length.min(count);
        count -= gone;
        DraftRun(length - gone, position).add_to(&mut rest);
    }
    rest
}

/// The length of a character within a JSON string.
fn json_bytes(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn total(runs: &[DraftRun]) -> usize {
        runs.iter().map(|run| run.0 as usize).sum()
    }

    /// Each character with the place it came from.
    fn spread(text: &str, runs: &[DraftRun]) -> Vec<(char, u8)> {
        let places = runs.iter().flat_map(|&DraftRun(count, position)| (0..count).map(move |_| position));
        text.chars().zip(places).collect()
    }

    fn pieces() -> impl Strategy<Value = Vec<(String, Option<u8>)>> {
        prop::collection::vec((".{0,6}", prop::option::of(1u8..4)), 0..40)
    }

    proptest! {
        #[test]
        fn the_stretches_are_as_long_as_the_text_however_it_is_cut(
            pieces in pieces(),
            budgets in prop::collection::vec(0usize..60, 1..40),
        ) {
            let mut whole = Traced::default();
            let mut expected = Vec::new();
            for (text, position) in &pieces {
                whole.push(text, *position);
                expected.extend(text.chars().map(|character| (character, position.unwrap_or(0))));
                prop_assert_eq!(total(&whole.runs), whole.text.chars().count());
            }
            prop_assert_eq!(spread(&whole.text, &whole.runs), expected.clone());
            let neighbours_differ = whole.runs.windows(2).all(|pair| pair[0].1 != pair[1].1);
            prop_assert!(neighbours_differ && whole.runs.iter().all(|run| run.0 > 0));

            let mut taken = Vec::new();
            for budget in budgets.into_iter().chain([usize::MAX]) {
                let mut left = budget;
                let part = whole.take(&mut left);
                let json = serde_json::to_string(&part.runs).unwrap().len() - 2
                    + serde_json::to_string(&part.text).unwrap().len() - 2;
                prop_assert!(json <= budget);
                prop_assert_eq!(total(&part.runs), part.text.chars().count());
                prop_assert!(left == 0 || whole.text.is_empty());
                taken.extend(spread(&part.text, &part.runs));
            }
            prop_assert_eq!(taken, expected);
        }
    }
}
