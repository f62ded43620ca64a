"""Qwen3.5's text architecture, small, with its MTP head; for training and for decoding many rows at once.

Projections that read the same input are one matrix here; export.py takes them apart. Matrices are multiplied in bf16
where the processor has instructions for it, everything else is f32.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from kernel import DeltaCore, with_state

CONFIG = {
    "model_type": "qwen3_5_text",
    "vocab_size": 2048,
    "hidden_size": 192,
    "intermediate_size": 512,
    "num_hidden_layers": 8,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "full_attention_interval": 4,
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 8,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 32,
    "linear_conv_kernel_dim": 4,
    "rms_norm_eps": 1e-6,
    "hidden_act": "silu",
    "attention_bias": False,
    "attn_output_gate": True,
    "tie_word_embeddings": True,
    "max_position_embeddings": 4096,
    "mtp_num_hidden_layers": 1,
    "mtp_use_dedicated_embeddings": False,
    "dtype": "bfloat16",
    "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 2,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "partial_rotary_factor": 0.25,
        "mrope_section": [4, 2, 2],
        "mrope_interleaved": True,
    },
}
HIDDEN, INNER, VOCAB = CONFIG["hidden_size"], CONFIG["intermediate_size"], CONFIG["vocab_size"]
HEADS, KV_HEADS, HEAD = CONFIG["num_attention_heads"], CONFIG["num_key_value_heads"], CONFIG["head_dim"]
ROTARY = int(HEAD * CONFIG["rope_parameters"]["partial_rotary_factor"])
KEY_HEADS, VALUE_HEADS, D = CONFIG["linear_num_key_heads"], CONFIG["linear_num_value_heads"], 32
KEY, VALUE, TAPS = KEY_HEADS * D, VALUE_HEADS * D, CONFIG["linear_conv_kernel_dim"]
CHANNELS = 2 * KEY + VALUE
EPS = CONFIG["rms_norm_eps"]
FAST = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()


def fast():
    """Products of matrices in bf16 where that is fast, with sums in f32."""
    return torch.autocast("cpu", torch.bfloat16, enabled=FAST)


class Norm(nn.Module):
    """RMSNorm whose stored weight is the offset from one, as in raw Qwen3.5 checkpoints."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return F.rms_norm(x.float(), x.shape[-1:], 1 + self.weight, EPS)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_up = nn.Linear(HIDDEN, 2 * INNER, bias=False)
        self.down = nn.Linear(INNER, HIDDEN, bias=False)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)


def rotations(length):
    """cos and sin for positions 0 … length − 1, f32 [length, ROTARY / 2] each."""
    theta = CONFIG["rope_parameters"]["rope_theta"]
    angle = torch.arange(length)[:, None] * theta ** -(torch.arange(0, ROTARY, 2) / ROTARY)
    return angle.cos(), angle.sin()


COS, SIN = rotations(CONFIG["max_position_embeddings"])


