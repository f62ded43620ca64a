//! When a request is made again, and after how long.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::LibraryError;

/// How patient requests are.
#[derive(Debug, Clone)]
pub struct RetryPolicy {
    /// Failures in a row, without a byte in between, after which a request is given up.
    pub attempts: u32,
    /// The wait after the first failure; it doubles with each further one.
    pub base_delay: Duration,
    /// The longest wait between two attempts of our own accord.
    pub max_delay: Duration,
    /// The longest wait that a server may ask for.
    pub longest_asked_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 8,
            base_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            longest_asked_wait: Duration::from_secs(600),
        }
    }
}

/// Why one attempt failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Another attempt can succeed, not before the server's own wait if it named one.
    Transient(LibraryError, Option<Duration>),
    /// No attempt will succeed.
    Final(LibraryError),
}

impl From<LibraryError> for Failure {
    fn from(error: LibraryError) -> Self {
        Self::Final(error)
    }
}

/// Counts the failures of one request.
#[derive(Debug)]
pub(crate) struct Retry<'a> {
    policy: &'a RetryPolicy,
    failures: u32,
}

impl<'a> Retry<'a> {
    pub(crate) fn new(policy: &'a RetryPolicy) -> Self {
        Self { policy, failures: 0 }
    }

    /// Something arrived: the next failure is the first again.
    pub(crate) fn progressed(&mut self) {
        self.failures = 0;
    }

    /// How long to wait before the next attempt, or the error to give up with.
    pub(crate) fn after(&mut self, failure: Failure) -> Result<Duration, LibraryError> {
        let (error, asked) = match failure {
            Failure::Final(error) => return Err(error),
            Failure::Transient(error, asked) => (error, asked),
        };
        let busy = |error, asked: Duration| match error {
            LibraryError::Refused { host, .. } => LibraryError::Busy { host, seconds: asked.as_secs() },
            error => error,
        };
        self.failures += 1;
        if self.failures >= self.policy.attempts {
            return Err(match asked {
                Some(asked) if !asked.is_zero() => busy(error, asked),
                _ => error,
            });
        }
        let doubled = self.policy.base_delay.saturating_mul(1 << (self.failures - 1).min(16));
        let longest = doubled.min(self.policy.max_delay);
        // A wait between half and whole keeps many requests that failed together from coming back together.
        let wait = longest.mul_f64(0.5 + fastrand::f64() / 2.0);
        match asked {
            Some(asked) if asked > self.policy.longest_asked_wait => Err(busy(error, asked)),
            Some(asked) => Ok(asked.max(wait)),
            None => Ok(wait),
        }
    }
}

/// The wait that a server asks for: seconds or a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing(asked: Option<u64>) -> Failure {
        let error = LibraryError::Refused { host: "hub".into(), status: 429, what: "x".into() };
        Failure::Transient(error, asked.map(Duration::from_secs))
    }

    #[test]
    fn waits_double_up_to_the_longest_and_end() {
        let policy = RetryPolicy {
            attempts: 6,
            base_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(5),
            longest_asked_wait: Duration::from_secs(60),
        };
        let mut retry = Retry::new(&policy);
        for longest in [1.0, 2.0, 4.0, 5.0, 5.0] {
            let wait = retry.after(passing(None)).unwrap().as_secs_f64();
            assert!((longest / 2.0..=longest).contains(&wait), "{wait} of {longest}");
        }
        assert!(matches!(retry.after(passing(None)), Err(LibraryError::Refused { .. })));
        retry.progressed();
        assert!(retry.after(passing(None)).unwrap() <= Duration::from_secs(1));
    }

    #[test]
    fn the_server_s_own_wait_counts_unless_it_is_too_long() {
        let policy = RetryPolicy::default();
        let mut retry = Retry::new(&policy);
        assert_eq!(retry.after(passing(Some(40))).unwrap(), Duration::from_secs(40));
        assert!(matches!(retry.after(passing(Some(4000))), Err(LibraryError::Busy { seconds: 4000, .. })));
    }

    #[test]
    fn whoever_gives_up_on_a_busy_server_says_until_when_it_is() {
        let policy = RetryPolicy { attempts: 2, ..RetryPolicy::default() };
        let mut retry = Retry::new(&policy);
        retry.after(passing(Some(2))).unwrap();
        assert!(matches!(retry.after(passing(Some(2))), Err(LibraryError::Busy { seconds: 2, .. })));
    }

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let of = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers, now)
        };
        assert_eq!(of("7"), Some(Duration::from_secs(7)));
        assert_eq!(of("Sun, 06 Nov 1994 08:50:37 GMT"), Some(Duration::from_secs(60)));
        assert_eq!(of("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(of("soon"), None);
    }
}
