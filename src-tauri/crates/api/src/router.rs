//! Which route leads where, and what stands before all of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::{Value, json};

use crate::api::Api;
use crate::chat;
use crate::completions;
use crate::count;
use crate::error::{ApiError, Retry};
use crate::guard::{Admitted, Refused, cors};
use crate::messages;
use crate::metrics;
use crate::models;
use crate::responses;
use crate::status;

/// Names a request in its answer, and to those who handle it: what its program has set there is not taken over.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const ANTHROPIC_REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// How long whoever sends a wrong token waits for the answer.
const WRONG_TOKEN_DELAY: Duration = Duration::from_millis(200);

/// The routes, behind the guard.
pub(crate) fn router(api: Arc<Api>) -> Router {
    Router::new()
        .route("/", get(health))
        .route("/health", get(health))
        .route("/metrics", get(metrics::metrics))
        .route("/v1/models", get(list_models))
        .route("/v1/models/{*id}", get(one_model))
        .route("/v1/chat/completions", post(chat::answer))
        .route("/v1/chat/completions/input_tokens", post(count::chat))
        .route("/chat/completions", post(chat::answer))
        .route("/v1/completions", post(completions::answer))
        .route("/v1/responses", post(responses::answer))
        .route("/v1/responses/input_tokens", post(count::responses))
        .route("/v1/responses/{id}", get(responses::stored).delete(responses::stored))
        .route("/v1/messages", post(messages::answer))
        .route("/v1/messages/count_tokens", post(count::messages))
        .route("/v1/foretoken/status", get(status::status))
        .route("/v1/foretoken/cancel/{request}", post(status::cancel))
        .route("/v1/embeddings", any(not_offered))
        .route("/v1/moderations", any(not_offered))
        .route("/v1/audio/{*rest}", any(not_offered))
        .route("/v1/images/{*rest}", any(not_offered))
        .fallback(no_route)
        .method_not_allowed_fallback(no_route)
        .layer(from_fn_with_state(Arc::clone(&api), admit))
        .with_state(api)
}

/// Lets through what the guard lets through, and names each request.
async fn admit(State(api): State<Arc<Api>>, mut request: Request, next: Next) -> Response {
    let name = random_name("req_");
    let id = HeaderValue::try_from(&name).ok();
    request.headers_mut().remove(REQUEST_ID);
    request.headers_mut().extend(id.clone().map(|id| (REQUEST_ID, id)));
    let is_messages = request.uri().path().starts_with("/v1/messages");
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let admitted = api.guard.admit(method, uri, headers, api.most_body(), Instant::now());
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
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id.clone());
        response.headers_mut().insert(ANTHROPIC_REQUEST_ID, id);
    }
    if let Some(Refusal(error)) = response.extensions_mut().remove() {
        let body = if is_messages { messages::error_body(&error, &name) } else { chat::error_body(&error) };
        response.headers_mut().insert(header::CONTENT_TYPE, JSON);
        *response.body_mut() = Body::from(body.to_string());
    }
    response
}

/// Why a request was refused, on its way to whoever writes that.
#[derive(Debug, Clone)]
struct Refusal(ApiError);

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

/// Answers whoever asks for what other servers have and this one has not.
async fn not_offered(request: Request) -> ApiError {
    ApiError::NotOffered { path: request.uri().path().to_owned() }
}

/// An answer of JSON.
pub(crate) fn json_response(value: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, JSON)];
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
        let mut response = (self.status(), headers).into_response();
        // `admit` knows whose words to say it in.
        response.extensions_mut().insert(Refusal(self));
        response
    }
}
