//! OpenAI's responses, without a memory: whoever goes on with one sends all of it.

mod items;
mod parse;
mod tools;
mod write;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

use self::parse::ResponseRequest;
#[cfg(test)]
pub(crate) use self::parse::parse;
pub(crate) use self::parse::{Conversed, effort, input};
use self::write::Writer;
use crate::answer::answer as write_answer;
use crate::api::Api;
use crate::body;
use crate::error::ApiError;
use crate::retries::Sent;

/// Answers `POST /v1/responses`.
pub(crate) async fn answer(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(&api, body).await?;
    let ResponseRequest { asked, echo } = parse::parse(&body, &head.headers)?;
    let sent = Sent::new(&head, &body);
    drop(body);
    write_answer(api, &head.headers, sent, asked, |meta| Writer::new(meta, echo)).await
}

/// Answers whoever asks for a response of before.
pub(crate) async fn stored() -> ApiError {
    ApiError::NotStored { field: None }
}
