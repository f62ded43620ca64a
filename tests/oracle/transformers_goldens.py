#!/usr/bin/env python3
"""Rows of logits from Hugging Face's transformers, on PyTorch, f32 and the CPU: `fixtures/goldens/transformers`.

    transformers_goldens.py OUT    needs torch, transformers, safetensors and tokenizers

It makes each checkpoint itself. Layouts that hold the same numbers are compared here and give one file.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.numpy import save_file

import make_checkpoint
from prompts import prompts

ROWS = {7: range(7), 64: (0, 31, 32, 63), 300: (0, 64, 127, 255, 299)}
SAME_NUMBERS = {
    "tiny-dense": ["tiny-dense"],
    "tiny-moe": ["tiny-moe-q36", "tiny-moe-q35", "tiny-next"],
    "tiny-next-mixed": ["tiny-next-mixed"],
    "tiny-next-yarn": ["tiny-next-yarn"],
    "tiny-dense-yarn": ["tiny-dense-yarn"],
}


def logits_of(preset):
    with tempfile.TemporaryDirectory() as folder:
        make_checkpoint.build(preset, folder, tokenizer=False)
        config = json.loads(Path(folder, "config.json").read_text())
        kind = getattr(transformers, config["architectures"][0])
        model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tensors = {}
    for length, ids in prompts(make_checkpoint.PRESETS[preset][0]["base_vocab"]).items():
        if length not in ROWS:
            continue
        with torch.no_grad():
            logits = model(input_ids=torch.tensor(ids.astype(np.int64))[None], use_cache=False).logits[0]
        tensors[f"ids_{length}"] = ids
        tensors[f"logits_{length}"] = logits.float().numpy()[list(ROWS[length])]
    return tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    for name, presets in SAME_NUMBERS.items():
        first, *others = (logits_of(preset) for preset in presets)
        for preset, other in zip(presets[1:], others):
            for key, expected in first.items():
                most = np.abs(expected - other[key]).max()
                assert most < 1e-4, f"{preset} differs from {presets[0]} in {key} by {most}"
        (out / name).mkdir(parents=True, exist_ok=True)
        save_file(first, str(out / name / "goldens.safetensors"))
        values = {"transformers": transformers.__version__, "torch": torch.__version__.partition("+")[0]}
        values |= {f"rows_{length}": list(rows) for length, rows in ROWS.items()}
        (out / name / "goldens.json").write_text(json.dumps(values, indent=1))


if __name__ == "__main__":
    main()
