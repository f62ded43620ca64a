//! Texts that several drafters draft for: the head, a draft model, look-up.

use super::*;
use crate::decode::plan::{MAX_WIDTH, MOST_UNREAD};

/// How often the drafts of each are right, given that those before them were; `None` for who is not there.
#[derive(Debug, Clone, Copy)]
struct Text {
    head: Option<f64>,
    /// And the milliseconds of a pass of the draft model.
    block: Option<(f64, f64)>,
    lookup: Option<f64>,
}

/// Where the head is right as often as on this machine.
fn of_head(machine: Machine) -> Text {
    Text { head: Some(machine.right), block: None, lookup: None }
}

impl Text {
    /// How often drafts by `drafter` are right.
    fn right(&self, drafter: DrafterKind) -> f64 {
        let right = match drafter {
            DrafterKind::Head => self.head,
            DrafterKind::Dflash => self.block.map(|(right, _)| right),
            DrafterKind::Lookup => self.lookup,
            DrafterKind::Forced => Some(1.0),
        };
        right.unwrap_or(0.0)
    }

    /// Milliseconds of a step of one row.
    fn milliseconds(&self, machine: Machine, plan: DraftPlan) -> f64 {
        let shape = StepShape::of(&[plan]);
        let of_block = self.block.filter(|_| shape.block).map_or(0.0, |(_, milliseconds)| milliseconds);
        machine.step(shape) + machine.load * of_block
    }

    /// The highest rate of one row with drafts of `drafter`, in tokens per millisecond, and the depth that gives it.
    fn best(&self, machine: Machine, drafter: DrafterKind) -> (f64, usize) {
        let most = if drafter == DrafterKind::Head { usize::from(MAX_DEPTH) } else { MAX_CHAIN };
        let rate = |depth: usize| {
            let tokens: f64 = (0..=depth as i32).map(|position| self.right(drafter).powi(position)).sum();
            tokens / self.milliseconds(machine, DraftPlan { drafter, depth })
        };
        (0..=most).map(|depth| (rate(depth), depth)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
    }

    /// A model that was just loaded, with its draft model if there is one.
    fn simulation(&self, machine: Machine) -> Simulation {
        let measured = machine.measured();
        let block = self.block.map(|(_, milliseconds)| milliseconds / 1e3);
        let cost = block.into_iter().fold(measured.cost.clone(), cost::Cost::with_block);
        Simulation { policy: Policy::new(PolicyState { cost, ..measured }), ..Simulation::of(machine) }
    }
}

/// What a row came to.
#[derive(Debug, Default)]
struct Written {
    /// Steps with drafts of the head, the draft model and look-up.
    drafting: [usize; 3],
    /// Steps by depth.
    depths: [usize; MAX_CHAIN + 1],
    tokens: usize,
    milliseconds: f64,
}

impl Written {
    fn by(&self, drafter: DrafterKind) -> usize {
        self.drafting[drafter as usize]
    }

    fn deepest(&self) -> usize {
        self.depths.iter().rposition(|&steps| steps > 0).unwrap_or(0)
    }

    /// The depth of most steps.
    fn usual_depth(&self) -> usize {
        (0..=MAX_CHAIN).max_by_key(|&depth| self.depths[depth]).unwrap()
    }

