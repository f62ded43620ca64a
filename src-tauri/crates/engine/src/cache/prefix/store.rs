//! The prefix cache: keys, values and recurrent states of earlier prompts and replies, in a tree by their tokens,
//! within a budget of bytes. A later prompt is read from the end of its longest stored beginning.
//!
//! As in RadixAttention (arXiv 2312.07104), token sequences that begin alike share a path. Unlike there, nodes are
//! never split, and a prompt can go on only at a snapshot, where recurrent states were kept. Over budget, the snapshot
//! with the smallest expected saving per byte is evicted.

use std::collections::BTreeMap;

use super::entry::{Prefix, Segment, StateSnapshot, settle};
use crate::cache::row_cache::RowCache;
use crate::mlx::Result;

/// The fewest tokens that a snapshot must save over the one before it. Reading so few takes little more than a pass,
/// and the recurrent states of a large model are as many bytes as the keys and values of thousands of tokens.
pub const LEAST_GAIN: usize = 32;
/// The chance that a prompt goes on at a snapshot that is not marked `likely`, relative to one that is.
const INSIDE: f64 = 0.125;

/// Beginnings of prompts and replies, as a tree: a node holds the tokens between two snapshots with their keys and
/// values, so chats that begin alike share them.
///
/// A node is never split. Prompts that begin alike are cut at the same places as long as they do, so they share whole
/// nodes; where the second one leaves the first in the middle of a node, its own begins at the snapshot before.
#[derive(Debug)]
pub struct PrefixStore {
    nodes: BTreeMap<NodeId, Node>,
    next: NodeId,
    bytes: u64,
    budget: u64,
    /// Prompts looked up so far.
    clock: u64,
}

/// The tokens of a node, and what is stored of them.
pub(super) type Stretch<'a> = (&'a [u32], &'a Segment);

type NodeId = u64;
/// The empty beginning.
const ROOT: NodeId = 0;

#[derive(Debug, Default)]
struct Node {
    parent: NodeId,
    children: Vec<NodeId>,
    /// The tokens after its parent's.
    tokens: Vec<u32>,
    /// Tokens from the root to its end.
    end: usize,
    segment: Segment,
    /// `None` where it was evicted while other nodes still stand on the keys and values.
    snapshot: Option<StateSnapshot>,
    /// Whether a prompt has gone on at its end, or is expected to.
    likely: bool,
    /// The lookup at which it was stored or last found.
    used: u64,
}

impl Default for PrefixStore {
    fn default() -> Self {
        let nodes = BTreeMap::from([(ROOT, Node::default())]);
        Self { nodes, next: ROOT + 1, bytes: 0, budget: 0, clock: 0 }
    }
}

impl PrefixStore {
    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that it may hold.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Places from which a prompt can go on.
    pub fn snapshots(&self) -> usize {
        self.nodes.values().filter(|node| node.snapshot.is_some()).count()
    }

    /// Allows it so many bytes; what is too much is evicted at once.
    pub fn set_budget(&mut self, bytes: u64) {
        self.budget = bytes;
        self.shrink(None);
    }

    /// The longest stored beginning of a prompt. At least one token of the prompt is left to be fed.
    pub fn find(&mut self, prompt: &[u32]) -> Option<Prefix> {
        self.clock += 1;
        let found = self.deepest(&prompt[..prompt.len().checked_sub(1)?], |node| node.snapshot.is_some());
        let node = self.nodes.get_mut(&found)?;
        let snapshot = node.snapshot.clone()?;
        (node.used, node.likely) = (self.clock, true);
        let len = node.end;
        let mut segments: Vec<Segment> = self.path(found).map(|(_, node)| node.segment.clone()).collect();
        segments.reverse();
        Some(Prefix { len, segments, snapshot })
    }

    /// Stores the caches and the snapshot of a row that has read `tokens`, unless they are worth less than what they
    /// would displace. `likely`: whether prompts are expected to go on here. Stores nothing where a snapshot fewer than
    /// [`LEAST_GAIN`] tokens before does as well, or where the caches do not hold the tokens. Evaluates the copies, so
    /// that no handle of the row's buffers is left and its next append writes in place.
    pub fn insert(
        &mut self,
        tokens: &[u32],
        cache: &RowCache,
        snapshot: &StateSnapshot,
        likely: bool,
    ) -> Result<()> {
        let base = self.deepest(tokens, |node| node.snapshot.is_some());
        if self.nodes[&base].end == tokens.len() {
            let clock = self.clock;
            if let Some(node) = self.nodes.get_mut(&base) {
                (node.used, node.likely) = (clock, node.likely || likely);
            }
            return Ok(());
        }
        if tokens.len() < self.nodes[&base].end + LEAST_GAIN {
            return Ok(());
        }
        let Some(id) = self.attach(tokens, cache, snapshot, likely)? else { return Ok(()) };
        // A snapshot must not evict the one that it stands on, or a prompt that is too long would in the end leave
        // nothing stored. One that does not fit beside that one is dropped before it evicts any other.
        if self.needed(id) + self.nodes[&base].snapshot_bytes() > self.budget {
            self.evict(id);
        }
        self.shrink(Some(base));
        let Some(node) = self.nodes.get(&id) else { return Ok(()) };
        let settled = node.snapshot.as_ref().map_or(Ok(()), |snapshot| settle(&node.segment, snapshot));
        if settled.is_err() {
            self.evict(id);
        }
        settled
    }

