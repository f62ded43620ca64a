"""Trains the DFlash drafter on the model's own answers; the model stays as it is.

    python dflash.py --state FOLDER --blocks 700

The state is written every 200 steps; the drafter is left in state/dflash.safetensors at the end. Where there is no state,
training goes on from that one, with fresh moments.

A block begins with a token that is known, its anchor, and has a mask in each other place. It sees what three layers of
the model put out for all tokens before the anchor, and itself, in both directions. Row k predicts the token k places
after the anchor. Embedding and head are the model's own.
"""

import argparse
import os
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

import selfgen
import tokenizer
import train
from model import HEAD, HEADS, HIDDEN, KV_HEADS, MLP, fast
from render import MASK, Encoder

BLOCK, LAYERS, TAPS = 8, 2, (1, 3, 5)
ANCHORS, ROWS, SEED = 24, 16, 1
FILE = "dflash.safetensors"
THETA = 10000.0


class Scale(nn.Module):
    """RMSNorm whose stored weight is the factor itself."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return F.rms_norm(x.float(), x.shape[-1:], self.weight, 1e-6)


def rotate(x, position):
    """RoPE on the whole head; x [B, heads, T, HEAD], position [B, T] or [T]."""
    angle = position[..., None] * THETA ** -(torch.arange(0, HEAD, 2) / HEAD)
    angle = angle[:, None] if angle.ndim == 3 else angle
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.kv = (
            nn.Linear(HIDDEN, HEADS * HEAD, bias=False),
            nn.Linear(HIDDEN, 2 * KV_HEADS * HEAD, bias=False),
        )
        self.out = nn.Linear(HEADS * HEAD, HIDDEN, bias=False)
        self.q_norm, self.k_norm = Scale(HEAD), Scale(HEAD)

    def keys_and_values(self, x, position):
        k, v = self.kv(x).unflatten(-1, (2 * KV_HEADS, HEAD)).transpose(1, 2).chunk(2, 1)
        return rotate(self.k_norm(k), position), v.float()

    def forward(self, x, position, context, context_position, mask):
        q = rotate(self.q_norm(self.q(x).unflatten(-1, (HEADS, HEAD)).transpose(1, 2)), position)
        pairs = zip(self.keys_and_values(context, context_position), self.keys_and_values(x, position))
        k, v = (torch.cat(pair, 2) for pair in pairs)
        o = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
        return self.out(o.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.mlp = Attention(), MLP()
        self.attention_norm, self.mlp_norm = Scale(HIDDEN), Scale(HIDDEN)

    def forward(self, x, *rest):
        x = x + self.attention(self.attention_norm(x), *rest)
        return x + self.mlp(self.mlp_norm(x))


class Drafter(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(len(TAPS) * HIDDEN, HIDDEN, bias=False)
        self.context_norm, self.norm = Scale(HIDDEN), Scale(HIDDEN)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.04)

    def forward(self, taps, embedded, anchors):
        """taps f32 [B, T, 3 · HIDDEN], embedded blocks [B, A, BLOCK, HIDDEN], anchors int64 [B, A]: states of all rows
        [B, A, BLOCK, HIDDEN]."""
        B, T, _ = taps.shape
        A = anchors.shape[1]
        context = self.context_norm(self.fc(taps))
        position = (anchors[..., None] + torch.arange(BLOCK)).flatten(1)
        before = torch.arange(T) < anchors[..., None]
        before = before[:, :, None].expand(B, A, BLOCK, T).flatten(1, 2)
        own = torch.eye(A, dtype=torch.bool).repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1).expand(B, -1, -1)
        mask = torch.cat([before, own], -1)[:, None]
        x = embedded.flatten(1, 2)
        for layer in self.layers:
            x = layer(x, position, context, torch.arange(T), mask)
        return self.norm(x).unflatten(1, (A, BLOCK))


def guesses(model, drafter, ids, anchors, mask_id):
    """Logits of rows 1 … BLOCK − 1 of each block, f32 [B, A, BLOCK − 1, VOCAB]."""
    with torch.no_grad():
        _, tapped = model.hidden(ids, TAPS)
    blocks = torch.full((*anchors.shape, BLOCK), mask_id)
    blocks[..., 0] = ids.gather(1, anchors)
    states = drafter(torch.cat(tapped, -1), model.embed(blocks), anchors)
    return model.logits(states[:, :, 1:])


def targets(ids, anchors, ends):
    """The tokens after each anchor, and which of them belong to the reply."""
    place = anchors[..., None] + torch.arange(1, BLOCK)
    inside = place < ends[:, None, None]
    return ids.gather(1, place.clamp(max=ids.shape[1] - 1).flatten(1)).view(place.shape), inside


def loss(logits, wanted, inside):
    """Cross-entropy, each row weighted by what depends on it: a guess counts only if all before it were right."""
    logs = logits.log_softmax(-1).gather(-1, wanted[..., None])[..., 0]
    with torch.no_grad():
        reached = (0.5 * logs.exp() + 0.5).cumprod(-1) * inside
        weight = reached.flip(-1).cumsum(-1).flip(-1) * inside
    return -(logs * weight).sum() / weight.sum()


@torch.no_grad()
def accepted(model, drafter, rows, mask_id):
    """Tokens accepted per block of eight, blocks as the engine sets them."""
    blocks = kept = 0
    for ids, begin in rows:
        anchors = torch.arange(begin, len(ids))[None]
        logits = guesses(model, drafter, ids[None], anchors, mask_id)
        wanted, inside = targets(ids[None], anchors, torch.tensor([len(ids)]))
        right = ((logits.argmax(-1) == wanted) & inside)[0].long().cumprod(-1).sum(-1).tolist()
        at = 0
        while at < len(right) - 1:
            blocks, kept = blocks + 1, kept + right[at]
            at += right[at] + 1
    return kept / max(1, blocks)


def trained(folder):
    """The trained drafter's tensors; None where there is none."""
    path, kept = folder / "dflash.pt", selfgen.KEPT / FILE
    if path.exists():
        return torch.load(path, weights_only=True)["drafter"]
    return {name: value.float() for name, value in load_file(kept).items()} if kept.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--blocks", type=int, default=700, help="blocks to learn from, in thousands")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    model, encoder = selfgen.rounded(args.state), Encoder(tokenizer.load())
    mask_id = encoder.tokenizer.token_to_id(MASK)
    drafter = Drafter()
    print(f"{sum(p.numel() for p in drafter.parameters()) / 1e6:.2f} M parameters", flush=True)
    optimizers = train.optimizers(drafter)
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    rates = [group["lr"] for group in groups]
    check, rows = selfgen.split(args.state)
    done, step, passes, total = 0, 0, 0, args.blocks * 1000
    state, before = args.state / "dflash.pt", trained(args.state)
    if before:
        drafter.load_state_dict(before)
    if state.exists():
        saved = torch.load(state, weights_only=True)
        drafter.load_state_dict(saved["drafter"])
        for optimizer, left in zip(optimizers, saved["optimizers"]):
            optimizer.load_state_dict(left)
        done, step, passes = saved["done"], saved["step"], saved["passes"]
    while done < total:
        passes += 1
        generator = torch.Generator().manual_seed(SEED + passes)
        for ids, begins, ends in selfgen.batches(rows, ROWS * 128, encoder.pad, generator):
            share = min(1, (step + 1) / 100) * max(0, 1 - done / total)
            for group, rate in zip(groups, rates):
                group["lr"] = rate * share
            span = (ends - 1 - begins).clamp(min=1)
            anchors = begins[:, None] + (torch.rand(len(ids), ANCHORS, generator=generator) * span[:, None]).long()
            with fast():
                logits = guesses(model, drafter, ids, anchors, mask_id)
            value = loss(logits, *targets(ids, anchors, ends))
            value.backward()
            torch.nn.utils.clip_grad_norm_(drafter.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            done, step = done + anchors.numel(), step + 1
            if step % 200 == 0 or done >= total:
                print(
                    f"step {step} {done} blocks, loss {value.item():.3f}, "
                    f"accepted {accepted(model, drafter, check, mask_id):.2f}",
                    flush=True,
                )
                torch.save(
                    {
                        "drafter": drafter.state_dict(),
                        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
                        "done": done,
                        "step": step,
                        "passes": passes,
                    },
                    state.with_suffix(".partial"),
                )
                os.replace(state.with_suffix(".partial"), state)
            if done >= total:
                break
    selfgen.KEPT.mkdir(exist_ok=True)
    save_file({name: value.bfloat16() for name, value in drafter.state_dict().items()}, selfgen.KEPT / FILE)


if __name__ == "__main__":
    main()
