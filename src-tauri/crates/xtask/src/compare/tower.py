"""What mlx-vlm's vision tower takes for one picture, as a line of JSON.

    tower.py CHECKPOINT PICTURE

Loading is not counted, nor is preparing the picture.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import mlx.core as mx
import numpy as np
from mlx_vlm.models.qwen3_vl.processing_qwen3_vl import Qwen3VLImageProcessor
from mlx_vlm.utils import load_model
from PIL import Image


def main(checkpoint, picture):
    tower = load_model(Path(checkpoint)).vision_tower
    mx.eval(tower.parameters())
    size = json.loads(Path(checkpoint, "preprocessor_config.json").read_text())["size"]
    processor = Qwen3VLImageProcessor(min_pixels=size["shortest_edge"], max_pixels=size["longest_edge"])
    seen = processor([Image.open(picture).convert("RGB")])
    patches, grid = mx.array(seen["pixel_values"].astype(np.float32)), mx.array(seen["image_grid_thw"])
    mx.eval(patches, grid)
    mx.reset_peak_memory()
    begin = time.perf_counter()
    features, _ = tower(patches, grid)
    mx.eval(features)
    gpu = "metal" if mx.metal.is_available() else "cuda"
    print(json.dumps({
        "version": version("mlx-vlm"), "mlx": version("mlx"), "seconds": time.perf_counter() - begin, "peak": mx.get_peak_memory(),
        "device": "cpu" if mx.default_device().type == mx.DeviceType.cpu else gpu,
    }))


main(*sys.argv[1:])
