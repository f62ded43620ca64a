//! Some layers of a model with the caches and states of their rows, rolled back by counts alone.

use std::collections::HashMap;
use std::rc::Rc;

use foretoken_protocol::KvPrecision;
use thiserror::Error;

use crate::cache::{DeltaState, KvCopy, RowCache, RowKv};
use crate::link::{Frame, FrameKind, FrameRow, Operation};
use crate::mlx::{self, Array, Dtype, MlxError, Result};
use crate::model::{LayerOutputs, Packed, Phase, Position, Read, Stack};

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
    /// The layers could not be computed. The rows of the step are to be forgotten.
    #[error("{0}")]
    Mlx(#[from] MlxError),
}

impl StageError {
    /// Whether the ring may go on.
    pub fn is_of_a_step(&self) -> bool {
        matches!(self, Self::Mlx(_))
    }
}

/// The layers of a rank, and the rows that it knows.
#[derive(Debug)]
pub struct Stage {
    stack: Stack,
    kv_precision: KvPrecision,
    /// Rows that do not decode in company now, by name.
    apart: HashMap<u32, Apart>,
    /// What was kept of rows, by name.
    anchors: HashMap<u32, Anchor>,
    /// The rows of the last step, in order.
    group: Vec<Member>,
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
    /// A stage of these layers that knows no row.
    pub fn new(stack: Stack, kv_precision: KvPrecision) -> Self {
        let (apart, anchors, group, states) = Default::default();
        Self { stack, kv_precision, apart, anchors, group, states }
    }

    /// Width and type of hidden states; `None` where it has no layer.
    pub fn hidden(&self) -> Option<(i32, Dtype)> {
        self.stack.hidden()
    }

    /// Rows that it has caches of, and places that rows may go on from.
    pub fn rows(&self) -> usize {
        self.apart.len() + self.group.len() + self.anchors.len()
    }

    /// Does what a frame says before its tokens.
    pub fn apply(&mut self, operations: &[Operation]) -> std::result::Result<(), StageError> {
        for operation in operations {
            match *operation {
                Operation::Forget(row) => {
                    self.part(row);
                    self.apart.remove(&row);
                }
                Operation::Keep { anchor, row, length } => self.keep(anchor, row, length)?,
                Operation::Resume { anchor, row } => self.resume(anchor, row)?,
                Operation::Drop(anchor) => _ = self.anchors.remove(&anchor),
            }
        }
        Ok(())
    }

    fn keep(&mut self, anchor: u32, row: u32, length: usize) -> std::result::Result<(), StageError> {
        self.part(row);
        let Some(apart) = self.apart.get_mut(&row) else { return Err(StageError::Unknown(row)) };
        let (known, tokens) = (apart.length, apart.tokens);
        if !(known..=known + tokens).contains(&length) {
            return Err(StageError::Row { name: row, told: length, known, tokens });
        }
        let states = apart.states(length)?;
        (apart.length, apart.tokens) = (length, 0);
        let begin = apart.kept.as_ref().map_or(0, |kept| kept.end);
        if begin < length {
            let copies = apart.cache.kv.iter().map(|kv| kv.copy(begin..length));
            let kv: Option<Vec<KvCopy>> = copies.collect::<Result<_>>()?;
            let kv = kv.ok_or(StageError::Row { name: row, told: length, known, tokens })?;
            mlx::eval(kv.iter().flat_map(KvCopy::arrays))?;
            apart.kept = Some(Rc::new(Stretch { before: apart.kept.take(), end: length, kv }));
        }
        // Copies: they may be views of what all rows had.
        let copy = |state: &DeltaState| state.keep(&[0], &[0]);
        let own: Vec<DeltaState> = states.iter().map(copy).collect::<Result<_>>()?;
        mlx::eval(states.iter().chain(&own).flat_map(DeltaState::arrays))?;
        apart.states = States::Own(states);
        self.anchors.insert(anchor, Anchor { kept: apart.kept.clone(), length, states: own });
        Ok(())
    }

