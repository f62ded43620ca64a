//! Which program listens at a port, as far as the system tells whoever asks.

use std::time::Duration;

use foretoken_protocol::PortHolder;
use tokio::time::timeout;

/// How long the system may take to tell. Who is not found by then stays unnamed.
const PATIENCE: Duration = Duration::from_secs(2);

/// The program that listens at a port of this machine; `None` where the system does not tell, as of programs of other
/// people.
pub async fn port_holder(port: u16) -> Option<PortHolder> {
    timeout(PATIENCE, system::holder(port)).await.ok().flatten()
}

/// Linux has it in `/proc`: which socket listens, and which program has that open.
#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeSet;
    use std::fs;

    use foretoken_protocol::PortHolder;

    /// The state of a socket that listens, in the tables.
    const LISTENS: &str = "0A";
    /// Of a longer name the system keeps the beginning alone.
    const LONGEST: usize = 15;

    pub(super) async fn holder(port: u16) -> Option<PortHolder> {
        tokio::task::spawn_blocking(move || find(port)).await.ok().flatten()
    }

    fn find(port: u16) -> Option<PortHolder> {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).ok());
        let sockets: BTreeSet<String> = tables
            .iter()
            .flatten()
            .flat_map(|table| table.lines())
            .filter_map(|line| socket(line, port))
            .collect();
        let processes = fs::read_dir("/proc").ok()?.flatten();
        let mut ids: Vec<u32> =
            processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        // Those that it has started may have the socket too.
        ids.sort_unstable();
        let pid = ids.into_iter().find(|&pid| has_one_of(pid, &sockets))?;
        Some(PortHolder { name: name(pid)?, pid })
    }

    /// What a process calls a socket that listens at a port, of a line of the tables.
    pub(super) fn socket(line: &str, port: u16) -> Option<String> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, at) = fields.get(1)?.rsplit_once(':')?;
        let is_meant = u16::from_str_radix(at, 16) == Ok(port) && *fields.get(3)? == LISTENS;
        is_meant.then(|| fields.get(9).map(|inode| format!("socket:[{inode}]"))).flatten()
    }

    fn has_one_of(pid: u32, sockets: &BTreeSet<String>) -> bool {
        let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        files.flatten().any(|file| {
            fs::read_link(file.path())
                .is_ok_and(|open| open.to_str().is_some_and(|open| sockets.contains(open)))
        })
    }

    fn name(pid: u32) -> Option<String> {
        let short = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim().to_owned();
        if short.len() < LONGEST {
            return Some(short);
        }
        let file = fs::read_link(format!("/proc/{pid}/exe")).ok();
        let whole = file.as_deref().and_then(|file| file.file_name()?.to_str());
        Some(whole.filter(|whole| whole.starts_with(&short)).map_or(short, str::to_owned))
    }
}

/// macOS has a tool that tells.
#[cfg(not(target_os = "linux"))]
mod system {
    use foretoken_protocol::PortHolder;

    pub(super) async fn holder(port: u16) -> Option<PortHolder> {
        super::lsof::ask("/usr/sbin/lsof", port).await
    }
}

/// What `lsof` tells.
#[cfg(any(not(target_os = "linux"), test))]
mod lsof {
    use std::process::Stdio;

    use foretoken_protocol::PortHolder;
    use tokio::process::Command;

