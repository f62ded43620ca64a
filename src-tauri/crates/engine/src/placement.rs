//! Which machine of several gets which layers of a model: as many as there is memory for, on the machines that read
//! them fastest.
//!
//! With one chat the machines work one after the other, so a token takes the sum of what each takes to read its
//! weights: layers go to the fastest machine until it is full, not to each in proportion to its memory.

use std::ops::Range;
use std::time::Instant;

use serde::Serialize;
use thiserror::Error;

use crate::checkpoint::{CheckpointError, Config, LayerKind, Layout};
use crate::memory::{DraftMemory, MemoryEstimate};
use crate::mlx::{self, Array, DeviceKind, Dtype, MlxError};

/// The most machines over which a model is spread.
pub const MOST_MACHINES: usize = 8;
/// Share of a machine's memory that is left free.
const FREE_SHARE: f64 = 0.1;
/// Contexts for which there is to be room, the first one that there is a place for.
const CONTEXTS: [u64; 4] = [32_768, 16_384, 8192, 4096];

/// A machine that may get layers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// What people call it.
    pub name: String,
    /// Bytes that it gives models.
    pub usable: u64,
    /// Bytes of weights that it reads in a second.
    pub bytes_per_second: u64,
}

/// What is known of the way between two machines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hop {
    /// Seconds that a short message takes.
    pub latency: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
}

impl Hop {
    /// TCP over a Thunderbolt cable, as others have measured it.
    pub const THUNDERBOLT: Self = Self { latency: 0.0003, bytes_per_second: 3e9 };
}

/// Measures how many bytes of weights this machine reads in a second, by products of a large matrix with one vector.
pub fn read_speed() -> Result<u64, MlxError> {
    const ROWS: i32 = 8192;
    const TIMES: usize = 4;
    let dtype = if mlx::device() == DeviceKind::Cpu { Dtype::Float32 } else { Dtype::Float16 };
    let (vector, matrix) = (Array::zeros(&[1, ROWS], dtype)?, Array::zeros(&[ROWS, ROWS], dtype)?);
    mlx::eval([&vector, &matrix])?;
    let mut least = f64::INFINITY;
    for _ in 0..TIMES {
        let from = Instant::now();
        mlx::eval([&vector.matmul(&matrix)?])?;
        least = least.min(from.elapsed().as_secs_f64());
    }
    let bytes = matrix.nbytes() as f64;
    drop(matrix);
    mlx::clear_cache();
    Ok((bytes / least.max(1e-6)) as u64)
}

/// Where the layers of a model lie.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Placement {
    /// The machines that get layers, in order; the first is the one that asks.
    pub machines: Vec<Placed>,
    /// The longest context for which there is room on all of them, in tokens.
    pub context: u64,
    /// Seconds that a token takes without drafts: weights are read once, and go over each hop once. Calculated.
    pub seconds_per_token: f64,
}

/// What one machine gets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Placed {
    /// Which.
    pub name: String,
    /// How many layers.
    pub layers: usize,
    /// Bytes that it takes of its memory, with one chat of [`Placement::context`] tokens.
    pub needed: u64,
    /// Bytes that it gives models.
    pub usable: u64,
}

/// Why a model has no place.
#[derive(Debug, Error)]
pub enum NoPlace {
    /// All machines together have too little memory.
    #[error(
        "It needs {:.1} GB, and {:.1} GB are there on {machines} machines.",
        *needed as f64 / 1e9,
        *usable as f64 / 1e9
    )]
    TooLarge {
        /// Bytes that it takes on one machine.
        needed: u64,
        /// Bytes that all give models, less what is left free.
        usable: u64,
        /// How many.
        machines: usize,
    },
    /// The checkpoint cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Finds the places of a model's layers. The first of `machines` is the one that asks, which has what is not a layer.
/// `all`: whether every other one gets layers; else as few as there is memory with, and those of them that are fastest.
pub fn place(
    config: &Config,
    layout: &Layout,
    draft: Option<DraftMemory>,
    machines: &[Machine],
    hop: Hop,
    all: bool,
) -> Result<Placement, NoPlace> {
    let machines = &machines[..machines.len().min(MOST_MACHINES)];
    let model = Model::of(config, layout, draft);
    let others = 1..machines.len();
    for context in CONTEXTS.map(|context| context.min(config.max_position_embeddings.into())) {
        let fewest = if all { machines.len().saturating_sub(1) } else { 0 };
        for count in fewest..machines.len() {
            let found = combinations(others.clone(), count).into_iter().filter_map(|mut chosen| {
                chosen.sort_by_key(|&machine| std::cmp::Reverse(machines[machine].bytes_per_second));
                let all: Vec<&Machine> =
                    std::iter::once(0).chain(chosen).filter_map(|machine| machines.get(machine)).collect();
                let (seconds, ends) = model.fastest(&all, context)?;
                Some((seconds, all, ends))
            });
            if let Some((seconds, all, ends)) = found.min_by(|a, b| a.0.total_cmp(&b.0)) {
                let seconds = seconds + model.hops(count + 1, hop);
                return model.placement(config, layout, draft, &all, &ends, seconds);
            }
        }
    }
    let usable = machines.iter().map(usable).sum();
    Err(NoPlace::TooLarge { needed: model.whole(CONTEXTS[3]), usable, machines: machines.len() })
}

