//! The lines between the client and the server, where those faults are made that no library would write.

use std::io;
use std::sync::Arc;

use foretoken_test_mcp::Fault;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Stdout};
use tokio::sync::{Mutex, watch};

/// What stands before each message of a server that writes its log to stdout.
const JUNK: &[u8] = b"INFO listening on stdio\n{not json\n\xf0\x9f\x9a\x80 ready\n";

/// Begins in UTF-8 what does not go on in it.
const NO_UTF8: &[u8] = b"\xff\xfe\xc3(";

/// The client's end of stdout.
#[derive(Debug, Clone)]
pub(crate) struct Output(Arc<Mutex<Writer>>);

#[derive(Debug)]
struct Writer {
    stdout: Stdout,
    fault: Option<Fault>,
    silent: bool,
}

impl Output {
    pub(crate) fn new(fault: Option<Fault>) -> Self {
        Self(Arc::new(Mutex::new(Writer { stdout: tokio::io::stdout(), fault, silent: false })))
    }

    /// Writes a message with its newline, or what the fault makes of it.
    async fn message(&self, line: &[u8]) {
        let mut writer = self.0.lock().await;
        if writer.silent {
            return;
        }
        let spoiled = spoiled(writer.fault, line);
        let ends = spoiled.last() != Some(&b'\n');
        let written = async {
            writer.stdout.write_all(&spoiled).await?;
            writer.stdout.flush().await
        };
        // A client that no longer reads is no reason to end: stdin says when to.
        writer.silent = written.await.is_err() || ends;
    }

    /// Writes all that the server says, until it has no more to say.
    pub(crate) async fn carry(self, server: impl AsyncRead + Unpin) {
        let mut server = BufReader::new(server);
        let mut line = Vec::new();
        while matches!(server.read_until(b'\n', &mut line).await, Ok(1..)) {
            self.message(&line).await;
            line.clear();
        }
    }
}

/// Hands what comes on stdin to the server until it ends, and says so to `ended`. With `older`, it refuses there what
/// servers before 2026-07-28 do not know.
pub(crate) async fn read(
    mut server: impl AsyncWrite + Unpin,
    older: Option<Output>,
    ended: watch::Sender<bool>,
) -> io::Result<()> {
    let mut stdin = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    while matches!(stdin.read_until(b'\n', &mut line).await, Ok(1..)) {
        match older.as_ref().and_then(|output| Some((output, refusal(&line)?))) {
            Some((output, refusal)) => output.message(&refusal).await,
            None => server.write_all(&line).await?,
        }
        line.clear();
    }
    ended.send_replace(true);
    server.shutdown().await
}

/// The answer to `server/discover` of a server that never heard of it.
fn refusal(line: &[u8]) -> Option<Vec<u8>> {
    let request: Value = serde_json::from_slice(line).ok()?;
    (request["method"] == "server/discover").then(|| {
        let error = json!({ "code": -32601, "message": "Method not found" });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).into_bytes()
    })
}

fn spoiled(fault: Option<Fault>, line: &[u8]) -> Vec<u8> {
    match fault {
        Some(Fault::JunkOnStdout) => [JUNK, line].concat(),
        Some(Fault::NoNewline) if is_result_of_call(line) => line.trim_ascii_end().to_owned(),
        Some(Fault::BadUtf8) if is_result_of_call(line) => {
            const TEXT: &[u8] = b"\"text\":\"";
            match line.windows(TEXT.len()).position(|window| window == TEXT) {
                Some(at) => {
                    let (before, after) = line.split_at(at + TEXT.len());
                    [before, NO_UTF8, after].concat()
                }
                None => line.to_owned(),
            }
        }
        _ => line.to_owned(),
    }
}

/// Whether this answers a call: nothing else has a list of contents.
fn is_result_of_call(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|message| message["result"]["content"].is_array())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &[u8] = b"{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"5\"}]}}\n";
    const LISTING: &[u8] = b"{\"result\":{\"tools\":[]}}\n";

    #[test]
    fn only_results_of_calls_lose_their_newline() {
        assert_eq!(spoiled(Some(Fault::NoNewline), RESULT), RESULT.trim_ascii_end());
        assert_eq!(spoiled(Some(Fault::NoNewline), LISTING), LISTING);
    }

    #[test]
    fn a_result_that_is_no_utf8_is_one_line_still() {
        let line = spoiled(Some(Fault::BadUtf8), RESULT);
        assert!(std::str::from_utf8(&line).is_err());
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    }

    #[test]
    fn junk_comes_in_lines_of_its_own() {
        let lines = spoiled(Some(Fault::JunkOnStdout), LISTING);
        let (message, junk) =
            lines.split_inclusive(|byte| *byte == b'\n').next_back().zip(Some(JUNK)).unwrap();
        assert_eq!(message, LISTING);
        assert!(junk.split(|byte| *byte == b'\n').all(|line| serde_json::from_slice::<Value>(line).is_err()));
    }

    #[test]
    fn an_older_server_refuses_only_what_it_does_not_know() {
        let refused = refusal(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"server/discover\"}\n").unwrap();
        let refused: Value = serde_json::from_slice(&refused).unwrap();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32601)));
        assert_eq!(refusal(b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"initialize\"}\n"), None);
    }
}
