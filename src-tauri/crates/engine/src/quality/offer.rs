//! What a model can be converted to, by what its groups of matrices were measured to cost.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use foretoken_protocol::ConversionSettings;
use serde::Serialize;
use serde_json::{Value, json};

use super::QualityError;
use super::aim::{Aim, Closeness};
use crate::checkpoint::{Files, Metadata, QuantSpec, is_mtp, is_small};
use crate::convert::{Conversion, ConvertError, Limits, Method, Plan};
use crate::error::EngineError;
use crate::observe::{Allocation, Choice, ObserveError, Source, allocate, head_modules, head_spec};

/// Bits of the MTP head until it is measured how many pay.
pub(super) const HEAD_BITS: Option<usize> = Some(4);
/// The fewest that it can have.
pub(super) const LEAST_HEAD_BITS: Option<usize> = Some(2);
/// Groups that are quantized together cost up to twice what they cost each alone.
const TOGETHER: f64 = 2.0;
/// Budgets between the smallest and the largest result of which an offer tells what they come to, these two included.
const BUDGETS: u64 = 12;
/// Halvings of a range of bytes, after which it is one byte.
const HALVINGS: u32 = 48;

/// Every plan that can be made for a model.
#[derive(Debug)]
pub(super) struct Offer {
    /// The model's fingerprint.
    source: u32,
    /// What can be chosen, and what is fixed.
    choices: Vec<Choice>,
    /// Matrices that are in none of the choices: those of the head, and those that stay as they are.
    others: BTreeMap<String, Option<QuantSpec>>,
    /// Bytes of everything but the choices.
    rest: u64,
    parameters: u64,
}

/// What a person can choose from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Offers {
    /// From the smallest to the largest; the three below are among them.
    pub points: Vec<Offered>,
    /// The smallest that is about as close as [`Closeness::Small`].
    pub small: Offered,
    /// The same for [`Closeness::Balanced`].
    pub balanced: Offered,
    /// The same for [`Closeness::Close`].
    pub close: Offered,
}

/// One way to convert a model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Offered {
    /// All tensors of the result.
    pub bytes: u64,
    /// The same for each parameter.
    pub bits_per_weight: f64,
    /// KL divergence from the original in nats a token, as the sum of what each group costs alone: good for choosing
    /// only, and rather too small.
    #[serde(rename = "expected_kl")]
    pub kl: f64,
}

impl Offer {
    /// What can be made in `out` of the model in `source`, with these choices, and with so many bits in its MTP
    /// head, or the head as it is.
    pub(super) fn new(
        source: &Path,
        out: &Path,
        settings: &ConversionSettings,
        choices: Vec<Choice>,
        head_bits: Option<usize>,
    ) -> Result<Self, EngineError> {
        let fingerprint = Metadata::read(source, Files::Whole)?.fingerprint()?;
        let weights = Source::read(source)?.layout.weights;
        let chosen = |path: &String| choices.iter().any(|choice| choice.modules.contains(path));
        // Of the head's routers the plan has a rule of its own.
        let others = weights.iter().filter(|(path, _)| !chosen(path) && (!is_mtp(path) || !is_small(path)));
        let mut others: BTreeMap<_, _> = others.map(|(path, _)| (path.clone(), None)).collect();
        for (path, weight) in head_modules(&weights) {
            others.insert(path.clone(), head_bits.and_then(|bits| head_spec(weight, bits)));
        }
        let mut offer = Self { source: fingerprint, choices, others, rest: 0, parameters: 0 };
        let least = allocate(&offer.choices, offer.least())?;
        let plan = (Arc::new(offer.of(&least, Value::Null)?), None);
        let smallest = Conversion::planned(source, out, plan, settings, None, Limits::default())?;
        offer.rest = smallest.bytes().saturating_sub(least.bytes);
        offer.parameters = smallest.parameters();
        Ok(offer)
    }

    /// What comes to what is wanted.
    pub(super) fn choose(&self, aim: Aim) -> Result<Allocation, EngineError> {
        match aim {
            Aim::Bits(bits) => self.within((bits * self.parameters as f64 / 8.0) as u64),
            Aim::Bytes(bytes) => self.within(bytes),
            Aim::Closeness(closeness) => self.as_close_as(closeness),
        }
    }

