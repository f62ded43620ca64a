//! Prompts with pictures among other requests: by turns, resumed, preempted, read ahead, without a tower.

use foretoken_engine::decode::RowError;

use super::*;

/// What a scheduler told of its requests, in order.
fn run(scheduler: &mut Scheduler, model: &Qwen, until_idle: usize) -> Vec<SchedulerEvent> {
    let mut events = Vec::new();
    for _ in 0..until_idle {
        if scheduler.is_idle() {
            return events;
        }
        events.extend(scheduler.pump(model));
    }
    panic!("the scheduler is busy after {until_idle} turns: {events:?}");
}

/// The tokens that a request has written.
fn tokens(events: &[SchedulerEvent], row: u64) -> Vec<u32> {
    let advances = events.iter().filter_map(|event| match event {
        SchedulerEvent::Advanced { advance, .. } if advance.row == row => Some(&advance.tokens),
        SchedulerEvent::Failed { error, .. } => panic!("{error}"),
        _ => None,
    });
    advances.flatten().copied().collect()
}

#[test]
fn a_prompt_is_resumed_in_the_middle_of_a_picture() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    let late = goldens.ints("late_ids");
    // Of a prompt on the CPU 512 tokens are read at a time.
    let before: Vec<u32> = (0..440).map(|i| 300 + i * 7 % 400).collect();
    let mut pictures = placed(&goldens, "late");
    pictures[0].span.begin += before.len();
    let span = pictures[0].span.range();
    assert!(span.contains(&512) && span.start + 1 < 512);
    // They part behind the picture.
    let prompt = |tail: u32| {
        let ids = [&before[..], &late, &[tail, 301, 302, 303]].concat();
        RowSpec { pictures: pictures.clone(), ..greedy(&ids, 8) }
    };
    let limits = Limits { prefix_cache_bytes: 64 << 20, ..Limits::default() };
    let mut scheduler = Scheduler::new(&model, limits, eager_policy());
    let (first, cached) = write(&mut scheduler, &model, 1, prompt(310));
    assert_eq!((first, cached), (alone(&model, &prompt(310), 0).tokens, 0));
    let (second, cached) = write(&mut scheduler, &model, 2, prompt(320));
    assert_eq!((second, cached), (alone(&model, &prompt(320), 0).tokens, 512));
}

#[test]
fn a_preempted_chat_goes_on_behind_its_picture() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    let specs = ["one", "late"].map(|prompt| spec(&goldens, prompt));
    let longest = specs.iter().map(|spec| spec.prompt.len() + spec.max_tokens).max().unwrap();
    // Room for one reply and the beginning of another.
    let row = |positions| Footprint::of(&model).row(positions);
    let memory = row(longest) + row(specs[0].prompt.len() + 8);
    let limits = Limits { memory, reserve: 1, ..Limits::default() };
    let mut scheduler = Scheduler::new(&model, limits, eager_policy());
    for (id, spec) in (0..).zip(&specs) {
        let long = RowSpec { max_tokens: 300, ..spec.clone() };
        scheduler.submit(id, long, Drafting::Fixed { depth: 2 }).unwrap();
    }
    let events = run(&mut scheduler, &model, 5000);
    assert!(scheduler.counters().preemptions > 0, "{:?}", scheduler.counters());
    for (id, prompt) in (0..).zip(["one", "late"]) {
        let expected = expected(&goldens, prompt);
        assert_eq!(tokens(&events, id)[..expected.len()], expected, "{prompt}");
    }
}

#[test]
fn what_is_read_ahead_of_a_picture_is_not_read_again() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    let limits = Limits { prefix_cache_bytes: 64 << 20, ..Limits::default() };
    let mut scheduler = Scheduler::new(&model, limits, eager_policy());
    // A chat whose next question is being written: all before it can be read.
    let late = spec(&goldens, "late");
    let message_starts = vec![late.prompt.len() - 1];
    let prompt = [&late.prompt[..], &[961, 84, 634, 198, 54, 71, 286]].concat();
    let late = RowSpec { message_starts, max_tokens: 12, ..late };
    let question = RowSpec { reply_from: prompt.len(), prompt, ..late.clone() };
    scheduler.read_ahead(&model, late);
    let mut moments = 0;
    while scheduler.reads_ahead() {
        scheduler.read_on(&model).unwrap();
        moments += 1;
    }
    assert!(moments > 3, "the picture takes several moments: {moments}");
    let expected = alone(&model, &question, 0).tokens;
    let span = question.pictures[0].span.range();
    let (reply, cached) = write(&mut scheduler, &model, 1, question);
    assert_eq!(reply, expected);
    assert!(cached >= span.end, "{cached} of {span:?}");
}

