//! What a draft model has read of a row goes where the row goes: into the prefix cache and out of it, and to a file and
//! back; and it is counted with the row's memory.

use std::collections::BTreeMap;

use foretoken_engine::cache::{DraftContext, PrefixStore};
use foretoken_engine::decode::{
    Batch, DraftPlan, Footprint, Limits, PrefillTask, Row, RowId, RowSpec, Scheduler, SchedulerEvent,
};
use foretoken_engine::mlx::Array;
use foretoken_engine::model::{DraftModel, DraftRow, Qwen};
use foretoken_protocol::Drafting;
use foretoken_tests::drafted::{HIDDEN, TAPS, dflash, drafted, floats, fresh_context, visible};
use foretoken_tests::fixtures::{Stored, tiny_dense};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, eager_policy, forced, greedy, read};
use foretoken_tests::states::{Difference, F32_ROUNDING, check_invariants, relative_values, states};

/// Room for everything.
const ROOMY: Limits = Limits {
    memory: u64::MAX,
    reserve: 4096,
    prefix_cache_bytes: u64::MAX,
    max_stall: std::time::Duration::from_millis(200),
};
/// Depths of a row whose drafting is interrupted again and again.
const INTERRUPTED: [usize; 8] = [0, 3, 0, 1, 5, 0, 0, 7];

fn store() -> PrefixStore {
    let mut store = PrefixStore::default();
    store.set_budget(u64::MAX);
    store
}

/// Reads a prompt and stores it at every place where it is cut; returns these places.
fn store_prompt(model: &Qwen, spec: &RowSpec, store: &mut PrefixStore) -> Vec<usize> {
    let mut task = PrefillTask::new(model, Row::new(0, spec.clone())).unwrap();
    let mut places = Vec::new();
    while !task.is_read() {
        task.advance(model, 3, 1).unwrap();
        if let Some((tokens, cache, snapshot, likely)) = task.to_store()
            && places.last() != Some(&tokens.len())
        {
            places.push(tokens.len());
            store.insert(&tokens, cache, &snapshot, likely).unwrap();
        }
    }
    places
}

fn batch(task: PrefillTask) -> Batch {
    let mut batch = Batch::default();
    batch.join(task).unwrap();
    batch
}

fn context(row: &Row) -> &DraftContext {
    row.cache().draft.as_ref().expect("a context")
}

/// Where a context ends, what is seen of it, and the logits of a block behind it.
fn shown(model: &Qwen, row: &Row) -> (usize, Vec<Vec<f32>>, Vec<f32>) {
    let draft = model.draft.as_ref().unwrap();
    let mut context = context(row).clone();
    let (end, seen) = (context.end(), visible(&context));
    let last = Array::from_slice(&[row.context()[end]], &[1]).unwrap();
    let row = DraftRow { last, count: draft.most_guesses(), context: &mut context };
    let block = draft.draft(model, &mut [row]).unwrap().pop().unwrap();
    (end, seen, block.map_or(Vec::new(), |block| floats(block.logits())))
}

/// Runs what is in a batch to the end.
fn finish(
    model: &Qwen,
    batch: &mut Batch,
    plan: impl Fn(RowId, usize) -> DraftPlan,
) -> BTreeMap<RowId, Reply> {
    let mut replies: BTreeMap<RowId, Reply> = BTreeMap::new();
    for step in 0.. {
        check_invariants(batch);
        let ids: Vec<RowId> = batch.rows().iter().map(|row| row.id).collect();
        if ids.is_empty() {
            break;
        }
        batch.look_up(&ids);
        let plans: Vec<DraftPlan> = ids.iter().map(|&id| plan(id, step)).collect();
        for advance in batch.step(model, &plans).unwrap().advances {
            replies.entry(advance.row).or_default().add(&advance);
        }
    }
    replies
}

