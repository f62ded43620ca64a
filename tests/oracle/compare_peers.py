#!/usr/bin/env python3
"""Speed of foretoken-engine beside mlx-lm on the same checkpoints, and what a step costs the host.

    compare_peers.py ENGINE CHECKPOINT... [--repetitions 5] [--prompt-tokens 512] [--gen-tokens 128] [--depths 0,1,2,3]

ENGINE is a release build of `foretoken-engine`. Run it with a Python that holds mlx-lm on the MLX release that the
engine was built with. The two take turns, a process each time, so that whatever else the machine does hits both alike;
each process discards a warm-up. Both read pseudo-random tokens for prefill, and decode greedily, stop tokens ignored,
after the same chat question. Printed are medians over the repetitions with min and max, ratios of the medians, and the
machine's load while measuring. On Linux the engine spreads long operations over the processors, where mlx-lm uses one.
mlx-lm decodes without drafts, so each depth is compared with its plain decoding. The engine's prefill fills the MTP
head's cache too, which takes the last layer's output at every position; on a checkpoint without a head it does what
mlx-lm's does. "host" is the time in which a plain step's graph is built, nothing of it handed over, and "primitives"
what that graph holds, caches included: both go into the same evaluation, whose cost grows with them. "memory" is the
most that MLX held while prefill and decoding were timed, weights included: the engine's holds the MTP head and its
cache, which mlx-lm leaves out.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

# What the `bench` command asks too.
QUESTION = "Tell me a story about an owl and a bell."
# Steps whose graphs are built to time the host.
HOST_STEPS = 32


def measure_mlx_lm(checkpoint, prompt_tokens, gen_tokens):
    """Tokens per second of mlx-lm in this process."""
    import mlx.core as mx
    import mlx_lm
    from mlx.utils import tree_flatten
    from mlx_lm.generate import generate_step
    from mlx_lm.models.cache import make_prompt_cache

    model, tokenizer = mlx_lm.load(checkpoint)
    ordinary = min(tokenizer.all_special_ids)
    text = mx.random.randint(0, ordinary, (prompt_tokens,), key=mx.random.key(1))
    chat = [{"role": "user", "content": QUESTION}]
    question = mx.array(tokenizer.apply_chat_template(chat, add_generation_prompt=True, enable_thinking=False))

    def prefill():
        cache = make_prompt_cache(model)
        begin = time.perf_counter()
        # As its generation loop reads a prompt: the caches are all that is computed.
        model(text[None], cache=cache)
        mx.eval([layer.state for layer in cache])
        return prompt_tokens / (time.perf_counter() - begin)

    def decode():
        times = []
        for _ in generate_step(question, model, max_tokens=gen_tokens):
            times.append(time.perf_counter())
        return (len(times) - 1) / (times[-1] - times[0])

    def build_steps():
        cache = make_prompt_cache(model)
        model(question[None], cache=cache)
        token, times, primitives = question[-1:], [], 0
        for _ in range(HOST_STEPS):
            mx.eval(token, [layer.state for layer in cache])
            begin = time.perf_counter()
            # As its generation loop makes a step.
            logits = model(token[None], cache=cache)[:, -1, :]
            token = mx.argmax(logits - mx.logsumexp(logits, keepdims=True), axis=-1)
            times.append(1e3 * (time.perf_counter() - begin))
            graph = io.StringIO()
            caches = [leaf for _, leaf in tree_flatten([layer.state for layer in cache])]
            mx.export_to_dot(graph, token, *(leaf for leaf in caches if isinstance(leaf, mx.array)))
            primitives = graph.getvalue().count("[label =")
        return statistics.median(times), primitives

    prefill(), decode(), build_steps()
    host, primitives = build_steps()
    mx.clear_cache()
    mx.reset_peak_memory()
    speed = {"prefill": prefill(), "decode": decode()}
    return {**speed, "host": host, "primitives": primitives, "memory": mx.get_peak_memory() / 1e6}


def measure_engine(engine, checkpoint, args):
    """Tokens per second of the engine: prefill, and decoding by depth."""
    command = [engine, "bench", "--model", checkpoint, "--runs", "1", "--depths", args.depths, "--json",
               "--chat-tokens", "64", "--prompt-tokens", str(args.prompt_tokens), "--gen-tokens", str(args.gen_tokens)]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    decode = {depth["depth"]: depth["tokens_per_second"]["median"] for depth in report["depths"]}
    per_pass = {depth["depth"]: depth["tokens_per_pass"]["median"] for depth in report["depths"]}
    one_row = report["rows"][0]
    return {"prefill": report["prefill_tokens_per_second"]["median"], "decode": decode, "per_pass": per_pass,
            "host": one_row["host_milliseconds"]["median"], "primitives": one_row["primitives"],
            "memory": report["peak_memory_bytes"]["median"] / 1e6}


def compare(checkpoint, args):
    peer_command = [sys.executable, __file__, args.engine, checkpoint, "--measure-mlx-lm",
                    "--prompt-tokens", str(args.prompt_tokens), "--gen-tokens", str(args.gen_tokens)]
    ours, peers, loads = [], [], []
    for _ in range(args.repetitions):
        ours.append(measure_engine(args.engine, checkpoint, args))
        peers.append(json.loads(subprocess.run(peer_command, check=True, stdout=subprocess.PIPE).stdout))
        loads.append(os.getloadavg()[0])

    print(f"\n{checkpoint}: load {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} cores, "
          f"{args.repetitions} repetitions")
    print(f"{'':<10}  {'foretoken, tokens/s':<28}  {'mlx-lm, tokens/s':<28}  {'ratio':>5}  {'per pass':>8}")
    row("prefill", [run["prefill"] for run in ours], [run["prefill"] for run in peers])
    for depth in ours[0]["decode"]:
        per_pass = statistics.median(run["per_pass"][depth] for run in ours)
        row("plain" if depth == 0 else f"depth {depth}", [run["decode"][depth] for run in ours],
            [run["decode"] for run in peers], f"{per_pass:8.2f}")
    for name, digits in [("host, ms", 2), ("primitives", 0), ("memory, MB", 1)]:
        key = name.split(",")[0]
        row(name, [run[key] for run in ours], [run[key] for run in peers], digits=digits)


def row(name, ours, peers, last="", digits=1):
    spread = lambda xs: f"{statistics.median(xs):.{digits}f} ({min(xs):.{digits}f} to {max(xs):.{digits}f})"
    ratio = statistics.median(ours) / statistics.median(peers)
    print(f"{name:<10}  {spread(ours):<28}  {spread(peers):<28}  {ratio:>5.2f}  {last}".rstrip(), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--prompt-tokens", type=int, default=512)
    parser.add_argument("--gen-tokens", type=int, default=128)
    parser.add_argument("--depths", default="0,1,2,3")
    # What this script runs for each turn of mlx-lm.
    parser.add_argument("--measure-mlx-lm", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure_mlx_lm:
        print(json.dumps(measure_mlx_lm(args.checkpoints[0], args.prompt_tokens, args.gen_tokens)))
        return
    for checkpoint in args.checkpoints:
        compare(checkpoint, args)


if __name__ == "__main__":
    main()