#[test]
fn many_pictures_do_not_hold_up_another_prompt() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    // A block of the tower at a time.
    let limits = Limits { max_stall: std::time::Duration::ZERO, ..Limits::default() };
    let mut scheduler = Scheduler::new(&model, limits, eager_policy());
    // Somebody is being answered meanwhile.
    let answered = RowSpec { max_tokens: 200, ..spec(&goldens, "plain") };
    scheduler.submit(0, answered, Drafting::Off).unwrap();
    while scheduler.batch().rows().is_empty() {
        scheduler.pump(&model);
    }
    scheduler.submit(1, spec(&goldens, "two"), Drafting::Off).unwrap();
    let short = greedy(&goldens.ints("plain_ids"), 4);
    scheduler.submit(2, short, Drafting::Off).unwrap();
    let events = run(&mut scheduler, &model, 5000);
    let first_token = |row: u64| {
        let is_first = |event: &SchedulerEvent| matches!(event, SchedulerEvent::Advanced { advance, .. } if advance.row == row);
        events.iter().position(is_first).unwrap()
    };
    let is_look = |event: &&SchedulerEvent| matches!(event, SchedulerEvent::Looked { .. });
    let looks = events.iter().filter(is_look).count();
    let before = events[..first_token(2)].iter().filter(is_look).count();
    assert!(
        looks >= 6 && before < looks / 2,
        "{before} of {looks} looks before the short prompt's first token"
    );
    assert!(first_token(2) < first_token(1));
    assert_eq!(tokens(&events, 1), expected(&goldens, "two"));
    let looked = events.iter().filter_map(|event| match event {
        SchedulerEvent::Looked { row: 1, looked, .. } => Some((looked.done, looked.total)),
        _ => None,
    });
    let looked: Vec<(u32, u32)> = looked.collect();
    let blocks = 2 * model.vision.as_ref().unwrap().tower.depth() as u32;
    assert!(looked.is_sorted() && looked.iter().all(|(_, total)| *total == blocks), "{looked:?} of {blocks}");
    assert_eq!((looked[0].0, looked.last()), (1, Some(&(blocks, blocks))), "{looked:?}");
}

#[test]
fn pictures_are_refused_where_there_is_no_tower_and_where_their_pixels_are_gone() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    let blind = Qwen { vision: None, ..model.clone() };
    let refused = |model: &Qwen, spec: &RowSpec| {
        let mut scheduler = Scheduler::new(model, Limits::default(), eager_policy());
        scheduler.submit(1, spec.clone(), Drafting::Off).unwrap();
        let events = run(&mut scheduler, model, 100);
        match events.into_iter().last() {
            Some(SchedulerEvent::Failed { row: 1, error }) => error,
            event => panic!("{event:?}"),
        }
    };
    let mut one = spec(&goldens, "one");
    assert_eq!(refused(&blind, &one), RowError::NoTower);
    let gone = PixelsFile { path: "/nowhere/pixels.rgb".into(), ..(*one.pictures[0].pixels).clone() };
    one.pictures[0].pixels = Arc::new(gone);
    assert!(matches!(refused(&model, &one), RowError::Pixels(_)));
}

/// Two questions about one picture: the tower looks at it once, and a picture has its turns beside a long text.
#[test]
fn a_picture_is_looked_at_once_and_is_not_starved() {
    let (model, goldens) = (tiny_vision("tiny-vision", &["--dtype", "float32"]), goldens());
    let limits = Limits { max_stall: std::time::Duration::ZERO, ..Limits::default() };
    let mut scheduler = Scheduler::new(&model, limits, eager_policy());
    let answered = RowSpec { max_tokens: 300, ..spec(&goldens, "plain") };
    scheduler.submit(0, answered, Drafting::Off).unwrap();
    while scheduler.batch().rows().is_empty() {
        scheduler.pump(&model);
    }
    for id in [1, 2] {
        scheduler.submit(id, spec(&goldens, "one"), Drafting::Off).unwrap();
    }
    let events = run(&mut scheduler, &model, 5000);
    let depth = model.vision.as_ref().unwrap().tower.depth();
    let looks = events.iter().filter(|event| matches!(event, SchedulerEvent::Looked { .. })).count();
    assert!(looks <= depth + 1, "{looks} looks at one picture of {depth} blocks");
    for id in [1, 2] {
        assert_eq!(tokens(&events, id), expected(&goldens, "one"));
    }

    let long: Vec<u32> = (0..3000).map(|i| 300 + i * 7 % 400).collect();
    scheduler.submit(3, greedy(&long, 4), Drafting::Off).unwrap();
    scheduler.submit(4, spec(&goldens, "late"), Drafting::Off).unwrap();
    let events = run(&mut scheduler, &model, 5000);
    let ended = |row: u64| {
        let is_end = |event: &SchedulerEvent| matches!(event, SchedulerEvent::Advanced { advance, .. } if advance.row == row && advance.finish.is_some());
        events.iter().position(is_end).unwrap()
    };
    assert!(
        ended(4) < ended(3),
        "the chat with a picture of one chunk is written before a text of six chunks is read"
    );
}
