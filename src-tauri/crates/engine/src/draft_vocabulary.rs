//! Chooses the tokens that a model's MTP head drafts from: the most frequent ones in what the model itself writes, as
//! many as make drafting fastest on this machine.
//!
//! Frequencies come from replies to questions of many kinds. Tokens that were never counted follow in the order of
//! their ids: byte-pair encoding numbers its merges from the most frequent on. What each number of tokens yields is
//! measured on replies to other questions.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use foretoken_protocol::{
    ChatMessage, DraftFigures, DraftVocabularyFigures, Drafting, GenerationSettings, KvPrecision, MtpState,
    PositionStats, Sampling, Thinking,
};

use crate::checkpoint::DraftVocabulary;
use crate::decode::PassTimes;
use crate::error::EngineError;
use crate::mlx;
use crate::session::{Prepared, ReplyRequest, Session, TokenPrompt};

/// What the model is asked, in pairs of a kind: the first answer is counted, and drafts are measured on the second.
const QUESTIONS: [&str; 16] = [
    "Tell me a story about an owl and a bell.",
    "Write a short story about a lighthouse.",
    "Explain how a bicycle stays upright.",
    "Why is the sky blue?",
    "Write a Python function that counts the words of a text.",
    "Write a Rust function that reverses a string.",
    "Add 47 and 38, step by step.",
    "What is 12 times 13?",
    "Make a table of three planets and their moons.",
    "List five things to pack for a walk in the rain, as a table.",
    "Translate into German, French and Spanish: The train leaves at noon.",
    "Translate into German, French and Spanish: Where is the library?",
    "用中文写一首关于月亮的短诗。",
    "用中文介绍一下北京。",
    "Answer in JSON: name, colour and price of three fruits.",
    "Write an HTML page with a heading and a list.",
];
/// Tokens of an answer at most.
const TOKENS: u32 = 128;
/// Drafts a step where their acceptance is measured.
const DEPTH: usize = 3;
/// The vocabulary is divided by each of these.
const PARTS: [usize; 4] = [16, 8, 4, 2];
/// How often each is timed, and how many passes at a time.
const TURNS: usize = 3;
const ROUNDS: usize = 6;
/// Drafts must be faster by this factor: less is within what two measurements differ by.
const MARGIN: f64 = 1.03;

/// Measures the model in a folder and keeps the chosen tokens beside it; where nothing is gained there are none kept.
/// `observe` is told how much is done, and of how much.
pub fn choose(
    dir: &Path,
    observe: &mut dyn FnMut(usize, usize),
) -> Result<DraftVocabularyFigures, EngineError> {
    let mut done = 0;
    let mut part_done = || {
        done += 1;
        observe(done, QUESTIONS.len() + (1 + PARTS.len()) + TURNS);
    };
    let prepared = Prepared::read(dir, KvPrecision::Full)?;
    if !matches!(prepared.info().mtp, MtpState::Present { .. }) {
        return Err(EngineError::Request {
            code: "no_mtp_head",
            message: format!("{} has no MTP head whose drafts could be made faster.", prepared.info().name),
            hint: "Choose a checkpoint with a head.",
        });
    }
    let mut session = prepared.load(None, &mut |_, _| ControlFlow::Continue(()))?;
    let _residency = mlx::Residency::hold();
    session.set_draft_vocabulary(None)?;
    let mut answers = Vec::with_capacity(QUESTIONS.len());
    for (index, question) in QUESTIONS.iter().enumerate() {
        answers.push(Answer::to(&mut session, question, index as u64)?);
        part_done();
    }
    let counted: Vec<u32> = answers.iter().step_by(2).flat_map(|answer| &answer.reply).copied().collect();
    let held_out: Vec<&Answer> = answers.iter().skip(1).step_by(2).collect();
    let ranked = ranked(&session, &counted);
    let vocabularies = PARTS.map(|part| {
        let mut ids = ranked[..(ranked.len() / part).max(1)].to_vec();
        ids.sort_unstable();
        ids
    });
    let (before, after) = measure(&mut session, &held_out, &vocabularies, &mut part_done)?;
    let speed = |figures: &DraftFigures| figures.tokens_per_second;
    let best = vocabularies.into_iter().zip(after).max_by(|a, b| speed(&a.1).total_cmp(&speed(&b.1)));
    let Some((ids, after)) = best else { return Ok(DraftVocabularyFigures::default()) };

    let all = || held_out.iter().flat_map(|answer| &answer.reply);
    let known = all().filter(|id| ids.binary_search(id).is_ok()).count();
    let figures = DraftVocabularyFigures {
        vocabulary: ranked.len() as u32,
        tokens: ids.len() as u32,
        coverage: known as f64 / all().count().max(1) as f64,
        kept: speed(&after) > MARGIN * speed(&before),
        before,
        after,
    };
    let (version, counted) = (env!("CARGO_PKG_VERSION").into(), counted.len() as u64);
    let (kept, what) = match figures.kept {
        true => (
            DraftVocabulary { ids, version, counted, figures: figures.clone() }.write(dir),
            "What was chosen for it cannot be kept",
        ),
        false => (
            DraftVocabulary::remove(dir),
            "What was chosen for it before cannot be removed, though it gains nothing",
        ),
    };
    kept.map_err(|error| EngineError::Request {
        code: "draft_vocabulary_not_kept",
        message: format!("{}: {what}: {error}.", session.info.name),
        hint: "Check that the model's folder can be written to.",
    })?;
    Ok(figures)
}

