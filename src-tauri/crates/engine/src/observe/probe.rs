//! What each group of matrices costs when it alone is quantized: the KL divergence of the whole model's predictions. In
//! one reading of the model, versions in which one group is quantized ride along with the float one: those of a layer
//! begin there, as copies of what the float model has put out before it.

use std::collections::BTreeMap;
use std::iter;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::divergence::{Counts, HeadRows, TextFigures, compare, in_f32, slabs};
use super::groups::{Group, WIDTHS, groups, small};
use super::round::round;
use super::stream::{End, Stream, batches, told};
use super::{Choice, ObserveError, Point, Source};
use crate::checkpoint::{QuantSpec, WeightKind};
use crate::convert::Importance;
use crate::error::EngineError;
use crate::mlx::{self, Array, Dtype};
use crate::model::{Inputs, LoadError, LoadProgress, Part, PartWeights};
use crate::score::Figures;

/// Tokens, in whole texts, on which the errors of a layer at the widths are compared: these take a pass through the
/// layer for every group and width.
pub(super) const SAMPLED: usize = 512;

/// Weights of a matrix, in whole rows, on which group sizes are compared.
const SAMPLED_WEIGHTS: usize = 1 << 22;

/// What a group costs at each width, alone.
#[derive(Debug, Clone)]
pub struct Sensitivity {
    /// The matrices.
    pub group: Group,
    /// By bits, the mean KL divergence of each text in nats. Measured to the end at [`Probe::bits`], and at every width
    /// for embedding and output head; at other widths in proportion to the error of the layer's output.
    pub kl: BTreeMap<usize, Vec<f64>>,
    /// By bits, the squared error of the layer's output relative to the output's square, mean over some of the tokens;
    /// of the vectors that tokens go in with for an embedding, empty for an output head.
    pub local: BTreeMap<usize, f64>,
    /// By group size, then by bits, what the squared error of the rounded weights is of that with the group size that
    /// is measured.
    sizes: BTreeMap<usize, BTreeMap<usize, f64>>,
    /// How well the model predicts with the group at [`Probe::bits`].
    pub figures: Figures,
}

/// What a probe has found.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Bits to which each group was quantized.
    pub bits: usize,
    /// How well the float model predicts the texts.
    pub reference: Figures,
    /// What each group costs, in the order of the network.
    pub groups: Vec<Sensitivity>,
    /// What the columns of the matrices are multiplied by.
    pub importance: Importance,
    /// Matrices that have 8 bits in any case, with their bytes.
    small: Vec<Choice>,
    /// Bytes of a scale or bias.
    float_bytes: usize,
}

impl Probe {
    /// What can be chosen for each group, for [`super::allocate()`]: every width and group size, with its bytes.
    pub fn choices(&self) -> Vec<Choice> {
        let of_group = |found: &Sensitivity| Choice {
            modules: found.group.modules.iter().map(|module| module.path.clone()).collect(),
            points: found.points(self.float_bytes),
        };
        self.groups.iter().map(of_group).chain(self.small.iter().cloned()).collect()
    }
}

impl Sensitivity {
    fn points(&self, float_bytes: usize) -> Vec<Point> {
        let point = |spec: QuantSpec| {
            let factor = match self.sizes.get(&spec.group_size) {
                None => 1.0,
                Some(of_size) => *of_size.get(&spec.bits)?,
            };
            let kl = self.kl.get(&spec.bits)?.iter().map(|kl| kl * factor).collect();
            Some(Point { spec, bytes: self.group.bytes(spec, float_bytes), kl })
        };
        self.group.specs().filter_map(point).collect()
    }
}

/// What readings of some of the texts have found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch(Vec<Sums>);

/// What is added up of a group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    /// By bits, text by text.
    compared: BTreeMap<usize, Vec<TextFigures>>,
    /// By bits, the errors of the sampled tokens, and how many these are.
    errors: BTreeMap<usize, f64>,
    tokens: usize,
    /// By group size, then by bits, the errors of the rounded weights.
    rounding: BTreeMap<usize, BTreeMap<usize, f64>>,
    /// Of the inputs by column, and how many vectors these are.
    squares: Vec<f32>,
    vectors: usize,
}

impl Sums {
    fn append(&mut self, bits: usize, texts: Vec<TextFigures>) {
        self.compared.entry(bits).or_default().extend(texts);
    }

    /// Adds what was found of further texts.
    fn merge(&mut self, other: Self) {
        other.compared.into_iter().for_each(|(bits, texts)| self.append(bits, texts));
        for (bits, errors) in other.errors {
            *self.errors.entry(bits).or_default() += errors;
        }
        self.tokens += other.tokens;
        for (size, errors) in other.rounding {
            let of_size = self.rounding.entry(size).or_default();
            errors.into_iter().for_each(|(bits, errors)| *of_size.entry(bits).or_default() += errors);
        }
        self.observe((other.squares, other.vectors));
    }

