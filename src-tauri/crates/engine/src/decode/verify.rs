//! What the model makes of a step's tokens.

use std::collections::BTreeMap;

use super::batch::Batch;
use super::drafters::Drafted;
use super::plan::DrafterKind;
use super::row::{Advance, Row, Verdict};
use super::spec::RowId;
use super::verify_graph::VerifyGraph;
use crate::mlx::{self, Array, Dtype, Result};
use crate::model::{Hidden, LayerOutputs, Packed, Phase, Position, Qwen, Trunk};
use crate::sample::{Logprobs, Restriction, SamplePosition, restricted, sample};

/// A pass over the tokens of rows, as far as this machine has layers for it.
#[derive(Debug)]
pub(super) struct Pass {
    trunk: Trunk,
    /// Of each row, where its first token stands and how many there are.
    spans: Vec<(Position, usize)>,
    /// How many tokens each row will have emitted by then.
    ahead: usize,
}

impl Batch {
    /// Builds the pass that verifies the drafts.
    pub(super) fn verify_graph(&mut self, model: &Qwen, drafted: &Drafted) -> Result<VerifyGraph> {
        let pass = self.verify_pass(model, drafted)?;
        self.graph(model, drafted, pass)
    }

    /// Builds that pass as far as this machine has layers for it.
    pub(super) fn verify_pass(&mut self, model: &Qwen, drafted: &Drafted) -> Result<Pass> {
        let (tokens, committed) = (self.input_tokens(drafted)?, std::mem::take(&mut self.committed));
        let pass = self.pass(model, drafted, &tokens, 0, Phase::Step { committed: &committed, behind: None });
        self.committed = committed;
        pass
    }

    /// Builds the pass of a plain step behind another one, which the device still computes. `targets`: the token that
    /// each row emits there, u32 `[B]`; `pieces`: that step's [`Hidden::pieces`].
    pub(super) fn plain_graph_behind(
        &mut self,
        model: &Qwen,
        targets: &Array,
        pieces: &[Array],
    ) -> Result<VerifyGraph> {
        let committed = vec![1; self.rows.len()];
        let phase = Phase::Step { committed: &committed, behind: Some(pieces) };
        let drafted = Drafted::none(vec![DrafterKind::Head; committed.len()]);
        let pass = self.pass(model, &drafted, targets, 1, phase)?;
        self.graph(model, &drafted, pass)
    }

    /// Builds a pass over each row's last token and its drafts, `tokens`, u32 `[T]`, as far as this machine has layers
    /// for it. `ahead`: how many tokens each row will have emitted by then.
    fn pass(
        &mut self,
        model: &Qwen,
        drafted: &Drafted,
        tokens: &Array,
        ahead: usize,
        phase: Phase<'_>,
    ) -> Result<Pass> {
        let span = |(b, row): (usize, &Row)| (row.position(row.committed() + ahead), drafted.width(b));
        let spans: Vec<(Position, usize)> = self.rows.iter().enumerate().map(span).collect();
        let packed = Packed::new(&spans)?;
        self.rows.iter().for_each(|row| row.tell_length(row.committed() + ahead));
        let mut caches: Vec<_> = self.rows.iter_mut().map(|row| &mut row.cache).collect();
        let x = model.embed_tokens.forward(tokens)?;
        let (layers, outputs) = (0..model.stack.layers.len(), LayerOutputs::default());
        let trunk = model.launch(x, layers, &packed, &mut caches, &mut self.states, phase, outputs)?;
        Ok(Pass { trunk, spans, ahead })
    }

    /// Builds what is computed behind the layers of a pass. Waits for the machines that have some of these.
    pub(super) fn graph(&mut self, model: &Qwen, drafted: &Drafted, pass: Pass) -> Result<VerifyGraph> {
        let Pass { trunk, spans, ahead } = pass;
        let hidden = model.land(trunk)?;
        let logits = model.logits(&hidden.normed)?;
        let bound = self.bound(&logits, drafted)?;

        let seen = self.seen(logits.dim(-1))?;
        let rows = self.rows.iter().zip(&seen).enumerate();
        let places: Vec<SamplePosition<'_>> = rows
            .flat_map(|(b, (row, seen))| drafted.sample_positions(b, row, ahead, seen.as_ref()))
            .collect();
        let ids = sample(&bound, &places, drafted.drafts(), &model.top_k)?;
        let reports: Vec<Array> = self
            .reported()
            .iter()
            .map(|(&top, rows)| {
                let positions: Vec<usize> = rows
                    .iter()
                    .flat_map(|&b| {
                        let start: usize = spans[..b].iter().map(|(_, len)| len).sum();
                        start..start + spans[b].1
                    })
                    .collect();
                Logprobs::report(
                    &mlx::take_rows(&logits, &positions)?,
                    &mlx::take_rows(&ids, &positions)?,
                    top,
                    &model.top_k,
                )
            })
            .collect::<Result<_>>()?;
        let finite = logits.is_finite()?.all_of(-1)?.astype(Dtype::Uint32)?;
        let drafts = &drafted.drafts().tokens;
        let host_tokens: Vec<&Array> =
            [&ids].into_iter().chain(drafts).chain([&finite]).chain(&reports).collect();
        let host_tokens = mlx::concatenate(&host_tokens, 0)?;
        Ok(VerifyGraph { host_tokens, targets: ids, hidden, logits })
    }

