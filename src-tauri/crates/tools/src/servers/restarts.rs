//! How often a server that ended by itself, or did not start, is started again.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::Keep;
use crate::error::ServerError;

/// The restarts of one server.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    /// When it was started again, oldest first.
    times: VecDeque<Instant>,
    /// What was wrong the last time, until it is started again.
    trouble: Option<String>,
    /// Whether it is started no more before the person says so.
    given_up: bool,
}

impl Restarts {
    /// It ended by itself, or did not start.
    pub(super) fn failed(&mut self, error: &ServerError) {
        self.trouble = Some(error.to_string());
    }

    /// Whether it may be started at this moment, which counts if it failed before.
    pub(super) fn start(&mut self, keep: &Keep, now: Instant) -> Result<(), ServerError> {
        let Some(last) = &self.trouble else { return Ok(()) };
        self.times.retain(|time| now.duration_since(*time) < keep.within);
        self.given_up |= self.times.len() >= keep.restarts;
        if self.given_up {
            return Err(ServerError::StartedTooOften {
                restarts: keep.restarts,
                within: keep.within,
                last: last.clone(),
            });
        }
        self.times.push_back(now);
        self.trouble = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn minutes(minutes: u64) -> Duration {
        Duration::from_secs(60 * minutes)
    }

    /// Starts it and lets it fail.
    fn fails(restarts: &mut Restarts, now: Instant) -> bool {
        let started = restarts.start(&Keep::default(), now).is_ok();
        restarts.failed(&ServerError::Gone);
        started
    }

    #[test]
    fn after_three_restarts_in_ten_minutes_it_is_not_started_any_more() {
        let (mut restarts, now) = (Restarts::default(), Instant::now());
        assert!((0..4).all(|minute| fails(&mut restarts, now + minutes(minute))));
        let error = restarts.start(&Keep::default(), now + minutes(5)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "The server was started 3 times again within 10 min, and is not any more. The last time: The server is \
             gone."
        );
        // It stays so, until the person starts it.
        assert!(restarts.start(&Keep::default(), now + minutes(60)).is_err());
        assert!(Restarts::default().start(&Keep::default(), now + minutes(60)).is_ok());
    }

    #[test]
    fn one_that_fails_now_and_then_is_always_started_again() {
        let (mut restarts, now) = (Restarts::default(), Instant::now());
        assert!((0..20).all(|time| fails(&mut restarts, now + minutes(4 * time))));
    }

    #[test]
    fn starts_of_one_that_did_not_fail_do_not_count() {
        let (mut restarts, now) = (Restarts::default(), Instant::now());
        assert!((0..20).all(|_| restarts.start(&Keep::default(), now).is_ok()));
    }
}
