//! One sequence being decoded: what was asked of it, its tokens and KV caches, and the pairs of hidden state and token
//! that the MTP head has not read yet. `Row::commit` accepts or rejects the drafts of a step and rolls the caches back.

use std::borrow::Cow;
use std::ops::Range;

use foretoken_protocol::FinishReason;
use thiserror::Error;

use super::lookup::{LookupVerdict, MatchClass, Proposal, TextIndex};
use super::plan::DrafterKind;
use super::spec::{RowId, RowSpec};
use crate::cache::{RowCache, RowKv, SpillError};
use crate::constrain::{ConstraintState, Mask};
use crate::link::RemoteState;
use crate::mlx::{self, Array, Result};
use crate::model::{DraftError, DraftModel, Grid, Hidden, ImageSpan, Packed, Position, Qwen};
use crate::sample::{History, Logprobs, SamplePosition, Sampler, Seen, penalised};

/// Tokens of its reply for which a row gets room in its caches before it begins: no more than buffers have in excess
/// anyhow.
const FIRST_TOKENS: usize = RowKv::LEAST_GROWTH;

/// One sequence being decoded.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub id: RowId,
    pub(super) spec: RowSpec,
    /// Prompt ++ emitted: the only history. Only `commit` appends to it. Its last token has not been fed yet.
    pub(super) ctx: Vec<u32>,
    /// Where its pictures are.
    pub(super) spans: Vec<ImageSpan>,
    pub(super) cache: RowCache,
    pub(super) pending: Pending,
    /// What the model put out for committed tokens that the draft model has not read yet, `[n, taps · H]` each.
    pub(super) unread_features: Vec<Array>,
    /// The tokens of `ctx` counted for penalties; `None` where the sampling has none.
    pub(super) history: Option<History>,
    /// What binds the reply, and where it stands there.
    pub(super) constraint: Option<ConstraintState>,
    /// What is added to the logits, f32 `[1, V]`, once it was needed.
    bias: Option<Array>,
    /// The tokens that the next step drafts because nothing else may come.
    pub(super) forced: Vec<u32>,
    /// How many of the next step's tokens may be kept: behind some drafts it is not known what may come.
    pub(super) usable: usize,
    /// How many of the next step's drafts may come, before the first one that may not.
    allowed: usize,
    /// Where runs of tokens occur in `ctx` and in what is predicted of the reply.
    text: TextIndex,
    /// What an earlier occurrence of the last tokens proposes for the next step, if it was looked for.
    pub(super) proposal: Option<Proposal>,
    /// Whether the last step was taken back, so that the next one is made without drafts.
    pub(super) taken_back: bool,
}

/// Positions that the MTP head has not read yet: hidden states and the tokens that followed them.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) hidden: Vec<Array>,
    pub(super) next: Vec<u32>,
}

impl Pending {
    pub(super) fn push(&mut self, hidden: Array, next: &[u32]) {
        self.hidden.push(hidden);
        self.next.extend_from_slice(next);
    }

    pub(super) fn len(&self) -> usize {
        self.next.len()
    }
}

impl Row {
    /// A row that has read nothing yet.
    pub fn new(id: RowId, spec: RowSpec) -> Self {
        let history = history(&spec, &spec.prompt);
        Self {
            id,
            ctx: spec.prompt.clone(),
            constraint: spec.constraint.clone().map(ConstraintState::new),
            bias: None,
            forced: Vec::new(),
            usable: usize::MAX,
            allowed: usize::MAX,
            text: TextIndex::of(spec.prediction.clone()),
            spans: spec.pictures.iter().map(|picture| picture.span).collect(),
            spec,
            cache: RowCache::default(),
            pending: Pending::default(),
            unread_features: Vec::new(),
            history,
            proposal: None,
            taken_back: false,
        }
    }

