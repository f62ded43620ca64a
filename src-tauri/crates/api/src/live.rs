//! The requests that are there, and the last ones that have ended: who asks and how far it is, nothing of what is
//! asked or answered. Kept in memory only.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use foretoken_host::ReplyProgress;
use foretoken_protocol::{
    ApiDialect, ApiOutcome, ApiRequest, ApiRequests, ApiStage, ApiWritten, EndedApiRequest, Event, ReplyStats,
};
use tokio::sync::watch;

use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::program;

/// How many requests are remembered that have ended.
const MOST_ENDED: usize = 50;

/// The requests to a server. Whoever owns one may keep it over several servers.
#[derive(Debug, Default)]
pub struct Live {
    state: Mutex<State>,
    metrics: Metrics,
    count: watch::Sender<usize>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    live: Vec<Entry>,
    /// The newest first.
    ended: VecDeque<EndedApiRequest>,
}

#[derive(Debug)]
struct Entry {
    request: ApiRequest,
    came: Instant,
    /// What is written of each of its replies.
    replies: Vec<ApiWritten>,
    /// Tells the request that the person wants it to end.
    stop: watch::Sender<bool>,
}

/// A request that is there until this is dropped.
#[derive(Debug)]
pub(crate) struct LiveRequest {
    live: Arc<Live>,
    id: String,
    stopped: watch::Receiver<bool>,
    outcome: ApiOutcome,
}

/// Where a request is listed.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) live: Arc<Live>,
    pub(crate) id: String,
}

impl Listed {
    /// How far it is; it waits where it is not there yet, or not any more.
    pub(crate) fn stage(&self) -> ApiStage {
        let state = self.live.lock();
        let entry = state.live.iter().find(|entry| entry.request.id == self.id);
        entry.map_or(ApiStage::Waiting, |entry| entry.request.stage)
    }
}

impl Live {
    /// The requests as they are now.
    pub fn requests(&self) -> ApiRequests {
        let state = self.lock();
        let live: Vec<ApiRequest> = state.live.iter().map(|entry| entry.request.clone()).collect();
        let speeds = live.iter().filter_map(|request| request.written.tokens_per_second);
        // The sum of none would be minus zero, and be written so.
        let tokens_per_second = speeds.fold(0.0, |sum, speed| sum + speed);
        ApiRequests { live, ended: state.ended.iter().cloned().collect(), tokens_per_second }
    }

    /// The counts since the program started, as text.
    pub(crate) fn metrics(&self) -> Result<String, fmt::Error> {
        let stages: Vec<ApiStage> = self.lock().live.iter().map(|entry| entry.request.stage).collect();
        self.metrics.text(stages.into_iter())
    }

    /// Follows how many requests are there.
    pub fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// Hears of whatever changes, several times a second for each request.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Ends a request; false if it is not there.
    pub fn stop(&self, id: &str) -> bool {
        let state = self.lock();
        let entry = state.live.iter().find(|entry| entry.request.id == id);
        entry.is_some_and(|entry| {
            entry.stop.send_replace(true);
            true
        })
    }

    /// Ends all requests.
    pub fn stop_all(&self) {
        for entry in &self.lock().live {
            entry.stop.send_replace(true);
        }
    }

