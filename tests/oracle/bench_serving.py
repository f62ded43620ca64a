#!/usr/bin/env python3
"""Requests beside each other: foretoken-server and mlx_lm.server in front of the same checkpoint.

    bench_serving.py SERVER CHECKPOINT [--clients 1,4,16,32] [--rounds 3] [--requests 4] [--tokens 48]

SERVER is a release build of `foretoken-server` with `foretoken-engine` beside it. Run it with a Python that holds
mlx-lm on the MLX release that the engine was built with. Both servers run all the time and are asked by turns, so that
whatever else the machine does hits both alike; one that is not asked does nothing. In a round each of so many clients
asks that many times, one question after another, streamed and greedy, thinking off: no two questions of the run are
equal, so that nothing is remembered but the beginning that all share. Each round is done with mlx_lm.server, with
Foretoken without drafts, and with its own choice of them. Printed are medians over the rounds, with the smallest and
the largest: requests a second, tokens a second and the time to the first token, and ratios to mlx_lm.server's of the
same round.

Last comes what a grammar costs: the same replies of one client with and without a regular expression that every text
matches, so that each step computes a mask that changes nothing, as the time of a step with it over that without.
"""

import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

WORDS = "owl bell river stone lamp garden harbour letter winter bridge candle forest mirror ladder kettle meadow".split()
PATIENCE = 600


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def question(number):
    """A question of its own for each number."""
    first, second = WORDS[number % len(WORDS)], WORDS[number // len(WORDS) % len(WORDS)]
    return f"Tell me story number {number} about a {first} and a {second}."


def ask(port, number, tokens, extra):
    """Asks once; the time to the first text, to the end, and how many tokens were written."""
    body = {
        "model": "default",
        "messages": [{"role": "user", "content": question(number)}],
        "temperature": 0,
        "max_tokens": tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        **extra,
    }
    begin = time.perf_counter()
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
            answer = connection.getresponse()
            break
        except ConnectionError:
            # A server that takes few connections at a time resets others, whose clients come again.
            time.sleep(0.02)
    if answer.status != 200:
        sys.exit(f"{answer.status}: {answer.read().decode()}")
    first, written, own = None, 0, {}
    for line in answer:
        line = line.strip()
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        for choice in event.get("choices", []):
            delta = choice.get("delta", {})
            if first is None and (delta.get("content") or delta.get("reasoning_content") or delta.get("reasoning")):
                first = time.perf_counter() - begin
        if event.get("usage"):
            written = event["usage"]["completion_tokens"]
        own = event.get("timings") or own
    connection.close()
    end = time.perf_counter() - begin
    return first if first is not None else end, written, own


class Numbers:
    """Gives each question another number."""

    def __init__(self):
        self.next, self.lock = 0, threading.Lock()

    def take(self):
        with self.lock:
            self.next += 1
            return self.next


def round_of(port, clients, requests, tokens, numbers, extra):
    """All clients at once; requests and tokens a second, and the median time to the first token in milliseconds."""
    answers, lock = [], threading.Lock()

    def client():
        for _ in range(requests):
            answer = ask(port, numbers.take(), tokens, extra)
            with lock:
                answers.append(answer)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begin
    return {
        "requests/s": len(answers) / took,
        "tokens/s": sum(written for _, written, _ in answers) / took,
        "first token, ms": statistics.median(first for first, _, _ in answers) * 1000,
    }


def started(command, port, env=None):
    """A server that answers."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begin = time.perf_counter()
    while time.perf_counter() - begin < PATIENCE:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/v1/models")
            if connection.getresponse().status == 200:
                return process
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    sys.exit(f"{command[0]} does not answer")


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("checkpoint")
    parser.add_argument("--clients", default="1,4,16,32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=48)
    options = parser.parse_args()
    peer, own = free_port(), free_port()
    server = Path(options.server).resolve()
    checkpoint = str(Path(options.checkpoint).resolve())
    processes = [
        started(
            [sys.executable, "-m", "mlx_lm.server", "--model", checkpoint, "--port", str(peer)]
            + ["--chat-template-args", '{"enable_thinking":false}', "--log-level", "ERROR"],
            peer,
            {**os.environ, "HF_HUB_OFFLINE": "1"},
        ),
        started([str(server), "--model", checkpoint, "--port", str(own), "--no-token", "--rows", "32"], own),
    ]
    try:
        compare(options, peer, own, checkpoint)
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def compare(options, peer, own, checkpoint):
    off = {"reasoning_effort": "none", "foretoken": {"speculation": "off"}}
    auto = {"reasoning_effort": "none", "foretoken": {"speculation": "auto"}}
    sides = {
        "mlx_lm.server": (peer, {"model": checkpoint}),
        "Foretoken, no drafts": (own, off),
        "Foretoken": (own, auto),
    }
    numbers = Numbers()
    for port, extra in sides.values():
        round_of(port, 2, 2, options.tokens, numbers, extra)
    print("| clients | | requests/s | tokens/s | first token, ms | requests/s to mlx_lm.server's | first token |")
    print("|---|---|---|---|---|---|---|")
    for clients in map(int, options.clients.split(",")):
        rounds = {name: [] for name in sides}
        for _ in range(options.rounds):
            for name, (port, extra) in sides.items():
                rounds[name].append(round_of(port, clients, options.requests, options.tokens, numbers, extra))
        for name, results in rounds.items():
            columns = [spread([result[key] for result in results]) for key in results[0]]
            for key in ("requests/s", "first token, ms"):
                pairs = zip(results, rounds["mlx_lm.server"])
                columns.append(spread([result[key] / other[key] for result, other in pairs]))
            print(f"| {clients} | {name} | {' | '.join(columns)} |", flush=True)
    ratios, steps = [], []
    everything = {"grammar": {"regex": r"(.|\n)*"}, "speculation": "off"}
    for _ in range(options.rounds * 4):
        number = numbers.take()
        times = []
        for extra in (off, {**off, "foretoken": everything}):
            _, written, timings = ask(own, number, options.tokens, extra)
            times.append(timings["predicted_ms"] / max(1, written - 1))
        ratios.append(times[1] / times[0])
        steps.append(times[1] - times[0])
    print(f"\na mask in each step: {spread(ratios)} of a step without, {spread(steps)} ms more")
    print(f"load while measuring: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
