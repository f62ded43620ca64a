use super::*;

const DRAFT_PROBE_INTERVAL: usize = 16;

/// A machine: what its steps take, and how often its drafts are right.
#[derive(Clone, Copy)]
struct Machine {
    /// Milliseconds of a step by its width, from 1; the last holds for all that are wider.
    passes: &'static [f64],
    /// Milliseconds of one draft of a chain.
    draft: f64,
    right: f64,
}

/// What running rows on a machine came to.
#[derive(Debug, Default)]
struct Run {
    tokens: usize,
    milliseconds: f64,
    /// Steps by their longest chain.
    deepest: [usize; 9],
    /// The longest step.
    longest: f64,
}

fn run(policy: &mut Policy, machine: Machine, rows: &[Drafting], steps: usize) -> Run {
    let mut acceptance = vec![Acceptance::default(); rows.len()];
    let mut run = Run::default();
    let mut drafting_steps = 0;
    for step in 0..steps {
        let views: Vec<RowView<'_>> = rows
            .iter()
            .zip(&acceptance)
            .map(|(&drafting, acceptance)| RowView {
                drafting,
                room: if drafting == Drafting::Off { 0 } else { 100 },
                acceptance,
            })
            .collect();
        let depths = policy.depths(&views);
        assert_eq!(depths.len(), rows.len());
        let right = |row: usize, position: usize| {
            ((step * 31 + row * 7 + position) as f64 * 0.618_034).fract() < machine.right
        };
        let drafts: Vec<(usize, usize)> = depths
            .iter()
            .enumerate()
            .map(|(row, &depth)| (depth, (0..depth).take_while(|&position| right(row, position)).count()))
            .collect();
        let depth = depths.iter().copied().max().unwrap();
        let width = rows.len() + depths.iter().sum::<usize>();
        let drafting = machine.draft * depth as f64;
        let took = machine.passes[width.min(machine.passes.len()) - 1] + drafting;
        drafting_steps += usize::from(depth > 0);
        let probed = depth > 0 && drafting_steps % DRAFT_PROBE_INTERVAL == 2;
        let milliseconds = |ms: f64| Duration::from_secs_f64(ms / 1e3);
        policy.observe(&StepView {
            drafts: &drafts,
            width,
            depth,
            took: milliseconds(took),
            drafting: probed.then(|| milliseconds(drafting)),
            steady: true,
        });
        for (acceptance, &(drafted, accepted)) in acceptance.iter_mut().zip(&drafts) {
            acceptance.observe(drafted, accepted);
        }
        run.tokens += rows.len() + drafts.iter().map(|&(_, accepted)| accepted).sum::<usize>();
        run.milliseconds += took;
        run.deepest[depth] += 1;
        run.longest = run.longest.max(took);
    }
    run
}

/// A pass over four tokens costs little more than one over one.
const FLAT: Machine = Machine { passes: &[10.0, 10.5, 11.0, 11.5], draft: 1.0, right: 0.9 };
/// Each token costs the same.
const LINEAR: Machine = Machine { passes: &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0], draft: 1.0, right: 0.6 };

#[test]
fn drafts_where_they_pay() {
    let mut policy = Policy::default();
    let run = run(&mut policy, FLAT, &[Drafting::Auto], 400);
    assert!(run.deepest[3] > 320, "{run:?}");
    assert_eq!(policy.note(), None);
}

#[test]
fn stops_and_says_why_where_they_do_not() {
    let mut policy = Policy::default();
    let run = run(&mut policy, LINEAR, &[Drafting::Auto], 400);
    assert!(run.deepest[0] > 380, "{run:?}");
    let note = policy.note().unwrap();
    assert!(note.starts_with("Drafts do not pay here: a pass that checks 1 takes 2.1 times"), "{note}");
    assert!(policy.verdict(1).unwrap().contains("2.1 times as long"));
    assert_eq!((policy.verdict(8), Policy::default().verdict(2)), (None, None));
}

/// Whatever the machine and the drafts are like, finding out costs little.
#[test]
fn is_never_far_below_plain_decoding() {
    for rows in [1, 2, 4, 8] {
        for right in [0.0, 0.3, 0.6, 0.9] {
            for machine in [FLAT, LINEAR, Machine { passes: &[10.0, 11.0, 30.0], ..FLAT }] {
                let machine = Machine { right, ..machine };
                let plain = rows as f64 / machine.passes[rows.min(machine.passes.len()) - 1];
                let run = run(&mut Policy::default(), machine, &vec![Drafting::Auto; rows], 500);
                let rate = run.tokens as f64 / run.milliseconds;
                assert!(rate > 0.96 * plain, "{rows} rows, {right}: {rate} instead of {plain}, {run:?}");
            }
        }
    }
}

