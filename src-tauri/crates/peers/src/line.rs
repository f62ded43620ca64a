//! One line of JSON, read and written before a connection is a pipe.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::error::PeerError;
use crate::tls;

/// The longest line of whoever asks, in bytes.
pub(crate) const LONGEST_ASK: usize = 64 * 1024;
/// The longest line of whoever answers, in bytes: a list of many models.
pub(crate) const LONGEST_ANSWER: usize = 1024 * 1024;

/// How long a line may take that needs no work.
pub(crate) const LINE: Duration = Duration::from_secs(5);

/// Reads a line of at most `most` bytes. What comes after it stays unread.
pub(crate) async fn read<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
    most: usize,
    within: Duration,
) -> Result<T, PeerError> {
    let line = timeout(within, bytes(stream, most)).await.map_err(|_| PeerError::Silent { within })??;
    parse(&line)
}

/// Writes a line; fails if that takes longer than 5 s.
pub(crate) async fn write<T: Serialize>(
    stream: &mut (impl AsyncWrite + Unpin),
    message: &T,
) -> Result<(), PeerError> {
    let mut line = serde_json::to_vec(message).map_err(not_understood)?;
    line.push(b'\n');
    let written = async {
        stream.write_all(&line).await?;
        stream.flush().await
    };
    timeout(LINE, written).await.map_err(|_| PeerError::Silent { within: LINE })?.map_err(tls::broken)
}

/// What a line says.
pub(crate) fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, PeerError> {
    serde_json::from_slice(line).map_err(not_understood)
}

/// Byte by byte: the stream has decrypted a record already, and what follows the line is not for us.
async fn bytes(stream: &mut (impl AsyncRead + Unpin), most: usize) -> Result<Vec<u8>, PeerError> {
    let mut line = Vec::new();
    loop {
        match stream.read_u8().await.map_err(tls::broken)? {
            b'\n' => return Ok(line),
            _ if line.len() == most => return Err(PeerError::TooLong { most }),
            byte => line.push(byte),
        }
    }
}

/// The kind of error, not its text: that may repeat what was sent.
fn not_understood(error: serde_json::Error) -> PeerError {
    PeerError::NotUnderstood { detail: format!("its line has a wrong {:?}", error.classify()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_is_read_and_no_more() {
        let mut stream: &[u8] = b"[1,2]\nrest";
        assert_eq!(read::<Vec<u8>>(&mut stream, 5, LINE).await.unwrap(), [1, 2]);
        assert_eq!(stream, b"rest");
        let long = read::<Vec<u8>>(&mut &b"[1,2]\n"[..], 4, LINE).await.unwrap_err();
        assert!(matches!(long, PeerError::TooLong { most: 4 }));
        let cut = read::<Vec<u8>>(&mut &b"[1,2]"[..], 9, LINE).await.unwrap_err();
        assert!(matches!(cut, PeerError::Broken { .. }));
        let odd = read::<Vec<u8>>(&mut &b"secret\n"[..], 9, LINE).await.unwrap_err();
        assert_eq!(odd.to_string(), "The other Mac was not understood: its line has a wrong Syntax.");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever() {
        let (mut ours, mut theirs) = tokio::io::duplex(9);
        theirs.write_all(b"[1").await.unwrap();
        let late = read::<Vec<u8>>(&mut ours, 9, LINE).await.unwrap_err();
        assert!(matches!(late, PeerError::Silent { within: LINE }));
        let unread = write(&mut ours, &"more than anybody takes").await.unwrap_err();
        assert!(matches!(unread, PeerError::Silent { within: LINE }));
    }
}
