#!/usr/bin/env python3
"""The whole network by its definition, in numpy and f64: trunk and MTP head of Qwen3-Next, Qwen3.5 and Qwen3.6.

    reference.py CHECKPOINT    prints the logits' spread, for a look

`Checkpoint` reads a folder, raw or converted, quantized or not; `Network` computes. Nothing here is fast or shared with
another implementation: the recurrence is the recurrence, attention is a full matrix of scores, every expert is
computed for every token.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np

EPS_L2 = 1e-6

# ------------------------------------------------------------------ files


def read_safetensors(path):
    """Name -> array; bfloat16 becomes float32."""
    data = Path(path).read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16, "U32": np.uint32, "U8": np.uint8}
    tensors = {}
    for name, info in header.items():
        start, stop = (end + offset for offset in info["data_offsets"])
        a = np.frombuffer(data[start:stop], types[info["dtype"]]).reshape(info["shape"])
        if info["dtype"] == "BF16":
            a = (a.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = a
    return tensors


def e4m3(codes):
    """Eight-bit floats with four bits of exponent; the format has no infinities."""
    sign = np.where(codes & 0x80, -1.0, 1.0)
    exponent, mantissa = (codes >> 3 & 15).astype(int), codes & 7
    return sign * np.where(exponent == 0, mantissa * 2.0**-9, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))


def e2m1(codes):
    """Four-bit floats."""
    return np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.where(codes & 8, -1.0, 1.0)


def dequantize(packed, scales, biases, bits, mode):
    """Undoes MLX's packing: a row is one stream of bits, the lowest first."""
    stream = np.unpackbits(packed.view(np.uint8), axis=-1, bitorder="little")
    codes = stream.reshape(*packed.shape[:-1], -1, bits) @ (1 << np.arange(bits, dtype=np.int64))
    group = codes.shape[-1] // scales.shape[-1]
    if mode == "affine":
        per_weight = lambda a: np.repeat(a.astype(np.float64), group, axis=-1)
        return codes * per_weight(scales) + per_weight(biases)
    values = e4m3(codes) if mode == "mxfp8" else e2m1(codes)
    scales = e4m3(scales.astype(np.int64)) if mode == "nvfp4" else 2.0 ** (scales.astype(np.float64) - 127)
    return values * np.repeat(scales, group, axis=-1)


class Checkpoint:
    """A folder's tensors in one shape: f64, `layers.0.…`, `mtp.…`, norms with their one added, experts stacked."""

    def __init__(self, folder):
        folder = Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        self.text = self.config.get("text_config", self.config)
        files = sorted(folder.glob("model*.safetensors"))
        stored = {name: a for file in files for name, a in read_safetensors(file).items()}
        self.raw = any(n.endswith("conv1d.weight") and a.shape[1] == 1 for n, a in stored.items())
        self.tensors = self.canonical({n: a for n, a in stored.items() if "visual." not in n})

    def canonical(self, stored):
        found = {}
        for name, a in self.dequantized(stored).items():
            name = re.sub(r"^(language_model\.model|model\.language_model|language_model|model)\.", "", name)
            found[name.removesuffix(".weight")] = a.astype(np.float64)
        for name in [n for n in found if n.endswith("conv1d")]:
            found[name] = found[name].reshape(found[name].shape[0], -1)
        if self.raw:
            shifted = r"(^|\.)((input|post_attention)_layernorm|[qk]_norm|pre_fc_norm_(hidden|embedding)|(^|mtp\.)norm)$"
            for name in [n for n in found if re.search(shifted, n)]:
                found[name] = found[name] + 1
        self.stack_experts(found)
        self.separate_projections(found)
        return found

    def dequantized(self, stored):
        quantization = self.config.get("quantization", {})
        done = {}
        for name, a in stored.items():
            path = name.removesuffix(".weight")
            if f"{path}.scales" in stored and name.endswith(".weight"):
                entry = quantization.get(path)
                spec = entry if isinstance(entry, dict) else quantization
                mode = spec.get("mode", "affine")
                done[name] = dequantize(a, stored[f"{path}.scales"], stored.get(f"{path}.biases"), spec["bits"], mode)
            elif not name.endswith((".scales", ".biases")):
                done[name] = a
        return done

    @staticmethod
    def stack_experts(found):
        for name in [n for n in found if n.endswith("experts.gate_up_proj")]:
            pre = name.removesuffix("experts.gate_up_proj")
            gate, up = np.split(found.pop(name), 2, axis=1)
            found |= {pre + "experts.gate_proj": gate, pre + "experts.up_proj": up}
        for name in [n for n in found if ".switch_mlp." in n]:
            found[name.replace("switch_mlp", "experts")] = found.pop(name)
        alone = {}
        for name in [n for n in found if re.search(r"experts\.\d+\.", n)]:
            pre, expert, projection = re.fullmatch(r"(.*experts\.)(\d+)\.(.*)", name).groups()
            alone.setdefault(pre + projection, {})[int(expert)] = found.pop(name)
        for name, experts in alone.items():
            found[name] = np.stack([experts[e] for e in range(len(experts))])

    def separate_projections(self, found):
        """Qwen3-Next: the rows of each key head's queries, keys, values and gates lie together."""
        heads = self.text["linear_num_key_heads"]
        ratio = self.text["linear_num_value_heads"] // heads
        dk, dv = self.text["linear_key_head_dim"], self.text["linear_value_head_dim"]
        for name in [n for n in found if n.endswith("in_proj_qkvz")]:
            pre = name.removesuffix("qkvz")
            a = found.pop(name)
            width = a.shape[-1]
            cuts = np.cumsum([dk, dk, ratio * dv])
            q, k, v, z = np.split(a.reshape(heads, -1, width), cuts, axis=1)
            found[pre + "qkv"] = np.concatenate([x.reshape(-1, width) for x in (q, k, v)])
            found[pre + "z"] = z.reshape(-1, width)
        for name in [n for n in found if n.endswith("in_proj_ba")]:
            pre = name.removesuffix("ba")
            a = found.pop(name)
            b, rest = np.split(a.reshape(heads, 2 * ratio, -1), 2, axis=1)
            found |= {pre + "b": b.reshape(-1, a.shape[-1]), pre + "a": rest.reshape(-1, a.shape[-1])}