    /// Adds squares of inputs.
    fn observe(&mut self, (squares, vectors): (Vec<f32>, usize)) {
        self.squares.resize(squares.len().max(self.squares.len()), 0.0);
        self.squares.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
        self.vectors += vectors;
    }

    /// Mean squares of the inputs by column; `None` where they are not known, or not to count.
    fn importance(&self) -> Option<Vec<f32>> {
        (self.vectors > 0).then(|| self.squares.iter().map(|sum| sum / self.vectors as f32).collect())
    }

    /// By group size, then by bits, the errors of the rounded weights of those with the group size `measured`.
    fn sizes(&self, measured: usize) -> BTreeMap<usize, BTreeMap<usize, f64>> {
        let measured = self.rounding.get(&measured);
        let relative = |errors: &BTreeMap<usize, f64>| {
            let of_width = |(&bits, &error): (&usize, &f64)| {
                let of = measured.and_then(|errors| errors.get(&bits)).copied().unwrap_or_default();
                (bits, if of > 0.0 { error / of } else { 1.0 })
            };
            errors.iter().map(of_width).collect()
        };
        self.rounding.iter().map(|(&size, errors)| (size, relative(errors))).collect()
    }

    /// What the group costs; widths that no version had follow those that one had by the errors.
    fn sensitivity(&self, group: Group, bits: usize) -> Sensitivity {
        let local: BTreeMap<usize, f64> =
            self.errors.iter().map(|(&bits, sum)| (bits, sum / self.tokens.max(1) as f64)).collect();
        let kl = |texts: &Vec<TextFigures>| texts.iter().map(|text| text.kl).collect::<Vec<f64>>();
        let measured = self.compared.get(&bits).map(kl).unwrap_or_default();
        let at_bits = local.get(&bits).copied().unwrap_or_default();
        let costs = WIDTHS.into_iter().map(|width| {
            let in_proportion = || {
                let error = local.get(&width).copied().unwrap_or_default();
                let factor = if at_bits > 0.0 { error / at_bits } else { 0.0 };
                measured.iter().map(|kl| kl * factor).collect()
            };
            (width, self.compared.get(&width).map_or_else(in_proportion, kl))
        });
        let texts = self.compared.get(&bits).into_iter().flatten();
        let figures = Counts::figures(texts.map(|text| text.model));
        Sensitivity { kl: costs.collect(), sizes: self.sizes(group.group_size), group, local, figures }
    }
}

/// A probe in parts, each of which can be kept and need not be measured again.
#[derive(Debug)]
pub struct Probing<'a> {
    source: &'a Source,
    groups: Vec<Group>,
    bits: usize,
    /// Texts that are read together; each batch reads the model once.
    batches: Vec<&'a [Vec<u32>]>,
    /// Bytes of a scale or bias.
    float_bytes: usize,
}

impl<'a> Probing<'a> {
    /// Prepares to measure what it costs to quantize each group of the trunk to `bits` alone. `memory`: bytes that the
    /// versions of the texts may take; texts are read in as many batches as that asks for, at least one by one.
    pub fn new(
        source: &'a Source,
        texts: &'a [Vec<u32>],
        bits: usize,
        memory: u64,
    ) -> Result<Self, EngineError> {
        source.check(texts)?;
        if !WIDTHS.contains(&bits) {
            return Err(ObserveError::NoSuchWidth { bits }.into());
        }
        let groups = groups(&source.layout, source.config.layers.len());
        for module in groups.iter().flat_map(|group| &group.modules) {
            if let WeightKind::Quantized(spec) = module.weight.kind {
                let (path, spec) = (module.path.clone(), spec.to_string());
                return Err(ObserveError::Quantized { path, spec }.into());
            }
        }
        let float_bytes = source.layout.compute.dtype().bitsize() / 8;
        // One version of each group, the embedding at every width, the float model before and behind a layer.
        let versions = groups.len() + WIDTHS.len() + 2;
        let of_token =
            versions * source.config.hidden_size * float_bytes * if source.layout.has_mtp() { 2 } else { 1 };
        let batches = batches(texts, memory / of_token as u64);
        Ok(Self { source, groups, bits, batches, float_bytes })
    }

    /// How many there are.
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// Tokens of the longest one.
    pub fn most_tokens(&self) -> usize {
        let tokens = |batch: &&[Vec<u32>]| batch.iter().map(Vec::len).sum();
        self.batches.iter().map(tokens).max().unwrap_or(0)
    }