def rotate(x, cos, sin):
    a, b, rest = x.split([ROTARY // 2, ROTARY // 2, HEAD - ROTARY], -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


class Attention(nn.Module):
    """Gated attention. A row of `qkv` is, for each query head, query and gate, then all keys, then all values."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 2 * HEADS * HEAD + 2 * KV_HEADS * HEAD, bias=False)
        self.out = nn.Linear(HEADS * HEAD, HIDDEN, bias=False)
        self.q_norm, self.k_norm = Norm(HEAD), Norm(HEAD)

    def parts(self, x, cos, sin):
        """Queries, keys, values [B, heads, T, HEAD] and the gate [B, T, HEADS · HEAD]."""
        B, T, _ = x.shape
        qg, k, v = self.qkv(x).split([2 * HEADS * HEAD, KV_HEADS * HEAD, KV_HEADS * HEAD], -1)
        q, gate = qg.view(B, T, HEADS, 2 * HEAD).chunk(2, -1)
        q = rotate(self.q_norm(q).transpose(1, 2), cos, sin)
        k = rotate(self.k_norm(k.view(B, T, KV_HEADS, HEAD)).transpose(1, 2), cos, sin)
        return q, k, v.view(B, T, KV_HEADS, HEAD).transpose(1, 2), gate.reshape(B, T, -1)

    def finish(self, o, gate):
        return self.out(o.transpose(1, 2).flatten(2) * torch.sigmoid(gate))

    def forward(self, x):
        q, k, v, gate = self.parts(x, COS[: x.shape[1]], SIN[: x.shape[1]])
        # In short rows the backward pass is faster in f32.
        kind = torch.float32 if x.shape[1] < 256 else v.dtype
        with torch.autocast("cpu", enabled=False):
            o = F.scaled_dot_product_attention(q.to(kind), k.to(kind), v.to(kind), is_causal=True, enable_gqa=True)
        return self.finish(o, gate)

    def start(self, x, length):
        """As forward, and keys and values of the prompt in buffers that hold `length` tokens."""
        T = x.shape[1]
        q, k, v, gate = self.parts(x, COS[:T], SIN[:T])
        v = v.float()
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.finish(o, gate), [F.pad(t, (0, 0, 0, length - T)) for t in (k, v)]

    def step(self, x, cache, position):
        """One more token a row, at `position` [B]; x [B, 1, HIDDEN]."""
        q, k, v, gate = self.parts(x, COS[position][:, None, None], SIN[position][:, None, None])
        keys, values = cache
        rows = torch.arange(len(x))
        keys[rows, :, position], values[rows, :, position] = k[:, :, 0], v[:, :, 0].float()
        length = int(position.max()) + 1
        seen = (torch.arange(length) <= position[:, None])[:, None, None]
        o = F.scaled_dot_product_attention(q, keys[:, :, :length], values[:, :, :length], seen, enable_gqa=True)
        return self.finish(o, gate)


class GatedDeltaNet(nn.Module):
    """A row of `inp` is q, k, v (which pass the convolution), then z, b, a."""

    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(HIDDEN, CHANNELS + VALUE + 2 * VALUE_HEADS, bias=False)
        self.conv = nn.Parameter(torch.empty(TAPS, CHANNELS).uniform_(-0.5, 0.5))
        dt = torch.empty(VALUE_HEADS).uniform_(math.log(0.001), math.log(0.1)).exp()
        self.dt_bias = nn.Parameter(dt + torch.log(-torch.expm1(-dt)))
        self.A_log = nn.Parameter(torch.empty(VALUE_HEADS).uniform_(1, 16).log())
        self.norm = nn.Parameter(torch.ones(D))
        self.out = nn.Linear(VALUE, HIDDEN, bias=False)

    def forward(self, x):
        return self.out(DeltaCore.apply(self.inp(x).float(), self.conv, self.dt_bias, self.A_log, self.norm))

    def start(self, x):
        """As forward, and the state after the last token: the convolution's inputs and the rule's matrix."""
        x = self.inp(x).float()
        out, state = with_state(x, self.conv, self.dt_bias, self.A_log, self.norm)
        return self.out(out), [F.pad(x[:, :, :CHANNELS], (0, 0, TAPS - 1, 0))[:, 1 - TAPS :], state]

    def step(self, x, cache):
        qkv, z, b, a = self.inp(x)[:, 0].float().split([CHANNELS, VALUE, VALUE_HEADS, VALUE_HEADS], -1)
        window = torch.cat([cache[0], qkv[:, None]], 1)
        q, k, v = F.silu((window * self.conv).sum(1)).split([KEY, KEY, VALUE], -1)
        q, k = (t.view(-1, KEY_HEADS, D) for t in (q, k))
        q, k = (t * torch.rsqrt(t.pow(2).sum(-1, keepdim=True) + EPS) for t in (q, k))
        q, k = (t.repeat_interleave(VALUE_HEADS // KEY_HEADS, 1)[..., None, :] for t in (q * D**-0.5, k))
        g = torch.exp(-self.A_log.exp() * F.softplus(a + self.dt_bias))
        state = cache[1] * g[..., None, None]
        delta = torch.sigmoid(b)[..., None, None] * (v.view(-1, VALUE_HEADS, 1, D) - k @ state)
        state = state + k.transpose(-1, -2) * delta
        y = F.rms_norm((q @ state)[:, :, 0], (D,), self.norm, EPS) * F.silu(z.view(-1, VALUE_HEADS, D))
        cache[:] = [window[:, 1:], state]
        return self.out(y.flatten(1)[:, None])


def chunked_delta(x, conv, dt, a_log, norm, chunk=16):
    """What DeltaCore computes, in torch: slow, and what the tests compare it with."""
    B, T, _ = x.shape
    qkv, z, b, a = x.split([CHANNELS, VALUE, VALUE_HEADS, VALUE_HEADS], -1)
    qkv = F.silu(sum(F.pad(qkv, (0, 0, TAPS - 1 - j, 0))[:, :T] * conv[j] for j in range(TAPS)))
    q, k, v = qkv.split([KEY, KEY, VALUE], -1)
    q, k = (t.view(B, T, KEY_HEADS, D).repeat_interleave(VALUE_HEADS // KEY_HEADS, 2) for t in (q, k))
    q, k = (t * torch.rsqrt(t.pow(2).sum(-1, keepdim=True) + EPS) for t in (q, k))
    g = -a_log.exp() * F.softplus(a + dt)
    pad = -T % chunk
    q, k, v = (
        F.pad(t, (0, 0, 0, 0, 0, pad)).transpose(1, 2).reshape(B, VALUE_HEADS, -1, chunk, D)
        for t in (q * D**-0.5, k, v.view(B, T, VALUE_HEADS, D))
    )
    g, beta = (
        F.pad(t, (0, 0, 0, pad)).transpose(1, 2).reshape(B, VALUE_HEADS, -1, chunk) for t in (g, torch.sigmoid(b))
    )
    g = g.cumsum(-1)
    lower = torch.ones(chunk, chunk, dtype=torch.bool).tril()
    decay = (g[..., :, None] - g[..., None, :]).masked_fill(~lower, -1e9).exp()
    kb = k * beta[..., None]
    mixed = torch.eye(chunk) + ((kb @ k.transpose(-1, -2)) * decay).tril(-1)
    right = torch.cat([v * beta[..., None], kb * g.exp()[..., None]], -1)
    u, w = torch.linalg.solve_triangular(mixed, right, upper=False, unitriangular=True).split(D, -1)
    state, outs = x.new_zeros(B, VALUE_HEADS, D, D), []
    for i in range(q.shape[2]):
        vi = u[:, :, i] - w[:, :, i] @ state
        inter = (q[:, :, i] * g[:, :, i, :, None].exp()) @ state
        outs.append(inter + ((q[:, :, i] @ k[:, :, i].transpose(-1, -2)) * decay[:, :, i]) @ vi)
        last = g[:, :, i, -1, None, None]
        state = state * last.exp() + (k[:, :, i] * (last - g[:, :, i, :, None]).exp()).transpose(-1, -2) @ vi
    y = torch.stack(outs, 2).reshape(B, VALUE_HEADS, -1, D)[:, :, :T].transpose(1, 2)
    return (F.rms_norm(y, (D,), norm, EPS) * F.silu(z.view(B, T, VALUE_HEADS, D))).flatten(2)


class Layer(nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear = linear
        self.mixer = GatedDeltaNet() if linear else Attention()
        self.mlp = MLP()
        self.mixer_norm, self.mlp_norm = Norm(HIDDEN), Norm(HIDDEN)

    def rest(self, x, mixed):
        x = x + mixed
        return x + self.mlp(self.mlp_norm(x))

    def forward(self, x):
        return self.rest(x, self.mixer(self.mixer_norm(x)))


class MTP(nn.Module):
    """Row i reads the hidden state of token i after the final norm and token i + 1, and predicts token i + 2."""

    def __init__(self):
        super().__init__()
        self.hidden_norm, self.embedding_norm, self.norm = Norm(HIDDEN), Norm(HIDDEN), Norm(HIDDEN)
        self.fc = nn.Linear(2 * HIDDEN, HIDDEN, bias=False)
        self.layer = Layer(False)

    def join(self, hidden, embedded):
        return self.fc(torch.cat([self.embedding_norm(embedded), self.hidden_norm(hidden)], -1)).float()

    def forward(self, hidden, embedded):
        return self.norm(self.layer(self.join(hidden, embedded)))


def row_losses(hidden, embedded, targets):
    """The loss of each row: hidden f32 [N, HIDDEN], targets int64 [N]."""
    logits = F.linear(hidden, embedded).float()
    return logits.logsumexp(-1) - logits.gather(-1, targets[:, None])[:, 0]


def cross_entropy(hidden, embedded, targets, weights):
    """The mean loss, weighted, of the rows that have a weight; others cost nothing."""
    picked = weights > 0
    losses = row_losses(hidden[picked], embedded, targets[picked])
    return (losses * weights[picked]).sum() / weights.sum()


def compile_parts():
    """Lets torch fuse what stands between products of matrices while training: a fifth less time a step, after a minute
    of compiling."""
    torch._dynamo.config.recompile_limit = 64
    for kind in (Norm, MLP, Attention):
        plain, fused = kind.forward, torch.compile(kind.forward, dynamic=True)
        kind.forward = lambda self, x, plain=plain, fused=fused: (fused if torch.is_grad_enabled() else plain)(self, x)
    global row_losses
    row_losses = torch.compile(row_losses, dynamic=True)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, HIDDEN)
        self.layers = nn.ModuleList(Layer(kind == "linear_attention") for kind in CONFIG["layer_types"])
        self.norm = Norm(HIDDEN)
        self.mtp = MTP()
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.04)

    def hidden(self, ids, taps=()):
        """States after the final norm, f32 [B, T, HIDDEN]; with `taps` also what those layers put out."""
        x, tapped = self.embed(ids), []
        for index, layer in enumerate(self.layers):
            x = layer(x)
            if index in taps:
                tapped.append(x)
        return (self.norm(x), tapped) if taps else self.norm(x)

    def logits(self, hidden):
        return F.linear(hidden, self.embed.weight).float()

    def losses(self, ids, wanted, draft):
        """Mean loss over the tokens with wanted > 0: of the trunk and, if `draft`, of the MTP head, else None.

        ids int64 [B, T]; wanted f32 [B, T] is the weight of each token as something to predict.
        """
        with fast():
            hidden, embedded = self.hidden(ids), self.embed.weight
            main = cross_entropy(hidden[:, :-1], embedded, ids[:, 1:], wanted[:, 1:])
            if not draft:
                return main, None
            drafted = self.mtp(hidden[:, :-2], self.embed(ids[:, 1:-1]))
            return main, cross_entropy(drafted, embedded, ids[:, 2:], wanted[:, 2:])

    @torch.no_grad()
    def start(self, ids, length):
        """Reads one prompt, int64 [1, T]; returns its hidden states and a cache for `length` tokens."""
        x, cache = self.embed(ids), []
        for layer in self.layers:
            normed = layer.mixer_norm(x)
            mixed, state = layer.mixer.start(normed) if layer.linear else layer.mixer.start(normed, length)
            x, _ = layer.rest(x, mixed), cache.append(state)
        return self.norm(x), cache

    @torch.no_grad()
    def step(self, ids, cache, position):
        """One more token a row: ids int64 [B], position int64 [B]; returns hidden states f32 [B, HIDDEN]."""
        x = self.embed(ids)[:, None]
        for layer, state in zip(self.layers, cache):
            normed = layer.mixer_norm(x)
            x = layer.rest(
                x, layer.mixer.step(normed, state) if layer.linear else layer.mixer.step(normed, state, position)
            )
        return self.norm(x)[:, 0]