/// Whatever the length of a stored beginning beside the window, and whether anything is read behind it or not: the
/// draft model has then read what it reads of a fresh prefill, bit for bit, and drafts the same from it.
#[test]
fn a_restored_context_is_that_of_a_fresh_prefill_bit_for_bit() {
    let mut rng = Rng::new(1);
    let cuts = vec![40, 80, 300];
    let spec = RowSpec { message_starts: cuts.clone(), ..greedy(&rng.prompt(330), 8) };
    // Of which as many positions are seen as a beginning has, one less and one more; shorter than all, and so full more
    // than once; longer than all.
    for window in [40, 41, 42, 6, 400] {
        let model = drafted(window);
        let mut store = store();
        let places = store_prompt(&model, &spec, &mut store);
        assert_eq!(places, cuts);
        for place in places {
            // The place itself, the tokens up to the next one, and a branch that parts inside of that.
            let branch = [&spec.prompt[..place + 7], &[1, 2, 3], &rng.prompt(20)[..]].concat();
            for prompt in [spec.prompt[..=place].to_vec(), spec.prompt[..place + 20].to_vec(), branch] {
                let spec = RowSpec { message_starts: cuts.clone(), ..greedy(&prompt, 8) };
                let prefix = store.find(&prompt).unwrap();
                assert_eq!(prefix.len(), place);
                let mut task = PrefillTask::resume(Row::new(0, spec.clone()), &prefix).unwrap();
                task.read_all(&model).unwrap();
                let (mut restored, mut fresh) = (batch(task), batch(read(&model, 0, &spec)));
                let what = format!("window {window}, {place} of {}", prompt.len());
                let [one, other] = [&restored, &fresh].map(|batch| shown(&model, &batch.rows()[0]));
                assert_eq!(one, other, "{what}");
                assert_eq!((one.0, one.2.is_empty()), (prompt.len() - 1, false), "{what}");
                let difference = Difference::between(&states(&restored)[0], &states(&fresh)[0]);
                assert!(difference.most() == 0.0, "{what}: {difference}");
                if prompt.len() > place + 20 {
                    let plan = |_, step: usize| dflash(INTERRUPTED[step % 8]);
                    let replies = [&mut restored, &mut fresh].map(|batch| finish(&model, batch, plan));
                    assert_eq!(replies[0], replies[1], "{what}");
                    assert!(!replies[0][&0].drafted.is_empty(), "{what}");
                }
            }
        }
    }
}

/// What was stored of a row without a draft model, in whole or in part, gives a row that goes on without.
#[test]
fn a_stored_beginning_without_a_context_gives_the_same_text() {
    let (model, plain) = (drafted(60), tiny_dense(Stored::F32));
    let mut rng = Rng::new(2);
    let spec = RowSpec { message_starts: vec![50, 100, 150], ..greedy(&rng.prompt(170), 20) };
    let first = RowSpec { prompt: spec.prompt[..120].to_vec(), reply_from: 120, ..spec.clone() };
    // Only the beginning was stored without, and what follows behind it with a context.
    let mut store = store();
    assert_eq!(store_prompt(&plain, &first, &mut store), [50, 100]);
    assert_eq!(store_prompt(&model, &spec, &mut store), [50, 100, 150]);
    for (length, expected) in [(110, 100), (170, 150)] {
        let spec = RowSpec { prompt: spec.prompt[..length].to_vec(), reply_from: length, ..spec.clone() };
        let prefix = store.find(&spec.prompt).unwrap();
        assert_eq!(prefix.len(), expected);
        let mut task = PrefillTask::resume(Row::new(0, spec.clone()), &prefix).unwrap();
        task.read_all(&model).unwrap();
        let mut batch = batch(task);
        assert!(batch.rows()[0].cache().draft.is_none());
        let reply = finish(&model, &mut batch, |_, _| dflash(3)).remove(&0).unwrap();
        assert!(reply.drafted.is_empty());
        assert_eq!(reply.tokens, alone(&plain, &spec, 0).tokens);
    }
}

/// A reply is stored with all that the draft model had not read when it ended, in the middle of a block too, and the
/// next question goes on there.
#[test]
fn the_context_of_a_reply_is_there_for_the_next_question() {
    let model = drafted(60);
    for drafting in [Drafting::Off, Drafting::Fixed { depth: 2 }, Drafting::Dflash { depth: Some(5) }] {
        let mut rng = Rng::new(3);
        let mut scheduler = Scheduler::new(&model, ROOMY, eager_policy());
        let mut tokens = rng.prompt(70);
        for (turn, length) in [30, 70].into_iter().enumerate() {
            let mut spec = greedy(&tokens, length);
            let mut text = alone(&model, &spec, 0).tokens;
            if matches!(drafting, Drafting::Dflash { .. }) {
                // Six tokens a step.
                let first = |at: &usize| !text[..*at].contains(&text[*at]);
                let at = (13..).find(|at| at % 6 == 3 && first(at)).unwrap();
                spec = RowSpec { stop_ids: vec![text[at]], ..forced(&spec, &text, 1.0) };
                text.truncate(at + 1);
            }
            scheduler.submit(turn as RowId, spec, drafting).unwrap();
            let stored = if turn == 0 { 0 } else { tokens.len() - 41 };
            let (mut found, mut reply) = (None, Reply::default());
            while !scheduler.is_idle() {
                for event in scheduler.pump(&model) {
                    match event {
                        SchedulerEvent::Prefilling { done, .. } => _ = found.get_or_insert(done),
                        SchedulerEvent::Advanced { advance, .. } => reply.add(&advance),
                        event => assert!(matches!(event, SchedulerEvent::Waiting { .. }), "{event:?}"),
                    }
                }
                check_invariants(scheduler.batch());
                for row in scheduler.batch().rows().iter().filter(|row| row.emitted().len() % 20 < 2) {
                    let context = context(row);
                    let fresh = fresh_context(&model, row.context(), context.end());
                    for (one, other) in visible(context).iter().zip(visible(&fresh)) {
                        assert!(relative_values(one, &other) < F32_ROUNDING, "turn {turn}");
                    }
                }
            }
            // All but the last token of the reply, which nobody has fed.
            assert_eq!(found, Some(stored), "turn {turn}");
            assert_eq!(reply.tokens, text, "turn {turn}");
            if matches!(drafting, Drafting::Dflash { .. }) {
                assert_eq!(reply.steps, text.len().div_ceil(6), "turn {turn}");
            }
            tokens.extend(reply.tokens);
            tokens.extend(rng.prompt(40));
        }
    }
}

