//! Replies that are bound to a form read the same with drafts and without, alone and in company, and have the form.

use std::collections::BTreeMap;

use foretoken_calls::{Tools, TypedCall};
use foretoken_engine::checkpoint::Config;
use foretoken_engine::constrain::{Compiler, Constraint as EngineConstraint, ConstraintState};
use foretoken_engine::decode::{Batch, RowSpec};
use foretoken_engine::mlx::Dtype;
use foretoken_engine::model::Qwen;
use foretoken_engine::score::{CHUNK, score};
use foretoken_engine::session::{Calls, Progress, Reply, ReplyRequest, Session, TokenPrompt};
use foretoken_engine::text::Tokenizer;
use foretoken_protocol::{
    AcceptanceRule, CallRule, ChatMessage, Constraint, Drafting, ErrorReport, FinishReason, Format,
    GenerationSettings, PositionStats, Sampling,
};
use foretoken_tests::fixtures::{Stored, demo_model, fixture, load, tiny_dense, write_raw};
use foretoken_tests::known::samplings;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{alone, forced, greedy, read};
use serde_json::{Map, Value, json};

/// `<|im_end|>` of the small model.
const END: u32 = 962;

/// A schema of values that are soon written.
fn schema(rng: &mut Rng, depth: usize) -> Value {
    let kinds = if depth == 0 { 6 } else { 9 };
    match rng.below(kinds) {
        0 => json!({"type": "string", "maxLength": rng.below(6)}),
        1 => json!({"type": "integer", "minimum": 0, "maximum": 1 + rng.below(2000)}),
        2 => json!({"type": "boolean"}),
        3 => json!({"type": "null"}),
        4 => json!({"enum": ["red", "green", 7, null]}),
        5 => json!({"const": "a fixed text"}),
        6 => json!({"anyOf": [schema(rng, depth - 1), schema(rng, depth - 1)]}),
        7 => json!({"type": "array", "maxItems": 1 + rng.below(2), "items": schema(rng, depth - 1)}),
        _ => {
            let names = ["name", "age", "tags", "home"];
            let properties: Map<String, Value> = (0..1 + rng.below(names.len()))
                .map(|place| (names[place].to_owned(), schema(rng, depth - 1)))
                .collect();
            let required: Vec<&String> = properties.keys().filter(|_| rng.below(3) > 0).collect();
            json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
        }
    }
}

/// Whether a value is of a schema, by the definition of each word that [`schema`] uses.
fn fits(schema: &Value, value: &Value) -> bool {
    let list = |key: &str| schema[key].as_array();
    if let Some(values) = list("enum") {
        return values.contains(value);
    }
    if let Some(schemas) = list("anyOf") {
        return schemas.iter().any(|schema| fits(schema, value));
    }
    if let Some(constant) = schema.get("const") {
        return value == constant;
    }
    match (schema["type"].as_str().unwrap(), value) {
        ("string", Value::String(text)) => {
            text.chars().count() as u64 <= schema["maxLength"].as_u64().unwrap()
        }
        ("integer", Value::Number(number)) => {
            number.as_u64().is_some_and(|number| number <= schema["maximum"].as_u64().unwrap())
        }
        ("boolean", Value::Bool(_)) | ("null", Value::Null) => true,
        ("array", Value::Array(items)) => {
            let most = schema["maxItems"].as_u64().unwrap();
            items.len() as u64 <= most && items.iter().all(|item| fits(&schema["items"], item))
        }
        ("object", Value::Object(fields)) => {
            let has = |key: &Value| fields.contains_key(key.as_str().unwrap());
            list("required").unwrap().iter().all(has)
                && fields.iter().all(|(key, value)| {
                    schema["properties"].get(key).is_some_and(|schema| fits(schema, value))
                })
        }
        _ => false,
    }
}

struct Small {
    model: Qwen,
    tokenizer: Tokenizer,
    compiler: Compiler,
}

impl Small {
    fn load() -> Self {
        let model = tiny_dense(Stored::F32);
        let tokenizer = Tokenizer::load(&fixture("tiny-dense")).unwrap();
        let vocab = Config::read(&fixture("tiny-dense")).unwrap().vocab_size;
        let compiler = Compiler::new(tokenizer.clone(), &[END], vocab);
        Self { model, tokenizer, compiler }
    }

