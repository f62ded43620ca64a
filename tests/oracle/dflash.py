#!/usr/bin/env python3
"""Reference values of DFlash and DFlash2 draft models: the network in numpy and f64 by its definition, one query and
one key at a time, with every mask written out. Needs numpy alone:

    dflash.py OUT_DIR

Writes OUT_DIR/weights.safetensors: the tensors of all checkpoints, by the names of published ones; behind `quantized.`
those that a quantized one has instead; `target.embed` and `target.head`; and `features`, the outputs of the target's
layers at each position. OUT_DIR/cases.json lists what is computed from them, OUT_DIR/goldens.safetensors the results:
  NAME.logits_P_N   [N, V] of N guesses behind P positions
  NAME.path_P_N     [N] the likeliest guesses, each behind the one before it (DFlash2)
  NAME.scores_P_N   [N, V] what each of them was chosen by, -inf for those that are no candidates (DFlash2)
  NAME.keys_L, NAME.values_L   [20, kv heads, head size] of the context in layer L
"""
import copy
import json
import math
import os
import struct
import sys
import zlib

import numpy as np

HIDDEN, VOCAB, TAPS, HEADS, KV_HEADS, SIZE, MLP, BLOCK, MASK, WINDOW = 32, 64, [0, 2, 4], 4, 2, 8, 64, 6, 63, 6
LAYERS, GROUP, RANK, TOP_K, KERNEL = 2, 4, 8, 5, 2
POSITIONS = 20
LAST = 17
QUERY, KV = HEADS * SIZE, KV_HEADS * SIZE


def config(**changes):
    """In the form of 2025: what is the draft model's alone stands at the top but for mask and taps."""
    made = {
        "architectures": ["DFlashDraftModel"], "model_type": "qwen3", "hidden_size": HIDDEN, "vocab_size": VOCAB,
        "intermediate_size": MLP, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS, "head_dim": SIZE, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
        "max_position_embeddings": 4096, "block_size": BLOCK, "num_target_layers": 6, "dtype": "float32",
        "layer_types": ["sliding_attention", "full_attention"], "sliding_window": WINDOW,
        "dflash_config": {"mask_token_id": MASK, "target_layer_ids": TAPS},
    }
    own = changes.pop("dflash_config", {})
    made.update(changes)
    made["dflash_config"].update(own)
    return made


# ------------------------------------------------------------------ weights

def draw(name, shape, scale, shift=0.0):
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    return (shift + scale * rng.standard_normal(shape)).astype(np.float32)


def shapes():
    """Names and shapes of a draft model, as published."""
    yield "fc.weight", (HIDDEN, len(TAPS) * HIDDEN)
    yield "hidden_norm.weight", (HIDDEN,)
    yield "norm.weight", (HIDDEN,)
    for layer in range(LAYERS):
        path = f"layers.{layer}"
        yield f"{path}.input_layernorm.weight", (HIDDEN,)
        yield f"{path}.post_attention_layernorm.weight", (HIDDEN,)
        yield f"{path}.self_attn.q_proj.weight", (QUERY, HIDDEN)
        yield f"{path}.self_attn.k_proj.weight", (KV, HIDDEN)
        yield f"{path}.self_attn.v_proj.weight", (KV, HIDDEN)
        yield f"{path}.self_attn.o_proj.weight", (HIDDEN, QUERY)
        yield f"{path}.self_attn.q_norm.weight", (SIZE,)
        yield f"{path}.self_attn.k_norm.weight", (SIZE,)
        yield f"{path}.mlp.gate_proj.weight", (MLP, HIDDEN)
        yield f"{path}.mlp.up_proj.weight", (MLP, HIDDEN)
        yield f"{path}.mlp.down_proj.weight", (HIDDEN, MLP)


