"""Trains the MTP head to guess three tokens ahead, on the model's own answers; the trunk stays as it is.

    python mtp.py --state FOLDER --millions 2

The state is written every hundred steps; the best head is left in state/mtp.safetensors at the end. Where there is no
state, training goes on from that one, with fresh moments.

A chain of guesses that begins at token i reads what the engine gives it: the keys and values of the head for the rows
0 … i, made from the trunk's hidden states, and its own rows since; each row takes the head's output of the row before,
after its norm, in place of a hidden state. The loss is the distance of each guess from what the trunk says there.
"""

import argparse
import math
import os
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

import selfgen
import tokenizer
import train
from model import COS, HEAD, HEADS, KV_HEADS, SIN, fast
from render import Encoder

DEPTH = 3
WEIGHTS = [0.4, 0.35, 0.25]
# Share of the rates that trained the head's first depth.
SHARE, TOKENS, SEED = 0.5, 4096, 1
FILE = "mtp.safetensors"


def chains(model, hidden, ids, depth=DEPTH):
    """The head's outputs by depth, each f32 [B, T − depth, HIDDEN]: entry i of depth d predicts token i + d + 1.

    hidden f32 [B, T, HIDDEN] from the trunk; ids int64 [B, T]. Drafted tokens count only where all before were right,
    and so the true ones stand in for them.
    """
    mtp, layer, count = model.mtp, model.mtp.layer, ids.shape[1] - depth
    outputs, own, given = [], [], hidden[:, :count]
    later = torch.ones(count, count, dtype=torch.bool).triu(1)
    for d in range(depth):
        x = mtp.join(given, model.embed(ids[:, d + 1 : d + 1 + count]))
        q, k, v, gate = layer.mixer.parts(layer.mixer_norm(x), COS[d : d + count], SIN[d : d + count])
        q = q.unflatten(1, (KV_HEADS, HEADS // KV_HEADS)) / math.sqrt(HEAD)
        k, v = k[:, :, None], v[:, :, None].float()
        if d == 0:
            keys, values = k, v
        else:
            own.append((k, v))
        scores = (q @ keys.transpose(-1, -2)).float().masked_fill(later, -math.inf)
        scores = torch.cat([scores, *((q * k).sum(-1, keepdim=True) for k, _ in own)], -1).softmax(-1)
        o = scores[..., :count] @ values + sum(scores[..., count + j, None] * v for j, (_, v) in enumerate(own))
        x = layer.rest(x, layer.mixer.finish(o.flatten(1, 2), gate))
        given = mtp.norm(x)
        outputs.append(given)
    return outputs


def padded(ids, pad):
    return F.pad(ids, (0, DEPTH), value=pad)


def losses(model, ids, begins, ends, pad):
    """The distance of the guesses from the trunk, by depth."""
    ids = padded(ids, pad)
    with fast():
        with torch.no_grad():
            hidden = model.hidden(ids)
        outputs, result, place = chains(model, hidden, ids), [], torch.arange(ids.shape[1])
        for d, output in enumerate(outputs):
            target = place[: output.shape[1]] + d + 2
            wanted = (target > begins[:, None]) & (target < ends[:, None])
            with torch.no_grad():
                said = model.logits(hidden[:, d + 1 : d + 1 + output.shape[1]][wanted]).log_softmax(-1)
            guessed = model.logits(output[wanted]).log_softmax(-1)
            result.append(F.kl_div(guessed, said, reduction="batchmean", log_target=True))
    return result


@torch.no_grad()
def acceptance(model, rows, pad):
    """Accepted of drafted by position, over cycles of three guesses: a guess counts if it and all before are right."""
    drafted, accepted = 0, [0] * DEPTH
    for ids, begins, ends in selfgen.batches(rows, 8192, pad, torch.Generator().manual_seed(0)):
        ids = padded(ids, pad)
        hidden = model.hidden(ids)
        right = [
            model.logits(o[:, : ids.shape[1] - d - 2]).argmax(-1) == ids[:, d + 2 :][:, : o.shape[1]]
            for d, o in enumerate(chains(model, hidden, ids))
        ]
        for row, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist())):
            i = begin - 1
            while i + 2 < end:
                drafted += 1
                kept = 0
                while kept < DEPTH and i + kept + 2 < end and right[kept][row, i]:
                    accepted[kept] += 1
                    kept += 1
                i += kept + 1
    return [a / max(1, drafted) for a in accepted]


def best(folder):
    """The trained head, by names as in Model.mtp; None where there is none."""
    path, kept = folder / "mtp.pt", selfgen.KEPT / FILE
    if path.exists():
        return torch.load(path, weights_only=True)["best"]
    return {name: value.float() for name, value in load_file(kept).items()} if kept.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--millions", type=float, default=2, help="tokens, in millions")
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, encoder = selfgen.rounded(args.state), Encoder(tokenizer.load())
    head = model.mtp.requires_grad_(True)
    head.load_state_dict(best(args.state) or head.state_dict())
    optimizers = train.optimizers(head)
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    rates = [SHARE * group["lr"] for group in groups]
    check, rows = selfgen.split(args.state)
    path, total = args.state / "mtp.pt", args.millions * 1e6
    if path.exists():
        done = torch.load(path, weights_only=True)
        head.load_state_dict(done["head"])
        for optimizer, state in zip(optimizers, done["optimizers"]):
            optimizer.load_state_dict(state)
    else:
        done = {"tokens": 0, "step": 0, "passes": 0, "accepted": acceptance(model, check, encoder.pad)}
        done["best"] = {name: value.clone() for name, value in head.state_dict().items()}
    print("accepted", done["accepted"], flush=True)
    while done["tokens"] < total:
        done["passes"] += 1
        order = torch.Generator().manual_seed(SEED + done["passes"])
        for ids, begins, ends in selfgen.batches(rows, TOKENS, encoder.pad, order):
            share = min(1, (done["step"] + 1) / 50) * max(0, 1 - done["tokens"] / total)
            for group, rate in zip(groups, rates):
                group["lr"] = rate * share
            parts = losses(model, ids, begins, ends, encoder.pad)
            sum(w * part for w, part in zip(WEIGHTS, parts)).backward()
            torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            done["tokens"], done["step"] = done["tokens"] + ids.numel(), done["step"] + 1
            last = done["tokens"] >= total
            if last or done["step"] % 100 == 0:
                print(
                    f"step {done['step']} {done['tokens'] / 1e6:.2f}M", *(f"{p.item():.4f}" for p in parts), flush=True
                )
                keep(done, acceptance(model, check, encoder.pad), head, optimizers, path)
            if last:
                break
    selfgen.KEPT.mkdir(exist_ok=True)
    save_file({name: value.bfloat16() for name, value in done["best"].items()}, selfgen.KEPT / FILE)
    print("best", [round(share, 3) for share in done["accepted"]], flush=True)


def keep(done, accepted, head, optimizers, path):
    """Writes the state, and in it the head that got furthest: the one with most tokens accepted per cycle."""
    print("  accepted", [round(share, 3) for share in accepted], flush=True)
    if sum(accepted) > sum(done["accepted"]):
        done["accepted"] = accepted
        done["best"] = {name: value.clone() for name, value in head.state_dict().items()}
    done |= {"head": head.state_dict(), "optimizers": [optimizer.state_dict() for optimizer in optimizers]}
    torch.save(done, path.with_suffix(".partial"))
    os.replace(path.with_suffix(".partial"), path)


if __name__ == "__main__":
    main()
