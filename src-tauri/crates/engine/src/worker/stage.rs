//! Some layers of a model with the caches and states of their rows, rolled back by counts alone.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use foretoken_protocol::KvPrecision;
use thiserror::Error;

use crate::cache::{DeltaState, KvCopy, RowCache, RowKv, Spill, SpillError, SpilledKv, SpilledState};
use crate::link::{Frame, FrameKind, FrameRow, Operation};
use crate::mlx::{self, Array, Dtype, MlxError, Result};
use crate::model::{LayerOutputs, Packed, Phase, Position, Read, Rotation, Stack};

/// Why a frame cannot be carried out.
#[derive(Debug, Error)]
pub enum StageError {
    /// It does not fit to what was before: rank 0 and this one do not have the same of a row. The ring has to end.
    #[error("row {name} with {told} tokens does not fit to one with {known} and {tokens} behind them")]
    Row {
        /// Its name.
        name: u32,
        /// Tokens that are kept of it, as rank 0 says.
        told: usize,
        /// Tokens that were kept of it before its last step.
        known: usize,
        /// Tokens of that step.
        tokens: usize,
    },
    /// Something is named that is not there. The ring has to end.
    #[error("there is nothing of the name {0}")]
    Unknown(u32),
    /// A row is named twice.
    #[error("row {0} is there twice")]
    Twice(u32),
    /// Its rows take more memory than there is for them. Those of the step are to be forgotten.
    #[error("its rows take {held} bytes, and there are {memory}")]
    Memory {
        /// What they take.
        held: u64,
        /// What they may take.
        memory: u64,
    },
    /// Something is named that could not be kept. The rows of the step are to be forgotten.
    #[error("what is called {0} is lost")]
    Lost(u32),
    /// The layers could not be computed. The rows of the step are to be forgotten.
    #[error("{0}")]
    Mlx(#[from] MlxError),
}

impl StageError {
    /// Whether the ring may go on.
    pub fn is_of_a_step(&self) -> bool {
        matches!(self, Self::Mlx(_) | Self::Memory { .. } | Self::Lost(_))
    }
}

/// The layers of a rank, and the rows that it knows.
#[derive(Debug)]
pub struct Stage {
    stack: Stack,
    kv_precision: KvPrecision,
    /// Entries of a head that are rotated.
    rotated: i32,
    /// The layers of the model whose outputs the draft model reads, ascending.
    taps: Vec<usize>,
    /// Bytes that its rows may take.
    memory: u64,
    /// Which frames are to fail, and what is done at each point of a frame, for tests.
    faults: Faults,
    at: Option<Watch>,
    /// Rows that do not decode in company now, by name.
    apart: HashMap<u32, Apart>,
    /// What was kept of rows, by name.
    anchors: HashMap<u32, Anchor>,
    /// Rows and anchors, in this order, of which a copy could not be made: nothing goes on from there.
    lost: [HashSet<u32>; 2],
    /// Rows that made their last step together: one group for each step that may be under way.
    groups: Vec<Group>,
}

/// What a rank is about to do.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// To receive what comes next, of which the ranks before know nothing yet.
    Receive,
    /// To receive a hidden state whose header it has passed on.
    State,
    /// To compute.
    Compute,
    /// To send on what it has computed.
    Send,
    /// To send the hidden state behind the frame that tells of it.
    Hidden,
    /// To rest.
    Rest,
}

/// What is done at each point.
struct Watch(Box<dyn FnMut(Point)>);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// Which frames are to fail.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Those of at least so many rows.
    pub rows: usize,
    /// Of these one in so many.
    pub every: u32,
    /// How many at most.
    pub times: u32,
    /// How many there were.
    pub seen: u32,
}

impl Faults {
    /// Whether a frame of so many rows is one.
    fn strikes(&mut self, rows: usize) -> bool {
        if self.times == 0 || rows < self.rows {
            return false;
        }
        self.seen += 1;
        let strikes = self.seen.is_multiple_of(self.every.max(1));
        self.times -= u32::from(strikes);
        strikes
    }
}

/// Rows that made their last step together.
#[derive(Debug, Default)]
struct Group {
    /// In order.
    members: Vec<Member>,
    /// Their recurrent states, one per linear-attention layer.
    states: Vec<DeltaState>,
}