/// Rows of every drafter, one of whose prompts is a single token and one longer than any window.
fn company(model: &Qwen) -> Vec<RowSpec> {
    let mut rng = Rng::new(4);
    let mut spec = |length: usize| {
        let spec = greedy(&rng.prompt(length), 24);
        let text = alone(model, &RowSpec { drafts: false, ..spec.clone() }, 0).tokens;
        forced(&spec, &text, 0.6)
    };
    let mut specs = vec![spec(1), spec(330), spec(20), spec(9)];
    // Its text repeats itself.
    specs.push(greedy(&[5, 6, 7, 8, 9, 10, 5, 6, 7, 8].repeat(3), 24));
    specs
}

fn mixed(id: RowId, step: usize) -> DraftPlan {
    match id {
        0 | 1 => dflash(INTERRUPTED[(step + id as usize) % 8]),
        2 => DraftPlan::from(step % 4),
        3 => dflash(0),
        _ => DraftPlan { drafter: foretoken_engine::decode::DrafterKind::Lookup, depth: 4 },
    }
}

/// A row that stops drafting and begins again at any step, for a while or for long, has a context that is level.
#[test]
fn drafting_may_stop_and_begin_again_at_any_step() {
    let model = drafted(6);
    let spec = greedy(&Rng::new(5).prompt(12), 24);
    let text = alone(&model, &spec, 0).tokens;
    for phase in 0..INTERRUPTED.len() {
        let mut batch = batch(read(&model, 0, &spec));
        let plan = |_, step: usize| dflash(INTERRUPTED[(step + phase) % 8]);
        assert_eq!(finish(&model, &mut batch, plan)[&0].tokens, text, "phase {phase}");
    }
    let long = greedy(&Rng::new(6).prompt(5), 170);
    let plain = alone(&model, &long, 0).tokens;
    let known = forced(&long, &plain, 1.0);
    let mut rested = batch(read(&model, 0, &known));
    let reply = &finish(&model, &mut rested, |_, step| dflash(if step < 150 { 0 } else { 7 }))[&0];
    assert_eq!((&reply.tokens, reply.steps), (&plain, 150 + 3), "{reply:?}");
}

/// After every step all rows go through files, in another order; what they draft and write is what they would have.
#[test]
fn rows_that_move_after_every_step_draft_the_same_bit_for_bit() {
    let model = drafted(40);
    let specs = company(&model);
    let all = || {
        let mut batch = Batch::default();
        for (id, spec) in specs.iter().enumerate() {
            batch.join(read(&model, id as RowId, spec)).unwrap();
        }
        batch
    };
    let (mut staying, mut moving) = (all(), all());
    let (mut stayed, mut moved) = (vec![Reply::default(); specs.len()], vec![Reply::default(); specs.len()]);
    for step in 0.. {
        let mut ids: Vec<RowId> = staying.rows().iter().map(|row| row.id).collect();
        if ids.is_empty() {
            break;
        }
        let by = step % ids.len();
        ids.rotate_left(by);
        let mut back = Batch::default();
        for id in ids {
            let before = moving.rows().iter().find(|row| row.id == id).unwrap();
            let before = (context(before).end(), before.unread_by_draft());
            let mut swapped = moving.remove(&[id]).unwrap().pop().unwrap().swap_out().unwrap();
            // Now and then only a part is moved before the row is wanted back.
            let parts = if step % 3 == 2 { step % 17 } else { usize::MAX };
            let out = (0..parts).take_while(|_| swapped.swap_out_part().unwrap().is_some()).count();
            assert!(out == parts || swapped.resident_bytes() == 0);
            while swapped.swap_in_part().unwrap().is_some() {}
            back.merge(swapped.resume()).unwrap();
            let row = back.rows().last().unwrap();
            assert_eq!((context(row).end(), row.unread_by_draft()), before);
        }
        moving = back;
        for row in moving.rows() {
            let other = staying.rows().iter().find(|other| other.id == row.id).unwrap();
            assert_eq!(shown(&model, row), shown(&model, other), "row {} in step {step}", row.id);
        }
        for (batch, replies) in [(&mut staying, &mut stayed), (&mut moving, &mut moved)] {
            let ids: Vec<RowId> = batch.rows().iter().map(|row| row.id).collect();
            batch.look_up(&ids);
            let plans: Vec<DraftPlan> = ids.iter().map(|&id| mixed(id, step)).collect();
            for advance in batch.step(&model, &plans).unwrap().advances {
                replies[advance.row as usize].add(&advance);
            }
            check_invariants(batch);
        }
    }
    assert_eq!(moved, stayed);
    for (spec, reply) in specs.iter().zip(&stayed) {
        assert_eq!(reply.tokens, alone(&model, spec, 0).tokens);
    }
    let accepted = |id: usize| moved[id].accepted.iter().sum::<usize>();
    assert!([0, 1, 2, 4].into_iter().all(|id| accepted(id) > 0), "{moved:?}");
}

