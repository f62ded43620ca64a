//! What is going on, for the person and for scripts; and an end to a request.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use foretoken_protocol::EngineState;
use serde_json::json;

use crate::api::Api;
use crate::error::ApiError;
use crate::models;
use crate::router::json_response;

/// Answers `GET /v1/foretoken/status`.
pub(crate) async fn status(State(api): State<Arc<Api>>) -> Response {
    let engine = match api.engine.state() {
        EngineState::Starting => "starting",
        EngineState::Loading { .. } => "loading",
        EngineState::Ready { in_memory: true, .. } => "ready",
        EngineState::Ready { in_memory: false, .. } => "unloaded",
        EngineState::Failed { .. } => "failed",
    };
    let model = models::find(&api, "default").ok().map(|found| found.id);
    json_response(&json!({
        "object": "foretoken.status",
        "engine": engine,
        "model": model,
        "requests": api.live.requests(),
    }))
}

/// Answers `POST /v1/foretoken/cancel/{request}`.
pub(crate) async fn cancel(
    State(api): State<Arc<Api>>,
    Path(request): Path<String>,
) -> Result<Response, ApiError> {
    if !api.live.stop(&request) {
        return Err(ApiError::NoRequest { id: request });
    }
    Ok(json_response(&json!({"object": "foretoken.cancelled", "id": request})))
}