    fn rate(&self) -> f64 {
        self.tokens as f64 / self.milliseconds
    }
}

/// A new chat with one row, in which look-up finds something in every step, for so many steps.
fn write(
    simulation: &mut Simulation,
    machine: Machine,
    text: Text,
    drafting: Drafting,
    steps: usize,
) -> Written {
    let chat = simulation.new_chat();
    let mut written = Written::default();
    for _ in 0..steps {
        let view = RowView {
            drafting,
            room: 100,
            head: if text.head.is_some() { usize::MAX } else { 0 },
            block: if text.block.is_some() { MAX_CHAIN } else { 0 },
            lookup: text.lookup.map(|_| (MatchClass::Long, MAX_CHAIN)),
            chat,
        };
        let drafts = simulation.policy.choose(&[view])[0];
        simulation.steps += 1;
        let step = simulation.steps;
        let first_right = |drafter: DrafterKind| {
            let salt = 100 * (1 + drafter as usize);
            (0..MAX_CHAIN).take_while(|&i| chance(step, salt + i) < text.right(drafter)).count()
        };
        let accepted = drafts.depth.min(first_right(drafts.drafter));
        // What the row emits, the token after the last accepted draft included, judges the proposal.
        let judged = MAX_CHAIN.min(accepted + 1);
        let right = first_right(DrafterKind::Lookup).min(judged);
        let lookup = text.lookup.map(|_| LookupVerdict { class: MatchClass::Long, judged, right });
        let milliseconds = text.milliseconds(machine, drafts);
        let stalls = machine.stalls > 0 && chance(step, 1) < 1.0 / machine.stalls as f64;
        let took = Some(Duration::from_secs_f64(milliseconds * if stalls { 10.0 } else { 1.0 } / 1e3));
        let rows = &[RowOutcome { chat, drafts, accepted, lookup }];
        let shape = StepShape::of(&[drafts]);
        simulation.policy.observe(&StepView {
            rows,
            shape,
            took,
            caught_up: false,
            pipelined: None,
            in_company: false,
        });
        written.drafting[drafts.drafter as usize] += usize::from(drafts.depth > 0);
        written.depths[drafts.depth] += 1;
        written.tokens += 1 + accepted;
        written.milliseconds += milliseconds;
    }
    written
}

#[test]
fn the_better_drafter_is_chosen_without_trying_the_other() {
    // Where the text goes on as it did before, look-up drafts deeper than the head may, and for nothing.
    let machine = Machine { draft: 2.0, right: 0.6, ..FLAT };
    let text = |right| Text { lookup: Some(right), ..of_head(machine) };
    let mut simulation = Simulation::of(machine);
    let quoted = write(&mut simulation, machine, text(0.98), Drafting::Auto, 200);
    assert!(quoted.by(DrafterKind::Lookup) > 150 && quoted.deepest() > usize::from(MAX_DEPTH), "{quoted:?}");
    // Where it does not, the head does, in the next chat at once.
    let before = write(&mut Simulation::of(machine), machine, text(0.0), Drafting::Mtp, 400);
    let mut simulation = Simulation::of(machine);
    let new = write(&mut simulation, machine, text(0.02), Drafting::Auto, 400);
    assert!(new.by(DrafterKind::Lookup) < 20 && new.rate() > 0.95 * before.rate(), "{new:?}");
    let new = write(&mut simulation, machine, text(0.02), Drafting::Auto, 100);
    assert!(new.by(DrafterKind::Lookup) < 5, "{new:?}");
    // Its record is kept while the head drafts, so the text that begins to be quoted is found out soon.
    let quoted = write(&mut simulation, machine, text(0.98), Drafting::Auto, 200);
    assert!(quoted.by(DrafterKind::Lookup) > 120, "{quoted:?}");
}

/// Whatever steps take and however often a draft model is right: the depth that is best, or none.
#[test]
fn a_draft_model_drafts_as_deep_as_pays() {
    let stairs = machine(&[10.0, 10.2, 10.4, 10.6, 10.8, 11.0, 11.2, 11.4, 24.0], 0.0);
    let linear: Vec<f64> = (1..=16).map(|width| 10.0 * f64::from(width)).collect();
    let linear = machine(linear.leak(), 0.0);
    for (machine, milliseconds) in [(FLAT, 3.0), (stairs, 1.0), (linear, 4.0), (EXPERTS, 6.0)] {
        for right in [0.3, 0.6, 0.9, 0.97] {
            for noise in [0, 100] {
                let machine = Machine { stalls: noise, ..machine };
                let text = Text { head: None, block: Some((right, milliseconds)), lookup: None };
                let mut simulation = text.simulation(machine);
                write(&mut simulation, machine, text, Drafting::Auto, 200);
                let written = write(&mut simulation, machine, text, Drafting::Auto, 400);
                let (best, depth) = text.best(machine, DrafterKind::Dflash);
                let told = format!("{right} {milliseconds} {machine:?}: {written:?}, not {best} at {depth}");
                assert!(written.rate() > 0.93 * best, "{told}");
                // Where one more or less matters.
                if stairs.passes == machine.passes && depth == 7 {
                    assert_eq!(written.usual_depth(), depth, "{told}");
                }
                if depth == 0 {
                    assert!(written.depths[0] > 370, "{told}");
                    let note = simulation.policy.note(false);
                    assert!(matches!(note, Some(DraftingNote::NotPaying { .. })), "{note:?}");
                }
            }
        }
    }
}

/// The head and a draft model: the better of both is found, whichever was thought better, and found again when the text
/// changes.
#[test]
fn the_better_of_head_and_draft_model_drafts() {
    let machine = Machine { draft: 2.0, ..FLAT };
    let text = |head, block| Text { head: Some(head), block: Some((block, 3.0)), lookup: None };
    for (head, block) in [(0.9, 0.3), (0.5, 0.9), (0.8, 0.95), (0.3, 0.2)] {
        let text = text(head, block);
        let mut simulation = text.simulation(machine);
        write(&mut simulation, machine, text, Drafting::Auto, 200);
        let written = write(&mut simulation, machine, text, Drafting::Auto, 400);
        let best = [DrafterKind::Head, DrafterKind::Dflash].map(|drafter| text.best(machine, drafter).0);
        let best = best[0].max(best[1]);
        assert!(written.rate() > 0.92 * best, "{text:?}: {written:?}, not {best}");
    }
    // What was worse for long becomes better, within one chat.
    for (first, then, winner) in
        [((0.7, 0.2), (0.7, 0.97), DrafterKind::Dflash), ((0.2, 0.9), (0.95, 0.2), DrafterKind::Head)]
    {
        let mut simulation = text(first.0, first.1).simulation(machine);
        write(&mut simulation, machine, text(first.0, first.1), Drafting::Auto, 600);
        write(&mut simulation, machine, text(then.0, then.1), Drafting::Auto, 512);
        let written = write(&mut simulation, machine, text(then.0, then.1), Drafting::Auto, 100);
        assert!(written.by(winner) > 80, "{winner:?}: {written:?}");
    }
}

/// A row beside one that looks up is probed itself: what the other may draft tells nothing of it.
#[test]
fn the_other_drafter_is_probed_in_company() {
    let machine = Machine { draft: 2.0, ..FLAT };
    let text = Text { head: Some(0.7), block: Some((0.2, 3.0)), lookup: None };
    let mut simulation = text.simulation(machine);
    let (quoting, writing) = (simulation.new_chat(), simulation.new_chat());
    let mut blocks = 0;
    for step in 0..600 {
        let row = |drafting, lookup, chat| RowView {
            drafting,
            room: 100,
            head: usize::MAX,
            block: MAX_CHAIN,
            lookup,
            chat,
        };
        let found = Some((MatchClass::Long, MAX_CHAIN));
        let views = [row(Drafting::Lookup, found, quoting), row(Drafting::Auto, None, writing)];
        let plans = simulation.policy.choose(&views);
        let outcome = |(row, &drafts): (usize, &DraftPlan)| {
            let right = if row == 0 { 1.0 } else { text.right(drafts.drafter) };
            let accepted = (0..drafts.depth).take_while(|&i| chance(step, 100 * row + i) < right).count();
            let judged = (row == 0).then_some(accepted + 1);
            let lookup =
                judged.map(|judged| LookupVerdict { class: MatchClass::Long, judged, right: judged });
            RowOutcome { chat: views[row].chat, drafts, accepted, lookup }
        };
        let rows: Vec<RowOutcome> = plans.iter().enumerate().map(outcome).collect();
        let shape = StepShape::of(&plans);
        let block = if shape.block { 3.0 } else { 0.0 };
        let took = Some(Duration::from_secs_f64((machine.step(shape) + block) / 1e3));
        simulation.policy.observe(&StepView {
            rows: &rows,
            shape,
            took,
            caught_up: false,
            pipelined: None,
            in_company: false,
        });
        let drafts = plans[1];
        blocks += usize::from(step > 200 && drafts.drafter == DrafterKind::Dflash && drafts.depth > 0);
    }
    assert!((1..80).contains(&blocks), "{blocks}");
}

#[test]
fn who_asks_for_one_drafter_gets_no_other() {
    let text = Text { head: Some(0.9), block: Some((1.0, 1.0)), lookup: Some(1.0) };
    let mut simulation = text.simulation(FLAT);
    let written = write(&mut simulation, FLAT, text, Drafting::Mtp, 100);
    assert!(written.by(DrafterKind::Dflash) + written.by(DrafterKind::Lookup) == 0, "{written:?}");
    let written = write(&mut simulation, FLAT, text, Drafting::Dflash { depth: None }, 100);
    assert!(written.by(DrafterKind::Head) + written.by(DrafterKind::Lookup) == 0, "{written:?}");
    assert!(written.by(DrafterKind::Dflash) > 90, "{written:?}");

    let chat = simulation.new_chat();
    let mut choose = |drafting, head, block, lookup| {
        simulation.policy.choose(&[RowView { drafting, room: 9, head, block, lookup, chat }])[0]
    };
    let plan = |drafter, depth| DraftPlan { drafter, depth };
    let found = Some((MatchClass::Long, MAX_CHAIN));
    assert_eq!(choose(Drafting::Lookup, 100, 7, None).depth, 0);
    assert_eq!(choose(Drafting::Lookup, 100, 7, found).drafter, DrafterKind::Lookup);
    assert_eq!(choose(Drafting::Fixed { depth: 2 }, 100, 7, found), DraftPlan::from(2));
    // A fixed number as far as a block goes, and none where there is no draft model.
    let fixed = |depth| Drafting::Dflash { depth: Some(depth) };
    assert_eq!(choose(fixed(5), 100, 7, found), plan(DrafterKind::Dflash, 5));
    assert_eq!(choose(fixed(9), 100, 7, found), plan(DrafterKind::Dflash, 7));
    assert_eq!(choose(fixed(5), 100, 0, found).depth, 0);
    assert_eq!(choose(Drafting::Dflash { depth: None }, 100, 0, found).depth, 0);
    // A model without a head drafts what it finds.
    assert_eq!(choose(Drafting::Auto, 0, 0, found), plan(DrafterKind::Lookup, 9));
    assert_eq!(choose(Drafting::Off, 100, 7, found).depth, 0);
    // Nor more than there is.
    let short = Some((MatchClass::Long, 1));
    assert_eq!(choose(Drafting::Lookup, 0, 0, short), plan(DrafterKind::Lookup, 1));
}

/// Rows that asked for no drafts pay little for the blocks of those beside them.
#[test]
fn a_block_slows_bystanders_down_a_little_at_most() {
    for (milliseconds, drafts) in [(0.2, true), (5.0, false)] {
        let text = Text { head: None, block: Some((0.9, milliseconds)), lookup: None };
        let machine = Machine { draft: 0.0, ..machine(&[10.0, 10.1], 0.0) };
        let mut policy = text.simulation(machine).policy;
        let view = |drafting, block| {
            let chat = Chat::default();
            RowView { drafting, room: 100, head: 0, block, lookup: None, chat }
        };
        for drafting in [Drafting::Dflash { depth: Some(7) }, Drafting::Dflash { depth: None }] {
            let plans = policy.choose(&[view(drafting, 7), view(Drafting::Off, 0)]);
            assert_eq!(
                (plans[0].depth > 0, plans[1].depth),
                (drafts, 0),
                "{drafting:?} at {milliseconds} ms"
            );
        }
    }
}

/// What is said of the head's drafts does not come from look-up's.
#[test]
fn looked_up_drafts_say_nothing_of_the_head() {
    let mut simulation = Simulation::of(LINEAR);
    simulation.run(LINEAR, AUTO, 100);
    let said = simulation.policy.note(false).unwrap();
    let text = Text { head: None, block: None, lookup: Some(1.0) };
    write(&mut simulation, LINEAR, text, Drafting::Lookup, 1);
    assert_eq!(simulation.policy.note(false), Some(said));
}

/// After many steps in which there was nothing to draft, the first drafts are made at once.
#[test]
fn steps_without_a_proposal_are_comparison_enough() {
    let mut simulation = Simulation::of(FLAT);
    let chat = simulation.new_chat();
    let mut choose = |lookup| {
        let view = RowView { drafting: Drafting::Lookup, room: 100, head: 0, block: 0, lookup, chat };
        simulation.policy.choose(&[view])[0].depth
    };
    (0..100).for_each(|_| assert_eq!(choose(None), 0));
    assert!(choose(Some((MatchClass::Long, 4))) > 0);
}

/// Passes of head and draft model are shared, so what is best for a row by itself need not be best for all.
#[test]
fn rows_that_could_have_either_drafter_get_what_yields_most_together() {
    let by = |drafter, right: f64, most: i32| Chain {
        drafter,
        survivals: (1..=most).map(|position| right.powi(position)).collect(),
    };
    let head = |right| by(DrafterKind::Head, right, MAX_DEPTH.into());
    let block = |right| by(DrafterKind::Dflash, right, MAX_CHAIN as i32);
    let own = vec![(block(0.7), Some(head(0.8))), (head(0.9), Some(block(0.62)))];
    let drafters = |block: f64, own: &[(Chain, Option<Chain>)]| -> Vec<DrafterKind> {
        let passes = (1..=MAX_WIDTH).map(|width| (width, 10.0));
        let cost = cost::Cost::default().with(passes, 2.0).with_block(block);
        let policy = Policy::new(PolicyState { cost, ..PolicyState::default() });
        let assigned = policy.assign(own.to_vec(), &vec![0; own.len()], false);
        for ((chain, other), own) in assigned.iter().zip(own) {
            let swapped = (other.clone().unwrap(), Some(chain.clone()));
            assert!((chain, other) == (&own.0, &own.1) || swapped == *own);
        }
        assigned.into_iter().map(|(chain, _)| chain.drafter).collect()
    };
    assert_eq!(drafters(3.0, &own), [DrafterKind::Dflash; 2], "3.3 + 2.6 tokens in 13, not 3.3 + 3.4 in 19");
    assert_eq!(drafters(12.0, &own), [DrafterKind::Head; 2], "3.0 + 3.4 tokens in 16, not 3.3 + 2.6 in 22");
    assert_eq!(drafters(3.0, &own[1..]), [DrafterKind::Head], "alone it keeps its own");
    let apart = [(block(0.9), Some(head(0.0))), (head(0.99), Some(block(0.0)))];
    assert_eq!(drafters(3.0, &apart), [DrafterKind::Dflash, DrafterKind::Head], "neither can do for both");
}

/// The drafter that does not draft is probed, and such a probe first reads what the other's steps have left: that time
/// is not taken for drafting, and a probe that needs no reading follows, once.
#[test]
fn catching_up_is_not_taken_for_drafting() {
    for (head, block, probed) in [(0.9, 0.5, DrafterKind::Dflash), (0.3, 0.97, DrafterKind::Head)] {
        let text = Text { head: Some(head), block: Some((block, 3.0)), lookup: None };
        let mut simulation = text.simulation(FLAT);
        let chat = simulation.new_chat();
        let (mut unread, mut caught_up_probes, mut other_probes) = (0, 0, 0);
        for step in 0..4000 {
            let view = RowView {
                drafting: Drafting::Auto,
                room: 100,
                head: usize::MAX,
                block: MAX_CHAIN,
                lookup: None,
                chat,
            };
            let drafts = simulation.policy.choose(&[view])[0];
            let is_probe = drafts.drafter == probed && drafts.depth > 0;
            let caught_up = is_probe && unread > MOST_UNREAD;
            let right = text.right(drafts.drafter);
            let accepted = (0..drafts.depth).take_while(|&i| chance(step, i) < right).count();
            let milliseconds = text.milliseconds(FLAT, drafts) + if caught_up { 6.0 } else { 0.0 };
            let rows = &[RowOutcome { chat, drafts, accepted, lookup: None }];
            let (shape, took) = (StepShape::of(&[drafts]), Some(Duration::from_secs_f64(milliseconds / 1e3)));
            simulation.policy.observe(&StepView {
                rows,
                shape,
                took,
                caught_up,
                pipelined: None,
                in_company: false,
            });
            unread = if is_probe { 0 } else { unread } + 1 + accepted;
            caught_up_probes += usize::from(caught_up);
            other_probes += usize::from(is_probe && !caught_up);
        }
        let counts = format!("{probed:?}: {caught_up_probes} and {other_probes}");
        assert!(caught_up_probes > 5 && other_probes >= caught_up_probes, "{counts}");
        assert!(caught_up_probes + other_probes < 600, "{counts}");
        let shape = StepShape { rows: 1, width: 4, longest: 4, chain: 0, guesses: 0, block: true };
        let cost = &simulation.policy.figures.cost;
        let block = cost.step(shape).unwrap() - cost.pass(4).unwrap();
        assert!((2.7e-3..3.3e-3).contains(&block), "{block}");
    }
}

/// Without a head too, a draft model rests while its guesses are wrong, and comes back.
#[test]
fn a_draft_model_alone_rests_where_it_does_not_pay_and_comes_back() {
    let right = |right| Text { head: None, block: Some((right, 3.0)), lookup: None };
    let mut simulation = right(0.8).simulation(FLAT);
    let mut share = |text, steps| {
        let written = write(&mut simulation, FLAT, text, Drafting::Auto, steps);
        written.by(DrafterKind::Dflash) as f64 / steps as f64
    };
    assert!(share(right(0.8), 200) > 0.9);
    assert!(share(right(0.02), 400) < 0.25);
    assert!(share(right(0.8), 400) > 0.7);
}
