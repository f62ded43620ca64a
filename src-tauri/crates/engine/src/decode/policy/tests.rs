//! Simulated machines: what steps take by their width, how often drafts are right, noise; chance is a fixed sequence.

mod drafters;

use super::*;
use crate::decode::PassTimes;

/// Steps of which one is held up, so that its time does not count.
const TIMING_INTERVAL: usize = 16;
const AUTO: &[Drafting] = &[Drafting::Auto];
const BESIDE_OFF: &[Drafting] = &[Drafting::Auto, Drafting::Off];

/// A machine: what its steps take, and how often its drafts are right.
#[derive(Debug, Clone, Copy)]
struct Machine {
    /// Milliseconds of a step by its width, from 1; the last holds for all that are wider.
    passes: &'static [f64],
    /// Milliseconds of one draft of a chain, for one row; for more the head takes longer as the model does.
    draft: f64,
    /// Milliseconds of each place that a shorter row leaves empty.
    padding: f64,
    right: f64,
    /// The most by which a step's time differs from that, as a share of it.
    noise: f64,
    /// One step in so many takes ten times as long; 0 for none.
    stalls: usize,
    /// How many times as long everything takes because the machine does something else.
    load: f64,
    /// What a plain step takes that the device has before the last one was read, as a share of another; 0 where that
    /// cannot be.
    ahead: f64,
}

impl Machine {
    fn pass(&self, width: usize) -> f64 {
        self.load * self.passes[width.min(self.passes.len()) - 1]
    }

    /// Milliseconds of a step, without the draft model's.
    fn step(&self, shape: StepShape) -> f64 {
        let of_head = match shape.chain {
            0 => 0.0,
            chain => {
                let rows = shape.guesses as f64 / chain as f64;
                let (less, more) = (self.pass(rows as usize), self.pass(rows as usize + 1));
                chain as f64 * self.draft * (less + (more - less) * rows.fract()) / self.pass(1)
            }
        };
        self.pass(shape.width) + self.load * (of_head + self.padding * shape.padding() as f64)
    }

    /// Tokens per millisecond of so many rows with chains of `depth`.
    fn rate(&self, rows: usize, depth: usize) -> f64 {
        let tokens: f64 = (0..=depth as i32).map(|position| self.right.powi(position)).sum();
        rows as f64 * tokens / self.step(StepShape::of(&vec![depth.into(); rows]))
    }

    /// The highest rate of one row.
    fn best_rate(&self) -> f64 {
        (0..=usize::from(MAX_DEPTH)).map(|depth| self.rate(1, depth)).fold(0.0, f64::max)
    }

    /// What is measured of it when nothing else runs.
    fn measured(&self) -> PolicyState {
        let widths = [1, 2, 3, 4, 6, 8, 12, 16].map(|width| (width, self.pass(width) / 1e3));
        PolicyState::default().with_costs(PassTimes {
            passes: widths.into(),
            draft: Some(self.draft / 1e3),
            block: None,
        })
    }

    fn noisy(self) -> Self {
        Self { noise: 0.2, stalls: 100, ..self }
    }
}

/// What running rows on a machine came to.
#[derive(Debug, Default)]
struct Run {
    tokens: usize,
    milliseconds: f64,
    /// Steps by their longest chain.
    deepest: [usize; 9],
    /// Steps that the device had before the last one was read, and went on from to such a one.
    pipelined: usize,
    /// The longest step.
    longest: f64,
    /// What the steps would have taken without noise.
    expected_milliseconds: f64,
}

impl Run {
    /// Tokens per millisecond, noise left out.
    fn rate(&self) -> f64 {
        self.tokens as f64 / self.expected_milliseconds
    }

    /// Steps with drafts.
    fn drafting(&self) -> usize {
        self.deepest[1..].iter().sum()
    }
}

