//! Counts for a monitor that asks for them now and then, in the text form of OpenMetrics: requests, tokens, and how
//! many drafts were right at each position. Nothing of any question or answer, and no name of a model.

use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use foretoken_protocol::{ApiDialect, ApiOutcome, ApiStage, ReplyStats};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::api::Api;
use crate::error::ApiError;

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// The counts since the program started.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Ended, Counter>,
    now: Family<Now, Gauge>,
    prompt_tokens: Counter,
    cached_tokens: Counter,
    generated_tokens: Counter,
    drafted: Family<Position, Counter>,
    accepted: Family<Position, Counter>,
    passes: Counter,
}

/// A request that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    dialect: Word,
    outcome: Word,
}

/// Requests that are there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Now {
    stage: Word,
}

/// Drafts at a position: 1 for the first of a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Position {
    position: u64,
}

/// One of a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Word(&'static str);

impl EncodeLabelValue for Word {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        self.0.encode(encoder)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Registry::default(),
            requests: Family::default(),
            now: Family::default(),
            prompt_tokens: Counter::default(),
            cached_tokens: Counter::default(),
            generated_tokens: Counter::default(),
            drafted: Family::default(),
            accepted: Family::default(),
            passes: Counter::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    fn registered(mut self) -> Self {
        let registry = self.registry.sub_registry_with_prefix("foretoken");
        registry.register("requests", "Requests that have ended", self.requests.clone());
        registry.register("requests_now", "Requests that are there", self.now.clone());
        let tokens = || Unit::Other("tokens".into());
        let counters = [
            ("prompt", "Tokens of prompts", &self.prompt_tokens),
            ("cached", "Tokens of prompts that were not read again", &self.cached_tokens),
            ("generated", "Tokens of replies that came to an end", &self.generated_tokens),
        ];
        for (name, help, counter) in counters {
            registry.register_with_unit(name, help, tokens(), counter.clone());
        }
        registry.register_with_unit("drafted", "Tokens drafted", tokens(), self.drafted.clone());
        registry.register_with_unit("accepted", "Drafted tokens accepted", tokens(), self.accepted.clone());
        registry.register("verify_passes", "Passes of the model that replies took", self.passes.clone());
        self
    }

    /// A request has ended.
    pub(crate) fn ended(&self, dialect: ApiDialect, outcome: &ApiOutcome) {
        let dialect = Word(match dialect {
            ApiDialect::Chat => "chat",
            ApiDialect::Completions => "completions",
            ApiDialect::Responses => "responses",
            ApiDialect::Messages => "messages",
        });
        let outcome = Word(match outcome {
            ApiOutcome::Done => "done",
            ApiOutcome::Stopped => "stopped",
            ApiOutcome::Left => "left",
            ApiOutcome::Failed { .. } => "failed",
        });
        self.requests.get_or_create(&Ended { dialect, outcome }).inc();
    }

    /// A reply has ended.
    pub(crate) fn replied(&self, stats: &ReplyStats) {
        self.prompt_tokens.inc_by(stats.prompt_tokens.into());
        self.cached_tokens.inc_by(stats.cached_tokens.into());
        self.generated_tokens.inc_by(stats.emitted.into());
        self.passes.inc_by(stats.steps.into());
        for (position, counts) in (1..).zip(&stats.positions) {
            let position = Position { position };
            self.drafted.get_or_create(&position).inc_by(counts.drafted.into());
            self.accepted.get_or_create(&position).inc_by(counts.accepted.into());
        }
    }

    /// All counts as text; `stages` are those of the requests that are there.
    pub(crate) fn text(&self, stages: impl Iterator<Item = ApiStage>) -> Result<String, fmt::Error> {
        let mut now = [("waiting", 0), ("reading", 0), ("writing", 0)];
        for stage in stages {
            let index = match stage {
                ApiStage::Waiting => 0,
                ApiStage::Reading { .. } => 1,
                ApiStage::Writing => 2,
            };
            now[index].1 += 1;
        }
        for (stage, count) in now {
            self.now.get_or_create(&Now { stage: Word(stage) }).set(count);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// Answers `GET /metrics`.
pub(crate) async fn metrics(State(api): State<Arc<Api>>) -> Result<Response, ApiError> {
    let text = api.live.metrics().map_err(|_| ApiError::Internal { code: "metrics_failed".into() })?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::PositionStats;

    use super::*;

    #[test]
    fn counts_add_up_and_have_the_names_that_a_monitor_expects() {
        let metrics = Metrics::default();
        let positions =
            vec![PositionStats { drafted: 4, accepted: 3 }, PositionStats { drafted: 3, accepted: 1 }];
        let stats = ReplyStats {
            prompt_tokens: 10,
            cached_tokens: 4,
            emitted: 7,
            steps: 3,
            positions,
            ..ReplyStats::default()
        };
        metrics.replied(&stats);
        metrics.replied(&stats);
        metrics.ended(ApiDialect::Chat, &ApiOutcome::Done);
        metrics.ended(ApiDialect::Messages, &ApiOutcome::Failed { code: "secret".into() });
        let text = metrics.text([ApiStage::Writing, ApiStage::Writing].into_iter()).unwrap();
        for line in [
            "foretoken_requests_total{dialect=\"chat\",outcome=\"done\"} 1",
            "foretoken_requests_total{dialect=\"messages\",outcome=\"failed\"} 1",
            "foretoken_requests_now{stage=\"waiting\"} 0",
            "foretoken_requests_now{stage=\"writing\"} 2",
            "foretoken_prompt_tokens_total 20",
            "foretoken_cached_tokens_total 8",
            "foretoken_generated_tokens_total 14",
            "foretoken_verify_passes_total 6",
            "foretoken_drafted_tokens_total{position=\"1\"} 8",
            "foretoken_accepted_tokens_total{position=\"2\"} 2",
            "# EOF",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} in\n{text}");
        }
        assert!(!text.contains("secret"), "{text}");
    }
}
