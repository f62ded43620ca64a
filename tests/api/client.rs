//! A plain HTTP client, which can also do what well-behaved ones never do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer in the making: its head has come.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names are in lower case.
    pub(crate) headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding") == Some("chunked")
    }

    /// The next piece of a body that is sent in chunks; `None` at its end, or where the connection ended.
    pub(crate) fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        self.reader.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).ok()?;
        chunk.truncate(size);
        (size > 0).then(|| String::from_utf8(chunk).unwrap())
    }

    /// The rest of the body.
    pub(crate) fn text(&mut self) -> String {
        let mut text = String::new();
        if self.is_chunked() {
            while let Some(chunk) = self.chunk() {
                text.push_str(&chunk);
            }
        } else if let Some(length) = self.header("content-length") {
            let mut bytes = vec![0; length.parse().unwrap()];
            self.reader.read_exact(&mut bytes).unwrap();
            text = String::from_utf8(bytes).unwrap();
        }
        text
    }

    pub(crate) fn json(&mut self) -> Value {
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The events of a stream up to its end; `[DONE]` is a string.
    pub(crate) fn events(&mut self) -> Vec<Value> {
        let text = self.text();
        let events = text.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
        events.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into())).collect()
    }

    /// Leaves without a word.
    pub(crate) fn leave(self) {
        let _ = self.reader.into_inner().shutdown(Shutdown::Both);
    }
}

/// Sends bytes as they are, and reads the head of what comes back.
pub(crate) fn send_raw(port: u16, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // A server that refuses what it has not read yet may close in the middle.
    let _ = stream.write_all(bytes);
    read_head(stream)
}

pub(crate) fn read_head(stream: TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no status in {line:?}"));
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    Answer { status, headers, reader }
}

/// A request with these headers besides those that each request needs.
pub(crate) fn request(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    let has = |name: &str| headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
    if !has("host") {
        head.push_str(&format!("Host: localhost:{port}\r\n"));
    }
    if method == "POST" && !has("content-type") {
        head.push_str("Content-Type: application/json\r\n");
    }
    if method == "POST" && !has("content-length") {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{head}\r\n{body}").into_bytes()
}

pub(crate) fn send(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    send_raw(port, &request(port, method, path, headers, body))
}

pub(crate) fn get(port: u16, path: &str) -> Answer {
    send(port, "GET", path, &[], "")
}

/// Asks for a chat completion.
pub(crate) fn chat(port: u16, body: &Value) -> Answer {
    send(port, "POST", "/v1/chat/completions", &[], &body.to_string())
}
