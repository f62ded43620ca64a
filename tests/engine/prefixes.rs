//! The prefix cache: a reply reads the same whether its prompt was read or cached.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use foretoken_engine::cache::PrefixStore;
use foretoken_engine::decode::{
    Batch, Limits, PREFILL_CHUNK, PrefillTask, Row, RowId, RowSpec, Scheduler, SchedulerEvent,
};
use foretoken_engine::model::Qwen;
use foretoken_engine::session::{ReplyRequest, Session};
use foretoken_protocol::{ChatMessage, Drafting, GenerationSettings, Role, Sampling, Thinking};
use foretoken_tests::chats::{Chat, START, Template};
use foretoken_tests::fixtures::{Stored, demo_in_f32, demo_model, tiny_dense};
use foretoken_tests::known::samplings;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, eager_policy, greedy, read};
use foretoken_tests::states::{Difference, F32_ROUNDING, RowState, fresh, states};

const TEMPLATES: [Template; 2] = [Template::Keeps, Template::DropsThoughts];

/// Room for everything.
const ROOMY: Limits = Limits {
    memory: u64::MAX,
    reserve: 4096,
    prefix_cache_bytes: u64::MAX,
    max_stall: std::time::Duration::from_millis(200),
};

fn spec(chat: &Chat, max_tokens: usize) -> RowSpec {
    let (prompt, message_starts) = chat.prompt();
    RowSpec { message_starts, ..greedy(&prompt, max_tokens) }
}

fn state(task: PrefillTask) -> RowState {
    let mut batch = Batch::default();
    batch.join(task).unwrap();
    states(&batch).remove(0)
}

/// A scheduler with a prefix cache, and what it has said.
struct Harness<'a> {
    model: &'a Qwen,
    scheduler: Scheduler,
    replies: BTreeMap<RowId, Reply>,
    /// Tokens that each request did not have to read.
    cached: BTreeMap<RowId, usize>,
    next: RowId,
}

impl<'a> Harness<'a> {
    fn new(model: &'a Qwen, limits: Limits) -> Self {
        let scheduler = Scheduler::new(model, limits, eager_policy());
        Self { model, scheduler, replies: BTreeMap::new(), cached: BTreeMap::new(), next: 0 }
    }

    fn submit(&mut self, spec: &RowSpec, drafting: Drafting) -> RowId {
        self.next += 1;
        self.scheduler.submit(self.next, spec.clone(), drafting).unwrap();
        self.next
    }

    fn pump(&mut self) {
        for event in self.scheduler.pump(self.model) {
            match event {
                SchedulerEvent::Waiting { .. } | SchedulerEvent::Looked { .. } => {}
                SchedulerEvent::Prefilling { row, done, .. } => _ = self.cached.entry(row).or_insert(done),
                SchedulerEvent::Advanced { advance, .. } => {
                    self.replies.entry(advance.row).or_default().add(&advance);
                }
                SchedulerEvent::Failed { row, error } => panic!("row {row}: {error}"),
            }
        }
    }

    fn tokens(&self, id: RowId) -> &[u32] {
        self.replies.get(&id).map_or(&[], |reply| reply.tokens.as_slice())
    }

    /// Writes one reply: its tokens, and how many tokens of its prompt were cached.
    fn reply(&mut self, spec: &RowSpec, drafting: Drafting) -> (Vec<u32>, usize) {
        let id = self.submit(spec, drafting);
        while !self.scheduler.is_idle() {
            self.pump();
        }
        (self.tokens(id).to_vec(), self.cached[&id])
    }
}

