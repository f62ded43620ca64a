#!/usr/bin/env python3
"""Makes checkpoints in every layout that the engine reads, and what they must give.

    cases.py GROUP OUT    GROUP is one of layouts, heads, quantizations; OUT must not exist

Writes OUT/cases.json: by case, the folder of its checkpoint, the folder of its values, whether there is a head, and for
a converted checkpoint the raw one that it was made from.
Values are as `goldens.py` writes them. In f32, logits and greedy text of the trunk are mlx-lm's; logits of the MTP head,
which mlx-lm leaves out, come from `reference.py`. Both compute the trunk here, and must agree. A checkpoint that
computes in 16 bits gets the values of `reference.py`, and how far mlx-lm lies from them, `rounding_L`: the root mean
square of the difference in a row, relative to that of its logits, where a fifth of the rows lie closer. Rows behind a
choice of experts that rounding has turned lie anywhere.
"""

import argparse
import contextlib
import io
import os
import shutil
import sys
from pathlib import Path

# The matrices are small: threads would wait for each other.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import mlx.core as mx

# Before mlx-lm makes its stream: on a Mac too, the reference computes on the CPU.
mx.set_default_device(mx.cpu)

import numpy as np
from mlx_lm.generate import generate_step
from mlx_lm.models.switch_layers import QuantizedSwitchLinear, SwitchLinear
from mlx_lm.utils import load_model
from safetensors.numpy import save_file

import make_checkpoint
import reference
import variants as v
from prompts import prompts

ROWS_300 = [0, 1, 63, 64, 127, 255, 298, 299]
# How far the two references may lie apart in f32, relative to the largest logit: several times what was measured.
AGREEMENT = 2e-5
# Greedy text is compared up to a choice that rounding could turn.
NEAR_TIE = 3e-4
# What is asked of the layouts; a part of it shows whether anything else was read right.
FULL = {"lengths": (7, 64, 300), "texts": (7, 64), "tokens": 32}


def experts(self, x, indices, sorted_indices=False):
    """MLX 0.32.2 multiplies by chosen experts on the CPU in f32 only."""
    weight = self.weight.swapaxes(-1, -2).astype(mx.float32)
    product = mx.gather_mm(x.astype(mx.float32), weight, rhs_indices=indices, sorted_indices=sorted_indices)
    return product.astype(x.dtype)


def quantized_experts(self, x, indices, sorted_indices=False):
    """As mlx-lm 0.32.2 does it, without an argument that came with a later MLX than 0.32.2."""
    return mx.gather_qmm(x, self.weight, self.scales, self.get("biases"), rhs_indices=indices, transpose=True,
                         group_size=self.group_size, bits=self.bits, mode=self.mode, sorted_indices=sorted_indices)


SwitchLinear.__call__, QuantizedSwitchLinear.__call__ = experts, quantized_experts


