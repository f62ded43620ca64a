//! The disk tier of the prefix cache: what is kept of chats that a person goes on with, for when the memory tier has it
//! no longer, as after a restart. It has the same tree, in files.

use foretoken_prefixes::{Body, Found, Key, Owner, PrefixFiles};
use foretoken_protocol::KvPrecision;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::entry::{Prefix, Segment, StateSnapshot};
use super::store::{LEAST_GAIN, PrefixStore};
use crate::cache::delta_state::DeltaState;
use crate::cache::draft_context::ContextCopy;
use crate::cache::row_kv::KvCopy;
use crate::mlx::{Array, Dtype, MlxError};

/// Places that wait to be written at most; the oldest is given up for one more.
const MOST_WAITING: usize = 16;
/// The least share of a beginning, one in so many of its tokens, that reading it must save.
const LEAST_SHARE: usize = 8;
/// Types of the arrays.
const TYPES: [(&str, Dtype); 4] =
    [("f32", Dtype::Float32), ("bf16", Dtype::Bfloat16), ("f16", Dtype::Float16), ("u32", Dtype::Uint32)];

/// Files of what a model has read.
#[derive(Debug)]
pub struct DiskTier {
    files: PrefixFiles,
    /// The place before the first token of this model.
    root: Key,
    /// Places of the memory tier that are to be written, by the tokens before them, and whose they are.
    waiting: Vec<(Vec<u32>, Owner)>,
    /// The stretch of the first of them that was written last: where it is missing all the same, as on a full disk, the
    /// place is given up.
    tried: Option<Key>,
}