    /// Drops caches, pending pairs and all tokens but the first `tokens`, which can be read again. Whether the last
    /// step was taken back still holds then.
    pub(super) fn forget(&mut self, tokens: usize) {
        self.ctx.truncate(tokens);
        (self.cache, self.pending) = (RowCache::default(), Pending::default());
        self.unread_features.clear();
        self.history = history(&self.spec, &self.ctx);
        if let Some(constraint) = &self.spec.constraint {
            self.constraint = Some(ConstraintState::replayed(constraint.clone(), self.emitted()));
        }
        self.forced.clear();
        (self.usable, self.allowed) = (usize::MAX, usize::MAX);
        (self.text, self.proposal) = (self.text.emptied(), None);
    }

    /// The row with all its tokens, without caches and pending pairs.
    pub(super) fn without_memory(mut self) -> Self {
        self.forget(self.ctx.len());
        self
    }

    /// Tokens of the prompt and the reply so far.
    pub fn context(&self) -> &[u32] {
        &self.ctx
    }

    /// Tokens emitted so far.
    pub fn emitted(&self) -> &[u32] {
        &self.ctx[self.spec.prompt.len()..]
    }

    /// Tokens that it may still emit.
    pub fn room(&self) -> usize {
        self.spec.max_tokens - self.emitted().len()
    }

    /// Tokens in the caches: all but the last, which the next step feeds.
    pub fn committed(&self) -> usize {
        self.ctx.len() - 1
    }

    /// What the token at an index is rotated by.
    pub(super) fn position(&self, index: usize) -> Position {
        Grid { spans: &self.spans }.position(index)
    }

