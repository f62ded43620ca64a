"""The same checkpoint as people find it: converted, quantized, and with its MTP head shipped in every known way.

A library of `cases.py`. Needs mlx and mlx-lm. `raw` is always a folder that `make_checkpoint.py` wrote.
"""

import json
import os
import re
import shutil
from pathlib import Path

import mlx.core as mx
from mlx_lm.convert import mixed_quant_predicate_builder
from mlx_lm.utils import load_model, quantize_model, save_config, save_model

# What mlx-lm gives the gates before experts in this family, whatever the rest has.
ROUTERS = {"group_size": 64, "bits": 8, "mode": "affine"}
MODES = {"affine": (64, 4), "mxfp4": (32, 4), "mxfp8": (32, 8), "nvfp4": (16, 4)}
SHIFTED = re.compile(r"(layernorm|[qk]_norm|pre_fc_norm_\w+|^norm)\.weight$")
INDEX = "model.safetensors.index.json"

# ------------------------------------------------------------------ folders


def read_json(path):
    return json.loads(Path(path).read_text())


def write_json(path, value):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # it may be a link to another folder's file
    path.write_text(json.dumps(value, indent=2))


def edit_config(folder, **keys):
    """Sets keys of config.json; None removes one, wherever it is."""
    config = read_json(folder / "config.json")
    for key, value in keys.items():
        for part in (config, config.get("text_config", {})):
            part.pop(key, None)
        if value is not None:
            config[key] = value
    write_json(folder / "config.json", config)


def copy(source, out):
    """Copies a checkpoint; its tensor files are linked."""
    out.mkdir(parents=True)
    for file in Path(source).iterdir():
        if file.is_file():
            (os.link if file.suffix == ".safetensors" else shutil.copy)(file, out / file.name)
    return out


def tensors_of(folder):
    return {name: a for file in sorted(Path(folder).glob("model*.safetensors")) for name, a in mx.load(str(file)).items()}


def save(folder, tensors, file="model.safetensors", origin="mlx"):
    """Writes one tensor file; `origin` is what its metadata says of its writer."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    mx.eval(tensors)
    path.unlink(missing_ok=True)
    mx.save_safetensors(str(path), tensors, metadata={"format": origin})


def save_alone(folder, tensors, origin="mlx"):
    """Makes one file of all of a checkpoint's tensors, with its index."""
    mx.eval(tensors)
    for file in folder.glob("model*.safetensors"):
        file.unlink()
    save(folder, tensors, origin=origin)
    total = sum(a.nbytes for a in tensors.values())
    weight_map = {name: "model.safetensors" for name in sorted(tensors)}
    write_json(folder / INDEX, {"metadata": {"total_size": total}, "weight_map": weight_map})


# ------------------------------------------------------------------ trunks


def converted(raw, out, mode=None, group=None, bits=None, recipe=None):
    """What mlx-lm's converter writes: MLX names, stacked experts, and no MTP head."""
    model, config = load_model(Path(raw), lazy=True)
    predicate = mixed_quant_predicate_builder(recipe, model, group or 64) if recipe else None
    if mode or recipe:
        model, config = quantize_model(model, config, group, bits, mode=mode or "affine", quant_predicate=predicate)
    out.mkdir(parents=True)
    save_model(out, model)
    save_config(config, out / "config.json")
    for name in ("generation_config.json",):
        shutil.copy(Path(raw) / name, out / name)
    return out


def without_head(raw, out):
    """A raw checkpoint whose MTP tensors were cut out; the config still declares them."""
    copy(raw, out)
    save_alone(out, {name: a for name, a in tensors_of(raw).items() if not name.startswith("mtp.")}, origin="pt")
    return out


# ------------------------------------------------------------------ heads


def raw_head(raw):
    """The head's tensors without a prefix: norms as weight minus one, experts as they are."""
    return {n.removeprefix("mtp."): a for n, a in tensors_of(raw).items() if n.startswith("mtp.")}


def gamma(head):
    """Norms with their one added."""
    return {name: a + 1 if SHIFTED.search(name) and a.ndim == 1 else a for name, a in head.items()}


def stacked(head):
    """Experts as MLX has them: `switch_mlp`, stacked."""
    head = dict(head)
    for name in [n for n in head if n.endswith("experts.gate_up_proj")]:
        pre = name.removesuffix("experts.gate_up_proj")
        gate, up = mx.split(head.pop(name), 2, axis=1)
        head[pre + "switch_mlp.gate_proj.weight"] = gate
        head[pre + "switch_mlp.up_proj.weight"] = up
        head[pre + "switch_mlp.down_proj.weight"] = head.pop(pre + "experts.down_proj")
    experts = {}
    for name in [n for n in head if re.search(r"experts\.\d+\.", n)]:
        pre, number, rest = re.fullmatch(r"(.*)experts\.(\d+)\.(.*)", name).groups()
        experts.setdefault(f"{pre}switch_mlp.{rest}", {})[int(number)] = head.pop(name)
    return head | {name: mx.stack([by[e] for e in range(len(by))]) for name, by in experts.items()}


def quantized(head, mode="affine", group=None, bits=None, routers=None):
    """The head with every matrix quantized whose width allows it, and how each is, by module.

    `routers` is for the gates before experts, where they differ.
    """
    default = {"group_size": group or MODES[mode][0], "bits": bits or MODES[mode][1], "mode": mode}
    done, specs = {}, {}
    for name, a in head.items():
        path = name.removesuffix(".weight")
        spec = routers if routers and path.endswith(("mlp.gate", "shared_expert_gate")) else default
        if a.ndim < 2 or a.shape[-1] % spec["group_size"]:
            done[name] = a
            continue
        parts = mx.quantize(a, **spec)
        done |= {f"{path}.{part}": value for part, value in zip(("weight", "scales", "biases"), parts)}
        specs[path] = spec
    return done, specs


def prefixed(head, prefix):
    return {prefix + name: a for name, a in head.items()}


def with_head_inside(trunk, out, head, prefix="language_model.mtp.", specs=None):
    """The head in the main file, as a converter writes it that keeps heads; `specs` by module that differ."""
    copy(trunk, out)
    save_alone(out, tensors_of(trunk) | prefixed(head, prefix))
    if specs:
        quantization = read_json(out / "config.json")["quantization"] | prefixed(specs, prefix)
        edit_config(out, quantization=quantization, quantization_config=quantization)
    return out
