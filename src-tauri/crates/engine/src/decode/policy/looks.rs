//! Steps that are made to learn.

use super::choice::Plan;
use super::cost::{RECENT, Told};

/// While drafts pay, one in so many steps does without them, so that the comparison holds.
const PLAIN_INTERVAL: u32 = 24;
/// Share of the time that all other looks may lose, but for those that follow a surprise.
const EXPLORATION: f64 = 0.0075;

/// Other steps than the chosen one: without drafts, with one less, with one more; where no drafts pay, the best ones.
/// They keep the comparison true, and the last two also tell whether such drafts would be right.
pub(super) type Rivals = [Option<Plan>; 3];

/// When a step is made with other drafts than those that pay.
#[derive(Debug, Clone)]
pub(super) struct Looks {
    /// Rivals whose turn it is.
    due: [bool; 3],
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
        let due = [false; 3];
        Self { due, since: 0, since_plain: 0, savings: f64::NEG_INFINITY, last: 0, look: None }
    }
}

impl Looks {
    /// The look that is made instead of the `chosen` step, if one is.
    pub(super) fn next(&mut self, mut rivals: Rivals, chosen: &Plan) -> Option<Plan> {
        let worth = 1.0 / chosen.rate();
        (self.since, self.since_plain) = (self.since + 1, self.since_plain + 1);
        self.due[0] |= self.since_plain >= PLAIN_INTERVAL;
        let next =
            if self.last == 1 { [2, 1] } else { [1, 2] }.into_iter().find(|&rival| rivals[rival].is_some());
        if let Some((next, plan)) = next.and_then(|next| Some((next, rivals[next].as_ref()?))) {
            // A pause of the machine during a look must not keep the next ones from theirs.
            self.savings = self.savings.clamp(-chosen.seconds, chosen.seconds) + EXPLORATION * chosen.seconds;
            // However dear it is believed to be, it is affordable some day: the belief may be wrong.
            let loss = (plan.seconds - plan.tokens * worth).min(chosen.seconds);
            self.due[next] |= self.since > RECENT as u32 && loss <= self.savings;
        }
        // The steps in between tell what it is compared with.
        if self.since == 1 {
            return None;
        }
        let rival = (0..rivals.len()).find(|&rival| self.due[rival] && rivals[rival].is_some())?;
        (self.due[rival], self.since) = (false, 0);
        if rival == 0 {
            self.since_plain = 0;
        } else {
            self.last = rival;
        }
        self.look = Some((rival, worth));
        rivals[rival].take()
    }

    /// A step has ended that emitted so many tokens, a look or not. A look that surprises is repeated; another machine is
    /// looked at from all sides.
    pub(super) fn observe(&mut self, tokens: usize, told: Told) {
        if let Some((rival, worth)) = self.look.take() {
            if rival > 0 && !told.width {
                self.savings -= told.seconds - tokens as f64 * worth;
            }
            self.due[rival] |= told.width;
        }
        if told.machine {
            self.due = [true; 3];
        }
    }
}
