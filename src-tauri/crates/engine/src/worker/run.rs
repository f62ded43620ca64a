//! What a rank does: receives, checks, computes and sends on, for as long as the ring lasts.

use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use foretoken_protocol::ErrorReport;
use thiserror::Error;

use super::stage::{Point, Stage, StageError};
use crate::link::{Frame, FrameError, FrameKind, RING_BROKEN, Served, WORDS, Worked, following};
use crate::mlx::{Array, Dtype, MlxError, Residency, Ring};

/// Why a rank has left its ring. The process has to end: that is how the others hear of it.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// A message that cannot be acted on.
    #[error("a message is refused: {0}")]
    Frame(#[from] FrameError),
    /// One that does not fit to what was before.
    #[error("a message is refused: {0}")]
    Stage(StageError),
    /// A rank must have a layer.
    #[error("this part of the model has no layer")]
    Empty,
    /// Nobody tells it anything any more.
    #[error("rank 0 has gone")]
    Alone,
    /// The ring is broken.
    #[error("the ring is broken: {0}")]
    Broken(#[from] MlxError),
}

impl From<&WorkerError> for ErrorReport {
    fn from(error: &WorkerError) -> Self {
        let hint = "Load the model again; if it happens again, restart both programs.";
        Self { code: RING_BROKEN.into(), message: format!("{error}."), hint: hint.into() }
    }
}

/// Serves a ring with a stage until rank 0 stops it. `go` tells when frames come, at first and after each rest; what
/// steps take is added to `worked`.
pub fn serve(
    ring: &Ring,
    stage: &mut Stage,
    epoch: u32,
    go: &Receiver<()>,
    worked: &Mutex<Worked>,
) -> Result<Served, WorkerError> {
    let (width, own_width, dtype) = stage.widths().ok_or(WorkerError::Empty)?;
    let is_last = ring.rank() + 1 == ring.size();
    let (mut sequence, mut served) = (0, Served::default());
    // None while it rests.
    let mut residency = None;
    loop {
        if residency.is_none() {
            go.recv().map_err(|_| WorkerError::Alone)?;
            residency = Some(Residency::hold());
        }
        stage.reach(Point::Receive);
        let words = receive(ring)?;
        let frame = Frame::expect(&words, epoch, sequence)?;
        // Sent on at once: the next ranks get ready while this one computes.
        if !is_last {
            ring.send(&Array::from_slice(&words, &[WORDS as i32])?)?;
        }
        let rotation = match frame.kind {
            FrameKind::Chunk { is_turned: true } => {
                let turned = [frame.tokens() as i32, 1, 1, stage.rotated()];
                let rotation = ring.receive(&turned, Dtype::Float32)?;
                if !is_last {
                    ring.send(&rotation)?;
                }
                Some(rotation)
            }
            _ => None,
        };
        stage.apply(&frame.operations).and_then(|()| stage.check(&frame)).map_err(WorkerError::Stage)?;
        if frame.kind == FrameKind::Rest {
            stage.reach(Point::Rest);
            residency = None;
        }
        match frame.kind {
            FrameKind::Stop => {
                ring.flush()?;
                let sent = ring.sent();
                return Ok(Served {
                    messages: sent.messages,
                    bytes: sent.bytes,
                    rows: stage.rows(),
                    ..served
                });
            }
            FrameKind::Step | FrameKind::Chunk { .. } => {
                stage.reach(Point::State);
                let failed = Frame::expect_state(&receive(ring)?, epoch, sequence)?;
                let tokens = frame.tokens() as i32;
                let x = ring.receive(&[tokens, width], dtype)?;
                let begin = Instant::now();
                stage.reach(Point::Compute);
                let computed = match failed {
                    Some(_) => None,
                    None => match stage.run(&frame, rotation, &x) {
                        Ok(y) => Some(y),
                        Err(error) if error.is_of_a_step() => {
                            tracing::warn!("a step fails: {error}");
                            served.failed += 1;
                            None
                        }
                        Err(error) => return Err(WorkerError::Stage(error)),
                    },
                };
                if computed.is_none() {
                    stage.lose_rows(&frame);
                }
                // Whatever happens here, the others must not wait for it.
                served.passes += 1;
                if computed.is_some() && frame.kind == FrameKind::Step {
                    worked.lock().unwrap_or_else(PoisonError::into_inner).count(begin.elapsed());
                }
                let own = || ring.rank() as u32;
                let failed = failed.or_else(|| computed.is_none().then(own));
                let state = Frame::state(epoch, sequence, failed).encode();
                stage.reach(Point::Send);
                ring.send(&Array::from_slice(&state, &[WORDS as i32])?)?;
                stage.reach(Point::Hidden);
                match computed {
                    Some(y) => ring.send(&y)?,
                    None => ring.send(&Array::zeros(&[tokens, own_width], dtype)?)?,
                }
                worked.lock().unwrap_or_else(PoisonError::into_inner).passes += 1;
            }
            FrameKind::Operations | FrameKind::Rest => {}
            FrameKind::State { .. } => return Err(FrameError::NotOne.into()),
        }
        sequence = following(sequence);
    }
}

fn receive(ring: &Ring) -> Result<Vec<i32>, WorkerError> {
    Ok(ring.receive(&[WORDS as i32], Dtype::Int32)?.to_vec::<i32>()?)
}