def dflash2_shapes():
    """What DFlash2 has besides."""
    for layer in range(LAYERS):
        for conv in ("attention_conv", "mlp_conv"):
            yield f"layers.{layer}.{conv}.base_kernel", (2, KERNEL, HIDDEN)
            yield f"layers.{layer}.{conv}.kernel_projection.weight", (2 * KERNEL * HIDDEN // GROUP, HIDDEN)
    yield "candidate_selector.predecessor_codebook", (VOCAB, RANK)
    yield "candidate_selector.successor_codebook", (VOCAB, RANK)
    yield "candidate_selector.hidden_projection.weight", (RANK, HIDDEN)


def make_weights():
    weights = {}
    for name, shape in [*shapes(), *dflash2_shapes()]:
        if "norm" in name:
            weights[name] = draw(name, shape, 0.2, 1.0)
        elif name.endswith("base_kernel"):
            weights[name] = draw(name, shape, 0.5)
        elif name.endswith("codebook"):
            weights[name] = draw(name, shape, 0.35)
        elif name.endswith("kernel_projection.weight"):
            weights[name] = draw(name, shape, 0.5 / math.sqrt(shape[-1]))
        else:
            weights[name] = draw(name, shape, 1.5 / math.sqrt(shape[-1]))
    return weights


def quantize(weight, bits, group=32):
    """Affine quantization of MLX: w = scale * q + bias, q in fields of `bits` bits, the first one lowest in a word."""
    rows = weight.reshape(weight.shape[0], -1, group)
    low, high = rows.min(-1, keepdims=True), rows.max(-1, keepdims=True)
    scales = ((high - low) / (2**bits - 1)).astype(np.float32)
    biases = low.astype(np.float32)
    numbers = np.clip(np.round((rows - biases) / scales), 0, 2**bits - 1)
    values = (numbers.astype(np.float64) * scales + biases).reshape(weight.shape)
    fields = numbers.astype(np.uint32).reshape(weight.shape[0], -1, 32 // bits)
    packed = (fields << (np.arange(32 // bits, dtype=np.uint32) * bits)).sum(-1, dtype=np.uint64).astype(np.uint32)
    return {"weight": packed, "scales": scales[..., 0], "biases": biases[..., 0]}, values


# ------------------------------------------------------------------ the network

def rms(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def silu(x):
    return x / (1 + np.exp(-x))


def frequencies(cfg):
    """Radians a token of each pair, and the factor on rotated heads. YaRN: arXiv 2309.00071, "NTK by parts"."""
    theta, scaling = cfg["rope_theta"], cfg.get("rope_scaling") or {}
    plain = [theta ** (-2 * i / SIZE) for i in range(SIZE // 2)]
    if scaling.get("rope_type") != "yarn":
        return plain, 1.0
    factor, original = scaling["factor"], scaling["original_max_position_embeddings"]

    def pair(turns):  # the pair that turns so often within the original context
        return SIZE * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta))
    low = max(math.floor(pair(scaling.get("beta_fast", 32))), 0)
    high = min(math.ceil(pair(scaling.get("beta_slow", 1))), SIZE - 1)
    slowed = [min(max((i - low) / max(high - low, 0.001), 0), 1) for i in range(SIZE // 2)]
    return [f * (1 - s) + f / factor * s for f, s in zip(plain, slowed)], 0.1 * math.log(factor) + 1


def rotate(head, position, cfg):
    speeds, factor = frequencies(cfg)
    own = cfg["dflash_config"]
    neighbours = cfg.get("rope_interleaved", own.get("rope_interleaved", not cfg.get("rope_is_neox_style", True)))
    out = np.empty(SIZE)
    for i, speed in enumerate(speeds):
        a, b = (2 * i, 2 * i + 1) if neighbours else (i, i + SIZE // 2)
        cos, sin = math.cos(position * speed), math.sin(position * speed)
        out[a] = factor * (head[a] * cos - head[b] * sin)
        out[b] = factor * (head[a] * sin + head[b] * cos)
    return out


def causal(cfg, sliding):
    own = cfg["dflash_config"]
    for told in (own.get("causal"), cfg.get("is_causal")):
        if told is not None:
            return told
    return sliding


class Draft:
    def __init__(self, cfg, weights):
        self.cfg = cfg
        self.w = {name: np.asarray(value, np.float64) for name, value in weights.items()}
        self.eps = cfg["rms_norm_eps"]

    def heads(self, x, path, kind, position):
        """Normed and rotated heads of one token."""
        w = self.w
        heads = (w[f"{path}.{kind}_proj.weight"] @ x).reshape(-1, SIZE)
        return np.stack([rotate(rms(h, w[f"{path}.{kind}_norm.weight"], self.eps), position, self.cfg) for h in heads])

    def keys_values(self, x, path, position):
        return self.heads(x, path, "k", position), (self.w[f"{path}.v_proj.weight"] @ x).reshape(-1, SIZE)

    def context(self, features):
        """Per layer the keys and values of each position."""
        fused = [rms(self.w["fc.weight"] @ f, self.w["hidden_norm.weight"], self.eps) for f in features]
        return [[self.keys_values(c, f"layers.{layer}.self_attn", s) for s, c in enumerate(fused)]
                for layer in range(LAYERS)]

    def attention(self, block, layer, context, window):
        path, start = f"layers.{layer}.self_attn", len(context)
        is_causal = causal(self.cfg, window is not None)
        own = [self.keys_values(a, path, start + j) for j, a in enumerate(block)]
        outputs = []
        for j, a in enumerate(block):
            seen = []
            for s, kv in enumerate(context):
                if window is None or start + j - s < window:
                    seen.append(kv)
            for i, kv in enumerate(own):
                if not is_causal or i <= j and (window is None or j - i < window):
                    seen.append(kv)
            queries = self.heads(a, path, "q", start + j)
            out = []
            for h, q in enumerate(queries):
                g = h // (HEADS // KV_HEADS)
                scores = np.array([q @ k[g] for k, _ in seen]) / math.sqrt(SIZE)
                p = np.exp(scores - scores.max())
                out.append((p / p.sum()) @ np.stack([v[g] for _, v in seen]))
            outputs.append(self.w[f"{path}.o_proj.weight"] @ np.concatenate(out))
        return np.stack(outputs)

    def mlp(self, x, layer):
        gate, up, down = (self.w[f"layers.{layer}.mlp.{n}_proj.weight"] for n in ("gate", "up", "down"))
        return np.stack([down @ (silu(gate @ row) * (up @ row)) for row in x])

    def around(self, path, x, part):
        """DFlash2: a convolution along the block of what goes into a part and of what comes out of it. The kernels are
        base[which, offset, channel] + dynamic[which, offset, group of the channel]; both follow from what goes in."""
        if f"{path}.base_kernel" not in self.w:
            return part(x)
        base = self.w[f"{path}.base_kernel"]
        dynamic = [(self.w[f"{path}.kernel_projection.weight"] @ row).reshape(2, KERNEL, HIDDEN // GROUP) for row in x]

        def convolve(rows, which):
            out = np.zeros_like(rows)
            for t in range(len(rows)):
                for offset in range(min(KERNEL, t + 1)):
                    for c in range(HIDDEN):
                        weight = base[which, offset, c] + dynamic[t][which, offset, c // GROUP]
                        out[t, c] += weight * rows[t - offset, c]
            return out
        return convolve(part(convolve(x, 0)), 1)

    def draft(self, features, last, count, embedding, head):
        """Normed hidden states and logits of the guesses."""
        cfg, own = self.cfg, self.cfg["dflash_config"]
        contexts = self.context(features)
        x = embedding[[last] + [MASK] * count].astype(np.float64) * own.get("input_embedding_scale", 1.0)
        for layer in range(LAYERS):
            path, kind = f"layers.{layer}", cfg["layer_types"][layer]
            window = cfg["sliding_window"] if kind == "sliding_attention" else None
            normed = rms(x, self.w[f"{path}.input_layernorm.weight"], self.eps)
            x = x + self.around(f"{path}.attention_conv", normed,
                                lambda a: self.attention(a, layer, contexts[layer], window))
            normed = rms(x, self.w[f"{path}.post_attention_layernorm.weight"], self.eps)
            x = x + self.around(f"{path}.mlp_conv", normed, lambda a: self.mlp(a, layer))
        hidden = rms(x[1:], self.w["norm.weight"], self.eps)
        logits = hidden @ head.astype(np.float64).T * own.get("output_multiplier", 1.0)
        cap = own.get("final_logit_softcapping", cfg.get("final_logit_softcapping"))
        return hidden, cap * np.tanh(logits / cap) if cap else logits

    def select(self, hidden, logits, last):
        """The guesses of DFlash2, each behind the one before it, and the scores they were chosen by."""
        table = [self.w[f"candidate_selector.{name}_codebook"] for name in ("predecessor", "successor")]
        path, rows = [], []
        for h, z in zip(hidden, logits):
            wanted = table[0][last] * (self.w["candidate_selector.hidden_projection.weight"] @ h)
            scores = np.full(VOCAB, -np.inf)
            for token in np.argsort(-z)[:TOP_K]:
                scores[token] = z[token] + wanted @ table[1][token]
            last = int(scores.argmax())
            path.append(last)
            rows.append(scores)
        return np.array(path, np.int32), np.stack(rows)


# ------------------------------------------------------------------ cases

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 2.0, "beta_slow": 0.25}
ROPES = {
    "halves": {},
    "interleaved": {"rope_interleaved": True},
    "yarn": {"rope_scaling": YARN},
}
MASKS = {
    "by_layer": {},
    "causal": {"dflash_config": {"causal": True}},
    "bidirectional": {"is_causal": False},
}
DFLASH2 = {"conv_kernel_size": KERNEL, "conv_group_size": GROUP, "selector_rank": RANK, "selector_top_k": TOP_K}


def cases():
    """Name, config, weights, [(positions, guesses)], whether the context is kept too."""
    runs = [(1, 5), (3, 5), (5, 5), (6, 5), (20, 5), (20, 1)]
    for mask, mask_keys in MASKS.items():
        for rope, rope_keys in ROPES.items():
            yield f"{mask}_{rope}", config(**copy.deepcopy(mask_keys), **rope_keys), "plain", runs, mask == "by_layer"
    yield "narrow", config(sliding_window=3), "plain", [(1, 5), (2, 5), (20, 5)], False
    # Older configs have only full layers and say nothing of it.
    yield "all_full", config(layer_types=None, sliding_window=None), "plain", [(5, 5), (20, 5)], False
    scaled = {"final_logit_softcapping": 3.0, "input_embedding_scale": 1.5, "output_multiplier": 0.7}
    yield "scaled", config(dflash_config=scaled), "plain", [(20, 5)], False
    quantization = {"group_size": 32, "bits": 4, "mode": "affine", "fc": {"group_size": 32, "bits": 8}}
    yield "quantized", config(quantization=quantization), "quantized", runs, False
    second = dict(architectures=["DFlash2DraftModel"], is_causal=False, dflash_config={**DFLASH2, "block_size": BLOCK})
    for rope, rope_keys in ROPES.items():
        yield f"dflash2_{rope}", config(**copy.deepcopy(second), **rope_keys), "dflash2", runs, False


DTYPES = {np.float32: "F32", np.uint32: "U32", np.int32: "I32"}


def write(path, tensors):
    header, offset = {}, 0
    for name, array in sorted(tensors.items()):
        end = offset + array.nbytes
        dtype = DTYPES[array.dtype.type]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, array in sorted(tensors.items()):
            file.write(np.ascontiguousarray(array).tobytes())


def main(out):
    os.makedirs(out, exist_ok=True)
    weights = make_weights()
    plain = {name: weights[name] for name, _ in shapes()}
    stored, dequantized = dict(weights), dict(plain)
    for name in plain:
        if plain[name].ndim == 2:
            parts, dequantized[name] = quantize(plain[name], 8 if name == "fc.weight" else 4)
            stored |= {f"quantized.{name.removesuffix('weight')}{part}": value for part, value in parts.items()}
    embedding = draw("target.embed", (VOCAB, HIDDEN), 1.0)
    head = draw("target.head", (VOCAB, HIDDEN), 0.4 / math.sqrt(HIDDEN))
    features = draw("features", (POSITIONS, len(TAPS) * HIDDEN), 2.0)
    stored |= {"target.embed": embedding, "target.head": head, "features": features}
    write(f"{out}/weights.safetensors", stored)
    goldens, listed = {}, []
    for name, cfg, which, runs, keep in cases():
        cfg = {key: value for key, value in cfg.items() if value is not None}
        full = {"layer_types": ["full_attention"] * LAYERS, "sliding_window": None}
        draft = Draft(full | cfg, {"plain": plain, "quantized": dequantized, "dflash2": weights}[which])
        listed.append({"name": name, "config": cfg, "weights": which, "runs": runs, "last": LAST, "context": keep})
        for positions, count in runs:
            key = f"{positions}_{count}"
            hidden, logits = draft.draft(features[:positions], LAST, count, embedding, head)
            goldens[f"{name}.logits_{key}"] = logits.astype(np.float32)
            if which == "dflash2":
                path, scores = draft.select(hidden, logits, LAST)
                goldens[f"{name}.path_{key}"], goldens[f"{name}.scores_{key}"] = path, scores.astype(np.float32)
        for layer, kv in enumerate(draft.context(features) if keep else []):
            for part, arrays in zip(("keys", "values"), zip(*kv)):
                goldens[f"{name}.{part}_{layer}"] = np.stack(arrays).astype(np.float32)
    write(f"{out}/goldens.safetensors", goldens)
    with open(f"{out}/cases.json", "w") as file:
        file.write("[\n" + ",\n".join(map(json.dumps, listed)) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
