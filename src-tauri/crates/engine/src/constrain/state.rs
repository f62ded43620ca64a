//! Where a bound reply stands, and what may come next there. Both are functions of its tokens alone.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use llguidance::Matcher;
use rustix::time::{ClockId, clock_gettime};

use super::mask::Mask;

/// The most tokens that are known beforehand at a time.
const MOST_FORCED: usize = 15;
/// How long a matcher may compute for one position of a reply before that counts as slow, in time of the processor: how
/// busy the machine is does not matter. Ordinary grammars take 50 µs, and at most 30 ms.
const SLOW: Duration = Duration::from_millis(100);
/// As many slow answers of the matcher end the reply: other replies wait for each.
const MOST_SLOW: u32 = 2;

/// What binds a reply, compiled.
#[derive(Clone)]
pub struct Constraint {
    answer: Answer,
    rules: Arc<Rules>,
}

/// What binds an answer. The matchers have taken nothing yet.
#[derive(Clone)]
pub(super) enum Answer {
    /// Nothing.
    Free,
    /// All of it is of a grammar.
    Whole(Box<Matcher>),
    /// Each call in it is, behind the token that begins it.
    Calls { begin: u32, call: Box<Matcher> },
}

/// The rest of what binds a reply.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Whether it begins with thinking.
    pub(super) thinks: bool,
    /// The token that closes the thinking.
    pub(super) close: Option<u32>,
    /// The tokens that close it where the budget is used up.
    pub(super) closing: Vec<u32>,
    /// The most tokens of thinking.
    pub(super) budget: Option<usize>,
    /// Tokens that end a reply.
    pub(super) ends: Vec<u32>,
    /// What is added to logits.
    pub(super) bias: Vec<(u32, f32)>,
    /// Tokens that the model knows.
    pub(super) vocab: usize,
}

impl Constraint {
    pub(super) fn new(answer: Answer, rules: Rules) -> Self {
        Self { answer, rules: Arc::new(rules) }
    }

    /// Tokens, and what is added to the logits of each.
    pub fn bias(&self) -> &[(u32, f32)] {
        &self.rules.bias
    }

    /// Whether its thinking has a budget.
    pub fn limits_thinking(&self) -> bool {
        self.rules.thinks && self.rules.budget.is_some()
    }

    /// Whether the thinking of a reply of these tokens was cut: where its budget is used up, other tokens than the one
    /// that closes it came before.
    pub fn has_cut_thinking(&self, tokens: &[u32]) -> bool {
        let Rules { thinks, close, budget, .. } = *self.rules;
        let thought =
            budget.filter(|&budget| thinks && tokens.len() > budget).map(|budget| &tokens[..budget]);
        thought.is_some_and(|thought| close.is_none_or(|close| !thought.contains(&close)))
    }
}

/// Where a reply stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In its thinking, of which so many tokens are written.
    Thinking { written: usize },
    /// In the tokens that close the thinking.
    Closing { written: usize },
    /// Where anything may come.
    Free,
    /// In what the matcher knows.
    Bound,
    /// Behind all that may be written.
    Ended,
    /// Where the matcher has failed.
    Broken,
}

/// A bound reply in the making.
pub struct ConstraintState {
    constraint: Constraint,
    place: Place,
    /// The matcher of the answer or of the call that is being written or was last, and how many tokens it has taken.
    matcher: Option<Box<Matcher>>,
    taken: usize,
    /// How often the matcher was slow.
    slow: u32,
    /// What may come next, once that was asked for.
    mask: Option<Option<Mask>>,
}

/// The matcher that was left for another one while drafts were looked at.
type Aside = Option<(Option<Box<Matcher>>, usize)>;

impl ConstraintState {
    /// At the beginning of a reply.
    pub fn new(constraint: Constraint) -> Self {
        let mut state = Self { constraint, place: Place::Free, matcher: None, taken: 0, slow: 0, mask: None };
        if state.rules().thinks {
            state.place = state.thinking(0);
        } else {
            state.begin_answer(&mut None);
        }
        state
    }

    /// After these tokens, the end of the reply not among them.
    pub fn replayed(constraint: Constraint, tokens: &[u32]) -> Self {
        let mut state = Self::new(constraint);
        tokens.iter().for_each(|&token| state.push(token));
        state
    }

