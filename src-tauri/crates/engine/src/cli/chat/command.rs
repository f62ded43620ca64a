//! The commands of a chat: what a line that begins with `/` asks for.

use clap::error::ErrorKind;
use clap::{Args, Parser};
use foretoken_protocol::{Drafting, MAX_DEPTH, Sampling};

use crate::cli::options::SamplingOptions;

/// What `/help` prints.
pub(super) const HELP: &str = "\
/mtp off|auto|1..8     how many tokens the MTP head drafts per pass; or lookup: from the text so far
/sampling              how tokens are drawn
/sampling NAME VALUE   set that, as in /sampling temperature 0.7 top-p 0.9
/sampling seed random  another seed for each reply
/sampling default      draw as the model recommends
/thinking on|off       whether the model thinks before it answers
/reveal                mark text that came from drafts, or stop marking it
/stats                 the numbers of the last reply and of the chat
/new                   begin a new chat
/help                  this list
/quit                  leave; so do Ctrl-D, and Ctrl-C twice where nothing is typed
Ctrl-C stops a reply; one that does not stop is left with another Ctrl-C, two seconds later.
Alt-Enter begins a new line. A question that begins with / needs a space before it.";

/// The commands by name, with what may follow.
const NAMES: [(&str, &[&str]); 9] = [
    ("/help", &[]),
    ("/mtp", &["auto", "off", "lookup"]),
    ("/new", &[]),
    ("/quit", &[]),
    ("/reveal", &["off", "on"]),
    ("/sampling", &["default"]),
    ("/stats", &[]),
    ("/thinking", &["off", "on"]),
    ("/exit", &[]),
];

/// A command. Where it could set something, `None` asks how it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Command {
    Mtp(Option<Drafting>),
    Sampling(Vec<Change>),
    Thinking(Option<bool>),
    Reveal(Option<bool>),
    Stats,
    New,
    Help,
    Quit,
}

/// A change of how tokens are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// All as the model recommends.
    Default,
    /// One setting by its name.
    Set { name: String, value: String },
}

/// The options of `generate` for how tokens are drawn, without the rest of a command line.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct SamplingLine {
    #[command(flatten)]
    options: SamplingOptions,
}

impl Command {
    /// Reads a line that begins with `/`, or says what is wrong with it.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        match name {
            "/mtp" => one(name, &rest, drafting).map(Self::Mtp),
            "/sampling" => changes(&rest).map(Self::Sampling),
            "/thinking" => one(name, &rest, switch).map(Self::Thinking),
            "/reveal" => one(name, &rest, switch).map(Self::Reveal),
            "/stats" => none(name, &rest, Self::Stats),
            "/new" => none(name, &rest, Self::New),
            "/help" => none(name, &rest, Self::Help),
            "/quit" | "/exit" => none(name, &rest, Self::Quit),
            _ => Err(format!("There is no command {name}. /help lists those there are.")),
        }
    }
}

impl Change {
    /// The sampling with this change. `defaults` are the model's own.
    pub(super) fn applied_to(&self, sampling: Sampling, defaults: Sampling) -> Result<Sampling, String> {
        let Self::Set { name, value } = self else { return Ok(defaults) };
        if (name.as_str(), value.as_str()) == ("seed", "random") {
            return Ok(Sampling { seed: None, ..sampling });
        }
        match SamplingLine::try_parse_from([format!("--{name}={value}")]) {
            Ok(line) => Ok(line.options.over(sampling)),
            Err(error) if error.kind() == ErrorKind::UnknownArgument => {
                Err(format!("There is no setting {name}. There are {}.", sampling_names().join(", ")))
            }
            Err(_) => Err(format!("{name} cannot be {value}. /sampling shows what it is now.")),
        }
    }
}

/// What the word that ends at the cursor could become: the place in `line` where it begins, and its completions.
pub(super) fn completions(line: &str, cursor: usize) -> (usize, Vec<String>) {
    let typed = &line[..cursor];
    let begin = typed.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let words: Vec<String> = match typed.split_whitespace().next() {
        _ if !typed.starts_with('/') => Vec::new(),
        _ if begin == 0 => NAMES.iter().map(|(name, _)| format!("{name} ")).collect(),
        Some("/sampling") => {
            sampling_names().into_iter().chain(["default".into()]).map(|name| name + " ").collect()
        }
        Some(command) => {
            let values =
                NAMES.iter().find(|(name, _)| *name == command).map_or(&[][..], |(_, values)| values);
            values.iter().map(ToString::to_string).collect()
        }
        None => Vec::new(),
    };
    (begin, words.into_iter().filter(|word| word.starts_with(&typed[begin..])).collect())
}

fn sampling_names() -> Vec<String> {
    let command = SamplingOptions::augment_args(clap::Command::new("sampling"));
    command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
}

fn drafting(word: &str) -> Result<Drafting, String> {
    match word {
        "off" => Ok(Drafting::Off),
        "auto" => Ok(Drafting::Auto),
        "dflash" => Ok(Drafting::Dflash { depth: None }),
        "lookup" => Ok(Drafting::Lookup),
        _ => match word.parse() {
            Ok(depth @ 1..=MAX_DEPTH) => Ok(Drafting::Fixed { depth }),
            _ => Err(format!("off, auto, dflash, lookup, or 1 to {MAX_DEPTH}")),
        },
    }
}

