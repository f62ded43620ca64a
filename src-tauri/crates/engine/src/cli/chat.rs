//! The `chat` command: a chat with a model in the terminal. Lines are questions or commands; replies appear token by
//! token, with the share of drafts that were accepted. Without a terminal it reads its questions from standard input
//! and writes the replies, and what commands ask for, to standard output.

mod command;
mod conversation;
mod input;
mod interrupt;
mod report;
mod screen;

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use foretoken_engine::session::Session;
use foretoken_protocol::{DEFAULT_MAX_TOKENS, GenerationSettings, Thinking};

use self::command::Command;
use self::conversation::Conversation;
use self::input::{Line, Lines};
use self::interrupt::Interrupt;
use self::screen::{Look, Screen, columns};
use super::options::{DraftingOptions, SamplingOptions, Switch};
use super::{CliError, KvBits, OtherProcesses, RingOptions, engine, prepare_over};

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Chat {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// End each reply after this many tokens.
    #[arg(long, default_value_t = DEFAULT_MAX_TOKENS)]
    max_tokens: u32,
    #[command(flatten)]
    sampling: SamplingOptions,
    /// Let the model think first, where its template knows how.
    #[arg(long, value_enum, default_value = "on")]
    thinking: Switch,
    #[command(flatten)]
    drafting: DraftingOptions,
    /// Mark text that came from drafts.
    #[arg(long)]
    reveal: bool,
    /// Keep keys and values in 8 bits: half the memory, and a text that may differ.
    #[arg(long, value_enum)]
    kv_bits: Option<KvBits>,
    #[command(flatten)]
    ring: RingOptions,
}

impl Chat {
    pub(super) fn run(self) -> Result<(), CliError> {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let look = Look::of_environment(is_terminal);
        let (_ring, session) = self.load()?;
        self.drafting.check(&session, &self.model)?;
        let settings = GenerationSettings {
            sampling: self.sampling.over(session.info.defaults),
            drafting: self.drafting.drafting(),
            max_tokens: self.max_tokens,
            thinking: (self.thinking == Switch::On).into(),
            stop: Vec::new(),
        };
        if let Some(problem) = conversation::invalid(&settings) {
            return Err(CliError::Usage(problem));
        }
        let mut screen = Screen::new(io::stdout(), look, || columns(io::stdout()));
        screen.reveal = self.reveal;
        let mut lines = if is_terminal { Lines::typed()? } else { Lines::piped()? };
        let mut chat = Talk {
            conversation: Conversation::new(session, settings),
            screen,
            interrupt: Interrupt::default(),
        };
        if is_terminal {
            chat.interrupt.listen(look.reset())?;
            chat.screen.note(&report::greeting(&chat.conversation.session.info))?;
        }
        let mut was_interrupted = false;
        loop {
            // Whoever thinks about the next question for long needs no model in memory that answers at once.
            let line = match lines.next(|| chat.conversation.session.rest()) {
                Ok(Line::Text(line)) => line,
                Ok(Line::Interrupted) if !std::mem::replace(&mut was_interrupted, true) => {
                    chat.screen.note("Ctrl-C once more, or Ctrl-D, leaves.")?;
                    continue;
                }
                Ok(Line::Interrupted | Line::End) => return Ok(()),
                // A person can type it again.
                Err(error) if is_terminal && error.kind() == ErrorKind::InvalidData => {
                    chat.screen.problem(&CliError::Line(error).to_string())?;
                    continue;
                }
                Err(error) => return Err(CliError::Line(error)),
            };
            was_interrupted = false;
            match chat.take(&line) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(()),
                // A person reads what is wrong and goes on; a script must hear of it.
                Err(error) if is_terminal && !matches!(error, CliError::Output(_)) => {
                    chat.screen.problem(&error.to_string())?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Loads the model, and says how far it is where somebody looks. What it is spread over goes last.
    fn load(&self) -> Result<(Option<OtherProcesses>, Session), CliError> {
        let draft_model = self.drafting.draft_model.as_deref();
        let (ring, prepared) = prepare_over(&self.ring, &self.model, self.kv_bits, draft_model)?;
        let name = prepared.info().name.clone();
        let look = Look::of_environment(io::stderr().is_terminal());
        let mut told = Screen::new(io::stderr(), look, || columns(io::stderr()));
        let mut shown = None;
        let loaded = prepared.load(None, &mut |done, total| {
            let percent = 100 * done / total.max(1);
            if shown.replace(percent) != Some(percent) {
                // Nothing depends on whether this can be shown.
                let _ = told.transient(&format!("Loading {name} … {percent} %"));
            }
            ControlFlow::Continue(())
        });
        let _ = told.clear_transient();
        Ok((ring, loaded.map_err(engine)?))
    }
}

/// A chat and where it is shown.
struct Talk<W> {
    conversation: Conversation,
    screen: Screen<W>,
    interrupt: Interrupt,
}

impl<W: Write> Talk<W> {
    /// Takes a line: a question or a command.
    fn take(&mut self, line: &str) -> Result<ControlFlow<()>, CliError> {
        if line.trim().is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        if !line.starts_with('/') {
            self.answer(line.trim())?;
            return Ok(ControlFlow::Continue(()));
        }
        let command = Command::parse(line).map_err(CliError::Usage)?;
        if matches!(command, Command::Quit) {
            return Ok(ControlFlow::Break(()));
        }
        self.obey(command)?;
        Ok(ControlFlow::Continue(()))
    }

    fn answer(&mut self, question: &str) -> Result<(), CliError> {
        let Self { conversation, screen, interrupt } = self;
        let writing = interrupt.begin();
        let mut written = Ok(());
        let answered = conversation.questions();
        let reply = conversation.ask(question, &mut |progress| {
            written = screen.show(progress);
            if written.is_err() || interrupt.is_asked_for() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        written?;
        screen.end_reply()?;
        drop(writing);
        let reply = reply.map_err(engine)?;
        let limit = conversation.settings.max_tokens;
        let is_kept = conversation.questions() > answered;
        screen.status(&report::status(&reply, limit, is_kept))?;
        Ok(())
    }

    /// Carries a command out, and says what there is to say.
    fn obey(&mut self, command: Command) -> Result<(), CliError> {
        let Self { conversation, screen, .. } = self;
        let told = match command {
            Command::Mtp(depth) => {
                if let Some(depth) = depth {
                    conversation.set_drafting(depth).map_err(CliError::Usage)?;
                }
                report::drafting(conversation)
            }
            Command::Sampling(changes) => {
                conversation.change_sampling(&changes).map_err(CliError::Usage)?;
                report::sampling(&conversation.settings.sampling)
            }
            Command::Thinking(on) => {
                let thinking = &mut conversation.settings.thinking;
                *thinking = on.map_or(*thinking, Thinking::from);
                report::thinking(conversation)
            }
            Command::Reveal(on) => {
                screen.reveal = on.unwrap_or(!screen.reveal);
                return Ok(screen.explain_marks()?);
            }
            Command::Stats => report::stats(conversation),
            Command::New => {
                conversation.forget();
                "A new chat begins; the model knows nothing of the one before.".into()
            }
            Command::Help => command::HELP.into(),
            Command::Quit => return Ok(()),
        };
        Ok(screen.note(&told)?)
    }
}
