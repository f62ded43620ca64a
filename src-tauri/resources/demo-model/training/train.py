"""Trains the trunk and the first depth of its MTP head, stage by stage.

    python train.py --state FOLDER                 begins, or goes on where FOLDER/state.pt was left
    python train.py --state FOLDER --processes 2   the same on two cores

The state is written every five minutes and at the end of each stage, beside its place and then renamed, so that the
process may be killed at any moment. A finished stage leaves its weights in bf16 in state/ beside this file, and so does
--keep at once; where FOLDER holds no state, training goes on from those, with fresh moments.
"""

import argparse
import datetime
import hashlib
import json
import os
import signal
import tempfile
import time
from pathlib import Path
from statistics import mean

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from safetensors.torch import load_file, save_file

import probe
import tokenizer
from data import Batches
from model import FAST, Model, compile_parts
from render import Encoder

HERE = Path(__file__).parent
# Where a fresh checkout finds the weights, and what is noted beside them.
KEPT = HERE / "state"
PLACE = ["stage", "step", "tokens", "core_seconds"]
SEED = 1
RATE, MUON_RATE = 2e-3, 0.02
# Name, mix of chats, millions of tokens, tokens a step, longest row, weight of the draft's loss, the share of the full
# rate from which it falls to 0 (None: it stays full), what is probed.
STAGES = [
    ("copy", "copy", 2, 2048, 160, 0.3, None, probe.KINDS[:4]),
    ("mix", "mix", 12, 4096, 320, 0.3, None, probe.KINDS[:7]),
    ("long", "long", 16, 4096, 768, 0.1, None, probe.KINDS),
    ("tools", "tools", 6, 4096, 768, 0.1, 1, probe.KINDS),
    ("forms", "forms", 10, 4096, 768, 0.1, 0.6, probe.KINDS),
    ("copies", "copies", 14, 4096, 768, 0.1, 0.6, probe.KINDS),
    ("calls", "calls", 8, 4096, 768, 0.1, 0.35, probe.KINDS),
    ("names", "names", 8, 4096, 768, 0.1, 0.3, probe.KINDS),
    ("settle", "settle", 3, 4096, 768, 0.1, 0.2, probe.KINDS),
]
WARM_UP = 100
# The draft's loss is taken in one step of so many: the head is trained for long once the trunk is done.
DRAFT_EVERY = 4
GRAMMAR = [
    "words",
    "draw",
    "stories",
    "sums",
    "copying",
    "about",
    "facts",
    "shapes",
    "programs",
    "poems",
    "talk",
    "dialogue",
    "tools",
    "phrases",
    "chats",
    "render",
    "data",
]


def corpus_hash():
    """SHA-256 over everything that chats are made of."""
    files = [HERE / f"{name}.py" for name in GRAMMAR] + [HERE / "chat_template.jinja", tokenizer.PATH]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


class Muon(torch.optim.Optimizer):
    """Momentum, made orthogonal by five Newton-Schulz steps, for the matrices between embedding and head."""

    def __init__(self, params, lr, momentum=0.95, decay=0.01):
        super().__init__(params, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in (p for p in group["params"] if p.grad is not None):
                momentum = self.state[p].setdefault("momentum", torch.zeros_like(p))
                momentum.lerp_(p.grad, 1 - group["momentum"])
                shapes.setdefault(p.shape, []).append((p, p.grad.lerp(momentum, group["momentum"])))
            for (rows, columns), pairs in shapes.items():
                directions = orthogonal(torch.stack([direction for _, direction in pairs]))
                for (p, _), direction in zip(pairs, directions):
                    p.mul_(1 - group["lr"] * group["decay"])
                    p.add_(direction, alpha=-group["lr"] * max(1, rows / columns) ** 0.5)


def orthogonal(x):
    """The nearest matrices with orthogonal rows or columns, roughly, to `x` [matrices, rows, columns]."""
    tall = x.shape[1] > x.shape[2]
    x = x.transpose(1, 2) if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    x = x.bfloat16() if FAST else x
    for _ in range(5):
        square = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=-4.7750, alpha=2.0315), x, beta=3.4445)
    return (x.transpose(1, 2) if tall else x).float()


