//! Requests that are sent again. A program that has given up waiting for the head of its answer asks once more, and
//! what it asked for before is for nobody: it would only stand in the new one's way. Two requests that say the same are
//! no reason to end one; what ends the older is proof that nobody waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use ring::digest::{Context, SHA256};

/// Names one try after the other to do the same thing, in the proposed standard of that name.
const KEY: &str = "idempotency-key";
/// By how many tries this one is the last, as the packages of OpenAI and Anthropic say it.
const RETRIES: &str = "x-stainless-retry-count";
/// After how many seconds without a byte they give up, as those for Python and for Node say it.
const PATIENCES: [&str; 2] = ["x-stainless-read-timeout", "x-stainless-timeout"];
/// They leave out parts of seconds.
const ROUNDED: Duration = Duration::from_secs(1);

/// What tells a request from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Of all that the answer depends on, and of who asks.
    digest: [u8; 32],
    key: Option<Vec<u8>>,
    retries: Option<u32>,
    /// How long its program waits for the head of the answer.
    patience: Option<Duration>,
}

impl Sent {
    pub(crate) fn new(head: &Parts, body: &[u8]) -> Self {
        let headers = &head.headers;
        let mut digest = Context::new(&SHA256);
        let mut add = |bytes: &[u8]| {
            digest.update(&(bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        add(head.uri.path().as_bytes());
        let who = [header::USER_AGENT.as_str(), header::AUTHORIZATION.as_str(), "x-api-key"];
        let mut counted: Vec<(&str, &[u8])> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .filter(|(name, _)| who.contains(name) || name.starts_with("foretoken-"))
            .collect();
        counted.sort_unstable();
        for (name, value) in counted {
            add(name.as_bytes());
            add(value);
        }
        add(body);
        let digest = digest.finish().as_ref().try_into().unwrap_or_default();
        let patience = PATIENCES.into_iter().find_map(|name| number(headers, name));
        let patience = patience.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let retries = number(headers, RETRIES).filter(|count| *count >= 0.0).map(|count| count as u32);
        let key = headers.get(KEY).map(|key| key.as_bytes().to_vec()).filter(|key| !key.is_empty());
        Self { digest, key, retries, patience }
    }

    /// Whether this is `older` once more, which has been waited for so long. Either both have the key of one thing to
    /// do; or it is the try behind that one, whose program has given up by its own account. What else was asked in the
    /// same words may be wanted twice.
    fn is_retry_of(&self, older: &Self, waited: Duration) -> bool {
        let same_key = self.key.is_some() && self.key == older.key;
        let is_next = older.retries.is_some_and(|retries| self.retries == retries.checked_add(1));
        let given_up = older.patience.is_some_and(|patience| waited >= patience + ROUNDED);
        self.digest == older.digest && (same_key || is_next && given_up)
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<f64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// The requests to which nothing was sent yet.
#[derive(Debug, Default)]
pub(crate) struct Unanswered(Mutex<Vec<Waiting>>);

#[derive(Debug)]
struct Waiting {
    id: String,
    sent: Sent,
    since: Instant,
}

/// A request to which nothing is sent until this is dropped.
#[derive(Debug)]
pub(crate) struct Unsent {
    unanswered: Arc<Unanswered>,
    id: String,
}

impl Unanswered {
    /// Takes in a request, and names the older ones that it is sent in place of.
    pub(crate) fn begin(self: &Arc<Self>, id: &str, sent: Sent) -> (Unsent, Vec<String>) {
        let mut waiting = self.lock();
        let is_retried = |older: &&Waiting| sent.is_retry_of(&older.sent, older.since.elapsed());
        let retried = waiting.iter().filter(is_retried).map(|older| older.id.clone()).collect();
        waiting.push(Waiting { id: id.to_owned(), sent, since: Instant::now() });
        (Unsent { unanswered: Arc::clone(self), id: id.to_owned() }, retried)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.unanswered.lock().retain(|waiting| waiting.id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn sent(path: &str, headers: &[(&str, &str)], body: &str) -> Sent {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Sent::new(&request.body(()).unwrap().into_parts().0, body.as_bytes())
    }

    const PATH: &str = "/v1/messages?beta=true";
    const LONG: Duration = Duration::from_secs(700);

    #[test]
    fn a_key_makes_the_same_words_one_request() {
        let keyed = |key: &str, body: &str| sent(PATH, &[(KEY, key), ("user-agent", "a")], body);
        let older = keyed("k", "{}");
        assert!(keyed("k", "{}").is_retry_of(&older, Duration::ZERO));
        for other in [
            keyed("l", "{}"),
            keyed("k", "{ }"),
            keyed("", "{}"),
            sent(PATH, &[("user-agent", "a")], "{}"),
            sent("/v1/responses", &[(KEY, "k"), ("user-agent", "a")], "{}"),
            sent(PATH, &[(KEY, "k"), ("user-agent", "b")], "{}"),
            sent(PATH, &[(KEY, "k"), ("user-agent", "a"), ("x-api-key", "t")], "{}"),
            sent(PATH, &[(KEY, "k"), ("user-agent", "a"), ("foretoken-speculation", "off")], "{}"),
        ] {
            assert!(!other.is_retry_of(&older, LONG), "{other:?}");
        }
        let without = sent(PATH, &[], "{}");
        assert!(!without.is_retry_of(&without, LONG), "the same words may be wanted twice");
    }

    #[test]
    fn a_next_try_is_one_of_a_request_that_was_given_up() {
        let tried = |count: &str, patience: &str| {
            sent(PATH, &[(RETRIES, count), ("x-stainless-read-timeout", patience)], "{}")
        };
        let (older, waits) = (tried("0", "600"), Duration::from_secs(599));
        assert!(tried("1", "600").is_retry_of(&older, LONG));
        assert!(!tried("1", "600").is_retry_of(&older, waits), "its program may still be there");
        for count in ["0", "2", "", "-1", "x"] {
            assert!(!tried(count, "600").is_retry_of(&older, LONG), "{count}");
        }
        for forever in ["", "x", "-1", "inf", "NaN"] {
            assert!(!tried("1", "600").is_retry_of(&tried("0", forever), LONG), "{forever}");
        }
        let node = sent(PATH, &[(RETRIES, "0"), ("x-stainless-timeout", "600")], "{}");
        assert!(tried("1", "600").is_retry_of(&node, LONG));
    }

    #[test]
    fn what_was_answered_is_nobody_s_twin() {
        let unanswered = Arc::<Unanswered>::default();
        let keyed = || sent(PATH, &[(KEY, "k")], "{}");
        let (first, none) = unanswered.begin("1", keyed());
        let (second, found) = unanswered.begin("2", keyed());
        assert_eq!((none.len(), found), (0, vec!["1".to_owned()]));
        drop(first);
        let (_third, found) = unanswered.begin("3", keyed());
        assert_eq!(found, ["2"]);
        drop(second);
        assert_eq!(unanswered.lock().len(), 1);
    }
}