    /// Groups that are measured.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The fewest bytes of each group, of which nothing is measured, and what has 8 bits in any case.
    pub fn least(&self) -> Vec<Choice> {
        let of_group = |group: &Group| {
            let points = group.specs().map(|spec| {
                let bytes = group.bytes(spec, self.float_bytes);
                Point { spec, bytes, kl: Vec::new() }
            });
            Choice {
                modules: group.modules.iter().map(|module| module.path.clone()).collect(),
                points: points.min_by_key(|point| point.bytes).into_iter().collect(),
            }
        };
        self.groups.iter().map(of_group).chain(self.small(0)).collect()
    }

    /// What has 8 bits in any case, at no cost in so many texts.
    fn small(&self, texts: usize) -> impl Iterator<Item = Choice> {
        small(&self.source.layout, self.float_bytes).into_iter().map(move |(module, spec, bytes)| Choice {
            modules: vec![module.path],
            points: vec![Point { spec, bytes, kl: vec![0.0; texts] }],
        })
    }

    /// Measures one of them. `progress` hears of the layers in all batches, and of the output head behind each.
    pub fn measure(&self, batch: usize, progress: &mut LoadProgress<'_>) -> Result<Batch, EngineError> {
        let (index, all) = (batch as u64, self.batches.len() as u64);
        let mut told_of = |done: u64, layers: u64| progress(index * layers + done, all * layers);
        let mut sums = vec![Sums::default(); self.groups.len()];
        let texts = self.batches[batch];
        Pass { source: self.source, texts, groups: &self.groups, bits: self.bits }
            .run(&mut sums, &mut told_of)?;
        Ok(Batch(sums))
    }

    /// What all of them together have found, in their order.
    pub fn finish(self, batches: impl IntoIterator<Item = Batch>) -> Probe {
        let mut sums = vec![Sums::default(); self.groups.len()];
        for Batch(found) in batches {
            sums.iter_mut().zip(found).for_each(|(sums, found)| sums.merge(found));
        }
        let reference = sums.iter().find_map(|sums| sums.compared.get(&self.bits)).into_iter().flatten();
        let reference = Counts::figures(reference.map(|text| text.reference));
        let mut importance = Importance::default();
        for (group, sums) in self.groups.iter().zip(&sums) {
            if let Some(squares) = sums.importance() {
                group.modules.iter().for_each(|module| importance.insert(&module.path, squares.clone()));
            }
        }
        let small = self.small(self.batches.iter().map(|batch| batch.len()).sum()).collect();
        let groups = self.groups.into_iter().zip(&sums);
        Probe {
            bits: self.bits,
            reference,
            groups: groups.map(|(group, sums)| sums.sensitivity(group, self.bits)).collect(),
            importance,
            small,
            float_bytes: self.float_bytes,
        }
    }
}

/// A probe at once, see [`Probing`].
pub fn probe(
    source: &Source,
    texts: &[Vec<u32>],
    bits: usize,
    memory: u64,
    progress: &mut LoadProgress<'_>,
) -> Result<Probe, EngineError> {
    let probing = Probing::new(source, texts, bits, memory)?;
    let found = (0..probing.batches()).map(|batch| probing.measure(batch, progress));
    let found: Vec<Batch> = found.collect::<Result<_, _>>()?;
    Ok(probing.finish(found))
}

/// One reading of the model.
struct Pass<'a> {
    source: &'a Source,
    texts: &'a [Vec<u32>],
    groups: &'a [Group],
    bits: usize,
}

/// A version of the model: a group, by its index, with these bits.
struct Version {
    group: usize,
    bits: usize,
    stream: Stream,
}