/// Prompts that part from a stored one before, at and behind every place where it was cut go on from the last place
/// before, and what they then have is what they have when they read everything, bit for bit.
#[test]
fn what_is_read_behind_a_cached_prefix_is_the_same_bit_for_bit() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(1);
    let mut chat = Chat::new(Template::DropsThoughts, rng.prompt(50), rng.prompt(PREFILL_CHUNK + 200));
    chat.goes_on(&rng.prompt(70), rng.prompt(90));
    let first = spec(&chat, 1);
    let mut store = PrefixStore::default();
    store.set_budget(u64::MAX);
    let mut task = PrefillTask::new(&model, Row::new(0, first.clone())).unwrap();
    let mut places = Vec::new();
    while !task.is_read() {
        task.advance(&model, 3, 1).unwrap();
        if let Some((tokens, cache, snapshot, likely)) = task.to_store()
            && places.last() != Some(&tokens.len())
        {
            places.push(tokens.len());
            store.insert(&tokens, cache, &snapshot, likely).unwrap();
        }
    }
    assert_eq!((places.len(), store.snapshots()), (5, 5), "{places:?}");
    assert!(places.contains(&chat.question_end()));

    for (i, &place) in places.iter().enumerate() {
        for shared in [place - 1, place, place + 1] {
            let mut prompt = first.prompt[..shared].to_vec();
            // Another token than the stored one, and a further message.
            prompt.push((first.prompt[shared] + 1) % 900);
            prompt.extend(rng.prompt(80));
            prompt.extend([START, 3, 4, 5]);
            let message_starts = (0..prompt.len()).filter(|&position| prompt[position] == START).collect();
            let spec = RowSpec { message_starts, ..greedy(&prompt, 1) };
            let prefix = store.find(&prompt);
            let expected = if shared < place { i.checked_sub(1).map(|i| places[i]) } else { Some(place) };
            assert_eq!(prefix.as_ref().map(|prefix| prefix.len()), expected, "{shared} of {place}");
            let Some(prefix) = prefix else { continue };
            let mut task = PrefillTask::resume(Row::new(0, spec.clone()), &prefix).unwrap();
            assert_eq!(task.progress(), (prefix.len(), prompt.len() - 1));
            task.read_all(&model).unwrap();
            let difference = Difference::between(&state(task), &state(read(&model, 0, &spec)));
            // A prompt that parts just where a message began is not cut there itself.
            let is_cut = shared != place || first.prompt[place] != START;
            let bound = if is_cut { 0.0 } else { F32_ROUNDING };
            assert!(difference.most() <= bound, "{shared} of {place}: {difference}");
        }
    }
}

/// Every way in which a chat goes on, each with how much of it must be cached.
#[test]
fn only_what_is_new_is_read() {
    let model = tiny_dense(Stored::F32);
    for template in TEMPLATES {
        let mut rng = Rng::new(2);
        let mut harness = Harness::new(&model, ROOMY);
        let system = rng.prompt(60);
        let mut chat = Chat::new(template, system.clone(), rng.prompt(100));
        let (mut end, mut before) = (0, Vec::new());
        for turn in 0..4 {
            let spec = spec(&chat, 48);
            let (reply, cached) = harness.reply(&spec, Drafting::Off);
            assert_eq!(reply, alone(&model, &spec, 0).tokens, "{template:?}, turn {turn}");
            assert_eq!(cached, end, "{template:?}, turn {turn}");
            end = match template {
                // All but the last token of the reply, which nobody has fed.
                Template::Keeps => spec.prompt.len() + reply.len() - 1,
                Template::DropsThoughts => chat.question_end(),
            };
            before.push((chat.clone(), chat.question_end()));
            chat.goes_on(&reply, rng.prompt(100));
        }
        // The same question again, and another chat under the same system prompt.
        let (last, question_end) = before.last().unwrap();
        let (_, cached) = harness.reply(&spec(last, 48), Drafting::Auto);
        assert_eq!(cached, *question_end, "{template:?}");
        let other = Chat::new(template, system, rng.prompt(80));
        let (_, cached) = harness.reply(&spec(&other, 8), Drafting::Auto);
        assert_eq!(cached, 63, "{template:?}: the system prompt");
        // An earlier question, in other words. Of the reply before it all is cached that was fed.
        for _ in 0..4 {
            let mut edited = last.clone();
            let question = rng.prompt(50);
            let same = edited.edits(&mut rng, question);
            let spec = spec(&edited, 8);
            let (reply, cached) = harness.reply(&spec, Drafting::Auto);
            assert!((same - 2..=same).contains(&cached), "{cached} of {same}");
            assert_eq!(reply, alone(&model, &spec, 0).tokens);
        }
    }
}

/// The head goes on too: what follows a cached prompt is drafted as well as what follows a read one.
#[test]
fn drafts_are_as_good_as_before() {
    let model = demo_in_f32();
    let session = load();
    let prompt = session.chat_prompt(&[message(Role::User, QUESTION)], None, false).unwrap().ids;
    let spec = RowSpec { message_starts: session.message_starts(&prompt), ..greedy(&prompt, 60) };
    let deep = Drafting::Fixed { depth: 3 };
    let mut harness = Harness::new(&model, ROOMY);
    // The first does not draft itself.
    let (cold, _) = harness.reply(&spec, Drafting::Off);
    let (warm, cached) = harness.reply(&spec, deep);
    assert!(cached >= 32, "{cached}");
    assert_eq!(cold, warm);
    let expected = alone(&model, &spec, 3);
    assert_eq!(harness.replies[&2], expected);
    assert!(expected.accepted[0] * 2 > expected.drafted[0]);
}

