//! The figures of all runs as one report.

use std::collections::BTreeMap;

use foretoken_protocol::{Counters, MAX_DEPTH, PositionStats, TextKind};
use serde::Serialize;

use super::auto::{self, Auto};
use super::ring::RingFigures;
use super::rows::{self, Rows};
use super::second_turn::SecondTurn;
use super::spread::{Spread, all_positions, median, spread, spread_of_known};
use super::tower::Tower;
use super::{Bench, Decoded, Run, Text, TextRun};
use crate::decode::{DrafterKind, HeadInput, PassTimes, PolicyState};
use crate::error::EngineError;
use crate::mlx;

/// All figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The model's name.
    pub model: String,
    /// Data type or quantization of its weights.
    pub format: String,
    /// What computed: metal, cuda or cpu.
    pub device: &'static str,
    /// Runs that count.
    pub runs: usize,
    /// Length of the prompt whose reading was timed.
    pub prompt_tokens: usize,
    /// Tokens decoded behind each prompt in each way.
    pub gen_tokens: usize,
    /// Rate of right drafts, where known ones stood in for the head's.
    pub forced_acceptance: Option<f64>,
    /// From the folder to a model that can be asked.
    pub load_seconds: Spread,
    /// Looking at the pictures of the question; `None` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tower: Option<Tower>,
    /// Reading a prompt of ordinary tokens.
    pub prefill_tokens_per_second: Spread,
    /// The most memory that arrays held while reading and decoding.
    pub peak_memory_bytes: Spread,
    /// The first token of a second turn, with the first in the prefix cache and without.
    pub second_turn: Option<SecondTurn>,
    /// A pass of the network over some tokens of a row, drafts not included, by their number.
    pub widths: Vec<Width>,
    /// Decoding, for each kind of text.
    pub texts: Vec<TextFigures>,
    /// Milliseconds of one pass of the draft model; `None` where none was loaded.
    pub block_milliseconds: Option<Spread>,
    /// Plain decoding, by the number of rows in a step.
    pub rows: Vec<Rows>,
    /// What all runs took of the prefix cache and of probes, where drafts pay and in second turns.
    pub counters: Counters,
    /// Primitives of a plain step of one row, by name.
    pub primitives: BTreeMap<String, usize>,
    /// Kernels that steps of one row hand to a GPU of Apple, by their drafts, up to three: counted from their graphs.
    pub dispatches: Vec<usize>,
    /// MLX's settings that are in effect.
    pub environment: Vec<(&'static str, String)>,
    /// The machines that compute it together; `None` where this one computes alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingFigures>,
}

/// Decoding texts of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextFigures {
    /// Which kind it is.
    pub kind: TextKind,
    /// What the MTP head reads of the pictures in the question; `None` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_input: Option<HeadInput>,
    /// Tokens decoded in each way in each run, behind all prompts of the kind.
    pub tokens: usize,
    /// With the MTP head, by depth.
    pub depths: Vec<Depth>,
    /// With the draft model, by depth.
    pub dflash: Vec<Depth>,
    /// With drafts where they pay; `None` where nobody drafts.
    pub auto: Option<Auto>,
    /// With what look-up finds, where it pays; `None` where drafts are known ones.
    pub lookup: Option<Auto>,
}

/// What a pass over this many tokens takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Width {
    /// Tokens in the pass.
    pub width: usize,
    /// Milliseconds of one pass.
    pub milliseconds: Spread,
    /// In units of a pass over one token.
    pub relative: Spread,
    /// The medians of the pass and of drafting all its tokens but one, in the same units.
    pub with_drafts: Option<f64>,
}

/// Decoding with this many drafts a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Depth {
    /// Drafts a step.
    pub depth: usize,
    /// Decoded tokens per second.
    pub tokens_per_second: Spread,
    /// Over plain decoding in the same run; `None` where that was not measured.
    pub speed_up: Option<Spread>,
    /// Decoded tokens per step.
    pub tokens_per_pass: Spread,
    /// Milliseconds of a whole step.
    pub step_milliseconds: Spread,
    /// Milliseconds of waiting for a step's drafts, timed in some steps; `None` where no step was.
    pub draft_milliseconds: Option<Spread>,
    /// Milliseconds that the host takes to build a step and to handle its results.
    pub host_milliseconds: Spread,
    /// Milliseconds of a step in which the device has nothing to do, since the host has not given it anything yet or is
    /// handling its results.
    pub idle_milliseconds: Spread,
    /// The host's part of a step's time, 0 to 1.
    pub host_share: Spread,
    /// Primitives in the graph of a step with all its drafts.
    pub primitives: usize,
    /// Drafts by their place in the chain, over all runs.
    pub positions: Vec<PositionStats>,
}

