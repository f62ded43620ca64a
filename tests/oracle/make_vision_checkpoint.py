#!/usr/bin/env python3
"""Tiny random checkpoints of Qwen3.5 / Qwen3.6 whose vision tower does something.

    make_vision_checkpoint.py tiny-vision     OUT_DIR
    make_vision_checkpoint.py tiny-vision-moe OUT_DIR
    make_vision_checkpoint.py wide-vision     OUT_DIR     heads of 72, as large towers have them
    make_vision_checkpoint.py tower-0.8b      OUT_DIR     the tower of Qwen3.5-0.8B above the small text model;
                                                          tower-0.8b-block: its first block alone
    make_vision_checkpoint.py tiny-vision OUT_DIR --mlx       names and kernel order as conversions to MLX write them
    make_vision_checkpoint.py tiny-vision OUT_DIR --break WHAT  one thing wrong, for tests of refusals

Text part, MTP head, tokenizer and value rules are those of make_checkpoint.py; its presets have a tower too, but one
that hardly answers to its input (weights of 0.02 everywhere).  Here every part of the tower shows in its output:

- patches: a kernel sized for pixels in -1..1, both frames of it different, so that using one of them alone shows;
- learned positions: an 8 x 8 table of independent rows, so that another interpolation or another order shows;
- rotary positions: queries and keys large enough that attention is not uniform;
- attention within an image: a tower that lets two images see each other gives other features;
- merger: LayerNorm before the 2 x 2 merge, exact (erf) GELU inside it while the blocks use the tanh form;
- features about as long as twice a text embedding, as the text model needs them to matter.

Besides the usual files: preprocessor_config.json and video_preprocessor_config.json in the family's form, with small
limits (64 x 64 to 384 x 384 pixels in area), and a chat template that knows images.

Needs only numpy and `tokenizers`.
"""

import argparse
import json
import math
import os
import struct

import numpy as np

import make_checkpoint as base

VIS = dict(depth=3, hidden=64, inter=160, heads=4, npos=64, patch=16)
base.PRESETS["tiny-vision"] = ({**base.TINY, "vis": VIS}, 2)
base.PRESETS["tiny-vision-moe"] = ({**base.TINY, **base.MOE, "layout": "q36", "vis": VIS}, 2)
# Heads of 72 and an MLP whose width is no multiple of 32, as the large towers have them.
WIDE = dict(depth=2, hidden=288, inter=1076, heads=4, npos=64, patch=16)
base.PRESETS["wide-vision"] = ({**base.TINY, "vis": WIDE}, 2)
# The tower of Qwen3.5-0.8B above the small text model, to be measured.
TOWER = dict(depth=12, hidden=768, inter=3072, heads=12, npos=48 * 48, patch=16)
MEASURED = {**base.TINY, "max_pos": 32768}
base.PRESETS["tower-0.8b"] = ({**MEASURED, "vis": TOWER}, 2)
base.PRESETS["tower-0.8b-block"] = ({**MEASURED, "vis": {**TOWER, "depth": 1}}, 2)
base.SEEDS.update({"tiny-vision": 11, "tiny-vision-moe": 12, "tower-0.8b": 13, "wide-vision": 14, "tower-0.8b-block": 15})

PRESETS = ["tiny-vision", "tiny-vision-moe", "wide-vision", "tower-0.8b", "tower-0.8b-block"]
MIN_PIXELS, MAX_PIXELS = 64 * 64, 384 * 384


class VisionValues(base.Values):
    def __call__(self, name, shape):
        if not name.startswith("model.visual."):
            return super().__call__(name, shape)
        what = name[len("model.visual."):]
        last = what.rsplit(".", 1)[-1]
        if "norm" in what:
            return self.normal(name, shape, 0.1, 0.0 if last == "bias" else 1.0)
        if last == "bias":
            return self.normal(name, shape, 0.1)
        if what == "pos_embed.weight":
            return self.normal(name, shape, 0.7)
        fan_in = int(np.prod(shape[1:]))
        gain = 1.0
        if what == "patch_embed.proj.weight":
            gain = 2.0
        elif ".attn.qkv." in what:
            gain = 1.5
        elif ".attn.proj." in what or ".mlp.linear_fc2." in what:
            gain = 0.6
        elif what == "merger.linear_fc2.weight":
            gain = 0.25
        return self.normal(name, shape, gain / math.sqrt(fan_in))


