//! What a Mac asks another for in the first line of a connection, and what it is answered.

use std::fmt;
use std::time::Duration;

use foretoken_protocol::ErrorReport;
use ring::rand::{SecureRandom, SystemRandom};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::PeerError;
use crate::gift::{Announced, ModelId};
use crate::hex::Hex;
use crate::{line, text};

/// What a connection is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Ask {
    /// To get to know each other: what the Mac calls itself, and what it commits to.
    Pair { name: String, commitment: Hex<32> },
    /// To hear what there is.
    Inventory,
    /// To be a worker's input and output, with a model of the inventory.
    Lend { ring: RingId, rank: u32, size: u32, model: ModelId },
    /// To give files of a model, so that a worker there can use them.
    Give { model: ModelId, files: Vec<Announced> },
    /// To carry what comes to a worker from the one before it.
    RingIn { ring: RingId },
    /// To carry what a worker has for the next one.
    RingOut { ring: RingId },
    /// To hear which files a model of the inventory has.
    Files { model: String },
    /// To have one of them, from so many bytes on.
    File { model: String, name: String, from: u64 },
    /// To find out how fast the link is: so many pings, then so many bytes each way.
    Measure { pings: u32, bytes: u64 },
}

/// What is said to an ask.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer<T> {
    Granted(T),
    Refused(ErrorReport),
}

/// The answer to whoever wants to give files.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Has {
    /// The model itself is there.
    Model,
    /// So many bytes of each file, in the order of the ask; `None`: it is whole. The rest of each is awaited, with the
    /// hash of the whole behind it; after each is told whether it has arrived.
    Files(Vec<Option<u64>>),
}

/// The answer to an ask for a pipe.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Pipe {}

/// The answer to an ask for a file: its whole size. What is left of it follows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Whole {
    pub(crate) bytes: u64,
}

/// The name of a ring: 128 random bits, which only the Macs of the ring know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RingId(Hex<16>);

impl RingId {
    /// Makes a new one. Fails where the system gives no random numbers.
    pub fn random() -> Result<Self, PeerError> {
        random().map(Self)
    }
}

impl fmt::Debug for RingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever knows it is a step nearer to the ring.
        f.write_str("RingId(..)")
    }
}

/// So many random bytes.
pub(crate) fn random<const N: usize>() -> Result<Hex<N>, PeerError> {
    let mut bytes = [0; N];
    let failed = |_| PeerError::Identity { detail: "the system gives no random numbers".to_owned() };
    SystemRandom::new().fill(&mut bytes).map_err(failed)?;
    Ok(Hex(bytes))
}

/// Asks, and waits so long for the answer.
pub(crate) async fn ask<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    ask: &Ask,
    within: Duration,
) -> Result<T, PeerError> {
    // Who is refused in the handshake may hear of it when writing fails, and better by reading.
    let written = line::write(stream, ask).await;
    let granted = answer_to(stream, within).await?;
    written.map(|()| granted)
}

