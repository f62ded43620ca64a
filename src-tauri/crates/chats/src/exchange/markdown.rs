//! A branch of a chat as Markdown for people.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use foretoken_protocol::{CallState, Message, MessagePicture, ReplyCall, ReplyStep, Role};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::names;
use super::outgoing::Outgoing;
use super::whole::WholeFile;

/// What is written of an address as it is.
const ADDRESS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
/// What follows the name of a file in that of the folder with its pictures.
const FOLDER: &str = "-pictures";

/// What is written.
pub(super) struct Branch {
    pub(super) title: String,
    pub(super) system_prompt: String,
    /// The messages with their steps.
    pub(super) messages: Vec<(Vec<ReplyStep>, Message)>,
}

/// The folder of pictures beside a file. It is made with its first picture, under a name that nothing has, and vanishes
/// with what was written into it unless it is kept.
pub(super) struct PictureFolder {
    /// Where it is or will be.
    path: PathBuf,
    is_made: bool,
    /// What was written into it.
    files: Vec<PathBuf>,
    /// The addresses of the pictures by their hashes; `None` of those that do not go out.
    addresses: HashMap<String, Option<String>>,
}

impl Branch {
    /// Writes it, with the thinking folded away or left out, and puts its pictures into the folder.
    pub(super) fn write(
        &self,
        thinking: bool,
        pictures: &mut Outgoing,
        folder: &mut PictureFolder,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(out, "# {}", self.title)?;
        if !self.system_prompt.is_empty() {
            section(out, "System", &self.system_prompt)?;
        }
        for (steps, message) in &self.messages {
            let speaker = match message.role {
                Role::System if message.is_summary() => "Summary of what was said before",
                Role::System => "System",
                Role::User => "You",
                Role::Assistant => message.model.as_deref().unwrap_or("Assistant"),
            };
            let mut text = String::new();
            for picture in &message.pictures {
                text.push_str(&folder.picture(picture, pictures)?);
                text.push_str("\n\n");
            }
            if steps.is_empty() {
                text.push_str(&thought(thinking, &message.thinking));
                text.push_str(&message.text);
            }
            for step in steps {
                text.push_str(&thought(thinking, &step.thinking));
                if !step.text.trim().is_empty() {
                    text.push_str(step.text.trim_end());
                    text.push_str("\n\n");
                }
                step.calls.iter().for_each(|call| text.push_str(&called(call)));
            }
            let edited = if message.edited { " (edited)" } else { "" };
            section(out, &format!("{speaker}{edited}"), &text)?;
        }
        Ok(())
    }
}

/// What the model thought, folded away, if it is to be there.
fn thought(wanted: bool, thinking: &str) -> String {
    match thinking.trim() {
        "" => String::new(),
        _ if !wanted => String::new(),
        thought => format!("<details>\n<summary>Thinking</summary>\n\n{thought}\n\n</details>\n\n"),
    }
}

/// A call on one quoted line, and its result folded away.
fn called(call: &ReplyCall) -> String {
    let tool = match &call.server {
        Some(server) => format!("{server}: {}", call.tool),
        None => call.tool.clone(),
    };
    let arguments = call.arguments_sent.as_ref().unwrap_or(&call.arguments_written);
    let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
    let outcome = match &call.state {
        CallState::Done => "",
        CallState::Refused { .. } => " (not run)",
        CallState::Denied => " (not allowed)",
        CallState::Failed => " (failed)",
        CallState::TimedOut => " (took too long)",
        CallState::Checking | CallState::Asking | CallState::Stopped => " (stopped)",
        CallState::Running | CallState::Unknown => " (may or may not have happened)",
    };
    let tool = escaped(&tool.split_whitespace().collect::<Vec<_>>().join(" "));
    let fence = "`".repeat(longest_run(&arguments, '`') + 1);
    let arguments = match &*arguments {
        "" => String::new(),
        _ => format!(" {fence} {arguments} {fence}"),
    };
    let mut text = format!("> **{tool}**{arguments}{outcome}\n\n");
    // In a fence nothing of it is a mark: neither the end of what is folded nor a picture.
    let result = call.result_for_model.as_deref().map_or("", str::trim_end);
    if !result.is_empty() {
        let fence = "`".repeat(longest_run(result, '`').max(2) + 1);
        let folded =
            format!("<details>\n<summary>Result</summary>\n\n{fence}\n{result}\n{fence}\n\n</details>\n\n");
        text.push_str(&folded);
    }
    text
}