/// Why nothing could be written or read.
#[derive(Debug, Error)]
pub enum DiskTierError {
    /// A file gave nothing.
    #[error("a file of the prefix cache: {0}")]
    File(#[from] foretoken_prefixes::ReadError),
    /// A file does not hold what its form says.
    #[error("a file of the prefix cache has an unknown form")]
    Form,
    /// Arrays of a type that no cache has.
    #[error("{0:?} has no place in the prefix cache")]
    Type(Dtype),
    /// MLX failed.
    #[error(transparent)]
    Mlx(#[from] MlxError),
}

type Result<T> = std::result::Result<T, DiskTierError>;

/// How the bytes of a stretch are to be read: arrays behind each other, which make copies of caches.
#[derive(Debug, Serialize, Deserialize)]
struct SegmentForm {
    precision: KvPrecision,
    /// Copies of full-attention layers, and whether one of the MTP head follows, in full precision as the draft
    /// model's.
    layers: usize,
    head: bool,
    /// Of the draft model, the positions that were read, and how many entries a place sees at most in each layer.
    draft: Option<(usize, Vec<usize>)>,
    arrays: Vec<ArrayForm>,
}

/// The same for a state: recurrent state and convolution tail of each linear-attention layer, and the hidden state.
#[derive(Debug, Serialize, Deserialize)]
struct SnapshotForm {
    states: usize,
    hidden: bool,
    arrays: Vec<ArrayForm>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ArrayForm {
    dtype: String,
    shape: Vec<i32>,
}

impl DiskTier {
    /// Files for the model that `model` names, with all that decides what it computes.
    pub fn new(files: PrefixFiles, model: &str) -> Self {
        Self { files, root: Key::root(model), waiting: Vec::new(), tried: None }
    }

    /// Has what stands in memory behind these tokens written when there is time.
    pub fn keep(&mut self, tokens: &[u32], owner: Owner) {
        if self.waiting.len() == MOST_WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push((tokens.to_vec(), owner));
    }

    /// Whether anything waits to be written.
    pub fn has_work(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Has a thread write the next file of a place that waits, if it is not at work: the bytes are copied here, one
    /// file at a time.
    pub fn work(&mut self, memory: &PrefixStore) -> Result<()> {
        if self.files.is_writing() {
            return Ok(());
        }
        let Some((tokens, owner)) = self.waiting.first().cloned() else { return Ok(()) };
        let is_done = self.write_next(memory, &tokens, owner);
        if !matches!(is_done, Ok(false)) {
            self.waiting.remove(0);
            self.tried = None;
        }
        is_done.map(|_| ())
    }

    /// Writes all that waits, and returns when it is on the disk.
    pub fn finish(&mut self, memory: &PrefixStore) -> Result<()> {
        while self.has_work() {
            self.files.flush();
            self.work(memory)?;
        }
        self.files.flush();
        Ok(())
    }

    /// Removes what is kept along these tokens, as [`PrefixStore::forget`] does.
    pub fn forget(&mut self, tokens: &[u32]) {
        self.files.forget(&self.root, tokens);
    }

    /// Has the next file written that the place behind these tokens needs; returns whether it was the last.
    fn write_next(&mut self, memory: &PrefixStore, tokens: &[u32], owner: Owner) -> Result<bool> {
        // It may have been evicted.
        let Some((path, snapshot)) = memory.path_to(tokens) else { return Ok(true) };
        let bytes = path.iter().map(|(_, segment)| segment.bytes()).sum::<u64>() + snapshot.bytes();
        if bytes > self.files.most_bytes() {
            return Ok(true);
        }
        let mut place = self.root.clone();
        for (tokens, segment) in path {
            let next = place.then(tokens);
            if !self.files.has_stretch(&next) {
                if self.tried.replace(next.clone()) == Some(next) {
                    return Ok(true);
                }
                self.files.add_stretch(&place, tokens, segment_body(segment)?);
                return Ok(false);
            }
            place = next;
        }
        if !self.files.has_state(&place, owner) {
            self.files.add_state(&place, owner, snapshot_body(snapshot)?);
        }
        Ok(true)
    }

    /// Reads the longest beginning of a prompt that is kept, if it saves enough over the `known` tokens, and puts it
    /// into memory as far as there is room. All of it is read, so what it saves is a share of it.
    pub fn read(&mut self, memory: &mut PrefixStore, prompt: &[u32], known: usize) -> Result<Option<Prefix>> {
        let Some(Found { len, path }) = self.files.longest(&self.root, prompt) else { return Ok(None) };
        if len < known + LEAST_GAIN.max(len / LEAST_SHARE) {
            return Ok(None);
        }
        let read = self.read_path(&path);
        if matches!(read, Err(DiskTierError::Form)) {
            self.forget(prompt);
        }
        let (segments, snapshot) = read?;
        let tokens = path.iter().filter_map(|key| self.files.tokens(key));
        memory.restore(tokens.zip(&segments), &snapshot);
        Ok(Some(Prefix { len, segments, snapshot }))
    }

    fn read_path(&mut self, path: &[Key]) -> Result<(Vec<Segment>, StateSnapshot)> {
        let end = path.last().ok_or(DiskTierError::Form)?;
        let segments =
            path.iter().map(|key| segment(&self.files.read_stretch(key)?)).collect::<Result<_>>()?;
        Ok((segments, snapshot(&self.files.read_state(end)?)?))
    }
}

fn segment_body(segment: &Segment) -> Result<Body> {
    let Segment { kv, head, draft } = segment;
    let precision = kv.first().map(KvCopy::precision).unwrap_or_default();
    let (arrays, bytes) = written(segment.arrays())?;
    let draft = draft.as_ref().map(|draft| (draft.positions(), draft.windows().collect()));
    let form = SegmentForm { precision, layers: kv.len(), head: head.is_some(), draft, arrays };
    Ok(Body { form: serde_json::to_value(form).map_err(|_| DiskTierError::Form)?, bytes })
}

fn segment(body: &Body) -> Result<Segment> {
    let form: SegmentForm = serde_json::from_value(body.form.clone()).map_err(|_| DiskTierError::Form)?;
    let SegmentForm { precision, layers, head, draft, arrays } = form;
    let mut arrays = read(&arrays, &body.bytes)?.into_iter();
    let mut copy = |precision: KvPrecision| {
        let buffers: Vec<Array> = arrays.by_ref().take(KvCopy::arrays_in(precision)).collect();
        if buffers.len() == KvCopy::arrays_in(precision) {
            Ok(KvCopy::new(precision, buffers))
        } else {
            Err(DiskTierError::Form)
        }
    };
    let kv = (0..layers).map(|_| copy(precision)).collect::<Result<_>>()?;
    let head = if head { Some(copy(KvPrecision::Full)?) } else { None };
    let draft = match draft {
        Some((positions, windows)) => {
            let layers = windows.into_iter().map(|most| Ok((copy(KvPrecision::Full)?, most)));
            Some(ContextCopy::of_layers(positions, layers.collect::<Result<Vec<_>>>()?))
        }
        None => None,
    };
    if arrays.next().is_some() {
        return Err(DiskTierError::Form);
    }
    Ok(Segment { kv, head, draft })
}

fn snapshot_body(snapshot: &StateSnapshot) -> Result<Body> {
    let (arrays, bytes) = written(snapshot.arrays())?;
    let form = SnapshotForm { states: snapshot.states.len(), hidden: snapshot.hidden.is_some(), arrays };
    Ok(Body { form: serde_json::to_value(form).map_err(|_| DiskTierError::Form)?, bytes })
}

fn snapshot(body: &Body) -> Result<StateSnapshot> {
    let form: SnapshotForm = serde_json::from_value(body.form.clone()).map_err(|_| DiskTierError::Form)?;
    let mut arrays = read(&form.arrays, &body.bytes)?.into_iter();
    let mut next = || arrays.next().ok_or(DiskTierError::Form);
    let states =
        (0..form.states).map(|_| Ok(DeltaState::settled(next()?, next()?))).collect::<Result<_>>()?;
    let hidden = if form.hidden { Some(next()?) } else { None };
    if arrays.next().is_some() {
        return Err(DiskTierError::Form);
    }
    Ok(StateSnapshot { states, hidden, remote: None })
}

/// The elements of arrays, one after the other, and how to read them.
fn written<'a>(arrays: impl Iterator<Item = &'a Array>) -> Result<(Vec<ArrayForm>, Vec<u8>)> {
    let (mut forms, mut bytes) = (Vec::new(), Vec::new());
    for array in arrays {
        let dtype = TYPES.iter().find(|(_, dtype)| *dtype == array.dtype());
        let (dtype, _) = dtype.ok_or(DiskTierError::Type(array.dtype()))?;
        array.with_bytes(|elements| bytes.extend_from_slice(elements))?;
        forms.push(ArrayForm { dtype: (*dtype).into(), shape: array.shape().to_vec() });
    }
    Ok((forms, bytes))
}

fn read(forms: &[ArrayForm], bytes: &[u8]) -> Result<Vec<Array>> {
    let mut rest = bytes;
    let mut arrays = Vec::with_capacity(forms.len());
    for ArrayForm { dtype, shape } in forms {
        let dtype = TYPES.iter().find(|(name, _)| name == dtype).map(|&(_, dtype)| dtype);
        let dtype = dtype.ok_or(DiskTierError::Form)?;
        let width = if matches!(dtype, Dtype::Float32 | Dtype::Uint32) { 4 } else { 2 };
        let count =
            shape.iter().try_fold(1usize, |count, &length| count.checked_mul(usize::try_from(length).ok()?));
        let length = count.and_then(|count| count.checked_mul(width)).ok_or(DiskTierError::Form)?;
        let (elements, behind) = rest.split_at_checked(length).ok_or(DiskTierError::Form)?;
        arrays.push(Array::from_bytes(elements, shape, dtype)?);
        rest = behind;
    }
    if rest.is_empty() { Ok(arrays) } else { Err(DiskTierError::Form) }
}
