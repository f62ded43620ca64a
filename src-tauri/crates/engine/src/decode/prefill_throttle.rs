//! How much prefill, and how much swapping of rows, is done between two decode steps, so that rows that decode are held
//! up neither for long at a time nor for more than half of the time.

use std::time::Duration;

/// Weight of the newest measurement in the running average of a prompt's layer time.
const NEWEST: f64 = 0.3;
/// The largest factor by which one measurement counts as faster or slower than the average.
const INNOVATION: f64 = 2.0;

/// Decides how many layers of a prompt are read, and for how long rows are swapped, between two steps: for no longer
/// than `max_stall` at a time, and over time for no longer than the steps themselves take.
///
/// The unit is one layer over one chunk of tokens. A smaller chunk would change the rounding of what is read, and so
/// would let a row's text depend on its company; where a chunk's layers are interrupted changes nothing.
#[derive(Debug, Clone)]
pub(super) struct PrefillThrottle {
    /// The longest that rows may be held up at a time, in seconds.
    max_stall: f64,
    /// The layer time that was measured last, of whichever prompt.
    latest: LayerTime,
    /// Seconds that steps took and prefill has not used yet.
    balance: f64,
}

/// Seconds of one layer over one token. Each prompt has its own: the further it has been read, the longer attention
/// takes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LayerTime(Option<f64>);

impl LayerTime {
    fn observe(&mut self, newest: f64) {
        self.0 = Some(match self.0 {
            Some(layer) => layer + NEWEST * (newest.clamp(layer / INNOVATION, layer * INNOVATION) - layer),
            None => newest,
        });
    }
}

impl PrefillThrottle {
    pub(super) fn new(max_stall: Duration) -> Self {
        Self { max_stall: max_stall.as_secs_f64(), latest: LayerTime::default(), balance: 0.0 }
    }

    /// The layer time that a prompt is assumed to have before anything of it was read.
    pub(super) fn expected(&self) -> LayerTime {
        self.latest
    }

    /// Layers to read now over a chunk of `tokens`; none where reading is ahead of the steps. `decoding`: whether rows
    /// wait for a step; where none do, the stall only bounds how long a cancellation waits.
    pub(super) fn layers(&self, layer: LayerTime, tokens: usize, decoding: bool) -> usize {
        match (self.allowed(decoding), layer.0) {
            (None, _) => 0,
            (Some(allowed), Some(layer)) => {
                ((allowed.as_secs_f64() / (layer * tokens as f64)) as usize).max(1)
            }
            (Some(_), None) => 1,
        }
    }

    /// How long running rows may be held up now; `None` where they have been held up for longer than the steps since
    /// then took.
    pub(super) fn allowed(&self, decoding: bool) -> Option<Duration> {
        let seconds = match decoding {
            true if self.balance < 0.0 => return None,
            true => self.max_stall.min(self.balance),
            false => self.max_stall,
        };
        Some(Duration::from_secs_f64(seconds))
    }

    /// Takes note of time that swapping rows, or reading, took.
    pub(super) fn record_swap(&mut self, took: Duration, decoding: bool) {
        if decoding {
            self.balance -= took.as_secs_f64();
        }
    }

    /// Takes note of the time that `layers` layers over a chunk of `tokens` took, and learns the layer time of the
    /// prompt from it.
    pub(super) fn record_prefill(
        &mut self,
        layer: &mut LayerTime,
        layers: usize,
        tokens: usize,
        took: Duration,
        decoding: bool,
    ) {
        let seconds = took.as_secs_f64();
        layer.observe((seconds / (layers * tokens) as f64).max(f64::MIN_POSITIVE));
        self.latest = *layer;
        self.record_swap(took, decoding);
    }

    /// Takes note of a step, which allows for as much reading as it took itself; what is not used is not saved up for
    /// longer stalls.
    pub(super) fn record_step(&mut self, took: Duration) {
        self.balance = (self.balance + took.as_secs_f64()).min(self.max_stall);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads while rows decode: seconds of reading, seconds of steps, the longest stall. Two prompts take turns, whose
    /// layers take this many seconds a token.
    fn alternate(layers: [f64; 2], tokens: usize, step: f64, max_stall: f64) -> (f64, f64, f64) {
        let mut throttle = PrefillThrottle::new(Duration::from_secs_f64(max_stall));
        let mut prefills = layers.map(|layer| (layer, LayerTime::default()));
        let (mut reading, mut stepping, mut longest) = (0.0, 0.0, 0.0f64);
        for _ in 0..1000 {
            let (layer, known) = &mut prefills[0];
            let count = throttle.layers(*known, tokens, true);
            if count > 0 {
                let took = *layer * (count * tokens) as f64;
                throttle.record_prefill(known, count, tokens, Duration::from_secs_f64(took), true);
                reading += took;
                longest = longest.max(took);
                prefills.swap(0, 1);
            }
            throttle.record_step(Duration::from_secs_f64(step));
            stepping += step;
        }
        (reading, stepping, longest)
    }

    #[test]
    fn reading_takes_half_of_the_time_in_slices_below_the_stall() {
        for (layer, step) in [(1e-6, 0.03), (1e-5, 0.03), (8e-5, 0.03), (8e-5, 0.5)] {
            let (reading, stepping, longest) = alternate([layer; 2], 512, step, 0.2);
            assert!(reading <= 1.01 * stepping, "{layer}, {step}: {reading} of {stepping}");
            assert!(longest <= 0.2f64.max(layer * 512.0), "{layer}, {step}: {longest}");
            let possible = step.min(0.2) / step;
            assert!(reading > 0.8 * possible * stepping, "{layer}, {step}: {reading} of {stepping}");
        }
    }

    #[test]
    fn a_prompt_that_is_far_on_does_not_borrow_the_speed_of_one_that_begins() {
        let (_, _, longest) = alternate([1e-6, 2e-5], 512, 0.5, 0.2);
        assert!(longest <= 0.2, "{longest}");
    }

    #[test]
    fn without_rows_that_wait_reading_never_pauses() {
        let mut throttle = PrefillThrottle::new(Duration::from_millis(200));
        let mut layer = throttle.expected();
        throttle.record_prefill(&mut layer, 1, 512, Duration::from_millis(40), true);
        assert_eq!((throttle.layers(layer, 512, true), throttle.layers(layer, 512, false)), (0, 5));
        assert_eq!(throttle.layers(throttle.expected(), 128, false), 20);
    }

    #[test]
    fn one_long_slice_does_not_stop_reading() {
        let mut throttle = PrefillThrottle::new(Duration::from_millis(200));
        let mut layer = throttle.expected();
        throttle.record_prefill(&mut layer, 1, 512, Duration::from_millis(10), false);
        throttle.record_prefill(&mut layer, 1, 512, Duration::from_secs(10), false);
        assert!(throttle.layers(layer, 512, false) >= 15);
    }
}