/// A row that is by itself.
#[derive(Debug)]
struct Apart {
    cache: RowCache,
    /// Tokens before the last step, and in it.
    length: usize,
    tokens: usize,
    states: States,
    kept: Option<Rc<Stretch>>,
    /// Where it is swapped out, what its caches and states are in.
    swapped: Option<Swapped>,
}

/// What a row has, in a temporary file.
#[derive(Debug)]
struct Swapped {
    spill: Spill,
    kv: Vec<SpilledKv>,
    states: Vec<SpilledState>,
}

/// Keys and values of a stretch of tokens, in arrays of their own, behind those of the stretch before. Rows that go on
/// from the same place share them.
#[derive(Debug)]
struct Stretch {
    before: Option<Rc<Stretch>>,
    end: usize,
    /// One per layer with attention.
    kv: Vec<KvCopy>,
}

/// What was kept of a row.
#[derive(Debug)]
struct Anchor {
    kept: Option<Rc<Stretch>>,
    length: usize,
    /// Settled.
    states: Vec<DeltaState>,
}

/// The recurrent states of a row that is by itself.
#[derive(Debug)]
enum States {
    /// Settled.
    Own(Vec<DeltaState>),
    /// In those of the group that it has left, at this place among so many. How much of its last step is kept is told
    /// when it comes back.
    Of(Rc<Vec<DeltaState>>, usize, usize),
}

/// A row of the group.
#[derive(Debug)]
struct Member {
    name: u32,
    cache: RowCache,
    length: usize,
    tokens: usize,
    kept: Option<Rc<Stretch>>,
}

impl Stage {
    /// A stage of these layers that knows no row. `rotated`: entries of a head that are; `taps`: the layers of the
    /// model whose outputs the draft model reads, ascending; `memory`: bytes that its rows may take.
    pub fn new(stack: Stack, kv_precision: KvPrecision, rotated: i32, taps: Vec<usize>, memory: u64) -> Self {
        let (apart, anchors, lost, groups) = Default::default();
        let (faults, at) = (Faults::default(), None);
        Self { stack, kv_precision, rotated, taps, memory, faults, at, apart, anchors, lost, groups }
    }

