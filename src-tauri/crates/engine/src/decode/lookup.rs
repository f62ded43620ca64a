//! Drafts from the text that is there already: what followed the longest earlier occurrence of a row's last tokens, in
//! its context or in what whoever asks predicts of the reply.
//!
//! Known as prompt lookup decoding. Worth most where a reply quotes or edits what it was given. A proposal costs no
//! pass of anything, and whether it would have been right is known after every step, used or not.

use std::collections::HashMap;
use std::sync::Arc;

use super::plan::MAX_CHAIN;

/// Tokens that a match has at least.
const MIN_MATCH: usize = 3;
/// Tokens of it that are counted.
const MAX_MATCH: usize = 32;
/// Earlier occurrences that are compared, the latest first.
const MAX_CANDIDATES: usize = 32;

/// Where each run of `MIN_MATCH` tokens ends in a row's text: the prediction of its reply, if there is one, and its
/// context behind that.
#[derive(Debug, Default)]
pub(super) struct TextIndex {
    /// What whoever asks predicts of the reply.
    predicted: Arc<[u32]>,
    /// The end of its last occurrence.
    last: HashMap<[u32; MIN_MATCH], u32>,
    /// For the occurrence that ends at `MIN_MATCH + i`, the end of the one before it; 0 where there is none.
    before: Vec<u32>,
}

/// What may come next in a row, since it came next before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposal {
    /// How much came before it both times.
    pub(super) class: MatchClass,
    /// Whether it was found in the prediction.
    pub(super) predicted: bool,
    /// The tokens that followed, at most [`MAX_CHAIN`].
    pub(super) tokens: Vec<u32>,
}

/// Matches of about one length: the longer they are, the more often what followed follows again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchClass {
    /// Of 3 or 4 tokens.
    Short,
    /// Of 5 to 8.
    Medium,
    /// Of more.
    Long,
}

/// How a proposal did against what the row emitted, drafted or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupVerdict {
    /// The class of its match.
    pub class: MatchClass,
    /// Its tokens that there is a verdict on.
    pub judged: usize,
    /// Its first tokens that the row emitted.
    pub right: usize,
}

impl MatchClass {
    /// How many there are.
    pub(super) const COUNT: usize = 3;

    fn of(length: usize) -> Self {
        match length {
            ..=4 => Self::Short,
            5..=8 => Self::Medium,
            _ => Self::Long,
        }
    }
}

impl TextIndex {
    /// The index of a row with this prediction of its reply.
    pub(super) fn of(predicted: Arc<[u32]>) -> Self {
        Self { predicted, ..Self::default() }
    }

    /// The index of the same row before anything of its context was entered.
    pub(super) fn emptied(&self) -> Self {
        Self::of(Arc::clone(&self.predicted))
    }

    /// Enters the runs of `ctx` that it does not have yet: about a tenth of a microsecond and 30 bytes a token. `ctx`
    /// begins with what it was at the last call.
    pub(super) fn extend(&mut self, ctx: &[u32]) {
        let text = Text { predicted: &self.predicted, ctx };
        for end in MIN_MATCH + self.before.len()..=text.len() {
            let run = std::array::from_fn(|i| text.at(end - MIN_MATCH + i));
            self.before.push(self.last.insert(run, end as u32).unwrap_or(0));
        }
    }

    /// What followed the longest earlier occurrence of the last tokens of `ctx`, of several as long the latest; `None`
    /// where fewer than `MIN_MATCH` tokens occurred before. `ctx` begins with what it was at the last call.
    pub(super) fn propose(&mut self, ctx: &[u32]) -> Option<Proposal> {
        // The last run ends where the context does, and finds those before it.
        self.extend(ctx);
        if ctx.len() < MIN_MATCH {
            return None;
        }
        let text = Text { predicted: &self.predicted, ctx };
        let before = |&end: &usize| Some(self.before[end - MIN_MATCH] as usize).filter(|&end| end > 0);
        let known = self.predicted.len();
        // Behind the end of the prediction begins another text.
        let candidates = std::iter::successors(before(&text.len()), before).filter(|&end| end != known);
        let length = |&end: &usize| {
            let most = end.min(MAX_MATCH).min(ctx.len());
            (1..=most).take_while(|back| text.at(end - back) == text.at(text.len() - back)).count()
        };
        let matches = candidates.take(MAX_CANDIDATES).map(|end| (length(&end), end));
        let (length, from) = matches.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
        // Behind the end of the context the text repeats itself.
        let predicted = from < known;
        let tokens = if predicted {
            self.predicted[from..].iter().copied().take(MAX_CHAIN).collect()
        } else {
            (0..MAX_CHAIN).map(|i| text.at(from + i % (text.len() - from))).collect()
        };
        Some(Proposal { class: MatchClass::of(length), predicted, tokens })
    }
}

/// The prediction of a row's reply, and its context behind that.
#[derive(Clone, Copy)]
struct Text<'a> {
    predicted: &'a [u32],
    ctx: &'a [u32],
}