/// A number in 0..1 that looks like chance.
fn chance(step: usize, of: usize) -> f64 {
    let mixed = ((step as u64) << 20 | of as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    f64::from((mixed ^ mixed >> 32) as u32) / f64::from(u32::MAX)
}

/// What a step without drafts did.
fn plain(chat: Chat) -> RowOutcome {
    RowOutcome { chat, drafts: 0.into(), accepted: 0, lookup: None }
}

/// A policy at work. Chance goes on from run to run.
struct Simulation {
    policy: Policy,
    steps: usize,
    chats: u32,
    /// Whether the device has the next step already.
    begun: bool,
}

impl Simulation {
    /// The policy of a model that was just loaded.
    fn of(machine: Machine) -> Self {
        Self { policy: Policy::new(machine.measured()), steps: 0, chats: 0, begun: false }
    }

    /// New chats, a row each, for so many steps.
    fn run(&mut self, machine: Machine, rows: &[Drafting], steps: usize) -> Run {
        let chats: Vec<Chat> = rows.iter().map(|_| self.new_chat()).collect();
        let mut run = Run::default();
        for _ in 0..steps {
            self.step(machine, rows, &chats, &mut run);
        }
        run
    }

    fn new_chat(&mut self) -> Chat {
        self.chats += 1;
        self.policy.join(&[self.chats], &[])
    }

    fn step(&mut self, machine: Machine, rows: &[Drafting], chats: &[Chat], run: &mut Run) {
        let view = |(&drafting, &chat): (&Drafting, &Chat)| RowView {
            drafting,
            room: if drafting == Drafting::Off { 0 } else { 100 },
            head: usize::MAX,
            block: 0,
            lookup: None,
            chat,
        };
        let views: Vec<RowView> = rows.iter().zip(chats).map(view).collect();
        self.policy.set_can_be_told(machine.ahead > 0.0);
        let mut plans = self.policy.choose(&views);
        let was_begun = self.begun;
        if was_begun {
            self.policy.defer(&mut plans);
        }
        let depths: Vec<usize> = plans.iter().map(|plan| plan.depth).collect();
        assert_eq!(depths.len(), rows.len());
        let step = self.steps;
        self.steps += 1;
        let right = |row: usize, position: usize| chance(step, row * 16 + position + 16) < machine.right;
        let done: Vec<RowOutcome> = depths
            .iter()
            .enumerate()
            .map(|(row, &depth)| {
                let accepted = (0..depth).take_while(|&position| right(row, position)).count();
                RowOutcome { chat: chats[row], drafts: depth.into(), accepted, lookup: None }
            })
            .collect();
        let depth = depths.iter().copied().max().unwrap();
        let plans: Vec<DraftPlan> = depths.iter().map(|&depth| depth.into()).collect();
        let shape = StepShape::of(&plans);
        let timed = step % TIMING_INTERVAL == 1;
        self.begun = machine.ahead > 0.0 && self.policy.is_parked() && shape.width == rows.len() && !timed;
        let pipelined = was_begun && self.begun;
        let expected = machine.step(shape) * if pipelined { machine.ahead } else { 1.0 };
        let stalls = machine.stalls > 0 && chance(step, 1) < 1.0 / machine.stalls as f64;
        let noise = 1.0 + machine.noise * (2.0 * chance(step, 0) - 1.0);
        let factor = if stalls { 10.0 } else { noise };
        let took = Duration::from_secs_f64(expected * factor / 1e3);
        self.policy.observe(&StepView {
            rows: &done,
            shape,
            took: Some(took).filter(|_| !(timed || was_begun || self.begun)),
            caught_up: false,
            pipelined: Some(took).filter(|_| pipelined),
            in_company: false,
        });
        run.pipelined += usize::from(pipelined);
        run.tokens += rows.len() + done.iter().map(|row| row.accepted).sum::<usize>();
        run.milliseconds += expected * factor;
        run.expected_milliseconds += expected;
        run.deepest[depth] += 1;
        run.longest = run.longest.max(expected * factor);
    }
}

const fn machine(passes: &'static [f64], right: f64) -> Machine {
    Machine { passes, draft: 1.0, padding: 0.0, right, noise: 0.0, stalls: 0, load: 1.0, ahead: 0.0 }
}

/// A pass over four tokens costs little more than one over one.
const FLAT: Machine = machine(&[10.0, 10.5, 11.0, 11.5, 12.0, 12.5, 13.0, 13.5, 14.0], 0.9);
/// A slower machine, whose wider passes cost little more too.
const SLOW: Machine = machine(&[30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0], 0.6);
/// Each token costs the same.
const LINEAR: Machine = machine(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0], 0.6);
/// A long chat, in which drafts pay, and a short one, in which they do not.
const LONG: Machine = machine(&[40.0, 42.0, 44.0, 46.0, 48.0, 50.0, 52.0, 54.0, 56.0], 0.5);
const SHORT: Machine = machine(&[10.0, 16.0, 22.0, 28.0, 34.0, 40.0, 46.0, 52.0, 58.0], 0.5);
/// One stair, and nothing behind it.
const STAIR: Machine = machine(&[10.0, 18.0, 18.0, 18.0], 0.9);
/// Experts: each token wakes some more of them.
const EXPERTS: Machine = machine(&[10.0, 12.7, 16.0, 19.0, 21.0, 24.0, 28.0, 31.0, 34.0], 0.6);