    /// Has frames fail, as if there were too little memory for their rows.
    #[doc(hidden)]
    pub fn fail(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Has something done at each point of each frame.
    #[doc(hidden)]
    pub fn watch(&mut self, at: impl FnMut(Point) + 'static) {
        self.at = Some(Watch(Box::new(at)));
    }

    /// Says what is about to be done.
    pub(super) fn reach(&mut self, point: Point) {
        if let Some(Watch(at)) = &mut self.at {
            at(point);
        }
    }

    /// Entries of a head that are rotated.
    pub fn rotated(&self) -> i32 {
        self.rotated
    }

    /// Width of what comes to it and of what goes on from it, and their type; `None` where it has no layer. Beside a
    /// hidden state are the outputs of the layers before that the draft model reads.
    pub fn widths(&self) -> Option<(i32, i32, Dtype)> {
        let (hidden, dtype) = self.stack.hidden()?;
        let before = |layer: usize| self.taps.iter().filter(|&&tap| tap < layer).count();
        let width = |layer: usize| (1 + before(layer) as i32) * hidden;
        Some((width(self.stack.first), width(self.stack.first + self.stack.layers.len()), dtype))
    }

    /// Bytes that its rows take, and what is kept of them.
    pub fn bytes(&self) -> u64 {
        let states = self.groups.iter().flat_map(|group| &group.states);
        let mut arrays: Vec<&Array> = states.flat_map(DeltaState::arrays).collect();
        let mut shared: Vec<*const ()> = Vec::new();
        let mut is_new = |address: *const ()| {
            let new = !shared.contains(&address);
            shared.extend(new.then_some(address));
            new
        };
        for apart in self.apart.values() {
            arrays.extend(apart.cache.arrays());
            match &apart.states {
                States::Own(states) => arrays.extend(states.iter().flat_map(DeltaState::arrays)),
                States::Of(states, ..) if is_new(Rc::as_ptr(states).cast()) => {
                    arrays.extend(states.iter().flat_map(DeltaState::arrays));
                }
                States::Of(..) => {}
            }
        }
        arrays.extend(self.members().flat_map(|member| member.cache.arrays()));
        let anchored = self.anchors.values().flat_map(|anchor| &anchor.states);
        arrays.extend(anchored.flat_map(DeltaState::arrays));
        let kept = self.anchors.values().map(|anchor| &anchor.kept);
        let kept = kept.chain(self.apart.values().map(|apart| &apart.kept));
        for last in kept.chain(self.members().map(|member| &member.kept)) {
            for stretch in stretches(last.as_ref()) {
                if is_new(Rc::as_ptr(stretch).cast()) {
                    arrays.extend(stretch.kv.iter().flat_map(KvCopy::arrays));
                }
            }
        }
        arrays.into_iter().map(|array| array.nbytes() as u64).sum()
    }

    /// Rows that it has caches of, and places that rows may go on from.
    pub fn rows(&self) -> usize {
        self.apart.len() + self.members().count() + self.anchors.len()
    }

    fn members(&self) -> impl Iterator<Item = &Member> {
        self.groups.iter().flat_map(|group| &group.members)
    }

    /// Does what a frame says before its tokens.
    pub fn apply(&mut self, operations: &[Operation]) -> std::result::Result<(), StageError> {
        for operation in operations {
            match *operation {
                Operation::Forget(row) => {
                    self.part(row);
                    self.apart.remove(&row);
                    self.lost[0].remove(&row);
                }
                Operation::Keep { anchor, row, length } => {
                    let kept = self.settle(row, length).and_then(|()| match self.keep(anchor, row, length) {
                        Err(error) if error.is_of_a_step() => {
                            tracing::warn!("a place to go on from is lost: {error}");
                            self.lost[1].insert(anchor);
                            Ok(())
                        }
                        kept => kept,
                    });
                    match kept {
                        Err(error) if error.is_of_a_step() => {
                            self.lose(row, &error);
                            self.lost[1].insert(anchor);
                        }
                        kept => kept?,
                    }
                }
                Operation::Resume { anchor, row } => match self.resume(anchor, row) {
                    Err(error) if error.is_of_a_step() => self.lose(row, &error),
                    resumed => resumed?,
                },
                Operation::Drop(anchor) => {
                    self.anchors.remove(&anchor);
                    self.lost[1].remove(&anchor);
                }
                Operation::SwapOut { row, length } => match self.settle(row, length) {
                    Err(error) if error.is_of_a_step() => self.lose(row, &error),
                    settled => {
                        settled?;
                        self.swap_out(row);
                    }
                },
            }
        }
        Ok(())
    }

    /// Lets a row be by itself and in memory, with so many of its tokens.
    fn settle(&mut self, row: u32, length: usize) -> std::result::Result<(), StageError> {
        self.part(row);
        if self.lost[0].contains(&row) {
            return Err(StageError::Lost(row));
        }
        let Some(apart) = self.apart.get_mut(&row) else { return Err(StageError::Unknown(row)) };
        let (known, tokens) = (apart.length, apart.tokens);
        if !(known..=known + tokens).contains(&length) {
            return Err(StageError::Row { name: row, told: length, known, tokens });
        }
        apart.swap_in()?;
        let states = apart.states(length)?;
        (apart.length, apart.tokens, apart.states) = (length, 0, States::Own(states));
        Ok(())
    }

    /// Has a row that is settled out of memory, unless it cannot be written.
    fn swap_out(&mut self, row: u32) {
        let Some(Apart { cache, states: States::Own(states), swapped, .. }) = self.apart.get_mut(&row) else {
            return;
        };
        match Swapped::write(cache, states) {
            Ok(written) => {
                (cache.kv, *states, *swapped) = (Vec::new(), Vec::new(), Some(written));
                mlx::clear_cache();
            }
            Err(error) => tracing::warn!("a row stays in memory: {error}"),
        }
    }

    /// Gives up a row of which something is missing.
    fn lose(&mut self, row: u32, error: &StageError) {
        tracing::warn!("a row is lost: {error}");
        self.apart.remove(&row);
        self.lost[0].insert(row);
    }

    /// Keeps what a row has that is settled.
    fn keep(&mut self, anchor: u32, row: u32, length: usize) -> std::result::Result<(), StageError> {
        let Some(apart) = self.apart.get_mut(&row) else { return Err(StageError::Unknown(row)) };
        let States::Own(states) = &apart.states else { return Err(StageError::Unknown(row)) };
        let begin = apart.kept.as_ref().map_or(0, |kept| kept.end);
        if begin < length {
            let copies = apart.cache.kv.iter().map(|kv| kv.copy(begin..length));
            let kv: Option<Vec<KvCopy>> = copies.collect::<Result<_>>()?;
            let kv = kv.ok_or(StageError::Unknown(row))?;
            mlx::eval(kv.iter().flat_map(KvCopy::arrays))?;
            apart.kept = Some(Rc::new(Stretch { before: apart.kept.take(), end: length, kv }));
        }
        // Copies: they may be views of what all rows had.
        let copy = |state: &DeltaState| state.keep(&[0], &[0]);
        let own: Vec<DeltaState> = states.iter().map(copy).collect::<Result<_>>()?;
        mlx::eval(states.iter().chain(&own).flat_map(DeltaState::arrays))?;
        let kept = apart.kept.clone();
        self.anchors.insert(anchor, Anchor { kept, length, states: own });
        Ok(())
    }

    fn resume(&mut self, anchor: u32, row: u32) -> std::result::Result<(), StageError> {
        if self.lost[1].contains(&anchor) {
            return Err(StageError::Lost(anchor));
        }
        let Some(Anchor { kept, length, states }) = self.anchors.get(&anchor) else {
            return Err(StageError::Unknown(anchor));
        };
        let stretches: Vec<&Rc<Stretch>> = stretches(kept.as_ref()).collect();
        let mut kv = self.stack.empty_kv(self.kv_precision);
        for (layer, kv) in kv.iter_mut().enumerate() {
            *kv = RowKv::restored(stretches.iter().rev().map(|stretch| &stretch.kv[layer]), *length)?;
        }
        let apart = Apart {
            cache: RowCache { kv, ..RowCache::default() },
            length: *length,
            tokens: 0,
            states: States::Own(states.clone()),
            kept: kept.clone(),
            swapped: None,
        };
        self.apart.insert(row, apart);
        Ok(())
    }

    /// Lets a row be by itself.
    fn part(&mut self, row: u32) {
        let is_of = |group: &Group| group.members.iter().any(|member| member.name == row);
        if let Some(place) = self.groups.iter().position(is_of) {
            self.disband(place);
        }
    }

    /// Gives up the rows of a frame whose hidden state was not computed. Frames that were sent before rank 0 heard of
    /// it may name them still.
    pub fn lose_rows(&mut self, frame: &Frame) {
        for row in &frame.rows {
            self.part(row.name);
            self.apart.remove(&row.name);
            self.lost[0].insert(row.name);
        }
    }

    /// Whether what a frame says of its rows fits to what was before. To be asked before anything is received for it.
    pub fn check(&self, frame: &Frame) -> std::result::Result<(), StageError> {
        for (place, row) in frame.rows.iter().enumerate() {
            if frame.rows[..place].iter().any(|other| other.name == row.name) {
                return Err(StageError::Twice(row.name));
            }
            if self.lost[0].contains(&row.name) {
                continue;
            }
            let member = self.members().find(|member| member.name == row.name);
            let known = match (member, self.apart.get(&row.name)) {
                (Some(member), _) => (member.length, member.tokens),
                (None, Some(apart)) => (apart.length, apart.tokens),
                (None, None) => (0, 0),
            };
            if !(known.0..=known.0 + known.1).contains(&row.length) {
                let (known, tokens) = known;
                return Err(StageError::Row { name: row.name, told: row.length, known, tokens });
            }
        }
        Ok(())
    }

    /// What its layers make of what comes to it of a frame's rows, computed. Both are as wide as [`Self::widths`] says.
    /// `rotation`: how the tokens turn, where that is not by their positions.
    pub fn run(
        &mut self,
        frame: &Frame,
        rotation: Option<Array>,
        x: &Array,
    ) -> std::result::Result<Array, StageError> {
        if let Some(row) = frame.rows.iter().find(|row| self.lost[0].contains(&row.name)) {
            return Err(StageError::Lost(row.name));
        }
        let (held, memory) = (self.bytes(), self.memory);
        if held > memory || self.faults.strikes(frame.rows.len()) {
            return Err(StageError::Memory { held, memory });
        }
        let spans: Vec<(Position, usize)> =
            frame.rows.iter().map(|row| (Position(row.position), row.tokens)).collect();
        let packed = Packed::new(&spans)?;
        let packed = match rotation {
            Some(turned) => packed.with_rotation(Rotation(turned)),
            None => packed,
        };
        let (hidden, _) = self.stack.hidden().unwrap_or((x.dim(1), x.dtype()));
        let own = x.slice_axis(1, 0, hidden)?;
        let mut outputs = LayerOutputs::default();
        let y = match frame.kind {
            FrameKind::Chunk { .. } => self.chunk(&frame.rows[0], &packed, own, &mut outputs)?,
            _ => self.step(&frame.rows, &packed, own, &mut outputs)?,
        };
        let before = (x.dim(1) > hidden).then(|| x.slice_axis(1, hidden, x.dim(1))).transpose()?;
        let all: Vec<&Array> = [&y].into_iter().chain(&before).chain(&outputs.taps).collect();
        if all.len() == 1 {
            return Ok(y);
        }
        let all = mlx::concatenate(&all, -1)?;
        mlx::eval([&all])?;
        Ok(all)
    }

    fn chunk(
        &mut self,
        row: &FrameRow,
        packed: &Packed,
        x: Array,
        outputs: &mut LayerOutputs,
    ) -> Result<Array> {
        self.part(row.name);
        let mut apart = self.take_apart(row)?;
        let mut states = apart.states(row.length)?;
        let layers = 0..self.stack.layers.len();
        let read = Read { last: true, taps: &self.taps };
        let caches = &mut [&mut apart.cache];
        let phase = Phase::Prefill;
        let y = self.stack.run(x, layers, packed, caches, &mut states, phase, read, outputs)?;
        mlx::eval(
            [&y].into_iter().chain(states.iter().flat_map(DeltaState::arrays)).chain(apart.cache.arrays()),
        )?;
        // All of a prompt's tokens are kept.
        (apart.length, apart.tokens, apart.states) = (row.length + row.tokens, 0, States::Own(states));
        self.apart.insert(row.name, apart);
        Ok(y)
    }

    fn step(
        &mut self,
        rows: &[FrameRow],
        packed: &Packed,
        x: Array,
        outputs: &mut LayerOutputs,
    ) -> Result<Array> {
        let place = match self.groups.iter().position(|group| group.is_of(rows)) {
            Some(place) => place,
            None => self.regroup(rows)?,
        };
        let Group { members, states } = &mut self.groups[place];
        let committed: Vec<usize> =
            rows.iter().zip(&*members).map(|(row, member)| row.length - member.length).collect();
        for (row, member) in rows.iter().zip(&mut *members) {
            member.cache.kv.iter_mut().for_each(|kv| kv.rewind(row.length));
            (member.length, member.tokens) = (row.length, row.tokens);
        }
        let mut caches: Vec<&mut RowCache> = members.iter_mut().map(|member| &mut member.cache).collect();
        let (layers, phase) =
            (0..self.stack.layers.len(), Phase::Step { committed: &committed, behind: None });
        let read = Read { last: true, taps: &self.taps };
        let y = self.stack.run(x, layers, packed, &mut caches, states, phase, read, outputs)?;
        let states = states.iter().flat_map(DeltaState::arrays);
        let caches = members.iter().flat_map(|member| member.cache.arrays());
        mlx::eval([&y].into_iter().chain(states).chain(caches))?;
        Ok(y)
    }

    /// Makes these rows a group, in this order, all of them settled: its place.
    fn regroup(&mut self, rows: &[FrameRow]) -> Result<usize> {
        let told = |member: &Member| rows.iter().find(|row| row.name == member.name);
        // One that loses nobody stays together.
        let whole = self.groups.iter().position(|group| group.members.iter().all(|row| told(row).is_some()));
        let Group { mut members, mut states } =
            whole.map_or_else(Group::default, |place| self.groups.swap_remove(place));
        while let Some(place) =
            self.groups.iter().position(|group| group.members.iter().any(|row| told(row).is_some()))
        {
            self.disband(place);
        }
        let committed: Vec<usize> =
            members.iter().map(|member| told(member).map_or(0, |row| row.length - member.length)).collect();
        for (member, kept) in members.iter_mut().zip(&committed) {
            (member.length, member.tokens) = (member.length + kept, 0);
        }
        // Whoever stays is settled once, with those that come.
        let mut settled = committed;
        for row in rows {
            if members.iter().any(|member| member.name == row.name) {
                continue;
            }
            let mut apart = self.take_apart(row)?;
            let own = apart.states(row.length)?;
            states = match members.is_empty() {
                true => own,
                false => {
                    let joined = states.iter().zip(&own).map(|(state, own)| state.join(&settled, own, &[0]));
                    joined.collect::<Result<_>>()?
                }
            };
            let Apart { cache, kept, .. } = apart;
            members.push(Member { name: row.name, cache, length: row.length, tokens: 0, kept });
            settled = vec![0; members.len()];
        }
        let order: Vec<u32> = rows
            .iter()
            .filter_map(|row| members.iter().position(|member| member.name == row.name))
            .map(|place| place as u32)
            .collect();
        states = states.iter().map(|state| state.keep(&settled, &order)).collect::<Result<_>>()?;
        mlx::eval(states.iter().flat_map(DeltaState::arrays))?;
        members.sort_by_key(|member| rows.iter().position(|row| row.name == member.name));
        self.groups.push(Group { members, states });
        Ok(self.groups.len() - 1)
    }

    /// Lets each member of a group be by itself. How much of their last step is kept is not known yet.
    fn disband(&mut self, group: usize) {
        let Group { members, states } = self.groups.swap_remove(group);
        let (states, all) = (Rc::new(states), members.len());
        for (place, member) in members.into_iter().enumerate() {
            let Member { name, cache, length, tokens, kept } = member;
            let states = States::Of(Rc::clone(&states), place, all);
            self.apart.insert(name, Apart { cache, length, tokens, states, kept, swapped: None });
        }
    }

    /// A row that is by itself, a new one where it is not known.
    fn take_apart(&mut self, row: &FrameRow) -> Result<Apart> {
        match self.apart.remove(&row.name) {
            Some(mut apart) => {
                apart.swap_in()?;
                Ok(apart)
            }
            None => Ok(Apart {
                cache: RowCache { kv: self.stack.empty_kv(self.kv_precision), ..RowCache::default() },
                length: 0,
                tokens: 0,
                states: States::Own(self.stack.empty_states(1)?),
                kept: None,
                swapped: None,
            }),
        }
    }
}

impl Group {
    /// Whether it is made of these rows, in this order.
    fn is_of(&self, rows: &[FrameRow]) -> bool {
        rows.len() == self.members.len()
            && rows.iter().zip(&self.members).all(|(row, member)| row.name == member.name)
    }
}

/// A stretch and those before it.
fn stretches(last: Option<&Rc<Stretch>>) -> impl Iterator<Item = &Rc<Stretch>> {
    std::iter::successors(last, |stretch| stretch.before.as_ref())
}

impl Swapped {
    /// Writes what a row has; its states are settled.
    fn write(cache: &RowCache, states: &[DeltaState]) -> std::result::Result<Self, SpillError> {
        let mut spill = Spill::create()?;
        let kv = cache
            .kv
            .iter()
            .map(|kv| SpilledKv::write(kv, &mut spill))
            .collect::<std::result::Result<_, _>>()?;
        let states = states.iter().map(|state| SpilledState::write(state, &mut spill));
        let states = states.collect::<std::result::Result<_, _>>()?;
        Ok(Self { spill, kv, states })
    }