/// What drafting from all tokens and from each of these vocabularies costs and yields. They are timed by turns, so that
/// what else the machine does hits all alike.
fn measure(
    session: &mut Session,
    answers: &[&Answer],
    vocabularies: &[Vec<u32>],
    part_done: &mut dyn FnMut(),
) -> Result<(DraftFigures, Vec<DraftFigures>), EngineError> {
    let all: Vec<Option<&[u32]>> =
        std::iter::once(None).chain(vocabularies.iter().map(|ids| Some(ids.as_slice()))).collect();
    let mut measured = Vec::with_capacity(all.len());
    for &ids in &all {
        session.set_draft_vocabulary(ids)?;
        measured.push(accepted(session, answers)?);
        part_done();
    }
    let (mut drafts, mut pass) = (vec![f64::INFINITY; all.len()], f64::INFINITY);
    for _ in 0..TURNS {
        for (&ids, draft) in all.iter().zip(&mut drafts) {
            session.set_draft_vocabulary(ids)?;
            let times = PassTimes::thoroughly(session.model(), &[1 + DEPTH], ROUNDS)?;
            *draft = times.draft.map_or(*draft, |seconds| draft.min(seconds));
            pass = times.passes.iter().fold(pass, |pass, &(_, seconds)| pass.min(seconds));
        }
        part_done();
    }
    let figures = |((positions, tokens_per_pass), draft): ((Vec<PositionStats>, f64), f64)| DraftFigures {
        positions,
        draft_milliseconds: 1e3 * draft,
        tokens_per_second: tokens_per_pass / (pass + DEPTH as f64 * draft),
    };
    let mut all = measured.into_iter().zip(drafts).map(figures);
    Ok((all.next().unwrap_or_default(), all.collect()))
}

/// A question and what the model writes.
struct Answer {
    prompt: TokenPrompt,
    reply: Vec<u32>,
}

impl Answer {
    fn to(session: &mut Session, question: &str, seed: u64) -> Result<Self, EngineError> {
        // One pair of four thinks first.
        let thinking = seed % 8 < 2;
        let question = ChatMessage::user(question);
        let prompt = session.chat_prompt(&[question], None, thinking)?;
        let sampling = Sampling { seed: Some(seed), ..session.info.defaults };
        let request = ReplyRequest::new(prompt.clone(), settings(sampling, Drafting::Auto));
        let reply = session.reply(request, &mut |_| ControlFlow::Continue(()))?.ids;
        Ok(Self { prompt, reply })
    }
}

fn settings(sampling: Sampling, drafting: Drafting) -> GenerationSettings {
    GenerationSettings { sampling, drafting, max_tokens: TOKENS, thinking: Thinking::Off, stop: Vec::new() }
}