/// Seconds that a token takes without drafts where each machine has so many layers and reads so many bytes of them in a
/// second, the first one what is not a layer too: weights are read once, and go over each hop once. Calculated.
pub fn seconds_per_token(
    config: &Config,
    layout: &Layout,
    draft: Option<DraftMemory>,
    layers: &[usize],
    bytes_per_second: &[u64],
    hop: Hop,
) -> f64 {
    let model = Model::of(config, layout, draft);
    let mut begin = 0;
    let of_machine = |(rank, (&layers, &speed)): (usize, (&usize, &u64))| {
        let end = (begin + layers).min(config.layers.len());
        let seconds = model.seconds(begin..end, rank == 0, speed);
        begin = end;
        seconds
    };
    let computing: f64 = layers.iter().zip(bytes_per_second).enumerate().map(of_machine).sum();
    computing + model.hops(layers.len(), hop)
}

/// Bytes of a machine's memory that layers may take.
fn usable(machine: &Machine) -> u64 {
    (machine.usable as f64 * (1.0 - FREE_SHARE)) as u64
}

/// All ways to take so many of these.
fn combinations(of: Range<usize>, count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    of.clone()
        .flat_map(|first| {
            combinations(first + 1..of.end, count - 1).into_iter().map(move |mut rest| {
                rest.push(first);
                rest
            })
        })
        .collect()
}

/// What is reckoned with of a model.
struct Model<'a> {
    config: &'a Config,
    layout: &'a Layout,
    draft: Option<DraftMemory>,
    /// Of the first layers, one more each: bytes of their weights.
    weights: Vec<u64>,
    /// Of the same: bytes of them that a token reads.
    read: Vec<u64>,
    /// Of the same: how many have attention.
    attention: Vec<u64>,
    /// Of what is not a layer: bytes of weights, and those that a token reads.
    ends: (u64, u64),
}

impl<'a> Model<'a> {
    fn of(config: &'a Config, layout: &'a Layout, draft: Option<DraftMemory>) -> Self {
        let layers = config.layers.len();
        let (mut weights, mut read) = (vec![0; layers + 1], vec![0; layers + 1]);
        let mut ends = (draft.map_or(0, |draft| draft.weights), 0);
        let head = if config.tied { "embed_tokens." } else { "lm_head." };
        for plan in &layout.tensors {
            let bytes = plan.loaded_bytes();
            let of_token = match &config.moe {
                Some(moe) if plan.name.contains(".switch_mlp.") => {
                    (bytes as f64 * moe.experts_per_token as f64 / moe.experts as f64) as u64
                }
                _ => bytes,
            };
            match plan.layer() {
                Some(layer) => {
                    weights[layer + 1] += bytes;
                    read[layer + 1] += of_token;
                }
                None => {
                    ends.0 += bytes;
                    ends.1 += if plan.name.starts_with(head) { bytes } else { 0 };
                }
            }
        }
        let mut attention: Vec<u64> = vec![0];
        for (layer, kind) in config.layers.iter().enumerate() {
            weights[layer + 1] += weights[layer];
            read[layer + 1] += read[layer];
            attention.push(attention[layer] + u64::from(*kind == LayerKind::FullAttention));
        }
        Self { config, layout, draft, weights, read, attention, ends }
    }

    /// Bytes that all of it takes at a context.
    fn whole(&self, context: u64) -> u64 {
        MemoryEstimate::of(self.config, self.layout, self.draft, context).total
    }

    /// Seconds that the hidden state of a token takes once round so many machines.
    fn hops(&self, machines: usize, hop: Hop) -> f64 {
        let bytes = (self.config.hidden_size as u64 * self.layout.compute.bytes()) as f64;
        let hops = if machines > 1 { machines } else { 0 };
        hops as f64 * (hop.latency + bytes / hop.bytes_per_second)
    }

