//! The ring of MLX: processes of which each sends to the next one and receives from the one before, the last from and
//! to the first, over TCP.
//!
//! Nothing that computes is ever evaluated together with a message: a GPU must not wait for another machine within its
//! command buffer, and what an evaluation holds is not done in the order in which it was written. Messages have no
//! length of their own: whoever receives knows the shape.

use std::cell::Cell;
use std::marker::PhantomData;

use mlx_sys::{mlx_distributed_group, mlx_stream};

use super::error::install_handler;
use super::{Array, Dtype, MlxError, Result, async_eval, eval};

/// This process's place in a ring, for as long as the process lives. After the first error the ring is of no use any
/// more: whatever is asked of it then may never return.
#[derive(Debug)]
pub struct Ring {
    group: mlx_distributed_group,
    rank: i32,
    size: i32,
    /// What is sent and what is received have a stream each, so that both can be under way.
    out: mlx_stream,
    into: mlx_stream,
    sent: Cell<Sent>,
    _one_thread: PhantomData<*const ()>,
}

/// What has left a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Ring {
    /// Joins the ring that the variables `MLX_RANK` and `MLX_HOSTFILE` name. Waits for the neighbours, for some of them
    /// without limit.
    pub fn join() -> Result<Self> {
        install_handler();
        // SAFETY: the handle is fresh and the name is a C string.
        let (status, group) = unsafe {
            let mut group = mlx_sys::mlx_distributed_group_new();
            let status = mlx_sys::mlx_distributed_init(&mut group, true, c"ring".as_ptr());
            (status, group)
        };
        if status != 0 || group.ctx.is_null() {
            return Err(MlxError::last("distributed_init"));
        }
        // SAFETY: the group is valid. Streams live until the process ends, and no other thread uses these.
        unsafe {
            let device = mlx_sys::mlx_device_new_type(mlx_sys::mlx_device_type__MLX_CPU, 0);
            let [out, into] = [(), ()].map(|()| mlx_sys::mlx_stream_new_device(device));
            mlx_sys::mlx_device_free(device);
            let (rank, size) =
                (mlx_sys::mlx_distributed_group_rank(group), mlx_sys::mlx_distributed_group_size(group));
            Ok(Self { group, rank, size, out, into, sent: Cell::default(), _one_thread: PhantomData })
        }
    }

    /// Which of the ring's processes this is, from 0 on.
    pub fn rank(&self) -> usize {
        self.rank as usize
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// What was sent so far.
    pub fn sent(&self) -> Sent {
        self.sent.get()
    }

    /// Sends an array to the next process, once it is computed, and does not wait until it is there.
    pub fn send(&self, array: &Array) -> Result<()> {
        eval([array])?;
        let next = (self.rank + 1) % self.size;
        let message = Array::build("send", |res, _| unsafe {
            mlx_sys::mlx_distributed_send(res, array.raw(), next, self.group, self.out)
        })?;
        async_eval([&message])?;
        let Sent { messages, bytes } = self.sent.get();
        self.sent.set(Sent { messages: messages + 1, bytes: bytes + array.nbytes() as u64 });
        Ok(())
    }

    /// Waits until all that was sent has left. What has not when the process ends never does.
    pub fn flush(&self) -> Result<()> {
        // SAFETY: the stream is this ring's.
        match unsafe { mlx_sys::mlx_synchronize(self.out) } {
            0 => Ok(()),
            _ => Err(MlxError::last("synchronize")),
        }
    }

    /// Waits for an array of this shape from the process before.
    pub fn receive(&self, shape: &[i32], dtype: Dtype) -> Result<Array> {
        let before = (self.rank + self.size - 1) % self.size;
        let message = Array::build("receive", |res, _| unsafe {
            mlx_sys::mlx_distributed_recv(
                res,
                shape.as_ptr(),
                shape.len(),
                dtype.into(),
                before,
                self.group,
                self.into,
            )
        })?;
        eval([&message])?;
        Ok(message)
    }
}