# In the manner of the family's template: images in user messages only, each written as three tokens of which the
# middle one stands for all of the image; numbered on request.
CHAT_TEMPLATE = r"""{%- set seen = namespace(images=0) %}
{%- macro content_of(content, count, system=false) %}
    {%- if content is string %}{{- content }}
    {%- elif content is iterable and content is not mapping %}
        {%- for part in content %}
            {%- if 'image' in part or 'image_url' in part or part.type == 'image' %}
                {%- if system %}{{- raise_exception('A system message cannot hold images.') }}{%- endif %}
                {%- if count %}{%- set seen.images = seen.images + 1 %}{%- endif %}
                {%- if add_vision_id %}{{- 'Picture ' ~ seen.images ~ ': ' }}{%- endif %}
                {{- '<|vision_start|><|image_pad|><|vision_end|>' }}
            {%- elif 'text' in part %}{{- part.text }}
            {%- else %}{{- raise_exception('Unknown part of a message.') }}
            {%- endif %}
        {%- endfor %}
    {%- endif %}
{%- endmacro %}
{%- if not messages %}{{- raise_exception('no messages') }}{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {{- '<|im_start|>system\n' + content_of(message.content, false, true) + '<|im_end|>\n' }}
    {%- elif message.role == 'user' %}
        {{- '<|im_start|>user\n' + content_of(message.content, true) + '<|im_end|>\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>assistant\n' + content_of(message.content, false) + '<|im_end|>\n' }}
    {%- else %}{{- raise_exception('Unknown role: ' + message.role) }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}
    {%- else %}{{- '<think>\n' }}
    {%- endif %}
{%- endif %}
"""


def write_json(path, value):
    with open(path, "w") as f:
        json.dump(value, f, indent=2)


def companions(out, patch, pixels):
    common = {
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "merge_size": 2, "patch_size": patch,
        "processor_class": "Qwen3VLProcessor", "temporal_patch_size": 2,
    }
    size = {"longest_edge": pixels[1], "shortest_edge": pixels[0]}
    write_json(f"{out}/preprocessor_config.json",
               {**common, "image_processor_type": "Qwen2VLImageProcessorFast", "size": size})
    write_json(f"{out}/video_preprocessor_config.json",
               {**common, "size": size, "video_processor_type": "Qwen3VLVideoProcessor"})
    with open(f"{out}/chat_template.jinja", "w") as f:
        f.write(CHAT_TEMPLATE)
    path = f"{out}/tokenizer_config.json"
    if os.path.exists(path):
        config = json.load(open(path))
        config["chat_template"] = CHAT_TEMPLATE
        write_json(path, config)


# ------------------------------------------------------------------ other layouts, and wrong ones


def read_shards(out):
    tensors = {}
    for file in sorted(f for f in os.listdir(out) if f.endswith(".safetensors")):
        with open(f"{out}/{file}", "rb") as f:
            size = struct.unpack("<Q", f.read(8))[0]
            header = json.loads(f.read(size))
            data = f.read()
        for name, info in header.items():
            if name != "__metadata__":
                begin, end = info["data_offsets"]
                tensors[name] = (info["dtype"], tuple(info["shape"]), data[begin:end])
        os.remove(f"{out}/{file}")
    os.remove(f"{out}/model.safetensors.index.json")
    return tensors


