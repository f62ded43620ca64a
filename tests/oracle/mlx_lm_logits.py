#!/usr/bin/env python3
"""Logits of mlx-lm for a list of token ids, for each of several model folders.

    mlx_lm_logits.py IDS.json OUT.safetensors NAME=FOLDER...

OUT holds f32 `[T, V]` by name.
"""

import json
import sys
from pathlib import Path

import cases  # What mlx-lm needs to run mixtures of experts on the CPU.
import mlx.core as mx
import numpy as np
from mlx_lm.utils import load_model
from safetensors.numpy import save_file


def main():
    ids, out, *folders = sys.argv[1:]
    ids = mx.array(json.loads(Path(ids).read_text()))[None]
    logits = {}
    for name, folder in (pair.split("=", 1) for pair in folders):
        model, _ = load_model(Path(folder))
        logits[name] = np.array(model(ids)[0].astype(mx.float32))
    save_file(logits, out)


if __name__ == "__main__":
    main()
