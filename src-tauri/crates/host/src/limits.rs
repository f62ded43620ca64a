//! What the system lets a process have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most that macOS takes for a limit that is set.
const MOST_FILES: u64 = 10_240;

/// Lets this process and those that it starts open as many files as the system allows them, within reason. From the
/// Dock an app begins with 256: shards of a model, downloads, connections and chats together come near.
pub fn allow_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let most = maximum.unwrap_or(MOST_FILES).min(MOST_FILES);
    if current.is_some_and(|current| current < most)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum })
    {
        tracing::warn!("no more than {current:?} files can be open: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_can_be_open_as_the_system_allows() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(256), maximum }).unwrap();
        allow_open_files();
        let allowed = maximum.unwrap_or(MOST_FILES).min(MOST_FILES);
        assert_eq!(getrlimit(Resource::Nofile), Rlimit { current: Some(allowed), maximum });
        // What is more already stays.
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
        allow_open_files();
        assert_eq!(getrlimit(Resource::Nofile), Rlimit { current: maximum, maximum });
    }
}
