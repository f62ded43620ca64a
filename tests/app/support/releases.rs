//! A server of newer versions, on this machine, and the key that they are signed with.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minisign::KeyPair;
use serde_json::{Value, json};

/// What the server says to one request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// These bytes.
    Is(Vec<u8>),
    /// The first of these bytes, as if all were to come.
    Cut(Vec<u8>),
    /// A failure.
    Status(u16),
    /// Nothing, until something else is to be said.
    Silence,
    /// The first of these bytes, and then the same.
    Stall(Vec<u8>),
    /// It hangs up.
    HangUp,
}

/// Serves `/latest.json` and whatever it names.
pub(crate) struct Releases {
    port: u16,
    keys: KeyPair,
    answers: Arc<Mutex<[Answer; 2]>>,
    /// What was asked for so far, a line each.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Releases {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("the port has a number").port();
        let answers = Arc::new(Mutex::new([Answer::Status(404), Answer::Status(404)]));
        let asked = Arc::default();
        let shared = (Arc::clone(&answers), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, asked) = shared.clone();
                thread::spawn(move || serve(stream, &answers, &asked));
            }
        });
        Self { port, keys: KeyPair::generate_unencrypted_keypair().expect("a key"), answers, asked }
    }

    /// The server as a proxy.
    pub(crate) fn proxy(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How often something was asked for whose name ends so.
    pub(crate) fn asked(&self, name: &str) -> usize {
        let asked = self.asked.lock().expect("nobody has panicked");
        asked.iter().filter(|line| line.split(' ').nth(1).is_some_and(|asked| asked.ends_with(name))).count()
    }

    /// Where an app looks.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}/latest.json", self.port)
    }

    /// The key that an app trusts.
    pub(crate) fn key(&self) -> String {
        STANDARD.encode(self.keys.pk.to_box().expect("a key").to_string())
    }

    /// From now on, what is said of the newest version, and what its archive is.
    pub(crate) fn say(&self, latest: Answer, archive: Answer) {
        *self.answers.lock().expect("nobody has panicked") = [latest, archive];
    }

    /// A version whose archive is this.
    pub(crate) fn publish(&self, version: &str, archive: &[u8]) {
        let latest = self.latest(version, &self.sign(version, archive));
        self.say(json_answer(&latest), Answer::Is(archive.to_vec()));
    }

    /// What the server says of a version.
    pub(crate) fn latest(&self, version: &str, signature: &str) -> Value {
        let platform = json!({
            "url": format!("http://127.0.0.1:{}/archive", self.port),
            "signature": signature,
            "size": 12_345_678,
        });
        json!({
            "version": version,
            "notes": "### Better\n\n- Owls answer **faster**.\n- Bells ring.",
            "pub_date": "2026-11-26T12:00:00Z",
            "platforms": { "linux-x86_64": platform },
        })
    }

    /// The signature of an archive as that of a version.
    pub(crate) fn sign(&self, version: &str, archive: &[u8]) -> String {
        sign(&self.keys, version, archive)
    }
}

/// A signature by somebody else.
pub(crate) fn forged(version: &str, archive: &[u8]) -> String {
    sign(&KeyPair::generate_unencrypted_keypair().expect("a key"), version, archive)
}

fn sign(keys: &KeyPair, version: &str, archive: &[u8]) -> String {
    let told = format!("timestamp:1700000000\tfile:archive\tversion:{version}");
    let signature =
        minisign::sign(Some(&keys.pk), &keys.sk, archive, Some(&told), None).expect("a signature");
    STANDARD.encode(signature.to_string())
}

pub(crate) fn json_answer(value: &Value) -> Answer {
    Answer::Is(value.to_string().into_bytes())
}

fn serve(mut stream: TcpStream, answers: &Mutex<[Answer; 2]>, asked: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().expect("a socket")).lines();
    let Some(Ok(first)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let of = usize::from(!first.contains("/latest.json"));
    asked.lock().expect("nobody has panicked").push(first);
    let now = || answers.lock().expect("nobody has panicked")[of].clone();
    let answer = loop {
        match now() {
            Answer::Silence => thread::sleep(Duration::from_millis(10)),
            answer => break answer,
        }
    };
    let head = |status: u16, length: usize| {
        format!("HTTP/1.1 {status} Said\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
    };
    // Whoever has hung up hears nothing.
    let _ = match answer {
        Answer::Is(body) => {
            stream.write_all(head(200, body.len()).as_bytes()).and_then(|()| stream.write_all(&body))
        }
        Answer::Cut(body) => stream
            .write_all(head(200, body.len()).as_bytes())
            .and_then(|()| stream.write_all(&body[..body.len() / 2])),
        Answer::Status(status) => stream.write_all(head(status, 0).as_bytes()),
        Answer::Stall(body) => {
            let half = stream
                .write_all(head(200, body.len()).as_bytes())
                .and_then(|()| stream.write_all(&body[..body.len() / 2]));
            while matches!(now(), Answer::Stall(_)) {
                thread::sleep(Duration::from_millis(10));
            }
            half
        }
        Answer::Silence | Answer::HangUp => Ok(()),
    };
}