    /// The way to spread all layers over these machines, at least one each, by which a token takes least: its seconds,
    /// and where each one's layers end. `None` where there is no room for a chat of `context` tokens.
    fn fastest(&self, machines: &[&Machine], context: u64) -> Option<(f64, Vec<usize>)> {
        let layers = self.config.layers.len();
        let whole = MemoryEstimate::of(self.config, self.layout, self.draft, context);
        // The best way to have the first layers on the first machines.
        let mut best: Vec<Option<(f64, Vec<usize>)>> = vec![None; layers + 1];
        best[0] = Some((0.0, Vec::new()));
        for (rank, machine) in machines.iter().enumerate() {
            let mut next = vec![None; layers + 1];
            for (begin, (seconds, ends)) in
                best.iter().enumerate().filter_map(|(begin, best)| Some((begin, best.as_ref()?)))
            {
                for (end, best) in next.iter_mut().enumerate().skip(begin + 1) {
                    if self.needed(begin..end, rank == 0, &whole) > usable(machine) {
                        break;
                    }
                    let seconds = seconds + self.seconds(begin..end, rank == 0, machine.bytes_per_second);
                    if best.as_ref().is_none_or(|(other, _): &(f64, _)| seconds < *other) {
                        *best = Some((seconds, [ends.as_slice(), &[end]].concat()));
                    }
                }
            }
            best = next;
        }
        best.pop().flatten()
    }

    /// Seconds that a machine which reads so many bytes in one takes to read what a token needs of some layers.
    fn seconds(&self, layers: Range<usize>, is_first: bool, bytes_per_second: u64) -> f64 {
        let ends = if is_first { self.ends.1 } else { 0 };
        (self.read[layers.end] - self.read[layers.start] + ends) as f64 / bytes_per_second.max(1) as f64
    }

    /// Bytes that some layers take with a chat, and what is not a layer where they are the first. `whole`: what all of
    /// it takes with that chat.
    fn needed(&self, layers: Range<usize>, is_first: bool, whole: &MemoryEstimate) -> u64 {
        let all = self.config.layers.len();
        let attention = self.attention[layers.end] - self.attention[layers.start];
        let share = |bytes: u64, of: u64, all: u64| (bytes as f64 * of as f64 / all.max(1) as f64) as u64;
        let weights = self.weights[layers.end] - self.weights[layers.start];
        let kv = share(whole.kv, attention, self.attention[all]);
        let linear = (layers.len() as u64, all as u64);
        let linear = (linear.0 - attention, linear.1 - self.attention[all]);
        let states = share(whole.recurrent_state, linear.0, linear.1);
        let ends = match is_first {
            true => {
                let of_draft = whole.draft_model.map_or(0, |draft| draft.context + draft.unread);
                self.ends.0 + whole.draft_head + whole.head_cache + of_draft
            }
            false => 0,
        };
        let writing = kv + states + whole.working_set;
        weights + ends + writing.max(whole.loading)
    }

    /// What becomes of it when the layers of these machines end there.
    fn placement(
        &self,
        config: &Config,
        layout: &Layout,
        draft: Option<DraftMemory>,
        machines: &[&Machine],
        ends: &[usize],
        seconds_per_token: f64,
    ) -> Result<Placement, NoPlace> {
        let begins = std::iter::once(&0).chain(ends);
        let parts = begins.zip(ends).map(|(&begin, &end)| {
            let part = (config.clone().of_layers(&(begin..end))?, layout.clone().of_layers(&(begin..end)));
            Ok((part, draft.filter(|_| begin == 0)))
        });
        let parts: Vec<_> = parts.collect::<Result<_, CheckpointError>>()?;
        let needed = |context: u64| -> Vec<u64> {
            let of_part = |((config, layout), draft): &((Config, Layout), _)| {
                MemoryEstimate::of(config, layout, *draft, context).total
            };
            parts.iter().map(of_part).collect()
        };
        let fits = |context: u64| {
            needed(context).iter().zip(machines).all(|(&needed, machine)| needed <= usable(machine))
        };
        let (mut context, mut beyond) = (0, u64::from(config.max_position_embeddings) + 1);
        while beyond - context > 1 {
            let middle = context + (beyond - context) / 2;
            if fits(middle) {
                context = middle;
            } else {
                beyond = middle;
            }
        }
        let machines =
            machines.iter().zip(&parts).zip(needed(context)).map(|((machine, part), needed)| Placed {
                name: machine.name.clone(),
                layers: part.0.0.layers.len(),
                needed,
                usable: machine.usable,
            });
        Ok(Placement { machines: machines.collect(), context, seconds_per_token })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::checkpoint::{Files, Index, Metadata};

    fn demo_model() -> (Config, Layout) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../resources/demo-model/checkpoint");
        let metadata = Metadata::read(&folder, Files::Whole).unwrap();
        let config = Config::of(&metadata).unwrap();
        let layout = Layout::plan(&config, &Index::of(&metadata, &config).unwrap()).unwrap();
        (config, layout)
    }

    const HOP: Hop = Hop { latency: 0.001, bytes_per_second: 1e9 };

