//! Anthropic's messages.

mod parse;
mod write;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

#[cfg(test)]
pub(crate) use self::parse::parse;
pub(crate) use self::parse::{Conversed, input, thinking};
use self::write::Writer;
pub(crate) use self::write::error_body;
use crate::answer;
use crate::api::Api;
use crate::body;
use crate::error::ApiError;
use crate::retries::Sent;

/// Answers `POST /v1/messages`.
pub(crate) async fn answer(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(&api, body).await?;
    let parse::MessagesRequest { asked, hides_thinking } = parse::parse(&body, &head.headers)?;
    let sent = Sent::new(&head, &body);
    drop(body);
    let signer = api.signer.clone();
    answer::answer(api, &head.headers, sent, asked, |meta| Writer::new(meta, hides_thinking, signer)).await
}
