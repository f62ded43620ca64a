//! What can go wrong on the way, on demand.

/// A part of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Model information, file lists and search.
    Api,
    /// `/{org}/{name}/resolve/…` of the Hub itself.
    Resolve,
    /// The content server that large files are redirected to.
    Content,
}

/// What goes wrong.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// Answers with a status, and with `Retry-After` if given, in seconds.
    Status(u16, Option<u64>),
    /// Closes the connection after so many bytes of the body.
    Cut(usize),
    /// Flips one bit in the middle of the body.
    Corrupt,
    /// Says and sends so many bytes fewer.
    Short(usize),
    /// Sends so many bytes a second.
    Slow(usize),
    /// Names another content than before.
    Etag(String),
    /// Answers a range request with the whole file.
    IgnoreRange,
    /// Answers with a range that was not asked for.
    OtherRange,
    /// Sends nothing after the head and keeps the connection open.
    Silence,
}

/// One thing that goes wrong, at one place, a number of times.
#[derive(Debug, Clone)]
pub struct Fault {
    pub(crate) stage: Stage,
    pub(crate) trouble: Trouble,
    pub(crate) path: String,
    pub(crate) times: usize,
    pub(crate) skip: usize,
}

impl Fault {
    /// Goes wrong at every request of a stage.
    pub fn new(stage: Stage, trouble: Trouble) -> Self {
        Self { stage, trouble, path: String::new(), times: usize::MAX, skip: 0 }
    }

    /// Only for requests of files whose path in the repository, or whose address, contains this.
    #[must_use]
    pub fn path(mut self, part: &str) -> Self {
        self.path = part.to_owned();
        self
    }

    /// Only so many times.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Only after so many requests have gone well.
    #[must_use]
    pub fn after(mut self, requests: usize) -> Self {
        self.skip = requests;
        self
    }
}
