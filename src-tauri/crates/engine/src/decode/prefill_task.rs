//! Chunked prefill of one row: its prompt goes through the model in chunks (see [`chunk_ends`]), and each chunk some
//! layers at a time, so that other rows make decode steps in between.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use foretoken_protocol::Looked;

use super::chunk_ends::chunk_ends;
use super::row::{CacheLost, Row};
use super::row_error::RowError;
use super::spec::{HeadInput, PromptPicture, RowId, RowSpec};
use crate::cache::{DeltaState, DraftContext, Prefix, RowCache, StateSnapshot};
use crate::link::RemoteState;
use crate::memory::ChunkSizes;
use crate::mlx::{self, Array, Result};
use crate::model::{Hidden, ImageSpan, LayerOutputs, Packed, Phase, Placed, Qwen, TowerPass, Trunk, Vision};

/// A row on its way into a batch, whose prompt is read by itself, chunk by chunk, and each chunk some layers at a time.
/// Only the prompt decides where chunks end, so only the prompt decides how its reading is rounded. A row whose step
/// has failed is read like this again, what it has written included.
///
/// All tokens but the last are read; the last one is the first that a step feeds. The MTP head's cache is filled along
/// the way, keys and values only, from the hidden states as they pass, one pair behind: the pair of a chunk's last
/// hidden state is read with the next chunk, or stays pending, so that the first step can draft already.
#[derive(Debug)]
pub struct PrefillTask {
    pub(super) row: Row,
    pub(super) states: Vec<DeltaState>,
    /// Tokens that all layers have read, and that those here have.
    read: usize,
    launched: usize,
    chunk: Option<Chunk>,
    /// The chunks that layers elsewhere read, in order.
    in_flight: VecDeque<ChunkInFlight>,
    /// Whether the prefix cache may want what it has at the end of each chunk.
    pub(super) is_stored: bool,
    /// What the row had after the last chunk that all layers have read.
    at_chunk_end: Option<ChunkEnd>,
    /// The picture that is on its way through the vision tower, by its number in the row.
    looking: Option<(usize, TowerPass)>,
    /// What the tower has made of those pictures that are being read, `[n, H]` each, by number.
    seen: BTreeMap<usize, Array>,
    /// Where chunks of the prompt end, see [`chunk_ends`].
    chunk_ends: Vec<usize>,
    /// The hidden state `[1, H]` of the last token read, for the head.
    last: Option<Array>,
}

/// The tokens that are being read.
#[derive(Debug)]
struct Chunk {
    end: usize,
    packed: Packed,
    /// What the MTP head reads of the tokens, `[T, H]`: what they went in with, unless the row says otherwise.
    head_input: Array,
    /// The output of the layers so far, `[T, H]`.
    x: Array,
    /// Index of the next layer.
    layer: usize,
    /// What the draft model reads of the layers so far, `[T, H]` each.
    taps: Vec<Array>,
}

/// A chunk that the layers here have read.
#[derive(Debug)]
struct ChunkInFlight {
    trunk: Trunk,
    head_input: Array,
    end: ChunkEnd,
}

/// What a row has after a chunk.
#[derive(Debug)]
struct ChunkEnd {
    /// Tokens so far.
    tokens: usize,
    states: Vec<DeltaState>,
    remote: Option<RemoteState>,
}

impl PrefillTask {
    /// A row that reads all of its tokens.
    pub fn new(model: &Qwen, mut row: Row) -> Result<Self> {
        row.cache = model.empty_row();
        row.cache.reserve(row.initial_positions());
        Ok(Self::with_states(row, model.empty_states(1)?))
    }

    /// A row that goes on behind a stored beginning of its tokens.
    pub fn resume(mut row: Row, prefix: &Prefix) -> std::result::Result<Self, CacheLost> {
        let StateSnapshot { states, hidden, .. } = prefix.snapshot().clone();
        row.cache = match prefix.cache(row.initial_positions()) {
            Ok(cache) => cache,
            Err(error) => return Err(CacheLost { error: error.into(), row: Box::new(row) }),
        };
        let mut task = Self::with_states(row, states);
        (task.read, task.launched, task.last) = (prefix.len(), prefix.len(), hidden);
        task.push_last_pair();
        Ok(task)
    }