/// Requests that do not fit together are preempted by what their draft model takes too, and come back with it.
#[test]
fn preempted_requests_come_back_with_their_context() {
    let model = drafted(60);
    let mut rng = Rng::new(7);
    let specs: Vec<RowSpec> = (0..3).map(|_| greedy(&rng.prompt(230), 50)).collect();
    // As long as they fit into their first buffers.
    let limits = Limits { memory: 3 * Footprint::of(&model).row(256), reserve: 1, ..Limits::default() };
    let mut scheduler = Scheduler::new(&model, limits, eager_policy());
    for (id, spec) in specs.iter().enumerate() {
        scheduler.submit(id as RowId, spec.clone(), Drafting::Fixed { depth: id as u8 }).unwrap();
    }
    let mut replies = vec![Reply::default(); specs.len()];
    let mut came_back = 0;
    while !scheduler.is_idle() {
        let before: Vec<RowId> = scheduler.batch().rows().iter().map(|row| row.id).collect();
        for event in scheduler.pump(&model) {
            if let SchedulerEvent::Advanced { advance, .. } = event {
                replies[advance.row as usize].add(&advance);
            }
        }
        check_invariants(scheduler.batch());
        for row in scheduler.batch().rows().iter().filter(|row| !before.contains(&row.id)) {
            came_back += usize::from(!row.emitted().is_empty());
            let context = context(row);
            let fresh = fresh_context(&model, row.context(), context.end());
            for (one, other) in visible(context).iter().zip(visible(&fresh)) {
                assert!(relative_values(one, &other) < F32_ROUNDING, "row {}", row.id);
            }
        }
    }
    assert!(scheduler.counters().preemptions > 0 && came_back > 0, "{:?}", scheduler.counters());
    for (spec, reply) in specs.iter().zip(&replies) {
        assert_eq!(reply.tokens, alone(&model, spec, 0).tokens);
    }
}

/// What a draft model keeps of a row is never more than what is set aside for it.
#[test]
fn what_a_draft_model_keeps_was_set_aside() {
    for (window, prompt) in [(6, 1), (6, 255), (200, 500), (700, 250)] {
        let model = drafted(window);
        let of_model = model.row_memory;
        let spec = greedy(&Rng::new(8).prompt(prompt), 110);
        let text = alone(&model, &spec, 0).tokens;
        let mut batch = batch(read(&model, 0, &forced(&spec, &text, 0.8)));
        let mut closest = 0.0f64;
        for step in 0.. {
            let Some(row) = batch.rows().first() else { break };
            let unread = row.unread_by_draft() * TAPS.len() * HIDDEN as usize * 4;
            let kept = (context(row).bytes() + unread) as f64;
            let set_aside = |positions| Footprint::of(&model).row(positions) - of_model.row(positions);
            let most = set_aside(row.context().len()) as f64;
            assert!(kept <= most, "window {window}, prompt {prompt}, step {step}: {kept} of {most}");
            closest = closest.max(kept / most);
            batch.step(&model, &[dflash(if step < 60 { 0 } else { step % 8 })]).unwrap();
        }
        assert!(closest > 0.4, "window {window}, prompt {prompt}: {closest}");
    }
    assert_eq!(Footprint::of(&tiny_dense(Stored::F32)).row(9), drafted(6).row_memory.row(9));
    assert!(DraftModel::memory(drafted(6).draft.as_ref().unwrap()).weights > 0);
}