    /// Refuses what no choices come to.
    pub(super) fn reach(&self, aim: Aim) -> Result<(), EngineError> {
        match aim {
            Aim::Closeness(_) => Ok(()),
            aim => self.choose(aim).map(drop),
        }
    }

    /// The plan that comes to what is wanted, and what is expected of it, which goes into the plan beside what is
    /// `told`.
    pub(super) fn plan(&self, aim: Aim, told: Value) -> Result<(Plan, Offered), EngineError> {
        let allocation = self.choose(aim)?;
        let offered = self.offered(&allocation);
        let Offered { bytes, bits_per_weight, kl } = offered;
        let mut measured = told;
        measured["bytes"] = json!(bytes);
        measured["bits_per_weight"] = json!(bits_per_weight);
        measured["kl"] = json!(kl);
        Ok((self.of(&allocation, measured)?, offered))
    }

    /// Some results of all sizes, and those that have names.
    pub(super) fn offers(&self) -> Result<Offers, EngineError> {
        let named = |closeness| Ok::<_, EngineError>(self.offered(&self.as_close_as(closeness)?));
        let [small, balanced, close] =
            [named(Closeness::Small)?, named(Closeness::Balanced)?, named(Closeness::Close)?];
        let least = self.least();
        let most = allocate(&self.choices, self.most())?.bytes;
        let mut points = vec![small, balanced, close];
        for step in 0..BUDGETS {
            let budget = least + (most - least) * step / (BUDGETS - 1);
            points.push(self.offered(&allocate(&self.choices, budget)?));
        }
        points.sort_by_key(|point| point.bytes);
        points.dedup_by_key(|point| point.bytes);
        Ok(Offers { points, small, balanced, close })
    }

    fn offered(&self, allocation: &Allocation) -> Offered {
        let bytes = self.rest + allocation.bytes;
        Offered { bytes, bits_per_weight: 8.0 * bytes as f64 / self.parameters as f64, kl: allocation.kl }
    }

    /// The closest of no more than so many bytes.
    fn within(&self, bytes: u64) -> Result<Allocation, EngineError> {
        let least = self.rest + self.least();
        let found = allocate(&self.choices, bytes.saturating_sub(self.rest));
        found.map_err(|error| match error {
            ObserveError::BudgetTooSmall { .. } => {
                let bits = |bytes: u64| 8.0 * bytes as f64 / self.parameters as f64;
                QualityError::TooSmall { bytes, least, bits: bits(bytes), least_bits: bits(least) }.into()
            }
            error => error.into(),
        })
    }

    /// The smallest that is likely to be as close as this; the closest of all where none is.
    fn as_close_as(&self, closeness: Closeness) -> Result<Allocation, EngineError> {
        let wanted = closeness.most_kl() / TOGETHER;
        let (mut least, mut most) = (self.least(), self.most());
        // The larger a budget, the closer.
        for _ in 0..HALVINGS {
            let middle = least.midpoint(most);
            match allocate(&self.choices, middle)?.kl <= wanted {
                true => most = middle,
                false => least = middle + 1,
            }
            if least >= most {
                break;
            }
        }
        Ok(allocate(&self.choices, most)?)
    }

    fn of(&self, allocation: &Allocation, measured: Value) -> Result<Plan, EngineError> {
        let chosen = allocation.modules.iter().map(|(path, spec)| (path.clone(), Some(*spec)));
        let modules = self.others.clone().into_iter().chain(chosen).collect();
        Ok(Plan::new(self.source, modules, Method::Fit, measured).map_err(ConvertError::Plan)?)
    }

    fn least(&self) -> u64 {
        self.sum(|bytes| bytes.min())
    }

    fn most(&self) -> u64 {
        self.sum(|bytes| bytes.max())
    }

    fn sum(&self, of: impl Fn(&mut dyn Iterator<Item = u64>) -> Option<u64>) -> u64 {
        let of_choice = |choice: &Choice| of(&mut choice.points.iter().map(|point| point.bytes)).unwrap_or(0);
        self.choices.iter().map(of_choice).sum()
    }
}
