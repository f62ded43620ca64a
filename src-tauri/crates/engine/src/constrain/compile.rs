//! From what is asked of a reply to the state machine that enforces it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use foretoken_calls::{CALL_TAGS, CallForm, Tools};
use foretoken_protocol::{CallRule, Constraint as Asked, Format, Part};
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{InferenceCapabilities, TokEnv};
use llguidance::{Matcher, ParserFactory};

use super::error::ConstraintError;
use super::lark::{self, Callable};
use super::state::{Answer, Constraint, Rules};
use super::vocabulary::Vocabulary;
use crate::text::{CLOSE_THINKING, TokenPrompt, Tokenizer};

/// The most lines of a grammar, each of which may refer to the next.
const MOST_LINES: usize = 1000;
/// The most that is done for the tokens of one position, so that a slow grammar does not hold others up for long.
const MOST_LEXER_FUEL: u64 = 100_000;
const MOST_PARSER_ITEMS: usize = 25_000;

/// The most states of a lexer: far more than sensible grammars have.
const MOST_LEXER_STATES: usize = 50_000;

/// Compiles grammars for a model, on any thread. Clones share the vocabulary, which is made when it is needed first.
#[derive(Clone)]
pub struct Compiler {
    tokenizer: Tokenizer,
    /// Tokens that end a reply.
    stop_ids: Arc<[u32]>,
    /// Tokens that the model knows.
    vocab: usize,
    /// How the model writes calls.
    form: CallForm,
    factory: Arc<OnceLock<Result<ParserFactory, String>>>,
}

/// What binds a reply.
#[derive(Debug, Default)]
pub struct Compiled {
    /// `None` where nothing does.
    pub constraint: Option<Constraint>,
    /// Tools that must be called and whose schemas cannot be enforced, though nobody has called them strict: any
    /// arguments may come.
    pub unbound_tools: Vec<String>,
}

impl Compiler {
    /// For a model with this tokenizer, whose replies end with any of these tokens. `vocab`: the number of its logits.
    pub fn new(tokenizer: Tokenizer, stop_ids: &[u32], vocab: usize) -> Self {
        let (form, factory) = (CallForm::default(), Arc::default());
        Self { tokenizer, stop_ids: stop_ids.into(), vocab, form, factory }
    }

    /// For a model that writes calls so.
    pub fn with_calls_in(self, form: CallForm) -> Self {
        Self { form, ..self }
    }

    /// Whether it is known what ends the thinking.
    pub fn can_close_thinking(&self) -> bool {
        self.tokenizer.token_id(CLOSE_THINKING).is_some()
    }

    /// What binds a reply to `prompt`, which offers `tools`.
    pub fn compile(
        &self,
        asked: &Asked,
        tools: &Tools,
        prompt: &TokenPrompt,
    ) -> Result<Compiled, ConstraintError> {
        if let Some(&(token, _)) = asked.logit_bias.iter().find(|(id, _)| *id as usize >= self.vocab) {
            return Err(ConstraintError::UnknownToken { token, known: self.vocab });
        }
        let (answer, unbound_tools) = self.answer(asked, tools)?;
        let binds_answer = !matches!(answer, Answer::Free);
        if binds_answer && prompt.reply_from < prompt.ids.len() {
            return Err(ConstraintError::Resumed);
        }
        if !binds_answer && asked.thinking_budget.is_none() && asked.logit_bias.is_empty() {
            return Ok(Compiled::default());
        }
        let thinks = prompt.start.part == Part::Thinking;
        let close = self.tokenizer.token_id(CLOSE_THINKING);
        if thinks && close.is_none() && (binds_answer || asked.thinking_budget.is_some()) {
            return Err(ConstraintError::ThinkingUnknown);
        }
        let closing = self.tokenizer.encode(&format!("\n{CLOSE_THINKING}\n\n"));
        let closing = closing.ok().filter(|ids| !ids.is_empty()).ok_or(ConstraintError::ThinkingUnknown)?;
        // What is gone on with has thought already.
        let thought = if thinks { prompt.ids.len() - prompt.reply_from } else { 0 };
        let budget = asked.thinking_budget.map(|budget| (budget as usize).saturating_sub(thought));
        let constraint = Constraint::new(
            answer,
            Rules {
                thinks,
                close,
                closing,
                budget,
                ends: [&self.stop_ids[..], &prompt.stop_ids].concat(),
                bias: asked.logit_bias.clone(),
                vocab: self.vocab,
            },
        );
        Ok(Compiled { constraint: Some(constraint), unbound_tools })
    }