def rounding(got, logits):
    rows = np.sqrt(((got - logits) ** 2).mean(-1) / (logits**2).mean(-1))
    return float(np.sort(rows)[len(rows) // 5])


class Values:
    """What one model gives: `trunk` is a folder that mlx-lm loads, `head` one that holds the MTP head."""

    def __init__(self, trunk, head, lengths=(7, 64), texts=(7,), tokens=24, dtype="float32", pre_norm=False):
        self.trunk, self.head, self.lengths, self.texts, self.tokens = trunk, head, lengths, texts, tokens
        self.dtype, self.pre_norm = dtype, pre_norm

    def write(self, out):
        model, _ = load_model(Path(self.trunk))
        network = self.network()
        every = prompts(make_checkpoint.TINY["base_vocab"])
        asked = {length: every[length] for length in self.lengths}
        tensors, values = {}, {"greedy": {}}
        for length, ids in asked.items():
            rows = ROWS_300 if length > 64 else list(range(length))
            got = np.array(model(mx.array(ids)[None])[0].astype(mx.float32))
            logits, _, head = network.score(ids, self.pre_norm)
            if self.dtype == "float32":
                off = np.abs(got - logits).max() / np.abs(logits).max()
                assert off < AGREEMENT, f"{self.trunk}: the references lie {off:.1e} apart"
                if length in self.texts:
                    values["greedy"][str(length)] = {"tokens": self.greedy(model, ids)}
            else:
                values[f"rounding_{length}"] = rounding(got, logits)
                got = logits.astype(np.float32)
            values[f"rows_{length}"] = rows
            tensors[f"ids_{length}"] = ids
            tensors[f"logits_{length}"] = got[rows]
            tensors[f"mtp_logits_{length}"] = head[[row for row in rows if row < length - 1]].astype(np.float32)
        compared = sum(len(greedy["tokens"]) for greedy in values["greedy"].values())
        assert self.dtype != "float32" or compared >= self.tokens // 2, f"{self.trunk}: near ties after {compared}"
        out.mkdir(parents=True)
        save_file({name: np.ascontiguousarray(a) for name, a in tensors.items()}, str(out / "goldens.safetensors"))
        v.write_json(out / "goldens.json", values)

    def network(self):
        checkpoint = reference.Checkpoint(self.trunk)
        head = reference.Checkpoint(self.head).tensors
        checkpoint.tensors |= {name: a for name, a in head.items() if name.startswith("mtp.")}
        return reference.Network(checkpoint)

    def greedy(self, model, ids):
        tokens = []
        for token, logprobs in generate_step(mx.array(ids), model, max_tokens=self.tokens):
            second, first = np.sort(np.array(logprobs).reshape(-1))[-2:]
            if first - second < NEAR_TIE:
                break
            tokens.append(int(token))
        return tokens


class Cases:
    """A folder of checkpoints and values being filled."""

    def __init__(self, out):
        self.out, self.cases = out, {}
        out.mkdir(parents=True)

    def raw(self, preset, dtype="float32", flat=False):
        """A random checkpoint, made once."""
        folder = self.out / "raw" / f"{preset}-{dtype}{'-flat' * flat}"
        if not folder.exists():
            with contextlib.redirect_stdout(io.StringIO()):
                make_checkpoint.build(preset, str(folder), tokenizer=False, dtype=dtype, flat=flat)
        return folder

    def new(self, name):
        return self.out / "checkpoints" / name

    def scratch(self, name):
        """A folder that only `cases.py` reads."""
        return self.out / "scratch" / name

    def values(self, name, **of):
        """The folder of values that several cases may share."""
        folder = self.out / "values" / name
        if not folder.exists():
            Values(**of).write(folder)
        return folder

    def add(self, name, checkpoint, values, head=True, raw=None):
        assert name not in self.cases, name
        relative = lambda path: path and str(path.relative_to(self.out))
        self.cases[name] = {"checkpoint": relative(checkpoint), "values": relative(values), "head": head,
                            "raw": relative(raw)}

    def finish(self):
        shutil.rmtree(self.out / "scratch", ignore_errors=True)
        v.write_json(self.out / "cases.json", self.cases)


def layouts(cases):
    """Raw checkpoints as they are published."""
    twins = {"tiny-moe-q35": "tiny-moe-q36", "tiny-moe-split": "tiny-moe-q36"}
    for preset in ("tiny-dense", "tiny-dense-untied", "tiny-dense-yarn", "tiny-moe-q35", "tiny-moe-q36",
                   "tiny-moe-split", "tiny-moe-dense-mtp", "tiny-next", "tiny-next-mixed", "tiny-next-yarn"):
        raw, twin = cases.raw(preset), cases.raw(twins.get(preset, preset))
        cases.add(preset, raw, cases.values(twins.get(preset, preset), trunk=twin, head=twin, **FULL))
    for preset in ("tiny-dense", "tiny-moe-q36"):
        name = f"{preset}-flat"
        raw = cases.raw(preset)
        cases.add(name, cases.raw(preset, flat=True), cases.values(preset, trunk=raw, head=raw, **FULL))
    for dtype in ("bfloat16", "float16"):
        for preset in ("tiny-dense", "tiny-moe-q36", "tiny-next"):
            raw, name = cases.raw(preset, dtype), f"{preset}-{dtype}"
            cases.add(name, raw, cases.values(name, trunk=raw, head=raw, dtype=dtype, **FULL))


def heads(cases):
    """MTP heads in every place and form in which they are shipped."""
    dense = cases.raw("tiny-dense")
    plain = cases.values("dense", trunk=dense, head=dense)
    trunk = v.converted(dense, cases.new("stripped"))
    delta = v.raw_head(dense)
    gamma = v.gamma(delta)
    cases.add("stripped", trunk, plain, head=False)
    cases.add("stripped-raw", v.without_head(dense, cases.new("stripped-raw")), plain, head=False)

    # In the main files.
    cases.add("converted", v.with_head_inside(trunk, cases.new("converted"), gamma), plain, raw=dense)
    cases.add("converted-model-mtp", v.with_head_inside(trunk, cases.new("converted-model-mtp"), gamma, "model.mtp."),
              plain)
    undeclared = v.copy(dense, cases.new("undeclared"))
    v.edit_config(undeclared, mtp_num_hidden_layers=None)
    cases.add("undeclared", undeclared, plain)
    no_index = v.copy(dense, cases.new("no-index"))
    (no_index / v.INDEX).unlink()
    cases.add("no-index", no_index, plain)
    stale = v.with_head_inside(trunk, cases.new("stale-index"), gamma)
    index = v.read_json(stale / v.INDEX)
    index["weight_map"] = {n: f for n, f in index["weight_map"].items() if "mtp." not in n}
    v.write_json(stale / v.INDEX, index)
    cases.add("stale-index", stale, plain)

    # In a file of their own beside a converted trunk.
    def beside(name, file, head, origin="mlx", values=plain, config=None, own_config=None, manifest=None):
        folder = v.copy(trunk, cases.new(name))
        v.save(folder, head, file, origin)
        v.edit_config(folder, **(config or {}))
        if own_config:
            v.write_json((folder / file).with_name("config.json"), own_config)
        if manifest:
            v.write_json(folder / "manifest.json", manifest)
        cases.add(name, folder, values)

    text = v.read_json(dense / "config.json")["text_config"]
    own = {"model_type": "qwen3_5_mtp", "text_config": text, "tie_word_embeddings": True}
    beside("own-file-delta", "mtp.safetensors", v.prefixed(delta, "mtp."), "pt")
    beside("own-file-delta-declared", "mtp.safetensors", v.prefixed(delta, "mtp."),
           config={"mtplx_mtp_norm_encoding": "delta"})
    beside("own-file-gamma", "mtp.safetensors", v.prefixed(gamma, "language_model.mtp."))
    beside("own-file-gamma-declared", "mtp.safetensors", v.prefixed(gamma, "mtp."), "pt",
           config={"mtp_norm_encoding": "gamma"})
    beside("own-file-bfloat16", "mtp.safetensors",
           v.prefixed({name: a.astype(mx.bfloat16) for name, a in delta.items()}, "mtp."), "pt")
    beside("model-mtp-file", "model-mtp.safetensors", v.prefixed(gamma, "language_model.mtp."))
    beside("weights-in-folder", "mtp/weights.safetensors", v.prefixed(delta, "mtp."),
           config={"mtplx_mtp_norm_encoding": "delta_plus_one"})
    beside("split-folder", "mtp/model.safetensors", gamma, own_config={**own, "block_size": text["num_hidden_layers"] + 2})
    beside("split-folder-weights", "mtp/weights.safetensors", gamma, own_config=own)
    beside("named-file", "extra/head.safetensors", v.prefixed(delta, "mtp."), "pt",
           config={"mlx_lm_extra_tensors": {"mtp_file": "extra/head.safetensors"}})
    beside("optiq", "optiq/mtp.safetensors", v.prefixed(gamma, "mtp."),
           values=cases.values("dense-pre-norm", trunk=dense, head=dense, pre_norm=True),
           config={"mtp_norm_encoding": "gamma", "mtplx_mtp_contract": {"base_hidden_variant": "pre_norm"}})
    beside("manifest-gamma", "mtp.safetensors", v.prefixed(gamma, "mtp."), "pt",
           manifest={"artifact_schema_version": 1, "rmsnorm_weight_format": "mlx_gamma"})

    # Names say one origin, metadata the other, and nothing is declared: the values decide.
    beside("by-values-delta", "mtp.safetensors", v.prefixed(delta, "mtp."))
    trained = {name: a * 1.5 if name.endswith(("q_norm.weight", "k_norm.weight")) else a for name, a in gamma.items()}
    shown = v.with_head_inside(trunk, cases.scratch("head-of-by-values-gamma"), trained)
    beside("by-values-gamma", "mtp.safetensors", v.prefixed(trained, "mtp."),
           values=cases.values("by-values-gamma", trunk=dense, head=shown))

    # Quantized trunks and heads, not in the same way.
    q4 = v.converted(dense, cases.scratch("q4"), "affine", 64, 4)

    def quantized(name, base, file, mode, group, bits, config=None, own_config=None, per_path=False):
        head, specs = v.quantized(gamma, mode, group, bits)
        spec = {"group_size": group, "bits": bits, "mode": mode}
        folder = v.copy(base, cases.new(name))
        # The head once more where the reference reads it.
        shown = v.with_head_inside(trunk, cases.scratch(f"head-of-{name}"), head)
        v.edit_config(shown, quantization=spec)
        if file:
            v.save(folder, v.prefixed(head, "" if own_config else "mtp."), file)
        else:
            v.save_alone(folder, v.tensors_of(base) | v.prefixed(head, "language_model.mtp."))
        if per_path:
            quantization = v.read_json(folder / "config.json").get("quantization", dict(spec))
            quantization |= v.prefixed(specs, "language_model.mtp.")
            config = {"quantization": quantization, "quantization_config": quantization}
        v.edit_config(folder, **(config or {}))
        if own_config:
            v.write_json((folder / file).with_name("config.json"), {**own_config, "quantization": spec})
        cases.add(name, folder, cases.values(name, trunk=base, head=shown))

    quantized("q4-head-q4", q4, None, "affine", 64, 4)
    quantized("q4-head-q8-by-path", q4, None, "affine", 32, 8, per_path=True)
    quantized("q4-head-mxfp8-in-folder", q4, "mtp/weights.safetensors", "mxfp8", 32, 8, own_config=own)
    quantized("q4-head-q8-in-file", q4, "mtp.safetensors", "affine", 32, 8,
              config={"mtp_norm_encoding": "gamma",
                      "mtplx_mtp_quantization": {"group_size": 32, "bits": 8, "mode": "affine"}})
    quantized("float-head-q4-in-folder", trunk, "mtp/weights.safetensors", "affine", 64, 4, own_config=own)
    float_head = v.copy(q4, cases.new("q4-float-head"))
    v.save(float_head, v.prefixed(delta, "mtp."), "mtp.safetensors", "pt")
    cases.add("q4-float-head", float_head, cases.values("q4-float-head", trunk=q4, head=dense))

    # Experts: raw and converted, per expert, fused and stacked.
    moe, per_expert = cases.raw("tiny-moe-q36"), cases.raw("tiny-moe-q35")
    moe_plain = cases.values("moe", trunk=moe, head=moe)
    moe_trunk = v.converted(moe, cases.scratch("moe-converted"))
    moe_gamma = v.gamma(v.stacked(v.raw_head(moe)))
    cases.add("moe-converted", v.with_head_inside(moe_trunk, cases.new("moe-converted"), moe_gamma), moe_plain, raw=moe)
    for name, source in (("moe-own-file-fused", moe), ("moe-own-file-per-expert", per_expert)):
        folder = v.copy(moe_trunk, cases.new(name))
        v.save(folder, v.prefixed(v.raw_head(source), "mtp."), "mtp.safetensors", "pt")
        cases.add(name, folder, moe_plain)
    folder = v.copy(moe_trunk, cases.new("moe-split-folder"))
    v.save(folder, moe_gamma, "mtp/weights.safetensors")
    v.write_json(folder / "mtp" / "config.json", {**own, "text_config": v.read_json(moe / "config.json")["text_config"]})
    cases.add("moe-split-folder", folder, moe_plain)

    next_raw = cases.raw("tiny-next")
    next_trunk = v.converted(next_raw, cases.scratch("next-converted"))
    folder = v.copy(next_trunk, cases.new("next-own-file"))
    v.save(folder, v.prefixed(v.raw_head(next_raw), "mtp."), "mtp.safetensors", "pt")
    cases.add("next-own-file", folder, moe_plain)


def quantizations(cases):
    """Every way in which mlx-lm quantizes, the head in the same way beside the trunk."""
    def add(name, preset, mode="affine", group=None, bits=None, recipe=None, dtype="float32"):
        raw = cases.raw(preset, dtype)
        trunk = v.converted(raw, cases.scratch(name), mode, group, bits, recipe)
        if recipe:
            bits = v.read_json(trunk / "config.json")["quantization"]["bits"]
        by_family = None if recipe or preset != "tiny-moe-q36" else v.ROUTERS
        head, specs = v.quantized(v.gamma(v.stacked(v.raw_head(raw))), mode, group, bits, by_family)
        other = {path: spec for path, spec in specs.items() if spec is v.ROUTERS}
        folder = v.with_head_inside(trunk, cases.new(name), head, specs=other)
        cases.add(name, folder, cases.values(name, trunk=trunk, head=folder, dtype=dtype), raw=raw)

    for bits in (2, 3, 4, 5, 6, 8):
        for group in (32, 64, 128):
            add(f"affine-{bits}-{group}", "tiny-dense", "affine", group, bits)
    for mode in ("mxfp4", "mxfp8", "nvfp4"):
        add(mode, "tiny-dense", mode)
        add(f"moe-{mode}", "tiny-moe-q36", mode)
    for recipe in ("mixed_2_6", "mixed_3_4", "mixed_3_6", "mixed_4_6"):
        add(recipe.replace("_", "-"), "tiny-dense", group=64, recipe=recipe)
    for bits, group in ((2, 32), (3, 64), (4, 64), (6, 32), (8, 64)):
        add(f"moe-affine-{bits}-{group}", "tiny-moe-q36", "affine", group, bits)
    add("moe-mixed-4-6", "tiny-moe-q36", group=64, recipe="mixed_4_6")
    add("next-affine-4-64", "tiny-next", "affine", 64, 4)
    for dtype in ("bfloat16", "float16"):
        add(f"affine-4-64-{dtype}", "tiny-dense", "affine", 64, 4, dtype=dtype)
    add("moe-affine-4-64-float16", "tiny-moe-q36", "affine", 64, 4, dtype="float16")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", choices=("layouts", "heads", "quantizations"))
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    cases = Cases(args.out)
    with contextlib.redirect_stdout(sys.stderr):
        globals()[args.group](cases)
    cases.finish()


if __name__ == "__main__":
    main()
