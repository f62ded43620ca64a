//! OpenAI's completions: text that is gone on with as it is, without a template, or filled in between two texts.

mod parse;
mod write;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

use self::parse::CompletionRequest;
#[cfg(test)]
pub(crate) use self::parse::parse;
use self::write::Writer;
use crate::answer;
use crate::api::Api;
use crate::body;
use crate::error::ApiError;
use crate::retries::Sent;

/// Answers `POST /v1/completions`.
pub(crate) async fn answer(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(&api, body).await?;
    let CompletionRequest { asked, options } = parse::parse(&body, &head.headers)?;
    let sent = Sent::new(&head, &body);
    drop(body);
    let choices = usize::from(asked.ask.choices);
    answer::answer(api, &head.headers, sent, asked, |meta| Writer::new(meta, options, choices)).await
}