    /// Lists a request of this id that a program with this user agent has sent.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: String,
        user_agent: &str,
        dialect: ApiDialect,
        model: String,
    ) -> LiveRequest {
        let (stop, stopped) = watch::channel(false);
        let request = ApiRequest {
            id: id.clone(),
            program: program::name(user_agent),
            dialect,
            model,
            came_at: SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |time| time.as_millis() as u64),
            stage: ApiStage::Waiting,
            written: ApiWritten::default(),
        };
        let entry = Entry { request, came: Instant::now(), replies: Vec::new(), stop };
        let mut state = self.lock();
        state.live.push(entry);
        self.tell(&state);
        drop(state);
        LiveRequest { live: Arc::clone(self), id, stopped, outcome: ApiOutcome::Left }
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Entry)) {
        let mut state = self.lock();
        if let Some(entry) = state.live.iter_mut().find(|entry| entry.request.id == id) {
            change(entry);
        }
        self.changed.send_replace(());
    }

    fn end(&self, id: &str, outcome: ApiOutcome) {
        let mut state = self.lock();
        let Some(index) = state.live.iter().position(|entry| entry.request.id == id) else { return };
        let Entry { request, came, .. } = state.live.remove(index);
        let ApiRequest { id, program, dialect, model, came_at, written, .. } = request;
        self.metrics.ended(dialect, &outcome);
        let took_ms = came.elapsed().as_millis() as u64;
        let ended = EndedApiRequest { id, program, dialect, model, came_at, took_ms, written, outcome };
        state.ended.push_front(ended);
        state.ended.truncate(MOST_ENDED);
        self.tell(&state);
    }

    fn tell(&self, state: &State) {
        self.count.send_replace(state.live.len());
        self.changed.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// What the engine has said of one of the replies.
    fn heed(&mut self, index: usize, progress: &ReplyProgress) {
        let ReplyProgress::Event(event) = progress else { return };
        if self.replies.len() <= index {
            self.replies.resize(index + 1, ApiWritten::default());
        }
        let reply = &mut self.replies[index];
        match event {
            Event::Reading { done, total, .. } if index == 0 => {
                self.request.stage = ApiStage::Reading { done: *done, total: *total };
            }
            Event::Tokens { tokens, .. } => {
                self.request.stage = ApiStage::Writing;
                reply.tokens += tokens.len() as u32;
                reply.accepted += tokens.iter().filter(|token| token.draft_position.is_some()).count() as u32;
            }
            Event::Live { stats, .. } => {
                reply.tokens_per_second = Some(stats.tokens_per_second);
                reply.acceptance = stats.acceptance;
            }
            Event::Finished { stats, .. } => *reply = written(stats),
            _ => {}
        }
        self.request.written = sum(&self.replies);
    }
}

/// What is written of a reply that has ended.
fn written(stats: &ReplyStats) -> ApiWritten {
    let of = |count: fn(&foretoken_protocol::PositionStats) -> u32| stats.positions.iter().map(count).sum();
    ApiWritten {
        tokens: stats.emitted,
        tokens_per_second: Some(stats.tokens_per_second).filter(|speed| *speed > 0.0),
        accepted: of(|position| position.accepted),
        drafted: Some(of(|position| position.drafted)),
        acceptance: None,
    }
}

/// What is written of all replies to a request. Those that have ended say exactly how many guesses were right.
fn sum(replies: &[ApiWritten]) -> ApiWritten {
    let accepted = replies.iter().map(|reply| reply.accepted).sum();
    let drafted: Option<u32> = replies.iter().map(|reply| reply.drafted).sum();
    let known = replies.iter().filter_map(|reply| reply.acceptance);
    let acceptance = match drafted {
        Some(drafted) => (drafted > 0).then(|| f64::from(accepted) / f64::from(drafted)),
        None => known.clone().next().map(|_| known.clone().sum::<f64>() / known.count() as f64),
    };
    let speeds = replies.iter().filter_map(|reply| reply.tokens_per_second);
    ApiWritten {
        tokens: replies.iter().map(|reply| reply.tokens).sum(),
        tokens_per_second: speeds.reduce(|sum, speed| sum + speed),
        accepted,
        drafted,
        acceptance,
    }
}

impl LiveRequest {
    /// Waits until the person wants the request to end.
    pub(crate) fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopped = self.stopped.clone();
        async move {
            if stopped.wait_for(|stopped| *stopped).await.is_err() {
                // Nobody is there any more who could.
                std::future::pending().await
            }
        }
    }

    /// What the engine has said of one of its replies.
    pub(crate) fn heed(&self, index: usize, progress: &ReplyProgress) {
        if let ReplyProgress::Event(Event::Finished { stats, .. }) = progress {
            self.live.metrics.replied(stats);
        }
        self.live.change(&self.id, |entry| entry.heed(index, progress));
    }

    /// It is answered.
    pub(crate) fn done(&mut self) {
        self.outcome = ApiOutcome::Done;
    }

    /// It will not be answered, or not to its end.
    pub(crate) fn failed(&mut self, error: &ApiError) {
        self.outcome = match error {
            ApiError::Cancelled => ApiOutcome::Stopped,
            error => ApiOutcome::Failed { code: error.kind_and_code().1.to_owned() },
        };
    }
}

impl Drop for LiveRequest {
    fn drop(&mut self) {
        let outcome = std::mem::replace(&mut self.outcome, ApiOutcome::Left);
        self.live.end(&self.id, outcome);
    }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{LiveStats, Part, PositionStats, TokenText};