/// All tokens of the vocabulary, the most frequent first. Those that end replies, and those that stand for what is no
/// text, count as frequent.
fn ranked(session: &Session, counted: &[u32]) -> Vec<u32> {
    let mut counts: HashMap<u32, u64> = HashMap::new();
    counted.iter().for_each(|&id| *counts.entry(id).or_default() += 1);
    let ordinary = session.tokenizer().ordinary_vocab_size() as u32;
    let vocab = session.vocab() as u32;
    session.stop_ids().iter().copied().chain(ordinary..vocab.min(ordinary + MOST_ADDED)).for_each(|id| {
        counts.entry(id).or_insert(1);
    });
    let mut ids: Vec<u32> = (0..vocab).collect();
    ids.sort_by_key(|id| (Reverse(counts.get(id).copied().unwrap_or(0)), *id));
    ids
}

/// Of the tokens behind the ordinary ones, how many count as frequent: the others are room that nothing uses.
const MOST_ADDED: u32 = 64;

/// Drafting as the model does now, in greedy replies to these prompts: drafts by position, and tokens per pass.
fn accepted(session: &mut Session, answers: &[&Answer]) -> Result<(Vec<PositionStats>, f64), EngineError> {
    let greedy = Sampling { temperature: 0.0, ..Sampling::default() };
    let settings = settings(greedy, Drafting::Fixed { depth: DEPTH as u8 });
    let (mut positions, mut tokens, mut steps) = (vec![PositionStats::default(); DEPTH], 0, 0);
    for answer in answers {
        let request = ReplyRequest::new(answer.prompt.clone(), settings.clone());
        let stats = session.reply(request, &mut |_| ControlFlow::Continue(()))?.stats;
        for (sum, position) in positions.iter_mut().zip(&stats.positions) {
            sum.drafted += position.drafted;
            sum.accepted += position.accepted;
        }
        tokens += stats.emitted;
        steps += stats.steps;
    }
    Ok((positions, f64::from(tokens) / f64::from(steps).max(1.0)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_chosen_is_kept_beside_the_model_and_drafted_from() {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../resources/demo-model/checkpoint");
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(demo).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        let mut told = Vec::new();
        let figures = choose(folder.path(), &mut |done, total| told.push((done, total))).unwrap();
        assert!(
            told.iter().enumerate().all(|(i, &told)| told == (i + 1, 24)) && told.len() == 24,
            "{told:?}"
        );
        let DraftVocabularyFigures { vocabulary, tokens, coverage, ref before, ref after, kept } = figures;
        assert!((0.3..1.0).contains(&coverage) && tokens < vocabulary, "{figures:?}");
        for drafts in [before, after] {
            assert!(drafts.draft_milliseconds > 0.0 && drafts.tokens_per_second > 0.0, "{figures:?}");
            assert!(drafts.positions.len() == 3 && drafts.positions[0].accepted > 0, "{figures:?}");
        }
        // A busy machine may find nothing that is faster.
        let read = || Prepared::read(folder.path(), KvPrecision::Full).unwrap();
        let loaded = read().load(None, &mut |_, _| ControlFlow::Continue(())).unwrap();
        assert_eq!(loaded.model().draft_head.as_ref().is_some_and(|head| head.is_reduced()), kept);
        // What was kept is drafted from.
        let (version, ids) = (String::new(), (0..vocabulary).step_by(2).collect());
        DraftVocabulary { ids, version, counted: 0, figures: figures.clone() }.write(folder.path()).unwrap();
        let loaded = read().load(None, &mut |_, _| ControlFlow::Continue(())).unwrap();
        assert!(loaded.model().draft_head.as_ref().is_some_and(|head| head.is_reduced()));
        // A damaged file costs the speed and nothing else.
        fs::write(folder.path().join("draft_vocabulary.json"), "[]").unwrap();
        let read = read();
        assert!(
            read.info().notes.iter().any(|note| note.to_string().contains("draft_vocabulary.json")),
            "{:?}",
            read.info()
        );
        let loaded = read.load(None, &mut |_, _| ControlFlow::Continue(())).unwrap();
        assert!(loaded.model().draft_head.is_none());
    }
}
