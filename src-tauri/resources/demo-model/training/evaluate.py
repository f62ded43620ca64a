"""Measures a model on held-out questions: forms, combinations and words that training never saw.

    python evaluate.py --state FOLDER --count 500 --seed development

Shares come with their Wilson interval at 95 %. The test set is another seed, and is looked at seldom.
"""

import argparse
import math
import random
from pathlib import Path

import torch

import heldout
import probe
import selfgen
import tokenizer
from chats import Chat
from decode import replies
from render import Encoder

FRAMES = [
    "both",
    "noun",
    "made up",
    "sum",
    "call",
    "tool answer",
    "dialogue",
    "about",
    "fact",
    "list",
    "translation",
    "decline",
]
# What is done to a question about a story to see whether it is understood, and not only recognised.
CHANGES = ["as it is", "lower case", "no punctuation", "a typo", "a turn before", "a system prompt"]


def wilson(right, count):
    """The share and its interval, as text."""
    if not count:
        return "none"
    p, z = right / count, 1.96
    middle, half = p + z * z / (2 * count), z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    low, high = ((middle + sign * half) / (1 + z * z / count) for sign in (-1, 1))
    return f"{p:.3f} ({low:.3f} to {high:.3f}, n = {count})"


def question(kind, index, seed):
    if kind in ("noun", "made up"):
        words = heldout.NOUNS if kind == "noun" else heldout.MADE_UP
        return "unknown", probe.question("unknown", index, heldout.PHRASES, f"{seed}/{kind}", words[index % len(words)])
    return kind, probe.question(kind, index, heldout.PHRASES, seed)


def typo(rng, text):
    """Two letters of a longer word that is not a name or a thing change places."""
    words = text.split()
    places = [
        i
        for i, word in enumerate(words)
        if word.lower() in ("story", "about", "write", "please", "which", "could", "something", "meets")
    ]
    if places:
        i, word = places[0], words[places[0]]
        at = rng.randrange(1, len(word) - 2)
        words[i] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def changed(chat, change, rng):
    """A one-turn chat with its question changed."""
    ask, answer = [dict(m) for m in chat.messages[-2:]]
    before = []
    if change == "lower case":
        ask["content"] = ask["content"].lower()
    elif change == "no punctuation":
        ask["content"] = ask["content"].rstrip(".?!").replace(",", "")
    elif change == "a typo":
        ask["content"] = typo(rng, ask["content"])
    elif change == "a turn before":
        before = [
            {"role": "user", "content": "What is the capital of France?"},
            {"role": "assistant", "content": "The capital of France is **Paris**.", "about": {}},
        ]
    elif change == "a system prompt":
        before = [{"role": "system", "content": "You are a patient assistant for children. Be polite."}]
    return Chat([*before, ask, answer], chat.family, chat.thinking)


def grade(model, encoder, asked, temperature):
    """Whether each reply is right, and whether thinking was closed within 80 tokens where it was on."""
    made = replies(model, [encoder.prompt(chat) for _, chat in asked], encoder.end, 240, temperature, seed=7)
    texts = [
        encoder.tokenizer.decode(ids[:-1] if ids[-1] == encoder.end else ids, skip_special_tokens=False) for ids in made
    ]
    closed = [encoder.thought in ids[:80] for (_, chat), ids in zip(asked, made) if chat.thinking]
    return [(probe.right(kind, chat, text), chat, text) for (kind, chat), text in zip(asked, texts)], closed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", default="development")
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--kinds", nargs="*", default=FRAMES)
    parser.add_argument("--show", type=int, default=1, help="wrong replies shown of each kind")
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, encoder, thought = selfgen.rounded(args.state), Encoder(tokenizer.load()), []
    for kind in args.kinds:
        graded, closed = grade(
            model, encoder, [question(kind, i, args.seed) for i in range(args.count)], args.temperature
        )
        thought += closed
        graded = [g for g in graded if g[0] is not None]
        print(f"{kind}: {wilson(sum(g[0] for g in graded), len(graded))}", flush=True)
        for _, chat, text in [g for g in graded if not g[0]][: args.show]:
            print(f"    {chat.messages[-2]['content']!r} → {text!r}")
    print(f"thinking closed within 80 tokens: {wilson(sum(thought), len(thought))}")
    rng = random.Random(args.seed)
    for change in CHANGES if "both" in args.kinds else []:
        asked = [question("both", i, args.seed) for i in range(args.count)]
        graded, _ = grade(
            model, encoder, [(kind, changed(chat, change, rng)) for kind, chat in asked], args.temperature
        )
        print(f"both, {change}: {wilson(sum(bool(g[0]) for g in graded), len(graded))}", flush=True)


if __name__ == "__main__":
    main()