    fn with_states(row: Row, states: Vec<DeltaState>) -> Self {
        let chunk_ends = chunk_ends(&row.spec.message_starts, row.committed(), ChunkSizes::on(mlx::device()));
        let (looking, seen, in_flight) = (None, BTreeMap::new(), VecDeque::new());
        let (read, launched, chunk, is_stored, at_chunk_end, last) = Default::default();
        Self {
            row,
            states,
            read,
            launched,
            chunk,
            in_flight,
            is_stored,
            at_chunk_end,
            looking,
            seen,
            chunk_ends,
            last,
        }
    }

    /// The row without what was read: its tokens alone.
    pub(super) fn into_row(self) -> Row {
        self.row.without_memory()
    }

    /// Its row's name.
    pub fn id(&self) -> RowId {
        self.row.id
    }

    /// Prompt tokens read so far, and to be read.
    pub fn progress(&self) -> (usize, usize) {
        (self.read, self.row.committed())
    }

    /// Whether the layers here have read the whole prompt.
    fn is_launched(&self) -> bool {
        self.launched == self.row.committed()
    }

    /// Whether the whole prompt is read.
    pub fn is_read(&self) -> bool {
        self.read == self.row.committed()
    }

    /// Tokens of the chunk that is being read here, or is next.
    pub fn chunk_tokens(&self) -> usize {
        self.chunk_end() - self.launched
    }

    fn chunk_end(&self) -> usize {
        self.chunk_ends.iter().copied().find(|&end| end > self.launched).unwrap_or(self.row.committed())
    }

    /// Enters what was read into the row's index of look-up.
    pub(super) fn index_text(&mut self) {
        self.row.index_text(self.read);
    }

    /// What is asked of the row.
    pub fn spec(&self) -> &RowSpec {
        &self.row.spec
    }

    /// The picture that must be looked at before its next chunk is read.
    pub fn unseen(&self) -> Option<&PromptPicture> {
        Some(&self.row.spec.pictures[self.next_unseen()?])
    }

    /// The key of the picture that is on its way through the vision tower.
    pub fn looks_at(&self) -> Option<u32> {
        self.looking.as_ref().map(|(picture, _)| self.row.spec.pictures[*picture].key)
    }

    /// How far its pictures have come through the vision tower, in blocks. Those that were seen before, and those whose
    /// places are read, count as through.
    pub fn looked(&self, model: &Qwen) -> Looked {
        let depth = model.vision.as_ref().map_or(0, |vision| vision.tower.depth().max(1));
        let (pictures, spans) = (self.row.spec.pictures.len(), &self.row.spans);
        let is_through = |(picture, span): &(usize, &ImageSpan)| {
            span.range().end <= self.read || self.seen.contains_key(picture)
        };
        let through = spans.iter().enumerate().filter(is_through).count();
        let under_way = self.looking.as_ref().map_or(0, |(_, pass)| pass.done());
        Looked { done: (through * depth + under_way) as u32, total: (pictures * depth) as u32 }
    }

    fn next_unseen(&self) -> Option<usize> {
        if self.chunk.is_some() || self.is_launched() {
            return None;
        }
        let overlapping = overlapping(&self.row.spans, &(self.launched..self.chunk_end()));
        overlapping.into_iter().find(|picture| !self.seen.contains_key(picture))
    }

    /// Looks on at that picture: some more blocks of the vision tower. Returns what the tower makes of it once it is
    /// through, `[n, H]`.
    pub fn look(&mut self, vision: &Vision, blocks: usize) -> std::result::Result<Option<Array>, RowError> {
        let Some(picture) = self.next_unseen() else { return Ok(None) };
        let (number, mut pass) = match self.looking.take() {
            Some(looking) => looking,
            None => (picture, vision.tower.begin(&self.row.spec.pictures[picture].pixels.read()?)?),
        };
        let features = vision.tower.advance(&mut pass, blocks)?;
        match &features {
            Some(features) => _ = self.seen.insert(number, features.clone()),
            None => self.looking = Some((number, pass)),
        }
        Ok(features)
    }

