"""Compiles delta.c and hands it to torch as one differentiable operation."""

import ctypes
import hashlib
import subprocess
import tempfile
from pathlib import Path

import torch

SOURCE = Path(__file__).with_name("delta.c")
FLAGS = ["-O3", "-march=native", "-ffast-math", "-fPIC"]


def library():
    """Compiles delta.c once for each version of it and each processor, into the folder for temporary files."""
    processor = subprocess.run(["cc", "-march=native", "-Q", "--help=target"], capture_output=True, check=True).stdout
    key = hashlib.sha256(SOURCE.read_bytes() + processor + " ".join(FLAGS).encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"foretoken-delta-{key}.so"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            compiled, linked = Path(folder) / "delta.o", Path(folder) / "delta.so"
            subprocess.run(["cc", *FLAGS, "-c", SOURCE, "-o", compiled], check=True)
            subprocess.run(["cc", "-shared", compiled, "-o", linked, "-lm"], check=True)
            linked.rename(path)
    return ctypes.CDLL(str(path))


LIBRARY = library()


def call(name, rows, tokens, *tensors):
    """Calls a function of delta.c with two sizes and pointers to f32 arrays."""
    pointers = (None if t is None else ctypes.c_void_p(t.data_ptr()) for t in tensors)
    getattr(LIBRARY, name)(ctypes.c_long(rows), ctypes.c_long(tokens), *pointers)


class DeltaCore(torch.autograd.Function):
    """x f32 [B, T, width], conv f32 [4, channels], dt, a_log f32 [heads], norm f32 [head] → f32 [B, T, values]."""

    @staticmethod
    def forward(ctx, x, conv, dt, a_log, norm):
        x, conv = x.contiguous(), conv.contiguous()
        ctx.save_for_backward(x, conv, dt, a_log, norm)
        B, T, _ = x.shape
        out = x.new_empty(B, T, len(dt) * len(norm))
        call("forward", B, T, x, conv, dt, a_log, norm, out, None)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, conv, dt, a_log, norm = ctx.saved_tensors
        grads = [torch.empty_like(x), *(torch.zeros_like(t) for t in (conv, dt, a_log, norm))]
        call("backward", *x.shape[:2], x, conv, dt, a_log, norm, grad.contiguous(), *grads)
        return tuple(grads)


def with_state(x, conv, dt, a_log, norm):
    """The same without gradients, and the state after the last token, f32 [B, heads, key, value]."""
    x, conv = x.contiguous(), conv.contiguous()
    B, T, _ = x.shape
    out = x.new_empty(B, T, len(dt) * len(norm))
    state = x.new_empty(B, len(dt), len(norm), len(norm))
    call("forward", B, T, x, conv, dt, a_log, norm, out, state)
    return out, state