    /// Its tokens, as beginnings of prompts are told apart by: those of a picture say which one it is.
    pub fn keys(&self) -> Cow<'_, [u32]> {
        self.spec.keys(&self.ctx)
    }

    /// Positions that it gets room for in its caches before it begins.
    pub(super) fn initial_positions(&self) -> usize {
        self.ctx.len() + self.room().min(FIRST_TOKENS)
    }

    /// Tells the machines that have some of its layers how many of its tokens are kept before the next pass.
    pub(super) fn tell_length(&self, length: usize) {
        if let Some(remote) = &self.cache.remote {
            remote.set_length(length);
        }
    }

    /// What it has on other machines after so many tokens.
    pub(super) fn remote_state(&self, length: usize) -> Option<RemoteState> {
        Some(self.cache.remote.as_ref()?.state(length))
    }

    /// Its attention caches.
    pub fn cache(&self) -> &RowCache {
        &self.cache
    }

    /// Number of committed pairs of a hidden state and the token after it that the MTP head has not read yet; the
    /// others are in its cache. Where there is a head, at least one after a prompt of several tokens and after a step
    /// that emitted any: the next step drafts from it.
    pub fn unread_pairs(&self) -> usize {
        self.pending.len()
    }

    /// The most drafts that a step can use for the row: what its token budget leaves; none where drafts are off or the
    /// last step was taken back.
    pub fn draft_room(&self) -> usize {
        let most = if self.spec.drafts && !self.taken_back { self.room() - 1 } else { 0 };
        most.min(self.spec.widths.end() - 1)
    }

    /// The most of them that this drafter can propose: the head none without a pair to draft from, the draft model none
    /// without a context, look-up none without an earlier occurrence.
    pub(super) fn draft_room_of(&self, drafter: DrafterKind) -> usize {
        let most = match drafter {
            DrafterKind::Head if self.pending.len() == 0 => 0,
            DrafterKind::Head => usize::MAX,
            DrafterKind::Dflash if self.cache.draft.is_none() || self.committed() == 0 => 0,
            DrafterKind::Dflash => usize::MAX,
            DrafterKind::Forced => self.forced.len(),
            DrafterKind::Lookup => self.proposal.as_ref().map_or(0, |proposal| proposal.tokens.len()),
        };
        most.min(self.draft_room())
    }

    /// Looks for an earlier occurrence of the last tokens, for the next step to draft what followed, up to a token that
    /// would end the reply. Not where the continuation is known.
    pub(super) fn look_up(&mut self) {
        if self.spec.known_drafts.is_some() {
            return;
        }
        self.proposal = self.text.propose(&self.ctx);
        if let Some(Proposal { tokens, .. }) = &mut self.proposal
            && let Some(end) = tokens.iter().position(|token| self.spec.stop_ids.contains(token))
        {
            tokens.truncate(end + 1);
        }
    }

    /// Finds out which tokens the form of the reply dictates, for the next step to draft them; returns how many.
    pub(super) fn force(&mut self) -> usize {
        self.forced = match &mut self.constraint {
            Some(constraint) if self.spec.drafts && !self.taken_back => constraint.forced(),
            _ => Vec::new(),
        };
        self.draft_room_of(DrafterKind::Forced)
    }

    /// The tokens that may come next; `None` where all may.
    pub(super) fn mask(&mut self) -> Option<Mask> {
        self.constraint.as_mut()?.mask()
    }

    /// The tokens that may come next, and those that may come behind each of these drafts. Where the grammar fails
    /// behind one of them, nothing from there on is kept of the step: the draft may not be, and then it has not failed.
    pub(super) fn masks(&mut self, drafts: &[u32]) -> Vec<Option<Mask>> {
        let Some(constraint) = &mut self.constraint else { return Vec::new() };
        constraint.mask();
        let fails_here = constraint.is_broken();
        let masks = constraint.masks(drafts);
        self.usable = masks.len();
        let is_refused =
            |(draft, mask): (&u32, &Option<Mask>)| !mask.as_ref().is_none_or(|mask| mask.allows(*draft));
        self.allowed = drafts.iter().zip(&masks).position(is_refused).unwrap_or(usize::MAX);
        if constraint.is_broken() && !fails_here {
            let asked = constraint.constraint().clone();
            self.constraint = Some(ConstraintState::replayed(asked, self.emitted()));
        }
        masks
    }

    /// What is added to the logits of a vocabulary of `vocab` tokens, f32 `[1, V]`.
    pub(super) fn bias(&mut self, vocab: i32) -> Result<Option<Array>> {
        let asked = self.constraint.as_ref().map_or(&[][..], |state| state.constraint().bias());
        if self.bias.is_none() && !asked.is_empty() {
            let mut bias = vec![0f32; vocab as usize];
            for &(token, more) in asked {
                if let Some(bias) = bias.get_mut(token as usize) {
                    *bias += more;
                }
            }
            self.bias = Some(Array::from_slice(&bias, &[1, vocab])?);
        }
        Ok(self.bias.clone())
    }

    /// Enters the first tokens into the index of look-up, so that no step has to enter a long prompt.
    pub(super) fn index_text(&mut self, read: usize) {
        self.text.extend(&self.ctx[..read]);
    }

    /// What kind of an occurrence was found, and how many tokens it proposes.
    pub(super) fn found(&self) -> Option<(MatchClass, usize)> {
        self.proposal.as_ref().map(|proposal| (proposal.class, proposal.tokens.len()))
    }

    /// Lets the MTP head read all pending pairs but the newest, keys and values only; the newest stays pending, to
    /// draft from.
    pub(super) fn read_pending(&mut self, model: &Qwen) -> Result<()> {
        let position = self.position(self.cache.head.as_ref().map_or(0, RowKv::len));
        let (Some(head), Some(cache)) = (&model.mtp, &mut self.cache.head) else { return Ok(()) };
        let Some(count) = self.pending.len().checked_sub(1) else { return Ok(()) };
        let pending = std::mem::take(&mut self.pending);
        let hidden = mlx::concatenate(&pending.hidden.iter().collect::<Vec<_>>(), 0)?;
        if count > 0 {
            let next = Array::from_slice(&pending.next[..count], &[count as i32])?;
            let packed = Packed::new(&[(position, count)])?;
            let read = hidden.slice_axis(0, 0, count as i32)?;
            head.append(&read, &model.embed_tokens.forward(&next)?, &packed, std::iter::once(cache))?;
        }
        let newest = hidden.slice_axis(0, count as i32, count as i32 + 1)?.contiguous()?;
        mlx::eval([&newest])?;
        self.pending.push(newest, &pending.next[count..]);
        Ok(())
    }

    /// Lets the draft model read what the model put out for tokens from `position` on, `[n, taps · H]`. Where that
    /// cannot be, the row goes on without it: its drafts only ever save time.
    pub(super) fn read_features(
        &mut self,
        draft: &DraftModel,
        features: &Array,
        position: usize,
    ) -> Result<()> {
        let Some(context) = &mut self.cache.draft else { return Ok(()) };
        match draft.read(features, position, context) {
            Ok(()) => Ok(()),
            Err(DraftError::Mlx(error)) => Err(error),
            Err(error) => {
                tracing::warn!("the draft model cannot go on in a row: {error}");
                (self.cache.draft, self.unread_features) = (None, Vec::new());
                Ok(())
            }
        }
    }

    /// Tokens that the draft model has not read yet, where the row has a context of it.
    pub fn unread_by_draft(&self) -> usize {
        self.unread_features.iter().map(|features| features.dim(0) as usize).sum()
    }

    /// Lets the draft model read all that it has not read yet.
    pub(super) fn read_unread_features(&mut self, draft: &DraftModel) -> Result<()> {
        if self.unread_features.is_empty() {
            return Ok(());
        }
        let position = self.committed() - self.unread_by_draft();
        let unread = std::mem::take(&mut self.unread_features);
        let features = mlx::concatenate(&unread.iter().collect::<Vec<_>>(), 0)?;
        self.read_features(draft, &features, position)
    }

    /// Lets head and draft model read all that they have not read yet, but for the pair that the head drafts from.
    pub(super) fn read_rest(&mut self, model: &Qwen) -> Result<()> {
        self.read_pending(model)?;
        model.draft.iter().try_for_each(|draft| self.read_unread_features(draft))
    }

    /// The hidden state `[1, H]` of the last committed token, once the head has read the others.
    pub(super) fn last_hidden(&self) -> Option<&Array> {
        self.pending.hidden.last()
    }

    /// How it draws its tokens.
    fn sampler(&self) -> Sampler<'_> {
        let RowSpec { sampling, seed, xtc_exempt, .. } = &self.spec;
        Sampler { sampling, seed: *seed, xtc_exempt }
    }

    /// The position `ahead` tokens past the context. `seen`: the row's history as arrays; `before`: indices of the
    /// drafts between the context and the position.
    pub(super) fn sample_position(
        &self,
        ahead: usize,
        seen: Option<Seen>,
        before: &[usize],
    ) -> SamplePosition<'_> {
        let position = self.ctx.len() + ahead;
        SamplePosition { sampler: self.sampler(), position, seen, before: before.to_vec(), judged: None }
    }

    /// The known draft `ahead` tokens past the context, which replaces the head's, if there is one.
    pub(super) fn known_draft(&self, ahead: usize) -> Option<u32> {
        self.spec.known_drafts.as_ref().map(|known| known.draft(self.emitted().len() + ahead))
    }

    /// Accepts or rejects the drafts of a step and appends what is emitted: the only place where a row moves forward.
    /// Rolls the trunk's KV caches back to the committed tokens. `target`: the tokens that the model draws after the
    /// context and after each draft, up to the first whose logits are not finite; `hidden`: what a pass gave for the
    /// last token and the k drafts, from row `start` of its arrays on; `drafter`: who proposed the drafts; `begun`: how
    /// many tokens of a step that has begun already the caches have behind these.
    pub(super) fn commit(
        &mut self,
        target: &[u32],
        drafts: &[u32],
        drafter: DrafterKind,
        hidden: &Hidden,
        positions: Range<usize>,
        begun: usize,
    ) -> Result<Verdict> {
        let matching = target.iter().zip(drafts).take_while(|(t, d)| t == d).count();
        let room = self.room();
        let mut emitted = &target[..(matching + 1).min(target.len()).min(room)];
        let mut finish = (emitted.len() == room).then_some(FinishReason::Length);
        if let Some(end) = emitted.iter().position(|token| self.spec.stop_ids.contains(token)) {
            emitted = &emitted[..=end];
            finish = Some(FinishReason::Stop);
        }
        let count = emitted.len();
        self.ctx.extend_from_slice(emitted);
        if let Some(constraint) = &mut self.constraint {
            emitted.iter().for_each(|&token| constraint.push(token));
            if constraint.is_broken() {
                finish = Some(FinishReason::Error);
            }
        }
        if let Some(history) = &mut self.history {
            history.push(emitted)?;
        }
        self.forced.clear();
        self.usable = usize::MAX;
        let allowed = std::mem::replace(&mut self.allowed, usize::MAX);
        let proposal = self.proposal.take();
        let predicted =
            drafter == DrafterKind::Lookup && proposal.as_ref().is_some_and(|proposal| proposal.predicted);
        let lookup = proposal.map(|proposal| proposal.verdict(emitted));
        let cached = self.committed() + begun;
        self.cache.kv.iter_mut().for_each(|kv| kv.rewind(cached));
        self.taken_back = count == 0;
        if self.taken_back {
            // Drafts and filler may have spoilt what stands before them.
            return Ok(if positions.len() == 1 { Verdict::NotFinite } else { Verdict::TakenBack });
        }
        let kept =
            |array: &Array| array.slice_axis(0, positions.start as i32, (positions.start + count) as i32);
        if self.cache.head.is_some() {
            self.pending.push(kept(&hidden.for_mtp)?, emitted);
        }
        if let (Some(features), true) = (&hidden.features, self.cache.draft.is_some()) {
            // A copy, made with the next step: a view would keep what all rows put out in this one alive.
            self.unread_features.push(kept(features)?.contiguous()?);
        }
        // Drafts behind the end were never up for a verdict.
        let drafted = if finish == Some(FinishReason::Stop) { drafts.len().min(count) } else { drafts.len() };
        Ok(Verdict::Advanced(Advance {
            row: self.id,
            tokens: emitted.to_vec(),
            logprobs: Vec::new(),
            drafter,
            predicted,
            drafted,
            width: positions.len(),
            refused: drafted.saturating_sub(allowed),
            accepted: matching.min(count),
            lookup,
            finish,
        }))
    }
}