    fn spec(&self, rng: &mut Rng, schema: &Value, sampling: Sampling) -> RowSpec {
        let length = 1 + rng.below(20);
        let prompt = rng.prompt(length);
        let asked = Constraint { format: Some(Format::JsonSchema(schema.clone())), ..Constraint::default() };
        let compiled =
            self.compiler.compile(&asked, &Tools::default(), &TokenPrompt::plain(prompt.clone())).unwrap();
        let constraint = compiled.constraint;
        let seed = rng.below(1 << 40) as u64;
        RowSpec { constraint, sampling, seed, stop_ids: vec![END], ..greedy(&prompt, 120) }
    }

    fn check(&self, schema: &Value, tokens: &[u32]) {
        let Some((END, text)) = tokens.split_last().map(|(last, text)| (*last, text)) else { return };
        let text = self.tokenizer.decode(text);
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        assert!(fits(schema, &value), "{value} is not of {schema}");
    }
}

/// The number of random schemas; many more by hand.
fn cases() -> usize {
    std::env::var("FORETOKEN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(6)
}

/// Drafts of the head, drafts that are right at a known rate, and neighbours that are bound otherwise or not at all:
/// nothing of it is to be seen in the text.
#[test]
fn a_bound_row_reads_the_same_with_any_drafts_and_in_company() {
    let small = Small::load();
    let mut rng = Rng::new(11);
    let mut whole = 0;
    for case in 0..cases() {
        let samplings = samplings();
        let sampling = samplings[case % samplings.len()];
        let schema = schema(&mut rng, 2);
        let spec = small.spec(&mut rng, &schema, sampling);
        let plain = alone(&small.model, &RowSpec { drafts: false, ..spec.clone() }, 0).tokens;
        small.check(&schema, &plain);
        whole += usize::from(plain.last() == Some(&END));
        for depth in [1, 2, 4] {
            assert_eq!(alone(&small.model, &spec, depth).tokens, plain, "{schema}, depth {depth}");
            for rate in [0.5, 1.0] {
                let known = forced(&spec, &plain, rate);
                assert_eq!(
                    alone(&small.model, &known, depth).tokens,
                    plain,
                    "{schema}, depth {depth}, {rate}"
                );
            }
        }
        let other =
            RowSpec { constraint: None, stop_ids: Vec::new(), ..small.spec(&mut rng, &schema, sampling) };
        let another = small.spec(&mut rng, &json!({"type": "array", "items": {"type": "boolean"}}), sampling);
        let neighbours = [&other, &another].map(|spec| alone(&small.model, spec, 0).tokens);
        let mut batch = Batch::default();
        for (id, spec) in [&spec, &other, &another].into_iter().enumerate() {
            batch.join(read(&small.model, id as u64, spec)).unwrap();
        }
        let mut together = vec![Vec::new(); 3];
        while !batch.rows().is_empty() {
            let depths: Vec<usize> = batch.rows().iter().map(|row| 1 + row.id as usize).collect();
            for advance in batch.step(&small.model, &depths).unwrap().advances {
                together[advance.row as usize].extend(advance.tokens);
            }
        }
        assert_eq!(together[0], plain, "{schema} in company");
        assert_eq!(together[1..], neighbours);
    }
    assert!(2 * whole > cases(), "{whole} of {} came to their end", cases());
}

/// By rejection the text depends on the drafts, but not its form.
#[test]
fn drafts_that_are_judged_by_rejection_keep_the_form() {
    let small = Small::load();
    let mut rng = Rng::new(12);
    for _ in 0..cases() {
        let schema = schema(&mut rng, 2);
        let sampling =
            Sampling { temperature: 1.0, acceptance: AcceptanceRule::Rejection, ..Sampling::default() };
        let spec = small.spec(&mut rng, &schema, sampling);
        small.check(&schema, &alone(&small.model, &spec, 3).tokens);
    }
}

struct Demo {
    session: Session,
}

impl Demo {
    fn load() -> Self {
        let session = Session::load(&demo_model(), &mut |_, _| std::ops::ControlFlow::Continue(())).unwrap();
        Self { session }
    }

    fn request(&self, asked: &Constraint, tools: &Tools, drafting: Drafting, thinking: bool) -> ReplyRequest {
        let question = ChatMessage::user("Tell me a story.");
        let prompt = self.session.chat_prompt(&[question], None, thinking).unwrap();
        let constraint = self.session.compiler().compile(asked, tools, &prompt).unwrap().constraint;
        let settings = GenerationSettings {
            sampling: Sampling { temperature: 0.8, top_p: 0.95, seed: Some(5), ..Sampling::default() },
            drafting,
            max_tokens: 160,
            thinking: thinking.into(),
            stop: Vec::new(),
        };
        let calls = if tools.is_empty() { Calls::None } else { Calls::Any };
        ReplyRequest { constraint, calls, ..ReplyRequest::new(prompt, settings) }
    }

    fn reply(&mut self, request: ReplyRequest) -> Reply {
        self.session.reply(request, &mut |_| std::ops::ControlFlow::Continue(())).unwrap()
    }

    fn text(&self, reply: &Reply) -> String {
        self.session.tokenizer().decode(&reply.ids)
    }
}

fn tools() -> Tools {
    let parameters = json!({"type": "object", "required": ["place", "days"], "properties": {
        "place": {"enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9},
        "sure": {"type": "boolean"},
    }});
    Tools::new(vec![json!({"type": "function", "function": {"name": "weather", "parameters": parameters}})])
        .unwrap()
}

const DRAFTINGS: [Drafting; 5] = [
    Drafting::Off,
    Drafting::Fixed { depth: 1 },
    Drafting::Fixed { depth: 4 },
    Drafting::Auto,
    Drafting::Lookup,
];

/// What the form dictates is drafted, confirmed by the model, and counted by itself.
#[test]
fn what_the_form_dictates_is_drafted_and_changes_nothing() {
    let mut demo = Demo::load();
    let mut refused = 0;
    let form = json!({"type": "object", "additionalProperties": false, "required": ["headline", "mood"], "properties": {
        "headline": {"type": "string", "maxLength": 20}, "mood": {"enum": ["cheerful", "melancholy"]},
    }});
    let json = Constraint { format: Some(Format::JsonSchema(form.clone())), ..Constraint::default() };
    let call = Constraint { calls: CallRule::Named("weather".into()), ..Constraint::default() };
    for (asked, tools, thinking) in
        [(&json, Tools::default(), false), (&json, Tools::default(), true), (&call, tools(), false)]
    {
        let mut texts = Vec::new();
        for drafting in DRAFTINGS {
            let request = demo.request(asked, &tools, drafting, thinking);
            let reply = demo.reply(request);
            let text = demo.text(&reply);
            if !thinking {
                assert_eq!(reply.reason, FinishReason::Stop, "{text}");
                assert_eq!(
                    reply.stats.forced > 0,
                    drafting != Drafting::Off,
                    "{drafting:?}: {:?}",
                    reply.stats
                );
                assert!(drafting == Drafting::Off || reply.stats.steps < reply.stats.emitted);
                let [drafted, accepted] = drafts(&reply);
                assert!(accepted + reply.stats.forced < reply.stats.emitted + 2);
                assert!(reply.stats.refused_drafts <= drafted - accepted, "{:?}", reply.stats);
                refused += reply.stats.refused_drafts;
            }
            if tools.is_empty() && reply.reason == FinishReason::Stop {
                let answer = text.rsplit("</think>").next().unwrap();
                let value: Value =
                    serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {text}"));
                assert!(
                    fits(&form, &json!({"headline": value["headline"], "mood": value["mood"]})),
                    "{value}"
                );
            }
            if !tools.is_empty() {
                let typed: Vec<TypedCall> =
                    reply.calls.iter().map(|call| TypedCall::new(call, &tools)).collect();
                assert!(
                    matches!(&typed[..], [call] if call.misfits.is_empty() && !call.cut),
                    "{typed:?} in {text}"
                );
            }
            texts.push(text);
        }
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    }
    assert!(refused > 0, "the head knows nothing of the form");
    let free = demo.request(&Constraint::default(), &Tools::default(), Drafting::Fixed { depth: 4 }, false);
    let free = demo.reply(free);
    assert!(drafts(&free)[0] > 0 && free.stats.refused_drafts == 0, "{:?}", free.stats);
}

/// Drafts of a reply that were verified, and those that were right.
fn drafts(reply: &Reply) -> [u32; 2] {
    let of = |count: fn(&PositionStats) -> u32| reply.stats.positions.iter().map(count).sum();
    [of(|position| position.drafted), of(|position| position.accepted)]
}

/// The block is closed behind so many tokens, with drafts or without, and an answer follows.
#[test]
fn a_thinking_budget_is_kept() {
    let mut demo = Demo::load();
    for budget in [0, 12] {
        let asked = Constraint { thinking_budget: Some(budget), ..Constraint::default() };
        let mut ids = Vec::new();
        for drafting in DRAFTINGS {
            let request = demo.request(&asked, &Tools::default(), drafting, true);
            let reply = demo.reply(request);
            let close = demo.session.tokenizer().token_id("</think>").unwrap();
            let closed = reply.ids.iter().position(|&id| id == close).unwrap();
            assert!(closed <= budget as usize + 1, "{closed} for {budget}: {}", demo.text(&reply));
            assert!(reply.ids.len() > closed + 3, "{}", demo.text(&reply));
            assert!(reply.stats.thinking.cut, "{:?}", reply.stats);
            ids.push(reply.ids);
        }
        assert!(ids.iter().all(|other| *other == ids[0]), "{ids:?}");
    }
}

/// A token that is made unlikely does not come, one that is made likely does, and drafts change neither.
#[test]
fn a_bias_is_added_to_the_logits() {
    let mut demo = Demo::load();
    let the = demo.session.tokenizer().encode(" the").unwrap()[0];
    let plain = demo.request(&Constraint::default(), &Tools::default(), Drafting::Off, false);
    assert!(plain.constraint.is_none());
    let plain = demo.reply(plain);
    assert!(plain.ids.contains(&the), "{}", demo.text(&plain));
    for (bias, all) in [(-100.0, false), (100.0, true)] {
        let asked = Constraint { logit_bias: vec![(the, bias)], ..Constraint::default() };
        let mut ids = Vec::new();
        for drafting in DRAFTINGS {
            let request = demo.request(&asked, &Tools::default(), drafting, false);
            ids.push(demo.reply(request).ids);
        }
        assert!(ids[0].iter().all(|&id| (id == the) == all), "{:?}", ids[0]);
        assert!(ids.iter().all(|other| *other == ids[0]), "{ids:?}");
    }
}

/// Several at once, bound and not, through the scheduler: each as alone.
#[test]
fn requests_of_all_kinds_beside_one_another_read_as_alone() {
    let mut demo = Demo::load();
    let list =
        json!({"type": "array", "items": {"enum": ["one", "two", "three"]}, "maxItems": 9, "minItems": 4});
    let json = Constraint { format: Some(Format::JsonSchema(list)), ..Constraint::default() };
    let regex =
        Constraint { format: Some(Format::Regex("[a-z ]{10,30}\\.".into())), ..Constraint::default() };
    let budget = Constraint { thinking_budget: Some(6), ..Constraint::default() };
    let free = Constraint::default();
    let all = [
        (&json, Drafting::Auto, false),
        (&free, Drafting::Fixed { depth: 3 }, false),
        (&regex, Drafting::Off, false),
        (&budget, Drafting::Fixed { depth: 2 }, true),
    ];
    let requests = |demo: &Demo| {
        all.map(|(asked, drafting, thinking)| demo.request(asked, &Tools::default(), drafting, thinking))
    };
    let expected: Vec<Vec<u32>> = requests(&demo).map(|request| demo.reply(request).ids).into();
    for (id, request) in requests(&demo).into_iter().enumerate() {
        demo.session.submit(id as u64, request).unwrap();
    }
    let mut together = vec![Vec::new(); all.len()];
    while !demo.session.is_idle() {
        for (id, progress) in demo.session.pump() {
            match progress {
                Progress::Finished(reply) => together[id as usize] = reply.ids,
                Progress::Failed(error) => panic!("{error}"),
                _ => {}
            }
        }
    }
    assert_eq!(together, expected);
}

/// A grammar that is easily begun, and then has more ways to go on than anybody follows.
fn too_much_work() -> Format {
    const WORDS: usize = 180;
    let pairs = (0..WORDS * WORDS).map(|pair| format!("X{} Y{}", pair / WORDS, pair % WORDS));
    let ways = pairs.collect::<Vec<_>>().join(" | ");
    let words: String =
        (0..WORDS).map(|word| format!("X{word}: /a{word}[a-z]*/\nY{word}: / b{word}[a-z]*/\n")).collect();
    Format::Lark(format!("start: (\"Once\" | \"Then\") \" upon a time\" ways\nways: {ways}\n{words}"))
}

/// A reply whose form can be followed no further ends there, says so, and disturbs nobody.
#[test]
fn a_reply_whose_grammar_gives_out_fails_by_name_and_what_was_written_stays() {
    let mut demo = Demo::load();
    let asked = Constraint { format: Some(too_much_work()), ..Constraint::default() };
    for drafting in [Drafting::Off, Drafting::Fixed { depth: 4 }] {
        let beside = demo.request(&Constraint::default(), &Tools::default(), Drafting::Off, false);
        let expected = demo.reply(beside.clone()).ids;
        let request = demo.request(&asked, &Tools::default(), drafting, false);
        demo.session.submit(1, request).unwrap();
        demo.session.submit(2, beside).unwrap();
        let (mut text, mut failed, mut whole) = (String::new(), None, None);
        while !demo.session.is_idle() {
            for (id, progress) in demo.session.pump() {
                match progress {
                    Progress::Tokens { tokens, .. } if id == 1 => {
                        text.extend(
                            tokens.iter().flat_map(|token| &token.text).map(|part| part.text.as_str()),
                        );
                    }
                    Progress::Rest(tokens) if id == 1 => {
                        text.extend(tokens.iter().map(|part| part.text.as_str()))
                    }
                    Progress::Failed(error) if id == 1 => failed = Some(ErrorReport::from(&error)),
                    Progress::Finished(reply) if id == 2 => whole = Some(reply.ids),
                    Progress::Finished(reply) => panic!("{:?} behind {text:?}", reply.reason),
                    Progress::Failed(error) => panic!("{error}"),
                    _ => {}
                }
            }
        }
        let failed = failed.unwrap_or_else(|| panic!("{text:?}"));
        assert_eq!(failed.code, "grammar_failed");
        assert!(failed.hint.contains("simpler"), "{failed:?}");
        let begins = |begin: &str| !text.is_empty() && format!("{begin} upon a time").starts_with(&text);
        assert!(begins("Once") || begins("Then"), "{text:?}");
        assert_eq!(whole.as_ref(), Some(&expected));
    }
}

/// By either rule and whoever drafts, what is drawn under a mask comes as often as the model's distribution among the
/// tokens that may come says, worked out here from its logits.
#[test]
fn what_is_drawn_under_a_mask_comes_as_often_as_the_masked_distribution_says() {
    const REPLIES: u64 = 300;
    const TEMPERATURE: f32 = 1.6;
    let folder = tempfile::tempdir().unwrap();
    // In f32, so that rounding decides nothing.
    write_raw(&demo_model(), folder.path(), Dtype::Float32);
    let model = load(folder.path());
    let session = Demo::load().session;
    let prompt = TokenPrompt::plain(Rng::new(5).prompt(6));
    let pattern = "(the|a) (sea|sun|sky|bell|boat|wind) (is|was|has) (cold|warm|old|red)";
    let asked = Constraint { format: Some(Format::Regex(pattern.into())), ..Constraint::default() };
    let constraint = session.compiler().compile(&asked, &Tools::default(), &prompt).unwrap().constraint;
    let exact = Masked { model: &model, prompt: &prompt.ids, temperature: TEMPERATURE }
        .distribution(constraint.clone().unwrap());
    for acceptance in [AcceptanceRule::Coupled, AcceptanceRule::Rejection] {
        let sampling = Sampling { temperature: TEMPERATURE, acceptance, ..Sampling::default() };
        let spec = RowSpec { sampling, constraint: constraint.clone(), ..greedy(&prompt.ids, MASKED_TOKENS) };
        let mut counts: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        let (mut drafted, mut accepted) = (0, 0);
        for seeds in (0..REPLIES).collect::<Vec<_>>().chunks(16) {
            let mut batch = Batch::default();
            for &seed in seeds {
                batch.join(read(&model, seed, &RowSpec { seed, ..spec.clone() })).unwrap();
            }
            let mut replies: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            while !batch.rows().is_empty() {
                let depths = vec![2; batch.rows().len()];
                for advance in batch.step(&model, &depths).unwrap().advances {
                    (drafted, accepted) = (drafted + advance.drafted, accepted + advance.accepted);
                    replies.entry(advance.row).or_default().extend(advance.tokens);
                }
            }
            replies.into_values().for_each(|reply| *counts.entry(reply).or_default() += 1.0);
        }
        assert!(drafted > 300 && accepted > 50, "{accepted} of {drafted}");
        let total = REPLIES as f64;
        let (mut chi2, mut cells) = (0.0, 0.0);
        let mut add = |seen: f64, expected: f64| {
            chi2 += (seen - expected).powi(2) / expected;
            cells += 1.0;
        };
        // What is rare counts together.
        let mut rest = (total, total);
        for (reply, chance) in exact.iter().filter(|(_, chance)| *chance * total > 5.0) {
            let seen = counts.get(reply).copied().unwrap_or(0.0);
            add(seen, chance * total);
            rest = (rest.0 - seen, rest.1 - chance * total);
        }
        if rest.1 > 5.0 {
            add(rest.0, rest.1);
        }
        let degrees: f64 = cells - 1.0;
        println!("{acceptance:?}: chi-square {chi2:.1} for {degrees}; {accepted} of {drafted} drafts stayed");
        assert!(degrees >= 8.0, "{degrees}");
        assert!(chi2 < degrees + 4.0 * (2.0 * degrees).sqrt() + 4.0, "{acceptance:?}: {chi2} for {degrees}");
    }
}

/// The tokens of which the distribution is worked out.
const MASKED_TOKENS: usize = 3;

/// The model's distribution among tokens that may come.
struct Masked<'a> {
    model: &'a Qwen,
    prompt: &'a [u32],
    temperature: f32,
}

impl Masked<'_> {
    /// The beginnings of replies of so many tokens that are no rarer than once in two thousand, and their chances.
    fn distribution(&self, constraint: EngineConstraint) -> Vec<(Vec<u32>, f64)> {
        let mut open = vec![(Vec::new(), 1.0)];
        for _ in 0..MASKED_TOKENS {
            let next = open.iter().flat_map(|(tokens, chance)| self.next(&constraint, tokens, *chance));
            open = next.filter(|(_, chance)| *chance > 5e-4).collect();
        }
        open
    }

    fn next(&self, constraint: &EngineConstraint, tokens: &[u32], chance: f64) -> Vec<(Vec<u32>, f64)> {
        let mask = ConstraintState::replayed(constraint.clone(), tokens).mask().unwrap();
        let text = [self.prompt, tokens].concat();
        let logits = score(self.model, &text, CHUNK).unwrap().logits.to_vec::<f32>().unwrap();
        let vocab = logits.len() / text.len();
        let last = &logits[logits.len() - vocab..];
        let weight = |id: usize| f64::from(last[id] / self.temperature).exp();
        let may_come: Vec<usize> = (0..vocab).filter(|&id| mask.allows(id as u32)).collect();
        let all: f64 = may_come.iter().map(|&id| weight(id)).sum();
        let followed = |id: usize| ([tokens, &[id as u32]].concat(), chance * weight(id) / all);
        may_come.into_iter().map(followed).collect()
    }
}