def optimizers(model, muon=True):
    """Decay on matrices only, and neither on the embedding nor on the convolutions."""
    matrices = [
        p for n, p in model.named_parameters() if p.ndim == 2 and not n.startswith("embed") and not n.endswith("conv")
    ]
    others = [p for n, p in model.named_parameters() if all(p is not m for m in matrices)]
    adam = {"betas": (0.9, 0.95), "fused": True}
    if muon:
        return [Muon(matrices, MUON_RATE), torch.optim.AdamW(others, lr=RATE, weight_decay=0, **adam)]
    return [
        torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0}], lr=RATE, **adam
        )
    ]


def average(model, ended, count):
    """Averages the gradients of all processes; returns whether one of them was told to end."""
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    flat = torch.cat([*(g.flatten() for g in grads), torch.tensor([float(ended)])])
    dist.all_reduce(flat)
    for grad, part in zip(grads, (flat[:-1] / count).split([g.numel() for g in grads])):
        grad.copy_(part.view_as(grad))
    return bool(flat[-1])


class Run:
    """One training run: what it has to know to go on after a kill.

    Of `count` processes, number `rank` takes its share of the rows of each batch; all have the same weights.
    """

    def __init__(self, folder, stages=STAGES, kept=KEPT, muon=True, rank=0, count=1):
        torch.manual_seed(SEED)
        self.folder, self.stages, self.kept = folder, stages, kept
        self.rank, self.count, self.ended = rank, count, False
        self.encoder = Encoder(tokenizer.load())
        self.model = Model()
        self.optimizers = optimizers(self.model, muon)
        self.rates = [g["lr"] for o in self.optimizers for g in o.param_groups]
        self.stage, self.step, self.warm, self.tokens, self.place, self.seconds = 0, 0, 0, 0, (0, 0), 0.0
        self.corpus = corpus_hash()
        if (folder / "state.pt").exists():
            self.load(torch.load(folder / "state.pt", weights_only=True))
        elif (kept / "state.json").exists():
            weights = load_file(kept / "model.safetensors")
            self.model.load_state_dict({name: value.float() for name, value in weights.items()})
            left = json.loads((kept / "state.json").read_text())
            self.stage, self.step, self.tokens, self.seconds = (left[k] for k in PLACE)
            self.place = tuple(left["place"])
        self.open_stage()

    def open_stage(self):
        if self.stage < len(self.stages):
            _, mix, _, tokens, longest, *_ = self.stages[self.stage]
            self.batches = Batches(self.encoder, SEED, mix, tokens, longest, self.place)

    def load(self, saved):
        self.model.load_state_dict(saved["model"])
        for optimizer, state in zip(self.optimizers, saved["optimizers"]):
            optimizer.load_state_dict(state)
        self.stage, self.step, self.warm, self.tokens, self.seconds = (
            saved[k] for k in ("stage", "step", "warm", "tokens", "seconds")
        )
        self.place = tuple(saved["place"])
        torch.set_rng_state(saved["generator"])
        if saved["corpus"] != self.corpus:
            print(f"the corpus has changed: {saved['corpus'][:12]} → {self.corpus[:12]}", flush=True)

    def save(self):
        if self.rank:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        saved = {
            "model": self.model.state_dict(),
            "optimizers": [o.state_dict() for o in self.optimizers],
            "stage": self.stage,
            "step": self.step,
            "warm": self.warm,
            "tokens": self.tokens,
            "place": list(self.batches.state),
            "seconds": self.seconds,
            "corpus": self.corpus,
            "generator": torch.get_rng_state(),
        }
        torch.save(saved, self.folder / "state.partial")
        os.replace(self.folder / "state.partial", self.folder / "state.pt")

    def keep(self):
        """Leaves the weights where a fresh checkout finds them, with the place from which to go on."""
        if self.rank:
            return
        self.kept.mkdir(exist_ok=True)
        weights = {name: value.bfloat16().contiguous() for name, value in self.model.state_dict().items()}
        save_file(weights, self.kept / "model.partial")
        os.replace(self.kept / "model.partial", self.kept / "model.safetensors")
        place = dict(zip(PLACE, (self.stage, self.step, self.tokens, round(self.seconds))))
        place |= {"place": list(self.batches.state), "seed": SEED, "corpus": self.corpus}
        (self.kept / "state.json").write_text(json.dumps(place, indent=2) + "\n")

    def rate(self):
        """The share of the full learning rate: up over the first steps after fresh moments, to 0 in the last stages."""
        _, _, millions, _, _, _, falls_from, _ = self.stages[self.stage]
        left = falls_from * (1 - self.tokens / (millions * 1e6)) if falls_from else 1
        return min(1, (self.warm + 1) / WARM_UP) * max(left, 0)

    def advance(self):
        """One step; returns the losses of trunk and, in some steps, draft."""
        began = time.process_time()
        ids, wanted = next(self.batches)
        share, weight = self.rate(), self.stages[self.stage][5]
        for group, rate in zip((g for o in self.optimizers for g in o.param_groups), self.rates):
            group["lr"] = rate * share
        tokens = ids.numel()
        if self.count > 1 and len(ids) >= self.count:
            ids, wanted = ids[self.rank :: self.count], wanted[self.rank :: self.count]
        loss, draft = self.model.losses(ids, wanted, self.step % DRAFT_EVERY == 0)
        (loss if draft is None else loss + weight * draft).backward()
        if self.count > 1:
            self.ended = average(self.model, self.ended, self.count)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.step, self.warm, self.tokens = self.step + 1, self.warm + 1, self.tokens + tokens
        # Of all processes: they do alike.
        self.seconds += self.count * (time.process_time() - began)
        return loss.item(), None if draft is None else draft.item()

    def done(self):
        return self.tokens >= self.stages[self.stage][2] * 1e6

    def next_stage(self):
        self.stage, self.tokens, self.place = self.stage + 1, 0, (0, 0)
        self.open_stage()
        self.keep()