    use super::*;
    use crate::router::random_name;

    fn begin(live: &Arc<Live>) -> LiveRequest {
        live.begin(random_name("req_"), "curl/8.9.1", ApiDialect::Chat, "a/b".into())
    }

    #[test]
    fn a_request_is_there_until_it_is_dropped_and_its_end_is_remembered() {
        let live = Arc::<Live>::default();
        let (mut first, second, mut third) = (begin(&live), begin(&live), begin(&live));
        assert_eq!(*live.count().borrow(), 3);
        first.done();
        third.failed(&ApiError::EngineStopped);
        drop((first, second, third));
        assert_eq!(*live.count().borrow(), 0);
        let outcomes: Vec<_> = live.requests().ended.into_iter().map(|ended| ended.outcome).collect();
        let failed = ApiOutcome::Failed { code: "engine_stopped".into() };
        assert_eq!(outcomes, [failed, ApiOutcome::Left, ApiOutcome::Done]);
        for _ in 0..60 {
            drop(begin(&live));
        }
        let requests = live.requests();
        assert_eq!(requests.ended.len(), MOST_ENDED);
        assert_eq!(serde_json::to_value(requests.tokens_per_second).unwrap().to_string(), "0.0");
    }

    #[test]
    fn what_is_written_of_all_replies_counts() {
        let live = Arc::<Live>::default();
        let request = begin(&live);
        let heed = |index, event| request.heed(index, &ReplyProgress::Event(event));
        let stage = || live.requests().live[0].stage;
        assert_eq!(stage(), ApiStage::Waiting);
        heed(0, Event::Reading { id: 1, done: 8, total: 20 });
        assert_eq!(stage(), ApiStage::Reading { done: 8, total: 20 });
        let token = |draft_position| TokenText { text: "a".into(), part: Part::Answer, draft_position };
        let tokens = vec![token(None), token(Some(1))];
        heed(0, Event::Tokens { id: 1, tokens: tokens.clone(), logprobs: Vec::new() });
        heed(1, Event::Tokens { id: 2, tokens, logprobs: Vec::new() });
        let stats = LiveStats {
            tokens_per_second: 12.0,
            tokens_per_pass: 1.0,
            acceptance: Some(0.5),
            passes: Vec::new(),
        };
        heed(1, Event::Live { id: 2, stats });
        let requests = live.requests();
        let written = ApiWritten {
            tokens: 4,
            tokens_per_second: Some(12.0),
            accepted: 2,
            drafted: None,
            acceptance: Some(0.5),
        };
        assert_eq!((stage(), requests.live[0].written), (ApiStage::Writing, written));
        assert_eq!(requests.tokens_per_second, 12.0);
        let position = PositionStats { drafted: 3, accepted: 2 };
        let stats = ReplyStats { emitted: 7, positions: vec![position; 2], ..ReplyStats::default() };
        for (id, index) in [(1, 0), (2, 1)] {
            let stats = Box::new(stats.clone());
            let reason = foretoken_protocol::FinishReason::Stop;
            heed(index, Event::Finished { id, reason, stop: None, stats });
        }
        let written = ApiWritten {
            tokens: 14,
            tokens_per_second: None,
            accepted: 8,
            drafted: Some(12),
            acceptance: Some(8.0 / 12.0),
        };
        assert_eq!(live.requests().live[0].written, written);
    }

    #[tokio::test]
    async fn only_the_request_that_is_named_is_stopped() {
        let live = Arc::<Live>::default();
        let (first, second) = (begin(&live), begin(&live));
        assert!(!live.stop("req_unknown"));
        assert!(live.stop(&first.id));
        first.stopped().await;
        let is_stopped = |request: &LiveRequest| *request.stopped.borrow();
        assert!(!is_stopped(&second));
        live.stop_all();
        assert!(is_stopped(&second));
        let id = first.id.clone();
        drop(first);
        assert!(!live.stop(&id), "it is gone");
    }

    #[test]
    fn listeners_hear_of_changes() {
        let live = Arc::<Live>::default();
        let mut changes = live.changes();
        let request = begin(&live);
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        request.heed(0, &ReplyProgress::Event(Event::Waiting { id: 1, ahead: 0 }));
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        drop(request);
        assert!(changes.has_changed().unwrap());
    }
}
