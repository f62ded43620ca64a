#!/usr/bin/env python3
"""What mlx-vlm's vision tower makes of pictures, in float32 on the CPU.

    vision_features.py CHECKPOINT OUT.safetensors PICTURE.resized.png...  writes NAME_merged, [tokens, H], of each picture

The pictures have the sizes that the model reads, so that no resizing can tell. Needs mlx-vlm 0.7.10.
"""

import json
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
from mlx.utils import tree_map
from mlx_vlm.models.qwen3_vl.processing_qwen3_vl import Qwen3VLImageProcessor
from mlx_vlm.utils import load_model
from PIL import Image


def main(checkpoint, out, *pictures):
    mx.set_default_device(mx.cpu)
    model = load_model(Path(checkpoint))
    in_f32 = tree_map(lambda x: x.astype(mx.float32) if x.dtype == mx.bfloat16 else x, model.parameters())
    model.update(in_f32)
    size = json.loads(Path(checkpoint, "preprocessor_config.json").read_text())["size"]
    processor = Qwen3VLImageProcessor(min_pixels=size["shortest_edge"], max_pixels=size["longest_edge"])
    merged = {}
    for picture in map(Path, pictures):
        seen = processor([Image.open(picture).convert("RGB")])
        patches, grid = mx.array(seen["pixel_values"].astype(np.float32)), mx.array(seen["image_grid_thw"])
        name = picture.stem.removesuffix(".resized")
        merged[f"{name}_merged"], _ = model.vision_tower(patches, grid)
    mx.save_safetensors(out, merged)


main(*sys.argv[1:])