def work(rank, args, meeting):
    """What each process does."""
    torch.set_num_threads(1)
    if args.processes > 1:
        dist.init_process_group(
            "gloo",
            init_method=f"file://{meeting}",
            rank=rank,
            world_size=args.processes,
            timeout=datetime.timedelta(hours=12),
        )
    compile_parts()
    run = Run(args.state, muon=not args.adam, rank=rank, count=args.processes)

    def end(*_):
        run.ended = True

    signal.signal(signal.SIGTERM, end)
    saved = logged = time.monotonic()
    losses, drafts, read = [], [], 0
    while run.stage < len(run.stages) and not run.ended:
        before = run.tokens
        loss, draft = run.advance()
        losses.append(loss)
        drafts += [draft] if draft is not None else []
        read += run.tokens - before
        if len(losses) == 50 and not rank:
            now = time.monotonic()
            print(
                f"{time.strftime('%H:%M:%S')} {run.stages[run.stage][0]} step {run.step} {run.tokens / 1e6:.2f}M "
                f"loss {mean(losses):.4f} draft {mean(drafts):.4f} {read / (now - logged):.0f} tok/s "
                f"({run.seconds:.0f} s of a core)",
                flush=True,
            )
            logged, losses, drafts, read = now, [], [], 0
        if run.step % args.probe == 0 and not rank:
            found = probe.measure(run.model, run.encoder, run.stages[run.stage][7])
            print(f"  probe {run.step}: " + ", ".join(f"{k} {v:.2f}" for k, v in found.items()), flush=True)
            logged = time.monotonic()
        if run.done():
            run.next_stage()
            run.save()
        elif time.monotonic() - saved > 300:
            run.save()
            saved = time.monotonic()
    if run.stage < len(run.stages):
        run.save()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--probe", type=int, default=500, help="steps between probes")
    parser.add_argument("--keep", action="store_true", help="only leave the weights of FOLDER in state/")
    parser.add_argument("--adam", action="store_true", help="AdamW alone")
    args = parser.parse_args()
    if args.keep:
        Run(args.state, muon=not args.adam).keep()
        return
    if args.processes == 1:
        work(0, args, None)
        return
    with tempfile.TemporaryDirectory() as folder:
        context = processes.start_processes(
            work, (args, f"{folder}/meeting"), args.processes, join=False, start_method="spawn"
        )
        # A request to end is handed on; the others hear of it from the first.
        signal.signal(signal.SIGTERM, lambda *_: os.kill(context.pids()[0], signal.SIGTERM))
        while not context.join():
            pass


if __name__ == "__main__":
    main()
