//! `foretoken-engine chat` as a person uses it: in a terminal, which a pseudo-terminal stands for, and through a pipe.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use foretoken_tests::fixtures::demo_model;
use foretoken_tests::programs::built;
use rexpect::session::{PtySession, spawn_command};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Longer than any machine takes to load the demo model and to answer.
const PATIENCE: u64 = 120_000;
/// What ends the line below every reply.
const STATUS: &str = "first token after";
/// What begins every line that a person types.
const PROMPT: &str = "> ";

fn command(model: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(built("foretoken-engine"));
    command.args(["chat", "--model"]).arg(model).args(arguments).env("TERM", "xterm").env_remove("NO_COLOR");
    command
}

/// A chat with the demo model at its first prompt.
fn chat(arguments: &[&str]) -> PtySession {
    let mut chat = spawn_command(command(&demo_model(), arguments), Some(PATIENCE)).unwrap();
    chat.exp_string(PROMPT).unwrap();
    chat
}

/// Types a line; gives what comes up to `end`, which leaves the chat at the next prompt.
fn say(chat: &mut PtySession, line: &str, end: &str) -> String {
    // Enter is a carriage return.
    chat.send(line).unwrap();
    chat.send("\r").unwrap();
    chat.flush().unwrap();
    let told = chat.exp_string(end).unwrap() + end + &chat.exp_string(PROMPT).unwrap();
    assert!(!told.contains("\x1b[31m"), "{told}");
    told
}