    fn resume(&mut self, anchor: u32, row: u32) -> std::result::Result<(), StageError> {
        let Some(Anchor { kept, length, states }) = self.anchors.get(&anchor) else {
            return Err(StageError::Unknown(anchor));
        };
        let stretches: Vec<&Rc<Stretch>> =
            std::iter::successors(kept.as_ref(), |stretch| stretch.before.as_ref()).collect();
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
        };
        self.apart.insert(row, apart);
        Ok(())
    }

    /// Lets a row be by itself.
    fn part(&mut self, row: u32) {
        if self.group.iter().any(|member| member.name == row) {
            self.disband();
        }
    }

    /// Whether what a frame says of its rows fits to what was before. To be asked before anything is received for it.
    pub fn check(&self, frame: &Frame) -> std::result::Result<(), StageError> {
        for (place, row) in frame.rows.iter().enumerate() {
            if frame.rows[..place].iter().any(|other| other.name == row.name) {
                return Err(StageError::Twice(row.name));
            }
            let member = self.group.iter().find(|member| member.name == row.name);
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

    /// What its layers make of the hidden state `[T, H]` of a frame's rows, `[T, H]`, computed.
    pub fn run(&mut self, frame: &Frame, x: Array) -> Result<Array> {
        let spans: Vec<(Position, usize)> =
            frame.rows.iter().map(|row| (Position(row.position), row.tokens)).collect();
        let packed = Packed::new(&spans)?;
        match frame.kind {
            FrameKind::Chunk => self.chunk(&frame.rows[0], &packed, x),
            _ => self.step(&frame.rows, &packed, x),
        }
    }

    fn chunk(&mut self, row: &FrameRow, packed: &Packed, x: Array) -> Result<Array> {
        self.part(row.name);
        let mut apart = self.take_apart(row)?;
        let mut states = apart.states(row.length)?;
        let layers = 0..self.stack.layers.len();
        let mut outputs = LayerOutputs::default();
        let read = Read { last: true, taps: &[] };
        let caches = &mut [&mut apart.cache];
        let phase = Phase::Prefill;
        let y = self.stack.run(x, layers, packed, caches, &mut states, phase, read, &mut outputs)?;
        mlx::eval(
            [&y].into_iter().chain(states.iter().flat_map(DeltaState::arrays)).chain(apart.cache.arrays()),
        )?;
        // All of a prompt's tokens are kept.
        (apart.length, apart.tokens, apart.states) = (row.length + row.tokens, 0, States::Own(states));
        self.apart.insert(row.name, apart);
        Ok(y)
    }

    fn step(&mut self, rows: &[FrameRow], packed: &Packed, x: Array) -> Result<Array> {
        let is_group = rows.len() == self.group.len()
            && rows.iter().zip(&self.group).all(|(row, member)| row.name == member.name);
        if !is_group {
            self.regroup(rows)?;
        }
        let committed: Vec<usize> =
            rows.iter().zip(&self.group).map(|(row, member)| row.length - member.length).collect();
        for (row, member) in rows.iter().zip(&mut self.group) {
            member.cache.kv.iter_mut().for_each(|kv| kv.rewind(row.length));
            (member.length, member.tokens) = (row.length, row.tokens);
        }
        let mut caches: Vec<&mut RowCache> = self.group.iter_mut().map(|member| &mut member.cache).collect();
        let (layers, phase) =
            (0..self.stack.layers.len(), Phase::Step { committed: &committed, behind: None });
        let mut outputs = LayerOutputs::default();
        let read = Read { last: true, taps: &[] };
        let y =
            self.stack.run(x, layers, packed, &mut caches, &mut self.states, phase, read, &mut outputs)?;
        let states = self.states.iter().flat_map(DeltaState::arrays);
        let caches = self.group.iter().flat_map(|member| member.cache.arrays());
        mlx::eval([&y].into_iter().chain(states).chain(caches))?;
        Ok(y)
    }

    /// Makes these rows the group, in this order, all of them settled.
    fn regroup(&mut self, rows: &[FrameRow]) -> Result<()> {
        if self.group.iter().any(|member| rows.iter().all(|row| row.name != member.name)) {
            self.disband();
        }
        let told = |name: u32| rows.iter().find(|row| row.name == name);
        let committed: Vec<usize> = self
            .group
            .iter()
            .map(|member| told(member.name).map_or(0, |row| row.length - member.length))
            .collect();
        let mut states = std::mem::take(&mut self.states);
        let mut members = std::mem::take(&mut self.group);
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
        (self.group, self.states) = (members, states);
        Ok(())
    }

    /// Lets each member be by itself. How much of their last step is kept is not known yet.
    fn disband(&mut self) {
        let (states, all) = (Rc::new(std::mem::take(&mut self.states)), self.group.len());
        for (place, member) in std::mem::take(&mut self.group).into_iter().enumerate() {
            let Member { name, cache, length, tokens, kept } = member;
            let states = States::Of(Rc::clone(&states), place, all);
            self.apart.insert(name, Apart { cache, length, tokens, states, kept });
        }
    }

    /// A row that is by itself, a new one where it is not known.
    fn take_apart(&mut self, row: &FrameRow) -> Result<Apart> {
        match self.apart.remove(&row.name) {
            Some(apart) => Ok(apart),
            None => Ok(Apart {
                cache: RowCache { kv: self.stack.empty_kv(self.kv_precision), ..RowCache::default() },
                length: 0,
                tokens: 0,
                states: States::Own(self.stack.empty_states(1)?),
                kept: None,
            }),
        }
    }
}

impl Apart {
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