fn switch(word: &str) -> Result<bool, String> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("on or off".into()),
    }
}

/// At most one word, read by `read`, whose error is what it expects.
fn one<T>(name: &str, words: &[&str], read: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    let problem = |expected| format!("{name} takes {expected}, and not {}.", words.join(" "));
    match words {
        [] => Ok(None),
        [word] => read(word).map(Some).map_err(problem),
        [first, ..] => Err(problem(read(first).err().unwrap_or_else(|| "one word".into()))),
    }
}

fn none(name: &str, words: &[&str], command: Command) -> Result<Command, String> {
    if words.is_empty() {
        Ok(command)
    } else {
        Err(format!("{name} stands alone, without {}.", words.join(" ")))
    }
}

/// Names with their values, joined by `=` or not, with the dashes of the command line or without.
fn changes(words: &[&str]) -> Result<Vec<Change>, String> {
    let mut words = words.iter().flat_map(|word| word.split('=')).filter(|word| !word.is_empty());
    let mut changes = Vec::new();
    while let Some(word) = words.next() {
        changes.push(match word.trim_start_matches("--") {
            "default" => Change::Default,
            name => {
                let value = words.next().ok_or_else(|| {
                    format!("{name} needs a value, as in /sampling temperature 0.7 top-p 0.9.")
                })?;
                Change::Set { name: name.to_owned(), value: value.to_owned() }
            }
        });
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::AcceptanceRule;

    use super::*;

    fn sampled(line: &str) -> Result<Sampling, String> {
        let Command::Sampling(changes) = Command::parse(line)? else { panic!("{line}") };
        let defaults = Sampling { temperature: 0.6, ..Sampling::default() };
        let before = Sampling { temperature: 1.0, top_k: 5, ..Sampling::default() };
        changes.iter().try_fold(before, |sampling, change| change.applied_to(sampling, defaults))
    }

    #[test]
    fn a_line_is_a_command_or_a_sentence_about_it() {
        assert_eq!(Command::parse("/mtp"), Ok(Command::Mtp(None)));
        assert_eq!(Command::parse("/mtp off"), Ok(Command::Mtp(Some(Drafting::Off))));
        assert_eq!(Command::parse("/mtp  8 "), Ok(Command::Mtp(Some(Drafting::Fixed { depth: 8 }))));
        assert_eq!(Command::parse("/reveal on"), Ok(Command::Reveal(Some(true))));
        assert_eq!(Command::parse("/exit"), Ok(Command::Quit));
        for (line, told) in [
            ("/mtp 9", "/mtp takes off, auto, dflash, lookup, or 1 to 8, and not 9."),
            ("/mtp 1 2", "/mtp takes one word, and not 1 2."),
            ("/reveal maybe", "/reveal takes on or off, and not maybe."),
            ("/quit now", "/quit stands alone, without now."),
            ("/nonsense", "There is no command /nonsense. /help lists those there are."),
            ("/", "There is no command /. /help lists those there are."),
        ] {
            assert_eq!(Command::parse(line), Err(told.into()));
        }
    }

    #[test]
    fn sampling_is_set_by_the_names_of_the_command_line() {
        let set = sampled("/sampling temperature 0.7 top-p=0.9 --presence-penalty -1 seed 7").unwrap();
        let expected = Sampling {
            temperature: 0.7,
            top_p: 0.9,
            top_k: 5,
            presence_penalty: -1.0,
            seed: Some(7),
            ..Sampling::default()
        };
        assert_eq!(set, expected);
        assert_eq!(sampled("/sampling acceptance rejection").unwrap().acceptance, AcceptanceRule::Rejection);
        assert_eq!(sampled("/sampling acceptance strict").unwrap().acceptance, AcceptanceRule::Strict);
        assert_eq!(
            sampled("/sampling default").unwrap(),
            Sampling { temperature: 0.6, ..Sampling::default() }
        );
        assert_eq!(sampled("/sampling seed 7 seed random").unwrap().seed, None);
        assert!(sampled("/sampling heat 1").unwrap_err().contains("There are temperature, top-p, top-k"));
        assert!(sampled("/sampling temperature hot").unwrap_err().contains("temperature cannot be hot"));
        assert!(sampled("/sampling temperature").unwrap_err().contains("needs a value"));
    }

    #[test]
    fn tab_completes_commands_and_what_follows_them() {
        assert_eq!(completions("/st", 3), (0, vec!["/stats ".into()]));
        assert_eq!(completions("/mtp a", 6), (5, vec!["auto".into()]));
        assert_eq!(completions("/sampling top-", 14), (10, vec!["top-p ".into(), "top-k ".into()]));
        assert_eq!(completions("tell me /st", 11).1, Vec::<String>::new());
    }

    #[test]
    fn every_command_is_in_the_help() {
        for (name, _) in NAMES.iter().filter(|(name, _)| *name != "/exit") {
            assert!(HELP.contains(name), "{name}");
        }
    }
}