impl Pass<'_> {
    /// How many of the first texts it takes to have [`SAMPLED`] tokens, or all.
    fn sampled(&self) -> usize {
        let sums = self.texts.iter().scan(0, |tokens, text| {
            *tokens += text.len();
            Some(*tokens)
        });
        self.texts.len().min(1 + sums.take_while(|tokens| *tokens < SAMPLED).count())
    }

    /// Reads the texts and adds to `sums` what each group costs.
    fn run(&self, sums: &mut [Sums], progress: &mut LoadProgress<'_>) -> Result<(), EngineError> {
        let layers = self.source.config.layers.len();
        // What all versions predict takes a while too.
        let parts = layers + 1;
        let tokens: usize = self.texts.iter().take(self.sampled()).map(Vec::len).sum();
        sums.iter_mut().for_each(|sums| sums.tokens += tokens);
        let (mut weights, rows) = self.source.embedding_of(self.texts)?;
        self.compare_sizes(&mut weights, Part::Embedding, sums)?;
        let mut float = Stream::embed(&weights.clone().embedding()?, &rows)?;
        let mut versions = Vec::new();
        for (group, bits) in self.versions(Part::Embedding) {
            let weights = self.quantized(weights.clone(), group, bits, &sums[group])?;
            let stream = Stream::embed(&weights.embedding()?, &rows)?;
            *sums[group].errors.entry(bits).or_default() += errors(&float.x[..self.sampled()], &stream.x)?;
            versions.push(Version { group, bits, stream });
        }
        drop(weights);
        for index in 0..layers {
            told(progress, index, parts)?;
            self.layer(index, &mut float, &mut versions, sums)?;
        }
        told(progress, layers, parts)?;
        self.end(float, versions, sums)?;
        told(progress, parts, parts)
    }

    /// Reads on through a layer, where the versions of its groups begin.
    fn layer(
        &self,
        index: usize,
        float: &mut Stream,
        versions: &mut Vec<Version>,
        sums: &mut [Sums],
    ) -> Result<(), EngineError> {
        let mut weights = self.source.part(Part::Layer(index))?;
        let eps = self.source.config.rms_norm_eps;
        let before = float.clone();
        self.observe(weights.clone(), index, &before, sums)?;
        self.compare_sizes(&mut weights, Part::Layer(index), sums)?;
        let layer = weights.clone().layer(index)?;
        let sample = before.with(before.x[..self.sampled()].to_vec());
        for stream in iter::once(&mut *float).chain(versions.iter_mut().map(|version| &mut version.stream)) {
            stream.x = stream.through(&layer, eps)?;
        }
        drop(layer);
        for (group, bits) in self.versions(Part::Layer(index)) {
            let layer = self.quantized(weights.clone(), group, bits, &sums[group])?.layer(index)?;
            let x =
                if bits == self.bits { before.through(&layer, eps)? } else { sample.through(&layer, eps)? };
            *sums[group].errors.entry(bits).or_default() += errors(&float.x[..self.sampled()], &x)?;
            if bits == self.bits {
                versions.push(Version { group, bits, stream: before.with(x) });
            }
        }
        Ok(())
    }

    /// Compares what all of them predict.
    fn end(&self, float: Stream, versions: Vec<Version>, sums: &mut [Sums]) -> Result<(), EngineError> {
        let end = End::read(self.source)?;
        let float = end.finish(&float)?;
        let (mut own_head, mut float_head, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for Version { group, bits, stream } in versions {
            let found = end.finish(&stream)?;
            if self.source.config.tied && self.groups[group].part == Part::Embedding {
                own_head.push((group, bits, found));
            } else {
                float_head.push((group, bits));
                outputs.push(found);
            }
        }
        drop(end);
        own_head.extend(self.versions(Part::OutputHead).map(|(group, bits)| (group, bits, float.clone())));

        let (source, texts, slabs) =
            (self.source, self.texts, slabs(&self.source.config).collect::<Vec<_>>());
        let inputs = Inputs::default();
        float.normed.iter().try_for_each(|normed| inputs.add(normed))?;
        for (group, _) in self.groups_of(Part::OutputHead) {
            sums[group].observe(inputs.squares()?);
            for rows in &slabs {
                self.compare_sizes(&mut source.head_rows(rows.clone())?, Part::OutputHead, sums)?;
            }
        }
        let head: &HeadRows<'_> = &|rows| in_f32(source.head_rows(rows)?);
        let compared = compare(&slabs, texts, (head, &float), (None, &outputs))?;
        for ((group, bits), comparison) in float_head.into_iter().zip(compared) {
            sums[group].append(bits, comparison.texts());
        }
        for (group, bits, found) in own_head {
            let found_of = &sums[group];
            let own: &HeadRows<'_> =
                &|rows| in_f32(self.quantized(source.head_rows(rows)?, group, bits, found_of)?);
            for comparison in compare(&slabs, texts, (head, &float), (Some(own), &[found]))? {
                sums[group].append(bits, comparison.texts());
            }
        }
        Ok(())
    }

    /// Groups of a part, by their indices, at each width.
    fn versions(&self, part: Part) -> impl Iterator<Item = (usize, usize)> {
        self.groups_of(part).flat_map(|(index, _)| WIDTHS.map(|bits| (index, bits)))
    }

    fn groups_of(&self, part: Part) -> impl Iterator<Item = (usize, &Group)> {
        self.groups.iter().enumerate().filter(move |(_, group)| group.part == part)
    }

    /// Adds up what the matrices of a layer are multiplied by.
    fn observe(
        &self,
        mut weights: PartWeights<'_>,
        index: usize,
        before: &Stream,
        sums: &mut [Sums],
    ) -> Result<(), EngineError> {
        // Those of a group have the same inputs.
        let first =
            |(index, group): (usize, &Group)| Some((index, weights.observe(&group.modules.first()?.path)));
        let inputs: Vec<(usize, Rc<Inputs>)> = self.groups_of(Part::Layer(index)).filter_map(first).collect();
        before.through(&weights.layer(index)?, self.source.config.rms_norm_eps)?;
        for (group, inputs) in inputs {
            sums[group].observe(inputs.squares()?);
        }
        Ok(())
    }

    /// Adds up how far the weights of a part's groups are from what they are rounded to, at every width and group size.
    fn compare_sizes(
        &self,
        weights: &mut PartWeights<'_>,
        part: Part,
        sums: &mut [Sums],
    ) -> Result<(), LoadError> {
        for (index, group) in self.groups_of(part).filter(|(_, group)| !group.other_sizes.is_empty()) {
            let importance = sums[index].importance();
            for module in &group.modules {
                let (weight, importance) = sample(weights.weight(&module.path)?, importance.as_deref())?;
                for spec in group.specs() {
                    let error = rounding(&weight, &importance, spec)?;
                    let of_size = sums[index].rounding.entry(spec.group_size).or_default();
                    *of_size.entry(spec.bits).or_default() += error;
                }
            }
        }
        Ok(())
    }

    /// The weights of a part with a group in so many bits.
    fn quantized<'a>(
        &self,
        mut weights: PartWeights<'a>,
        group: usize,
        bits: usize,
        found: &Sums,
    ) -> Result<PartWeights<'a>, LoadError> {
        let group = &self.groups[group];
        let importance = found.importance().map(|values| column_weights(&values)).transpose()?;
        for module in &group.modules {
            let spec = group.spec(bits);
            round(&mut weights, (group.part, &module.path), spec, importance.as_ref())?;
        }
        Ok(weights)
    }
}