    /// Spares it to look at that picture: `features` is what the tower made of it before.
    pub fn recall(&mut self, features: Array) {
        if let Some(picture) = self.next_unseen() {
            self.looking = None;
            self.seen.insert(picture, features);
        }
    }

    /// What the prefix cache may store of the row now: its tokens so far, its caches, a snapshot of its states, and
    /// whether prompts are likely to go on here, as they are behind the first message and at the last chunk end before
    /// the reply. `None` except at a chunk end, since prompts that begin alike are cut at the same places.
    pub fn to_store(&self) -> Option<(Cow<'_, [u32]>, &RowCache, StateSnapshot, bool)> {
        let ChunkEnd { states, remote, .. } = self.at_chunk_end.as_ref()?;
        let is_past = self.launched > self.read && !self.is_stored;
        if is_past || !self.chunk_ends.contains(&self.read) {
            return None;
        }
        let message_starts = &self.row.spec.message_starts;
        let first = self.chunk_ends.iter().find(|end| message_starts.contains(end));
        let likely = first == Some(&self.read) || self.chunk_ends.last() == Some(&self.read);
        let snapshot =
            StateSnapshot { states: states.clone(), hidden: self.last.clone(), remote: remote.clone() };
        Some((self.row.spec.keys(&self.row.ctx[..self.read]), &self.row.cache, snapshot, likely))
    }

    /// Runs the chunk through up to `layers` more layers, at least one, and waits for them; where all chunks have gone
    /// through the layers here, waits for those elsewhere. Returns how many layers were run here. Pictures in the chunk
    /// that were not looked at before are looked at first. `most_in_flight`: where so many chunks have gone through the
    /// layers here, the first of them is waited for.
    pub fn advance(
        &mut self,
        model: &Qwen,
        layers: usize,
        most_in_flight: usize,
    ) -> std::result::Result<usize, RowError> {
        if self.is_launched() {
            self.land(model)?;
            return Ok(0);
        }
        let mut chunk = match self.chunk.take() {
            Some(chunk) => chunk,
            None => {
                while self.next_unseen().is_some() {
                    let vision = model.vision.as_ref().ok_or(RowError::NoTower)?;
                    self.look(vision, vision.tower.depth().max(1))?;
                }
                self.begin_chunk(model)?
            }
        };
        let begin = chunk.layer;
        chunk.layer = model.stack.layers.len().min(begin + layers.max(1));
        let (range, done) = (begin..chunk.layer, chunk.layer - begin);
        if range.end < model.stack.layers.len() {
            let mut outputs = LayerOutputs { taps: chunk.taps, ..LayerOutputs::default() };
            let (states, packed, phase) = (&mut self.states, &chunk.packed, Phase::Prefill);
            let rows = &mut [&mut self.row.cache];
            chunk.x = model.run_layers(chunk.x, range, packed, rows, states, phase, &mut outputs)?;
            chunk.taps = outputs.taps;
            self.chunk = Some(chunk);
            return Ok(done);
        }
        self.launch(model, chunk, range)?;
        if self.in_flight.len() >= most_in_flight {
            self.land(model)?;
        }
        Ok(done)
    }

    /// Runs the last layers here of a chunk, and has other machines run those that lie there.
    fn launch(&mut self, model: &Qwen, chunk: Chunk, layers: Range<usize>) -> Result<()> {
        let Chunk { end, packed, head_input, x, taps, .. } = chunk;
        self.row.tell_length(self.launched);
        // The row goes on there: what it has now has to be kept if it is to be of use.
        if self.is_stored {
            for before in &mut self.in_flight {
                before.end.remote = before.end.remote.as_ref().map(RemoteState::keep);
            }
        }
        let outputs = LayerOutputs { taps, ..LayerOutputs::default() };
        let (rows, states) = (&mut [&mut self.row.cache], &mut self.states);
        let trunk = model.launch(x, layers, &packed, rows, states, Phase::Prefill, outputs)?;
        let end = ChunkEnd { tokens: end, states: self.states.clone(), remote: self.row.remote_state(end) };
        self.launched = end.tokens;
        self.in_flight.push_back(ChunkInFlight { trunk, head_input, end });
        Ok(())
    }