fn size(columns: u16) -> Winsize {
    Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// A chat in a terminal whose screen is as large as a test says, and which nobody reads but the test.
struct PtyChat {
    chat: Child,
    /// What the chat writes comes out here, and what a person types goes in.
    screen: File,
    terminal: File,
    name: PathBuf,
}

impl Drop for PtyChat {
    fn drop(&mut self) {
        let _ = self.chat.kill();
        let _ = self.chat.wait();
    }
}

impl PtyChat {
    /// A chat with the demo model at its first prompt. Without `errors` these go to the terminal too.
    fn new(columns: u16, arguments: &[&str], errors: Option<File>) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        tcsetwinsize(&screen, size(columns)).unwrap();
        let name = PathBuf::from(ptsname(&screen, Vec::new()).unwrap().into_string().unwrap());
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(OFlags::NOCTTY.bits() as i32).open(&name).unwrap()
        };
        let chat = command(&demo_model(), arguments)
            .stdin(open())
            .stdout(open())
            .stderr(errors.unwrap_or_else(open))
            .spawn()
            .unwrap();
        let mut pty = Self { chat, screen: screen.into(), terminal: open(), name };
        pty.read_to(PROMPT);
        pty
    }

    /// What comes to the screen up to these characters.
    fn read_to(&mut self, end: &str) -> String {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(end.as_bytes()) {
            self.screen.read_exact(&mut byte).unwrap();
            seen.push(byte[0]);
        }
        String::from_utf8(seen).unwrap()
    }

    fn type_line(&mut self, line: &str) {
        write!(self.screen, "{line}\r").unwrap();
    }

    /// Whether it shows what is typed, and hands it over by lines, as shells expect.
    fn is_as_shells_expect(&self) -> bool {
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.chat), signal).unwrap();
    }

    /// Fills the screen, which nobody reads, so that whoever writes next waits for ever.
    fn fill(&self) {
        let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        let mut terminal = options.write(true).custom_flags(flags.bits() as i32).open(&self.name).unwrap();
        loop {
            match terminal.write(b"x") {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// A chat without a terminal, which these lines are written to.
fn piped(model: &Path, arguments: &[&str], lines: &str) -> Output {
    let mut command = command(model, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may have refused to begin.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn a_reply_is_shown_with_its_thinking_and_its_numbers() {
    let mut chat = chat(&["--temperature", "0", "--depth", "2"]);
    let told = say(&mut chat, "What is the capital of Kenya?", STATUS);
    let (thinking, answer) = told.split_once("Nairobi").expect("an answer");
    assert!(thinking.contains("\x1b[2mThinking: "), "{told:?}");
    assert!(answer.contains("tokens/s") && answer.contains("accepted "), "{told:?}");
    chat.send_control('d').unwrap();
    chat.exp_eof().unwrap();
}

#[test]
fn ctrl_c_stops_a_reply_and_then_takes_back_what_is_typed_and_then_leaves() {
    // It prefers what was said before, and finds no end.
    let mut chat = chat(&["--temperature", "0", "--frequency-penalty", "-20"]);
    chat.send("a a a a a a a a a a a a\r").unwrap();
    chat.flush().unwrap();
    chat.exp_string("Thinking: ").unwrap();
    chat.send_control('c').unwrap();
    let told = chat.exp_string(PROMPT).unwrap();
    assert!(told.contains("Stopped. ") && told.contains(STATUS), "{told:?}");

    say(&mut chat, "/stats", "last reply");
    chat.send("/nonsense").unwrap();
    chat.flush().unwrap();
    chat.exp_string("/nonsense").unwrap();
    chat.send_control('c').unwrap();
    let told = say(&mut chat, "/mtp off", "MTP is off");
    assert!(!told.contains("There is no command"), "{told:?}");
    chat.send_control('c').unwrap();
    chat.exp_string("Ctrl-C once more").unwrap();
    chat.exp_string(PROMPT).unwrap();
    chat.send_control('c').unwrap();
    chat.exp_eof().unwrap();
}

/// Ctrl-C goes to all processes that a terminal has, and is for one.
#[test]
fn a_chat_over_several_processes_is_stopped_and_goes_on() {
    let mut chat = chat(&["--temperature", "0", "--frequency-penalty", "-20", "--ring-test", "2"]);
    for _ in 0..2 {
        chat.send("a a a a a a a a a a a a\r").unwrap();
        chat.flush().unwrap();
        chat.exp_string("Thinking: ").unwrap();
        chat.send_control('c').unwrap();
        let told = chat.exp_string(PROMPT).unwrap();
        assert!(told.contains("Stopped. ") && told.contains(STATUS), "{told:?}");
    }
    chat.send_control('d').unwrap();
    chat.exp_eof().unwrap();
}

/// Where another process goes away, nothing more can be computed.
#[test]
fn a_chat_whose_other_process_has_gone_leaves_the_terminal_as_it_was() {
    let mut pty = PtyChat::new(80, &["--temperature", "0", "--ring-test", "2"], None);
    let own = pty.chat.id().to_string();
    let worker = Command::new("pgrep").args(["-P", &own]).output().unwrap().stdout;
    let worker = String::from_utf8(worker).unwrap();
    // Nobody has asked for anything yet, so it waits, and does nothing.
    #[cfg(target_os = "linux")]
    {
        let computed = || foretoken_tests::programs::processor_time(worker.trim().parse().unwrap());
        sleep(Duration::from_millis(500));
        let before = computed();
        sleep(Duration::from_secs(1));
        assert!(computed() - before < 20);
    }
    assert!(Command::new("kill").args(["-KILL", worker.trim()]).status().unwrap().success());
    let told = pty.read_to("load the model again.");
    assert!(told.contains("Process 1 has ended"), "{told}");
    assert_eq!(pty.chat.wait().unwrap().code(), Some(1));
    assert!(pty.is_as_shells_expect());
}

#[test]
fn a_signal_that_ends_the_chat_leaves_the_terminal_as_it_was() {
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT] {
        let mut pty = PtyChat::new(80, &["--temperature", "0", "--frequency-penalty", "-20"], None);
        pty.type_line("a a a a a a a a a a a a");
        pty.read_to("Thinking: ");
        assert!(!pty.is_as_shells_expect());
        pty.signal(signal);
        assert_eq!(pty.chat.wait().unwrap().signal(), Some(signal.as_raw()));
        assert!(pty.is_as_shells_expect(), "{signal:?}");
        // What the shell writes is neither dim nor beside numbers of the reply.
        write!(pty.terminal, "shell$").unwrap();
        let told = pty.read_to("shell$");
        assert!(told.contains("\x1b[0m\x1b[J"), "{signal:?}: {told:?}");
    }
}

/// In the background it does not touch the terminal, for which it would be stopped instead of ended.
#[test]
fn a_chat_that_a_shell_has_put_into_the_background_can_be_ended() {
    let mut shell = Command::new("bash");
    shell.args(["--noprofile", "--norc", "-i"]).env("PS1", "shell$ ").env("TERM", "xterm").env("LC_ALL", "C");
    let mut shell = spawn_command(shell, Some(PATIENCE)).unwrap();
    shell.exp_string("shell$ ").unwrap();
    let (program, model) = (built("foretoken-engine"), demo_model());
    let (program, model) = (program.display(), model.display());
    shell
        .send_line(&format!("'{program}' chat --model '{model}' --temperature 0 --frequency-penalty -20"))
        .unwrap();
    shell.exp_string(PROMPT).unwrap();
    shell.send("a a a a a a a a a a a a\r").unwrap();
    shell.flush().unwrap();
    shell.exp_string("Thinking: ").unwrap();
    shell.send_control('z').unwrap();
    shell.exp_string("Stopped").unwrap();
    shell.send_line("kill %1; while kill -0 %1; do sleep 0.1; done; echo it has' 'ended").unwrap();
    shell.exp_string("it has ended").unwrap();
    shell.send_line("exit").unwrap();
    shell.exp_eof().unwrap();
}

#[test]
fn ctrl_c_leaves_a_chat_that_does_not_heed_the_one_before() {
    let mut pty = PtyChat::new(80, &["--temperature", "0", "--frequency-penalty", "-20"], None);
    pty.type_line("a a a a a a a a a a a a");
    pty.read_to("Thinking: ");
    pty.fill();
    let status: ExitStatus = loop {
        pty.signal(Signal::INT);
        sleep(Duration::from_millis(50));
        if let Some(status) = pty.chat.try_wait().unwrap() {
            break status;
        }
    };
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()));
    assert!(pty.is_as_shells_expect());
}

#[test]
fn how_many_drafts_are_accepted_is_shown_while_a_reply_is_written() {
    for columns in [100, 30] {
        let mut pty = PtyChat::new(columns, &["--temperature", "0", "--depth", "2"], None);
        pty.type_line("Tell me a story.");
        let told = pty.read_to(STATUS);
        // Between going down a line and coming back.
        let lines: Vec<&str> = told
            .split("\x1b7\x1b[B\r")
            .skip(1)
            .map(|rest| rest.split_once("\x1b8").unwrap().0)
            .map(|line| line.trim_start_matches("\x1b[2m").trim_end_matches("\x1b[0m"))
            .collect();
        let last = lines.last().unwrap();
        assert!(last.contains("% of drafts accepted"), "{last:?}");
        assert_eq!(columns == 100, last.ends_with(" per pass"), "{last:?}");
        assert!(lines.iter().all(|line| line.len() < usize::from(columns)), "{lines:?}");
        // Each is taken back before anything else is written.
        for rest in told.split("\x1b8").skip(1) {
            assert!(rest.starts_with("\x1b[J"), "{rest:?}");
        }
    }
}

#[test]
fn errors_that_go_to_a_file_are_text() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let pty = PtyChat::new(80, &[], Some(log.reopen().unwrap()));
    drop(pty);
    let logged = std::fs::read_to_string(log.path()).unwrap();
    assert!(!logged.contains('\x1b'), "{logged:?}");
}

#[test]
fn what_is_typed_while_a_reply_is_written_is_asked_next() {
    let mut chat = chat(&["--temperature", "0", "--thinking", "off"]);
    chat.send("Tell me a story.\r/mtp off\r/mtp 3\r").unwrap();
    chat.flush().unwrap();
    for told in [STATUS, "MTP is off", "3 tokens per pass"] {
        chat.exp_string(told).unwrap();
    }
}

/// What a checkpoint's files say must not command the terminal of whoever opens it.
#[test]
fn a_models_files_cannot_command_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.json"), r#"{"model_type": "x\u001b]52;c;eA==\u0007"}"#)
        .unwrap();
    let output = piped(folder.path(), &[], "");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && message.contains("]52;c;") && !message.contains('\x1b'),
        "{message:?}"
    );
}

