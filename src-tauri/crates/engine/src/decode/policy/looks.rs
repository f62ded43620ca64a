//! Steps that are made to learn.

use super::choice::Plan;
use super::cost::{RECENT, Told};

/// While drafts pay, one in so many steps does without them, so that the comparison holds.
const PLAIN_INTERVAL: u32 = 24;
/// Share of the time that all other looks may lose, but for those that follow a surprise.
const EXPLORATION: f64 = 0.0075;
/// Looks at each rival when the machine is not what it was, whenever there is such a rival.
const REPEATED: u32 = 3;
/// Steps before the first of them, so that most of those that it is compared with are the new machine's.
const PAUSE: u32 = RECENT as u32 / 2 + 1;

/// Other steps than the chosen one: without drafts, with one less, with one more; where no drafts pay, the best ones and
/// a single one. They keep the comparison true, and the last two also tell whether such drafts would be right.
pub(super) type Rivals = [Option<Plan>; 3];

/// When a step is made with other drafts than those that pay.
#[derive(Debug, Clone)]
pub(super) struct Looks {
    /// Looks at each rival that are to be made.
    due: [u32; 3],
    /// Steps until one may be made.
    pause: u32,
    /// Steps since the last look, and since the last one without drafts.
    since: u32,
    since_plain: u32,
    /// Seconds that looks at other drafts may lose now.
    savings: f64,
    /// Which of them was last.
    last: usize,
    /// The step at hand, if it is a look: the rival, and what each of its tokens is worth in seconds, if that counts.
    look: Option<(usize, f64)>,
}

impl Default for Looks {
    /// What was measured a moment ago needs no look: it begins with the largest debt.
    fn default() -> Self {
        let savings = f64::NEG_INFINITY;
        Self { due: [0; 3], pause: 0, since: 0, since_plain: 0, savings, last: 0, look: None }
    }
}

impl Looks {
    /// The look that is made instead of the `chosen` step, if one is.
    pub(super) fn next(&mut self, mut rivals: Rivals, chosen: &Plan) -> Option<Plan> {
        let worth = 1.0 / chosen.rate();
        (self.since, self.since_plain) = (self.since + 1, self.since_plain + 1);
        if self.since_plain >= PLAIN_INTERVAL {
            self.demand(0);
        }
        let turns = if self.last == 1 { [2, 1] } else { [1, 2] };
        if let Some((next, plan)) = turns.into_iter().find_map(|next| Some((next, rivals[next].as_ref()?))) {
            // A pause of the machine during a look must not keep the next ones from theirs.
            self.savings = self.savings.clamp(-chosen.seconds, chosen.seconds) + EXPLORATION * chosen.seconds;
            // However dear it is believed to be, it is affordable some day: the belief may be wrong.
            let loss = (plan.seconds - plan.tokens * worth).min(chosen.seconds);
            if self.since > RECENT as u32 && loss <= self.savings {
                self.demand(next);
            }
        }
        // The steps in between tell what it is compared with.
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        let due = (0..rivals.len()).rev().filter(|&rival| self.due[rival] > 0 && rivals[rival].is_some());
        let rival = due.max_by_key(|&rival| self.due[rival])?;
        let plan = rivals[rival].take()?;
        self.due[rival] -= 1;
        (self.pause, self.since) = (1, 0);
        if rival == 0 {
            self.since_plain = 0;
        } else {
            self.last = rival;
        }
        self.look = Some((rival, worth));
        Some(plan)
    }

    /// A step has ended that emitted so many tokens, a look or not. A look that surprises is repeated; another machine is
    /// looked at from all sides.
    pub(super) fn observe(&mut self, tokens: usize, told: Told) {
        if let Some((rival, worth)) = self.look.take() {
            if rival > 0 && !told.width {
                self.savings -= told.seconds - tokens as f64 * worth;
            }
            if told.width {
                self.demand(rival);
            }
        }
        if told.machine {
            (self.due, self.pause) = ([REPEATED; 3], PAUSE);
        }
    }

    fn demand(&mut self, rival: usize) {
        self.due[rival] = self.due[rival].max(1);
    }
}
