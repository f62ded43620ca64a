use std::time::Duration;

/// The deepest chain that the policy tries by itself.
const MAX_AUTO_DEPTH: usize = 3;

/// Weight of the newest step in the running averages.
const NEWEST: f64 = 0.1;
/// Steps that each depth gets before the policy trusts its figures.
const TRIAL_STEPS: u32 = 4;
/// One draft first: it is the most likely to pay.
const TRIAL_ORDER: [usize; MAX_AUTO_DEPTH + 1] = [1, 0, 2, 3];
/// Another depth must promise this much more before the policy changes.
const HYSTERESIS: f64 = 1.03;
/// Steps until the first look at another depth; doubled each time the look changes nothing.
const FIRST_PROBE: u32 = 32;
const LAST_PROBE: u32 = 128;
/// A step counts for at most this many times the average of its depth: a machine that paused says nothing about drafts.
const SPIKE: f64 = 2.0;
/// Steps of such a look.
const PROBE_STEPS: u32 = 2;

/// Chooses how many drafts a step uses: the depth with the most expected tokens per second, none included, by what
/// steps of each depth took on this machine and how often drafts were right at each position.
#[derive(Debug, Clone)]
pub struct DepthPolicy {
    /// Seconds of a step by depth.
    cost: [Average; MAX_AUTO_DEPTH + 1],
    /// Whether a depth was ever used: its first step may compile kernels and is not counted.
    warm: [bool; MAX_AUTO_DEPTH + 1],
    /// Share of right drafts by position, given that all before were right.
    accepted: [Average; MAX_AUTO_DEPTH],
    current: usize,
    probe: Option<(usize, u32)>,
    until_probe: u32,
    interval: u32,
    next_rival: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Average {
    value: f64,
    count: u32,
}

impl Average {
    fn add(&mut self, value: f64) {
        self.count += 1;
        // The plain mean until there are enough figures for the running one.
        self.value += (value - self.value) * NEWEST.max(1.0 / f64::from(self.count));
    }
}

impl Default for DepthPolicy {
    fn default() -> Self {
        Self {
            cost: Default::default(),
            warm: Default::default(),
            accepted: Default::default(),
            current: 1,
            probe: None,
            until_probe: FIRST_PROBE,
            interval: FIRST_PROBE,
            next_rival: 0,
        }
    }
}

impl DepthPolicy {
    /// The depth of the next step.
    pub fn depth(&self) -> usize {
        if let Some(untried) = self.untried() {
            return untried;
        }
        self.probe.map_or(self.current, |(depth, _)| depth)
    }

    /// Learns from a step.
    pub fn observe(&mut self, drafted: usize, accepted: usize, took: Duration) {
        if drafted > MAX_AUTO_DEPTH || !std::mem::replace(&mut self.warm[drafted], true) {
            return;
        }
        let scheduled = drafted == self.depth();
        let cost = &mut self.cost[drafted];
        let seconds = took.as_secs_f64();
        cost.add(if cost.count == 0 { seconds } else { seconds.min(SPIKE * cost.value) });
        for position in 0..drafted.min(accepted + 1) {
            self.accepted[position].add(if position < accepted { 1.0 } else { 0.0 });
        }
        if self.untried().is_some() {
            return;
        }
        // Steps at depths that somebody else chose teach costs, but do not use up the schedule.
        if scheduled {
            self.advance_schedule();
        }
        let best = (0..=MAX_AUTO_DEPTH).max_by(|&a, &b| self.rate(a).total_cmp(&self.rate(b))).unwrap_or(0);
        if best != self.current && self.rate(best) > HYSTERESIS * self.rate(self.current) {
            self.current = best;
            self.interval = FIRST_PROBE;
            self.until_probe = FIRST_PROBE;
        }
    }

    fn advance_schedule(&mut self) {
        if let Some((_, left)) = &mut self.probe {
            *left -= 1;
            if *left == 0 {
                self.probe = None;
            }
            return;
        }
        self.until_probe -= 1;
        if self.until_probe == 0 {
            let next = (self.next_rival + 1) % (MAX_AUTO_DEPTH + 1);
            self.next_rival = if next == self.current { (next + 1) % (MAX_AUTO_DEPTH + 1) } else { next };
            self.probe = Some((self.next_rival, PROBE_STEPS));
            self.interval = (self.interval * 2).min(LAST_PROBE);
            self.until_probe = self.interval;
        }
    }