/// On stairs a draft that fits below the next one is nearly free, the one after it is not.
#[test]
fn fills_a_stair_and_stops_at_the_next() {
    let stairs =
        Machine { passes: &[10.0, 10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 20.0], draft: 0.2, right: 0.8 };
    let mut policy = Policy::default();
    run(&mut policy, stairs, &[Drafting::Auto; 3], 300);
    let acceptance = Acceptance::default();
    let view = RowView { drafting: Drafting::Auto, room: 100, acceptance: &acceptance };
    let mut widths = [0; 20];
    for _ in 0..20 {
        widths[3 + policy.depths(&[view; 3]).iter().sum::<usize>()] += 1;
    }
    assert!(widths[5] >= 17, "{widths:?}");
}

/// Rows whose requests switched drafts off pay at most the tax for their neighbours' drafts.
#[test]
fn the_tax_is_capped() {
    let machine = Machine { passes: &[10.0, 10.2, 10.9, 13.0, 18.0], draft: 0.1, right: 0.95 };
    let mut policy = Policy::default();
    run(&mut policy, machine, &[Drafting::Auto], 200);
    // Two rows: 10.2. One draft more takes 11.0, two more 13.2; that would pay, but not for the plain row.
    run(&mut policy, machine, &[Drafting::Auto; 2], 200);
    let taxed = run(&mut policy, machine, &[Drafting::Auto, Drafting::Off], 400);
    assert!(taxed.longest <= 1.10 * 10.2, "{taxed:?}");
    assert!(taxed.deepest[1] > 350, "{taxed:?}");
    assert_eq!(policy.note(), None);
    // Where each token costs the same, nothing is below the tax.
    let mut policy = Policy::default();
    run(&mut policy, LINEAR, &[Drafting::Auto; 2], 50);
    let taxed = run(&mut policy, LINEAR, &[Drafting::Auto, Drafting::Off], 100);
    assert_eq!(taxed.deepest[0], 100, "{taxed:?}");
    assert!(policy.note().unwrap().starts_with("Drafts were held back"));
}

/// A row that asks for drafts gets them, and no row that does not.
#[test]
fn fixed_depths_are_kept() {
    let mut policy = Policy::default();
    for drafting in [Drafting::Off, Drafting::Fixed { depth: 8 }] {
        let expected = if drafting == Drafting::Off { 0 } else { 8 };
        let run = run(&mut policy, LINEAR, &[drafting], 50);
        assert_eq!(run.deepest[expected], 50);
    }
    let acceptance = Acceptance::default();
    let view = |drafting, room| RowView { drafting, room, acceptance: &acceptance };
    let rows = [view(Drafting::Fixed { depth: 4 }, 2), view(Drafting::Off, 0), view(Drafting::Auto, 0)];
    assert_eq!(policy.depths(&rows), [2, 0, 0]);
}

#[test]
fn a_pause_of_the_machine_is_soon_forgotten() {
    let mut policy = Policy::default();
    run(&mut policy, FLAT, &[Drafting::Auto], 200);
    policy.observe(&StepView {
        drafts: &[(3, 3)],
        width: 4,
        depth: 3,
        took: Duration::from_secs(5),
        drafting: None,
        steady: true,
    });
    let run = run(&mut policy, FLAT, &[Drafting::Auto], 400);
    assert!(run.deepest[3] > 360, "{run:?}");
}

#[test]
fn comes_back_when_drafts_start_to_pay() {
    let mut policy = Policy::default();
    run(&mut policy, Machine { right: 0.0, ..FLAT }, &[Drafting::Auto], 300);
    assert!(policy.note().is_some());
    let run = run(&mut policy, Machine { right: 0.95, ..FLAT }, &[Drafting::Auto], 2000);
    assert!(run.deepest[3] > 1000, "{run:?}");
}

/// What was learned saves the next start the trials.
#[test]
fn goes_on_with_what_was_learned_before() {
    let mut policy = Policy::default();
    run(&mut policy, FLAT, &[Drafting::Auto], 200);
    let run = run(&mut Policy::new(policy.state().clone()), FLAT, &[Drafting::Auto], 20);
    assert_eq!(run.deepest[3], 20, "{run:?}");
}
