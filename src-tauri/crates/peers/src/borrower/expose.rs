//! A stream that another process of this Mac can use: a socket in a folder of the person's own.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixListener;
use tokio::task::JoinHandle;

use crate::error::PeerError;
use crate::forward::join;

/// A stream that waits at a path for its one user, or is used. It ends when this is dropped.
#[derive(Debug)]
pub struct Exposed {
    path: PathBuf,
    task: JoinHandle<()>,
}

/// Lets the first process that connects to `path` use a stream. Makes the folder of `path`, for its owner alone; fails
/// if it is there and open to others, or if there is something at `path`.
pub async fn expose(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    path: &Path,
) -> Result<Exposed, PeerError> {
    let failed = |source| PeerError::Socket { path: path.to_owned(), source };
    own_folder(path).map_err(failed)?;
    let listener = UnixListener::bind(path).map_err(failed)?;
    let removed = Removed(path.to_owned());
    let task = tokio::spawn(async move {
        let Ok((user, _)) = listener.accept().await else { return };
        drop((listener, removed));
        // How it ends, both sides see.
        let _ = join(stream, user, None).await;
    });
    Ok(Exposed { path: path.to_owned(), task })
}

impl Exposed {
    /// Where it waits.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Exposed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A socket's file, which goes with this.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // Somebody else may have done it.
        let _ = fs::remove_file(&self.0);
    }
}

fn own_folder(path: &Path) -> io::Result<()> {
    const OWNER: u32 = 0o700;
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    match DirBuilder::new().mode(OWNER).create(folder) {
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(OWNER)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let metadata = fs::symlink_metadata(folder)?;
            if metadata.is_dir() && metadata.permissions().mode() & 0o077 == 0 {
                Ok(())
            } else {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "its folder is open to others"))
            }
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn the_first_who_connects_has_the_stream_and_nobody_after() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own").join("rank-1");
        let (mut ours, theirs) = tokio::io::duplex(100);
        let exposed = expose(theirs, &path).await.unwrap();
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        let mut user = UnixStream::connect(exposed.path()).await.unwrap();
        user.write_all(b"hello").await.unwrap();
        let mut heard = [0; 5];
        ours.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"hello");
        assert!(UnixStream::connect(&path).await.is_err() && !path.exists());
        ours.write_all(b"bye").await.unwrap();
        drop(ours);
        let mut rest = String::new();
        user.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "bye");
    }

    #[tokio::test]
    async fn a_folder_that_is_open_to_others_is_refused_and_a_dropped_socket_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().join("rank-1");
        let refused = expose(tokio::io::duplex(1).0, &path).await.unwrap_err();
        assert!(matches!(refused, PeerError::Socket { .. }));
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        drop(expose(tokio::io::duplex(1).0, &path).await.unwrap());
        while path.exists() {
            tokio::task::yield_now().await;
        }
    }
}
