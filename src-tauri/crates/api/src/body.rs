//! The body of a request, within its limits.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use crate::error::ApiError;
use crate::guard::{MOST_BODY, too_deep};

/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a body of JSON.
pub(crate) async fn read(body: Body) -> Result<Bytes, ApiError> {
    let whole = timeout(PATIENCE, Limited::new(body, MOST_BODY).collect()).await;
    let body = match whole {
        Err(_) => return Err(ApiError::TooSlow { seconds: PATIENCE.as_secs() }),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return Err(ApiError::TooLarge { most: MOST_BODY });
        }
        // Nobody is there to read this.
        Ok(Err(_)) => return Err(ApiError::NotJson { reason: "it ended early".into() }),
        Ok(Ok(body)) => body.to_bytes(),
    };
    if too_deep(&body) {
        return Err(ApiError::NotJson { reason: "it is nested too deeply".into() });
    }
    Ok(body)
}