# ------------------------------------------------------------------ network


def sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def silu(x):
    return x * sigmoid(x)


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


class Network:
    def __init__(self, checkpoint):
        self.text, self.tensors = checkpoint.text, checkpoint.tensors
        self.eps = self.text["rms_norm_eps"]
        self.inverse_frequencies, self.rope_gain = self.rope()

    def rope(self):
        """Angles per position by pair of dimensions, and what the rotated vectors are multiplied by."""
        text = self.text
        rope = {**text, **(text.get("rope_scaling") or {}), **text.get("rope_parameters", {})}
        dims = int(text["head_dim"] * rope["partial_rotary_factor"])
        base = rope["rope_theta"]
        pair = np.arange(dims // 2)
        frequency = base ** (-2.0 * pair / dims)
        if rope.get("rope_type", "default") == "default":
            return frequency, 1.0
        assert rope["rope_type"] == "yarn", rope["rope_type"]
        factor, length = rope["factor"], rope["original_max_position_embeddings"]
        # The pair that turns so often within the original length.
        pair_of = lambda turns: dims * np.log(length / (turns * 2 * np.pi)) / (2 * np.log(base))
        low = max(np.floor(pair_of(rope.get("beta_fast", 32))), 0)
        high = min(np.ceil(pair_of(rope.get("beta_slow", 1))), dims - 1)
        kept = 1 - np.clip((pair - low) / (high - low), 0, 1)
        return frequency * kept + frequency / factor * (1 - kept), 0.1 * np.log(factor) + 1

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * self.tensors[name]

    def linear(self, x, name):
        return x @ self.tensors[name].T

    def rotate(self, x):
        """`[T, heads, D]`, row t at position t."""
        angles = np.arange(len(x))[:, None] * self.inverse_frequencies
        cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
        half = angles.shape[-1]
        a, b, rest = np.split(x, [half, 2 * half], axis=-1)
        return np.concatenate([self.rope_gain * (a * cos - b * sin), self.rope_gain * (b * cos + a * sin), rest], -1)

    def attention(self, x, pre):
        text, count = self.text, len(x)
        heads, kv_heads, dim = text["num_attention_heads"], text["num_key_value_heads"], text["head_dim"]
        q, gate = np.split(self.linear(x, pre + "q_proj").reshape(count, heads, 2 * dim), 2, axis=-1)
        k = self.linear(x, pre + "k_proj").reshape(count, kv_heads, dim)
        v = self.linear(x, pre + "v_proj").reshape(count, kv_heads, dim)
        q, k = self.rotate(self.norm(q, pre + "q_norm")), self.rotate(self.norm(k, pre + "k_norm"))
        k, v = (np.repeat(a, heads // kv_heads, axis=1) for a in (k, v))
        scores = np.einsum("thd,shd->hts", q, k) / np.sqrt(dim)
        scores += np.triu(np.full((count, count), -np.inf), 1)
        y = np.einsum("hts,shd->thd", softmax(scores), v)
        return self.linear((y * sigmoid(gate)).reshape(count, -1), pre + "o_proj")

    def delta_net(self, x, pre):
        text, count = self.text, len(x)
        key_heads, heads = text["linear_num_key_heads"], text["linear_num_value_heads"]
        dk, dv = text["linear_key_head_dim"], text["linear_value_head_dim"]
        kernel = self.tensors[pre + "conv1d"]
        mixed = self.linear(x, pre + "in_proj_qkv")
        padded = np.concatenate([np.zeros((kernel.shape[1] - 1, mixed.shape[1])), mixed])
        mixed = silu(sum(padded[j : j + count] * kernel[:, j] for j in range(kernel.shape[1])))
        q, k, v = np.split(mixed, [key_heads * dk, 2 * key_heads * dk], axis=-1)
        unit = lambda a: a / np.sqrt((a * a).sum(-1, keepdims=True) + EPS_L2)
        q, k = (np.repeat(unit(a.reshape(count, key_heads, dk)), heads // key_heads, axis=1) for a in (q, k))
        q, v = q / np.sqrt(dk), v.reshape(count, heads, dv)
        beta = sigmoid(self.linear(x, pre + "in_proj_b"))
        steps = np.logaddexp(self.linear(x, pre + "in_proj_a") + self.tensors[pre + "dt_bias"], 0)
        decay = np.exp(-np.exp(self.tensors[pre + "A_log"]) * steps)
        state, y = np.zeros((heads, dv, dk)), np.empty((count, heads, dv))
        for t in range(count):
            state = decay[t][:, None, None] * state
            change = beta[t][:, None] * (v[t] - np.einsum("hvk,hk->hv", state, k[t]))
            state = state + change[:, :, None] * k[t][:, None, :]
            y[t] = np.einsum("hvk,hk->hv", state, q[t])
        z = self.linear(x, pre + "in_proj_z").reshape(count, heads, dv)
        return self.linear((self.norm(y, pre + "norm") * silu(z)).reshape(count, -1), pre + "out_proj")

    def dense_mlp(self, x, pre):
        gate = silu(self.linear(x, pre + "gate_proj"))
        return self.linear(gate * self.linear(x, pre + "up_proj"), pre + "down_proj")

    def mlp(self, x, pre):
        if pre + "gate" not in self.tensors:
            return self.dense_mlp(x, pre)
        probabilities = softmax(self.linear(x, pre + "gate"))
        chosen = np.argsort(-probabilities, axis=-1)[:, : self.text["num_experts_per_tok"]]
        weights = np.zeros_like(probabilities)
        np.put_along_axis(weights, chosen, np.take_along_axis(probabilities, chosen, -1), -1)
        if self.text.get("norm_topk_prob", True):
            weights /= weights.sum(-1, keepdims=True)
        gate, up, down = (self.tensors[f"{pre}experts.{name}_proj"] for name in ("gate", "up", "down"))
        inner = silu(np.einsum("th,eih->tei", x, gate)) * np.einsum("th,eih->tei", x, up)
        routed = np.einsum("tei,ehi,te->th", inner, down, weights, optimize=True)
        return routed + sigmoid(self.linear(x, pre + "shared_expert_gate")) * self.dense_mlp(x, pre + "shared_expert.")

    def layer(self, x, pre):
        full = pre + "self_attn.q_proj" in self.tensors
        normed = self.norm(x, pre + "input_layernorm")
        x = x + (self.attention(normed, pre + "self_attn.") if full else self.delta_net(normed, pre + "linear_attn."))
        return x + self.mlp(self.norm(x, pre + "post_attention_layernorm"), pre + "mlp.")

    def logits(self, normed):
        tied = self.text.get("tie_word_embeddings", False)
        return self.linear(normed, "embed_tokens" if tied else "lm_head")

    def trunk(self, ids):
        """Hidden states before and after the final norm, `[T, H]` each."""
        x = self.tensors["embed_tokens"][ids]
        for layer in range(self.text["num_hidden_layers"]):
            x = self.layer(x, f"layers.{layer}.")
        return x, self.norm(x, "norm")

    def mtp(self, hidden, following):
        """The head's hidden states after its norm: row t from hidden state t and the token after it."""
        e = self.norm(self.tensors["embed_tokens"][following], "mtp.pre_fc_norm_embedding")
        h = self.norm(hidden, "mtp.pre_fc_norm_hidden")
        x = self.linear(np.concatenate([e, h], -1), "mtp.fc")
        return self.norm(self.layer(x, "mtp.layers.0."), "mtp.norm")

    def score(self, ids, pre_norm=False):
        """Logits `[T, V]`, hidden states after the final norm `[T, H]`, and the head's logits `[T − 1, V]`."""
        before, after = self.trunk(ids)
        head = None
        if "mtp.fc" in self.tensors and len(ids) > 1:
            head = self.logits(self.mtp((before if pre_norm else after)[:-1], ids[1:]))
        return self.logits(after), after, head


if __name__ == "__main__":
    logits, _, head = Network(Checkpoint(sys.argv[1])).score(np.arange(32))
    print(f"logits {logits.std():.4f}", "no head" if head is None else f"head {head.std():.4f}")