def write_one(out, tensors, metadata):
    header, offset = {"__metadata__": metadata}, 0
    for name, (dtype, shape, data) in sorted(tensors.items()):
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(f"{out}/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head)
        for _, (_, _, data) in sorted(tensors.items()):
            f.write(data)


def bits(dtype, data, shape):
    return np.frombuffer(data, np.uint16 if dtype == "BF16" else np.float32).reshape(shape)


def to_mlx(tensors):
    """Names, kernel orders and norms as a conversion to MLX leaves them; nothing quantized."""
    done = {}
    for name, (dtype, shape, data) in tensors.items():
        a = bits(dtype, data, shape)
        if name.startswith("model.visual."):
            name = "vision_tower." + name[len("model.visual."):]
        elif name.startswith("model.language_model."):
            name = "language_model.model." + name[len("model.language_model."):]
        else:
            name = "language_model." + name
        if name == "vision_tower.patch_embed.proj.weight":
            a = a.transpose(0, 2, 3, 4, 1)
        elif name.endswith("conv1d.weight"):
            a = a.transpose(0, 2, 1)
        elif a.ndim == 1 and name.endswith("norm.weight") and "linear_attn" not in name and "vision" not in name \
                or name.endswith(("layernorm.weight", "pre_fc_norm_hidden.weight", "pre_fc_norm_embedding.weight")):
            a = base.to_bf16((a.astype(np.uint32) << 16).view(np.float32) + np.float32(1))
        done[name] = (dtype, a.shape, np.ascontiguousarray(a).tobytes())
    return done


BREAKS = ["missing-block", "missing-bias", "extra", "misshapen", "deepstack", "no-config", "no-tensors", "nan",
          "hidden-size"]


def broken(out, tensors, what):
    config = json.load(open(f"{out}/config.json"))
    pre = "model.visual."
    if what == "missing-block":
        tensors = {n: t for n, t in tensors.items() if not n.startswith(pre + "blocks.1.")}
    elif what == "missing-bias":
        del tensors[pre + "patch_embed.proj.bias"]
    elif what == "extra":
        tensors[pre + "blocks.0.attn.gate.weight"] = tensors[pre + "blocks.0.attn.proj.bias"]
    elif what == "misshapen":
        dtype, shape, data = tensors[pre + "pos_embed.weight"]
        tensors[pre + "pos_embed.weight"] = (dtype, (shape[0] // 2, shape[1] * 2), data)
    elif what == "deepstack":
        config["vision_config"]["deepstack_visual_indexes"] = [1]
    elif what == "no-config":
        del config["vision_config"]
    elif what == "no-tensors":
        tensors = {n: t for n, t in tensors.items() if not n.startswith(pre)}
    elif what == "nan":
        dtype, shape, data = tensors[pre + "merger.linear_fc2.bias"]
        tensors[pre + "merger.linear_fc2.bias"] = (dtype, shape, b"\xc0\x7f" + data[2:])
    elif what == "hidden-size":
        config["vision_config"]["out_hidden_size"] = 96
    write_json(f"{out}/config.json", config)
    return tensors


def build(preset, out, seed=None, mlx=False, wrong=None, tokenizer=True, dtype="bfloat16"):
    base.Values = VisionValues
    base.build(preset, out, seed, tokenizer=tokenizer, dtype=dtype)
    pixels = (256 * 256, 4096 * 4096) if preset == "tower-0.8b" else (MIN_PIXELS, MAX_PIXELS)
    companions(out, base.PRESETS[preset][0]["vis"]["patch"], pixels)
    if mlx or wrong:
        tensors = read_shards(out)
        if wrong:
            tensors = broken(out, tensors, wrong)
        write_one(out, to_mlx(tensors) if mlx else tensors, {"format": "mlx" if mlx else "pt"})


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("preset", choices=sorted(PRESETS))
    ap.add_argument("out")
    ap.add_argument("--seed", type=int)
    ap.add_argument("--mlx", action="store_true")
    ap.add_argument("--break", dest="wrong", choices=BREAKS)
    ap.add_argument("--no-tokenizer", action="store_true")
    ap.add_argument("--dtype", choices=sorted(base.STORAGE), default="bfloat16")
    a = ap.parse_args()
    build(a.preset, a.out, a.seed, a.mlx, a.wrong, not a.no_tokenizer, a.dtype)