    /// Takes over a beginning that was read from elsewhere, stretch by stretch, with the snapshot behind the last; what
    /// is too much is evicted at once.
    pub(super) fn restore<'a>(
        &mut self,
        stretches: impl Iterator<Item = Stretch<'a>>,
        snapshot: &StateSnapshot,
    ) {
        let mut id = ROOT;
        for (tokens, segment) in stretches {
            let children = &self.nodes[&id].children;
            let same = children.iter().copied().find(|child| self.nodes[child].tokens == tokens);
            id = same.unwrap_or_else(|| self.add(id, tokens.to_vec(), segment.clone()));
        }
        if id != ROOT && self.nodes[&id].snapshot.is_none() {
            self.bytes += snapshot.bytes();
            let used = self.clock;
            self.nodes.entry(id).and_modify(|node| {
                node.snapshot = Some(snapshot.clone());
                (node.likely, node.used) = (true, used);
            });
        }
        if self.needed(id) > self.budget {
            self.evict(id);
        }
        self.shrink(None);
    }

    /// The stretches up to the end of these tokens, and the snapshot there.
    pub(super) fn path_to(&self, tokens: &[u32]) -> Option<(Vec<Stretch<'_>>, &StateSnapshot)> {
        let id = self.deepest(tokens, |node| node.end == tokens.len() && node.snapshot.is_some());
        let snapshot = self.nodes[&id].snapshot.as_ref()?;
        let mut path: Vec<_> =
            self.path(id).map(|(_, node)| (node.tokens.as_slice(), &node.segment)).collect();
        path.reverse();
        Some((path, snapshot))
    }

    /// Removes each child of the root whose tokens `tokens` begins with, and all nodes below it. Prompts that begin
    /// alike and part later stand on the same keys and values, and so would whatever is stored of these tokens next.
    pub fn forget(&mut self, tokens: &[u32]) {
        let nodes = &self.nodes;
        let (mut open, kept): (Vec<NodeId>, Vec<NodeId>) =
            nodes[&ROOT].children.iter().copied().partition(|child| tokens.starts_with(&nodes[child].tokens));
        self.nodes.entry(ROOT).and_modify(|root| root.children = kept);
        while let Some(node) = open.pop().and_then(|id| self.nodes.remove(&id)) {
            self.bytes -= node.own_bytes() + node.snapshot_bytes();
            open.extend(node.children);
        }
    }

    /// Puts a snapshot at the end of `tokens`, and a node for the keys and values that are not stored yet; all copies
    /// are still lazy. `None` where the caches do not hold the tokens.
    fn attach(
        &mut self,
        tokens: &[u32],
        cache: &RowCache,
        snapshot: &StateSnapshot,
        likely: bool,
    ) -> Result<Option<NodeId>> {
        let snapshot = snapshot.copy()?;
        let parent = self.deepest(tokens, |_| true);
        let begin = self.nodes[&parent].end;
        let id = if begin == tokens.len() {
            parent
        } else {
            let Some(segment) = Segment::copy(cache, begin, tokens.len())? else { return Ok(None) };
            self.add(parent, tokens[begin..].to_vec(), segment)
        };
        self.bytes += snapshot.bytes();
        let used = self.clock;
        self.nodes.entry(id).and_modify(|node| {
            node.snapshot = Some(snapshot);
            (node.likely, node.used) = (likely, used);
        });
        Ok(Some(id))
    }

    /// Adds a node without a snapshot.
    fn add(&mut self, parent: NodeId, tokens: Vec<u32>, segment: Segment) -> NodeId {
        let (id, end) = (self.next, self.nodes[&parent].end + tokens.len());
        let node = Node { parent, tokens, end, segment, ..Node::default() };
        self.next += 1;
        self.bytes += node.own_bytes();
        self.nodes.insert(id, node);
        self.nodes.entry(parent).and_modify(|node| node.children.push(id));
        id
    }

    /// The deepest accepted node whose path from the root is a beginning of `tokens`; the root if there is none.
    fn deepest(&self, tokens: &[u32], accept: impl Fn(&Node) -> bool) -> NodeId {
        let (mut best, mut best_end) = (ROOT, 0);
        let mut open = vec![ROOT];
        while let Some(id) = open.pop() {
            let node = &self.nodes[&id];
            if node.end > best_end && accept(node) {
                (best, best_end) = (id, node.end);
            }
            let rest = &tokens[node.end..];
            open.extend(node.children.iter().filter(|child| rest.starts_with(&self.nodes[child].tokens)));
        }
        best
    }

    /// A node and those before it, up to the root and without it.
    fn path(&self, id: NodeId) -> impl Iterator<Item = (NodeId, &Node)> {
        let parent = |id: NodeId| (id != ROOT).then(|| (id, &self.nodes[&id]));
        std::iter::successors(parent(id), move |(_, node)| parent(node.parent))
    }

    /// Evicts snapshots, the one of least [`Self::worth`] first and `spared` never, until the budget holds.
    fn shrink(&mut self, spared: Option<NodeId>) {
        while self.bytes > self.budget {
            let snapshotted =
                self.nodes.iter().filter(|(id, node)| node.snapshot.is_some() && Some(**id) != spared);
            let worth = snapshotted.map(|(&id, node)| (self.worth(id, node), id));
            let Some((_, least)) = worth.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
            self.evict(least);
        }
    }

    /// The expected saving of a snapshot per byte that its eviction frees: the tokens that it saves over the snapshot
    /// before it, times the chance that a prompt goes on there, divided by its age in lookups. Of snapshots that nobody
    /// uses, every other one is so evicted first, and the rest lie ever further apart.
    fn worth(&self, id: NodeId, node: &Node) -> f64 {
        let before = self.path(node.parent).find(|(_, node)| node.snapshot.is_some());
        let saved = node.end - before.map_or(0, |(_, before)| before.end);
        let chance = if node.likely { 1.0 } else { INSIDE };
        let age = 1 + self.clock - node.used;
        chance * saved as f64 / (self.freed(id, node) as f64 * age as f64)
    }

    /// Bytes that going on from a snapshot needs: its own, and the keys, values and tokens of its path.
    fn needed(&self, id: NodeId) -> u64 {
        self.nodes[&id].snapshot_bytes() + self.path(id).map(|(_, node)| node.own_bytes()).sum::<u64>()
    }

    /// Bytes that evicting a snapshot frees: keys and values too, where no other snapshot needs them.
    fn freed(&self, id: NodeId, node: &Node) -> u64 {
        let states = node.snapshot_bytes();
        if !node.children.is_empty() {
            return states;
        }
        let alone = self
            .path(node.parent)
            .take_while(|(_, node)| node.snapshot.is_none() && node.children.len() == 1);
        states + self.nodes[&id].own_bytes() + alone.map(|(_, node)| node.own_bytes()).sum::<u64>()
    }

    /// Removes a snapshot, and the nodes on its path that no other snapshot needs.
    fn evict(&mut self, id: NodeId) {
        let snapshot = self.nodes.get_mut(&id).and_then(|node| node.snapshot.take());
        self.bytes -= snapshot.map_or(0, |snapshot| snapshot.bytes());
        let mut id = id;
        while id != ROOT
            && self.nodes.get(&id).is_some_and(|node| node.snapshot.is_none() && node.children.is_empty())
            && let Some(node) = self.nodes.remove(&id)
        {
            self.bytes -= node.own_bytes();
            self.nodes.entry(node.parent).and_modify(|parent| parent.children.retain(|&child| child != id));
            id = node.parent;
        }
    }
}

impl Node {
    /// Bytes without the snapshot.
    fn own_bytes(&self) -> u64 {
        self.segment.bytes() + size_of_val(self.tokens.as_slice()) as u64
    }

    fn snapshot_bytes(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, StateSnapshot::bytes)
    }
}

#[cfg(test)]
impl PrefixStore {
    /// Whether anything lies along these tokens, with a snapshot or without.
    pub(super) fn holds(&self, tokens: &[u32]) -> bool {
        self.deepest(tokens, |_| true) != ROOT
    }

    /// The tokens before each snapshot, and the bytes of everything, found by looking at all nodes.
    pub(super) fn inspect(&self) -> (Vec<Vec<u32>>, u64) {
        let tokens = |id| {
            let mut parts: Vec<&[u32]> = self.path(id).map(|(_, node)| node.tokens.as_slice()).collect();
            parts.reverse();
            parts.concat()
        };
        let snapshotted = self.nodes.iter().filter(|(_, node)| node.snapshot.is_some());
        let bytes = self.nodes.values().map(|node| node.own_bytes() + node.snapshot_bytes());
        (snapshotted.map(|(&id, _)| tokens(id)).collect(), bytes.sum())
    }
}