    /// Why the policy does not draft; `None` while it does, or while that is being found out.
    pub fn note(&self) -> Option<String> {
        if self.current > 0 || self.untried().is_some() {
            return None;
        }
        let best = (1..=MAX_AUTO_DEPTH).max_by(|&a, &b| self.rate(a).total_cmp(&self.rate(b)))?;
        self.verdict(best)
    }

    /// Why `depth` drafts a step are slower than none; `None` where they are not, or where nobody knows.
    pub fn verdict(&self, depth: usize) -> Option<String> {
        let (plain, drafting) = (self.cost[0], self.cost.get(depth)?);
        if plain.count < TRIAL_STEPS || drafting.count < TRIAL_STEPS || self.rate(depth) > self.rate(0) {
            return None;
        }
        Some(format!(
            "Drafts do not pay here: a pass that checks {depth} takes {:.1} times as long as one without, and yields \
             {:.1} tokens.",
            drafting.value / plain.value,
            self.expected(depth)
        ))
    }

    /// A depth without enough figures.
    fn untried(&self) -> Option<usize> {
        TRIAL_ORDER.into_iter().find(|&depth| self.cost[depth].count < TRIAL_STEPS)
    }

    /// Expected tokens of a step: one, and each draft if it and all before it are right.
    fn expected(&self, depth: usize) -> f64 {
        let mut all_right = 1.0;
        1.0 + self.accepted[..depth]
            .iter()
            .map(|accepted| {
                all_right *= accepted.value;
                all_right
            })
            .sum::<f64>()
    }

    fn rate(&self, depth: usize) -> f64 {
        match self.cost[depth] {
            Average { count: 0, .. } => 0.0,
            cost => self.expected(depth) / cost.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the policy against a machine with the given step times and a drafter with the given acceptance.
    fn run(policy: &mut DepthPolicy, millis: [u64; 4], right: f64, steps: usize) -> [usize; 4] {
        let mut used = [0; 4];
        for i in 0..steps {
            let depth = policy.depth();
            used[depth] += 1;
            let mut accepted = 0;
            while accepted < depth && ((i * 4 + accepted) as f64 * 0.618_034).fract() < right {
                accepted += 1;
            }
            policy.observe(depth, accepted, Duration::from_millis(millis[depth]));
        }
        used
    }

    #[test]
    fn drafts_where_they_pay() {
        let mut policy = DepthPolicy::default();
        let used = run(&mut policy, [10, 12, 14, 16], 0.9, 400);
        assert!(used[3] > 320, "{used:?}");
        assert_eq!(policy.note(), None);
    }

    #[test]
    fn stops_and_says_why_where_they_do_not() {
        let mut policy = DepthPolicy::default();
        let used = run(&mut policy, [10, 20, 30, 40], 0.8, 400);
        assert!(used[0] > 360, "{used:?}");
        assert!(policy.note().unwrap().contains("do not pay"));
        assert!(policy.verdict(2).unwrap().contains("3.0 times as long"));
        assert_eq!(DepthPolicy::default().verdict(2), None);
    }

    #[test]
    fn a_pause_of_the_machine_is_soon_forgotten() {
        let mut policy = DepthPolicy::default();
        run(&mut policy, [10, 12, 14, 16], 0.9, 200);
        policy.observe(3, 3, Duration::from_secs(5));
        let used = run(&mut policy, [10, 12, 14, 16], 0.9, 400);
        assert!(used[3] > 300, "{used:?}");
    }

    #[test]
    fn the_first_step_of_a_depth_does_not_count() {
        let mut policy = DepthPolicy::default();
        for depth in TRIAL_ORDER {
            policy.observe(depth, depth, Duration::from_secs(1));
        }
        let used = run(&mut policy, [10, 12, 14, 16], 0.9, 400);
        assert!(used[3] > 320, "{used:?}");
    }

    #[test]
    fn steps_that_others_chose_leave_the_schedule_alone() {
        let mut policy = DepthPolicy::default();
        run(&mut policy, [10, 12, 14, 16], 0.0, 100);
        let before = policy.until_probe;
        for _ in 0..200 {
            policy.observe(2, 0, Duration::from_millis(14));
        }
        assert_eq!((policy.current, policy.until_probe), (0, before));
    }

    #[test]
    fn comes_back_when_drafts_start_to_pay() {
        let mut policy = DepthPolicy::default();
        run(&mut policy, [10, 12, 14, 16], 0.0, 300);
        assert_eq!(policy.current, 0);
        run(&mut policy, [10, 12, 14, 16], 0.95, 1000);
        assert!(policy.current > 0);
    }
}