    /// Reads what is left of the prompt.
    pub fn read_all(&mut self, model: &Qwen) -> std::result::Result<(), RowError> {
        while !self.is_read() {
            self.advance(model, model.stack.layers.len(), 1)?;
        }
        Ok(())
    }

    fn begin_chunk(&self, model: &Qwen) -> Result<Chunk> {
        let range = self.launched..self.chunk_end();
        let placed: Vec<Placed> =
            self.seen.iter().map(|(&picture, seen)| (self.row.spans[picture], seen.clone())).collect();
        let packed = model.packed(&self.row.spans, range.clone())?;
        let x = model.embed(&self.row.ctx, range.clone(), &placed)?;
        let pictures = &self.row.spec.pictures;
        let is_placeholder = |picture: &usize| pictures[*picture].head_input == HeadInput::Placeholders;
        let head_input = match self.seen.keys().any(is_placeholder) {
            false => x.clone(),
            true => {
                let seen = self.seen.iter().filter(|(picture, _)| !is_placeholder(picture));
                let placed: Vec<Placed> =
                    seen.map(|(&picture, seen)| (self.row.spans[picture], seen.clone())).collect();
                model.embed(&self.row.ctx, range.clone(), &placed)?
            }
        };
        Ok(Chunk { end: range.end, packed, x, head_input, layer: 0, taps: Vec::new() })
    }

    /// Waits for all layers to have read the first of the chunks that are under way, and has head and draft model read
    /// what these give.
    fn land(&mut self, model: &Qwen) -> Result<()> {
        let Some(ChunkInFlight { trunk, head_input, end: chunk_end }) = self.in_flight.pop_front() else {
            return Ok(());
        };
        let (begin, end) = (self.read, chunk_end.tokens);
        let len = (end - begin) as i32;
        let Hidden { for_mtp: hidden, features, .. } = model.land(trunk)?;
        if let (Some(draft), Some(features)) = (&model.draft, features) {
            self.row.read_features(draft, &features, begin)?;
            // One after the other, since a layer computes several times of what it keeps.
            let context = self.row.cache.draft.iter();
            for layer in context.flat_map(DraftContext::layers) {
                mlx::eval(layer.kv().buffers())?;
            }
        }
        if let (Some(head), Some(cache)) = (&model.mtp, &mut self.row.cache.head) {
            // Pairs (hidden at t − 1, token at t) of the chunk's tokens.
            let first = begin.max(1);
            if first < end {
                let before = hidden.slice_axis(0, 0, len - 1)?;
                let before: Vec<&Array> = self.last.iter().chain((len > 1).then_some(&before)).collect();
                let packed = model.packed(&self.row.spans, first - 1..end - 1)?;
                let next = head_input.slice_axis(0, (first - begin) as i32, len)?;
                head.append(&mlx::concatenate(&before, 0)?, &next, &packed, std::iter::once(cache))?;
            }
            // A copy: a view would keep the whole chunk alive.
            let last = hidden.slice_axis(0, len - 1, len)?.contiguous()?;
            mlx::eval([&last])?;
            self.last = Some(last);
        }
        mlx::eval(self.arrays())?;
        (self.read, self.at_chunk_end) = (end, Some(chunk_end));
        let spans = &self.row.spans;
        self.seen.retain(|&picture, _| spans[picture].range().end > end);
        self.push_last_pair();
        Ok(())
    }

    /// When all is read, makes the last hidden state and the token after it a pending pair, from which the first step
    /// drafts.
    fn push_last_pair(&mut self) {
        if self.is_read()
            && let Some(last) = self.last.clone()
        {
            self.row.pending.push(last, &self.row.ctx[self.read..=self.read]);
        }
    }

    fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.row.cache.arrays().chain(self.states.iter().flat_map(DeltaState::arrays))
    }
}

/// The numbers of the pictures some of whose tokens are in a range.
fn overlapping(spans: &[ImageSpan], range: &Range<usize>) -> Vec<usize> {
    let is_in = |span: &ImageSpan| span.range().start < range.end && range.start < span.range().end;
    (0..spans.len()).filter(|&picture| is_in(&spans[picture])).collect()
}
