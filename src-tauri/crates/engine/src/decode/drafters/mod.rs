//! What proposes tokens for a step: the MTP head, a draft model, the text that is there already, or the form of a
//! reply. The step's pass verifies them and does not know who proposed them.

mod dflash;
mod forced;
mod head;
mod lookup;

use dflash::Dflash;
use forced::Forced;
use head::Head;
use lookup::Lookup;

use super::batch::Batch;
use super::plan::{DraftPlan, DrafterKind, MAX_WIDTH};
use super::row::Row;
use crate::mlx::{self, Array, Result};
use crate::model::Qwen;
use crate::sample::{Drafts, Judged, Restriction, SamplePosition, Seen, draft, judges, restricted};

/// Proposes tokens for rows of a batch.
trait Drafter {
    /// Which of a step's rows are its own.
    fn kind(&self) -> DrafterKind;

    /// Adds `depths[b]` drafts of each row b to `drafted`. It is asked in every step, also where no row is its own.
    fn draft(&self, model: &Qwen, batch: &mut Batch, depths: &[usize], drafted: &mut Drafted) -> Result<()>;
}

/// All of them.
const DRAFTERS: [&dyn Drafter; 4] = [&Head, &Dflash, &Lookup, &Forced];

impl Batch {
    /// Drafts for each row, no more than it can use, and filler where a row wants to be wider.
    pub(super) fn draft(&mut self, model: &Qwen, plans: &[DraftPlan]) -> Result<Drafted> {
        let mut drafted = Drafted::none(plans.iter().map(|plan| plan.drafter).collect());
        for drafter in DRAFTERS {
            let own = |plan: &DraftPlan| if plan.drafter == drafter.kind() { plan.depth } else { 0 };
            let depths: Vec<usize> = plans.iter().map(own).collect();
            drafter.draft(model, self, &depths, &mut drafted)?;
        }
        self.pad(&mut drafted)?;
        Ok(drafted)
    }

    /// Widens the rows that want to be wider, unless the step gets too wide for one of them.
    fn pad(&self, drafted: &mut Drafted) -> Result<()> {
        let rows = || self.rows.iter().enumerate();
        let padded = |(b, row): (usize, &Row)| {
            // One that is made again goes by itself.
            let least = if row.taken_back { 1 } else { *row.spec.widths.start() };
            drafted.width(b).max(least)
        };
        let most = self.rows.iter().map(|row| *row.spec.widths.end()).min().unwrap_or(0);
        let widths: Vec<usize> = rows().map(padded).collect();
        if widths.iter().sum::<usize>() <= most.min(MAX_WIDTH) {
            for ((b, row), width) in rows().zip(widths) {
                drafted.pad(b, width, row.ctx.last().copied().unwrap_or(0))?;
            }
        }
        Ok(())
    }

    /// Draws the next draft of each of these rows from its logits, `[rows, V]` → u32 `[rows]`. A device that computes
    /// steps piece by piece begins with it at once.
    fn draw(&mut self, rows: &[usize], logits: &Array, drafted: &mut Drafted, model: &Qwen) -> Result<Array> {
        let seen = self.seen(logits.dim(-1))?;
        // What may come behind a draft that is not known yet is not known either.
        let restrictions: Vec<Restriction> = rows
            .iter()
            .map(|&b| {
                let mask = if drafted.depth(b) == 0 { self.rows[b].mask() } else { None };
                Ok(Restriction { bias: self.rows[b].bias(logits.dim(-1))?, mask })
            })
            .collect::<Result<_>>()?;
        let logits = &restricted(logits, &restrictions)?;
        let places: Vec<SamplePosition<'_>> = rows
            .iter()
            .map(|&b| {
                let before = drafted.of_row(b);
                self.rows[b].sample_position(before.len(), seen[b].clone(), &before)
            })
            .collect();
        let known: Vec<Option<u32>> =
            rows.iter().map(|&b| self.rows[b].known_draft(drafted.depth(b))).collect();
        let (tokens, from) = draft(logits, &places, &known, drafted.drafts(), &model.top_k)?;
        let judging: Vec<bool> = places.iter().map(|place| judges(place.sampler.sampling)).collect();
        if model.stack.layers_per_piece.is_some() {
            mlx::async_eval([&tokens].into_iter().chain(&from))?;
        }
        drafted.push(rows, tokens.clone(), from, &judging)?;
        Ok(tokens)
    }

    /// What penalties look at, for each row that has some.
    pub(super) fn seen(&mut self, vocab: i32) -> Result<Vec<Option<Seen>>> {
        let seen = |row: &mut Row| row.history.as_mut().map(|history| history.seen(vocab)).transpose();
        self.rows.iter_mut().map(seen).collect()
    }
}

/// Drafts of all rows, still lazy, depth after depth.
#[derive(Debug, Default)]
pub(super) struct Drafted {
    drafts: Drafts,
    /// For each row, which of the drafts are its own, by depth.
    own: Vec<Vec<Own>>,
    /// Who proposed them, by row.
    drafters: Vec<DrafterKind>,
    /// How many of a row's own are filler: they widen the pass and are never accepted.
    fillers: Vec<usize>,
}