#[test]
fn what_the_cache_spares_is_counted() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(7);
    let chat = Chat::new(Template::DropsThoughts, rng.prompt(50), rng.prompt(200));
    let mut harness = Harness::new(&model, ROOMY);
    harness.reply(&spec(&chat, 8), Drafting::Off);
    let first = harness.scheduler.counters();
    assert_eq!((first.prefix_lookups, first.prefix_hits, first.prefix_hit_tokens), (1, 0, 0));
    let (_, cached) = harness.reply(&spec(&chat, 8), Drafting::Off);
    let second = harness.scheduler.counters();
    assert!(cached > 0);
    assert_eq!((second.prefix_lookups, second.prefix_hits, second.prefix_hit_tokens), (2, 1, cached as u64));
}

/// Several chats at once, continued, edited, taken up again and cancelled, beside each other and in a memory that is
/// too small.
struct RandomChats<'a> {
    seed: u64,
    rng: Rng,
    limits: Limits,
    harness: Harness<'a>,
    chats: Vec<Chat>,
    in_flight: BTreeMap<RowId, Asked>,
    /// Tokens of all prompts.
    prompted: usize,
}

/// A request of a chat, and to which depth it drafts.
struct Asked {
    chat: usize,
    spec: RowSpec,
    depth: usize,
}

/// A question, some of which take more than a chunk.
fn any_question(rng: &mut Rng) -> Vec<u32> {
    let most = rng.one_of(&[60, 60, 60, 60, 60, PREFILL_CHUNK + 100]);
    let length = 1 + rng.below(most);
    rng.prompt(length)
}

impl<'a> RandomChats<'a> {
    fn new(model: &'a Qwen, seed: u64) -> Self {
        let mut rng = Rng::new(3000 + seed);
        let template = rng.one_of(&TEMPLATES);
        // From a few snapshots to all of them.
        let prefix_cache_bytes = rng.one_of(&[u64::MAX, 4 << 20, 1 << 20]);
        let memory = rng.one_of(&[u64::MAX, 6 << 20]);
        let limits = Limits { memory, prefix_cache_bytes, ..ROOMY };
        let system = rng.prompt(40);
        let chats = (0..2).map(|_| Chat::new(template, system.clone(), any_question(&mut rng))).collect();
        let harness = Harness::new(model, limits);
        Self { seed, rng, limits, harness, chats, in_flight: BTreeMap::new(), prompted: 0 }
    }

    /// Returns tokens that were cached, and tokens of all prompts.
    fn run(mut self) -> (usize, usize) {
        let mut to_come = 10;
        while to_come > 0 || !self.in_flight.is_empty() {
            while to_come > 0 && (self.in_flight.is_empty() || self.rng.below(4) == 0) {
                to_come -= 1;
                self.ask();
            }
            self.harness.pump();
            self.check_memory();
            if self.rng.below(10) == 0 {
                self.check_states();
            }
            for id in self.ended() {
                let asked = self.in_flight.remove(&id).unwrap();
                let tokens = self.check_text(id, &asked);
                self.go_on(asked.chat, &tokens);
            }
        }
        (self.harness.cached.values().sum(), self.prompted)
    }

    /// Asks the last question of a chat.
    fn ask(&mut self) {
        let rng = &mut self.rng;
        let chat = rng.below(self.chats.len());
        let spec = RowSpec {
            sampling: rng.one_of(&samplings()),
            seed: rng.below(1000) as u64,
            ..spec(&self.chats[chat], 1 + rng.below(70))
        };
        let depth = rng.below(4);
        let drafting = match depth {
            0 => Drafting::Off,
            depth => Drafting::Fixed { depth: depth as u8 },
        };
        self.prompted += spec.prompt.len();
        let id = self.harness.submit(&spec, drafting);
        self.in_flight.insert(id, Asked { chat, spec, depth });
    }

    /// Memory stays within its limits; only a row that is alone may take more.
    fn check_memory(&self) {
        let (seed, Limits { memory, prefix_cache_bytes, .. }) = (self.seed, self.limits);
        let scheduler = &self.harness.scheduler;
        let prefixes = scheduler.prefixes();
        assert!(prefixes.bytes() <= prefix_cache_bytes, "seed {seed}");
        let alone_in = scheduler.prefilling().count() + scheduler.batch().rows().len() == 1;
        let all = scheduler.reserved_bytes().saturating_add(prefixes.bytes());
        assert!(all <= memory || alone_in && prefixes.bytes() == 0, "seed {seed}: {all} of {memory}");
    }