#[test]
fn a_line_that_is_no_text_is_told() {
    let mut command = command(&demo_model(), &[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"caf\xe9\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("The next line cannot be read"), "{message}");
}

#[test]
fn drafts_are_switched_between_two_replies() {
    let mut chat = chat(&["--temperature", "0"]);
    say(&mut chat, "/mtp off", "MTP is off");
    assert!(say(&mut chat, "What is 19 + 16?", STATUS).contains("no drafts"));
    assert!(say(&mut chat, "/stats", "chat ").contains("no drafts"));
    say(&mut chat, "/mtp 2", "2 tokens per pass");
    assert!(say(&mut chat, "What is 20 + 16?", STATUS).contains("accepted "));
    let told = say(&mut chat, "/stats", "chat ");
    assert!(told.contains("at position 1: ") && told.contains("at position 2: "), "{told:?}");
    assert!(told.contains("2 questions answered"), "{told:?}");
}

#[test]
fn drafts_are_coloured_where_that_is_asked_for() {
    let mut chat = chat(&["--temperature", "0", "--depth", "2"]);
    assert!(!say(&mut chat, "Who are you?", STATUS).contains("\x1b[32m"));
    say(&mut chat, "/reveal", "coloured");
    assert!(say(&mut chat, "Who are you?", STATUS).contains("\x1b[32m"));
}

#[test]
fn an_unknown_command_names_help_and_the_chat_goes_on() {
    let mut chat = chat(&[]);
    chat.send("/nonsense\r").unwrap();
    chat.flush().unwrap();
    chat.exp_string("There is no command /nonsense. /help").unwrap();
    chat.exp_string(PROMPT).unwrap();
    say(&mut chat, "/sampling temperature 0.5", "temperature         0.5");
}

#[test]
fn without_a_terminal_there_is_the_text_and_nothing_else() {
    let arguments = ["--temperature", "0", "--thinking", "off"];
    let output = piped(
        &demo_model(),
        &arguments,
        "What is the capital of Kenya?\n/mtp off\nTell me a story.\n/stats\n",
    );
    let (text, numbers) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{numbers}");
    assert!(text.contains("Nairobi") && text.contains("2 questions answered"), "{text}");
    assert!(!text.contains(['\x1b', '\r']) && !numbers.contains('\x1b'), "{text}{numbers}");
    assert_eq!(numbers.matches(STATUS).count(), 2, "{numbers}");
}

#[test]
fn a_question_knows_those_before_it_from_the_prefix_cache() {
    let arguments = ["--temperature", "0", "--thinking", "off"];
    // Tokens of the last prompt, and how many of them were cached.
    let prompt = |questions: usize| -> (u32, u32) {
        let lines = "Tell me a story.\n".repeat(questions) + "/stats\n";
        let text = String::from_utf8(piped(&demo_model(), &arguments, &lines).stdout).unwrap();
        let line = text.lines().find(|line| line.starts_with("prompt")).expect("a line about the prompt");
        let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
        (numbers.next().unwrap(), numbers.next().unwrap())
    };
    let ((first, cached), (third, third_cached)) = (prompt(1), prompt(3));
    assert!(third > 3 * first, "{first} {third}");
    assert!(cached == 0 && third_cached > first, "{cached} {third_cached}");
}

#[test]
fn a_script_hears_of_what_is_wrong() {
    let nowhere = piped(Path::new("/no such folder"), &[], "");
    let wrong = piped(&demo_model(), &[], "/mtp 9\n");
    for (output, expected) in
        [(nowhere, "/no such folder"), (wrong, "/mtp takes off, auto, dflash, lookup, or 1 to 8")]
    {
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(expected) && message.lines().count() == 1, "{message}");
        assert!(output.stdout.is_empty());
    }
}
