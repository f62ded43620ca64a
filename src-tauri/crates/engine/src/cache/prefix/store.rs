use std::collections::BTreeMap;

use super::entry::{Anchor, Prefix, Segment, settle};
use crate::cache::RowCache;
use crate::mlx::Result;

/// The fewest tokens that an anchor must save over the one before it. Reading so few takes little more than a pass,
/// and the recurrent states of a large model are as many bytes as the keys and values of thousands of tokens.
pub const LEAST_GAIN: usize = 32;
/// How likely a prompt goes on at an anchor inside a chat, compared with one at its end.
const INSIDE: f64 = 0.125;

/// Beginnings of prompts and replies, as a tree: a node holds the tokens between two anchors with their keys and
/// values, so chats that begin alike share them.
///
/// A node is never split. Prompts that begin alike are cut at the same places as long as they do, so they share whole
/// nodes; where the second one leaves the first in the middle of a node, its own begins at the anchor before.
#[derive(Debug)]
pub struct PrefixStore {
    nodes: BTreeMap<NodeId, Node>,
    next: NodeId,
    bytes: u64,
    budget: u64,
    /// Prompts looked up so far.
    clock: u64,
}

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
    /// Evicted before the keys and values are, where other nodes go on from here.
    anchor: Option<Anchor>,
    /// Whether a prompt has gone on here, or is expected to.
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
    pub fn anchors(&self) -> usize {
        self.nodes.values().filter(|node| node.anchor.is_some()).count()
    }

    /// Allows it so many bytes; what is too much is evicted at once.
    pub fn set_budget(&mut self, bytes: u64) {
        self.budget = bytes;
        self.shrink(None);
    }

    /// The longest stored beginning of a prompt. At least one token of the prompt is left to be fed.
    pub fn find(&mut self, prompt: &[u32]) -> Option<Prefix> {
        self.clock += 1;
        let found = self.deepest(&prompt[..prompt.len().checked_sub(1)?], |node| node.anchor.is_some());
        let node = self.nodes.get_mut(&found)?;
        let anchor = node.anchor.clone()?;
        (node.used, node.likely) = (self.clock, true);
        let len = node.end;
        let mut segments: Vec<Segment> = self.path(found).map(|(_, node)| node.segment.clone()).collect();
        segments.reverse();
        Some(Prefix { len, segments, anchor })
    }

    /// Keeps what a row that has read `tokens` remembers, unless that is worth less than what it would displace.
    /// `likely`: whether prompts are expected to go on here. Stores nothing where an anchor shortly before does as
    /// well, or where the caches do not hold the tokens. Waits for the copies, so that the row's next append finds its
    /// buffers its own.
    pub fn insert(&mut self, tokens: &[u32], cache: &RowCache, anchor: &Anchor, likely: bool) -> Result<()> {
        let base = self.deepest(tokens, |node| node.anchor.is_some());
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
        let Some(id) = self.attach(tokens, cache, anchor, likely)? else { return Ok(()) };
        // Nothing displaces what it stands on, or a prompt that is too long would in the end leave nothing; and what
        // has no room even so displaces nobody.
        if self.needed(id) + self.nodes[&base].anchor_bytes() > self.budget {
            self.evict(id);
        }
        self.shrink(Some(base));
        let Some(node) = self.nodes.get(&id) else { return Ok(()) };
        let settled = node.anchor.as_ref().map_or(Ok(()), |anchor| settle(&node.segment, anchor));
        if settled.is_err() {
            self.evict(id);
        }
        settled
    }

    /// Forgets all that lies along these tokens, and all that goes on from there: prompts that begin alike and part later
    /// stand on the same keys and values, and so would whatever is stored of these tokens next.
    pub fn forget(&mut self, tokens: &[u32]) {
        let nodes = &self.nodes;
        let (mut open, kept): (Vec<NodeId>, Vec<NodeId>) =
            nodes[&ROOT].children.iter().copied().partition(|child| tokens.starts_with(&nodes[child].tokens));
        self.nodes.entry(ROOT).and_modify(|root| root.children = kept);
        while let Some(node) = open.pop().and_then(|id| self.nodes.remove(&id)) {
            self.bytes -= node.own_bytes() + node.anchor_bytes();
            open.extend(node.children);
        }
    }

    /// Puts an anchor at the end of `tokens`, with the keys and values that are missing, all still lazy.
    fn attach(
        &mut self,
        tokens: &[u32],
        cache: &RowCache,
        anchor: &Anchor,
        likely: bool,
    ) -> Result<Option<NodeId>> {
        let anchor = anchor.copy()?;
        let parent = self.deepest(tokens, |_| true);
        let begin = self.nodes[&parent].end;
        let id = if begin == tokens.len() {
            parent
        } else {
            let Some(segment) = Segment::copy(cache, begin, tokens.len())? else { return Ok(None) };
            let (id, end) = (self.next, tokens.len());
            let node = Node { parent, tokens: tokens[begin..].to_vec(), end, segment, ..Node::default() };
            self.next += 1;
            self.bytes += node.own_bytes();
            self.nodes.insert(id, node);
            self.nodes.entry(parent).and_modify(|node| node.children.push(id));
            id
        };
        self.bytes += anchor.bytes();
        let used = self.clock;
        self.nodes.entry(id).and_modify(|node| {
            node.anchor = Some(anchor);
            (node.likely, node.used) = (likely, used);
        });
        Ok(Some(id))
    }

    /// The longest accepted node whose tokens begin `tokens`; the root if none does.
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

    fn shrink(&mut self, spared: Option<NodeId>) {
        while self.bytes > self.budget {
            let anchored =
                self.nodes.iter().filter(|(id, node)| node.anchor.is_some() && Some(**id) != spared);
            let worth = anchored.map(|(&id, node)| (self.worth(id, node), id));
            let Some((_, least)) = worth.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
            self.evict(least);
        }
    }

    /// What an anchor is worth a byte: the tokens that it saves over the anchor before it, if a prompt goes on there.
    /// So, of anchors that nobody uses, every other one goes first, and the rest lie ever further apart.
    fn worth(&self, id: NodeId, node: &Node) -> f64 {
        let before = self.path(node.parent).find(|(_, node)| node.anchor.is_some());
        let saved = node.end - before.map_or(0, |(_, before)| before.end);
        let chance = if node.likely { 1.0 } else { INSIDE };
        let age = 1 + self.clock - node.used;
        chance * saved as f64 / (self.freed(id, node) as f64 * age as f64)
    }

    /// Bytes of all that going on from an anchor takes.
    fn needed(&self, id: NodeId) -> u64 {
        self.nodes[&id].anchor_bytes() + self.path(id).map(|(_, node)| node.own_bytes()).sum::<u64>()
    }

    /// Bytes that evicting an anchor frees: keys and values too, where no other anchor needs them.
    fn freed(&self, id: NodeId, node: &Node) -> u64 {
        let states = node.anchor_bytes();
        if !node.children.is_empty() {
            return states;
        }
        let alone =
            self.path(node.parent).take_while(|(_, node)| node.anchor.is_none() && node.children.len() == 1);
        states + self.nodes[&id].own_bytes() + alone.map(|(_, node)| node.own_bytes()).sum::<u64>()
    }

    /// Removes an anchor, and the nodes that nothing needs any more.
    fn evict(&mut self, id: NodeId) {
        let anchor = self.nodes.get_mut(&id).and_then(|node| node.anchor.take());
        self.bytes -= anchor.map_or(0, |anchor| anchor.bytes());
        let mut id = id;
        while id != ROOT
            && self.nodes.get(&id).is_some_and(|node| node.anchor.is_none() && node.children.is_empty())
            && let Some(node) = self.nodes.remove(&id)
        {
            self.bytes -= node.own_bytes();
            self.nodes.entry(node.parent).and_modify(|parent| parent.children.retain(|&child| child != id));
            id = node.parent;
        }
    }
}

impl Node {
    /// Bytes without the anchor.
    fn own_bytes(&self) -> u64 {
        self.segment.bytes() + size_of_val(self.tokens.as_slice()) as u64
    }

    fn anchor_bytes(&self) -> u64 {
        self.anchor.as_ref().map_or(0, Anchor::bytes)
    }
}

#[cfg(test)]
impl PrefixStore {
    /// Whether anything lies along these tokens, with an anchor or without.
    pub(super) fn holds(&self, tokens: &[u32]) -> bool {
        self.deepest(tokens, |_| true) != ROOT
    }

    /// The tokens before each anchor, and the bytes of everything, found by looking at all nodes.
    pub(super) fn inspect(&self) -> (Vec<Vec<u32>>, u64) {
        let tokens = |id| {
            let mut parts: Vec<&[u32]> = self.path(id).map(|(_, node)| node.tokens.as_slice()).collect();
            parts.reverse();
            parts.concat()
        };
        let anchored = self.nodes.iter().filter(|(_, node)| node.anchor.is_some());
        let bytes = self.nodes.values().map(|node| node.own_bytes() + node.anchor_bytes());
        (anchored.map(|(&id, _)| tokens(id)).collect(), bytes.sum())
    }
}
