//! Tests that a rank has of each row what a fresh prefill of its committed tokens gives, whatever came before.

use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::checkpoint::{Config, Index, Layout};

/// The layers of the rank: one with attention between recurrent ones.
const LAYERS: std::ops::Range<usize> = 2..6;
/// How far a hidden state may be from another one that is computed in other pieces, in bf16, as a share of its norm.
const ROUNDING: f32 = 0.05;

/// What rank 0 knows of a row.
#[derive(Debug, Clone, Default)]
struct Known {
    name: u32,
    /// Its tokens that are kept.
    kept: Vec<u32>,
    /// Those of its last step, of which the next frame tells how many are kept.
    last: Vec<u32>,
}

/// A stage, and all that it should have.
struct Sides {
    stage: Stage,
    stack: Stack,
    rows: Vec<Known>,
    /// Places to go on from: their names, and the tokens so far.
    anchors: Vec<(u32, Vec<u32>)>,
    operations: Vec<Operation>,
    /// The next name and the next token.
    next: u32,
}

/// What may happen to it, with numbers that choose.
#[derive(Debug, Clone)]
enum Happening {
    /// A new row reads a chunk, of so many tokens.
    Begins(usize),
    /// A row reads one more chunk, if it has no step behind it.
    Reads(usize, usize),
    /// Rows make a step: which of them, how many tokens each has, and how many of the last step are kept.
    Step(Vec<(usize, usize, usize)>),
    /// A row is kept, with so many of its last tokens.
    Keeps(usize, usize),
    /// A new row goes on from a place.
    Resumes(usize),
    /// A place is dropped, a row forgotten, or swapped out.
    Drops(usize),
    Forgets(usize),
    Swaps(usize, usize),
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let any = 0..64usize;
    let row = (any.clone(), 1..4usize, any.clone());
    prop::collection::vec(
        prop_oneof![
            2 => (1..12usize).prop_map(Happening::Begins),
            2 => (any.clone(), 1..12usize).prop_map(|(row, tokens)| Happening::Reads(row, tokens)),
            8 => prop::collection::vec(row, 1..4).prop_map(Happening::Step),
            2 => (any.clone(), any.clone()).prop_map(|(row, kept)| Happening::Keeps(row, kept)),
            2 => any.clone().prop_map(Happening::Resumes),
            1 => any.clone().prop_map(Happening::Drops),
            1 => any.clone().prop_map(Happening::Forgets),
            1 => (any.clone(), any).prop_map(|(row, kept)| Happening::Swaps(row, kept)),
        ],
        1..24,
    )
}

fn stack() -> Stack {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../resources/demo-model/checkpoint"));
    let config = Config::read(dir).unwrap();
    let layout = Layout::plan(&config, &Index::read(dir, &config).unwrap()).unwrap();
    let (config, layout) = (config.of_layers(&LAYERS).unwrap(), layout.of_layers(&LAYERS));
    let mut stack = Stack::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap();
    stack.layers_per_piece = None;
    stack
}

fn stage(stack: &Stack) -> Stage {
    Stage::new(stack.clone(), KvPrecision::Full, 0, Vec::new(), u64::MAX)
}