/// How long the longest run of a letter in a text is.
fn longest_run(text: &str, letter: char) -> usize {
    text.split(|other| other != letter).map(str::len).max().unwrap_or_default()
}

fn section(out: &mut dyn Write, speaker: &str, text: &str) -> io::Result<()> {
    writeln!(out, "\n## {speaker}\n\n{}", text.trim_end())
}

impl PictureFolder {
    /// The folder beside a file.
    pub(super) fn beside(file: &Path) -> Self {
        let mut name = file.file_stem().map(OsStr::to_owned).unwrap_or_default();
        name.push(FOLDER);
        Self { path: file.with_file_name(name), is_made: false, files: Vec::new(), addresses: HashMap::new() }
    }

    /// Leaves the folder where it is.
    pub(super) fn keep(mut self) {
        self.is_made = false;
    }

    /// A picture in Markdown, in the folder once however often it is shown.
    fn picture(&mut self, picture: &MessagePicture, pictures: &mut Outgoing) -> io::Result<String> {
        let name = escaped(&names::plain(&picture.name));
        let address = match self.addresses.get(&picture.hash) {
            Some(address) => address.clone(),
            None => {
                let address = self.add(picture, pictures)?;
                self.addresses.insert(picture.hash.clone(), address.clone());
                address
            }
        };
        Ok(match address {
            Some(address) => format!("![{name}]({address})"),
            None => format!("\\[picture: {name}\\]"),
        })
    }

    /// Puts a picture into the folder, and returns its address from beside it.
    fn add(&mut self, picture: &MessagePicture, pictures: &mut Outgoing) -> io::Result<Option<String>> {
        let Some(sent) = pictures.take(picture) else { return Ok(None) };
        self.make()?;
        // Numbered, since two may have one name.
        let (number, ending) = (self.files.len() + 1, sent.format.extension());
        let name = match names::of_file(&picture.name).as_str() {
            "" => format!("{number}.{ending}"),
            stem => format!("{number} {stem}.{ending}"),
        };
        let path = self.path.join(&name);
        let mut file = WholeFile::begin(&path)?;
        self.files.push(path);
        file.write_all(&sent.content)?;
        file.finish()?;
        let folder = self.path.file_name().unwrap_or_default().as_encoded_bytes();
        let address = percent_encode(&[folder, b"/", name.as_bytes()].concat(), ADDRESS).to_string();
        Ok(Some(address))
    }

    /// Makes the folder. What an earlier export has put beside the file is a person's now.
    fn make(&mut self) -> io::Result<()> {
        if self.is_made {
            return Ok(());
        }
        let first = self.path.clone();
        for number in 2_u32.. {
            match fs::create_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let mut name = OsString::from(&first);
                    name.push(format!("-{number}"));
                    self.path = name.into();
                }
                made => {
                    self.is_made = made.is_ok();
                    return made;
                }
            }
        }
        Err(io::Error::other("there is no free name for the folder of the pictures"))
    }
}

impl Drop for PictureFolder {
    fn drop(&mut self) {
        if !self.is_made {
            return;
        }
        let gone = self.files.iter().filter(|file| file.exists()).try_for_each(fs::remove_file);
        if let Err(error) = gone.and_then(|()| fs::remove_dir(&self.path)) {
            tracing::warn!("{} is left there: {error}", self.path.display());
        }
    }
}

/// A text in which nothing is a mark of Markdown.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if letter.is_ascii_punctuation() && !matches!(letter, '-' | '.' | ',') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