impl Text<'_> {
    fn len(self) -> usize {
        self.predicted.len() + self.ctx.len()
    }

    fn at(self, index: usize) -> u32 {
        match index.checked_sub(self.predicted.len()) {
            Some(index) => self.ctx[index],
            None => self.predicted[index],
        }
    }
}

impl Proposal {
    /// Its verdict where the row has `emitted` tokens in their place.
    pub(super) fn verdict(&self, emitted: &[u32]) -> LookupVerdict {
        let right =
            self.tokens.iter().zip(emitted).take_while(|(proposed, emitted)| proposed == emitted).count();
        LookupVerdict { class: self.class, judged: self.tokens.len().min(emitted.len()), right }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn proposed(ctx: &[u32]) -> Option<Proposal> {
        TextIndex::default().propose(ctx)
    }

    /// The definition: of all earlier ends, the one with the longest match, the latest of several.
    fn expected(ctx: &[u32]) -> Option<(usize, usize)> {
        let length =
            |end: usize| (0..end).take_while(|&i| ctx[end - 1 - i] == ctx[ctx.len() - 1 - i]).count();
        let ends = (1..ctx.len()).map(|end| (length(end).min(MAX_MATCH), end));
        ends.filter(|(length, _)| *length >= MIN_MATCH).max()
    }

    proptest! {
        /// Few different tokens, so that there are many matches; the index grows in any pieces.
        #[test]
        fn the_longest_match_goes_on(ctx in prop::collection::vec(0u32..4, 0..120), cut in 0usize..120) {
            let mut index = TextIndex::default();
            index.propose(&ctx[..cut.min(ctx.len())]);
            let proposal = index.propose(&ctx);
            prop_assert_eq!(&proposal, &proposed(&ctx));
            prop_assert_eq!(proposal.is_some(), expected(&ctx).is_some());
            if let (Some(proposal), Some((length, end))) = (proposal, expected(&ctx)) {
                // Of more occurrences than are compared, only the latest are.
                let many = ctx.windows(MIN_MATCH).filter(|run| ctx.ends_with(run)).count() > MAX_CANDIDATES;
                if !many {
                    prop_assert_eq!(proposal.class, MatchClass::of(length));
                    let follows = &ctx[end..];
                    prop_assert!(proposal.tokens.iter().zip(follows).all(|(proposed, follows)| proposed == follows));
                }
                prop_assert_eq!(proposal.tokens.len(), MAX_CHAIN);
            }
        }
    }

    #[test]
    fn a_text_that_repeats_itself_is_proposed_beyond_its_end() {
        let tokens = proposed(&[9, 1, 2, 3, 1, 2, 3]).unwrap().tokens;
        assert_eq!(tokens[..7], [1, 2, 3, 1, 2, 3, 1]);
        assert_eq!(proposed(&[1, 2, 3, 4, 1, 2]), None);
        assert_eq!(proposed(&[]), None);
    }

    #[test]
    fn what_is_predicted_is_proposed_where_the_context_has_no_longer_match() {
        let mut index = TextIndex::of([1, 2, 3, 4, 5, 6].into());
        let proposal = index.propose(&[9, 9, 1, 2, 3]).unwrap();
        assert_eq!((proposal.predicted, &proposal.tokens[..3]), (true, &[4, 5, 6][..]));
        // As long, and later.
        let proposal = index.propose(&[9, 9, 1, 2, 3, 7, 7, 1, 2, 3]).unwrap();
        assert_eq!((proposal.predicted, &proposal.tokens[..2]), (false, &[7, 7][..]));
        let proposal = index.propose(&[9, 9, 1, 2, 3, 7, 7, 1, 2, 3, 4]).unwrap();
        assert_eq!((proposal.predicted, &proposal.tokens[..2]), (true, &[5, 6][..]));
        assert_eq!(index.propose(&[9, 9, 1, 2, 3, 7, 7, 1, 2, 3, 4, 8]), None);
        let mut again = index.emptied();
        assert!(again.propose(&[1, 2, 3]).unwrap().predicted);
        assert_eq!(TextIndex::of([1, 2, 3].into()).propose(&[2, 3]), None, "fewer tokens than a match has");
        assert_eq!(TextIndex::of([1, 2, 3].into()).propose(&[8, 1, 2, 3]), None, "nothing follows in it");
        let proposal = TextIndex::of([1, 2, 3, 4].into()).propose(&[8, 1, 2, 3]).unwrap();
        assert_eq!(proposal.tokens, [4], "no more than is left of it");
    }

    #[test]
    fn a_proposal_is_judged_by_what_was_emitted() {
        let proposal = Proposal { class: MatchClass::Long, predicted: false, tokens: vec![5, 6, 7] };
        let verdict = |emitted: &[u32]| {
            let verdict = proposal.verdict(emitted);
            (verdict.judged, verdict.right)
        };
        assert_eq!(verdict(&[5, 6, 8, 9]), (3, 2));
        assert_eq!(verdict(&[5, 6]), (2, 2));
        assert_eq!(verdict(&[4]), (1, 0));
    }
}