#[test]
fn drafts_as_deep_as_pays() {
    for right in [0.5, 0.7, 0.9, 0.97] {
        for machine in [FLAT, STAIR, LONG, EXPERTS] {
            let machine = Machine { right, ..machine };
            let mut simulation = Simulation::of(machine);
            simulation.run(machine, AUTO, 300);
            let run = simulation.run(machine, AUTO, 600);
            let best = machine.best_rate();
            assert!(run.rate() > 0.93 * best, "{machine:?}: {} instead of {best}, {run:?}", run.rate());
        }
    }
}

#[test]
fn while_drafts_do_not_pay_steps_are_told_beforehand_and_probes_go_on() {
    let parked = Machine { ahead: 0.8, ..LINEAR };
    let mut simulation = Simulation::of(parked);
    let run = simulation.run(parked, AUTO, 1000);
    assert!(run.pipelined > 600, "{run:?}");
    assert!(run.drafting() >= 4 && run.drafting() < 30, "{run:?}");
    // Drafts are right all of a sudden, and cost little.
    let paying = Machine { ahead: 0.8, ..FLAT };
    let run = simulation.run(paying, AUTO, 600);
    let settled = simulation.run(paying, AUTO, 600);
    assert!(settled.rate() > 0.93 * paying.best_rate() && settled.pipelined < 10, "{run:?} {settled:?}");
    // Where they are not, and dear, it parks again.
    simulation.run(parked, AUTO, 600);
    assert!(simulation.run(parked, AUTO, 300).pipelined > 180);
}

/// Drafts gain a tenth over a step that nobody told beforehand, which is less than those gain that were told.
#[test]
fn drafts_are_compared_with_steps_that_are_told_beforehand() {
    let dear = Machine { ahead: 0.8, ..machine(&[10.0, 16.0, 22.0, 28.0, 34.0], 0.6) };
    let slightly_better = Machine { ahead: 0.8, ..machine(&[10.0, 13.5, 20.0, 28.0, 34.0], 0.6) };
    assert!(slightly_better.rate(1, 1) > 1.08 * slightly_better.rate(1, 0));
    let mut simulation = Simulation::of(dear);
    simulation.run(dear, AUTO, 600);
    simulation.run(slightly_better, AUTO, 600);
    let run = simulation.run(slightly_better, AUTO, 600);
    assert!(run.pipelined > 300 && run.drafting() < 40, "{run:?}");
    // Where a row cannot have them told, as one with a grammar, they pay.
    let alone = Machine { ahead: 0.0, ..slightly_better };
    simulation.run(alone, AUTO, 300);
    assert!(simulation.run(alone, AUTO, 600).drafting() > 400);
}

/// What follows an earlier occurrence may be drafted in each step, so none is told beforehand.
#[test]
fn no_step_is_told_beforehand_while_the_text_proposes_drafts_or_a_probe_is_due() {
    let mut simulation = Simulation::of(LINEAR);
    simulation.run(LINEAR, AUTO, 20);
    assert!(simulation.policy.is_parked());
    let chat = simulation.new_chat();
    let drafting = Drafting::Auto;
    let found = RowView { drafting, room: 9, head: 9, block: 0, lookup: Some((MatchClass::Short, 3)), chat };
    let mut plans = simulation.policy.choose(&[found]);
    simulation.policy.defer(&mut plans);
    assert!(plans.iter().all(|plan| plan.depth == 0) && !simulation.policy.is_parked());
}