    /// All ways to spread layers over so many machines, by where each one's end.
    fn all_ends(layers: usize, machines: usize) -> Vec<Vec<usize>> {
        if machines == 1 {
            return vec![vec![layers]];
        }
        (machines - 1..layers)
            .flat_map(|last| {
                all_ends(last, machines - 1).into_iter().map(move |mut ends| {
                    ends.push(layers);
                    ends
                })
            })
            .collect()
    }

    #[test]
    fn no_other_way_is_faster_and_no_machine_is_too_full() {
        let (config, layout) = demo_model();
        let model = Model::of(&config, &layout, None);
        let context = CONTEXTS[0].min(config.max_position_embeddings.into());
        let whole = MemoryEstimate::of(&config, &layout, None, context);
        let rng = seeded();
        let (mut spread, mut refused) = (0, 0);
        for mut random in (0..500).map(rng) {
            let machines: Vec<Machine> = (0..2 + random(3))
                .map(|number| Machine {
                    name: number.to_string(),
                    usable: whole.total * (20 + random(100)) / 100,
                    bytes_per_second: 100 + random(900),
                })
                .collect();
            let ranks: Vec<&Machine> = machines.iter().collect();
            let fits = |ends: &[usize]| {
                let begins = std::iter::once(&0).chain(ends);
                let mut parts = begins.zip(ends).zip(&ranks);
                parts.all(|((&begin, &end), machine)| {
                    model.needed(begin..end, begin == 0, &whole) <= usable(machine)
                })
            };
            let seconds = |ends: &[usize]| -> f64 {
                let begins = std::iter::once(&0).chain(ends);
                let parts = begins.zip(ends).zip(&ranks);
                parts
                    .map(|((&begin, &end), machine)| {
                        model.seconds(begin..end, begin == 0, machine.bytes_per_second)
                    })
                    .sum()
            };
            let ways = all_ends(config.layers.len(), ranks.len()).into_iter().filter(|ends| fits(ends));
            let best = ways.map(|ends| seconds(&ends)).min_by(f64::total_cmp);
            let found = model.fastest(&ranks, context);
            match (best, found) {
                (Some(best), Some((found, ends))) => {
                    assert!((found - best).abs() <= 1e-9 * best, "{found} {best} {machines:?}");
                    assert!(fits(&ends) && (seconds(&ends) - found).abs() <= 1e-9 * found);
                }
                (None, None) => {}
                other => panic!("{other:?} {machines:?}"),
            }
            // As it is asked for, with what each part really takes.
            match place(&config, &layout, None, &machines, HOP, false) {
                Ok(placement) => {
                    spread += usize::from(placement.machines.len() > 1);
                    let layers: usize = placement.machines.iter().map(|machine| machine.layers).sum();
                    assert_eq!(layers, config.layers.len());
                    assert_eq!(placement.machines[0].name, "0");
                    assert!(
                        placement
                            .machines
                            .iter()
                            .all(|machine| machine.needed <= machine.usable * 9 / 10 + 1)
                    );
                    assert!(placement.context >= CONTEXTS[3].min(context));
                }
                Err(NoPlace::TooLarge { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(spread > 50 && refused > 5, "{spread} {refused}");
    }

    #[test]
    fn one_machine_is_enough_where_it_has_room_and_the_fastest_get_most() {
        let (config, layout) = demo_model();
        let context = CONTEXTS[0].min(config.max_position_embeddings.into());
        let whole = Model::of(&config, &layout, None).whole(context);
        let machine =
            |name: &str, usable, bytes_per_second| Machine { name: name.into(), usable, bytes_per_second };
        let alone = [machine("MacBook", 4 * whole, 1), machine("Studio", 4 * whole, 1000)];
        let placement = place(&config, &layout, None, &alone, HOP, false).unwrap();
        assert_eq!(placement.machines.len(), 1);
        // A tenth of each stays free.
        let short =
            [machine("MacBook", whole, 1), machine("Slow", 2 * whole, 2), machine("Fast", 2 * whole, 9)];
        let everybody = place(&config, &layout, None, &alone, HOP, true).unwrap();
        assert_eq!(everybody.machines.len(), 2);
        let placement = place(&config, &layout, None, &short, HOP, false).unwrap();
        let names: Vec<&str> = placement.machines.iter().map(|machine| machine.name.as_str()).collect();
        assert_eq!(names, ["MacBook", "Fast"]);
        assert_eq!(placement.machines[0].layers, 1, "{placement:?}");
        let small = [machine("MacBook", whole / 50, 1)];
        let none = place(&config, &layout, None, &small, HOP, false).unwrap_err();
        assert!(none.to_string().contains("1 machines"), "{none}");
    }

    /// Numbers below a limit, from a seed.
    fn seeded() -> impl Fn(u64) -> Box<dyn FnMut(u64) -> u64> {
        |seed| {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            Box::new(move |below| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % below
            })
        }
    }
}