/// f32 `[columns]`.
fn column_weights(values: &[f32]) -> mlx::Result<Array> {
    Array::from_slice(values, &[values.len() as i32])
}

/// Some rows of a matrix, or of a stack of them, spread over all, and how much their columns count, f32.
fn sample(weight: &Array, importance: Option<&[f32]>) -> mlx::Result<(Array, Array)> {
    let columns = weight.dim(-1);
    let rows = weight.reshape(&[-1, columns])?;
    let all = rows.dim(0) as usize;
    let taken = (SAMPLED_WEIGHTS / columns.max(1) as usize).clamp(1, all);
    let indices: Vec<usize> = (0..taken).map(|row| row * all / taken).collect();
    let sampled = if taken == all { rows } else { mlx::take_rows(&rows, &indices)? };
    let importance = match importance {
        Some(values) => column_weights(values)?,
        None => Array::scalar(1.0, Dtype::Float32)?,
    };
    Ok((sampled, importance))
}

/// Squared error of rounded weights, summed with the columns' importance.
fn rounding(weight: &Array, importance: &Array, spec: QuantSpec) -> mlx::Result<f64> {
    let (size, bits) = (spec.group_size as i32, spec.bits as i32);
    let parts = mlx::quantize(weight, size, bits, spec.mode)?;
    let rounded =
        mlx::dequantize(&parts[0], &parts[1], Some(&parts[2]), size, bits, spec.mode, Dtype::Float32)?;
    let off = weight.astype(Dtype::Float32)?.subtract(&rounded)?;
    let rows = off.multiply(&off)?.multiply(importance)?.sum(-1, false)?.to_vec::<f32>()?;
    Ok(rows.into_iter().map(f64::from).sum())
}

/// Sum over the tokens of the squared error of what is `found` in place of what was `expected`, relative to its square.
/// Texts that are expected and not found, or found and not expected, do not count.
fn errors(expected: &[Array], found: &[Array]) -> mlx::Result<f64> {
    let mut sum = 0.0;
    for (expected, found) in expected.iter().zip(found) {
        let (expected, found) = (expected.astype(Dtype::Float32)?, found.astype(Dtype::Float32)?);
        let squares = |x: &Array| x.multiply(x)?.sum(-1, false)?.to_vec::<f32>();
        let wrong = squares(&found.subtract(&expected)?)?;
        let relative = wrong.iter().zip(squares(&expected)?);
        sum += relative
            .filter(|(_, whole)| *whole > 0.0)
            .map(|(wrong, whole)| f64::from(wrong / whole))
            .sum::<f64>();
    }
    Ok(sum)
}