    /// What binds it.
    pub fn constraint(&self) -> &Constraint {
        &self.constraint
    }

    /// Takes the next token of the reply. One that ends it is none.
    pub fn push(&mut self, token: u32) {
        self.mask = None;
        if !self.rules().ends.contains(&token) {
            self.advance(token, &mut None);
        }
    }

    /// Whether the next token, or one behind as many drafts, may be bound.
    pub fn binds(&self, drafts: usize) -> bool {
        match self.place {
            Place::Thinking { written } => {
                !matches!(self.constraint.answer, Answer::Free)
                    || self.rules().budget.is_some_and(|budget| written + drafts >= budget)
            }
            Place::Free => matches!(self.constraint.answer, Answer::Calls { .. }),
            Place::Closing { .. } | Place::Bound | Place::Ended | Place::Broken => true,
        }
    }

    /// Whether the grammar has failed: the reply cannot go on.
    pub fn is_broken(&self) -> bool {
        self.place == Place::Broken
    }

    /// The tokens that may come next; `None` where all may.
    pub fn mask(&mut self) -> Option<Mask> {
        match &self.mask {
            Some(mask) => mask.clone(),
            None => {
                if self.slow >= MOST_SLOW && self.place == Place::Bound {
                    self.fail("it takes too long");
                }
                let mask = self.mask_here();
                self.mask = Some(mask.clone());
                mask
            }
        }
    }

    /// The tokens that may come next, and those that may come behind each of these drafts. Behind one that may not come
    /// itself nothing is kept, so that it does not matter. Fewer where the grammar fails behind a draft or is slow
    /// there: what is drawn there must not be kept.
    pub fn masks(&mut self, drafts: &[u32]) -> Vec<Option<Mask>> {
        let mut masks = vec![self.mask()];
        if self.is_broken() {
            return masks;
        }
        let (place, taken) = (self.place, self.taken);
        let mut aside = None;
        for (&draft, at) in drafts.iter().zip(0..) {
            let may_come = masks[at].as_ref().is_none_or(|mask: &Mask| mask.allows(draft));
            if !may_come || self.rules().ends.contains(&draft) {
                masks.resize(1 + drafts.len(), None);
                break;
            }
            if self.slow >= MOST_SLOW {
                break;
            }
            self.advance(draft, &mut aside);
            let mask = self.mask_here();
            if self.is_broken() {
                return masks;
            }
            masks.push(mask);
        }
        self.go_back(place, taken, aside);
        masks
    }

    /// The next tokens, as far as nothing else may come.
    pub fn forced(&mut self) -> Vec<u32> {
        let mut forced = match (self.place, &mut self.matcher) {
            (Place::Closing { written }, _) => self.rules().closing[written..].to_vec(),
            (Place::Bound, Some(matcher)) => matcher.compute_ff_tokens(),
            _ => Vec::new(),
        };
        forced.truncate(MOST_FORCED);
        forced
    }

    fn rules(&self) -> &Rules {
        &self.constraint.rules
    }

    /// In the thinking, or at its end where the budget is used up.
    fn thinking(&self, written: usize) -> Place {
        match self.rules().budget {
            Some(budget) if written >= budget => Place::Closing { written: 0 },
            _ => Place::Thinking { written },
        }
    }

    fn begin_answer(&mut self, aside: &mut Aside) {
        match &self.constraint.answer {
            Answer::Whole(matcher) => self.bind(matcher.clone(), aside),
            Answer::Free | Answer::Calls { .. } => self.place = Place::Free,
        }
    }

    /// Goes on with a matcher that has taken nothing.
    fn bind(&mut self, matcher: Box<Matcher>, aside: &mut Aside) {
        let before = (self.matcher.replace(matcher), std::mem::take(&mut self.taken));
        aside.get_or_insert(before);
        self.place = Place::Bound;
        self.leave_if_done();
    }