    /// The logits `[T, V]` with what binds each position. What may come behind drafts depends on them: where a row is
    /// bound they are read by the host, while the device computes the logits.
    fn bound(&mut self, logits: &Array, drafted: &Drafted) -> Result<Array> {
        if self.rows.iter().all(|row| row.constraint.is_none()) {
            return Ok(logits.clone());
        }
        let reads = |(b, row): (usize, &Row)| {
            let depth = drafted.depth(b);
            depth > 0 && row.constraint.as_ref().is_some_and(|constraint| constraint.binds(depth))
        };
        let drafts = match &drafted.drafts().tokens {
            Some(tokens) if self.rows.iter().enumerate().any(reads) => {
                mlx::async_eval([tokens])?;
                mlx::async_eval([logits])?;
                tokens.to_vec::<u32>()?
            }
            _ => Vec::new(),
        };
        let vocab = logits.dim(-1);
        let mut restrictions = Vec::new();
        for (b, row) in self.rows.iter_mut().enumerate() {
            let own: Vec<u32> =
                drafted.of_row(b).into_iter().filter_map(|draft| drafts.get(draft).copied()).collect();
            let bias = row.bias(vocab)?;
            let mut masks = row.masks(&own);
            masks.resize(drafted.width(b), None);
            restrictions.extend(masks.into_iter().map(|mask| Restriction { bias: bias.clone(), mask }));
        }
        restricted(logits, &restrictions)
    }

    /// The tokens that the pass reads, u32 `[T]`: each row's last one and its drafts.
    fn input_tokens(&self, drafted: &Drafted) -> Result<Array> {
        let last: Vec<u32> = self.rows.iter().filter_map(|row| row.ctx.last().copied()).collect();
        let last = Array::from_slice(&last, &[last.len() as i32])?;
        let Some(drafts) = &drafted.drafts().tokens else { return Ok(last) };
        let rows = self.rows.len();
        let order: Vec<usize> = (0..rows)
            .flat_map(|b| std::iter::once(b).chain(drafted.in_pass(b).into_iter().map(move |i| rows + i)))
            .collect();
        mlx::take_rows(&mlx::concatenate(&[&last, drafts], 0)?, &order)
    }

    /// By the number of alternatives they ask for, the rows that want to know how likely their tokens were.
    fn reported(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut asking: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (b, row) in self.rows.iter().enumerate() {
            if let Some(top) = row.spec.logprobs {
                asking.entry(top).or_default().push(b);
            }
        }
        asking
    }

    /// Moves every row forward by what was read of its step. Also returns the rows that cannot go on.
    pub(super) fn commit(
        &mut self,
        host_tokens: &[u32],
        drafted: &Drafted,
        hidden: &Hidden,
    ) -> Result<(Vec<Advance>, Vec<RowId>)> {
        let widths: Vec<usize> = (0..self.rows.len()).map(|b| drafted.width(b)).collect();
        let positions: usize = widths.iter().sum();
        let drafts_in_all = positions - widths.len();
        let (mut targets, rest) = host_tokens.split_at(positions);
        let (drafts, rest) = rest.split_at(drafts_in_all);
        let (mut all_finite, mut reports) = rest.split_at(positions);
        let mut logprobs: Vec<Vec<Logprobs>> = vec![Vec::new(); widths.len()];
        for (top, rows) in self.reported() {
            for b in rows {
                logprobs[b] = Logprobs::read(&mut reports, widths[b], top);
            }
        }
        let (mut advances, mut lost) = (Vec::with_capacity(self.rows.len()), Vec::new());
        let mut start = 0;
        for (b, (row, logprobs)) in self.rows.iter_mut().zip(logprobs).enumerate() {
            let (target, other_targets) = targets.split_at(widths[b]);
            let (own_finite, other_finite) = all_finite.split_at(widths[b]);
            (targets, all_finite) = (other_targets, other_finite);
            let finite = own_finite.iter().take_while(|&&finite| finite == 1).count();
            let target = &target[..finite.min(row.usable)];
            let draft: Vec<u32> = drafted.of_row(b).into_iter().map(|i| drafts[i]).collect();
            let begun = usize::from(self.begun.is_some());
            let positions = start..start + widths[b];
            let verdict = row.commit(target, &draft, drafted.drafter(b), hidden, positions, begun)?;
            start += widths[b];
            self.committed[b] = 0;
            match verdict {
                Verdict::Advanced(mut advance) => {
                    advance.logprobs = logprobs;
                    advance.logprobs.truncate(advance.tokens.len());
                    // The tape of a step that has begun counts from behind this one; nothing of it is kept yet.
                    self.committed[b] = if begun > 0 { 0 } else { advance.tokens.len() };
                    advances.push(advance);
                }
                Verdict::TakenBack => {}
                Verdict::NotFinite => lost.push(row.id),
            }
        }
        Ok((advances, lost))
    }
}