/// The hidden states that tokens come with, `[T, H]`.
fn states(stage: &Stage, tokens: &[u32]) -> Array {
    let (width, _, dtype) = stage.widths().unwrap();
    let value = |(token, place): (u32, i32)| {
        let hash = (token ^ (place as u32).wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        ((hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35) >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let values: Vec<f32> =
        tokens.iter().flat_map(|&token| (0..width).map(move |place| (token, place))).map(value).collect();
    Array::from_slice(&values, &[tokens.len() as i32, width]).unwrap().astype(dtype).unwrap()
}

fn frame(kind: FrameKind, rows: Vec<FrameRow>) -> Frame {
    Frame { epoch: 1, sequence: 0, kind, rows, operations: Vec::new() }
}

fn in_pass(name: u32, length: usize, tokens: usize) -> FrameRow {
    FrameRow { name, length, tokens, position: length }
}

fn floats(array: &Array) -> Vec<f32> {
    array.astype(Dtype::Float32).unwrap().to_vec().unwrap()
}

impl Sides {
    fn new() -> Self {
        let stack = stack();
        let stage = stage(&stack);
        Self { stage, stack, rows: Vec::new(), anchors: Vec::new(), operations: Vec::new(), next: 1 }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn tokens(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.number()).collect()
    }

    fn place(&self, chosen: usize) -> Option<usize> {
        (!self.rows.is_empty()).then(|| chosen % self.rows.len())
    }

    /// A frame goes through the stage: what comes of it.
    fn send(&mut self, kind: FrameKind, rows: Vec<FrameRow>, tokens: &[u32]) -> Array {
        let (frame, operations) = (frame(kind, rows), std::mem::take(&mut self.operations));
        self.stage.apply(&operations).unwrap();
        self.stage.check(&frame).unwrap();
        let x = states(&self.stage, tokens);
        self.stage.run(&frame, None, &x).unwrap()
    }

    fn chunk(&mut self, place: usize, count: usize) {
        let tokens = self.tokens(count);
        let Known { name, kept, .. } = &self.rows[place];
        let row = in_pass(*name, kept.len(), count);
        self.send(FrameKind::Chunk { is_turned: false }, vec![row], &tokens);
        self.rows[place].kept.extend(tokens);
    }

    /// Keeps some of what a row's last step has, at least one token if it had any.
    fn settle(&mut self, place: usize, chosen: usize) {
        let Known { kept, last, .. } = &mut self.rows[place];
        let count = if last.is_empty() { 0 } else { 1 + chosen % last.len() };
        kept.extend(&last[..count]);
        last.clear();
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Begins(count) => {
                let name = self.number();
                self.rows.push(Known { name, ..Known::default() });
                self.chunk(self.rows.len() - 1, count);
            }
            Happening::Reads(row, count) => {
                if let Some(place) = self.place(row).filter(|&place| self.rows[place].last.is_empty()) {
                    self.chunk(place, count);
                }
            }
            Happening::Step(chosen) => {
                let (mut rows, mut all, mut places) = (Vec::new(), Vec::new(), Vec::new());
                for (row, width, kept) in chosen {
                    let Some(place) = self.place(row).filter(|place| !places.contains(place)) else {
                        continue;
                    };
                    self.settle(place, kept);
                    let tokens = self.tokens(width);
                    let Known { name, kept, last } = &mut self.rows[place];
                    rows.push(in_pass(*name, kept.len(), width));
                    *last = tokens.clone();
                    all.extend(tokens);
                    places.push(place);
                }
                if !rows.is_empty() {
                    self.send(FrameKind::Step, rows, &all);
                }
            }
            Happening::Keeps(row, chosen) => {
                if let Some(place) = self.place(row) {
                    self.settle(place, chosen);
                    let (anchor, Known { name, kept, .. }) = (self.number(), &self.rows[place]);
                    self.operations.push(Operation::Keep { anchor, row: *name, length: kept.len() });
                    self.anchors.push((anchor, kept.clone()));
                }
            }
            Happening::Resumes(chosen) => {
                if !self.anchors.is_empty() {
                    let (anchor, kept) = self.anchors[chosen % self.anchors.len()].clone();
                    let name = self.number();
                    self.operations.push(Operation::Resume { anchor, row: name });
                    self.rows.push(Known { name, kept, last: Vec::new() });
                }
            }
            Happening::Drops(chosen) => {
                if !self.anchors.is_empty() {
                    let (anchor, _) = self.anchors.remove(chosen % self.anchors.len());
                    self.operations.push(Operation::Drop(anchor));
                }
            }
            Happening::Forgets(row) => {
                if let Some(place) = self.place(row) {
                    let name = self.rows.remove(place).name;
                    self.operations.push(Operation::Forget(name));
                }
            }
            Happening::Swaps(row, chosen) => {
                if let Some(place) = self.place(row) {
                    self.settle(place, chosen);
                    let Known { name, kept, .. } = &self.rows[place];
                    self.operations.push(Operation::SwapOut { row: *name, length: kept.len() });
                }
            }
        }
    }

    /// What one more token of a row gives, and what it gives behind a fresh prefill of its tokens.
    fn one_more(&mut self, place: usize) -> (Array, Array) {
        self.settle(place, 0);
        let Known { name, kept, .. } = self.rows[place].clone();
        let token = self.number();
        let here = self.send(FrameKind::Step, vec![in_pass(name, kept.len(), 1)], &[token]);
        self.rows[place].last = vec![token];
        let mut fresh = stage(&self.stack);
        if !kept.is_empty() {
            let read = frame(FrameKind::Chunk { is_turned: false }, vec![in_pass(1, 0, kept.len())]);
            let x = states(&fresh, &kept);
            fresh.run(&read, None, &x).unwrap();
        }
        let x = states(&fresh, &[token]);
        let there = fresh.run(&frame(FrameKind::Step, vec![in_pass(1, kept.len(), 1)]), None, &x).unwrap();
        (here, there)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_row_has_what_a_fresh_prefill_gives(happenings in happenings()) {
        let mut sides = Sides::new();
        for happening in happenings {
            sides.happen(happening);
        }
        for place in 0..sides.rows.len() {
            let (here, there) = sides.one_more(place);
            let (here, there) = (floats(&here), floats(&there));
            let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|value| value * value).sum::<f32>().sqrt();
            let apart = norm(&mut here.iter().zip(&there).map(|(here, there)| here - there));
            let whole = norm(&mut there.iter().copied());
            prop_assert!(apart <= ROUNDING * whole, "{} of {} in row {}", apart, whole, place);
        }
        let names: Vec<u32> = sides.rows.iter().map(|row| row.name).collect();
        let anchors: Vec<u32> = sides.anchors.iter().map(|(anchor, _)| *anchor).collect();
        let forget = names.into_iter().map(Operation::Forget).chain(anchors.into_iter().map(Operation::Drop));
        sides.operations.extend(forget);
        let operations = std::mem::take(&mut sides.operations);
        sides.stage.apply(&operations).unwrap();
        prop_assert_eq!((sides.stage.rows(), sides.stage.bytes()), (0, 0));
    }
}
