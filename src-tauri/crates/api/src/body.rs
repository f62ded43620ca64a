//! The body of a request, within its limits.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use crate::api::Api;
use crate::error::ApiError;
use crate::guard::too_deep;

/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a body of JSON.
pub(crate) async fn read(api: &Api, body: Body) -> Result<Bytes, ApiError> {
    within(body, api.most_body(), PATIENCE).await
}

async fn within(body: Body, most: usize, patience: Duration) -> Result<Bytes, ApiError> {
    let whole = timeout(patience, Limited::new(body, most).collect()).await;
    let body = match whole {
        Err(_) => return Err(ApiError::TooSlow { seconds: patience.as_secs() }),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return Err(ApiError::TooLarge { most });
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

#[cfg(test)]
mod tests {
    use std::io;

    use futures_util::stream::{self, StreamExt};

    use super::*;

    const MOST: usize = 1 << 20;

    /// What comes of a body of these pieces.
    async fn read(pieces: Vec<io::Result<Vec<u8>>>, comes: bool) -> Result<usize, ApiError> {
        let pieces = stream::iter(pieces);
        let body = if comes {
            Body::from_stream(pieces)
        } else {
            Body::from_stream(pieces.chain(stream::pending()))
        };
        within(body, MOST, Duration::from_millis(20)).await.map(|bytes| bytes.len())
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_is_given_up() {
        assert_eq!(read(vec![Ok(b"{".to_vec()), Ok(b"}".to_vec())], true).await, Ok(2));
        let slow = read(vec![Ok(b"{".to_vec())], false).await;
        assert_eq!(slow, Err(ApiError::TooSlow { seconds: 0 }));
        let gone = read(vec![Ok(b"{".to_vec()), Err(io::ErrorKind::ConnectionReset.into())], true).await;
        assert!(matches!(gone, Err(ApiError::NotJson { .. })), "{gone:?}");
    }

    #[tokio::test]
    async fn one_that_is_too_large_is_not_waited_for() {
        let pieces = |last: &[u8]| vec![Ok(vec![b' '; MOST]), Ok(last.to_vec())];
        assert_eq!(read(pieces(b""), true).await, Ok(MOST));
        assert_eq!(read(pieces(b" "), false).await, Err(ApiError::TooLarge { most: MOST }));
    }
}