    /// Each row's state is that of a fresh prefill.
    fn check_states(&self) {
        let (seed, batch) = (self.seed, self.harness.scheduler.batch());
        for (row, state) in batch.rows().iter().zip(states(batch)) {
            let difference = Difference::between(&state, &fresh(self.harness.model, row.context()));
            assert!(difference.most() < F32_ROUNDING, "seed {seed}, row {}: {difference}", row.id);
        }
    }

    /// The requests that have ended, with one that is cancelled now and then.
    fn ended(&mut self) -> Vec<RowId> {
        let Harness { model, scheduler, .. } = &mut self.harness;
        let busy: Vec<RowId> = scheduler.waiting().chain(scheduler.prefilling()).collect();
        let running: Vec<RowId> = scheduler.batch().rows().iter().map(|row| row.id).collect();
        let is_there = |id: &RowId| busy.contains(id) || running.contains(id);
        let mut ended: Vec<RowId> = self.in_flight.keys().copied().filter(|id| !is_there(id)).collect();
        if self.rng.below(40) == 0
            && let Some(&id) = self.in_flight.keys().next()
        {
            scheduler.cancel(model, &[id]);
            ended.push(id);
        }
        ended.dedup();
        ended
    }

    /// What was written is what the request gives alone, as far as it went.
    fn check_text(&self, id: RowId, Asked { spec, depth, .. }: &Asked) -> Vec<u32> {
        let tokens = self.harness.tokens(id).to_vec();
        let expected = alone(self.harness.model, spec, *depth).tokens;
        assert_eq!(tokens, expected[..tokens.len()], "seed {}, request {id}", self.seed);
        tokens
    }

    /// A chat goes on behind its reply, or with its question in other words: in its place, or as a branch beside it.
    fn go_on(&mut self, which: usize, reply: &[u32]) {
        let Self { rng, chats, .. } = self;
        let mut chat = chats[which].clone();
        let next = any_question(rng);
        match rng.below(4) {
            0 => _ = chat.edits(rng, next),
            _ => chat.goes_on(reply, next),
        }
        if rng.below(3) == 0 && chats.len() < 5 {
            chats.push(chat);
        } else {
            chats[which] = chat;
        }
    }
}

#[test]
fn random_chats() {
    /// Seeds of a run; more by the environment.
    const SEEDS: u64 = 6;
    let seeds = std::env::var("FORETOKEN_FUZZ_SEEDS").map_or(SEEDS, |seeds| seeds.parse().unwrap());
    let model = tiny_dense(Stored::F32);
    let (mut cached, mut of_all) = (0, 0);
    for seed in 0..seeds {
        let (some, all) = RandomChats::new(&model, seed).run();
        (cached, of_all) = (cached + some, of_all + all);
    }
    println!("{cached} of {of_all} tokens were cached");
    assert!(3 * cached > of_all);
}

const QUESTION: &str = "Tell me a story about an owl and a bell. Then tell me another one, about a fox and a lamp, and \
                        a third one, about a bear and a kite.";

fn message(role: Role, content: &str) -> ChatMessage {
    ChatMessage::new(role, content)
}

fn load() -> Session {
    Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap()
}

/// A chat with the demo model as the app has it, in bfloat16: what is told to be cached is what need not be read, and
/// the text is that of an engine that caches nothing.
#[test]
fn a_chat_with_the_demo_model_reads_the_same_with_and_without_the_prefix_cache() {
    let settings = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Auto,
        max_tokens: 80,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    let mut with = load();
    let mut without = load().with_limits(Limits::default());
    let mut messages = vec![message(Role::User, QUESTION)];
    let mut expected = 0;
    for turn in 0..4 {
        let prompt = with.chat_prompt(&messages, None, false).unwrap();
        let starts = with.message_starts(&prompt.ids);
        let request = ReplyRequest::new(prompt, settings.clone());
        let reply = |session: &mut Session| {
            session.reply(request.clone(), &mut |_| ControlFlow::Continue(())).unwrap()
        };
        let (warm, cold) = (reply(&mut with), reply(&mut without));
        assert_eq!(warm.ids, cold.ids, "turn {turn}");
        assert_eq!(warm.stats.cached_tokens as usize, expected, "turn {turn}");
        assert_eq!(cold.stats.cached_tokens, 0);
        // The template drops the empty thought that the reply began behind.
        expected = *starts.last().unwrap();
        messages.push(message(Role::Assistant, &with.tokenizer().decode(&warm.ids)));
        messages.push(message(Role::User, QUESTION));
    }
}
