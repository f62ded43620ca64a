#!/usr/bin/env python3
"""The full texts that MLX hands to Metal for the engine's own kernels, without a GPU.

Reads a JSON array of kernels on the standard input: {"name", "header", "text", "inputs": [[name, type, shape]],
"outputs": [[name, type, shape]], "types": [[name, type]], "integers": [[name, number]]}, and writes a JSON array of
texts. MLX refuses to run such a kernel where there is no Metal, but not to export a function with it; the file holds
the text.
"""

import json
import os
import sys
import tempfile

import mlx.core as mx


def text(kernel):
    """The text of one kernel."""

    def dtype(name):
        return getattr(mx, name)

    names, outputs = ([buffer[0] for buffer in kernel[kind]] for kind in ("inputs", "outputs"))
    call = mx.fast.metal_kernel(
        name=kernel["name"],
        input_names=names,
        output_names=outputs,
        header=kernel["header"],
        source=kernel["text"],
        ensure_row_contiguous=False,
    )
    template = [(name, dtype(value)) for name, value in kernel["types"]]
    template += [(name, value) for name, value in kernel["integers"]]

    def run(*arrays):
        return call(
            inputs=list(arrays),
            template=template,
            grid=(32, 1, 1),
            threadgroup=(32, 1, 1),
            output_shapes=[shape for _, _, shape in kernel["outputs"]],
            output_dtypes=[dtype(name) for _, name, _ in kernel["outputs"]],
        )

    arrays = [mx.zeros(shape, dtype(name)) for _, name, shape in kernel["inputs"]]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.mlxfn")
        mx.export_function(path, run, *arrays)
        with open(path, "rb") as file:
            raw = file.read()
    # The text goes from the header to the line that makes the function for these types.
    start = raw.index(kernel["header"].encode()[:40])
    end = raw.index(b";\n", raw.index(b"template [[host_name", start)) + 2
    return raw[start:end].decode()


json.dump([text(kernel) for kernel in json.load(sys.stdin)], sys.stdout)