    /// What binds the answer, and the tools whose schemas it leaves out.
    fn answer(&self, asked: &Asked, tools: &Tools) -> Result<(Answer, Vec<String>), ConstraintError> {
        let form = self.form;
        let inputs = &asked.inputs;
        let callable = Callable { tools, inputs, only: None, unbound: &[], form };
        let free_calls = (!tools.is_empty()).then_some(callable);
        let calls = match &asked.calls {
            CallRule::Free => None,
            _ if tools.is_empty() => return Err(ConstraintError::NoTools),
            CallRule::Required => free_calls,
            CallRule::Named(name) if tools.parameters(name).is_some() => {
                Some(Callable { only: Some(name), ..callable })
            }
            CallRule::Named(name) => return Err(ConstraintError::UnknownTool { name: name.clone() }),
        };
        check_lines(inputs.values())?;
        check_lines(&asked.format)?;
        let whole = |what, grammar| self.matcher(what, grammar).map(Answer::Whole);
        if let Some(calls) = calls {
            return self.calls(calls);
        }
        let answer = match &asked.format {
            Some(Format::JsonSchema(schema)) => whole("schema", lark::answer(Some(schema), free_calls)?),
            Some(Format::Regex(pattern)) => {
                whole("pattern", TopLevelGrammar::from_lark(lark::pattern(pattern)))
            }
            Some(Format::Lark(grammar)) => whole("grammar", TopLevelGrammar::from_lark(grammar.clone())),
            None if tools.names().any(|name| callable.is_bound(name)) => {
                let begin = self.tokenizer.token_id(CALL_TAGS[0]).ok_or(ConstraintError::CallsUnknown)?;
                let call = self.matcher("call", lark::strict_call(callable)?)?;
                Ok(Answer::Calls { begin, call })
            }
            None => Ok(Answer::Free),
        };
        Ok((answer?, Vec::new()))
    }

    /// Calls that must come, and the tools whose schemas are too odd for that. Of strict ones, that is an error.
    fn calls(&self, calls: Callable<'_>) -> Result<(Answer, Vec<String>), ConstraintError> {
        let bound = |calls| self.matcher("call", lark::answer(None, Some(calls))?).map(Answer::Whole);
        let error = match bound(calls) {
            Ok(answer) => return Ok((answer, Vec::new())),
            Err(error) => error,
        };
        let names = calls.tools.names().filter(|name| calls.only.is_none_or(|only| only == *name));
        let unbound: Vec<String> = names
            .filter(|name| !calls.is_bound(name) && bound(Callable { only: Some(name), ..calls }).is_err())
            .map(str::to_owned)
            .collect();
        if unbound.is_empty() {
            return Err(error);
        }
        bound(Callable { unbound: &unbound, ..calls }).map(|answer| (answer, unbound.clone()))
    }

    fn matcher(&self, what: &'static str, grammar: TopLevelGrammar) -> Result<Box<Matcher>, ConstraintError> {
        // What follows the first line is an excerpt of a grammar that nobody has written.
        let refused = |reason: String| {
            let reason = reason.lines().next().unwrap_or_default().trim_end().to_owned();
            ConstraintError::Grammar { what, reason }
        };
        let factory = self.factory.get_or_init(|| self.factory()).as_ref();
        let factory = factory.map_err(|reason| refused(reason.clone()))?;
        let parser = factory.create_parser(grammar).map_err(|error| refused(error.to_string()))?;
        let matcher = Matcher::new(Ok(parser));
        tried(matcher.clone()).map_err(refused)?;
        Ok(Box::new(matcher))
    }

    fn factory(&self) -> Result<ParserFactory, String> {
        let end = self.stop_ids.first().copied().unwrap_or_default();
        let vocabulary: TokEnv = Arc::new(Vocabulary::new(self.tokenizer.clone(), end));
        let slices = llguidance::earley::SlicedBiasComputer::general_slices();
        let mut factory = ParserFactory::new(&vocabulary, InferenceCapabilities::default(), &slices)
            .map_err(|error| error.to_string())?;
        let limits = factory.quiet().limits_mut();
        limits.verbose_errors = false;
        // Each takes one or two kilobytes.
        limits.max_lexer_states = MOST_LEXER_STATES;
        limits.step_lexer_fuel = MOST_LEXER_FUEL;
        limits.step_max_items = MOST_PARSER_ITEMS;
        Ok(factory)
    }
}

/// Refuses grammars with so many lines that what refers to what may be too deep.
fn check_lines<'a>(formats: impl IntoIterator<Item = &'a Format>) -> Result<(), ConstraintError> {
    let is_long = |format: &Format| matches!(format, Format::Lark(text) if text.lines().count() > MOST_LINES);
    if formats.into_iter().any(is_long) {
        let reason = format!("it has more than {MOST_LINES} lines.");
        return Err(ConstraintError::Grammar { what: "grammar", reason });
    }
    Ok(())
}

/// Finds out whether a matcher can do what is asked of it: say what may come, take a token, and be taken back.
fn tried(mut matcher: Matcher) -> Result<(), String> {
    let mask = matcher.compute_mask().map_err(|error| error.to_string())?;
    let Some(token) = mask.first_bit_set() else { return Ok(()) };
    let token = token as u32;
    if matcher.validate_tokens(&[token]).map_err(|error| error.to_string())? == 1 {
        let taken = matcher.consume_token(token).and_then(|()| matcher.rollback(1));
        taken.map_err(|error| error.to_string())?;
    }
    Ok(())
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiler").field("vocab", &self.vocab).finish_non_exhaustive()
    }
}