/// Waits so long for the answer to what was said.
pub(crate) async fn answer_to<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
    within: Duration,
) -> Result<T, PeerError> {
    match line::read(stream, line::LONGEST_ANSWER, within).await? {
        Answer::Granted(granted) => Ok(granted),
        Answer::Refused(report) => Err(PeerError::Refused(text::report(&report))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::files::{self, ModelFile, Sha256};

    #[test]
    fn asks_and_answers_are_these_lines() {
        let ring = RingId(Hex([0xab; 16]));
        let line =
            r#"{"ask":"lend","ring":"abababababababababababababababab","rank":1,"size":2,"model":MODEL}"#;
        let named = format!(r#"{{"name":"small","digest":"{}"}}"#, "07".repeat(32));
        let line = &line.replace("MODEL", &named);
        let lend = Ask::Lend { ring, rank: 1, size: 2, model: model() };
        assert_eq!(&serde_json::to_string(&lend).unwrap(), line);
        let line = r#"{"ask":"give","model":MODEL,"files":[{"name":"config.json","bytes":3}]}"#;
        let line = &line.replace("MODEL", &named);
        let file = Announced { name: "config.json".into(), bytes: 3 };
        let give = Ask::Give { model: model(), files: vec![file] };
        assert_eq!(&serde_json::to_string(&give).unwrap(), line);
        assert_eq!(line::parse::<Ask>(line.as_bytes()).unwrap(), give);
        let has = Answer::Granted(Has::Files(vec![None, Some(7)]));
        assert_eq!(serde_json::to_string(&has).unwrap(), r#"{"granted":{"files":[null,7]}}"#);
        let line =
            r#"{"ask":"lend","ring":"abababababababababababababababab","rank":1,"size":2,"model":MODEL}"#;
        let line = &line.replace("MODEL", &named);
        assert_eq!(line::parse::<Ask>(line.as_bytes()).unwrap(), lend);
        assert_eq!(line::parse::<Ask>(br#"{"ask":"inventory"}"#).unwrap(), Ask::Inventory);
        assert_eq!(serde_json::to_string(&Answer::Granted(Pipe {})).unwrap(), r#"{"granted":{}}"#);
        assert!(line::parse::<Ask>(br#"{"ask":"ring_in","ring":"../../etc"}"#).is_err());
        let line = r#"{"ask":"files","model":"small"}"#;
        let files = Ask::Files { model: "small".into() };
        assert_eq!(serde_json::to_string(&files).unwrap(), line);
        assert_eq!(line::parse::<Ask>(line.as_bytes()).unwrap(), files);
        let line = r#"{"ask":"file","model":"small","name":"config.json","from":7}"#;
        let file = Ask::File { model: "small".into(), name: "config.json".into(), from: 7 };
        assert_eq!(serde_json::to_string(&file).unwrap(), line);
        assert_eq!(line::parse::<Ask>(line.as_bytes()).unwrap(), file);
        assert!(line::parse::<Ask>(br#"{"ask":"file","model":"m","name":"n","from":-1}"#).is_err());
        let whole = Answer::Granted(Whole { bytes: 9 });
        assert_eq!(serde_json::to_string(&whole).unwrap(), r#"{"granted":{"bytes":9}}"#);
        assert_eq!(format!("{ring:?}"), "RingId(..)");
    }

    fn model() -> ModelId {
        ModelId { name: "small".into(), digest: Sha256::of_bytes([7; 32]) }
    }

    proptest! {
        #[test]
        fn no_line_does_harm(line in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = line::parse::<Ask>(&line);
            let _ = line::parse::<Answer<Pipe>>(&line);
            let _ = line::parse::<Answer<Whole>>(&line);
            let _ = line::parse::<Answer<Vec<ModelFile>>>(&line);
        }

        #[test]
        fn an_ask_for_any_file_is_read_as_it_was_meant(model in ".{0,40}", name in ".{0,40}", from: u64) {
            let ask = Ask::File { model, name, from };
            let line = serde_json::to_vec(&ask).unwrap();
            prop_assert!(!line.contains(&b'\n'));
            prop_assert_eq!(line::parse::<Ask>(&line).unwrap(), ask);
        }

        #[test]
        fn a_list_with_one_changed_byte_does_no_harm(at in 0..100usize, byte in any::<u8>()) {
            let sha256 = Sha256::parse(&"7f".repeat(32));
            let list = Answer::Granted(vec![ModelFile { name: "config.json".into(), bytes: 9, sha256 }]);
            let mut line = serde_json::to_vec(&list).unwrap();
            line[at] = byte;
            if let Ok(Answer::Granted(read)) = line::parse::<Answer<Vec<ModelFile>>>(&line)
                && let Ok(files) = files::checked(read)
            {
                prop_assert!(files.iter().all(|file| !file.name.contains('/') && !file.name.starts_with('.')));
            }
        }

        #[test]
        fn an_ask_with_one_changed_byte_does_no_harm(at in 0..70usize, byte in any::<u8>()) {
            let ask = Ask::Lend { ring: RingId(Hex([7; 16])), rank: 3, size: 4, model: model() };
            let mut line = serde_json::to_vec(&ask).unwrap();
            line[at] = byte;
            if let Ok(read) = line::parse::<Ask>(&line) {
                let again = serde_json::to_vec(&read).unwrap();
                prop_assert_eq!(line::parse::<Ask>(&again).unwrap(), read);
            }
        }
    }
}
