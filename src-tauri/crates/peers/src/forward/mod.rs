//! Two connections made one: what comes from either goes to the other.

mod shape;

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional_with_sizes};

pub use shape::Shape;

/// Bytes that are under way in each direction, at most.
const BUFFER: usize = 64 * 1024;

/// Carries bytes both ways until both sides have ended. The end of what one side sends is passed on, and the other
/// direction goes on; an error on one side closes both. `shape`: how slow the way is to be; `None`: not at all.
pub async fn join<A, B>(mut a: A, mut b: B, shape: Option<Shape>) -> io::Result<()>
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let Some(shape) = shape else {
        return copy_bidirectional_with_sizes(&mut a, &mut b, BUFFER, BUFFER).await.map(|_| ());
    };
    let (from_a, to_a) = tokio::io::split(a);
    let (from_b, to_b) = tokio::io::split(b);
    tokio::try_join!(shape.carry(from_a, to_b), shape.carry(from_b, to_a)).map(|_| ())
}

#[cfg(test)]
mod tests;