#[test]
fn stops_and_says_why_where_drafts_do_not_pay() {
    let mut simulation = Simulation::of(LINEAR);
    let run = simulation.run(LINEAR, AUTO, 400);
    assert!(run.deepest[0] > 380, "{run:?}");
    let policy = &simulation.policy;
    let takes = |note: Option<DraftingNote>| match note {
        Some(DraftingNote::NotPaying { drafts, times_as_long, .. }) => {
            (drafts, format!("{times_as_long:.2}"))
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(takes(policy.note(false)), (1, "2.10".into()));
    // One figure, whoever asks.
    assert_eq!(policy.state().times_as_long(1).map(|times| format!("{times:.2}")).unwrap(), "2.10");
    assert_eq!(takes(policy.state().why_not(DrafterKind::Head)), (1, "2.10".into()));
    assert_eq!(takes(policy.state().verdict(2.into())), (2, "3.20".into()));
    assert_eq!(
        (PolicyState::default().verdict(2.into()), PolicyState::default().why_not(DrafterKind::Head)),
        (None, None)
    );
    assert_eq!(FLAT.measured().verdict(1.into()), None);
}

/// The first step at a width, or all steps of a first second, take many times as long as any other: drafts that pay are
/// made all the same, and nobody is told otherwise.
#[test]
fn slow_first_steps_decide_nothing() {
    for machine in [FLAT, LONG, Machine { right: 0.8, ..EXPERTS }, machine(&[10.0, 12.9, 15.0, 18.0], 0.8)] {
        for slow in [1, 2, 3, 50] {
            let mut simulation = Simulation::of(machine);
            simulation.run(Machine { load: 10.0, noise: 0.9, ..machine }, AUTO, slow);
            let run = simulation.run(machine, AUTO, 200);
            let share = run.rate() / machine.best_rate();
            assert!(share > 0.93, "{machine:?} after {slow}: {share}, {run:?}");
            assert_eq!(simulation.policy.note(false), None);
        }
    }
}

/// Figures that are wrong, because the machine did something else when they were measured, are found out.
#[test]
fn wrong_figures_are_corrected() {
    let times = |machine: Machine, factors: [f64; 8]| {
        let widths = [1, 2, 3, 4, 6, 8, 12, 16];
        let passes =
            widths.iter().zip(factors).map(|(&width, factor)| (width, factor * machine.pass(width) / 1e3));
        PolicyState::default().with_costs(PassTimes {
            passes: passes.collect(),
            draft: Some(machine.draft / 1e3),
            block: None,
        })
    };
    let dear = [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0];
    let cheap = [1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
    for (machine, factors) in [(FLAT, dear), (LONG, dear), (LINEAR, cheap), (EXPERTS, dear), (EXPERTS, cheap)]
    {
        for machine in [machine, machine.noisy()] {
            let mut simulation = Simulation::of(machine);
            simulation.policy = Policy::new(times(machine, factors));
            simulation.run(machine, AUTO, 400);
            let run = simulation.run(machine, AUTO, 400);
            let share = run.rate() / machine.best_rate();
            assert!(share > 0.93, "{machine:?}: {share}, {run:?}");
        }
    }
}

/// Figures of a machine that was loaded when they were measured, each by something else, are replaced when it no longer
/// is.
#[test]
fn figures_of_a_loaded_machine_are_replaced() {
    let quiet = machine(&[3.5, 4.9, 6.3, 7.9, 9.5, 11.1, 12.7, 14.3, 15.9], 0.8);
    let quiet = Machine { draft: 0.5, noise: 0.05, ..quiet };
    let loaded = [
        [11.1, 12.5, 15.4, 22.4],
        [6.1, 14.1, 16.6, 24.4],
        [4.1, 12.0, 13.5, 15.0],
        [7.5, 8.3, 12.5, 19.6],
        [7.6, 16.6, 19.9, 22.8],
        [11.4, 12.1, 15.2, 23.3],
    ];
    let mut shares = Vec::new();
    for times in loaded {
        for luck in 0..8 {
            let passes = times.iter().enumerate().map(|(i, milliseconds)| (1 + i, milliseconds / 1e3));
            let measured = PassTimes { passes: passes.collect(), draft: Some(1.1e-3), block: None };
            let mut simulation = Simulation { steps: luck * 1_000_000, ..Simulation::of(quiet) };
            simulation.policy = Policy::new(PolicyState::default().with_costs(measured));
            simulation.run(Machine { load: 2.5, noise: 0.6, ..quiet }, AUTO, 30);
            simulation.run(quiet, AUTO, 64);
            shares.push(simulation.run(quiet, AUTO, 200).rate() / quiet.best_rate());
        }
    }
    shares.sort_by(f64::total_cmp);
    // Of 48 few have not found it out yet, and those that have not lose little.
    assert!(shares[0] > 0.85 && shares[3] > 0.93, "{shares:.2?}");
}

/// A machine that never comes to rest costs little.
#[test]
fn a_noisy_machine_is_not_probed_all_the_time() {
    for right in [0.0, 0.6] {
        let calm = Machine { right, ..LINEAR };
        for pace in [10, 20, 40] {
            let mut simulation = Simulation::of(calm);
            let mut share = [0.0; 2];
            for round in 0..600 / pace {
                let load = [1.0, 2.0][round % 2];
                let run = simulation.run(Machine { load, ..calm }, AUTO, pace);
                share[0] += run.tokens as f64;
                share[1] += run.expected_milliseconds * calm.best_rate() / load;
            }
            let share = share[0] / share[1];
            assert!(share > 0.9, "{right}, every {pace} steps: {share}");
        }
    }
}

/// In a chat whose drafts are right they go on with its next reply, in one whose drafts are wrong they do not.
#[test]
fn acceptance_is_that_of_the_chat() {
    let costly = machine(&[10.0, 14.0, 24.0, 34.0], 0.5);
    let mut simulation = Simulation::of(costly);
    let chats = [simulation.new_chat(), simulation.new_chat()];
    let mut runs = [[0; 2]; 2];
    for reply in 0..10 {
        for (chat, right) in [(0, 0.95), (1, 0.05)] {
            let mut run = Run::default();
            for _ in 0..40 {
                simulation.step(Machine { right, ..costly }, AUTO, &chats[chat..=chat], &mut run);
            }
            if reply > 0 {
                runs[chat][0] += run.drafting();
                runs[chat][1] += 40;
            }
        }
    }
    assert!(10 * runs[0][0] > 9 * runs[0][1], "{runs:?}");
    assert!(20 * runs[1][0] < runs[1][1], "{runs:?}");
}

/// Whatever the machine and the drafts are like, finding out costs little, even in the first 200 steps of all.
#[test]
fn is_never_far_below_plain_decoding() {
    for rows in [1, 2, 4, 16] {
        for right in [0.0, 0.3, 0.6, 0.9] {
            for machine in [FLAT, LINEAR, STAIR, EXPERTS, machine(&[10.0, 11.0, 30.0], 0.0)] {
                for steps in [200, 500] {
                    let machine = Machine { right, ..machine };
                    let plain = machine.rate(rows, 0);
                    let run = Simulation::of(machine).run(machine, &vec![Drafting::Auto; rows], steps);
                    let share = run.rate() / plain;
                    assert!(share > 0.95, "{rows} rows, {machine:?}, {steps} steps: {share}, {run:?}");
                }
            }
        }
    }
}

/// What was found is forgotten as soon as it does not hold any more.
#[test]
fn is_back_at_plain_decoding_soon_after_any_change() {
    let wrong = |machine: Machine| Machine { right: 0.0, ..machine };
    let narrow = machine(&[38.0, 39.0, 40.0], 0.6);
    let changes = [
        (LONG, SHORT),
        (SLOW, LINEAR),
        (Machine { right: 0.6, ..FLAT }, LINEAR),
        (FLAT, wrong(FLAT)),
        (LONG, wrong(LONG)),
        (STAIR, LINEAR),
        // Only plain steps become shorter, and those are not in use.
        (narrow, machine(&[10.0, 39.0, 40.0], 0.6)),
        (machine(&[12.0, 13.0, 14.0, 15.0, 30.0], 0.3), machine(&[9.0, 13.0, 14.0, 15.0, 30.0], 0.3)),
    ];
    for (before, after) in changes {
        for luck in 0..4 {
            let with = |machine: Machine| if luck > 0 { machine.noisy() } else { machine };
            let mut simulation = Simulation { steps: luck * 1_000_000, ..Simulation::of(before) };
            simulation.run(with(before), AUTO, 600);
            simulation.run(with(after), AUTO, 64);
            for steps in [256, 512] {
                let run = simulation.run(with(after), AUTO, steps);
                let share = run.rate() / after.rate(1, 0);
                assert!(share > 0.93, "{before:?} to {after:?}: {share}, {run:?}");
            }
        }
    }
}

/// The longest that a gain can hide is the longest pause between probes and the probes themselves.
#[test]
fn finds_gains_soon_after_any_change() {
    let right = |right, machine: Machine| Machine { right, ..machine };
    let changes = [
        (LINEAR, right(0.6, FLAT)),
        (right(0.9, LINEAR), FLAT),
        (right(0.3, SHORT), right(0.7, LONG)),
        (right(0.0, FLAT), right(0.95, FLAT)),
        (right(0.9, LINEAR), STAIR),
    ];
    for (before, after) in changes {
        for luck in 0..4 {
            let with = |machine: Machine| if luck > 0 { machine.noisy() } else { machine };
            let mut simulation = Simulation { steps: luck * 1_000_000, ..Simulation::of(before) };
            simulation.run(with(before), AUTO, 1500);
            simulation.run(with(after), AUTO, 1100);
            let run = simulation.run(with(after), AUTO, 300);
            let share = run.rate() / after.best_rate();
            assert!(share > 0.8, "{before:?} to {after:?}: {share}, {run:?}");
        }
    }
}

/// Noise and pauses of the machine change no decision.
#[test]
fn a_noisy_machine_flips_few_decisions() {
    let (mut paying, mut plain) = (Simulation::of(FLAT), Simulation::of(LINEAR));
    paying.run(FLAT.noisy(), AUTO, 200);
    plain.run(LINEAR.noisy(), AUTO, 200);
    let run = paying.run(FLAT.noisy(), AUTO, 4000);
    // One step in so many is plain on purpose.
    assert!(run.deepest[0] < 4000 / 16 && run.rate() > 0.93 * FLAT.best_rate(), "{run:?}");
    let run = plain.run(LINEAR.noisy(), AUTO, 4000);
    assert!(run.drafting() < 4000 / 50, "{run:?}");
}

#[test]
fn a_pause_of_the_machine_changes_nothing() {
    let mut simulation = Simulation::of(FLAT);
    simulation.run(FLAT, AUTO, 300);
    let chat = simulation.new_chat();
    let depths = |policy: &Policy| {
        let view =
            RowView { drafting: Drafting::Auto, room: 100, head: usize::MAX, block: 0, lookup: None, chat };
        (0..10).map(|_| policy.clone().choose(&[view])[0].depth).collect::<Vec<_>>()
    };
    for width in 1..=9 {
        let mut paused = simulation.policy.clone();
        let (rows, took) = (&[plain(chat)], Some(Duration::from_secs(5)));
        let shape = StepShape::of(&[DraftPlan::from(width - 1)]);
        paused.observe(&StepView { rows, shape, took, caught_up: false, pipelined: None, in_company: false });
        let known = |policy: &Policy| policy.state().cost.pass(width).map(|seconds| (seconds * 1e9).round());
        assert_eq!(
            (known(&paused), depths(&paused)),
            (known(&simulation.policy), depths(&simulation.policy))
        );
    }
}

/// Where attention gets slow behind some drafts, no more are chosen; who asks for a number of them gets it.
#[test]
fn the_head_drafts_no_more_than_are_worth_a_choice() {
    let flat = Machine { draft: 0.1, ..machine(&[10.0; 14], 0.95) };
    let mut simulation = Simulation::of(flat);
    simulation.run(flat, AUTO, 300);
    let chat = simulation.new_chat();
    let mut deepest = |drafting, head| {
        let view = RowView { drafting, room: 100, head, block: 0, lookup: None, chat };
        (0..50).map(|_| simulation.policy.choose(&[view])[0].depth).max()
    };
    assert_eq!(deepest(Drafting::Auto, usize::MAX), Some(usize::from(MAX_DEPTH)));
    assert_eq!(deepest(Drafting::Auto, 3), Some(3));
    assert_eq!(deepest(Drafting::Mtp, 1), Some(1));
    assert_eq!(deepest(Drafting::Fixed { depth: 5 }, 3), Some(5));
}

/// On stairs a draft that fits below the next one is nearly free, the one after it is not.
#[test]
fn fills_a_stair_and_stops_at_the_next() {
    let stairs = Machine {
        draft: 0.2,
        ..machine(&[10.0, 10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 20.0, 30.0, 30.0, 30.0, 40.0, 40.0, 50.0], 0.7)
    };
    let mut simulation = Simulation::of(stairs);
    simulation.run(stairs, &[Drafting::Auto; 3], 300);
    let chat = simulation.new_chat();
    let view =
        RowView { drafting: Drafting::Auto, room: 100, head: usize::MAX, block: 0, lookup: None, chat };
    let mut widths = [0; 33];
    for _ in 0..20 {
        widths[3 + simulation.policy.choose(&[view; 3]).iter().map(|plan| plan.depth).sum::<usize>()] += 1;
    }
    assert!(widths[5] >= 17, "{widths:?}");
}

/// Where the recurrence of all rows is computed step by step, a row's drafts keep all others waiting, and the head
/// reads one row after the other: drafts that pay for a few rows do not for many, and few steps find that out.
#[test]
fn many_rows_do_without_what_pays_for_a_few() {
    let passes: Vec<f64> = (0..128).map(|width| 7.9 + 2.25 * f64::from(width)).collect();
    let passes: &'static [f64] = passes.leak();
    for padding in [0.0, 0.7, 1.2] {
        for right in [0.7, 0.95] {
            let machine = Machine { draft: 1.7, padding, ..machine(passes, right) };
            for rows in [1, 2, 4, 8, 12] {
                let mut simulation = Simulation::of(machine);
                let run = simulation.run(machine, &vec![Drafting::Auto; rows], 200);
                let best =
                    (0..=usize::from(MAX_DEPTH)).map(|depth| machine.rate(rows, depth)).fold(0.0, f64::max);
                let share = run.rate() / best;
                assert!(share > 0.93, "{rows} rows, {right}, {padding}: {share}, {run:?}");
            }
        }
    }
}

/// Rows whose requests switched drafts off pay at most `MAX_BYSTANDER_SLOWDOWN` for their neighbours' drafts.
#[test]
fn the_tax_is_capped() {
    let machine =
        Machine { draft: 0.1, ..machine(&[10.0, 10.2, 10.9, 13.0, 18.0, 25.0, 30.0, 40.0, 50.0], 0.95) };
    let mut simulation = Simulation::of(machine);
    simulation.run(machine, AUTO, 200);
    // Two rows: 10.2. One draft more takes 11.0, two more 13.2; that would pay, but not for the plain row.
    simulation.run(machine, &[Drafting::Auto; 2], 200);
    let taxed = simulation.run(machine, BESIDE_OFF, 400);
    assert!(taxed.longest <= 1.10 * 10.2, "{taxed:?}");
    assert!(taxed.deepest[1] > 350, "{taxed:?}");
    assert_eq!(simulation.policy.note(true), None);
    // Where each token costs the same, no drafts stay within `MAX_BYSTANDER_SLOWDOWN`.
    let mut simulation = Simulation::of(LINEAR);
    simulation.run(LINEAR, &[Drafting::Auto; 2], 50);
    let taxed = simulation.run(LINEAR, BESIDE_OFF, 100);
    assert_eq!(taxed.deepest[0], 100, "{taxed:?}");
    assert_eq!(simulation.policy.note(false), Some(DraftingNote::OthersWouldBeSlower));
}

/// Probes are made at the rows' cost that they are for.
#[test]
fn beside_rows_without_drafts_nothing_is_tried_that_the_tax_does_not_allow() {
    for drafting in [Drafting::Auto, Drafting::Fixed { depth: 8 }] {
        let run = Simulation::of(LINEAR).run(LINEAR, &[drafting, Drafting::Off], 1000);
        assert_eq!(run.drafting(), 0, "{run:?}");
    }
}

/// A request for a depth holds as far as it is at nobody else's cost.
#[test]
fn fixed_depths_are_kept_where_nobody_else_pays() {
    let depth = |depth| Drafting::Fixed { depth };
    let run = |machine, rows: &[Drafting], steps| {
        let mut simulation = Simulation::of(machine);
        simulation.run(machine, rows, 100);
        simulation.run(machine, rows, steps)
    };
    assert_eq!(run(LINEAR, &[Drafting::Off], 50).deepest[0], 50);
    assert_eq!(run(LINEAR, &[depth(8)], 50).deepest[8], 50);
    assert_eq!(run(LINEAR, &[depth(8), depth(2)], 50).deepest[8], 50);
    let beside = run(LINEAR, &[depth(8), Drafting::Off], 500);
    assert!(beside.longest <= 1.1 * 20.0, "{beside:?}");
    // Where drafts are nearly free, all of them stay within `MAX_BYSTANDER_SLOWDOWN`.
    let free = Machine { draft: 0.01, ..machine(&[10.0], 0.0) };
    let beside = run(free, &[depth(8), Drafting::Off], 500);
    assert!(beside.deepest[8] > 450, "{beside:?}");

    let view = |drafting, room| RowView {
        drafting,
        room,
        head: usize::MAX,
        block: 0,
        lookup: None,
        chat: Chat::default(),
    };
    let rows = [view(depth(4), 2), view(depth(1), 0)];
    assert_eq!(Policy::default().choose(&rows), [DraftPlan::from(2), DraftPlan::from(0)]);
}

/// Probes lose a small share of the time, however dear they are, and begin at once where something changes.
#[test]
fn looks_are_rare_until_something_changes() {
    for machine in [Machine { right: 0.0, ..LINEAR }, Machine { right: 0.0, ..FLAT }, STAIR] {
        let mut simulation = Simulation::of(machine);
        simulation.run(machine, AUTO, 200);
        let run = simulation.run(machine, AUTO, 4000);
        let share = run.rate() / machine.best_rate();
        assert!(share > 0.985, "{machine:?}: {share}, {run:?}");
    }
    let mut simulation = Simulation::of(LINEAR);
    simulation.run(LINEAR, AUTO, 600);
    // Three times as slow, and then the same again.
    let slower = Machine { load: 3.0, ..LINEAR };
    assert!((1..=4).contains(&simulation.run(slower, AUTO, 24).drafting()));
    assert!(simulation.run(slower, AUTO, 400).drafting() <= 12);
}

/// The note is about the reply that it stands under.
#[test]
fn a_note_fits_the_replys_own_drafts() {
    let mut simulation = Simulation::of(LINEAR);
    simulation.run(LINEAR, AUTO, 200);
    assert!(simulation.policy.note(false).is_some());
    assert_eq!(simulation.policy.note(true), None);
    // A step that has no choice to make leaves no reason behind.
    simulation.run(LINEAR, &[Drafting::Fixed { depth: 2 }], 1);
    assert_eq!(simulation.policy.note(false), None);
    let mut simulation = Simulation::of(FLAT);
    simulation.run(FLAT, AUTO, 200);
    assert_eq!(simulation.policy.note(false), None, "nobody is beside it");
    simulation.run(FLAT, &[Drafting::Auto; 2], 20);
    assert_eq!(simulation.policy.note(false), Some(DraftingNote::OthersAreRightMoreOften));
    assert_eq!(simulation.policy.note(true), None);
}

/// What was learned saves the next start the trials.
#[test]
fn goes_on_with_what_was_learned_before() {
    let wrong = machine(&[10.0, 14.0, 18.0, 22.0], 0.0);
    let mut simulation = Simulation::of(wrong);
    simulation.run(wrong, AUTO, 200);
    let stored = serde_json::to_string(simulation.policy.state()).unwrap();
    let state: PolicyState = serde_json::from_str(&stored).unwrap();
    let mut again = Simulation { policy: Policy::new(state), ..Simulation::of(wrong) };
    let run = again.run(wrong, AUTO, 20);
    assert!(run.drafting() <= 2, "{run:?}");
}

#[test]
fn figures_survive_storage_and_absurd_ones_are_refused() {
    let mut simulation = Simulation::of(FLAT);
    simulation.run(FLAT, AUTO, 100);
    let state = simulation.policy.state().clone();
    let stored = serde_json::to_value(&state).unwrap();
    let read = |stored: &serde_json::Value| serde_json::from_value::<PolicyState>(stored.clone()).unwrap();
    assert_eq!(serde_json::to_value(read(&stored)).unwrap(), stored);
    assert!(state.is_possible() && state.is_measured() && !PolicyState::default().is_measured());
    let absurd = [
        ("/cost/passes/1", (-3.0).into()),
        ("/cost/passes", serde_json::json!({ "0": 1.0 })),
        ("/cost/draft", 1e9.into()),
        ("/cost/block", (-1.0).into()),
        ("/cost/padding", (-1.0).into()),
        ("/accepted/0/right", 70.0.into()),
        ("/accepted/0/all", (-1.0).into()),
    ];
    for (pointer, value) in absurd {
        let mut changed = stored.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert!(!read(&changed).is_possible(), "{pointer}");
    }
}

/// While drafts pay, steps without them are probes, and each is counted.
#[test]
fn probes_are_counted() {
    let mut simulation = Simulation::of(FLAT);
    let run = simulation.run(FLAT, AUTO, 2000);
    let plain = run.deepest[0] as u64;
    let probes = simulation.policy.probes();
    assert!(plain > 0 && (plain..200).contains(&probes), "{plain} of {probes}");
}

#[test]
fn figures_of_fewer_positions_and_of_the_head_alone_are_read() {
    let mut stored = serde_json::to_value(FLAT.measured()).unwrap();
    stored["accepted"] = serde_json::json!([{ "right": 3.0, "all": 4.0 }, { "right": 1.0, "all": 2.0 }]);
    for since in ["lookup", "dflash"] {
        stored.as_object_mut().unwrap().remove(since);
    }
    stored["cost"].as_object_mut().unwrap().remove("block");
    let state: PolicyState = serde_json::from_value(stored).unwrap();
    assert!(state.is_possible() && state.is_measured());
    let survivals = state.records.survivals(&Default::default(), Source::Head, 3);
    assert!(survivals[0] > 0.7 && survivals[1] < survivals[0], "{survivals:?}");
}
