//! Why nothing came of a page or of a search. Each sentence is for the model, which can mend its call.

use std::time::Duration;

use reqwest::StatusCode;

/// Why nothing came of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum WebError {
    /// What should be an address is none.
    #[error("\"{text}\" is no address of a page.")]
    NoAddress {
        /// What was asked for.
        text: String,
    },
    /// Only pages of the web are read.
    #[error("Addresses that begin with \"{scheme}:\" are not opened.")]
    Scheme {
        /// What it begins with.
        scheme: String,
    },
    /// A name or a password is in it.
    #[error("An address with a name or a password before its host is not opened.")]
    Credentials,
    /// It is in the person's network.
    #[error("{host} is not opened: it is not on the web, but in a network of its own.")]
    OwnNetwork {
        /// Where it would be.
        host: String,
    },
    /// Nobody knows the name.
    #[error("There is no host called {host}.")]
    NoHost {
        /// The name.
        host: String,
    },
    /// Nothing came, or not all of it.
    #[error("{host} could not be read: {detail}.")]
    Broken {
        /// Whose page it is.
        host: String,
        /// What is wrong, in the words of what connects.
        detail: String,
    },
    /// It leads on and on.
    #[error("The page leads to another one more than {most} times.")]
    Redirects {
        /// How often it may.
        most: usize,
    },
    /// It leads somewhere that is no address.
    #[error("The page leads to another one without saying to which.")]
    NoTarget,
    /// It leads out of what is encrypted.
    #[error("The page leads to one that is not encrypted, {target}, which was not opened.")]
    Unencrypted {
        /// Where it leads.
        target: String,
    },
    /// It leads to another site.
    #[error("The page leads to another site, {target}, which was not opened.")]
    OtherSite {
        /// Where it leads.
        target: String,
    },
    /// What searches leads to another site.
    #[error("The search service leads to {target}, which was not opened.")]
    OtherOrigin {
        /// Where it leads.
        target: String,
    },
    /// It is not there, or not for everybody.
    #[error("The answer of {host} was {status}.")]
    Status {
        /// Who answered.
        host: String,
        /// What the answer was.
        status: StatusCode,
    },
    /// It is no text.
    #[error("What is there is no page of text, but {media_type}.")]
    MediaType {
        /// What it is said to be.
        media_type: String,
    },
    /// It is packed in a way that was not asked for.
    #[error("The page is packed as \"{encoding}\", which is not read here.")]
    Packed {
        /// How it is packed.
        encoding: String,
    },
    /// It does not end.
    #[error("The page is longer than {} MB.", most / 1_000_000)]
    TooLarge {
        /// What is read, in bytes.
        most: usize,
    },
    /// It takes too long.
    #[error("The page did not come within {} s.", within.as_secs())]
    TooSlow {
        /// How long it had.
        within: Duration,
    },
    /// There is no text in it.
    #[error("There is no text on the page.")]
    Empty,
    /// Nothing can be made of it.
    #[error("The page is damaged.")]
    Damaged,
    /// The person has not told where to search.
    #[error("No search service is set.")]
    NoSearch,
    /// There is nothing to search for, or too much.
    #[error("A search takes 1 to {most} characters.")]
    Query {
        /// How many it takes.
        most: usize,
    },
    /// What the search service sent is no list of results.
    #[error("The search service did not answer with a list of results.")]
    NoResults,
}

impl WebError {
    /// What the model can do about it: one sentence.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::NoAddress { .. } | Self::Scheme { .. } => "Give a whole address that begins with https://.",
            Self::Credentials => "Give the address without them.",
            Self::OwnNetwork { .. } => "Only pages that everybody can reach are read.",
            Self::NoHost { .. } => "Check the spelling of the address.",
            Self::Broken { .. } | Self::TooSlow { .. } => "Try it once more, or another page.",
            Self::Redirects { .. } | Self::NoTarget => "Try another page.",
            Self::Unencrypted { .. } | Self::OtherSite { .. } => {
                "If that is the page, ask for it by its own address."
            }
            Self::OtherOrigin { .. } => "Tell the user to check the address of the search in the settings.",
            Self::Status { status, .. } => match *status {
                StatusCode::NOT_FOUND | StatusCode::GONE => "Check the address, or try another page.",
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    "The page is not for everybody; try another."
                }
                StatusCode::TOO_MANY_REQUESTS => "It was asked too often; go on without it.",
                _ => "Try another page.",
            },
            Self::MediaType { .. } | Self::Packed { .. } | Self::TooLarge { .. } => "Try another page.",
            Self::Empty => "It may only show its text in a browser; try another page.",
            Self::Damaged => "Try another page.",
            Self::NoSearch => "Tell the user to give the address of one in the settings.",
            Self::Query { .. } => "Give a few words.",
            Self::NoResults => "Tell the user that it must allow results in the format JSON.",
        }
    }
}

/// What was asked for, as far as a message tells it.
pub(super) fn shortened(text: &str) -> String {
    let (text, _) = crate::stripped(text);
    text.chars().take(200).filter(|character| !character.is_control()).collect()
}