    fn advance(&mut self, token: u32, aside: &mut Aside) {
        match self.place {
            Place::Thinking { .. } if self.rules().close == Some(token) => self.begin_answer(aside),
            Place::Thinking { written } => self.place = self.thinking(written + 1),
            Place::Closing { written } if written + 1 == self.rules().closing.len() => {
                self.begin_answer(aside)
            }
            Place::Closing { written } => self.place = Place::Closing { written: written + 1 },
            Place::Free => {
                if let Answer::Calls { begin, call } = &self.constraint.answer
                    && *begin == token
                {
                    self.bind(call.clone(), aside);
                }
            }
            Place::Bound => {
                let taken =
                    self.ask(|matcher, _| matcher.consume_token(token).map_err(|error| error.to_string()));
                match taken {
                    Ok(()) => {
                        self.taken += 1;
                        self.leave_if_done();
                    }
                    Err(reason) => self.fail(&reason),
                }
            }
            Place::Ended | Place::Broken => {}
        }
    }

    /// Leaves what the matcher knows once nothing more of it can come.
    fn leave_if_done(&mut self) {
        if self.matcher.as_ref().is_some_and(|matcher| matcher.is_stopped()) {
            self.place = match self.constraint.answer {
                Answer::Calls { .. } => Place::Free,
                Answer::Whole(_) | Answer::Free => Place::Ended,
            };
        }
    }

    fn fail(&mut self, reason: &str) {
        tracing::warn!("a grammar has failed: {reason}");
        self.place = Place::Broken;
    }

    /// Has the matcher do something, and counts whether that was slow.
    fn ask<T>(&mut self, what: impl FnOnce(&mut Matcher, &Rules) -> Result<T, String>) -> Result<T, String> {
        let begun = clock_gettime(ClockId::ThreadCPUTime);
        let matcher = self.matcher.as_mut().ok_or("there is no matcher")?;
        let answer = what(matcher, &self.constraint.rules);
        let took = clock_gettime(ClockId::ThreadCPUTime) - begun;
        self.slow += u32::from(Duration::try_from(took).is_ok_and(|took| took > SLOW));
        answer
    }

    fn mask_here(&mut self) -> Option<Mask> {
        let rules = Arc::clone(&self.constraint.rules);
        let ends = &rules.ends;
        match self.place {
            // An answer that must come does.
            Place::Thinking { .. } if matches!(self.constraint.answer, Answer::Whole(_)) => {
                Some(Mask::all_but(rules.vocab, ends))
            }
            Place::Thinking { .. } | Place::Free => None,
            Place::Closing { written } => Some(Mask::of(&rules.closing[written..=written])),
            Place::Bound => {
                let may_end = matches!(self.constraint.answer, Answer::Whole(_));
                match self.ask(|matcher, rules| bound(matcher, &rules.ends, may_end)) {
                    Ok(mask) => Some(mask),
                    Err(reason) => {
                        self.fail(&reason);
                        Some(Mask::of(&self.rules().ends))
                    }
                }
            }
            Place::Ended | Place::Broken => Some(Mask::of(ends)),
        }
    }

    /// Back to where it stood before drafts were looked at.
    fn go_back(&mut self, place: Place, taken: usize, aside: Aside) {
        if let Some((matcher, taken)) = aside {
            (self.matcher, self.taken) = (matcher, taken);
        }
        let ahead = self.taken - taken;
        self.place = place;
        if ahead > 0
            && let Some(matcher) = &mut self.matcher
        {
            match matcher.rollback(ahead) {
                // It remembers masks by what two ways may have in common.
                Ok(()) => matcher.invalidate_bias_cache(),
                Err(error) => self.fail(&error.to_string()),
            }
        }
        self.taken = taken;
    }
}

/// What a matcher allows. It is never told the end of the reply; it may come where the grammar may end.
fn bound(matcher: &mut Matcher, ends: &[u32], may_end: bool) -> Result<Mask, String> {
    let accepting = matcher.is_accepting().map_err(|error| error.to_string())?;
    let mut words = match matcher.compute_mask() {
        Ok(mask) => mask.as_slice().to_vec(),
        Err(error) => return Err(error.to_string()),
    };
    for &end in ends {
        if let Some(word) = words.get_mut(end as usize / 32) {
            *word &= !(1 << (end % 32));
        }
    }
    let mask = Mask::with(words, if accepting && may_end { ends } else { &[] });
    if mask.is_empty() { Err("nothing may come next".into()) } else { Ok(mask) }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraint").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl fmt::Debug for ConstraintState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConstraintState").field("place", &self.place).finish_non_exhaustive()
    }
}