impl Bench<'_> {
    /// Over all runs.
    fn counters(runs: &[Run]) -> Counters {
        let mut all = Counters::default();
        for run in runs {
            let chosen = run.texts.iter().flat_map(|text| [&text.auto, &text.lookup]);
            let counters = chosen.filter_map(|chosen| chosen.as_ref().map(|decoded| decoded.counters));
            counters.chain(run.second_turn.map(|timed| timed.counters)).for_each(|counters| all += counters);
        }
        all
    }

    pub(super) fn report(
        &self,
        load_seconds: Spread,
        figures: &PolicyState,
        runs: &[Run],
    ) -> Result<Report, EngineError> {
        let over_runs = |pick: &dyn Fn(&Run) -> f64| spread(runs.iter().map(pick));
        let widths = runs.first().map_or(&[][..], |run| &run.times.passes).iter().enumerate();
        let widths = widths.map(|(i, &(width, _))| Width {
            width,
            milliseconds: over_runs(&|run| 1e3 * run.times.passes[i].1),
            relative: over_runs(&|run| run.times.passes[i].1 / run.times.passes[0].1),
            // The head drafts no more than that.
            with_drafts: figures.times_as_long(width - 1).filter(|_| width <= 1 + usize::from(MAX_DEPTH)),
        });
        let primitives: Vec<usize> = self
            .plans
            .iter()
            .map(|&plan| Ok(self.primitives(plan)?.values().sum()))
            .collect::<Result<_, EngineError>>()?;
        let texts = self.texts.iter().enumerate().map(|(i, text)| {
            let runs: Vec<&TextRun> = runs.iter().map(|run| &run.texts[i]).collect();
            self.text_figures(text, figures, &primitives, &runs)
        });
        Ok(Report {
            model: self.session.info.name.clone(),
            format: self.session.info.format.clone(),
            device: mlx::device().name(),
            runs: runs.len(),
            prompt_tokens: self.options.prompt_tokens,
            gen_tokens: self.options.gen_tokens,
            forced_acceptance: self.options.force_acceptance,
            load_seconds,
            tower: Tower::over(
                self.any_prompt(),
                &runs.iter().filter_map(|run| run.looked).collect::<Vec<_>>(),
            ),
            prefill_tokens_per_second: over_runs(&|run| run.prefill_tokens_per_second),
            peak_memory_bytes: over_runs(&|run| run.peak_memory_bytes),
            second_turn: SecondTurn::over(runs.iter().filter_map(|run| run.second_turn)),
            widths: widths.collect(),
            texts: texts.collect(),
            block_milliseconds: spread_of_known(runs.iter().filter_map(|run| Some(1e3 * run.times.block?))),
            rows: rows::report(runs.iter().map(|run| run.rows.as_slice())),
            counters: Self::counters(runs),
            primitives: self.primitives(0.into())?,
            dispatches: self.dispatches()?,
            environment: mlx::environment::in_effect(),
            ring: None,
        })
    }

    /// Over all runs of a text. `primitives`: of a step, in the order of the plans.
    fn text_figures(
        &self,
        text: &Text,
        figures: &PolicyState,
        primitives: &[usize],
        runs: &[&TextRun],
    ) -> TextFigures {
        let plain = self.plans.iter().position(|plan| plan.depth == 0);
        let figures_of = |i: usize| -> Depth {
            let over_runs = |pick: &dyn Fn(&TextRun) -> f64| spread(runs.iter().map(|&run| pick(run)));
            let of_plan = |pick: &dyn Fn(&Decoded) -> f64| over_runs(&|run| pick(&run.plans[i]));
            let draft = spread_of_known(runs.iter().filter_map(|run| run.plans[i].draft_milliseconds()));
            Depth {
                depth: self.plans[i].depth,
                tokens_per_second: of_plan(&Decoded::tokens_per_second),
                speed_up: plain.map(|plain| {
                    over_runs(&|run| run.plans[i].tokens_per_second() / run.plans[plain].tokens_per_second())
                }),
                tokens_per_pass: of_plan(&|decoded| decoded.ids.len() as f64 / decoded.steps as f64),
                step_milliseconds: of_plan(&|decoded| decoded.median_of(|timing| timing.total)),
                draft_milliseconds: draft,
                host_milliseconds: of_plan(&|decoded| decoded.median_of(|timing| timing.host)),
                idle_milliseconds: of_plan(&|decoded| decoded.median_of(|timing| timing.idle)),
                host_share: of_plan(&|decoded| {
                    decoded.median_of(|timing| timing.host) / decoded.median_of(|timing| timing.total)
                }),
                primitives: primitives[i],
                positions: all_positions(runs.iter().map(|run| &run.plans[i].positions)),
            }
        };
        let figures_by = |drafter| {
            let own = (0..self.plans.len()).filter(|&i| self.plans[i].drafter == drafter);
            own.map(figures_of).collect()
        };
        let of_model = if self.model().mtp.is_some() { DrafterKind::Head } else { DrafterKind::Dflash };
        TextFigures {
            kind: text.kind,
            head_input: text.head_input,
            tokens: text.prompts.len() * self.options.gen_tokens,
            depths: figures_by(DrafterKind::Head),
            dflash: figures_by(DrafterKind::Dflash),
            auto: auto::report(runs, |run| run.auto.as_ref(), plain, &|| figures.why_not(of_model)),
            lookup: auto::report(runs, |run| run.lookup.as_ref(), plain, &|| None),
        }
    }
}

/// What passes took in most runs.
pub(super) fn medians(runs: &[Run]) -> PassTimes {
    let widths = runs.first().map_or(&[][..], |run| &run.times.passes).iter().enumerate();
    let over_runs =
        |pick: &dyn Fn(&PassTimes) -> f64| median(runs.iter().map(|run| pick(&run.times)).collect());
    let passes = widths.map(|(i, &(width, _))| (width, over_runs(&|times| times.passes[i].1))).collect();
    let of_known = |pick: &dyn Fn(&PassTimes) -> Option<f64>| {
        let known: Vec<f64> = runs.iter().filter_map(|run| pick(&run.times)).collect();
        (!known.is_empty()).then(|| median(known))
    };
    PassTimes { passes, draft: of_known(&|times| times.draft), block: of_known(&|times| times.block) }
}