    /// What was written, with room for `room` positions.
    fn read(mut self, room: usize) -> std::result::Result<(Vec<RowKv>, Vec<DeltaState>), SpillError> {
        let spill = &mut self.spill;
        let kv = self.kv.into_iter().map(|kv| kv.read(spill, room)).collect::<std::result::Result<_, _>>()?;
        let states = self.states.into_iter().map(|state| state.read(spill));
        Ok((kv, states.collect::<std::result::Result<_, _>>()?))
    }
}

/// What a temporary file did not do.
fn of_file(error: SpillError) -> MlxError {
    match error {
        SpillError::Mlx(error) => error,
        error => MlxError::new("swap", error.to_string()),
    }
}

impl Apart {
    /// Has it in memory.
    fn swap_in(&mut self) -> Result<()> {
        if let Some(swapped) = self.swapped.take() {
            let (kv, states) = swapped.read(self.length).map_err(of_file)?;
            (self.cache.kv, self.states) = (kv, States::Own(states));
        }
        Ok(())
    }

    /// Its recurrent states when so many of its tokens are kept, settled; its caches are rewound.
    fn states(&mut self, length: usize) -> Result<Vec<DeltaState>> {
        self.cache.kv.iter_mut().for_each(|kv| kv.rewind(length));
        match std::mem::replace(&mut self.states, States::Own(Vec::new())) {
            States::Own(states) => Ok(states),
            States::Of(states, place, all) => {
                let mut kept = vec![0; all];
                kept[place] = length - self.length;
                states.iter().map(|state| state.keep(&kept, &[place as u32])).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
