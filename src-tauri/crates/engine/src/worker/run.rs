//! What a rank does: receives, checks, computes and sends on, for as long as the ring lasts.

use thiserror::Error;

use super::stage::{Stage, StageError};
use crate::link::{Deadline, Frame, FrameError, FrameKind, WORDS, following};
use crate::mlx::{Array, Dtype, MlxError, Ring};

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
    /// The ring is broken.
    #[error("the ring is broken: {0}")]
    Broken(#[from] MlxError),
}

/// What a rank has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Served {
    /// Hidden states that it has passed on.
    pub passes: u64,
    /// Those of them that it could not compute.
    pub failed: u64,
}

/// Serves a ring with a stage until rank 0 stops it. `deadline`: for what the ring does with one hidden state.
pub fn serve(ring: &Ring, stage: &mut Stage, epoch: u32, deadline: &Deadline) -> Result<Served, WorkerError> {
    let (width, own_width, dtype) = stage.widths().ok_or(WorkerError::Empty)?;
    let is_last = ring.rank() + 1 == ring.size();
    let (mut sequence, mut served) = (0, Served::default());
    loop {
        let words = receive(ring)?;
        let _under_way = deadline.begin();
        let frame = Frame::expect(&words, epoch, sequence)?;
        // Sent on at once: the next ranks get ready while this one computes.
        if !is_last {
            ring.send(&Array::from_slice(&words, &[WORDS as i32])?)?;
        }
        stage.apply(&frame.operations).and_then(|()| stage.check(&frame)).map_err(WorkerError::Stage)?;
        match frame.kind {
            FrameKind::Stop => {
                ring.flush()?;
                return Ok(served);
            }
            FrameKind::Step | FrameKind::Chunk => {
                let failed = Frame::expect_state(&receive(ring)?, epoch, sequence)?;
                let tokens = frame.tokens() as i32;
                let x = ring.receive(&[tokens, width], dtype)?;
                let computed = match failed {
                    Some(_) => None,
                    None => match stage.run(&frame, &x) {
                        Ok(y) => Some(y),
                        Err(error) if error.is_of_a_step() => {
                            tracing::warn!("a step fails: {error}");
                            served.failed += 1;
                            None
                        }
                        Err(error) => return Err(WorkerError::Stage(error)),
                    },
                };
                // Whatever happens here, the others must not wait for it.
                served.passes += 1;
                let own = || ring.rank() as u32;
                let failed = failed.or_else(|| computed.is_none().then(own));
                let state = Frame::state(epoch, sequence, failed).encode();
                ring.send(&Array::from_slice(&state, &[WORDS as i32])?)?;
                match computed {
                    Some(y) => ring.send(&y)?,
                    None => ring.send(&Array::zeros(&[tokens, own_width], dtype)?)?,
                }
            }
            FrameKind::Operations => {}
            FrameKind::State { .. } => return Err(FrameError::NotOne.into()),
        }
        sequence = following(sequence);
    }
}

fn receive(ring: &Ring) -> Result<Vec<i32>, WorkerError> {
    Ok(ring.receive(&[WORDS as i32], Dtype::Int32)?.to_vec::<i32>()?)
}
