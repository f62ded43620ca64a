//! Which route leads where, and what stands before all of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::api::Api;
use crate::chat;
use crate::error::{ApiError, Retry};
use crate::guard::{Admitted, Refused, cors};
use crate::models;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// How long whoever sends a wrong token waits for the answer.
const WRONG_TOKEN_DELAY: Duration = Duration::from_millis(200);

/// The routes, behind the guard.
pub(crate) fn router(api: Arc<Api>) -> Router {
    Router::new()
        .route("/", get(health))
        .route("/health", get(health))
        .route("/v1/models", get(list_models))
        .route("/v1/models/{*id}", get(one_model))
        .route("/v1/chat/completions", post(chat::answer))
        .route("/chat/completions", post(chat::answer))
        .fallback(no_route)
        .method_not_allowed_fallback(no_route)
        .layer(from_fn_with_state(Arc::clone(&api), admit))
        .with_state(api)
}

/// Lets through what the guard lets through, and names each request.
async fn admit(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let admitted = api.guard.admit(request.method(), request.uri(), request.headers(), Instant::now());
    let (mut response, origin) = match admitted {
        Ok(Admitted::Preflight(headers)) => ((StatusCode::NO_CONTENT, headers).into_response(), None),
        Ok(Admitted::Request { origin }) => (next.run(request).await, origin),
        Err(Refused { error, delay, origin }) => {
            if delay {
                tokio::time::sleep(WRONG_TOKEN_DELAY).await;
            }
            (error.into_response(), origin)
        }
    };
    response.headers_mut().extend(origin.map(cors).unwrap_or_default());
    if let Ok(id) = HeaderValue::try_from(random_name("req_")) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// A name that is never given again.
pub(crate) fn random_name(prefix: &str) -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(24).fold(prefix.to_owned(), |mut name, letter| {
        name.push(letter);
        name
    })
}

async fn health() -> Response {
    json_response(&json!({"status": "ok"}))
}

async fn list_models(State(api): State<Arc<Api>>) -> Response {
    json_response(&models::list(&api))
}

async fn one_model(State(api): State<Arc<Api>>, Path(id): Path<String>) -> Result<Response, ApiError> {
    Ok(json_response(&models::one(&api, &id)?))
}

async fn no_route(request: Request) -> ApiError {
    ApiError::NoRoute { method: request.method().to_string(), path: request.uri().path().to_owned() }
}

/// An answer of JSON.
pub(crate) fn json_response(value: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (headers, Body::from(value.to_string())).into_response()
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        if let Retry::After(seconds) = self.retry() {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        let again = if self.retry() == Retry::Never { "false" } else { "true" };
        headers.insert(SHOULD_RETRY, HeaderValue::from_static(again));
        (self.status(), headers, json_response(&chat::error_body(&self))).into_response()
    }
}