/// One row's draft at one depth.
#[derive(Debug, Clone, Copy)]
struct Own {
    token: usize,
    /// Where the row judges by what it was drawn from.
    from: Option<usize>,
}

impl Drafted {
    /// No drafts of anybody.
    pub(super) fn none(drafters: Vec<DrafterKind>) -> Self {
        let rows = drafters.len();
        Self { drafts: Drafts::default(), own: vec![Vec::new(); rows], drafters, fillers: vec![0; rows] }
    }

    /// Tokens that stand in for the drafts of a single row, which has drafted nothing.
    pub(super) fn given(tokens: &[u32]) -> Result<Self> {
        let mut drafted = Self::none(vec![DrafterKind::Head]);
        if !tokens.is_empty() {
            drafted.push_chain(0, Array::from_slice(tokens, &[tokens.len() as i32])?)?;
        }
        Ok(drafted)
    }

    /// Those of all rows.
    pub(super) fn drafts(&self) -> &Drafts {
        &self.drafts
    }

    /// Who proposed those of row `b`.
    pub(super) fn drafter(&self, b: usize) -> DrafterKind {
        self.drafters[b]
    }

    /// How many row `b` has.
    pub(super) fn depth(&self, b: usize) -> usize {
        self.own[b].len() - self.fillers[b]
    }

    /// How many tokens row `b` takes part with: its last one, its drafts and filler.
    pub(super) fn width(&self, b: usize) -> usize {
        1 + self.own[b].len()
    }

    /// Which of the drafts are those of row `b`, in order.
    pub(super) fn of_row(&self, b: usize) -> Vec<usize> {
        self.in_pass(b)[..self.depth(b)].to_vec()
    }

    /// The same, and the filler behind them.
    pub(super) fn in_pass(&self, b: usize) -> Vec<usize> {
        self.own[b].iter().map(|own| own.token).collect()
    }

    /// Widens the part of row `b` to so many tokens, by filler.
    fn pad(&mut self, b: usize, width: usize, filler: u32) -> Result<()> {
        let missing = width.saturating_sub(self.width(b));
        if missing > 0 {
            let own = std::mem::take(&mut self.own[b]);
            self.push_chain(b, Array::from_slice(&vec![filler; missing], &[missing as i32])?)?;
            self.own[b] = [own, std::mem::take(&mut self.own[b])].concat();
            self.fillers[b] = missing;
        }
        Ok(())
    }

    /// Whether there is filler.
    pub(super) fn is_padded(&self) -> bool {
        self.fillers.iter().any(|&count| count > 0)
    }

    /// The positions at which row `b` is verified: `ahead` tokens behind its context, and behind each of its drafts.
    pub(super) fn sample_positions<'a>(
        &self,
        b: usize,
        row: &'a Row,
        ahead: usize,
        seen: Option<&Seen>,
    ) -> Vec<SamplePosition<'a>> {
        let before = self.in_pass(b);
        let judged = |own: &Own| Some(Judged { token: own.token, from: own.from? });
        (0..=before.len())
            .map(|i| SamplePosition {
                judged: self.own[b].get(i).and_then(judged),
                ..row.sample_position(ahead + i, seen.cloned(), &before[..i])
            })
            .collect()
    }

    /// Takes in all drafts of row `b`, which are judged by comparing tokens.
    fn push_chain(&mut self, b: usize, tokens: Array) -> Result<()> {
        let first = self.drafts.tokens.as_ref().map_or(0, |tokens| tokens.dim(0) as usize);
        self.own[b] =
            (first..first + tokens.dim(0) as usize).map(|token| Own { token, from: None }).collect();
        self.drafts.tokens = behind(self.drafts.tokens.take(), Some(tokens))?;
        Ok(())
    }

    /// Takes in the drafts of the next depth, those of `rows`.
    fn push(&mut self, rows: &[usize], tokens: Array, from: Option<Array>, judging: &[bool]) -> Result<()> {
        let length = |array: &Option<Array>| array.as_ref().map_or(0, |array| array.dim(0) as usize);
        let (token, mut next_from) = (length(&self.drafts.tokens), length(&self.drafts.from));
        for (i, (&b, &judging)) in rows.iter().zip(judging).enumerate() {
            self.own[b].push(Own { token: token + i, from: judging.then_some(next_from) });
            next_from += usize::from(judging);
        }
        self.drafts.tokens = behind(self.drafts.tokens.take(), Some(tokens))?;
        self.drafts.from = behind(self.drafts.from.take(), from)?;
        Ok(())
    }
}

fn behind(before: Option<Array>, new: Option<Array>) -> Result<Option<Array>> {
    match (before, new) {
        (Some(before), Some(new)) => mlx::concatenate(&[&before, &new], 0).map(Some),
        (before, new) => Ok(before.or(new)),
    }
}
