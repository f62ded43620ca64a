//! Pictures decoded by the engine program, in a process of its own each, since a picture may damage what reads it. No
//! more than two run at a time, whoever asks: each may take gigabytes.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use foretoken_protocol::{ErrorReport, PictureDetail, PictureFacts};
use tempfile::TempDir;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::scratch::Scratch;
use crate::tool::{ENGINE_DIED, ENGINE_REFUSED, Tool};

/// How many run at a time.
const AT_ONCE: usize = 2;
/// How long a picture is decoded at most.
pub const DECODING_LIMIT: Duration = Duration::from_secs(20);

/// How a picture is to be seen: in which detail, and between how many pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// The detail.
    pub detail: PictureDetail,
    /// The fewest pixels that the model is shown.
    pub least: u64,
    /// The most.
    pub most: u64,
}

/// Why a picture was not decoded.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// It took too long.
    #[error("it cannot be decoded within {} seconds", DECODING_LIMIT.as_secs())]
    Slow,
    /// The process came to its end over it.
    #[error("it is damaged, or needs too much memory: what decoded it came to its end")]
    Died,
    /// It is no picture that can be decoded. The words are about the file.
    #[error("{0}")]
    Refused(ErrorReport),
    /// The program cannot be run.
    #[error("{0}")]
    Unable(ErrorReport),
    /// What the program told cannot be read.
    #[error("the engine's answer cannot be read: {0}")]
    Unread(serde_json::Error),
}

/// Decodes pictures. Clones share the places and the folder.
#[derive(Debug, Clone)]
pub struct Decoders {
    tool: Tool,
    places: Arc<Semaphore>,
    scratch: Arc<Scratch>,
}

impl Decoders {
    /// Decoders that run `tool`, with files for a while in `folder`, which other processes may share.
    pub(crate) fn new(tool: Tool, folder: &Path) -> Self {
        let (places, scratch) = (Semaphore::new(AT_ONCE), Scratch::new(folder.to_owned()));
        Self { tool, places: Arc::new(places), scratch: Arc::new(scratch) }
    }

    /// A folder that nobody else may read. It is gone when it is dropped, or else once this process has ended and
    /// another one sweeps.
    pub async fn folder(&self) -> io::Result<TempDir> {
        let scratch = Arc::clone(&self.scratch);
        spawn_blocking(move || scratch.folder()).await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Removes the folders of processes that have ended without doing so.
    pub async fn sweep(&self) {
        let scratch = Arc::clone(&self.scratch);
        let swept = spawn_blocking(move || scratch.sweep()).await;
        if let Err(error) = swept.unwrap_or_else(|error| Err(io::Error::other(error))) {
            tracing::info!("what other processes have left of pictures stays: {error}");
        }
    }

    /// Decodes the picture in `file` into the folder `out`, once there is a place.
    pub async fn decode(&self, file: &Path, out: &Path, sight: Sight) -> Result<PictureFacts, DecodeError> {
        let (least, most) = (sight.least.to_string(), sight.most.to_string());
        let arguments: [&OsStr; 10] = [
            "picture".as_ref(),
            file.as_ref(),
            "--out".as_ref(),
            out.as_ref(),
            "--detail".as_ref(),
            name(sight.detail).as_ref(),
            "--least".as_ref(),
            least.as_ref(),
            "--most".as_ref(),
            most.as_ref(),
        ];
        let mut said = String::new();
        let ended = {
            let _place = self.places.acquire().await;
            self.tool.lines(arguments, |line| said.push_str(line), sleep(DECODING_LIMIT)).await
        };
        match ended {
            Ok(true) => serde_json::from_str(&said).map_err(DecodeError::Unread),
            Ok(false) => Err(DecodeError::Slow),
            Err(error) if error.code == ENGINE_DIED => Err(DecodeError::Died),
            Err(error) if error.code == ENGINE_REFUSED => Err(DecodeError::Refused(error)),
            Err(error) => Err(DecodeError::Unable(error)),
        }
    }
}

/// A detail as it is named on the command line.
fn name(detail: PictureDetail) -> &'static str {
    match detail {
        PictureDetail::Low => "low",
        PictureDetail::Standard => "standard",
        PictureDetail::High => "high",
        PictureDetail::Original => "original",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn no_more_than_two_run_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("decoder");
        // Notes that it runs, waits until the test lets it go, and says how many ran then.
        let script = "#!/bin/sh\nmkdir \"$2.runs\"\nwhile [ ! -e \"$2.go\" ]; do sleep 0.01; done\n\
                      rmdir \"$2.runs\"\nexit 3\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let decoders = Decoders::new(Tool::new(program), &folder.path().join("decoding"));
        let files: Vec<_> = (0..4).map(|number| folder.path().join(number.to_string())).collect();
        let decoding: Vec<_> = files
            .iter()
            .cloned()
            .map(|file| {
                let decoders = decoders.clone();
                let sight = Sight { detail: PictureDetail::Low, least: 1, most: 2 };
                tokio::spawn(async move { decoders.decode(&file, "/nowhere".as_ref(), sight).await })
            })
            .collect();
        let running = || files.iter().filter(|file| file.with_extension("runs").exists()).count();
        while running() < AT_ONCE {
            tokio::task::yield_now().await;
        }
        assert_eq!(decoders.places.available_permits(), 0);
        for file in &files {
            assert!(running() <= AT_ONCE);
            fs::write(file.with_extension("go"), "").unwrap();
        }
        for one in decoding {
            assert!(matches!(one.await.unwrap(), Err(DecodeError::Refused(_))));
        }
        assert_eq!((running(), decoders.places.available_permits()), (0, AT_ONCE));
    }
}