/// A row whose caches and states are lost: they could not be swapped, or a stored beginning of its tokens could not be
/// restored.
#[derive(Debug, Error)]
#[error("{error}")]
pub struct CacheLost {
    /// Why.
    pub error: SpillError,
    /// The row with its tokens, which can be read again.
    pub row: Box<Row>,
}

impl CacheLost {
    /// The row, to be read again.
    pub(super) fn recompute(self) -> Row {
        tracing::warn!("a row is read again, since what was kept of it is lost: {self}");
        *self.row
    }
}

/// What a step did for one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Advance {
    /// The row.
    pub row: RowId,
    /// Tokens it emitted, at least one: accepted drafts and the model's own token after them. That one is missing where
    /// an accepted draft is a stop token, and where its logits are not finite.
    pub tokens: Vec<u32>,
    /// Where the row asks for them, the log-probabilities of each of these tokens.
    pub logprobs: Vec<Logprobs>,
    /// Who drafted.
    pub drafter: DrafterKind,
    /// Whether they come from what was predicted of the reply.
    pub predicted: bool,
    /// Drafts that were verified.
    pub drafted: usize,
    /// Tokens that it took part with: one, its drafts, and filler.
    pub width: usize,
    /// Those of them that what binds the row does not allow, and those behind them.
    pub refused: usize,
    /// Drafts among the tokens.
    pub accepted: usize,
    /// How look-up did, or would have done; `None` where it was not asked or found nothing.
    pub lookup: Option<LookupVerdict>,
    /// Whether the row ended, and why. It has left the batch then.
    pub finish: Option<FinishReason>,
}

