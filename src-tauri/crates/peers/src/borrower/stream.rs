//! A connection to a lending Mac, as long as the two are paired.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, mem};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

use crate::book::Stay;

/// A connection to a lending Mac, encrypted. It fails from the moment on when that Mac is not paired any more.
pub struct PeerStream {
    stream: TlsStream<TcpStream>,
    /// One for whoever reads and one for whoever writes: each is woken.
    reading: Lasts,
    writing: Lasts,
}

enum Lasts {
    Paired(Stay),
    Over,
}

impl PeerStream {
    pub(super) fn new(stream: TlsStream<TcpStream>, [reading, writing]: [Stay; 2]) -> Self {
        Self { stream, reading: Lasts::Paired(reading), writing: Lasts::Paired(writing) }
    }
}

impl Lasts {
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if let Self::Paired(stay) = self
            && stay.as_mut().poll(context).is_ready()
        {
            drop(mem::replace(self, Self::Over));
        }
        match self {
            Self::Paired(_) => Ok(()),
            Self::Over => {
                Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the Mac is not paired any more"))
            }
        }
    }
}

impl AsyncRead for PeerStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.reading.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for PeerStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writing.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writing.check(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl fmt::Debug for PeerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerStream").finish_non_exhaustive()
    }
}
