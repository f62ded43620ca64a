//! OpenAI's chat completions.

mod parse;
mod write;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

use self::parse::ChatRequest;
#[cfg(test)]
pub(crate) use self::parse::parse;
pub(crate) use self::parse::{Conversed, input, response_format};
use self::write::Writer;
pub(crate) use self::write::{chances, error_body, finite};
use crate::answer::answer as write_answer;
use crate::api::Api;
use crate::body;
use crate::error::ApiError;
use crate::retries::Sent;

/// Answers `POST /v1/chat/completions`.
pub(crate) async fn answer(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(&api, body).await?;
    let ChatRequest { asked, options, customs } = parse::parse(&body, &head.headers)?;
    let sent = Sent::new(&head, &body);
    drop(body);
    let choices = usize::from(asked.ask.choices);
    write_answer(api, &head.headers, sent, asked, |meta| Writer::new(meta, options, customs, choices)).await
}