impl Advance {
    /// Takes back all but the first `count` tokens, as where a stop text ends the reply.
    pub fn cut(&mut self, count: usize) {
        self.tokens.truncate(count);
        self.logprobs.truncate(count);
        let drafted = self.drafted.min(count);
        self.refused = self.refused.saturating_sub(self.drafted - drafted);
        self.drafted = drafted;
        self.accepted = self.accepted.min(count);
    }
}

/// The result of a step for a row.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It emitted tokens.
    Advanced(Advance),
    /// It emitted nothing: the logits behind its last token are not finite. Its drafts may be the cause, since a masked
    /// position that is not finite still poisons a weighted sum. No pair is pending then, so the next step is one
    /// without drafts.
    TakenBack,
    /// The logits behind its last token are not finite although it had no drafts. It cannot go on.
    NotFinite,
}

/// The token counts of a row's context for penalties; `None` where the sampling has none.
fn history(spec: &RowSpec, ctx: &[u32]) -> Option<History> {
    let (prompt, reply) = ctx.split_at(spec.reply_from);
    let is_text = |index: &usize| !spec.pictures.iter().any(|picture| picture.span.range().contains(index));
    penalised(&spec.sampling).then(|| {
        // The tokens of pictures are no words.
        let words: Vec<u32> = (0..prompt.len()).filter(is_text).map(|index| prompt[index]).collect();
        History::new(&words, reply, &spec.stop_ids)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use foretoken_protocol::{Priority, Sampling};

    use super::*;
    use crate::decode::KnownDrafts;

    const END: u32 = 99;

    /// A row whose last tokens were followed by 4, 5, the end, 1 before.
    fn row(known_drafts: Option<KnownDrafts>) -> Row {
        let prompt = vec![1, 2, 3, 4, 5, END, 1, 2, 3];
        Row::new(
            0,
            RowSpec {
                reply_from: prompt.len(),
                prompt,
                sampling: Sampling::default(),
                seed: 0,
                xtc_exempt: Vec::new(),
                max_tokens: 20,
                stop_ids: vec![END],
                message_starts: Vec::new(),
                drafts: true,
                logprobs: None,
                pictures: Vec::new(),
                constraint: None,
                priority: Priority::default(),
                prediction: Arc::default(),
                known_drafts,
                widths: 1..=usize::MAX,
                remember: None,
            },
        )
    }

    #[test]
    fn nothing_is_proposed_behind_the_end_of_a_reply() {
        let mut row = row(None);
        row.look_up();
        assert_eq!(row.found(), Some((MatchClass::Short, 3)));
        assert_eq!(row.draft_room_of(DrafterKind::Lookup), 3);
    }

    /// What tests and measurements know is not mixed with what the text proposes.
    #[test]
    fn a_row_whose_continuation_is_known_does_not_look_it_up() {
        let mut row = row(Some(KnownDrafts { continuation: vec![4, 5], rate: 1.0 }));
        row.look_up();
        assert_eq!(row.found(), None);
    }

    /// Its drafts may be why its logits were not finite, and that stays so where it was swapped out in between.
    #[test]
    fn a_step_that_was_taken_back_is_followed_by_one_without_drafts_wherever_the_row_was() {
        let mut row = row(None);
        row.taken_back = true;
        let mut row = row.without_memory();
        row.look_up();
        assert!(row.found().is_some());
        assert_eq!(row.draft_room_of(DrafterKind::Lookup), 0);
    }

    /// A row that lost tokens finds nothing that was among them.
    #[test]
    fn the_index_forgets_what_the_row_forgets() {
        let mut row = row(None);
        row.look_up();
        row.ctx.extend([4, 5, 7, 8, 9]);
        row.look_up();
        row.forget(9);
        row.ctx.extend([7, 8, 9]);
        row.look_up();
        assert_eq!(row.found(), None);
    }
}