    /// Asks the tool, which ends with whoever asks.
    pub(super) async fn ask(tool: &str, port: u16) -> Option<PortHolder> {
        let mut command = Command::new(tool);
        // Names in full; no names of hosts and ports, which take time.
        command.args(["-nP", "+c", "0", &format!("-iTCP:{port}"), "-sTCP:LISTEN", "-Fcp"]);
        let told = command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).output().await;
        let told = told.inspect_err(|error| tracing::debug!("{tool} does not tell: {error}")).ok()?;
        read(&String::from_utf8_lossy(&told.stdout))
    }

    /// The first process of an answer: a line that begins with `p` has its number, one with `c` its name.
    pub(super) fn read(told: &str) -> Option<PortHolder> {
        let mut lines = told.lines().skip_while(|line| !line.starts_with('p'));
        let pid = lines.next()?.strip_prefix('p')?.parse().ok()?;
        let name = lines.take_while(|line| !line.starts_with('p')).find_map(|line| line.strip_prefix('c'))?;
        Some(PortHolder { name: unescaped(name), pid })
    }

    /// A name in which spaces and the like stand as `\x20`.
    fn unescaped(name: &str) -> String {
        let mut parts = name.split("\\x");
        let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
        for part in parts {
            match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                Some(byte) => {
                    bytes.push(byte);
                    bytes.extend_from_slice(&part.as_bytes()[2..]);
                }
                None => {
                    bytes.extend_from_slice(b"\\x");
                    bytes.extend_from_slice(part.as_bytes());
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::{Ipv4Addr, TcpListener};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A program that listens at a port until it is dropped.
    struct Listening(Child);

    impl Listening {
        fn start() -> (Self, u16) {
            const PROGRAM: &str = "import socket, sys\n\
                s = socket.create_server(('127.0.0.1', 0))\n\
                print(s.getsockname()[1], flush=True)\n\
                sys.stdin.read()";
            let mut program = Command::new("python3");
            program.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut process = program.spawn().expect("Python is installed");
            let mut port = String::new();
            BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
            (Self(process), port.trim().parse().unwrap())
        }
    }

    impl Drop for Listening {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[tokio::test]
    async fn who_listens_at_a_port_is_named_until_it_ends() {
        let (listening, port) = Listening::start();
        let holder = port_holder(port).await.unwrap();
        assert_eq!(holder.pid, listening.0.id());
        assert!(holder.name.to_lowercase().starts_with("python"), "{holder:?}");
        drop(listening);
        assert_eq!(port_holder(port).await, None);
    }

    #[tokio::test]
    async fn this_program_is_named_by_all_of_its_name() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let holder = port_holder(listener.local_addr().unwrap().port()).await.unwrap();
        let program = std::env::current_exe().unwrap();
        assert_eq!(holder.name, program.file_name().unwrap().to_str().unwrap());
        assert_eq!(holder.pid, std::process::id());
    }

    /// Where the tool is that macOS has: it says the same as the tables of Linux.
    #[tokio::test]
    async fn the_tool_of_macos_is_understood() {
        let (listening, port) = Listening::start();
        let tools = ["/usr/sbin/lsof", "/usr/bin/lsof"];
        if let Some(tool) = tools.into_iter().find(|tool| std::path::Path::new(tool).exists()) {
            let holder = lsof::ask(tool, port).await.unwrap();
            assert_eq!(holder.pid, listening.0.id());
            assert!(holder.name.to_lowercase().starts_with("python"), "{holder:?}");
            drop(listening);
            assert_eq!(lsof::ask(tool, port).await, None);
        }
        assert_eq!(lsof::ask("/nowhere/lsof", port).await, None);
    }

    #[test]
    fn of_what_the_tool_says_the_first_program_counts() {
        let said = |told: &str| lsof::read(told).map(|holder| (holder.pid, holder.name));
        assert_eq!(said("p812\ncollama\nf3\n"), Some((812, "ollama".into())));
        assert_eq!(said("p7\ncLM\\x20Studio\nf3\nf4\np9\ncother\n"), Some((7, "LM Studio".into())));
        assert_eq!(said("p7\nccaf\\xc3\\xa9 \\x2\n"), Some((7, "café \\x2".into())));
        for nobody in ["", "lsof: no such thing\n", "p7\nf3\n", "px\ncollama\n", "p7\nf3\np9\ncother\n"] {
            assert_eq!(said(nobody), None, "{nobody:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_a_socket_that_listens_at_this_very_port_counts() {
        let line = |address: &str, state: &str| {
            let zeros = "00000000:00000000 00:00000000 00000000  1000        0 4711 1 0";
            system::socket(&format!("   0: {address} 00000000:0000 {state} {zeros}"), 3673)
        };
        assert_eq!(line("0100007F:0E59", "0A").as_deref(), Some("socket:[4711]"));
        assert_eq!(line("00000000000000000000000001000000:0E59", "0A").as_deref(), Some("socket:[4711]"));
        assert_eq!(line("0100007F:0E59", "01"), None, "it is connected");
        assert_eq!(line("0100007F:0E5A", "0A"), None, "it is another port");
        assert_eq!(system::socket("sl  local_address rem_address   st", 3673), None);
    }
}
