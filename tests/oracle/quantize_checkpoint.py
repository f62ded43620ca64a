#!/usr/bin/env python3
"""Quantizes a raw Hugging Face Qwen3.5 checkpoint and keeps its MTP head.

    quantize_checkpoint.py SOURCE OUT [--bits 4] [--group-size 64]

Writes the layout that mlx-lm reads: names under `language_model.`, norms with their one added, the convolution's
kernel before its channel. mlx-lm's own converter writes the same but for the head, which it leaves out. Vision
tensors are left out. Needs mlx.
"""

import argparse
import json
import shutil
from pathlib import Path

import mlx.core as mx

# Raw checkpoints store these norms as w where the network multiplies by 1 + w.
SHIFTED_NORMS = (
    "input_layernorm.weight", "post_attention_layernorm.weight", "model.norm.weight", "mtp.norm.weight",
    "q_norm.weight", "k_norm.weight", "pre_fc_norm_embedding.weight", "pre_fc_norm_hidden.weight",
)


def rename(name):
    if name.startswith("model.language_model."):
        return "language_model.model." + name.removeprefix("model.language_model.")
    return "language_model." + name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--bits", type=int, default=4)
    parser.add_argument("--group-size", type=int, default=64)
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for shard in sorted(args.source.glob("*.safetensors")):
        for raw, value in mx.load(str(shard)).items():
            if raw.startswith("model.visual."):
                continue
            name = rename(raw)
            if name.endswith("conv1d.weight"):
                value = value.moveaxis(2, 1)
            elif name.endswith(SHIFTED_NORMS):
                value = value + 1.0
            if value.ndim == 2 and value.shape[-1] % args.group_size == 0:
                module = name.removesuffix(".weight")
                parts = mx.quantize(value, group_size=args.group_size, bits=args.bits)
                tensors.update(zip((f"{module}.weight", f"{module}.scales", f"{module}.biases"), parts))
            else:
                tensors[name] = value
    mx.save_safetensors(str(args.out / "model.safetensors"), tensors, metadata={"format": "mlx"})

    config = json.loads((args.source / "config.json").read_text())
    quantization = {"group_size": args.group_size, "bits": args.bits, "mode": "affine"}
    config["quantization"] = config["quantization_config"] = quantization
    (args.out / "config.json").write_text(json.dumps(config, indent=2))
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json"):
        shutil.copy(args.source / name, args.out / name)


if __name__ == "__main__":
    main()
